//! Whole rounds on threads: interruption, drain, panics, lost connections.

use crate::users::{Acting, Given, SPECS, user_spec};
use bourse_driver::{
    Background, Clock, Draw, Fault, MS, MeasuredRound, OperationCx, OperationResult, RealClock, RoundControl,
    RoundPlan, RoundProgress, SECOND, Schedule, StopRule, User, UserSpec, run,
};
use bourse_engine::{EngineError, ErrorKind, NullEngine};
use bourse_record::{Check, CheckStatus, Outcome, PhaseKind, Warning};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

const PLAN: RoundPlan = RoundPlan {
    until: None,
    warm_up_ns: 50 * MS,
    measure_ns: 250 * MS,
    drain_limit_ns: 10 * SECOND,
    retry: bourse_driver::RetryPolicy { retries: 3, first_ns: 1_000, longest_ns: 10_000 },
    backlog: 100,
    is_part: false,
    statements: false,
    page_cache: None,
};

/// Warnings of a round but that a busy machine read the usage late.
fn warnings(measured: &MeasuredRound) -> Vec<String> {
    let others = measured.round.warnings.iter().filter(|it| !matches!(it, Warning::UsageReadLate { .. }));
    others.map(Warning::to_string).collect()
}

fn measure(plan: &RoundPlan, user_specs: Vec<UserSpec<'_>>, background: Vec<Background<'_>>) -> MeasuredRound {
    let mut workload = Given { user_specs, background };
    run(&NullEngine, &mut workload, plan, Some(0), 1, &RealClock::start(), &AtomicBool::new(false), &mut |_| {})
        .unwrap()
}

/// Performs an operation that takes half a millisecond.
fn busy(cx: &mut OperationCx<'_>) -> OperationResult {
    let now = cx.clock().now();
    cx.clock().sleep_until(now + MS / 2);
    OperationResult::completed(0)
}

#[test]
fn only_what_ends_in_the_interval_counts() {
    let performed = AtomicU64::new(0);
    let count = |cx: &mut OperationCx<'_>| {
        performed.fetch_add(1, Relaxed);
        busy(cx)
    };
    let mut user_specs: Vec<_> = (0..2).map(|_| user_spec(Schedule::Closed, StopRule::AtIntervalEnd, count)).collect();
    // An operation of this user takes longer than warm-up and interval.
    user_specs.push(user_spec(Schedule::Closed, StopRule::AtIntervalEnd, |cx| {
        performed.fetch_add(1, Relaxed);
        let now = cx.clock().now();
        cx.clock().sleep_until(now + 400 * MS);
        OperationResult::completed(0)
    }));
    let measured = measure(&PLAN, user_specs, vec![]);
    let round = measured.round;
    assert!(!measured.interrupted && measured.fault.is_none());
    assert_eq!(round.measured_s, 0.25);
    let counted = round.operations[0].valid();
    // The warm-up is a sixth of the whole. An operation that ends behind the interval counts by its time alone: the long one does,
    // and the last one of another user unless that user was held up between two operations.
    let under_way = round.operations[0].under_way.as_ref().map_or(0, |it| it.count);
    assert!((1..=3).contains(&under_way), "{under_way}");
    assert_eq!(round.operations[0].response.summary.count, counted + under_way);
    assert!(counted + under_way < performed.load(Relaxed), "{counted} of {performed:?}");
    assert!(counted > 20, "{counted}");
    assert_eq!(round.headline, counted as f64 / 0.25);
    let kinds: Vec<_> = round.phases.iter().map(|phase| phase.kind).collect();
    assert_eq!(kinds, [PhaseKind::WarmUp, PhaseKind::Measurement, PhaseKind::Drain]);
    // Every operation of the round is in the series, warm-up and all.
    let in_series: f64 = round
        .series
        .column("throughput.work")
        .unwrap()
        .iter()
        .zip(&round.series.time_s)
        .scan(0.0, |last, (value, time)| Some(value.unwrap() * (time - std::mem::replace(last, *time))))
        .sum();
    assert!((in_series - performed.load(Relaxed) as f64).abs() < 0.01, "{in_series} of {performed:?}");
}

