//! Files: made, found again, copied and put back.

use crate::{folder, has_library, in_memory};
use bourse_engine::{Access, Engine, ErrorKind, Isolation, RowExt as _, Session};
use bourse_engine_duckdb::{DuckDbEngine, open};
use std::path::Path;

fn at(path: &Path) -> DuckDbEngine {
    open(&format!("duckdb:{}", path.display())).unwrap()
}

fn run(session: &mut dyn Session, sql: &str) {
    session.execute_text(sql, &[]).unwrap();
}

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
    run(&mut *session, "CREATE TABLE numbers (n BIGINT PRIMARY KEY)");
    run(&mut *session, "INSERT INTO numbers VALUES (1)");
}

#[test]
fn rounds_begin_alike() {
    if !has_library("files::rounds_begin_alike") {
        return;
    }
    let folder = folder();
    let file = at(&folder.path().join("x.duckdb"));
    let memory = in_memory("files::rounds_begin_alike", "").unwrap();
    for engine in [&file as &dyn Engine, &memory] {
        with_one(engine);
        let snapshot = engine.snapshot().unwrap();
        for round in 2..4 {
            let mut session = engine.session().unwrap();
            run(&mut *session, &format!("INSERT INTO numbers VALUES ({round})"));
            drop(session);
            assert_eq!(numbers(engine), [1, round]);
            snapshot.restore().unwrap();
            assert_eq!(numbers(engine), [1]);
        }
        let refused = engine.session().unwrap().execute_text("INSERT INTO numbers VALUES (1)", &[]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Constraint, "keys are there too");
    }
    assert!(file.leftovers().unwrap().is_none());
}

#[test]
fn a_file_that_is_in_use_is_not_replaced() {
    if !has_library("files::a_file_that_is_in_use_is_not_replaced") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.duckdb"));
    with_one(&engine);
    let session = engine.session().unwrap();
    assert_eq!(engine.snapshot().err().unwrap().kind(), ErrorKind::Conflict);
    let loader = engine.loader().unwrap();
    assert_eq!(loader.finish().unwrap_err().kind(), ErrorKind::Conflict);
    drop(session);
    assert_eq!(numbers(&engine), [1]);
    engine.loader().unwrap().finish().unwrap();
    assert!(!engine.exists().unwrap());
}

/// Two engines on one file in a process are one database: DuckDB itself would let them write past each other.
#[test]
fn a_file_is_opened_once() {
    if !has_library("files::a_file_is_opened_once") {
        return;
    }
    let folder = folder();
    let path = folder.path().join("x.duckdb");
    let (one, other) = (at(&path), at(&path));
    let _session = one.session().unwrap();
    with_one(&one);
    assert_eq!(numbers(&other), [1]);
    let differs = open(&format!("duckdb:{}?threads=1", path.display())).unwrap();
    let refused = differs.session().err().unwrap();
    assert!(refused.kind() == ErrorKind::Conflict && refused.message().contains("other settings"), "{refused}");
}

#[test]
fn reading_leaves_the_file_and_its_log_as_they_are() {
    if !has_library("files::reading_leaves_the_file_and_its_log_as_they_are") {
        return;
    }
    let folder = folder();
    let (path, copy) = (folder.path().join("x.duckdb"), folder.path().join("copy.duckdb"));
    let engine = at(&path);
    let session = engine.session().unwrap();
    with_one(&engine);
    assert!(engine.for_reading().unwrap().is_none(), "it is open");
    // As a crash leaves it: the change is in the log alone.
    let bytes = |path: &Path| std::fs::read(path).unwrap();
    let log = |path: &Path| path.with_extension("duckdb.wal");
    std::fs::write(&copy, bytes(&path)).unwrap();
    std::fs::write(log(&copy), bytes(&log(&path))).unwrap();
    drop(session);
    assert!(!log(&path).exists(), "a database that is closed has no log");
    let before = (bytes(&copy), bytes(&log(&copy)));
    let reading = at(&copy).for_reading().unwrap().unwrap();
    assert_eq!(numbers(&*reading.engine), [1]);
    let mut session = reading.engine.session().unwrap();
    session.execute_text("INSERT INTO numbers VALUES (2)", &[]).unwrap_err();
    drop(session);
    (reading.unchanged)().unwrap();
    drop(reading);
    assert_eq!((bytes(&copy), bytes(&log(&copy))), before);
    assert_eq!(numbers(&at(&copy)), [1], "what was in the log is in the database");
    assert!(at(&folder.path().join("absent")).for_reading().unwrap().is_none());
}

#[test]
fn a_checkpoint_empties_the_log() {
    if !has_library("files::a_checkpoint_empties_the_log") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.duckdb"));
    let mut session = engine.session().unwrap();
    with_one(&engine);
    assert!(engine.footprint().unwrap().log_bytes > 0);
    session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
    session.commit().unwrap();
    assert!(session.checkpoint(bourse_engine::Checkpoint::Full).unwrap());
    let footprint = engine.footprint().unwrap();
    assert!(footprint.log_bytes == 0 && footprint.data_bytes > 12_288 && footprint.memory_bytes > 0, "{footprint:?}");
}
