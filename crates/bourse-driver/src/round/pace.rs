//! Rules that end warm-up and measurement interval by the rate of the round, examined in short steps.

use crate::sampler::Sampler;
use crate::{MS, Nanos, RoundControl, RoundPlan, SECOND};
use bourse_record::{Steadiness, Steady, Stopping, StoppingRule};
use bourse_stats::stopping;

/// Rates in short steps, and the rule that examines them.
pub(super) struct Pace {
    step_ns: Nanos,
    begin: Nanos,
    /// End of the last step, with the number of operations ended until then.
    last: (Nanos, u64),
    /// Rates of all operations, with the ends of their steps.
    rates: Vec<(Nanos, f64)>,
    /// Maximum warm-up and interval.
    longest: (Nanos, Nanos),
    /// Next moment to examine the warm-up or the interval.
    look: Nanos,
    /// Whether the warm-up has ended, by the rule or its maximum.
    measuring: bool,
    /// Bytes written to the engine's log when the interval began.
    log_written: Option<u64>,
    rule: StoppingRule,
    pub(super) stopping: Stopping,
}

impl Pace {
    /// The pace of a plan with a rule; `None` without a rule.
    pub(super) fn of(plan: &RoundPlan, begin: Nanos) -> Option<Self> {
        let rule = plan.until?;
        let shortest_warm_up = match rule {
            StoppingRule::SteadinessDecided => plan.warm_up_ns / 6,
            StoppingRule::RateLevel => plan.warm_up_ns / 3,
        };
        Some(Self {
            // Some 400 in the interval; fewer than 50 a second, since each takes a moment of the sampler's thread.
            step_ns: (plan.measure_ns / 400).clamp(20 * MS, SECOND),
            begin,
            last: (begin, 0),
            rates: Vec::new(),
            longest: (plan.warm_up_ns, plan.measure_ns),
            look: begin + shortest_warm_up,
            measuring: false,
            log_written: None,
            rule,
            stopping: Stopping { rule, warmed_up: false, looks: 0, reached: false },
        })
    }

    /// End of the step; never once the round drains, when there is nothing left to end.
    pub(super) fn next(&self, now: Nanos, control: &RoundControl) -> Nanos {
        if control.draining(now) { Nanos::MAX } else { self.last.0 + self.step_ns }
    }

    /// Ends a step once it is over, and examines whether warm-up or interval has lasted long enough.
    pub(super) fn pass(&mut self, now: Nanos, sampler: &Sampler<'_>, control: &RoundControl) {
        if now < self.next(now, control) {
            return;
        }
        let [all, _] = sampler.ended(None);
        let (then, all_then) = std::mem::replace(&mut self.last, (now, all));
        let seconds = (now - then) as f64 / SECOND as f64;
        // Counts are read while others write them: one that seems to fall has not grown.
        self.rates.push((now, all.saturating_sub(all_then) as f64 / seconds));
        self.apply(now, sampler, control);
    }

    fn apply(&mut self, now: Nanos, sampler: &Sampler<'_>, control: &RoundControl) {
        if !self.measuring && now >= control.measure_from() {
            self.measure_from(control.measure_from(), sampler);
        }
        if now < self.look {
            return;
        }
        if !self.measuring {
            if self.is_warm(now, sampler) {
                let at = now + self.step_ns;
                control.begin_measuring(at);
                self.measure_from(at, sampler);
                self.stopping.warmed_up = true;
            }
            return;
        }
        let from = control.measure_from();
        let is_enough = self.steady(from, now, sampler, self.log_written_since(sampler)) != Steady::Unknown;
        self.stopping.looks += 1;
        self.look = from + stopping::next_look(now - from, self.longest.1);
        if is_enough {
            self.stopping.reached = true;
            // A moment to come, so that every thread sees the same end.
            control.cut(now + MS);
        }
    }

    /// Records the start of the interval.
    fn measure_from(&mut self, from: Nanos, sampler: &Sampler<'_>) {
        self.measuring = true;
        self.log_written = sampler.log_written();
        self.look = match self.rule {
            // An interval that looks narrow early may not have met a rare stall yet.
            StoppingRule::RateLevel => Nanos::MAX,
            StoppingRule::SteadinessDecided => from + self.longest.1 / 3,
        };
    }

    /// Bytes written to the engine's log since the interval began, if the engine counts them.
    fn log_written_since(&self, sampler: &Sampler<'_>) -> Option<f64> {
        sampler.log_written().zip(self.log_written).map(|(now, then)| now.saturating_sub(then) as f64)
    }

