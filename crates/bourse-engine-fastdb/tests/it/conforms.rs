use bourse_engine::{
    Access, Durability, Engine, ErrorKind, IndexKind, Key, KeyEngine as _, RecordField, RecordTable, RecordType,
    Records, RowExt as _, Value,
};
use bourse_engine_fastdb::{FastDbEngine, LIBRARY_VARIABLE, open};
use bourse_testkit::records_conformance;
use std::path::Path;

/// Whether the library is named; reports the test that is skipped if not.
fn has_library(test: &str) -> bool {
    let is_named = std::env::var_os(LIBRARY_VARIABLE).is_some();
    if !is_named {
        bourse_testkit::skipped(test, format!("{LIBRARY_VARIABLE} names no library"));
    }
    is_named
}

fn engine(folder: &Path, query: &str) -> FastDbEngine {
    open(&format!("fastdb:{}?size=256MiB&{query}", folder.join("test.fdb").display())).unwrap()
}

/// Names of this process's databases in `/tmp`.
fn leftovers() -> Vec<String> {
    let prefix = format!("bourse-fastdb-{}-", std::process::id());
    let names =
        std::fs::read_dir("/tmp").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap_or_default());
    names.filter(|name| name.starts_with(&prefix)).collect()
}

static ITEMS: RecordTable = RecordTable::new(
    "items",
    RecordField::new("id", RecordType::Int),
    &[RecordField::new("price", RecordType::Int), RecordField::new("name", RecordType::Text(10))],
);

fn insert(records: &mut dyn Records, id: i64) {
    records.insert(&ITEMS, Key::Int(id), &[Value::Int(id * 10), "name".into()]).unwrap();
}

fn price(records: &mut dyn Records, id: i64) -> Option<i64> {
    let mut price = None;
    records
        .get(&ITEMS, Key::Int(id), &mut |row| {
            price = Some(row.get(1)?);
            Ok(())
        })
        .unwrap();
    price
}

#[test]
fn promises_are_kept() {
    if !has_library("promises_are_kept") {
        return;
    }
    let assigned = "keys are assigned, none twice";
    for (query, left_out) in [
        ("index=ttree", &[assigned][..]),
        (
            "index=hash",
            &[assigned, "scans are in the order of keys", "scans of text keys are in the order of bytes"][..],
        ),
        ("commit=precommit", &[assigned, "a rollback undoes", "a dropped session undoes its transaction"][..]),
    ] {
        // Every commit is made durable, which takes its time on a disk.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        assert_eq!(records_conformance(&engine(folder.path(), query)), left_out, "{query}");
    }
}

#[test]
fn a_database_is_found_again() {
    if !has_library("a_database_is_found_again") {
        return;
    }
    for commit in ["full", "precommit"] {
        let folder = tempfile::tempdir().unwrap();
        let query = format!("commit={commit}");
        let first = engine(folder.path(), &query);
        assert!(!first.exists().unwrap());
        let is_diskless = first.description().unwrap().durability_reason.contains("diskless");
        let mut session = first.new_records().unwrap();
        session.create(&[&ITEMS]).unwrap();
        session.begin(Access::Write).unwrap();
        (1..=1_000).for_each(|id| insert(&mut *session, id));
        session.commit().unwrap();
        assert!(first.exists().unwrap());
        assert!(first.footprint().unwrap().memory_bytes >= 256 << 20);
        let second = engine(folder.path(), &query);
        let refused = second.new_records().err().expect("two engines must not have one file");
        assert!(refused.to_string().contains("another process has it open"), "{refused}");
        drop(session);
        drop(first);
        if is_diskless {
            assert!(!second.exists().unwrap(), "nothing of a diskless database is left");
            continue;
        }
        assert!(second.exists().unwrap());
        let mut session = second.new_records().unwrap();
        assert_eq!(price(&mut *session, 1_000), Some(10_000), "{commit}");
        assert_eq!(session.count(&ITEMS).unwrap(), 1_000);
    }
}