#[test]
fn a_user_is_told_what_counts() {
    struct Told<'c> {
        performed: &'c AtomicU64,
        counting: &'c AtomicU64,
    }
    impl User for Told<'_> {
        fn draw(&mut self, _: &dyn Clock, _: &RoundControl) -> Draw {
            Draw::Ready
        }
        fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
            self.performed.fetch_add(1, Relaxed);
            busy(cx)
        }
        fn ended(&mut self, counts: bool) {
            self.counting.fetch_add(u64::from(counts), Relaxed);
        }
    }
    let (performed, counting) = (AtomicU64::new(0), AtomicU64::new(0));
    let user = Box::new(Told { performed: &performed, counting: &counting });
    let spec = UserSpec { user, ..user_spec(Schedule::Closed, StopRule::AtIntervalEnd, busy) };
    let round = measure(&PLAN, vec![spec], vec![]).round;
    let under_way = round.operations[0].under_way.as_ref().map_or(0, |it| it.count);
    assert_eq!(counting.load(Relaxed), round.operations[0].valid() + under_way);
    assert!(counting.load(Relaxed) < performed.load(Relaxed), "the warm-up does not count");
}

#[test]
fn interruption_keeps_what_was_measured() {
    let interrupt = AtomicBool::new(false);
    let mut workload = Given {
        user_specs: vec![user_spec(Schedule::Closed, StopRule::AtIntervalEnd, |cx| {
            if cx.clock().now() > 1_200 * MS {
                interrupt.store(true, Relaxed);
            }
            busy(cx)
        })],
        background: vec![],
    };
    let plan = RoundPlan { measure_ns: 3_600 * SECOND, ..PLAN };
    let mut seen = Vec::new();
    let mut progress = |now: &RoundProgress| seen.push(now.clone());
    let measured =
        run(&NullEngine, &mut workload, &plan, Some(0), 1, &RealClock::start(), &interrupt, &mut progress).unwrap();
    assert!(measured.interrupted && measured.fault.is_none());
    assert!((1.1..30.0).contains(&measured.round.measured_s), "{}", measured.round.measured_s);
    let counted = measured.round.operations[0].response.summary.count;
    assert!(counted > 100, "{counted}");
    let first = &seen[0];
    assert_eq!((first.phase, first.queue_length, first.planned_s), (PhaseKind::Measurement, Some(7), 3_600.05));
    assert!(first.throughput[0] > 10.0 && first.response_ns.is_some());
}

#[test]
fn the_drain_finishes_everything_in_flight() {
    let (to_market, orders) = mpsc::channel();
    let (to_workers, results) = mpsc::sync_channel(10_000);
    let sent = AtomicU64::new(0);
    let (customers_sent, done) = (&sent, AtomicU64::new(0));
    let customer = move |cx: &mut OperationCx<'_>| {
        customers_sent.fetch_add(1, Relaxed);
        to_market.send(cx.clock().now() + 300 * MS).unwrap();
        busy(cx)
    };
    let customer = user_spec(Schedule::Closed, StopRule::AtIntervalEnd, customer);
    let market = move |clock: &dyn Clock, _: &RoundControl| {
        // Ends when the last customer has gone home and dropped its end of the channel.
        for due in orders {
            clock.sleep_until(due);
            to_workers.send(due).unwrap();
        }
    };
    let worker_done = &done;
    let worker = Acting {
        draw: move |clock: &dyn Clock, _: &RoundControl| match results.recv_timeout(Duration::from_millis(20)) {
            Ok(due) => Draw::Due(due),
            Err(mpsc::RecvTimeoutError::Timeout) => Draw::Wait(clock.now()),
            Err(mpsc::RecvTimeoutError::Disconnected) => Draw::Finished,
        },
        perform: |_: &mut OperationCx<'_>| {
            worker_done.fetch_add(1, Relaxed);
            OperationResult::completed(1)
        },
    };
    let user_specs = vec![
        customer,
        UserSpec {
            name: "worker".to_owned(),
            role: "users",
            user: Box::new(worker),
            schedule: Schedule::Arrivals,
            stop_rule: StopRule::WhenFinished,
        },
    ];
    let background = vec![Background { name: "market".to_owned(), run: Box::new(market) }];
    let measured = measure(&PLAN, user_specs, background);
    assert!(measured.fault.is_none());
    assert!(sent.load(Relaxed) > 0);
    assert_eq!(done.load(Relaxed), sent.load(Relaxed), "an order sent before the end must be executed after it");
    assert!(measured.round.phases[2].to_s > 0.5, "the drain waits for the last order's delay");
    assert_eq!(warnings(&measured), [""; 0]);
}

