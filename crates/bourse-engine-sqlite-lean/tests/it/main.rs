//! The lean build through the engine interface: conformance, its limits, and the proof that it is another build.
//!
//! Behaviour common to both builds, such as the parsing of targets, is tested with `bourse-engine-sqlite` alone.
#![allow(clippy::unwrap_used, reason = "tests")]

use bourse_engine::{Access, Durability, Engine, Isolation, Params, RowExt as _, SessionExt as _, Sql};
use bourse_engine_sqlite_lean::{SqliteEngine, SqliteTarget, info, open};
use bourse_testkit::{conformance, records_conformance};
use std::path::Path;

/// Busy timeout of the tests: sessions of one thread wait for each other in vain, so it is short.
const BUSY_TIMEOUT: &str = "busy_timeout=100ms";

fn file(folder: &Path, query: &str) -> SqliteEngine {
    open(&format!("sqlite-lean:{}?{BUSY_TIMEOUT}&{query}", folder.join("x.db").display())).unwrap()
}

#[test]
fn it_conforms_in_a_file() {
    for query in ["journal=wal&sync=normal", "journal=delete&sync=off&threading=fullmutex"] {
        conformance(&file(tempfile::tempdir().unwrap().path(), query));
    }
}

#[test]
fn files_that_are_not_its_own_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    bourse_testkit::files_conformance(folder.path(), &|path| {
        Box::new(open(&format!("sqlite-lean:{}", path.display())).unwrap())
    });
}

#[test]
fn it_conforms_in_memory() {
    for query in ["", "memory=memdb"] {
        conformance(&open(&format!("sqlite-lean::memory:?{BUSY_TIMEOUT}&{query}")).unwrap());
    }
    assert_eq!(records_conformance(&open("sqlite-lean::memory:").unwrap()), ["keys can be hashed"]);
}

#[test]
fn what_it_was_compiled_without_is_refused() {
    for (target, what) in [
        ("sqlite-lean:x.db?shared_cache=on&journal=delete", "'shared_cache=on'"),
        ("sqlite-lean::memory:?shared_cache=on", "'shared_cache=on'"),
        ("sqlite-lean::memory:?memory=shared", "'memory=shared'"),
    ] {
        let message = SqliteTarget::parse(target).expect_err(target).to_string();
        let why = "cannot be used with SQLite (lean build): it is compiled without shared caches";
        assert!(message.contains(what) && message.contains(why), "{target}: {message}");
    }
    let message = SqliteTarget::parse("sqlite:x.db").expect_err("of the other build").to_string();
    assert!(message.contains("expected sqlite-lean:PATH or sqlite-lean::memory:"), "{message}");
}

#[test]
fn both_builds_are_of_one_source_and_differ_in_their_options() {
    let (lean, stock) = (info().unwrap(), bourse_engine_sqlite::info().unwrap());
    assert_eq!((lean.name, stock.name), ("sqlite-lean", "sqlite"));
    assert_eq!((lean.version, lean.source_id), (stock.version, stock.source_id));
    let has = |options: &[String], option: &str| options.iter().any(|found| found == option);
    for (option, in_lean, in_stock) in [
        ("OMIT_SHARED_CACHE", true, false),
        ("OMIT_AUTOINIT", true, false),
        ("OMIT_DECLTYPE", true, false),
        ("THREADSAFE=2", true, false),
        ("THREADSAFE=1", false, true),
        ("DEFAULT_MEMSTATUS=0", true, false),
        ("ENABLE_API_ARMOR", false, true),
        ("ENABLE_STAT4", true, true),
    ] {
        assert_eq!(has(&lean.compile_options, option), in_lean, "lean: {option} in {:?}", lean.compile_options);
        assert_eq!(has(&stock.compile_options, option), in_stock, "stock: {option} in {:?}", stock.compile_options);
    }
}

#[test]
fn each_build_reads_what_the_other_wrote() {
    static ADD: Sql = Sql::new("INSERT INTO thing (size) VALUES (?1)");
    static ALL: Sql = Sql::new("SELECT size FROM thing ORDER BY id");
    let folder = tempfile::tempdir().unwrap();
    let stock = bourse_engine_sqlite::open(&format!("sqlite:{}", folder.path().join("x.db").display())).unwrap();
    let lean = file(folder.path(), "");
    let mut session = stock.session().unwrap();
    session.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY, size INTEGER)", &[]).unwrap();
    drop(session);
    for (size, engine) in [(1, &stock as &dyn Engine), (2, &lean), (3, &stock), (4, &lean)] {
        let mut session = engine.session().unwrap();
        session.begin(Isolation::Serializable, Access::Write).unwrap();
        session.execute(&ADD, Params::of(&[size.into()])).unwrap();
        session.commit().unwrap();
        let found = session.all(&ALL, &[], |row| row.get::<i64>(0)).unwrap();
        assert_eq!(found, (1..=size).collect::<Vec<_>>());
    }
}

/// A file's locks belong to the process: two copies of the library would not see each other's.
#[test]
fn both_builds_do_not_have_one_file_open_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let stock = bourse_engine_sqlite::open(&format!("sqlite:{}", folder.path().join("./x.db").display())).unwrap();
    let lean = file(folder.path(), "");
    let session = stock.session().unwrap();
    let refused = lean.session().map(|_| ()).unwrap_err();
    assert!(refused.message().contains("`sqlite` has it open in this process"), "{refused}");
    drop(session);
    let _session = lean.session().unwrap();
    assert!(stock.session().is_err());
}

#[test]
fn a_run_tells_which_build_it_was_and_what_went_to_the_disk() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let engine = file(folder.path(), "journal=wal&sync=full");
    let mut session = engine.session().unwrap();
    session.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY)", &[]).unwrap();
    let before = engine.io_counts().unwrap().expect("a database in a file is counted");
    for id in 0..5 {
        session.execute_text("INSERT INTO thing VALUES (?1)", &[id.into()]).unwrap();
    }
    assert_eq!(engine.io_counts().unwrap().unwrap().since(before).log.syncs, 5, "one a commit");
    let description = engine.description().unwrap();
    assert_eq!((description.engine.as_str(), description.durability), ("sqlite-lean", Durability::Durable));
    assert!(description.compile_options.iter().any(|option| option == "OMIT_SHARED_CACHE"));
    assert_eq!(engine.footprint().unwrap().memory_bytes, 0, "this build does not count its memory");
}
