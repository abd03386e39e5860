//! Calibration before a run: harness overhead and machine noise, from which doubts about figures follow.

use crate::{
    Background, Clock, Draw, MS, Nanos, OperationCx, OperationResult, OperationSpec, RoundControl, RoundPlan, SECOND,
    Schedule, User, UserSpec, Workload,
};
use bourse_engine::NullEngine;
use bourse_record::{Interference, MachineUse, NameValue, ProcessUse, Round, Warning};
use std::sync::atomic::{AtomicBool, Ordering};

/// Results of calibration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Time of an operation that does nothing, in nanoseconds: the harness overhead in every figure.
    pub sample_ns: f64,
    /// Delay from due to start of an operation, 99th percentile in nanoseconds.
    pub lag_ns_p99: u64,
    /// Excess of the 90th percentile of a fixed CPU loop over its median, in percent.
    pub scatter_percent: f64,
    /// Median time of the loop, in nanoseconds.
    pub loop_ns: f64,
    /// Relative standard deviation of the loop's mean over one second, caused by the machine; `None` if it cannot be
    /// determined.
    pub second_deviation: Option<f64>,
    /// Processors kept busy by other processes.
    pub others: f64,
    /// Processors taken by the host.
    pub stolen: f64,
}

/// Divisor of the times of calibration in builds without optimization, whose figures count for nothing: tests calibrate
/// hundreds of times.
const SHORTER: Nanos = if cfg!(debug_assertions) { 10 } else { 1 };
/// Duration of the round that measures the harness overhead.
const CLOSED_NS: Nanos = 100 * MS / SHORTER;

/// Measures harness and machine without other load; takes about a second.
pub fn calibrate(clock: &dyn Clock) -> Calibration {
    let (from, machine, ours) = (clock.now(), MachineUse::now(), cpu_s());
    let times = fixed_loop(clock, 300 * MS / SHORTER);
    let FixedLoop { median_ns, p90_ns } = FixedLoop::of(&times);
    let closed = round(clock, Schedule::Closed, CLOSED_NS);
    let paced = round(clock, Schedule::Constant { per_second: 1_000.0 }, 400 * MS / SHORTER);
    let seconds = (clock.now() - from).max(1) as f64 / SECOND as f64;
    let since = MachineUse::now().zip(machine);
    let ours = cpu_s() - ours;
    let samples = closed.as_ref().map_or(0, |round| round.operations[0].response.summary.count);
    Calibration {
        sample_ns: if samples > 0 { CLOSED_NS as f64 / samples as f64 } else { f64::NAN },
        lag_ns_p99: paced.map_or(0, |round| round.operations[0].response.summary.p99_ns),
        scatter_percent: if median_ns > 0.0 { 100.0 * (p90_ns / median_ns - 1.0) } else { 0.0 },
        loop_ns: median_ns,
        second_deviation: second_deviation(&times),
        others: since.map_or(0.0, |(now, then)| (now.busy_s - then.busy_s - ours).max(0.0) / seconds),
        stolen: since.map_or(0.0, |(now, then)| (now.stolen_s - then.stolen_s).max(0.0) / seconds),
    }
}

impl Calibration {
    /// Warnings about figures measured under these conditions.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.scatter_percent > 10.0 {
            warnings.push(Warning::NoisyMachine { slowdown: 1.0 + self.scatter_percent / 100.0 });
        }
        if self.others + self.stolen > Interference::NOTICED {
            warnings.push(Warning::BackgroundLoad { cpus: self.others + self.stolen });
        }
        if self.lag_ns_p99 > MS {
            warnings.push(Warning::SchedulingDelay { delay_ns_p99: self.lag_ns_p99 });
        }
        warnings
    }

    /// Results for the machine's facts.
    pub fn details(&self) -> Vec<NameValue> {
        let facts = [
            ("harness alone", format!("{:.0} ns an operation", self.sample_ns)),
            ("start after due, p99", format!("{:.3} ms", self.lag_ns_p99 as f64 / MS as f64)),
            ("scatter of fixed arithmetic", format!("{:.1} %", self.scatter_percent)),
            ("processors taken by others before the run", format!("{:.2}", self.others + self.stolen)),
        ];
        facts.map(|(name, value)| NameValue::new(name, value)).into()
    }
}

/// Waits, at most until `limit`, until others take less than a tenth of a processor. Returns whether they do; true if
/// the system does not report it. An interruption ends the wait.
pub fn wait_for_quiet(clock: &dyn Clock, limit: Nanos, interrupted: &AtomicBool) -> bool {
    const POLL_INTERVAL_NS: Nanos = SECOND / 2;
    let end = clock.now() + limit;
    loop {
        let (Some(machine), ours) = (MachineUse::now(), cpu_s()) else { return true };
        clock.sleep_until(clock.now() + POLL_INTERVAL_NS);
        let Some(now) = MachineUse::now() else { return true };
        let ours = cpu_s() - ours;
        let taken = now.busy_s - machine.busy_s - ours + now.stolen_s - machine.stolen_s;
        if taken < Interference::NOTICED * POLL_INTERVAL_NS as f64 / SECOND as f64 {
            return true;
        }
        if clock.now() >= end || interrupted.load(Ordering::Relaxed) {
            return false;
        }
    }
}

