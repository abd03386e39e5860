//! LMDB through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

use bourse_engine::{
    Access, Durability, Engine, ErrorKind, IndexKind, Key, KeyEngine as _, RecordField, RecordTable, RecordType, Value,
};
use bourse_engine_lmdb::{GRAMMAR, LmdbEngine, LmdbOptions, open, version};
use bourse_testkit::folders::{self, ITEMS, in_memory};
use bourse_testkit::records_conformance;
use std::path::Path;

fn engine(folder: &Path, query: &str) -> LmdbEngine {
    open(&format!("lmdb:{}?map_size=256MiB&{query}", folder.join("test.mdb").display())).unwrap()
}

static TEXTS: RecordTable = RecordTable::new(
    "items",
    RecordField::new("id", RecordType::Text(10)),
    &[RecordField::new("price", RecordType::Int)],
);
static HASHED: RecordTable =
    RecordTable::new("hashed", RecordField::new("id", RecordType::Int).indexed(IndexKind::Hash), &[]);

#[test]
fn promises_are_kept() {
    for query in ["sync=full", "sync=meta", "sync=off&writemap=on"] {
        let folder = in_memory();
        let left_out = records_conformance(&engine(folder.path(), query));
        assert_eq!(
            left_out,
            ["keys are assigned, none twice", "indexed fields find their records", "keys can be hashed"],
            "{query}"
        );
    }
}

#[test]
fn files_that_are_not_its_own_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    bourse_testkit::files_conformance(folder.path(), &|path| {
        Box::new(open(&format!("lmdb:{}", path.display())).unwrap())
    });
}

#[test]
fn a_database_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    folders::is_found_again(&|| engine(folder.path(), ""), "has it open already");
}

/// Regression test: an existing file was opened, and a lock file made next to it, before its owner was known.
#[test]
fn what_is_not_ours_is_not_opened() {
    use lmdb_master_sys as ffi;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.mdb");
    let make = || {
        let c_path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: one environment, used by this thread alone and closed after that.
        unsafe {
            let mut env = std::ptr::null_mut();
            assert_eq!(ffi::mdb_env_create(&raw mut env), 0);
            assert_eq!(ffi::mdb_env_open(env, c_path.as_ptr(), ffi::MDB_NOSUBDIR | ffi::MDB_NOLOCK, 0o644), 0);
            ffi::mdb_env_close(env);
        }
    };
    let refused = |words| folders::is_left_alone(&engine(folder.path(), ""), folder.path(), words);
    make();
    refused("has no mark of Bourse's");
    std::fs::write(&path, "somebody's notes, which are long enough to be taken for a page".repeat(9)).unwrap();
    refused("has no mark of Bourse's");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(folder.path().join("test.mdb-lock"), "somebody's notes").unwrap();
    refused("test.mdb-lock is there and is no lock file of LMDB");
}

/// Regression: a value in the main database of the file, where trees have their names, was an error of the target.
#[test]
fn a_value_in_the_main_database_is_somebodys() {
    use lmdb_master_sys as ffi;
    for name in [&b"theirs"[..], b"not \xff UTF-8", b"zero \0 byte"] {
        let folder = tempfile::tempdir().unwrap();
        drop(engine(folder.path(), "").new_records().unwrap());
        let path = std::ffi::CString::new(folder.path().join("test.mdb").to_str().unwrap()).unwrap();
        let mut pair = [(); 2].map(|()| ffi::MDB_val { mv_size: name.len(), mv_data: name.as_ptr().cast_mut().cast() });
        // SAFETY: one environment and one transaction, used by this thread alone and closed after that; the value is copied.
        unsafe {
            let (mut env, mut txn, mut main) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
            assert_eq!(ffi::mdb_env_create(&raw mut env), 0);
            assert_eq!(ffi::mdb_env_open(env, path.as_ptr(), ffi::MDB_NOSUBDIR, 0o644), 0);
            assert_eq!(ffi::mdb_txn_begin(env, std::ptr::null_mut(), 0, &raw mut txn), 0);
            assert_eq!(ffi::mdb_dbi_open(txn, std::ptr::null(), 0, &raw mut main), 0);
            assert_eq!(ffi::mdb_put(txn, main, &raw mut pair[0], &raw mut pair[1], 0), 0);
            assert_eq!(ffi::mdb_txn_commit(txn), 0);
            ffi::mdb_env_close(env);
        }
        let refused = engine(folder.path(), "").new_records().err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
        assert!(refused.message().contains("it holds what bourse did not make: key "), "{refused}");
    }
}