#[test]
fn the_class_is_honest() {
    if !has_library("the_class_is_honest") {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let full = engine(folder.path(), "").description().unwrap();
    if full.engine == "fastdb" {
        assert_eq!(full.durability, Durability::Durable, "{}", full.durability_reason);
        let precommit = engine(folder.path(), "commit=precommit").description().unwrap();
        assert_eq!(precommit.durability, Durability::Volatile);
        assert!(precommit.warnings.iter().any(|warning| warning.contains("rolled back")), "{:?}", precommit.warnings);
    } else {
        assert_eq!(full.durability, Durability::Volatile, "{}", full.durability_reason);
    }
    let in_memory = open("fastdb:/dev/shm/bourse-fastdb-test.fdb?size=256MiB").unwrap();
    assert_eq!(in_memory.description().unwrap().durability, Durability::Volatile);
    drop(in_memory);
    let _ = std::fs::remove_file("/dev/shm/bourse-fastdb-test.fdb");
}

/// Regression test: FastDB passes a freed statement's limit on to the next statement, so searches after a short scan found too
/// few records.
#[test]
fn a_scans_limit_is_its_own() {
    if !has_library("a_scans_limit_is_its_own") {
        return;
    }
    static TWICE: RecordTable = RecordTable::new(
        "twice",
        RecordField::new("id", RecordType::Int),
        &[RecordField::new("half", RecordType::Int).indexed(IndexKind::Tree)],
    );
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let engine = engine(folder.path(), "");
    for _ in 0..20 {
        let mut records = engine.new_records().unwrap();
        records.create(&[&TWICE]).unwrap();
        (0..10).for_each(|id| records.insert(&TWICE, Key::Int(id), &[Value::Int(id / 5)]).unwrap());
        assert_eq!(records.find(&TWICE, 0, Value::Int(1), &mut |_| Ok(())).unwrap(), 5);
        assert_eq!(records.scan(&TWICE, Key::Int(0), 1, &mut |_| Ok(())).unwrap(), 1);
        assert_eq!(records.find(&TWICE, 0, Value::Int(1), &mut |_| Ok(())).unwrap(), 5);
        assert_eq!(records.count(&TWICE).unwrap(), 10);
    }
}

#[test]
fn precommit_says_that_it_cannot_undo() {
    if !has_library("precommit_says_that_it_cannot_undo") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "commit=precommit");
    let mut session = engine.new_records().unwrap();
    session.create(&[&ITEMS]).unwrap();
    session.begin(Access::Write).unwrap();
    insert(&mut *session, 1);
    let refused = session.rollback().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("the changes stay"), "{refused}");
    assert_eq!(price(&mut *engine.new_records().unwrap(), 1), Some(10), "and the lock is given back");
}

#[test]
fn what_does_not_fit_is_refused() {
    if !has_library("what_does_not_fit_is_refused") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "");
    let mut records = engine.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    let mut refused = |values: &[Value<'_>]| records.insert(&ITEMS, Key::Int(1), values).unwrap_err().to_string();
    assert!(refused(&[Value::Int(1), "a\0b".into()]).contains("zero byte"));
    assert!(refused(&[Value::Int(1), "x".repeat(41).as_str().into()]).contains("longer than declared"));
    assert!(refused(&[Value::Null, "x".into()]).contains("not of its declared type"));
    assert!(refused(&[Value::Int(1)]).contains("1 values for the 2 fields"));
    assert_eq!(records.count(&ITEMS).unwrap(), 0);
    records.begin(Access::Read).unwrap();
    let refused = records.insert(&ITEMS, Key::Int(1), &[Value::Int(1), "x".into()]).unwrap_err();
    assert_eq!(refused.message(), "a transaction begun for reading cannot write");
    records.commit().unwrap();
}

#[test]
fn a_full_diskless_database_is_told() {
    if !has_library("a_full_diskless_database_is_told") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let engine = open(&format!("fastdb:{}?size=96MiB", folder.path().join("full.fdb").display())).unwrap();
    if engine.description().unwrap().engine == "fastdb" {
        return; // One in a file grows.
    }
    let mut records = engine.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    records.begin(Access::Write).unwrap();
    let full = (0..5_000_000)
        .find_map(|id| records.insert(&ITEMS, Key::Int(id), &[Value::Int(id), "0123456789".into()]).err())
        .expect("96 MiB do not hold five million records");
    assert_eq!(full.kind(), ErrorKind::Full, "{full}");
    assert!(full.message().contains("`size=`"), "{full}");
}

#[test]
fn nothing_is_left_behind() {
    if !has_library("nothing_is_left_behind") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "");
    let mut session = engine.new_records().unwrap();
    session.create(&[&ITEMS]).unwrap();
    let held: Vec<_> = leftovers();
    assert!(held.iter().any(|name| name.ends_with(".lock")), "{held:?}");
    let mine = |name: &String| held.contains(name);
    drop(engine);
    insert(&mut *session, 1);
    assert_eq!(price(&mut *session, 1), Some(10), "a session outlives its engine");
    drop(session);
    // Other tests of this process have names too; this one's is the one whose lock is gone.
    let left = leftovers();
    let gone = held.iter().filter(|name| !left.contains(name)).filter(|name| name.ends_with(".lock")).count();
    assert!(gone >= 1, "{:?}", left.iter().filter(|name| mine(name)).collect::<Vec<_>>());
}
