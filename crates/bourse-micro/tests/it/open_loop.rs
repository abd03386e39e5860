//! Classic workloads at a rate: due operations are counted, and a stall lengthens the response time of all that waited.

use crate::support::{TIMING, sqlite};
use bourse_driver::{Ability, MS, OpenLoop, RealClock};
use bourse_engine::Engine;
use bourse_micro::{RoundExtent, RoundResult, TimedOperations, Timing, WORKLOADS, find, run_round};
use bourse_record::CheckStatus;
use bourse_testkit::{HitStatements, Misbehaving};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Half a second, without a warm-up.
const HALF_A_SECOND: Timing = Timing {
    warm_up_ns: 0,
    measure_ns: Some(500 * MS),
    count: None,
    timed: TimedOperations::Batched,
    open_loop: None,
    statements: false,
};

fn at_rate(engine: &dyn Engine, name: &str, options: &[(&str, &str)], per_second: f64, timing: Timing) -> RoundResult {
    let open_loop = OpenLoop { per_second, evenly: true, shared: false };
    arriving(engine, name, options, open_loop, timing)
}

fn arriving(
    engine: &dyn Engine,
    name: &str,
    options: &[(&str, &str)],
    open_loop: OpenLoop,
    timing: Timing,
) -> RoundResult {
    let case = find(name).unwrap().plan(options.iter().copied()).unwrap();
    let never = AtomicBool::new(false);
    let timing = Timing { open_loop: Some(open_loop), ..timing };
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
    let engine = Misbehaving::stalling(sqlite(), HitStatements::At(300), stall);
    let round = at_rate(&engine, "point-read", &[("rows", "200")], 500.0, HALF_A_SECOND).round;
    let read = &round.operations[0];
    let (response, service) = (&read.response.summary, &read.service.summary);
    assert!(service.max_ns >= 149 * MS, "one operation stalled: {service:?}");
    // 75 of 250 were due while it did.
    assert!(response.p90_ns > 40 * MS && response.p90_ns > 3 * service.p90_ns, "{response:?} {service:?}");
}

#[test]
fn a_shared_stream_is_taken_by_whoever_is_free() {
    let stall = Duration::from_millis(150);
    let [own, shared] = [false, true].map(|shared| {
        // The load has two hundred statements and some before.
        let engine = Misbehaving::stalling(sqlite(), HitStatements::At(300), stall);
        let open_loop = OpenLoop { per_second: 500.0, evenly: true, shared };
        let options = [("rows", "200"), ("threads", "2")];
        let round = arriving(&engine, "point-read", &options, open_loop, HALF_A_SECOND).round;
        let arrivals = round.arrivals.expect("an open loop");
        assert!((240..=260).contains(&arrivals.due), "{arrivals:?}");
        assert_eq!(arrivals.due, arrivals.started + arrivals.dropped + arrivals.unstarted);
        round.operations[0].response.summary
    });
    // Of the thread that stalls 37 operations wait if they are its own; else the other thread takes them.
    assert!(own.p90_ns > 20 * MS && shared.p90_ns < own.p90_ns / 2, "{own:?} {shared:?}");
}

#[test]
fn what_comes_by_the_schedule_is_marked() {
    let marked = |name: &str, options: &[(&str, &str)]| -> Vec<(String, bool)> {
        let round = at_rate(&sqlite(), name, options, 200.0, TIMING).round;
        round.operations.into_iter().map(|it| (it.name, it.by_schedule)).collect()
    };
    let named = |it: &[(&str, bool)]| it.iter().map(|(name, is)| ((*name).to_owned(), *is)).collect::<Vec<_>>();
    assert_eq!(marked("read-write", &[("rows", "200")]), named(&[("read", true), ("write", false)]));
    assert!(marked("sql", &[]).iter().all(|(_, by_schedule)| *by_schedule));
}

#[test]
fn what_ends_by_itself_has_no_rate() {
    for spec in WORKLOADS {
        let abilities = spec.abilities();
        assert_eq!(abilities.rate == Ability::Has, spec.extent == RoundExtent::Time, "{}", spec.name);
        assert_eq!(abilities.rate, abilities.search, "{}", spec.name);
    }
}