/// Processor seconds that this process has used.
fn cpu_s() -> f64 {
    ProcessUse::now().cpu_s().unwrap_or(0.0)
}

/// Times of a fixed CPU loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedLoop {
    /// Median, in nanoseconds.
    pub median_ns: f64,
    /// 90th percentile, in nanoseconds.
    pub p90_ns: f64,
}

impl FixedLoop {
    /// Times the loop for a tenth of a second.
    pub fn now(clock: &dyn Clock) -> Self {
        Self::of(&fixed_loop(clock, 100 * MS / SHORTER))
    }

    fn of(times: &[f64]) -> Self {
        let of = |share: f64| bourse_stats::quantile(times, share).unwrap_or(0.0);
        Self { median_ns: of(0.5), p90_ns: of(0.9) }
    }
}

/// Times of repeated executions of a fixed piece of arithmetic.
fn fixed_loop(clock: &dyn Clock, for_ns: Nanos) -> Vec<f64> {
    let end = clock.now() + for_ns;
    let mut times = Vec::new();
    // At least 20, in case a simulated clock does not advance.
    while times.len() < 20 || (clock.now() < end && times.len() < 10_000) {
        let from = clock.now();
        let mut sum = 0_u64;
        for number in 0..500_000_u64 {
            sum = std::hint::black_box(sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(number));
        }
        times.push((clock.now() - from) as f64);
    }
    times
}

/// Relative standard deviation of the mean over a second, from the batch means of shorter times: independent scatter
/// decreases with the square root of the time.
fn second_deviation(times: &[f64]) -> Option<f64> {
    let found = bourse_stats::batch::mean(times)?;
    let half = found.mean.interval?.half_width();
    let seconds = times.iter().sum::<f64>() / SECOND as f64;
    // The half width is some 2.3 standard deviations of the mean: Student's quantile, and the correlation that batches
    // appear to have by chance.
    (found.mean.value > 0.0).then(|| half / 2.3 / found.mean.value * seconds.sqrt())
}

/// A round of one user that does nothing; `None` if it cannot be run.
fn round(clock: &dyn Clock, schedule: Schedule, measure_ns: Nanos) -> Option<Round> {
    let plan = RoundPlan { warm_up_ns: 20 * MS / SHORTER, measure_ns, ..RoundPlan::default() };
    let mut workload = EmptyWorkload { schedule, specs: [OperationSpec::new("nothing")] };
    let interrupt = AtomicBool::new(false);
    let measured = crate::run(&NullEngine, &mut workload, &plan, Some(0), 1, clock, &interrupt, &mut |_| {}).ok()?;
    Some(measured.round)
}

struct EmptyWorkload {
    schedule: Schedule,
    specs: [OperationSpec; 1],
}

impl Workload<'static> for EmptyWorkload {
    fn operations(&self) -> &[OperationSpec] {
        &self.specs
    }
    fn users(&mut self) -> Vec<UserSpec<'static>> {
        vec![UserSpec { role: "nobody", schedule: self.schedule, ..UserSpec::new("nobody", IdleUser) }]
    }
    fn background(&mut self) -> Vec<Background<'static>> {
        Vec::new()
    }
}

struct IdleUser;

impl User for IdleUser {
    fn draw(&mut self, _: &dyn Clock, _: &RoundControl) -> Draw {
        Draw::Ready
    }
    fn perform(&mut self, _: &mut OperationCx<'_>) -> OperationResult {
        OperationResult::completed(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RealClock;

    #[test]
    fn the_harness_is_measured_and_doubts_are_told() {
        // On a busy machine a round of a hundredth of a second may not come to work.
        let mut all = std::iter::repeat_with(|| calibrate(&RealClock::start())).take(50);
        let found = all.find(|it| it.sample_ns.is_finite()).expect("a round comes to work");
        // A debug build on a busy machine takes a microsecond or two.
        assert!(found.sample_ns > 1.0 && found.sample_ns < 1e6, "{found:?}");
        assert_eq!(found.details().len(), 4);
        let quiet = Calibration {
            sample_ns: 80.0,
            lag_ns_p99: 50_000,
            scatter_percent: 1.0,
            loop_ns: 1e6,
            second_deviation: Some(0.01),
            others: 0.02,
            stolen: 0.0,
        };
        assert_eq!(quiet.warnings(), []);
        let noisy = Calibration { lag_ns_p99: 5 * MS, scatter_percent: 40.0, others: 0.4, stolen: 0.1, ..quiet };
        assert_eq!(
            noisy.warnings(),
            [
                Warning::NoisyMachine { slowdown: 1.4 },
                Warning::BackgroundLoad { cpus: 0.5 },
                Warning::SchedulingDelay { delay_ns_p99: 5 * MS },
            ]
        );
    }
}
