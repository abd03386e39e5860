//! Selection of timed operations: all in batches, all alone, or one in 64 alone.

use crate::support::sqlite;
use bourse_driver::{Ability, RealClock};
use bourse_micro::{TimedOperations, Timing, WORKLOADS, find, run_round};
use bourse_record::{CheckStatus, Operation, Round};
use std::sync::atomic::AtomicBool;

/// Operations of each thread.
const COUNT: u64 = 10_000;

fn timed(name: &str, options: &[(&str, &str)], timed: TimedOperations) -> Round {
    let case = find(name).unwrap().plan(options.iter().copied()).unwrap();
    let timing =
        Timing { warm_up_ns: 0, measure_ns: None, count: Some(COUNT), timed, open_loop: None, statements: false };
    let never = AtomicBool::new(false);
    let result = run_round(&case, &sqlite(), &timing, 7, &RealClock::start(), &never, &mut |_| {}).unwrap();
    assert!(result.fault.is_none(), "{:?}", result.fault);
    for check in &result.round.checks {
        assert_eq!(check.status, CheckStatus::Passed, "{name}: {}: {}", check.condition, check.evidence);
    }
    result.round
}

#[test]
fn of_a_sample_one_in_sixty_four_is_timed_alone_and_all_are_counted() {
    for (name, options) in [
        ("point-read", &[("rows", "200")][..]),
        ("update", &[("rows", "200")]),
        ("scan", &[("rows", "200"), ("length", "2")]),
        ("index-search", &[("rows", "200"), ("by", "number")]),
        ("commit", &[]),
        ("sql", &[("file", "example"), ("batch", "auto")]),
    ] {
        let round = timed(name, options, TimedOperations::Sampled);
        let all: u64 = round.operations.iter().map(Operation::valid).sum();
        assert_eq!(all, COUNT, "{name}: all are counted");
        for operation in &round.operations {
            assert_eq!(operation.samples, operation.response.summary.count, "{name}: alone");
            assert_eq!(operation.samples, operation.valid() - operation.untimed, "{name}");
        }
        // Of operations of several kinds each is timed alone.
        if name != "sql" {
            let one_in = round.operations[0].one_in().unwrap();
            // About 156 are timed; distances scatter by 18, their mean by 1.5.
            assert!((57.0..72.0).contains(&one_in), "{name}: one in {one_in}");
        }
    }
}

#[test]
fn every_kind_of_a_search_is_sampled() {
    let round = timed("index-search", &[("rows", "200"), ("by", "both")], TimedOperations::Sampled);
    for kind in &round.operations {
        let one_in = kind.one_in().unwrap();
        assert!((52.0..78.0).contains(&one_in), "{}: one in {one_in}", kind.name);
    }
}

#[test]
fn a_transaction_of_several_updates_is_timed_whole() {
    let round = timed("update", &[("rows", "200"), ("per_transaction", "10")], TimedOperations::Sampled);
    let update = &round.operations[0];
    assert_eq!((update.valid(), update.response.summary.count), (COUNT, update.samples * 10));
    assert!(update.untimed > COUNT * 9 / 10, "{} of {COUNT} untimed", update.untimed);
}

#[test]
fn each_is_timed_alone_where_that_is_asked_for() {
    for (name, options) in [("point-read", &[("rows", "200")][..]), ("index-search", &[("rows", "200")])] {
        let round = timed(name, options, TimedOperations::Single);
        let samples: u64 = round.operations.iter().map(|it| it.samples).sum();
        assert_eq!((samples, round.operations[0].untimed), (COUNT, 0), "{name}");
    }
}

#[test]
fn what_has_no_batches_to_choose_has_no_sample() {
    for spec in WORKLOADS {
        let has = spec.options.iter().any(|option| option.name == "batch");
        assert_eq!(spec.abilities().sampling == Ability::Has, has, "{}", spec.name);
    }
    assert!(find("bulk-load").unwrap().abilities().sampling.lacks().is_some());
}