#[test]
fn a_drain_that_does_not_end_is_given_up() {
    let plan = RoundPlan { drain_limit_ns: 50 * MS, ..PLAN };
    let measured = measure(&plan, vec![user_spec(Schedule::Closed, StopRule::WhenFinished, busy)], vec![]);
    assert_eq!(warnings(&measured), [Warning::WorkGivenUp { limit_s: 0.05 }.to_string()]);
}

#[test]
fn a_panic_is_the_rounds_failure_and_not_the_programs() {
    let mut left = 60;
    let panicking = user_spec(Schedule::Closed, StopRule::AtIntervalEnd, move |cx| {
        left -= 1;
        assert!(left > 0, "a bug of ours");
        busy(cx)
    });
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: 3_600 * SECOND, ..PLAN };
    let measured = measure(&plan, vec![panicking, user_spec(Schedule::Closed, StopRule::AtIntervalEnd, busy)], vec![]);
    let expected = Fault::Panicked { thread: "user".to_owned(), message: "a bug of ours".to_owned() };
    assert_eq!(measured.fault, Some(expected));
    assert!(measured.round.operations[0].response.summary.count >= 59, "the figures until then are kept");
    let emulator: bourse_driver::Emulator<'_> = Box::new(|_, _| panic!("a bug of the market"));
    let background = vec![Background { name: "market".to_owned(), run: emulator }];
    let measured = measure(&plan, vec![user_spec(Schedule::Closed, StopRule::AtIntervalEnd, busy)], background);
    assert_eq!(measured.fault.unwrap().to_string(), "market panicked: a bug of the market");
}

#[test]
fn a_lost_connection_ends_the_round_and_keeps_its_figures() {
    let mut left = 60;
    let losing = user_spec(Schedule::Closed, StopRule::AtIntervalEnd, move |cx| {
        left -= 1;
        if left == 0 {
            return OperationResult::error(0, &EngineError::new(ErrorKind::ConnectionLost, "server has gone away"));
        }
        busy(cx)
    });
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: 3_600 * SECOND, ..PLAN };
    let measured = measure(&plan, vec![losing], vec![]);
    let fault = measured.fault.unwrap().to_string();
    assert_eq!(fault, "user cannot go on after work failed: server has gone away");
    let outcomes = &measured.round.operations[0].outcomes;
    assert_eq!((outcomes[0].outcome, outcomes[0].count), (Outcome::Completed, 59));
    assert_eq!((outcomes[1].outcome, outcomes[1].example.as_deref()), (Outcome::Failed, Some("server has gone away")));
}

#[test]
fn a_commit_in_doubt_is_counted_and_the_round_goes_on() {
    let (mut left, mut performed) = (60, 0);
    let draw = move |_: &dyn Clock, _: &RoundControl| {
        left -= 1;
        if left < 0 { Draw::Finished } else { Draw::Ready }
    };
    let perform = move |cx: &mut OperationCx<'_>| {
        performed += 1;
        if performed == 30 {
            return OperationResult::error(
                0,
                &EngineError::new(ErrorKind::InDoubt, "node n2 was lost while it committed"),
            );
        }
        busy(cx)
    };
    let user_specs = vec![UserSpec {
        name: "user".to_owned(),
        role: "users",
        user: Box::new(Acting { draw, perform }),
        schedule: Schedule::Closed,
        stop_rule: StopRule::AtIntervalEnd,
    }];
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: 3_600 * SECOND, ..PLAN };
    let measured = measure(&plan, user_specs, vec![]);
    assert_eq!(measured.fault, None);
    let entry = measured.counted.ledger.entry(0);
    assert_eq!((entry.ended(Outcome::Completed), entry.ended(Outcome::Failed), entry.in_doubt), (59, 1, 1));
}

