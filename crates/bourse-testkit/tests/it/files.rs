//! Records as files: the promises of a key engine, and its files.
#![allow(clippy::unwrap_used, reason = "tests")]

use bourse_engine::files::{FilesEngine, open};
use bourse_engine::{Access, Durability, Engine as _, EngineError, ErrorKind, Key, KeyEngine as _, Value};
use bourse_testkit::folders::{self, ITEMS};
use bourse_testkit::records_conformance;
use std::path::Path;

const LEFT_OUT: [&str; 7] = [
    "keys are assigned, none twice",
    "scans are in the order of keys",
    "scans of text keys are in the order of bytes",
    "indexed fields find their records",
    "keys can be hashed",
    "a rollback undoes",
    "a dropped session undoes its transaction",
];

fn engine(folder: &Path, query: &str) -> FilesEngine {
    open(&format!("files:{}?{query}", folder.join("x.files").display())).unwrap()
}

#[test]
fn promises_are_kept_in_each_layout() {
    for query in ["sync=off", "layout=tree", "layout=tree&sync=off"] {
        let folder = folders::in_memory();
        assert_eq!(records_conformance(&engine(folder.path(), query)), LEFT_OUT, "{query}");
    }
}

#[test]
fn a_folder_that_is_not_its_own_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    bourse_testkit::folders_conformance(folder.path(), &|path| {
        Box::new(open(&format!("files:{}", path.display())).unwrap())
    });
}

#[test]
fn a_database_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let first = engine(folder.path(), "sync=off");
    let mut records = first.new_records().unwrap();
    records.create(&[&ITEMS]).unwrap();
    records.insert(&ITEMS, Key::Int(1), &[Value::Int(7)]).unwrap();
    let refused = engine(folder.path(), "sync=off").new_records().err().expect("it is in use");
    assert!(refused.message().contains("in use"), "{refused}");
    drop(records);
    drop(first);
    let again = engine(folder.path(), "sync=off");
    assert!(again.exists().unwrap());
    assert_eq!(again.new_records().unwrap().count(&ITEMS).unwrap(), 1);
}

#[test]
fn a_record_is_a_file_named_for_its_key() {
    for (query, file, of_text) in
        [("sync=off", "items/000123", "words/a=2F="), ("sync=off&layout=tree", "items/00/01/23", "words/a=+/2F+/a=2F=")]
    {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path(), query);
        let mut records = engine.new_records().unwrap();
        records.create(&[&ITEMS, &WORDS]).unwrap();
        records.insert(&ITEMS, Key::Int(123), &[Value::Int(7)]).unwrap();
        records.insert(&WORDS, Key::Text("a/"), &[Value::Int(7)]).unwrap();
        for file in [file, of_text] {
            assert!(folder.path().join("x.files").join(file).is_file(), "{query}: {file}");
        }
        assert!(engine.footprint().unwrap().data_bytes > 0);
        assert_eq!(engine.description().unwrap().durability, Durability::Process);
        let before = engine.footprint().unwrap().data_bytes;
        records.insert(&ITEMS, Key::Int(124), &[Value::Int(7)]).unwrap();
        assert!(engine.footprint().unwrap().data_bytes > before, "a file that was made is counted");
    }
}

/// A person's files in a table's folder went with it, and a link in its place was replaced.
#[test]
#[cfg(unix)]
fn what_it_did_not_make_in_its_folder_is_kept() {
    for (query, record) in [("sync=off", "items/000123"), ("sync=off&layout=tree", "items/00/01/23")] {
        for name in ["items/notes.txt", "items/12345", "items/00/mine", "mine/000001.txt", "notes.txt"] {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join("x.files").join(name);
            let refused = |error: EngineError| {
                assert_eq!(error.kind(), ErrorKind::Refused);
                assert_eq!(error.message(), format!("it holds what bourse did not make: {name}"));
                assert!(at(name).exists() && at(record).exists(), "{query}: {name}");
            };
            let first = engine(folder.path(), query);
            let mut records = first.new_records().unwrap();
            records.create(&[&ITEMS, &WORDS]).unwrap();
            for key in [-1, 123, 1_234_567] {
                records.insert(&ITEMS, Key::Int(key), &[Value::Int(7)]).unwrap();
            }
            for key in ["", "a", "Ä/b_-=9 long"] {
                records.insert(&WORDS, Key::Text(key), &[Value::Int(7)]).unwrap();
            }
            assert_eq!((records.count(&ITEMS).unwrap(), records.count(&WORDS).unwrap()), (3, 3));
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), "mine").unwrap();
            if name.starts_with("items") {
                refused(records.delete_all(&ITEMS).unwrap_err());
            }
            drop((records, first));
            refused(engine(folder.path(), query).new_records().err().unwrap());
            std::fs::remove_file(at(name)).unwrap();
            std::fs::rename(at("items"), folder.path().join("mine")).unwrap();
            std::os::unix::fs::symlink("../mine", at("items")).unwrap();
            let linked = engine(folder.path(), query).new_records().err().unwrap();
            assert_eq!(linked.message(), "it holds what bourse did not make: items");
        }
    }
}

static WORDS: bourse_engine::RecordTable = bourse_engine::RecordTable::new(
    "words",
    bourse_engine::RecordField::new("word", bourse_engine::RecordType::Text(20)),
    &[bourse_engine::RecordField::new("uses", bourse_engine::RecordType::Int)],
);

#[test]
fn what_it_cannot_do_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "sync=off");
    folders::refuses_what_it_cannot(&engine);
    let mut records = engine.new_records().unwrap();
    records.begin(Access::Write).unwrap();
    records.insert(&ITEMS, Key::Int(1), &[Value::Int(1)]).unwrap();
    assert!(records.rollback().unwrap_err().message().contains("cannot be undone"));
    assert_eq!(records.count(&ITEMS).unwrap(), 1);
    for (target, words) in [("files::memory:", "/dev/shm"), ("files:x?layout=round", "expected flat, tree")] {
        let refused = open(target).unwrap_err().to_string();
        assert!(refused.contains(words), "{target}: {refused}");
    }
}
