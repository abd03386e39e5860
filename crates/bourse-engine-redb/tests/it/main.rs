//! redb through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

use bourse_engine::{Durability, Engine as _};
use bourse_engine_redb::{GRAMMAR, RedbEngine, RedbOptions, open, version};
use bourse_testkit::folders::{self, in_memory};
use bourse_testkit::records_conformance;
use std::path::Path;

const LEFT_OUT: [&str; 3] =
    ["keys are assigned, none twice", "indexed fields find their records", "keys can be hashed"];

fn engine(folder: &Path, query: &str) -> RedbEngine {
    open(&format!("redb:{}?{query}", folder.join("test.redb").display())).unwrap()
}

#[test]
fn promises_are_kept_in_memory() {
    assert_eq!(records_conformance(&open("redb::memory:").unwrap()), LEFT_OUT);
}

#[test]
fn promises_are_kept_in_a_file() {
    for query in ["durability=none", "durability=immediate&two_phase=on"] {
        // Every commit is made durable, which takes its time on a disk.
        let folder = in_memory();
        assert_eq!(records_conformance(&engine(folder.path(), query)), LEFT_OUT, "{query}");
    }
}

#[test]
fn files_that_are_not_its_own_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    bourse_testkit::files_conformance(folder.path(), &|path| {
        Box::new(open(&format!("redb:{}", path.display())).unwrap())
    });
}

#[test]
fn a_database_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    folders::is_found_again(&|| engine(folder.path(), ""), "cannot open");
}

/// A process that was killed while redb made the file locked the database for ever: redb refuses a file that is half made.
#[test]
#[cfg(unix)]
fn a_file_gets_its_name_once_it_is_whole() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.redb");
    let before = std::fs::File::create(&path).unwrap().metadata().unwrap();
    drop(engine(folder.path(), "").connect().unwrap());
    assert_ne!(path.metadata().unwrap().ino(), before.ino(), "the empty file was written to");
    assert_eq!(engine(folder.path(), "").foreign().unwrap(), None);
}

/// Regression test: an existing file was opened for writing before its owner was known.
#[test]
fn what_is_not_ours_is_not_opened() {
    use redb::TableDefinition;
    const THEIRS: TableDefinition<'_, u64, u64> = TableDefinition::new("theirs");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.redb");
    for is_closed in [true, false] {
        let _ = std::fs::remove_file(&path);
        let theirs = redb::Database::create(&path).unwrap();
        let writing = theirs.begin_write().unwrap();
        writing.open_table(THEIRS).unwrap();
        writing.commit().unwrap();
        // Copied while open: the state that a killed process leaves.
        let open = std::fs::read(&path).unwrap();
        drop(theirs);
        if !is_closed {
            std::fs::write(&path, open).unwrap();
        }
        folders::is_left_alone(&engine(folder.path(), ""), folder.path(), "has no mark of Bourse's");
    }
    std::fs::write(&path, "somebody's notes").unwrap();
    folders::is_left_alone(&engine(folder.path(), ""), folder.path(), "has no mark of Bourse's");
}

#[test]
fn what_it_cannot_do_is_refused() {
    folders::refuses_what_it_cannot(&open("redb::memory:").unwrap());
}

#[test]
fn the_class_is_honest() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let class = |engine: RedbEngine| engine.description().unwrap().durability;
    assert_eq!(class(engine(folder.path(), "")), Durability::Durable);
    assert_eq!(class(engine(folder.path(), "durability=none")), Durability::Volatile);
    assert_eq!(class(open("redb::memory:").unwrap()), Durability::Volatile);
    assert!(version().starts_with("4."), "{}", version());
}

#[test]
fn targets_are_read_or_refused() {
    for option in GRAMMAR.options {
        let shown = GRAMMAR.written(option.name, &RedbOptions::DEFAULT);
        assert_eq!(
            GRAMMAR.parse(&format!("redb:x?{shown}"), RedbOptions::DEFAULT).unwrap().options,
            RedbOptions::DEFAULT
        );
    }
    for (target, expected) in [
        ("redb:", "names no place"),
        ("redb:x?durability=some", "expected immediate, none"),
        ("redb:x?cache=1", "out of range; expected"),
        ("redb::memory:?durability=none", "it is about files"),
    ] {
        let message = open(target).unwrap_err().to_string();
        assert!(message.contains(expected), "{target}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_writer_says_what_it_waits_on() {
    for (query, syncs) in [("durability=immediate", true), ("durability=none", false)] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        bourse_testkit::tells_what_a_writer_waits_on(&engine(folder.path(), query), syncs);
    }
}
