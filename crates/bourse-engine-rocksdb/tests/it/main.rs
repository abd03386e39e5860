//! RocksDB through the seam. Tests that need the library are skipped by name where there is none.
#![allow(clippy::unwrap_used, reason = "tests")]

use bourse_engine::{
    Access, Durability, Engine, ErrorKind, IndexKind, Key, KeyEngine as _, RecordField, RecordTable, RecordType, Value,
};
use bourse_engine_rocksdb::{GRAMMAR, Options, RocksDbEngine, info, open};
use bourse_testkit::{folders_conformance, records_conformance};
use std::path::Path;

const LEFT_OUT: [&str; 3] =
    ["keys are assigned, none twice", "indexed fields find their records", "keys can be hashed"];

fn engine(folder: &Path, query: &str) -> RocksDbEngine {
    open(&format!("rocksdb:{}?{query}", folder.join("test.rocksdb").display())).unwrap()
}

/// Whether the library is here; says which test is skipped if not.
fn has_library(test: &str) -> bool {
    let found = info(None);
    if let Err(why) = &found {
        #[expect(clippy::print_stderr, reason = "a skipped test says so by name")]
        {
            eprintln!("skipped: {test} ({why})");
        }
    }
    found.is_ok()
}

/// A folder in memory, where there is one: commits that wait for a disk take their time.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

static ITEMS: RecordTable =
    RecordTable::new("items", RecordField::new("id", RecordType::Int), &[RecordField::new("price", RecordType::Int)]);
static INDEXED: RecordTable = RecordTable::new(
    "indexed",
    RecordField::new("id", RecordType::Int),
    &[RecordField::new("price", RecordType::Int).indexed(IndexKind::Tree)],
);

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

#[test]
fn a_database_is_found_again() {
    if !has_library("a_database_is_found_again") {
        return;
    }
    let folder = in_memory();
    let first = engine(folder.path(), "");
    assert!(!first.exists().unwrap());
    let mut records = first.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    records.begin(Access::Write).unwrap();
    (0..1_000).for_each(|id| records.insert(&ITEMS, Key::Int(id), &[Value::Int(id)]).unwrap());
    records.commit().unwrap();
    assert!(first.exists().unwrap());
    let size = first.footprint().unwrap();
    assert!(size.log_bytes > 8_000 && size.memory_bytes > 8_000, "{size:?}");
    let refused = engine(folder.path(), "").new_records().err().expect("two engines must not have one folder");
    assert!(refused.message().contains("LOCK"), "{refused}");
    drop(records);
    drop(first);
    let second = engine(folder.path(), "");
    assert!(second.exists().unwrap());
    let mut records = second.new_records().unwrap();
    assert_eq!(records.count(&ITEMS).unwrap(), 1_000);
    assert_eq!(records.delete_all(&ITEMS).unwrap(), 1_000);
    drop(records);
    drop(second);
    assert_eq!(engine(folder.path(), "").new_records().unwrap().count(&ITEMS).unwrap(), 0);
}

/// A folder of RocksDB's without our mark is somebody else's, and opening it would change it.
#[test]
fn a_database_of_somebody_else_is_not_opened() {
    if !has_library("a_database_of_somebody_else_is_not_opened") {
        return;
    }
    let folder = in_memory();
    drop(engine(folder.path(), "").new_records().unwrap());
    std::fs::remove_file(folder.path().join("test.rocksdb").join(bourse_engine::FOLDER_MARK)).unwrap();
    let files = || {
        let entries = std::fs::read_dir(folder.path().join("test.rocksdb")).unwrap().map(|entry| entry.unwrap());
        let mut names: Vec<_> = entries.map(|entry| (entry.file_name(), entry.metadata().unwrap().len())).collect();
        names.sort();
        names
    };
    let before = files();
    let why = engine(folder.path(), "").foreign().unwrap().expect("it is not ours");
    assert!(why.contains("without Bourse's mark"), "{why}");
    assert_eq!(engine(folder.path(), "").new_records().err().unwrap().kind(), ErrorKind::Refused);
    assert_eq!(files(), before);
}