#[test]
fn one_name_can_have_either_kind_of_keys() {
    let folder = in_memory();
    let engine = engine(folder.path(), "");
    let mut records = engine.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap();
    records.create(&[&TEXTS]).unwrap();
    assert_eq!(records.count(&TEXTS).unwrap(), 0);
    records.insert(&TEXTS, Key::Text("1"), &[Value::Int(1)]).unwrap();
    assert!(records.insert(&TEXTS, Key::Text(""), &[Value::Int(1)]).unwrap_err().message().contains("no empty keys"));
    assert_eq!(records.scan(&TEXTS, Key::Text(""), 9, &mut |_| Ok(())).unwrap(), 1);
    assert!(records.get(&TEXTS, Key::Int(1), &mut |_| Ok(())).unwrap_err().message().contains("no key of items"));
}

#[test]
fn a_full_map_is_told_and_undone() {
    let folder = in_memory();
    let engine = open(&format!("lmdb:{}?map_size=1MiB", folder.path().join("full.mdb").display())).unwrap();
    let mut records = engine.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    records.begin(Access::Write).unwrap();
    let full = (0..1_000_000)
        .find_map(|id| records.insert(&ITEMS, Key::Int(id), &[Value::Int(id)]).err())
        .expect("1 MiB does not hold a million records");
    assert_eq!(full.kind(), ErrorKind::Full, "{full}");
    assert!(full.message().contains("`map_size=`"), "{full}");
    records.rollback().unwrap();
    assert_eq!(records.count(&ITEMS).unwrap(), 0);
    records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap();
}

#[test]
fn what_it_cannot_do_is_refused() {
    let folder = in_memory();
    let engine = engine(folder.path(), "");
    let mut records = engine.new_records().unwrap();
    assert_eq!(records.create(&[&HASHED]).unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(records.count(&ITEMS).unwrap_err().message().contains("there is no table items"));
    records.create(&[&ITEMS]).unwrap();
    records.begin(Access::Read).unwrap();
    let refused = records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap_err();
    assert_eq!(refused.message(), "a transaction begun for reading cannot write");
    records.commit().unwrap();
    records.begin(Access::Write).unwrap();
    // The transaction is this thread's: another must neither go on with it nor end it.
    std::thread::scope(|scope| {
        let refused =
            scope.spawn(|| records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap_err()).join().unwrap();
        assert!(refused.message().contains("another thread"), "{refused}");
    });
    records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap();
    records.commit().unwrap();
    assert!(engine.loader().is_err());
}

#[test]
fn the_class_is_honest() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let class = |query| engine(folder.path(), query).description().unwrap().durability;
    assert_eq!(class("sync=full"), Durability::Durable);
    assert_eq!(class("sync=meta"), Durability::Consistent);
    assert_eq!(class("sync=off"), Durability::Process);
    assert!(version().starts_with("0.9."), "{}", version());
}

#[test]
fn targets_are_read_or_refused() {
    for option in GRAMMAR.options {
        let shown = GRAMMAR.written(option.name, &LmdbOptions::DEFAULT);
        assert_eq!(
            GRAMMAR.parse(&format!("lmdb:x?{shown}"), LmdbOptions::DEFAULT).unwrap().options,
            LmdbOptions::DEFAULT
        );
    }
    for (target, expected) in [
        ("lmdb:", "names no place"),
        ("lmdb:x?sync=some", "expected full, meta, off"),
        ("lmdb:x?map_size=1", "out of range; expected"),
    ] {
        let message = open(target).unwrap_err().to_string();
        assert!(message.contains(expected), "{target}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_writer_says_what_it_waits_on() {
    for (query, syncs) in [("sync=full", true), ("sync=off", false)] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        bourse_testkit::tells_what_a_writer_waits_on(&engine(folder.path(), query), syncs);
    }
}
