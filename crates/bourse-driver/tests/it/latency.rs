//! Response and service times on a simulated clock, and harness overhead of a sample.

use crate::users::{SPECS, user_spec};
use bourse_driver::{
    Clock, Draw, MS, Nanos, OperationCx, OperationResult, Outcome, Recording, RetryPolicy, RoundControl, RoundPlan,
    SECOND, Schedule, SimulatedClock, StopRule, User, UserSpec, drive,
};
use bourse_engine::{Engine, EngineError, ErrorKind, NullEngine};
use bourse_record::{Arrivals, CheckStatus, Operation, Recorder, SampleInclusion};

/// Drives one user on a simulated clock.
fn simulate(
    clock: &SimulatedClock,
    schedule: Schedule,
    length_ns: Nanos,
    perform: impl FnMut(&mut OperationCx<'_>) -> OperationResult + Send,
) -> (Vec<Operation>, Option<Arrivals>) {
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: length_ns, ..RoundPlan::default() };
    let control = RoundControl::new(&plan, 0);
    let mut session = NullEngine.connect().unwrap();
    let mut recording = Recording::new(Recorder::new(SPECS.into(), |_| true));
    let mut user_spec = user_spec(schedule, StopRule::AtIntervalEnd, perform);
    drive(&mut user_spec, &mut session, clock, &control, &plan, 1, &mut recording).unwrap();
    (recording.recorder.figures(), recording.recorder.all_arrivals())
}

fn assert_near(found: u64, expected: u64) {
    assert!(found.abs_diff(expected) * 200 <= expected, "{found} ns, expected {expected} ns");
}

/// Operations at 1,000 a second for 10 s; the engine takes 0.1 ms, and once stalls for 1 s.
fn stalling(schedule: Schedule) -> Operation {
    let clock = SimulatedClock::new();
    let mut done = 0;
    let (mut figures, arrivals) = simulate(&clock, schedule, 10 * SECOND, |_| {
        done += 1;
        clock.advance(if done == 5_000 { SECOND } else { MS / 10 });
        OperationResult::completed(0)
    });
    assert_eq!(arrivals.map(|it| (it.dropped, it.unstarted)).unwrap_or_default(), (0, 0));
    figures.swap_remove(0)
}

#[test]
fn a_stall_is_charged_to_everyone_who_waited() {
    let run = stalling(Schedule::Constant { per_second: 1_000.0 });
    assert_eq!(run.response.summary.count, 10_000);
    assert_near(run.service.summary.p99_ns, MS / 10);
    // 1,111 requests waited, each 0.9 ms less than the one before: the hundredth worst of them all is the quantile.
    assert_near(run.response.summary.p99_ns, 910 * MS);
    assert_near(run.response.summary.max_ns, SECOND);
    // The stalled one and those that waited for more than 0.4 ms are late by the operation's limit of 0.5 ms.
    assert_eq!(run.late, 1_111);
}

#[test]
fn a_closed_loop_waits_with_the_engine() {
    let run = stalling(Schedule::Closed);
    assert_eq!(run.response, run.service);
    assert_near(run.response.summary.p99_ns, MS / 10);
    assert_near(run.response.summary.max_ns, SECOND);
}

#[test]
fn a_stall_that_begins_just_before_the_end_is_in_the_tail() {
    // A hundred users perform ten operations of 99 ms each; then the engine stalls for two seconds, 10 ms before the end.
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: SECOND, ..RoundPlan::default() };
    let mut all = Recording::new(Recorder::new(SPECS.into(), |_| true));
    for _ in 0..100 {
        let (clock, control) = (SimulatedClock::new(), RoundControl::new(&plan, 0));
        let mut recording = Recording::new(Recorder::new(SPECS.into(), |_| true));
        let mut done = 0;
        let mut user_spec = user_spec(Schedule::Closed, StopRule::AtIntervalEnd, |_| {
            done += 1;
            clock.advance(if done > 10 { 2 * SECOND } else { 99 * MS });
            OperationResult::completed(0)
        });
        let mut session = NullEngine.connect().unwrap();
        drive(&mut user_spec, &mut session, &clock, &control, &plan, 1, &mut recording).unwrap();
        drop(user_spec);
        all.merge(recording);
    }
    let work = &all.recorder.figures()[0];
    assert_eq!(work.valid(), 1_000, "what ended after the interval is in no rate");
    let under_way = work.under_way.as_ref().unwrap();
    assert_eq!((under_way.count, under_way.failed, under_way.unended.is_none()), (100, 0, true));
    assert_near(under_way.longest_ns, 2 * SECOND);
    assert_near(work.response.summary.p90_ns, 99 * MS);
    assert_near(work.response.summary.p99_ns, 2 * SECOND);
    assert_near(work.service.summary.p99_ns, 2 * SECOND);
    assert_eq!(work.late, 1_100);
    assert!(all.reconcile().iter().all(|check| check.status == CheckStatus::Passed), "{:?}", all.reconcile());
}