#[test]
fn customers_that_finish_end_the_interval() {
    let mut left = 30;
    let draw = move |_: &dyn Clock, _: &RoundControl| {
        left -= 1;
        if left < 0 { Draw::Finished } else { Draw::Ready }
    };
    let user = Box::new(Acting { draw, perform: busy });
    let user_specs = vec![UserSpec {
        name: "user".to_owned(),
        role: "users",
        user,
        schedule: Schedule::Closed,
        stop_rule: StopRule::AtIntervalEnd,
    }];
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: 3_600 * SECOND, ..PLAN };
    let measured = measure(&plan, user_specs, vec![]);
    assert!(!measured.interrupted && measured.fault.is_none());
    assert_eq!(measured.round.operations[0].response.summary.count, 30);
    assert_eq!(measured.round.operations.len(), SPECS.len());
}

/// Nothing ended in one of several processes: the others may have ended operations, so their sum decides.
#[test]
fn a_part_in_which_nothing_ended_is_no_void_round() {
    for is_part in [false, true] {
        let users = vec![user_spec(Schedule::Closed, StopRule::AtIntervalEnd, |_| OperationResult::completed(1))];
        let MeasuredRound { round, .. } = measure(&RoundPlan { is_part, ..PLAN }, users, vec![]);
        assert_eq!(round.void.is_none(), is_part, "{:?}", round.void);
    }
}

#[test]
fn a_round_is_reconciled_and_says_what_memory_its_users_took() {
    let schedule = Schedule::Constant { per_second: 200.0 };
    let user_specs = vec![
        user_spec(schedule, StopRule::AtIntervalEnd, busy),
        user_spec(Schedule::Closed, StopRule::WhenFinished, busy),
    ];
    let plan = RoundPlan { drain_limit_ns: 50 * MS, ..PLAN };
    let measured = measure(&plan, user_specs, vec![]);
    let round = &measured.round;
    let passed = |check: &Check| check.status == CheckStatus::Passed && !check.is_of_database();
    assert!(round.checks.iter().all(passed), "{:?}", round.checks);
    let names: Vec<_> = round.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names.last(), Some(&"schedule"), "{names:?}");
    let (whole, counted) = (measured.counted.ledger.entry(0), round.operations[0].valid());
    assert!(whole.valid() > counted && whole.ended(Outcome::Completed) == whole.valid());
    assert_eq!((round.void.as_ref(), measured.counted.ledger.entry(1).valid()), (None, 0));
    let fact = |name: &str| round.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str());
    let held: u64 = fact("memory of recorders").unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((1..200).contains(&held), "{held} KiB a user");
    assert!(fact("memory that sessions took when made").unwrap().contains("KiB resident"));
}

#[test]
fn an_interval_without_a_completed_operation_has_no_figure() {
    let fails = |cx: &mut OperationCx<'_>| {
        busy(cx);
        OperationResult::failed(0, 0, "not today")
    };
    for round in [
        measure(&PLAN, vec![user_spec(Schedule::Closed, StopRule::AtIntervalEnd, fails)], vec![]).round,
        measure(
            &PLAN,
            vec![user_spec(Schedule::Constant { per_second: 1e-6 }, StopRule::AtIntervalEnd, |cx| {
                // Only the operation that is due at the beginning, in the warm-up.
                busy(cx)
            })],
            vec![],
        )
        .round,
    ] {
        assert_eq!(round.void.as_deref(), Some("no work ended validly in the measurement interval of 0.2 s"));
        assert!(round.headline.is_nan());
        assert!(round.checks.iter().all(|check| check.status == CheckStatus::Passed), "the counts agree all the same");
    }
}

/// The users who would do the work of others had ended: the round waited for the limit of its drain.
#[test]
fn an_interrupted_wait_ends_the_round_for_all() {
    let given_up =
        |_: &mut OperationCx<'_>| OperationResult::error(0, &EngineError::new(ErrorKind::Interrupted, "given up"));
    let users = vec![
        user_spec(Schedule::Closed, StopRule::WhenFinished, busy),
        user_spec(Schedule::Closed, StopRule::AtIntervalEnd, given_up),
    ];
    let measured = measure(&PLAN, users, vec![]);
    let warnings = measured.round.warnings;
    assert!(!warnings.iter().any(|warning| matches!(warning, Warning::WorkGivenUp { .. })), "{warnings:?}");
    assert!(measured.fault.is_none());
}

