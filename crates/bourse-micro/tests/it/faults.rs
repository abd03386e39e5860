//! Failures leave no figure, and report the reason.

use crate::support::{TIMING, WHOLE, sqlite};
use bourse_driver::{Fault, MS, RealClock};
use bourse_engine::ErrorKind;
use bourse_micro::{RoundResult, TimedOperations, Timing, find, run_round};
use bourse_record::CheckStatus;
use bourse_testkit::{HitStatements, Misbehaving};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Runs a workload on an engine one of whose statements fails with `kind`.
fn spoilt(name: &str, options: &[(&str, &str)], timing: Timing, fault: HitStatements, kind: ErrorKind) -> RoundResult {
    let engine = Misbehaving::failing(bourse_engine_sqlite::open("sqlite::memory:").unwrap(), fault, kind);
    let case = find(name).unwrap().plan(options.iter().copied()).unwrap();
    let never = AtomicBool::new(false);
    run_round(&case, &engine, &timing, 7, &RealClock::start(), &never, &mut |_| {}).unwrap()
}

fn no_figure(result: &RoundResult, begins: &str) {
    let why = result.round.void.as_deref().expect("the round has no figure");
    assert!(why.starts_with(begins), "{why}");
    assert!(result.round.headline.is_nan());
    let text = serde_json::to_value(&result.round).unwrap();
    assert!(text["headline"].is_null() && text["void"] == why, "{text}");
}

#[test]
fn rows_that_were_rolled_back_are_not_loaded() {
    for kind in [ErrorKind::Full, ErrorKind::ConnectionLost, ErrorKind::Refused, ErrorKind::Other] {
        // Two samples of a thousand rows had ended well when the third met it.
        let result = spoilt("bulk-load", &[("rows", "5000")], WHOLE, HitStatements::At(2_500), kind);
        assert_eq!(result.round.operations[0].valid(), 2_000);
        assert_eq!(result.fault.is_some(), kind != ErrorKind::Other, "who lost its session cannot go on");
        let is_refusal = result.fault.as_ref().is_some_and(Fault::is_refusal);
        assert_eq!(is_refusal, kind == ErrorKind::Refused);
        no_figure(&result, "bulk-load failed");
        assert!(result.round.void.unwrap().contains("failed on purpose"));
    }
}

#[test]
fn work_that_was_not_all_done_has_no_rate() {
    for (name, options, fails_at) in [
        ("delete", &[("rows", "2500"), ("mode", "each")][..], 4_500),
        ("client-mix", &[("queries", "2500"), ("clients", "1"), ("phase", "insert")], 1_500),
        ("client-mix", &[("queries", "2500"), ("clients", "1"), ("phase", "mixed")], 1_500),
    ] {
        let result = spoilt(name, options, WHOLE, HitStatements::At(fails_at), ErrorKind::Other);
        no_figure(&result, &format!("{name} failed in "));
        assert!(result.fault.is_none() && result.round.operations[0].valid() > 0, "{name}");
    }
}

/// A row that is acknowledged and lost is not left over: its client deletes none.
#[test]
fn a_mix_of_clients_notices_each_change_that_is_lost() {
    for (lost, noticed) in [("INSERT", "deletes"), ("DELETE", "rows")] {
        let engine = Misbehaving::dropping(sqlite(), HitStatements::At(100)).only(lost);
        let case = find("client-mix").unwrap().plan([("queries", "2000"), ("clients", "1")]).unwrap();
        let never = AtomicBool::new(false);
        let ran = run_round(&case, &engine, &WHOLE, 7, &RealClock::start(), &never, &mut |_| {}).unwrap();
        let failed = ran.round.checks.iter().filter(|check| check.status == CheckStatus::Failed);
        assert_eq!(failed.map(|check| &*check.name).collect::<Vec<_>>(), [noticed], "{lost}");
    }
}

