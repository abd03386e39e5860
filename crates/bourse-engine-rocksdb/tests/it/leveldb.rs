//! LevelDB through the seam. Tests that need the library are skipped by name if it is unavailable.

use bourse_engine::{Access, Engine, ErrorKind, Key, KeyEngine as _, Value};
use bourse_engine_rocksdb::leveldb::{GRAMMAR, LevelDbEngine, LevelDbOptions, info, open};
use bourse_testkit::folders::{self, ITEMS, in_memory};
use bourse_testkit::{folders_conformance, records_conformance};
use std::path::Path;

fn engine(folder: &Path, query: &str) -> LevelDbEngine {
    open(&format!("leveldb:{}?{query}", folder.join("test.leveldb").display())).unwrap()
}

fn has_library(test: &str) -> bool {
    super::is_found(test, info(None))
}

#[test]
fn leveldb_keeps_its_promises() {
    if !has_library("leveldb_keeps_its_promises") {
        return;
    }
    for query in ["", "sync=off&bloom=10&write_buffer=64KiB", "compression=off&cache=1MiB"] {
        let folder = in_memory();
        assert_eq!(records_conformance(&engine(folder.path(), query)), super::LEFT_OUT, "{query}");
    }
    let folder = in_memory();
    folders_conformance(&folder.path().canonicalize().unwrap(), &|path| {
        Box::new(open(&format!("leveldb:{}", path.display())).unwrap())
    });
    let folder = in_memory();
    folders::takes_all_records_away(&engine(folder.path(), "sync=off"));
    let folder = in_memory();
    folders::refuses_what_it_cannot(&engine(folder.path(), ""));
}

#[test]
fn a_leveldb_database_is_found_again() {
    if !has_library("a_leveldb_database_is_found_again") {
        return;
    }
    let folder = in_memory();
    folders::is_found_again(&|| engine(folder.path(), ""), "LOCK");
    let found = engine(folder.path(), "");
    assert_eq!(found.tables().unwrap(), ["items"]);
    let told = found.description().unwrap();
    assert!(told.version.starts_with("1."), "{}", told.version);
}

#[test]
fn a_scan_sees_changes_between_records() {
    if !has_library("a_scan_sees_changes_between_records") {
        return;
    }
    let folder = in_memory();
    let engine = engine(folder.path(), "");
    let mut records = engine.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    [2, 4, 6].iter().for_each(|id| records.insert(&ITEMS, Key::Int(*id), &[Value::Int(*id)]).unwrap());
    records.begin(Access::Write).unwrap();
    [1, 3, 7].iter().for_each(|id| records.insert(&ITEMS, Key::Int(*id), &[Value::Int(-1)]).unwrap());
    records.add(&ITEMS, Key::Int(4), 0, 100).unwrap();
    records.delete(&ITEMS, Key::Int(6)).unwrap();
    let mut seen = Vec::new();
    let mut note = |row: &dyn bourse_engine::Row| {
        use bourse_engine::RowExt as _;
        seen.push((row.get::<i64>(0)?, row.get::<i64>(1)?));
        Ok(())
    };
    assert_eq!(records.scan(&ITEMS, Key::Int(1), 100, &mut note).unwrap(), 5);
    assert_eq!(records.scan(&ITEMS, Key::Int(3), 2, &mut note).unwrap(), 2);
    assert_eq!(seen, [(1, -1), (2, 2), (3, -1), (4, 104), (7, -1), (3, -1), (4, 104)]);
}

#[test]
fn a_killed_process_loses_nothing_acknowledged_by_leveldb() {
    let test = "leveldb::a_killed_process_loses_nothing_acknowledged_by_leveldb";
    if has_library(test) {
        folders::keeps_what_a_killed_process_acknowledged(test, &["", "sync=off&write_buffer=64KiB"], &engine);
    }
}

#[test]
fn the_class_of_leveldb_is_honest() {
    if !has_library("the_class_of_leveldb_is_honest") {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    folders::tells_its_class(&engine, folder.path(), "sync=on", "sync=off");
    #[cfg(target_os = "linux")]
    for (query, sync) in [("sync=on", true), ("sync=off", false)] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        bourse_testkit::tells_what_a_writer_waits_on(&engine(folder.path(), query), sync);
    }
}

#[test]
fn targets_of_leveldb_are_read_or_refused() {
    for (target, expected) in [
        ("leveldb:", "names no place"),
        ("leveldb::memory:", "a folder below /dev/shm"),
        ("leveldb:x?bloom=0", "out of range; expected"),
    ] {
        let message = open(target).err().unwrap().to_string();
        assert!(message.contains(expected), "{target}: {message}");
    }
    assert_eq!(GRAMMAR.written("bloom", &LevelDbOptions::DEFAULT), "bloom=off");
    let folder = tempfile::tempdir().unwrap();
    let refused = engine(folder.path(), "library=/nowhere/libleveldb.so").connect().err().expect("no library");
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("libleveldb1d"), "{refused}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made");
}