#[test]
fn what_cannot_begin_is_refused_before_it_does() {
    let refused = |user_specs, interrupt| {
        let mut workload = Given { user_specs, background: vec![] };
        let clock = RealClock::start();
        run(&NullEngine, &mut workload, &PLAN, Some(0), 1, &clock, &AtomicBool::new(interrupt), &mut |_| {})
            .unwrap_err()
    };
    assert_eq!(refused(vec![user_spec(Schedule::Closed, StopRule::AtIntervalEnd, busy)], true), Fault::Interrupted);
    for per_second in [1e300, 1e-300, f64::NAN] {
        let user_specs = vec![
            user_spec(Schedule::Closed, StopRule::AtIntervalEnd, busy),
            user_spec(Schedule::Poisson { per_second, seed: 1 }, StopRule::AtIntervalEnd, busy),
        ];
        let fault = refused(user_specs, false).to_string();
        assert!(fault.starts_with("user: a rate of ") && fault.contains("cannot be drawn"), "{fault}");
    }
}

#[test]
fn many_users_begin_together_and_take_little_memory() {
    let begun = AtomicU64::new(0);
    let counter = &begun;
    let user = |_: usize| {
        let mut performed = 0u64;
        user_spec(Schedule::Closed, StopRule::AtIntervalEnd, move |cx: &mut OperationCx<'_>| {
            let now = cx.clock().now();
            counter.fetch_add(u64::from(performed == 0), Relaxed);
            performed += 1;
            cx.clock().nap_until(now + 5 * MS);
            OperationResult::completed((performed % 2) as usize)
        })
    };
    let measured = measure(&RoundPlan { measure_ns: SECOND, ..PLAN }, (0..500).map(user).collect(), vec![]);
    assert!(measured.fault.is_none() && measured.round.void.is_none());
    assert_eq!(begun.load(Relaxed), 500);
    let most = measured.round.facts.iter().find(|fact| fact.name == "memory of recorders").unwrap();
    let most: u64 = most.value.split(", ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(most < 100, "{most} KiB for one user");
}

#[test]
fn a_rule_ends_a_warm_up_no_sooner_and_no_later_than_it_may() {
    let until = Some(bourse_record::StoppingRule::RateLevel);
    let plan = RoundPlan { warm_up_ns: 400 * MS, measure_ns: 800 * MS, until, ..PLAN };
    let measured = measure(&plan, vec![user_spec(Schedule::Closed, StopRule::AtIntervalEnd, busy)], vec![]);
    let round = measured.round;
    let stopping = round.stopping.expect("there was a rule");
    let warm_up_s = round.phases[0].to_s - round.phases[0].from_s;
    assert!((0.13..0.45).contains(&warm_up_s) && (warm_up_s < 0.4 || !stopping.warmed_up), "{warm_up_s} {stopping:?}");
    assert!((0.79..0.85).contains(&round.measured_s) && !stopping.reached, "{} {stopping:?}", round.measured_s);
    assert!(round.checks.iter().all(|check| check.status == CheckStatus::Passed), "{:?}", round.checks);
    let steps = round.throughput_series.column("throughput").expect("the rate in short steps");
    let rates: f64 = steps.iter().flatten().sum::<f64>() / steps.len() as f64;
    assert!(rates > 0.0 && steps.len() > 3, "{rates} in {} steps", steps.len());
}

#[test]
fn users_that_share_a_stream_start_each_arrival_once() {
    let shared = Schedule::Shared { per_second: 400.0, seed: Some(5) };
    let users = (0..3).map(|_| user_spec(shared, StopRule::AtIntervalEnd, busy)).collect();
    let round = measure(&RoundPlan { measure_ns: SECOND / 2, ..PLAN }, users, vec![]).round;
    let arrivals = round.arrivals.expect("a schedule");
    assert_eq!(arrivals.due, arrivals.started + arrivals.dropped + arrivals.unstarted);
    // 200 are expected of the one stream; of three streams it would be 600.
    assert!((130..=270).contains(&arrivals.due), "{arrivals:?}");
    assert!(round.checks.iter().all(|check| check.status == CheckStatus::Passed), "{:?}", round.checks);
}
