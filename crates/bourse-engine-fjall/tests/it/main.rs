//! fjall through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

use bourse_engine_fjall::{FjallEngine, FjallOptions, GRAMMAR, open, version};
use bourse_testkit::folders::{self, in_memory};
#[cfg(target_os = "linux")]
use bourse_testkit::waits_of_a_writer;
use bourse_testkit::{folders_conformance, records_conformance};
use std::path::Path;

const LEFT_OUT: [&str; 3] =
    ["keys are assigned, none twice", "indexed fields find their records", "keys can be hashed"];

fn engine(folder: &Path, query: &str) -> FjallEngine {
    open(&format!("fjall:{}?{query}", folder.join("test.fjall").display())).unwrap()
}

#[test]
fn promises_are_kept() {
    for query in ["persist=buffer", "persist=sync_data&workers=1", "persist=sync_all&cache=1MiB&journal=64MiB"] {
        let folder = in_memory();
        assert_eq!(records_conformance(&engine(folder.path(), query)), LEFT_OUT, "{query}");
    }
}

#[test]
fn folders_that_are_not_its_own_are_left_alone() {
    let folder = in_memory();
    folders_conformance(&folder.path().canonicalize().unwrap(), &|path| {
        Box::new(open(&format!("fjall:{}", path.display())).unwrap())
    });
}

#[test]
fn a_database_is_found_again() {
    let folder = in_memory();
    folders::is_found_again(&|| engine(folder.path(), ""), "another process has it open");
}

#[test]
fn a_killed_process_loses_nothing_acknowledged() {
    folders::keeps_what_a_killed_process_acknowledged(
        "a_killed_process_loses_nothing_acknowledged",
        &["persist=buffer", "persist=sync_data"],
        &engine,
    );
}

/// Foreign database: a fjall folder without Bourse's mark is left alone, since opening it would change it.
#[test]
fn a_database_of_somebody_else_is_not_opened() {
    let folder = in_memory();
    let path = folder.path().join("test.fjall");
    drop(fjall::Database::builder(&path).open().unwrap());
    folders::is_left_alone(&engine(folder.path(), ""), &path, "has no mark of Bourse's");
}

#[test]
fn of_two_that_write_one_record_the_second_to_commit_is_told() {
    let folder = in_memory();
    folders::tells_the_second_of_two_writers(&engine(folder.path(), ""), "Conflict");
}

#[test]
fn all_records_are_taken_away_in_a_transaction_too() {
    let folder = in_memory();
    folders::takes_all_records_away(&engine(folder.path(), "persist=buffer"));
}

#[test]
fn what_it_cannot_do_is_refused() {
    let folder = in_memory();
    folders::refuses_what_it_cannot(&engine(folder.path(), ""));
}

#[test]
fn the_class_is_honest() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    folders::tells_its_class(&engine, folder.path(), "persist=sync_all", "persist=buffer");
    assert!(version().starts_with("3."), "{}", version());
}

#[test]
fn targets_are_read_or_refused() {
    for option in GRAMMAR.options {
        let shown = GRAMMAR.written(option.name, &FjallOptions::DEFAULT);
        assert_eq!(
            GRAMMAR.parse(&format!("fjall:x?{shown}"), FjallOptions::DEFAULT).unwrap().options,
            FjallOptions::DEFAULT
        );
    }
    for (target, expected) in [
        ("fjall:", "names no place"),
        ("fjall::memory:", "a folder below /dev/shm"),
        ("fjall:x?persist=some", "expected sync_all, sync_data, buffer"),
        ("fjall:x?journal=1MiB", "out of range; expected"),
        ("fjall:x?workers=0", "out of range; expected"),
        ("fjall:x?workers=many", "expected auto, or a number"),
    ] {
        let Err(error) = open(target) else { panic!("{target} was opened") };
        let message = error.to_string();
        assert!(message.contains(expected), "{target}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_writer_says_what_it_waits_on() {
    let waits = |query| {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        waits_of_a_writer(&engine(folder.path(), query))
    };
    // Its begin and its commit may each wait for another's commit.
    assert_eq!(waits("persist=sync_data"), [2, 1, 0]);
    assert_eq!(waits("persist=buffer"), [1, 0, 1]);
}