/// A failure is counted in work without an end, and completed operations remain.
#[test]
fn updates_whose_transaction_failed_are_not_counted_and_leave_the_others() {
    let timing = Timing {
        warm_up_ns: 0,
        measure_ns: None,
        count: Some(1_000),
        timed: TimedOperations::Batched,
        open_loop: None,
        statements: false,
    };
    let options = [("rows", "100"), ("per_transaction", "10"), ("batch", "1")];
    let result = spoilt("update", &options, timing, HitStatements::At(700), ErrorKind::Other);
    assert_eq!(result.round.void, None);
    assert_eq!(result.round.operations[0].valid(), 990, "{:?}", result.round.operations[0].outcomes);
    assert!(result.round.checks.iter().all(|check| check.status == CheckStatus::Passed));
    // Every sample failed: there is no figure.
    let options = [("rows", "100"), ("batch", "50")];
    let timing = Timing { count: Some(50), ..timing };
    no_figure(
        &spoilt("update", &options, timing, HitStatements::At(120), ErrorKind::Other),
        "update failed in update: ",
    );
}

#[test]
fn a_load_cut_off_before_its_commit_has_loaded_nothing() {
    let timing = Timing { measure_ns: Some(200 * MS), ..WHOLE };
    let result = spoilt("bulk-load", &[("rows", "100M")], timing, HitStatements::At(u64::MAX), ErrorKind::Other);
    assert!(result.round.operations[0].valid() > 0);
    no_figure(&result, "bulk-load was ended after 0.2 s, before anything was committed");
    let cut = spoilt(
        "bulk-load",
        &[("rows", "100M"), ("per_transaction", "100")],
        timing,
        HitStatements::At(u64::MAX),
        ErrorKind::Other,
    );
    assert!(cut.round.void.is_none() && cut.round.headline > 0.0, "what was committed is loaded");
}

/// Files cannot be undone: what a load or a deletion that was cut off had changed stayed, and failed the check.
#[test]
fn what_is_cut_off_on_files_stays_and_fails_no_check() {
    let folder = tempfile::tempdir().unwrap();
    let engine = bourse_engine::files::open(&format!("files:{}?sync=off", folder.path().join("x").display())).unwrap();
    let never = AtomicBool::new(false);
    let of_deletion = [("rows", "20000"), ("mode", "each"), ("text_index", "off")];
    for (name, options, after_ms) in [("bulk-load", &[("rows", "100M")][..], 200), ("delete", &of_deletion, 20)] {
        let timing = Timing { measure_ns: Some(after_ms * MS), ..WHOLE };
        let case = find(name).unwrap().plan(options.iter().copied()).unwrap();
        let ran = run_round(&case, &engine, &timing, 7, &RealClock::start(), &never, &mut |_| {}).unwrap();
        let rows = ran.round.checks.iter().find(|check| check.name == "rows").unwrap();
        assert_eq!(rows.status, CheckStatus::Passed, "{name}: {}", rows.evidence);
        assert_ne!(rows.evidence, "expected 0, found 0", "{name}");
        no_figure(&ran, "");
    }
}

#[test]
fn a_call_that_goes_on_after_the_interval_is_told_of() {
    // The load has two hundred statements and some before.
    let engine = Misbehaving::stalling(sqlite(), HitStatements::At(300), Duration::from_millis(2_500));
    let case = find("point-read").unwrap().plan([("rows", "200"), ("threads", "2")]).unwrap();
    let never = AtomicBool::new(false);
    let mut calls = Vec::new();
    let mut progress = |progress: &bourse_driver::RoundProgress| {
        calls.push((progress.elapsed_s - progress.planned_s, progress.calls.clone()));
    };
    let ran = run_round(&case, &engine, &TIMING, 7, &RealClock::start(), &never, &mut progress).unwrap();
    // After one and two seconds; the interval had ended after 0.3 s.
    assert!(calls.len() >= 2, "{calls:?}");
    for (after_s, calls) in calls.iter().take(2) {
        let [call] = &calls[..] else { panic!("{calls:?}") };
        assert!(call.user.starts_with("reader ") && call.operation.as_deref() == Some("read"), "{call:?}");
        assert!(*after_s > 0.5 && call.for_s > *after_s, "it began in the interval: {after_s} {call:?}");
    }
    assert!(ran.fault.is_none(), "it returned in the end: {:?}", ran.fault);
}