#[test]
fn of_two_that_write_one_record_the_second_to_commit_is_told() {
    if !has_library("of_two_that_write_one_record_the_second_to_commit_is_told") {
        return;
    }
    let folder = in_memory();
    let engine = engine(folder.path(), "");
    let (mut first, mut second) = (engine.new_records().unwrap(), engine.new_records().unwrap());
    first.create(&[&ITEMS]).unwrap();
    (1..=2).for_each(|id| first.insert(&ITEMS, Key::Int(id), &[Value::Int(0)]).unwrap());
    first.begin(Access::Write).unwrap();
    second.begin(Access::Write).unwrap();
    assert!(first.add(&ITEMS, Key::Int(1), 0, 1).unwrap() && second.add(&ITEMS, Key::Int(1), 0, 1).unwrap());
    first.commit().unwrap();
    let conflict = second.commit().unwrap_err();
    assert_eq!((conflict.kind(), conflict.code()), (ErrorKind::Conflict, Some("Resource busy")));
    // Of different records both commit; and so does one that only reads what the other has written.
    first.begin(Access::Write).unwrap();
    second.begin(Access::Write).unwrap();
    assert!(first.add(&ITEMS, Key::Int(1), 0, 1).unwrap() && second.add(&ITEMS, Key::Int(2), 0, 1).unwrap());
    first.commit().unwrap();
    second.commit().unwrap();
    first.begin(Access::Write).unwrap();
    second.begin(Access::Read).unwrap();
    assert!(first.add(&ITEMS, Key::Int(1), 0, 1).unwrap());
    first.commit().unwrap();
    assert_eq!(second.count(&ITEMS).unwrap(), 2);
    second.commit().unwrap();
}

#[test]
fn all_records_are_taken_away_in_a_transaction_too() {
    if !has_library("all_records_are_taken_away_in_a_transaction_too") {
        return;
    }
    let folder = in_memory();
    let engine = engine(folder.path(), "sync=off");
    let mut records = engine.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    (1..=10).for_each(|id| records.insert(&ITEMS, Key::Int(id), &[Value::Int(0)]).unwrap());
    for keeps in [true, false] {
        records.begin(Access::Write).unwrap();
        records.insert(&ITEMS, Key::Int(11), &[Value::Int(0)]).unwrap();
        assert_eq!(records.delete_all(&ITEMS).unwrap(), 11);
        assert_eq!(records.count(&ITEMS).unwrap(), 0);
        if keeps {
            records.rollback().unwrap()
        } else {
            records.commit().unwrap()
        }
        assert_eq!(records.count(&ITEMS).unwrap(), if keeps { 10 } else { 0 });
    }
}

#[test]
fn what_it_cannot_do_is_refused() {
    if !has_library("what_it_cannot_do_is_refused") {
        return;
    }
    let folder = in_memory();
    let engine = engine(folder.path(), "");
    let mut records = engine.new_records().unwrap();
    let refused = records.create(&[&INDEXED]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("price of indexed"), "{refused}");
    records.create(&[&ITEMS]).unwrap();
    assert!(records.get(&ITEMS, Key::Text("a"), &mut |_| Ok(())).unwrap_err().message().contains("no key of items"));
    records.begin(Access::Read).unwrap();
    let refused = records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap_err();
    assert_eq!(refused.message(), "a transaction begun for reading cannot write");
    assert!(engine.loader().is_err());
}

#[test]
fn the_class_is_honest() {
    if !has_library("the_class_is_honest") {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let told = |query: &str| engine(folder.path(), query).description().unwrap();
    assert_eq!(told("").durability, Durability::Durable);
    assert_eq!(told("wal=off").durability, Durability::Volatile);
    let buffered = told("sync=off");
    assert_eq!(buffered.durability, Durability::Consistent);
    assert!(buffered.may_lose.is_some() && buffered.warnings.is_empty());
    if Path::new("/dev/shm").is_dir() {
        let folder = in_memory();
        let told = engine(folder.path(), "").description().unwrap();
        assert_eq!((told.durability, told.warnings.len()), (Durability::Volatile, 1), "{}", told.durability_reason);
    }
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
        let shown = GRAMMAR.written(option.name, &Options::DEFAULT);
        assert_eq!(GRAMMAR.parse(&format!("rocksdb:x?{shown}"), Options::DEFAULT).unwrap().options, Options::DEFAULT);
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
        let message = open(target).err().expect(target).to_string();
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

/// How often a thread that commits a record waited for locks, for the disk and for writes.
#[cfg(target_os = "linux")]
fn waits_of_a_writer(query: &str) -> [u64; 3] {
    use bourse_engine::Wait;
    use bourse_engine::thread_time::{meter_this_thread, metered};
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let engine = engine(folder.path(), query);
    engine.new_records().unwrap().create(&[&ITEMS]).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut records = engine.new_records().unwrap();
            meter_this_thread().expect("Linux tells the times of threads");
            records.begin(Access::Write).unwrap();
            records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap();
            records.commit().unwrap();
            let waited = metered().expect("the thread is metered").waited;
            [Wait::Lock, Wait::Sync, Wait::Storage].map(|wait| waited[wait as usize].waits)
        });
        writer.join().unwrap()
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_writer_says_what_it_waits_on() {
    if !has_library("a_writer_says_what_it_waits_on") {
        return;
    }
    assert_eq!(waits_of_a_writer("sync=on"), [0, 1, 0]);
    assert_eq!(waits_of_a_writer("sync=off"), [0, 0, 1]);
}
