use bourse_engine_sqlite::open;
use bourse_testkit::{conformance, records_conformance};

/// Busy timeout of the tests: sessions of one thread wait for each other in vain, so it is short.
const BUSY_TIMEOUT: &str = "busy_timeout=100ms";

fn check_file(query: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("conformance.db");
    conformance(&open(&format!("sqlite:{}?{BUSY_TIMEOUT}&{query}", path.display())).unwrap());
}

fn check_memory(query: &str) {
    conformance(&open(&format!("sqlite::memory:?{BUSY_TIMEOUT}&{query}")).unwrap());
}

#[test]
fn write_ahead_log() {
    check_file("journal=wal&sync=normal");
}

#[test]
fn rollback_journal() {
    check_file("journal=delete&sync=off");
}

#[test]
fn without_a_queue() {
    check_file("writers=busy&sync=off");
}

#[test]
fn with_sqlites_busy_timeout() {
    check_file("writers=sqlite&sync=off");
    check_file("writers=sqlite&sync=off&journal=delete");
    check_memory("writers=sqlite");
}

#[test]
fn with_transactions_that_begin_deferred() {
    check_file("writers=sqlite&begin=deferred&sync=off");
    check_file("writers=busy&begin=deferred&sync=off");
}

#[test]
fn with_one_connection_that_writes() {
    check_file("writers=one&sync=off");
    check_file("writers=one&sync=off&statement_cache=off&begin=deferred");
    check_file("writers=one&sync=off&journal=delete");
    check_memory("writers=one");
    check_memory("writers=one&memory=memdb");
}

#[test]
fn with_sqlites_defaults() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("conformance.db");
    // Sessions that meet are told at once: patience is no part of these defaults.
    conformance(&open(&format!("sqlite:{}?defaults=sqlite&sync=off", path.display())).unwrap());
}

#[test]
fn without_constraints() {
    check_file("foreign_keys=off&checks=off&sync=off&threading=fullmutex");
}

#[test]
fn shared_cache_of_a_file() {
    check_file("shared_cache=on&journal=truncate&sync=off");
}

#[test]
fn shared_cache_of_a_file_with_a_log() {
    check_file("shared_cache=on&journal=wal&sync=off");
}

#[test]
fn memory() {
    check_memory("");
}

#[test]
fn memory_without_a_queue() {
    check_memory("writers=busy");
}

#[test]
fn memory_with_shared_cache() {
    check_memory("shared_cache=on");
}

#[test]
fn memory_of_sqlites_own() {
    check_memory("memory=memdb");
}

#[test]
fn memory_with_rollback_journal() {
    check_memory("journal=delete");
}

#[test]
fn records_of_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("records.db");
    let engine = open(&format!("sqlite:{}?sync=off", path.display())).unwrap();
    assert_eq!(records_conformance(&engine), ["keys can be hashed"]);
}

#[test]
fn records_by_one_connection_that_writes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("records.db");
    for query in ["writers=one&sync=off", "defaults=sqlite&busy_timeout=5s&sync=off"] {
        let engine = open(&format!("sqlite:{}?{query}", path.display())).unwrap();
        assert_eq!(records_conformance(&engine), ["keys can be hashed"], "{query}");
    }
}

#[test]
fn records_in_memory() {
    assert_eq!(records_conformance(&open("sqlite::memory:").unwrap()), ["keys can be hashed"]);
}
