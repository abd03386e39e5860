//! Libraries loaded at run time, through the engine interface: conformance, the identity of the library, and the limits
//! of other versions and builds.
//!
//! Behaviour common to all builds, such as the parsing of targets, is tested with `bourse-engine-sqlite` alone. A
//! library that is absent from this machine is skipped by name.
#![allow(clippy::unwrap_used, reason = "tests")]

mod berkeley;
mod binding;
mod encrypted;
mod libsql;
mod other;
mod refused;
mod tpce;

use bourse_engine::{Access, Durability, Engine, Isolation, Params, RowExt as _, SessionExt as _, Sql};
use bourse_engine_sqlite_lib::{SqliteEngine, info, open};
use bourse_testkit::{conformance, records_conformance};
use bourse_tpce::testkit::{DataCopy, LoadedData};
use std::path::{Path, PathBuf};

/// Busy timeout of the tests: sessions of one thread wait for each other in vain, so it is short.
const BUSY_TIMEOUT: &str = "busy_timeout=100ms";

/// Path of a library, from the variable or the system's loader. Prints the name of the skipped test if the library is
/// absent.
fn library(variable: &str, name: &str, test: &str) -> Option<PathBuf> {
    let named = std::env::var(variable).ok().filter(|named| !named.is_empty());
    match info(Some(named.as_deref().unwrap_or(name))) {
        Ok(found) => Some(found.facts.iter().find(|(fact, _)| *fact == "library").unwrap().1.clone().into()),
        Err(why) => {
            assert!(named.is_none(), "{variable}: {why}");
            bourse_testkit::skipped(test, format!("{variable} names no library, and {why}"));
            None
        }
    }
}

/// Path of the system's SQLite: `libsqlite3-0` of Debian.
fn systems(test: &str) -> Option<PathBuf> {
    library("BOURSE_SYSTEM_SQLITE", "libsqlite3.so.0", test)
}

fn target(place: &Path, library: &Path, query: &str) -> String {
    format!("sqlite+lib:{}?library={}&{BUSY_TIMEOUT}&{query}", place.display(), library.display())
}

fn file(folder: &Path, library: &Path, query: &str) -> SqliteEngine {
    open(&target(&folder.join("x.db"), library, query)).unwrap()
}

/// A database of files with the tests' rows; `open` opens one in a folder.
fn loaded(data: &LoadedData, open: &dyn Fn(&Path) -> SqliteEngine) -> (DataCopy, SqliteEngine) {
    let (copy, engine) = data.begin(&|folder| {
        std::fs::create_dir_all(folder).unwrap();
        open(folder)
    });
    engine.location().database_files().unwrap().mark().unwrap();
    (copy, engine)
}

/// A copy of a library under another name, which the system's loader treats as another library.
fn copy(library: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join("copy.so");
    if !copy.exists() {
        // Never over one that may be loaded.
        std::fs::copy(library, &copy).unwrap();
    }
    copy
}

#[test]
fn the_systems_library_conforms_in_a_file() {
    let Some(library) = systems("the_systems_library_conforms_in_a_file") else { return };
    let queries = ["journal=wal&sync=normal", "journal=delete&sync=off&threading=fullmutex", "writers=one&sync=off"];
    for query in queries {
        conformance(&file(tempfile::tempdir().unwrap().path(), &library, query));
    }
}

#[test]
fn the_systems_library_conforms_in_memory() {
    let Some(library) = systems("the_systems_library_conforms_in_memory") else { return };
    for query in ["", "memory=memdb", "memory=shared"] {
        conformance(&open(&target(Path::new(":memory:"), &library, query)).unwrap());
    }
    let engine = open(&target(Path::new(":memory:"), &library, "")).unwrap();
    assert_eq!(records_conformance(&engine), ["keys can be hashed"]);
}

#[test]
fn files_that_are_not_its_own_are_left_alone() {
    let Some(library) = systems("files_that_are_not_its_own_are_left_alone") else { return };
    let folder = tempfile::tempdir().unwrap();
    bourse_testkit::files_conformance(folder.path(), &|path| Box::new(open(&target(path, &library, "")).unwrap()));
}

#[test]
fn a_run_tells_which_library_it_was_and_what_went_to_the_disk() {
    let Some(library) = systems("a_run_tells_which_library_it_was_and_what_went_to_the_disk") else { return };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let copy = copy(&library, folder.path());
    let engine = file(folder.path(), &copy, "journal=wal&sync=full");
    let mut session = engine.session().unwrap();
    session.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY)", &[]).unwrap();
    let before = engine.io_counts().unwrap().expect("a database in a file is counted");
    for id in 0..5 {
        session.execute_text("INSERT INTO thing VALUES (?1)", &[id.into()]).unwrap();
    }
    assert_eq!(engine.io_counts().unwrap().unwrap().since(before).log.syncs, 5, "one a commit");
    let description = engine.description().unwrap();
    assert_eq!((description.engine.as_str(), description.durability), ("sqlite+lib", Durability::Durable));
    let setting = |name: &str| description.settings.iter().find(|setting| setting.name == name).unwrap().value.as_str();
    assert_eq!(Path::new(setting("library")), copy.canonicalize().unwrap());
    // Of the file's bytes, as `sha256sum` has it.
    let summed = std::process::Command::new("sha256sum").arg(&copy).output();
    if let Ok(summed) = summed {
        assert!(String::from_utf8(summed.stdout).unwrap().starts_with(setting("library_sha256")), "{description:?}");
    }
    assert_eq!(setting("library_sha256").len(), 64);
    let found = info(Some(copy.to_str().unwrap())).unwrap();
    assert_eq!((found.version, found.source_id), (description.version.as_str(), setting("source_id")));
    assert!(found.compile_options.iter().any(|option| option.starts_with("THREADSAFE=")), "{found:?}");
}

