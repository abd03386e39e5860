//! Classic workloads at a rate: what is due is counted, and a stall is charged to everyone who waited.

use crate::support::{TIMING, sqlite};
use bourse_driver::{Ability, MS, RealClock};
use bourse_engine::Engine;
use bourse_micro::{Extent, OpenLoop, RoundResult, Timed, Timing, WORKLOADS, find, run_round};
use bourse_record::CheckStatus;
use bourse_testkit::{Fault, Stalling};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn at_rate(engine: &dyn Engine, name: &str, options: &[(&str, &str)], per_second: f64, timing: Timing) -> RoundResult {
    let case = find(name).unwrap().plan(options.iter().copied()).unwrap();
    let never = AtomicBool::new(false);
    let timing = Timing { open_loop: Some(OpenLoop { per_second, evenly: true }), ..timing };
    let result = run_round(&case, engine, &timing, 7, &RealClock::start(), &never, &mut |_| {}).unwrap();
    assert!(result.fault.is_none(), "{:?}", result.fault);
    for check in &result.round.checks {
        assert_eq!(check.status, CheckStatus::Passed, "{name}: {}: {}", check.condition, check.evidence);
    }
    result
}

#[test]
fn what_is_due_follows_from_the_rate() {
    for (name, options) in [
        ("point-read", &[("rows", "200"), ("threads", "2")][..]),
        ("update", &[("rows", "200")]),
        ("read-write", &[("rows", "200")]),
        ("scan", &[("rows", "200"), ("length", "5")]),
        ("index-search", &[("rows", "200")]),
        ("sql", &[]),
    ] {
        let round = at_rate(&sqlite(), name, options, 200.0, TIMING).round;
        let arrivals = round.arrivals.expect("an open loop");
        // 60 in 0.3 s; those at the ends fall to either side.
        assert!((56..=64).contains(&arrivals.due), "{name}: {arrivals:?}");
        assert_eq!(arrivals.due, arrivals.started + arrivals.dropped + arrivals.unstarted, "{name}");
        let own: Vec<_> = round.operations.iter().filter(|it| it.name != "write").collect();
        let timed = |it: &&bourse_record::Operation| it.valid() + it.under_way.as_ref().map_or(0, |it| it.count);
        assert!(own.iter().all(|it| it.samples == timed(it)), "{name}: each is timed by itself");
    }
}

#[test]
fn a_stall_is_charged_to_those_who_waited() {
    let stall = Duration::from_millis(150);
    // The load has two hundred statements and some before.
    let engine = Stalling::new(sqlite(), Fault::At(300), stall);
    let timing =
        Timing { warm_up_ns: 0, measure_ns: Some(500 * MS), count: None, timed: Timed::Batched, open_loop: None };
    let round = at_rate(&engine, "point-read", &[("rows", "200")], 500.0, timing).round;
    let read = &round.operations[0];
    let (response, service) = (&read.response.summary, &read.service.summary);
    assert!(service.max_ns >= 149 * MS, "one operation stalled: {service:?}");
    // 75 of 250 were due while it did.
    assert!(response.p90_ns > 40 * MS && response.p90_ns > 3 * service.p90_ns, "{response:?} {service:?}");
}

#[test]
fn what_ends_by_itself_has_no_rate() {
    for spec in WORKLOADS {
        assert_eq!(spec.abilities().rate == Ability::Has, spec.extent == Extent::Time, "{}", spec.name);
    }
}
