//! RocksDB through the seam. Tests that need the library are skipped by name if it is unavailable.
#![allow(clippy::unwrap_used, reason = "tests")]

mod berkeley;
mod leveldb;

use bourse_engine::{
    Access, Durability, Engine, ErrorKind, Key, KeyEngine as _, RecordField, RecordTable, RecordType, Records, Value,
};
use bourse_engine_rocksdb::{GRAMMAR, RocksDbEngine, RocksDbOptions, info, open};
use bourse_testkit::folders::{self, in_memory};
#[cfg(target_os = "linux")]
use bourse_testkit::waits_of_a_writer;
use bourse_testkit::{folders_conformance, records_conformance};
use std::path::Path;

const LEFT_OUT: [&str; 3] =
    ["keys are assigned, none twice", "indexed fields find their records", "keys can be hashed"];

fn engine(folder: &Path, query: &str) -> RocksDbEngine {
    open(&format!("rocksdb:{}?{query}", folder.join("test.rocksdb").display())).unwrap()
}

/// Whether a library was found; reports the test that is skipped if not.
fn is_found<T>(test: &str, found: Result<T, impl std::fmt::Display>) -> bool {
    found.map_err(|why| bourse_testkit::skipped(test, why)).is_ok()
}

fn has_library(test: &str) -> bool {
    is_found(test, info(None))
}

#[test]
fn promises_are_kept() {
    if !has_library("promises_are_kept") {
        return;
    }
    for query in
        ["", "sync=off&bloom=10&jobs=4", "wal=off&compression=none&cache=1MiB", "write_buffer=64KiB&compression=lz4"]
    {
        let folder = in_memory();
        assert_eq!(records_conformance(&engine(folder.path(), query)), LEFT_OUT, "{query}");
    }
}

#[test]
fn folders_that_are_not_its_own_are_left_alone() {
    if !has_library("folders_that_are_not_its_own_are_left_alone") {
        return;
    }
    let folder = in_memory();
    folders_conformance(&folder.path().canonicalize().unwrap(), &|path| {
        Box::new(open(&format!("rocksdb:{}", path.display())).unwrap())
    });
}

/// Regression test: where the recovery wrote a table, no transaction could be checked for conflicts, ever.
#[test]
fn a_recovery_larger_than_the_buffers_leaves_a_database_to_write_to() {
    if !has_library("a_recovery_larger_than_the_buffers_leaves_a_database_to_write_to") {
        return;
    }
    static TABLE: RecordTable = RecordTable::new(
        "large",
        RecordField::new("id", RecordType::Int),
        &[RecordField::new("filler", RecordType::Text(2_000))],
    );
    let folder = in_memory();
    let write = |records: &mut dyn Records, ids: std::ops::Range<i64>| {
        records.begin(Access::Write).unwrap();
        let filler = "x".repeat(2_000);
        ids.for_each(|id| records.insert(&TABLE, Key::Int(id), &[Value::Text(&filler)]).unwrap());
        records.commit()
    };
    let open = || engine(folder.path(), "sync=off&write_buffer=64KiB");
    let mut records = open().new_records().unwrap();
    records.create(&[&TABLE]).unwrap();
    write(&mut *records, 0..400).unwrap();
    drop(records);
    let mut records = open().new_records().unwrap();
    if let Err(error) = write(&mut *records, 400..401) {
        assert_eq!(error.kind(), ErrorKind::Conflict);
        write(&mut *records, 400..401).unwrap();
    }
    assert_eq!(records.count(&TABLE).unwrap(), 401);
}

#[test]
fn a_database_is_found_again() {
    if !has_library("a_database_is_found_again") {
        return;
    }
    let folder = in_memory();
    folders::is_found_again(&|| engine(folder.path(), ""), "LOCK");
}

#[test]
fn a_killed_process_loses_nothing_acknowledged() {
    if has_library("a_killed_process_loses_nothing_acknowledged") {
        let queries = ["", "sync=off", "sync=off&write_buffer=64KiB"];
        folders::keeps_what_a_killed_process_acknowledged(
            "a_killed_process_loses_nothing_acknowledged",
            &queries,
            &engine,
        );
    }
}

