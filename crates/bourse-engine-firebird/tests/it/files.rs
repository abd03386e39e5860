//! Files: made, found again, copied and put back.

use crate::{at, folder, is_there, run};
use bourse_engine::{Engine, ErrorKind, RowExt as _};

fn numbers(engine: &dyn Engine) -> Vec<i64> {
    let mut numbers = Vec::new();
    let mut session = engine.session().unwrap();
    let each = &mut |row: &dyn bourse_engine::Row| {
        numbers.push(row.get(0)?);
        Ok(())
    };
    session.query_text("SELECT n FROM numbers ORDER BY n", &[], each).unwrap();
    numbers
}

fn with_one(engine: &dyn Engine) {
    let mut session = engine.session().unwrap();
    run(&mut *session, "CREATE TABLE numbers (n BIGINT PRIMARY KEY)").unwrap();
    run(&mut *session, "INSERT INTO numbers VALUES (1)").unwrap();
}

#[test]
fn rounds_begin_alike() {
    if !is_there("files::rounds_begin_alike") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), "");
    with_one(&engine);
    let snapshot = engine.snapshot().unwrap();
    for round in 2..4 {
        let mut session = engine.session().unwrap();
        run(&mut *session, &format!("INSERT INTO numbers VALUES ({round})")).unwrap();
        drop(session);
        assert_eq!(numbers(&engine), [1, round]);
        snapshot.restore().unwrap();
        assert_eq!(numbers(&engine), [1]);
    }
    let refused = run(&mut *engine.session().unwrap(), "INSERT INTO numbers VALUES (1)").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Constraint, "keys are there too");
    assert_eq!(engine.integrity_check().unwrap(), Some(Vec::new()));
    assert!(engine.leftovers().unwrap().is_none());
    drop(snapshot);
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["x.fdb"], "nothing is left beside it");
}

#[test]
fn a_file_that_is_in_use_is_not_replaced() {
    if !is_there("files::a_file_that_is_in_use_is_not_replaced") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), "");
    with_one(&engine);
    let session = engine.session().unwrap();
    assert_eq!(engine.snapshot().err().unwrap().kind(), ErrorKind::Conflict);
    assert_eq!(engine.loader().unwrap().finish().unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(engine.integrity_check().unwrap(), None, "it is checked when nobody has it open");
    drop(session);
    assert_eq!(numbers(&engine), [1]);
    engine.loader().unwrap().finish().unwrap();
    assert!(!engine.exists().unwrap());
}

#[test]
fn a_file_is_opened_once() {
    if !is_there("files::a_file_is_opened_once") {
        return;
    }
    let folder = folder();
    let path = folder.path().join("x.fdb");
    let (one, other) = (at(&path, ""), at(&path, ""));
    let _session = one.session().unwrap();
    with_one(&one);
    assert_eq!(numbers(&other), [1]);
    let refused = at(&path, "sync=off").session().err().unwrap();
    assert!(refused.kind() == ErrorKind::Conflict && refused.message().contains("other settings"), "{refused}");
}

#[test]
fn reading_leaves_the_file_as_it_is() {
    if !is_there("files::reading_leaves_the_file_as_it_is") {
        return;
    }
    let folder = folder();
    let path = folder.path().join("x.fdb");
    let engine = at(&path, "");
    let session = engine.session().unwrap();
    with_one(&engine);
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

/// Firebird by itself would look for another machine, or for an alias.
#[test]
fn a_path_is_nothing_else() {
    if !is_there("files::a_path_is_nothing_else") {
        return;
    }
    let folder = folder();
    for name in ["employee", "a b.fdb"] {
        let path = folder.path().join(name);
        let engine = at(&path, "");
        with_one(&engine);
        assert!(path.is_file() && engine.footprint().unwrap().data_bytes > 100_000, "{name}");
        assert_eq!(numbers(&engine), [1], "{name}");
    }
    for (name, expected) in [("localhost:x", "without one"), ("é", "ASCII")] {
        let refused = at(&folder.path().join(name), "").session().err().unwrap();
        assert!(refused.kind() == ErrorKind::Unsupported && refused.message().contains(expected), "{refused}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
}

#[test]
fn pages_are_counted() {
    if !is_there("files::pages_are_counted") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), "");
    let session = engine.session().unwrap();
    let count = |name: &str| engine.counters().unwrap().iter().find(|it| it.name == name).unwrap().value;
    let before = (count("page writes"), count("page fetches from the cache"));
    with_one(&engine);
    assert!(count("page writes") > before.0 && count("page fetches from the cache") > before.1);
    assert!(engine.footprint().unwrap().memory_bytes > 1 << 20);
    drop(session);
    assert!(engine.counters().unwrap().is_empty(), "it is closed");
}
