//! Libraries that can do less: older versions, and builds without some features.

use crate::{systems, target};
use bourse_engine::{Access, Engine as _, ErrorKind, Isolation, Params, RowExt as _, SessionExt as _, Sql, Value};
use bourse_engine_sqlite_lib::{SqliteEngine, open};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The system's library with some functions replaced; `None`, with the test's name printed, if there is no C compiler.
fn altered(folder: &Path, test: &str, name: &str, functions: &str) -> Option<PathBuf> {
    let base = systems(test)?;
    compiled(folder, test, name, functions, &[&base])
}

/// A library with those functions, linked with others; `None`, with the test's name printed, if there is no C compiler.
pub(crate) fn compiled(folder: &Path, test: &str, name: &str, functions: &str, linked: &[&Path]) -> Option<PathBuf> {
    let (source, made) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&source, functions).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"])
        .args([&made, &source])
        .args(linked)
        .output();
    if compiled.is_ok_and(|output| output.status.success()) {
        return Some(made);
    }
    bourse_testkit::skipped(test, "no C compiler makes a library");
    None
}

#[test]
fn a_library_without_threads_bears_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let functions = "int sqlite3_threadsafe(void) { return 0; }";
    let test = "a_library_without_threads_bears_one_session";
    let Some(library) = altered(folder.path(), test, "alone", functions) else { return };
    let engine = open(&target(&folder.path().join("x.db"), &library, "")).unwrap();
    assert!(engine.capabilities().one_session);
    let session = engine.session().unwrap();
    let refused = engine.session().map(|_| ()).unwrap_err();
    assert!(refused.message().contains("compiled with THREADSAFE=0: it bears one session"), "{refused}");
    // Of another database neither: it is the library that cannot.
    let other = open(&target(&folder.path().join("y.db"), &library, "")).unwrap();
    assert!(other.session().is_err());
    drop(session);
    one_session_works(&engine);
}

#[test]
fn what_a_build_leaves_out_is_refused_or_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let functions = "int strcmp(const char *, const char *);
        int sqlite3_compileoption_used(const char *name) {
            return !strcmp(name, \"OMIT_WAL\") || !strcmp(name, \"OMIT_SHARED_CACHE\");
        }";
    let test = "what_a_build_leaves_out_is_refused_or_not_taken";
    let Some(library) = altered(folder.path(), test, "less", functions) else { return };
    let refused = |place: &str, query: &str, words: &str| {
        let message = open(&target(Path::new(place), &library, query)).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(words), "{query}: {message}");
    };
    refused("x.db", "journal=wal", "'journal=wal' cannot be used with the loaded SQLite");
    refused("x.db", "journal=wal", "it was compiled with OMIT_WAL");
    refused(":memory:", "memory=shared", "it was compiled with OMIT_SHARED_CACHE");
    refused("x.db", "shared_cache=on&journal=delete", "it was compiled with OMIT_SHARED_CACHE");
    let engine = open(&target(&folder.path().join("x.db"), &library, "")).unwrap();
    let setting = |name: &str| {
        let settings = engine.description().unwrap().settings;
        settings.into_iter().find(|setting| setting.name == name).unwrap().value
    };
    assert_eq!(setting("journal_mode"), "delete");
    assert!(!engine.capabilities().checkpoints);
}

/// Version 3.7.6, which Berkeley DB SQL reports.
#[test]
fn an_old_version_lacks_settings() {
    let folder = tempfile::tempdir().unwrap();
    let functions = "int sqlite3_libversion_number(void) { return 3007006; }";
    let test = "an_old_version_lacks_settings";
    let Some(library) = altered(folder.path(), test, "old", functions) else { return };
    let refused = |place: &str, query: &str, words: &str| {
        let message = open(&target(Path::new(place), &library, query)).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(words), "{query}: {message}");
    };
    refused(":memory:", "memory=ram", "it needs version 3.7.7 or later");
    refused(":memory:", "memory=memdb", "it needs version 3.36.0 or later");
    refused(":memory:", "stable_plans=on", "it needs version 3.20.0 or later");
    let engine = open(&target(Path::new(":memory:"), &library, "")).unwrap();
    one_session_works(&engine);
}

#[test]
fn a_version_that_is_too_old_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let functions = "int sqlite3_libversion_number(void) { return 3006000; }";
    let Some(library) = altered(folder.path(), "a_version_that_is_too_old_is_refused", "older", functions) else {
        return;
    };
    let message = open(&target(Path::new(":memory:"), &library, "")).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("is SQLite 3.6.0, older than 3.7.6"), "{message}");
}

/// Runs the conformance tests for several sessions on the single session of a database in a connection.
pub(crate) fn one_session_works(engine: &SqliteEngine) {
    static ADD: Sql = Sql::new("INSERT INTO thing (id, name, bytes, size) VALUES (?1, ?2, ?3, ?4)");
    static ALL: Sql = Sql::new("SELECT id, name, bytes, size FROM thing ORDER BY id");
    static RENAME: Sql = Sql::new("UPDATE thing SET name = ?1 WHERE id < ?2");
    assert!(engine.capabilities().one_session && !engine.exists().unwrap());
    let mut loader = engine.loader().unwrap();
    loader
        .run("CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT CHECK (name <> 'no'), bytes BLOB, size REAL)")
        .unwrap();
    loader.finish().unwrap();
    assert!(engine.exists().unwrap());
    let mut session = engine.session().unwrap();
    let mut add = |id: i64, name: &str| {
        let bytes: &[u8] = &[0, 255];
        session.execute(&ADD, Params::of(&[id.into(), name.into(), Value::Blob(bytes), Value::Real(0.5)]))
    };
    assert_eq!((add(1, "one").unwrap(), add(2, "").unwrap()), (1, 1));
    for (id, name, kind) in [(3, "no", ErrorKind::Constraint), (2, "two", ErrorKind::Duplicate)] {
        let refused = add(id, name).unwrap_err();
        assert_eq!(refused.kind(), kind, "{refused}");
        assert!(refused.code().unwrap().starts_with("SQLITE_CONSTRAINT"), "{refused:?}");
    }
    session.begin(Isolation::Serializable, Access::Write).unwrap();
    assert_eq!(session.execute(&RENAME, Params::of(&["new".into(), 9.into()])).unwrap(), 2);
    session.rollback().unwrap();
    let rows = session.all(&ALL, &[], |row| {
        Ok((row.get::<i64>(0)?, row.value(1).to_string(), row.value(2).to_string(), row.value(3).to_string()))
    });
    let expected =
        |id, name: &str| (id, name.to_owned(), Value::Blob(&[0, 255]).to_string(), Value::Real(0.5).to_string());
    assert_eq!(rows.unwrap(), [expected(1, "one"), expected(2, "")]);
    let refused = session.execute_text("SELECT id FROM nowhere", &[]).unwrap_err();
    assert!(refused.message().contains("nowhere"), "{refused}");
}
