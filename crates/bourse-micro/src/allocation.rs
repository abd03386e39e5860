//! Test that the timed part of workloads' users makes no allocation of Bourse's, on the null engine.
#![cfg(test)]

use crate::WORKLOADS;
use crate::workload::{RoundSettings, RoundTally, WorkloadSpec};
use bourse_driver::{
    Clock, Draw, MS, OperationCx, OperationResult, RealClock, Recording, RoundControl, RoundPlan, StopRule, User,
    UserSpec, drive,
};
use bourse_engine::{Engine as _, NullEngine};
use bourse_record::Recorder;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A user whose allocations are counted while it performs, after its first operations.
struct CountingUser<'s> {
    user: Box<dyn User + 's>,
    times: u64,
    allocations: Arc<AtomicU64>,
}

/// Number of operations during which one-time allocations are made: statements, capacity for samples.
const FIRST: u64 = 50;

impl User for CountingUser<'_> {
    fn draw(&mut self, clock: &dyn Clock, control: &RoundControl) -> Draw {
        self.user.draw(clock, control)
    }
    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let mut performed = None;
        let counted = allocation_counter::measure(|| performed = Some(self.user.perform(cx)));
        self.times += 1;
        if self.times > FIRST {
            self.allocations.fetch_add(counted.count_total, Ordering::Relaxed);
        }
        performed.expect("it was performed")
    }
}

#[test]
fn the_timed_part_allocates_nothing() {
    // On a busy machine a thread may not run at all in a short interval: a longer one follows.
    for spec in WORKLOADS {
        assert!([30, 500, 5_000].iter().any(|&ms| performs(spec, ms)), "{}: too few samples", spec.name);
    }
}

/// Whether each user of a workload performed often enough in that time for its allocations to be judged: there must be none.
fn performs(spec: &'static WorkloadSpec, measure_ms: u64) -> bool {
    // One thread each; rows are numbers only, nothing is made.
    let case = spec.plan([]).unwrap();
    let setting = RoundSettings {
        engine: &NullEngine,
        seed: 1,
        count: None,
        batch: Some(10),
        sampled: false,
        is_real: false,
        tally: Arc::new(RoundTally::default()),
    };
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: measure_ms * MS, ..RoundPlan::default() };
    for user_spec in case
        .planned
        .users(&setting)
        .into_iter()
        .filter(|user_spec| user_spec.stop_rule == StopRule::AtIntervalEnd)
        .take(1)
    {
        let clock = RealClock::start();
        let control = RoundControl::new(&plan, clock.now());
        let allocations = Arc::new(AtomicU64::new(0));
        let user = CountingUser { user: user_spec.user, times: 0, allocations: allocations.clone() };
        let mut user_spec = UserSpec { user: Box::new(user), ..user_spec };
        let mut session = NullEngine.connect().unwrap();
        let mut recording = Recording::new(Recorder::new(case.planned.operations().into(), |_| true));
        drive(&mut user_spec, &mut session, &clock, &control, &plan, 1, &mut recording).unwrap();
        let samples: u64 = recording.recorder.figures().iter().map(|operation| operation.samples).sum();
        if samples <= FIRST {
            return false;
        }
        assert_eq!(allocations.load(Ordering::Relaxed), 0, "{} in {samples} samples", spec.name);
    }
    true
}
