//! Rounds whose recorders have a planted fault: each such round is void, and one without a fault is not.

use bourse_driver::planted::{PlantedFault, plant};
use bourse_driver::{
    Background, Clock, Draw, MeasuredRound, OperationCx, OperationResult, OperationSpec, RealClock, RoundControl,
    RoundPlan, SECOND, Schedule, StopRule, User, UserSpec, Workload, run,
};
use bourse_engine::NullEngine;
use bourse_record::CheckStatus;
use std::sync::atomic::AtomicBool;

struct Sleeping(u64);

impl User for Sleeping {
    fn draw(&mut self, _: &dyn Clock, _: &RoundControl) -> Draw {
        Draw::Ready
    }
    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        self.0 += 1;
        // One in twenty takes so long that those after it wait.
        let ms = if self.0.is_multiple_of(20) { 5 } else { 0 };
        cx.clock().sleep_until(cx.clock().now() + ms * bourse_driver::MS);
        OperationResult::completed(0)
    }
}

struct Two([OperationSpec; 1]);

impl Workload<'static> for Two {
    fn operations(&self) -> &[OperationSpec] {
        &self.0
    }
    fn users(&mut self) -> Vec<UserSpec<'static>> {
        let schedule = Schedule::Constant { per_second: 1_000.0 };
        let user_spec = |number| UserSpec {
            name: format!("user {number}"),
            role: "users",
            user: Box::new(Sleeping(0)),
            schedule,
            stop_rule: StopRule::AtIntervalEnd,
        };
        vec![user_spec(1), user_spec(2)]
    }
    fn background(&mut self) -> Vec<Background<'static>> {
        Vec::new()
    }
}

fn measure(fault: PlantedFault) -> MeasuredRound {
    plant(fault);
    let plan = RoundPlan { warm_up_ns: SECOND / 10, measure_ns: SECOND / 2, ..RoundPlan::default() };
    let mut workload = Two([OperationSpec::new("work")]);
    let (clock, never) = (RealClock::start(), AtomicBool::new(false));
    run(&NullEngine, &mut workload, &plan, Some(0), 1, &clock, &never, &mut |_| {}).expect("the engine does nothing")
}

#[test]
fn every_fault_of_the_recorder_voids_the_round() {
    for fault in PlantedFault::ALL.into_iter().filter(|fault| *fault != PlantedFault::Nothing) {
        let round = measure(fault).round;
        assert!(round.checks.iter().any(|check| check.status == CheckStatus::Failed), "{}", fault.name());
        let why = round.void.unwrap_or_else(|| panic!("{} voids the round", fault.name()));
        assert!(why.starts_with("recorder and driver disagree") && round.headline.is_nan(), "{why}");
    }
    let round = measure(PlantedFault::Nothing).round;
    assert_eq!(round.void, None, "{:?}", round.checks);
    assert_eq!(round.checks.len(), 5, "the schedule's own sums among them");
    assert!(round.headline > 100.0);
}
