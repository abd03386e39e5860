//! Files: made, found again, copied and restored.

use crate::{at, folder, is_there};
use bourse_engine::{Engine as _, ErrorKind};
use bourse_testkit::{
    is_opened_once, numbers, rounds_begin_alike, what_is_in_use_is_not_replaced, with_one_number,
    with_one_number_in_a_log,
};

#[test]
fn copies_are_the_database_as_it_was() {
    if is_there("files::copies_are_the_database_as_it_was") {
        let folder = folder();
        rounds_begin_alike(&at(&folder.path().join("x.fdb"), ""));
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "nothing is left next to it but its mark: {names:?}");
    }
}

#[test]
fn a_file_that_is_in_use_is_not_replaced() {
    if is_there("files::a_file_that_is_in_use_is_not_replaced") {
        what_is_in_use_is_not_replaced(&at(&folder().path().join("x.fdb"), ""));
    }
}

#[test]
fn a_file_is_checked_when_nobody_has_it_open() {
    if is_there("files::a_file_is_checked_when_nobody_has_it_open") {
        let folder = folder();
        let engine = at(&folder.path().join("x.fdb"), "");
        let session = with_one_number_in_a_log(&engine, &|| engine.session().unwrap());
        assert_eq!(engine.integrity_check().unwrap(), None);
        drop(session);
        assert_eq!(engine.integrity_check().unwrap(), Some(Vec::new()));
    }
}

#[test]
fn a_file_is_opened_once() {
    if !is_there("files::a_file_is_opened_once") {
        return;
    }
    let folder = folder();
    let path = folder.path().join("x.fdb");
    is_opened_once([&at(&path, ""), &at(&path, ""), &at(&path, "sync=off")]);
}

#[test]
fn reading_leaves_the_file_as_it_is() {
    if !is_there("files::reading_leaves_the_file_as_it_is") {
        return;
    }
    let folder = folder();
    let path = folder.path().join("x.fdb");
    let engine = at(&path, "");
    let session = with_one_number_in_a_log(&engine, &|| engine.session().unwrap());
    assert!(engine.for_reading().unwrap().is_none(), "it is open");
    drop(session);
    let before = std::fs::read(&path).unwrap();
    let reading = engine.for_reading().unwrap().unwrap();
    let copy = reading.engine.location().file().unwrap().to_owned();
    assert!(reading.copied.as_ref().unwrap().contains(&copy.display().to_string()) && copy != path);
    assert_eq!(numbers(&*reading.engine), [1]);
    (reading.unchanged)().unwrap();
    drop(reading);
    assert!(!copy.parent().unwrap().exists(), "the copy is gone with its folder");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(at(&folder.path().join("absent"), "").for_reading().unwrap().is_none());
}

/// Paths that Firebird by itself would take for another machine's, or for an alias.
#[test]
fn a_path_is_nothing_else() {
    if !is_there("files::a_path_is_nothing_else") {
        return;
    }
    let folder = folder();
    for name in ["employee", "a b.fdb"] {
        let path = folder.path().join(name);
        let engine = at(&path, "");
        with_one_number(&engine);
        assert!(path.is_file() && engine.footprint().unwrap().data_bytes > 100_000, "{name}");
        assert_eq!(numbers(&engine), [1], "{name}");
    }
    for (name, expected) in [("localhost:x", "without one"), ("é", "ASCII")] {
        let refused = at(&folder.path().join(name), "").session().err().unwrap();
        assert!(refused.kind() == ErrorKind::Unsupported && refused.message().contains(expected), "{refused}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left behind but the marks");
}

#[test]
fn pages_are_counted() {
    if !is_there("files::pages_are_counted") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), "");
    // A database that is open is not replaced.
    with_one_number(&engine);
    let mut session = engine.session().unwrap();
    let count = |name: &str| engine.counters().unwrap().iter().find(|it| it.name == name).unwrap().value;
    let before = (count("page writes"), count("page fetches from the cache"));
    session.execute_text("INSERT INTO numbers VALUES (2)", &[]).unwrap();
    assert!(count("page writes") > before.0 && count("page fetches from the cache") > before.1);
    assert!(engine.footprint().unwrap().memory_bytes > 1 << 20);
    drop(session);
    assert!(engine.counters().unwrap().is_empty(), "it is closed");
}
