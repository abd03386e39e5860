//! Files: made, found again, copied and restored.

use crate::{folder, has_library, in_memory};
use bourse_engine::{Access, Engine as _, Isolation};
use bourse_engine_duckdb::{DuckDbEngine, open};
use bourse_testkit::{
    is_opened_once, numbers, rounds_begin_alike, what_is_in_use_is_not_replaced, with_one_number_in_a_log,
};
use std::path::Path;

fn at(path: &Path) -> DuckDbEngine {
    open(&format!("duckdb:{}", path.display())).unwrap()
}

#[test]
fn copies_are_the_database_as_it_was() {
    let folder = folder();
    if let Some(memory) = in_memory("files::copies_are_the_database_as_it_was", "") {
        rounds_begin_alike(&at(&folder.path().join("x.duckdb")));
        rounds_begin_alike(&memory);
    }
}

#[test]
fn a_file_that_is_in_use_is_not_replaced() {
    if has_library("files::a_file_that_is_in_use_is_not_replaced") {
        what_is_in_use_is_not_replaced(&at(&folder().path().join("x.duckdb")));
    }
}

#[test]
fn a_text_written_over_a_database_is_somebodys() {
    if has_library("files::a_text_written_over_a_database_is_somebodys") {
        let folder = folder();
        let path = folder.path().join("x.duckdb");
        drop(at(&path).session().unwrap());
        let notes = "dear diary ".repeat(2_000);
        std::fs::write(&path, &notes).unwrap();
        let refused = at(&path).session().err().unwrap();
        assert_eq!(refused.kind(), bourse_engine::ErrorKind::Refused, "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), notes);
    }
}

#[test]
fn a_file_is_opened_once() {
    if !has_library("files::a_file_is_opened_once") {
        return;
    }
    let folder = folder();
    let path = folder.path().join("x.duckdb");
    let differs = open(&format!("duckdb:{}?threads=1", path.display())).unwrap();
    is_opened_once([&at(&path), &at(&path), &differs]);
}

#[test]
fn reading_leaves_the_file_and_its_log_as_they_are() {
    if !has_library("files::reading_leaves_the_file_and_its_log_as_they_are") {
        return;
    }
    let folder = folder();
    let (path, copy) = (folder.path().join("x.duckdb"), folder.path().join("copy.duckdb"));
    let engine = at(&path);
    let session = with_one_number_in_a_log(&engine, &|| engine.session().unwrap());
    assert!(engine.for_reading().unwrap().is_none(), "it is open");
    // State after a crash: the change is in the log only.
    let bytes = |path: &Path| std::fs::read(path).unwrap();
    let log = |path: &Path| path.with_extension("duckdb.wal");
    std::fs::write(&copy, bytes(&path)).unwrap();
    std::fs::write(log(&copy), bytes(&log(&path))).unwrap();
    drop(session);
    assert!(!log(&path).exists(), "a database that is closed has no log");
    let before = (bytes(&copy), bytes(&log(&copy)));
    at(&copy).location().database_files().unwrap().mark().unwrap();
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
    let mut session = with_one_number_in_a_log(&engine, &|| engine.session().unwrap());
    assert!(engine.footprint().unwrap().log_bytes > 0);
    session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
    session.commit().unwrap();
    assert!(session.checkpoint(bourse_engine::Checkpoint::Full).unwrap());
    let footprint = engine.footprint().unwrap();
    assert!(footprint.log_bytes == 0 && footprint.data_bytes > 12_288 && footprint.memory_bytes > 0, "{footprint:?}");
}