#[test]
fn what_is_under_way_by_a_schedule_is_timed_from_when_it_was_due() {
    let clock = SimulatedClock::new();
    let mut done = 0;
    let (figures, arrivals) = simulate(&clock, Schedule::Constant { per_second: 1_000.0 }, SECOND, |_| {
        done += 1;
        clock.advance(if done == 990 { SECOND } else { MS / 10 });
        OperationResult::completed(0)
    });
    // The stalled one was due at 989 ms; the ten behind it were never started.
    assert_eq!((figures[0].valid(), figures[0].under_way.as_ref().unwrap().count), (989, 1));
    assert_near(figures[0].response.summary.max_ns, SECOND);
    let arrivals = arrivals.unwrap();
    assert_eq!((arrivals.due, arrivals.started, arrivals.unstarted), (1_000, 990, 10));
}

#[test]
fn a_call_that_is_interrupted_does_not_vanish() {
    let clock = SimulatedClock::new();
    let mut done = 0;
    let (figures, _) = simulate(&clock, Schedule::Closed, SECOND, |_| {
        done += 1;
        if done < 6 {
            clock.advance(100 * MS);
            return OperationResult::completed(0);
        }
        clock.advance(3 * SECOND);
        OperationResult::error(0, &EngineError::new(ErrorKind::Interrupted, "given up"))
    });
    let under_way = figures[0].under_way.as_ref().unwrap();
    assert_eq!((figures[0].valid(), under_way.count, under_way.longest_ns), (5, 1, 3 * SECOND));
    assert_eq!(under_way.unended.as_ref().unwrap().summary.count, 1);
    assert_near(figures[0].response.summary.max_ns, 100 * MS);
}

#[test]
fn how_an_operation_counts_follows_from_when_it_was_due_and_when_it_ended() {
    let control = RoundControl::new(&RoundPlan { warm_up_ns: 10, measure_ns: 90, ..RoundPlan::default() }, 0);
    let check = |due, end, expected| assert_eq!(control.counts(due, end), expected, "{due} to {end}");
    check(0, 9, SampleInclusion::Not);
    check(0, 10, SampleInclusion::Ended);
    check(50, 99, SampleInclusion::Ended);
    check(99, 100, SampleInclusion::UnderWay);
    check(5, 500, SampleInclusion::UnderWay);
    check(100, 101, SampleInclusion::Not);
    // Ended from outside in the warm-up: there is no interval.
    control.cut(8);
    check(7, 9, SampleInclusion::Not);
}

#[test]
fn what_an_overloaded_user_never_came_to_is_counted() {
    let clock = SimulatedClock::new();
    let (figures, arrivals) = simulate(&clock, Schedule::Constant { per_second: 1_000.0 }, SECOND, |_| {
        clock.advance(10 * MS);
        OperationResult::completed(0)
    });
    // The hundredth ends with the interval, not in it.
    assert_eq!((figures[0].valid(), figures[0].under_way.as_ref().unwrap().count), (99, 1));
    let arrivals = arrivals.unwrap();
    assert_eq!((arrivals.due, arrivals.started, arrivals.dropped, arrivals.unstarted), (1_000, 100, 0, 900));
}

