//! Engines that give their guarantees.

use crate::{Copy, examine, examined, failed, with_subject, without_crashes};
use bourse_acid::demand::CrashKind;
use bourse_acid::{AcidError, AcidSubject, Site, TESTS};
use bourse_engine::{Durability, Engine};
use bourse_engine_sqlite::open;
use bourse_record::acid::{AcidTest, AcidVerdict};
use std::path::Path;
use std::process::Command;

fn check(options: &str) -> Vec<AcidTest> {
    let copy = Copy::new();
    let tests = examined(&open(&copy.target(options)).expect("a target"), &without_crashes);
    let reasons: Vec<_> =
        tests.iter().map(|test| format!("{} {}: {}", test.id, test.verdict.name(), test.reason)).collect();
    assert!(failed(&tests).is_empty(), "{options}: {reasons:#?}");
    let ids: Vec<_> = tests.iter().map(|test| test.id.as_str()).collect();
    let all: Vec<_> = TESTS.iter().map(|spec| spec.id).filter(|id| without_crashes(id)).collect();
    assert_eq!(ids, all, "each test is run once");
    assert!(tests.iter().all(|test| test.verdict == AcidVerdict::Passed), "{reasons:#?}");
    assert!(tests.iter().all(|test| !test.cases.is_empty()), "each has its evidence");
    tests
}

fn reason<'t>(tests: &'t [AcidTest], id: &str) -> &'t str {
    &tests.iter().find(|test| test.id == id).expect("it was run").reason
}

#[test]
fn sqlite_with_a_log_lets_readers_go_on_and_writers_wait() {
    let tests = check("journal=wal");
    assert_eq!(reason(&tests, "I1"), "the second waits: 4 of 4");
    assert_eq!(reason(&tests, "I2"), "the second waits: 2 of 2");
    assert_eq!(reason(&tests, "I3"), "the second waits: 4 of 4");
    assert_eq!(reason(&tests, "I4"), "the reader goes on beside the writer: 4 of 4");
}

#[test]
fn sqlite_with_a_journal_keeps_everybody_apart() {
    let tests = check("journal=delete");
    assert_eq!(reason(&tests, "I3"), "the second waits: 4 of 4");
}

#[test]
fn one_cache_for_all_sessions_keeps_them_apart_too() {
    check("journal=delete&shared_cache=on");
}

/// Writers that retry instead of waiting: the second is refused once its patience ends, and tried again.
#[test]
fn a_session_that_is_refused_is_tried_again() {
    let tests = check("journal=wal&writers=busy&busy_timeout=20ms");
    assert_eq!(reason(&tests, "I3"), "the second is refused with a conflict: 4 of 4");
}

/// Every way of waiting, and of taking the writer lock: the guarantees hold, and only the outcome of a meeting differs.
#[test]
fn every_way_of_waiting_keeps_transactions_apart() {
    for (options, meeting) in [
        ("writers=sqlite&busy_timeout=20ms", "the second is refused with a conflict"),
        ("writers=one", "the second waits"),
        ("writers=busy&begin=deferred&busy_timeout=20ms", "the second is refused with a conflict"),
        ("writers=sqlite&begin=deferred&busy_timeout=20ms", "the second is refused with a conflict"),
        ("writers=one&begin=deferred", "the second waits"),
    ] {
        let tests = check(&format!("journal=wal&{options}"));
        // On a busy machine a session may take longer than the test's patience, once.
        let found = reason(&tests, "I3");
        assert!(found.contains(meeting), "{options}: {found}");
    }
}

#[test]
fn an_engine_of_one_session_is_refused() {
    let copy = Copy::new();
    let engine = open(&copy.target("journal=wal&locking=exclusive&busy_timeout=50ms")).expect("a target");
    let refused = examine(&engine, &without_crashes).expect_err("its observer keeps others out").to_string();
    assert!(refused.contains("a second one is refused") && refused.contains("locked"), "{refused}");
}

/// Site on a system without the preloaded library.
#[derive(Debug)]
struct WithoutDisk;

impl Site for WithoutDisk {
    fn no_power(&self) -> Option<String> {
        Some("no disk can be simulated here: it is another system".to_owned())
    }
    fn renew(&self) -> Result<(), AcidError> {
        unreachable!("nothing is tried")
    }
    fn open(&self) -> Result<Box<dyn Engine>, AcidError> {
        unreachable!("nothing is tried")
    }
    fn process(&self, _: CrashKind, _: u64) -> Result<Command, AcidError> {
        unreachable!("nothing is tried")
    }
    fn check_intercepted(&self) -> Result<(), AcidError> {
        unreachable!("nothing is tried")
    }
    fn lose_power(&self, _: u64) -> Result<(), AcidError> {
        unreachable!("nothing is tried")
    }
    fn copy(&self) -> &Path {
        Path::new("")
    }
    fn recording(&self, _: &str, _: u64, _: &Path) -> Result<Command, AcidError> {
        unreachable!("nothing is tried")
    }
}

#[test]
fn a_loss_of_power_is_refused_where_no_disk_can_be_simulated() {
    let copy = Copy::new();
    let engine = open(&copy.target("journal=wal&sync=full")).expect("a target");
    let subject = |subject: AcidSubject<'_>| {
        let subject = AcidSubject { site: Some(&WithoutDisk), class: Durability::Durable, ..subject };
        bourse_acid::run_tests(&subject, &|id| ["D2", "D3"].contains(&id), &mut |_| ()).expect("can be examined")
    };
    let tests = with_subject(&engine, subject);
    assert_eq!(tests.len(), 2);
    for test in &tests {
        let expected = (AcidVerdict::NotApplicable, "no disk can be simulated here: it is another system");
        assert_eq!((test.verdict, test.reason.as_str()), expected);
    }
}

#[test]
fn what_promises_nothing_is_not_crashed() {
    let copy = Copy::new();
    let engine = open(&copy.target("journal=off")).expect("a target");
    assert_eq!(engine.description().expect("describes itself").durability.name(), "volatile");
    let tests = examined(&engine, &|id| id.starts_with('D'));
    assert_eq!(tests.len(), 3);
    for test in &tests {
        assert_eq!(test.verdict, AcidVerdict::NotApplicable, "{}", test.reason);
        assert!(test.reason.contains("class volatile promises nothing"), "{}", test.reason);
    }
}
