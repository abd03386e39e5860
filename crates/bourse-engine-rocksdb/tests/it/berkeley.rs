//! Berkeley DB through the seam. Tests that need the library are skipped by name if it is unavailable.

use bourse_engine::{Engine, ErrorKind, KeyEngine as _};
use bourse_engine_rocksdb::berkeley::{BerkeleyEngine, BerkeleyOptions, GRAMMAR, info, open};
use bourse_testkit::folders::{self, in_memory};
use bourse_testkit::{folders_conformance, records_conformance};
use std::path::Path;

fn engine(folder: &Path, query: &str) -> BerkeleyEngine {
    open(&format!("berkeleydb:{}?{query}", folder.join("test.bdb").display())).unwrap()
}

fn has_library(test: &str) -> bool {
    super::is_found(test, info(None))
}

#[test]
fn berkeley_db_keeps_its_promises() {
    if !has_library("berkeley_db_keeps_its_promises") {
        return;
    }
    for query in ["", "sync=off&cache=16MiB"] {
        let folder = in_memory();
        assert_eq!(records_conformance(&engine(folder.path(), query)), super::LEFT_OUT, "{query}");
    }
    let folder = in_memory();
    folders_conformance(&folder.path().canonicalize().unwrap(), &|path| {
        Box::new(open(&format!("berkeleydb:{}", path.display())).unwrap())
    });
    let folder = in_memory();
    folders::takes_all_records_away(&engine(folder.path(), "sync=off"));
    let folder = in_memory();
    folders::refuses_what_it_cannot(&engine(folder.path(), ""));
}

#[test]
fn a_berkeley_db_database_is_found_again() {
    if !has_library("a_berkeley_db_database_is_found_again") {
        return;
    }
    let folder = in_memory();
    folders::is_found_again(&|| engine(folder.path(), ""), "another process has it open");
    let found = engine(folder.path(), "");
    assert_eq!(found.tables().unwrap(), ["items"]);
    let told = found.description().unwrap();
    assert!(told.version.starts_with("5.3"), "{}", told.version);
}

#[test]
fn a_killed_process_loses_nothing_acknowledged_by_berkeley_db() {
    let test = "berkeley::a_killed_process_loses_nothing_acknowledged_by_berkeley_db";
    if has_library(test) {
        folders::keeps_what_a_killed_process_acknowledged(test, &["", "sync=off"], &engine);
    }
}

#[test]
fn the_class_of_berkeley_db_is_honest() {
    if !has_library("the_class_of_berkeley_db_is_honest") {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    folders::tells_its_class(&engine, folder.path(), "sync=on", "sync=off");
}

#[test]
fn targets_of_berkeley_db_are_read_or_refused() {
    for (target, expected) in [
        ("berkeleydb:", "names no place"),
        ("berkeleydb::memory:", "a folder below /dev/shm"),
        ("berkeleydb:x?sync=0", "expected on, off"),
    ] {
        let message = open(target).err().unwrap().to_string();
        assert!(message.contains(expected), "{target}: {message}");
    }
    assert_eq!(GRAMMAR.written("sync", &BerkeleyOptions::DEFAULT), "sync=on");
    let folder = tempfile::tempdir().unwrap();
    let refused = engine(folder.path(), "library=/nowhere/libdb-5.3.so").connect().err().expect("no library");
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("libdb5.3"), "{refused}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made");
}