    /// Seconds since the round began.
    fn seconds(&self, at: Nanos) -> f64 {
        at.saturating_sub(self.begin) as f64 / SECOND as f64
    }

    /// Steadiness of the time between two moments by the report's own test, as far as known.
    fn steady(&self, from: Nanos, to: Nanos, sampler: &Sampler<'_>, log_written: Option<f64>) -> Steady {
        Steadiness::so_far(&sampler.series, self.seconds(from), self.seconds(to), log_written).steady
    }

    fn is_warm(&mut self, now: Nanos, sampler: &Sampler<'_>) -> bool {
        let passed = now - self.begin;
        match self.rule {
            StoppingRule::RateLevel => {
                self.look = self.begin + stopping::next_look_at_warm_up(passed);
                stopping::is_warm(&self.rates.iter().map(|(_, rate)| *rate).collect::<Vec<f64>>())
            }
            StoppingRule::SteadinessDecided => {
                self.look = now + passed / 4;
                self.steady(self.begin + passed / 3, now, sampler, None) == Steady::Yes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::NullEngine;
    use bourse_record::LiveReader;

    /// Simulates a round of 5 minutes; `second` gives throughput, 99th percentile and log size of a second. Returns the
    /// seconds measured, the rule's result, and the report's test.
    fn told(second: impl Fn(u32) -> [f64; 3]) -> (u64, Stopping, Steady) {
        let rule = StoppingRule::SteadinessDecided;
        let plan =
            RoundPlan { warm_up_ns: 120 * SECOND, measure_ns: 180 * SECOND, until: Some(rule), ..RoundPlan::default() };
        let control = RoundControl::new(&plan, 0);
        let mut sampler = Sampler::new(&NullEngine, &[], LiveReader::new(Vec::new(), 0), 0);
        let mut pace = Pace::of(&plan, 0).expect("there is a rule");
        let mut now = 0;
        while !control.draining(now) {
            now = pace.next(now, &control).min((now / SECOND + 1) * SECOND);
            if now.is_multiple_of(SECOND) {
                let at = (now / SECOND) as u32;
                let names = ["throughput", "response_ns_p99", "log_bytes"];
                let row = names.into_iter().zip(second(at)).map(|(name, value)| (name.to_owned(), Some(value)));
                sampler.series.push(f64::from(at), row);
            }
            pace.pass(now, &sampler, &control);
        }
        let (from, to) = (control.measure_from(), control.measure_to());
        let steady = pace.steady(from, to, &sampler, None);
        ((to - from) / SECOND, pace.stopping, steady)
    }

    /// Scatter of some 3 %.
    fn scatter(at: u32) -> f64 {
        1.0 + 0.05 * (f64::from(at) * 12.9898).sin() * (f64::from(at) * 78.233).cos()
    }

    #[test]
    fn an_interval_ends_as_soon_as_the_report_can_tell_that_it_is_steady() {
        let (seconds, stopping, steady) = told(|at| [1_000.0 * scatter(at), 5e6 * scatter(at + 7), 0.0]);
        assert_eq!((seconds, stopping.warmed_up, stopping.looks, stopping.reached), (60, true, 1, true));
        assert_eq!(steady, Steady::Yes);
    }

    #[test]
    fn a_checkpoint_cycle_and_a_log_that_grows_count_as_in_the_report() {
        // Every 25 s a checkpoint, hardly to be seen in the throughput: ten of them are longer than the interval may last.
        let (seconds, stopping, steady) = told(|at| [1_000.0 * scatter(at), 5e6 * scatter(at + 7), f64::from(at % 25)]);
        assert_eq!((seconds, stopping.reached, steady), (180, false, Steady::Unknown));
        // A log that grows steadily is detected at the first look.
        let (seconds, stopping, steady) = told(|at| [1_000.0 * scatter(at), 5e6 * scatter(at + 7), f64::from(at)]);
        assert_eq!((seconds, stopping.reached, steady), (60, true, Steady::No));
        assert!(!stopping.warmed_up, "a warm-up whose log grows is not steady");
    }

    #[test]
    fn response_times_that_become_longer_end_no_warm_up() {
        let (_, stopping, steady) =
            told(|at| [1_000.0 * scatter(at), 5e6 * scatter(at + 7) * (f64::from(at) / 50.0).exp(), 0.0]);
        assert_eq!((stopping.warmed_up, stopping.reached, steady), (false, true, Steady::No));
    }
}
