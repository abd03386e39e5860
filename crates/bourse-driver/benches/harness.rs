//! Harness overhead in nanoseconds per sample, of one user that does nothing.
//!
//! The clock is real, so the figure includes its two readings per sample. Processor time is measured too, which a busy
//! machine does not stretch.

use bourse_driver::{
    Clock, Draw, OperationCx, OperationResult, OperationSpec, RealClock, Recording, RoundControl, RoundPlan, SECOND,
    Schedule, StopRule, User, UserSpec, drive,
};
use bourse_engine::{Engine, NullEngine};
use bourse_record::{ProcessUse, Recorder};

struct Idle;

impl User for Idle {
    fn draw(&mut self, _: &dyn Clock, _: &RoundControl) -> Draw {
        Draw::Ready
    }
    fn perform(&mut self, _: &mut OperationCx<'_>) -> OperationResult {
        OperationResult::completed(0)
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its result")]
fn main() {
    for round in 1..=3 {
        let clock = RealClock::start();
        let plan = RoundPlan { warm_up_ns: 0, measure_ns: SECOND, ..RoundPlan::default() };
        let mut session = NullEngine.connect().expect("the null engine always connects");
        let mut recording = Recording::new(Recorder::new([OperationSpec::new("nothing")].into(), |_| true));
        let mut user_spec = UserSpec {
            name: "user".to_owned(),
            role: "users",
            user: Box::new(Idle),
            schedule: Schedule::Closed,
            stop_rule: StopRule::AtIntervalEnd,
        };
        let control = RoundControl::new(&plan, clock.now());
        let cpu_s = || {
            let used = ProcessUse::now();
            used.cpu_user_s.unwrap_or(f64::NAN) + used.cpu_system_s.unwrap_or(f64::NAN)
        };
        let before = cpu_s();
        let allocations = allocation_counter::measure(|| {
            drive(&mut user_spec, &mut session, &clock, &control, &plan, 1, &mut recording)
                .expect("nothing can be lost");
        });
        let cpu_ns = (cpu_s() - before) * 1e9;
        let figures = recording.recorder.figures();
        let samples = figures[0].response.summary.count;
        println!(
            "round {round}: {:.1} ns a sample ({:.1} ns of processor time) over {samples} samples, {} allocations; response median {} ns",
            SECOND as f64 / samples as f64,
            cpu_ns / samples as f64,
            allocations.count_total,
            figures[0].response.summary.p50_ns
        );
    }
}