#[test]
fn each_library_reads_what_the_other_wrote() {
    static ADD: Sql = Sql::new("INSERT INTO thing (size) VALUES (?1)");
    static ALL: Sql = Sql::new("SELECT size FROM thing ORDER BY id");
    let Some(library) = systems("each_library_reads_what_the_other_wrote") else { return };
    let folder = tempfile::tempdir().unwrap();
    let stock = bourse_engine_sqlite::open(&format!("sqlite:{}", folder.path().join("x.db").display())).unwrap();
    let (loaded, copied) = (file(folder.path(), &library, ""), file(folder.path(), &copy(&library, folder.path()), ""));
    let mut session = stock.session().unwrap();
    session.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY, size INTEGER)", &[]).unwrap();
    drop(session);
    for (size, engine) in [(1, &stock as &dyn Engine), (2, &loaded), (3, &copied), (4, &stock), (5, &loaded)] {
        let mut session = engine.session().unwrap();
        session.begin(Isolation::Serializable, Access::Write).unwrap();
        session.execute(&ADD, Params::of(&[size.into()])).unwrap();
        session.commit().unwrap();
        let found = session.all(&ALL, &[], |row| row.get::<i64>(0)).unwrap();
        assert_eq!(found, (1..=size).collect::<Vec<_>>());
    }
}

/// A file's locks belong to the process: two copies of SQLite would not see each other's.
#[test]
fn two_libraries_do_not_have_one_file_open_at_once() {
    let Some(library) = systems("two_libraries_do_not_have_one_file_open_at_once") else { return };
    let folder = tempfile::tempdir().unwrap();
    let stock = bourse_engine_sqlite::open(&format!("sqlite:{}", folder.path().join("./x.db").display())).unwrap();
    let (loaded, copied) = (file(folder.path(), &library, ""), file(folder.path(), &copy(&library, folder.path()), ""));
    let refused = |first: &dyn Engine, second: &dyn Engine| {
        let _session = first.session().unwrap();
        let refused = second.session().map(|_| ()).unwrap_err();
        assert!(refused.message().contains("has it open in this process"), "{refused}");
    };
    refused(&stock, &loaded);
    refused(&loaded, &stock);
    refused(&loaded, &copied);
    refused(&copied, &loaded);
    // On files of their own they work side by side.
    std::fs::create_dir(folder.path().join("more")).unwrap();
    let other = file(&folder.path().join("more"), &copy(&library, folder.path()), "");
    let (mut first, mut second) = (loaded.session().unwrap(), other.session().unwrap());
    for session in [&mut first, &mut second] {
        session.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY)", &[]).unwrap();
    }
}

/// Two names of one file count as the same file.
#[cfg(unix)]
#[test]
fn two_names_of_one_file_are_one_file() {
    let Some(library) = systems("two_names_of_one_file_are_one_file") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let stock = bourse_engine_sqlite::open(&format!("sqlite:{}", path("x.db").display())).unwrap();
    stock.session().unwrap().execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY)", &[]).unwrap();
    std::os::unix::fs::symlink(path("x.db"), path("soft.db")).unwrap();
    let _session = stock.session().unwrap();
    let refused = |name: &str| {
        let loaded = open(&target(&path(name), &library, "journal=delete")).unwrap();
        loaded.session().map(|_| ()).unwrap_err().message().to_owned()
    };
    assert!(refused("soft.db").contains("has it open in this process"));
    std::fs::hard_link(path("x.db"), path("hard.db")).unwrap();
    for name in ["hard.db", "x.db"] {
        assert!(refused(name).contains("several names (hard links)"), "{name}");
    }
}

/// Version 3.40 reports every second column of such a table as NULL.
#[test]
fn a_whole_table_is_whole_whatever_version_checks_it() {
    let Some(library) = systems("a_whole_table_is_whole_whatever_version_checks_it") else { return };
    let folder = tempfile::tempdir().unwrap();
    let engine = file(folder.path(), &library, "journal=delete&sync=off");
    let mut session = engine.session().unwrap();
    let create = "CREATE TABLE thing (a INTEGER NOT NULL, b INTEGER NOT NULL, c TEXT NOT NULL, PRIMARY KEY (a, c)) WITHOUT ROWID";
    session.execute_text(create, &[]).unwrap();
    for a in 0..30 {
        session.execute_text("INSERT INTO thing VALUES (?1, 2, 'x')", &[a.into()]).unwrap();
    }
    assert_eq!(engine.integrity_check().unwrap(), Some(vec![]));
    // What is damaged is found all the same: a row that breaks a constraint which is declared afterwards.
    for sql in [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'b INTEGER NOT NULL', 'b INTEGER NOT NULL CHECK (b > 2)')",
    ] {
        session.execute_text(sql, &[]).unwrap();
    }
    drop(session);
    let found = engine.integrity_check().unwrap().unwrap();
    assert!(!found.is_empty() && found.iter().all(|row| row.contains("CHECK constraint failed")), "{found:?}");
}