#[test]
fn an_overload_is_bounded_and_what_finds_no_room_is_dropped_and_named() {
    struct Slow<'a>(&'a SimulatedClock, u64);
    impl User for Slow<'_> {
        fn draw(&mut self, _: &dyn Clock, _: &RoundControl) -> Draw {
            Draw::Ready
        }
        fn skip(&mut self) -> Option<usize> {
            self.1 += 1;
            Some((self.1 % 2) as usize)
        }
        fn perform(&mut self, _: &mut OperationCx<'_>) -> OperationResult {
            self.0.advance(10 * MS);
            OperationResult::completed(0)
        }
    }
    let clock = SimulatedClock::new();
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: 10 * SECOND, backlog: 50, ..RoundPlan::default() };
    let control = RoundControl::new(&plan, 0);
    let mut session = NullEngine.connect().unwrap();
    let mut recording = Recording::new(Recorder::new(SPECS.into(), |_| true));
    let user = Box::new(Slow(&clock, 0));
    let schedule = Schedule::Constant { per_second: 1_000.0 };
    let mut user_spec =
        UserSpec { name: "slow".to_owned(), role: "users", user, schedule, stop_rule: StopRule::AtIntervalEnd };
    drive(&mut user_spec, &mut session, &clock, &control, &plan, 1, &mut recording).unwrap();
    let (figures, arrivals) = (recording.recorder.figures(), recording.recorder.all_arrivals().unwrap());
    // A thousand a second come and a hundred are done; those that got in waited behind fifty others.
    assert_eq!((arrivals.due, arrivals.started, arrivals.unstarted), (10_000, 1_000, 50));
    assert_eq!(arrivals.dropped, 10_000 - 1_000 - 50);
    assert_eq!((arrivals.backlog_limit, arrivals.backlog_longest), (50, 50));
    let dropped = |at: usize| {
        let all = figures[at].outcomes.iter();
        all.filter(|it| it.outcome == Outcome::Dropped).map(|it| it.count).sum::<u64>()
    };
    assert_eq!((dropped(0), dropped(1)), (arrivals.dropped / 2, arrivals.dropped / 2));
    assert!(figures[0].response.summary.max_ns < 520 * MS, "{} ns", figures[0].response.summary.max_ns);
    assert_near(figures[0].response.summary.p99_ns, 509 * MS);
}

#[test]
fn back_off_lengthens_the_response_and_not_the_service() {
    let clock = SimulatedClock::new();
    let (figures, _) = simulate(&clock, Schedule::Constant { per_second: 1.0 }, SECOND, |cx| {
        let mut left = 3;
        let result = cx.retrying(|_| {
            clock.advance(MS);
            left -= 1;
            if left > 0 { Err(EngineError::new(ErrorKind::Conflict, "in the way")) } else { Ok(()) }
        });
        result.unwrap();
        OperationResult::completed(0)
    });
    let work = &figures[0];
    assert_eq!((work.retries, work.response.summary.count), (2, 1));
    assert_near(work.service.summary.max_ns, 3 * MS);
    // Two pauses of 0.1 and 0.2 ms on average, each between half and one and a half times that.
    let pause = work.response.summary.max_ns - work.service.summary.max_ns;
    assert!((150_000..=460_000).contains(&pause), "{pause} ns");
}

#[test]
fn patience_ends_and_other_errors_are_not_retried() {
    let clock = SimulatedClock::new();
    let attempts = |kind| {
        let mut attempts = 0;
        let mut outcome = None;
        simulate(&clock, Schedule::Closed, clock.now() + 10 * MS, |cx| {
            attempts = 0;
            let error = cx
                .retrying(|_| -> Result<(), _> {
                    attempts += 1;
                    Err(EngineError::new(kind, "no"))
                })
                .unwrap_err();
            clock.advance(SECOND);
            let performed = OperationResult::error(0, &error);
            outcome = Some(performed.outcome);
            performed
        });
        assert_eq!(outcome, Some(Outcome::Failed));
        attempts
    };
    assert_eq!(attempts(ErrorKind::Conflict), RetryPolicy::default().retries + 1);
    assert_eq!(attempts(ErrorKind::Constraint), 1);
}

#[test]
fn the_timed_loop_does_not_allocate_after_the_warm_up() {
    let clock = SimulatedClock::new();
    let mut recording = Recording::new(Recorder::new(SPECS.into(), |_| true));
    let mut session = NullEngine.connect().unwrap();
    // A second that is nothing but warm-up, and one that is measured, with the same moments and times.
    let mut second = |warm_up_ns, measure_ns| {
        let plan = RoundPlan { warm_up_ns, measure_ns, ..RoundPlan::default() };
        let control = RoundControl::new(&plan, clock.now());
        let mut done = 0u64;
        let mut user_spec =
            user_spec(Schedule::Poisson { per_second: 50_000.0, seed: 3 }, StopRule::AtIntervalEnd, |_| {
                done += 1;
                clock.advance(10_000);
                let outcome = if done.is_multiple_of(3) { Outcome::Warned } else { Outcome::Completed };
                OperationResult::ended((done % 2) as usize, outcome, (done % 5) as i32)
            });
        let allocations = allocation_counter::measure(|| {
            drive(&mut user_spec, &mut session, &clock, &control, &plan, 1, &mut recording).unwrap();
        });
        drop(user_spec);
        assert!(done > 40_000, "{done}");
        allocations.count_total
    };
    assert!(second(SECOND, 0) > 2, "histograms make room when times occur");
    assert_eq!(second(0, SECOND), 1, "room for the backlog, before the first operation");
    assert_eq!(recording.ledger.entry(0).interval[0], recording.recorder.figures()[0].by_outcome[0].response.count);
}