/// Foreign database: a RocksDB folder without Bourse's mark is left alone, since opening it would change it.
#[test]
fn a_database_of_somebody_else_is_not_opened() {
    if !has_library("a_database_of_somebody_else_is_not_opened") {
        return;
    }
    let folder = in_memory();
    drop(engine(folder.path(), "").new_records().unwrap());
    let database = folder.path().join("test.rocksdb");
    std::fs::remove_file(folder.path().join("test.rocksdb.bourse-mark")).unwrap();
    folders::is_left_alone(&engine(folder.path(), ""), &database, "has no mark of Bourse's");
}

#[test]
fn of_two_that_write_one_record_the_second_to_commit_is_told() {
    if !has_library("of_two_that_write_one_record_the_second_to_commit_is_told") {
        return;
    }
    let folder = in_memory();
    folders::tells_the_second_of_two_writers(&engine(folder.path(), ""), "Resource busy");
}

#[test]
fn all_records_are_taken_away_in_a_transaction_too() {
    if !has_library("all_records_are_taken_away_in_a_transaction_too") {
        return;
    }
    let folder = in_memory();
    folders::takes_all_records_away(&engine(folder.path(), "sync=off"));
}

#[test]
fn what_it_cannot_do_is_refused() {
    if !has_library("what_it_cannot_do_is_refused") {
        return;
    }
    let folder = in_memory();
    folders::refuses_what_it_cannot(&engine(folder.path(), ""));
}

#[test]
fn the_class_is_honest() {
    if !has_library("the_class_is_honest") {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    folders::tells_its_class(&engine, folder.path(), "sync=on", "sync=off");
    let told = |query: &str| engine(folder.path(), query).description().unwrap();
    assert_eq!(told("wal=off").durability, Durability::Volatile);
    let told = told("cache=2MiB&compression=zstd&write_buffer=1MiB&jobs=3");
    assert!(told.version.starts_with(|first: char| first.is_ascii_digit()), "{}", told.version);
    for (name, value) in [("cache", "2MiB"), ("compression", "zstd"), ("write_buffer", "1MiB"), ("jobs", "3")] {
        let setting = told.settings.iter().find(|setting| setting.name == name).unwrap();
        assert_eq!(setting.value, value, "{name}, as the library has it");
    }
}

#[test]
fn targets_are_read_or_refused() {
    for option in GRAMMAR.options.iter().filter(|option| option.name != "library") {
        let shown = GRAMMAR.written(option.name, &RocksDbOptions::DEFAULT);
        assert_eq!(
            GRAMMAR.parse(&format!("rocksdb:x?{shown}"), RocksDbOptions::DEFAULT).unwrap().options,
            RocksDbOptions::DEFAULT
        );
    }
    for (target, expected) in [
        ("rocksdb:", "names no place"),
        ("rocksdb::memory:", "a folder below /dev/shm"),
        ("rocksdb:x?sync=some", "expected on, off"),
        ("rocksdb:x?wal=off&sync=on", "no log to sync"),
        ("rocksdb:x?bloom=0", "out of range; expected"),
        ("rocksdb:x?jobs=many", "expected a number"),
        ("rocksdb:x?compression=gzip", "expected snappy, none, lz4, zstd"),
    ] {
        let Err(error) = open(target) else { panic!("{target} was opened") };
        let message = error.to_string();
        assert!(message.contains(expected), "{target}: {message}");
    }
}

#[test]
fn an_absent_library_is_explained() {
    let absent = info(Some(Path::new("/nowhere/librocksdb.so"))).unwrap_err().to_string();
    for part in ["cannot load /nowhere/librocksdb.so", "librocksdb7.8", "$BOURSE_ROCKSDB", "`library=`"] {
        assert!(absent.contains(part), "{part:?} in {absent}");
    }
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "library=/nowhere/librocksdb.so");
    assert!(!engine.exists().unwrap(), "looking for a folder needs no library");
    let refused = engine.connect().err().expect("no library");
    assert!(refused.kind() == ErrorKind::Unsupported && refused.message().contains("cannot load"), "{refused}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made");
}

#[cfg(target_os = "linux")]
#[test]
fn a_writer_says_what_it_waits_on() {
    if !has_library("a_writer_says_what_it_waits_on") {
        return;
    }
    let waits = |query| {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        waits_of_a_writer(&engine(folder.path(), query))
    };
    assert_eq!(waits("sync=on"), [0, 1, 0]);
    assert_eq!(waits("sync=off"), [0, 0, 1]);
}
