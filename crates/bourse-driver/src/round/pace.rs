//! The rules that end warm-up and measurement interval by the rate of the round, looked at in short steps.

use crate::sampler::Sampler;
use crate::{Control, MS, Nanos, Plan, SECOND};
use bourse_record::{Stopping, StoppingRule, blocks_need_s};
use bourse_stats::stopping;

/// Rates in short steps, and the rule that looks at them.
pub(super) struct Pace {
    headline: usize,
    step_ns: Nanos,
    begin: Nanos,
    /// End of the last step, with what had ended until then.
    last: (Nanos, u64),
    /// Rates of all operations, with the ends of their steps.
    rates: Vec<(Nanos, f64)>,
    /// Longest warm-up and interval.
    longest: (Nanos, Nanos),
    /// The next moment to look at the warm-up or at the interval.
    look: Nanos,
    /// Whether the rule has ended the warm-up, or its time has.
    measuring: bool,
    /// What had been written to the engine's log when the interval began.
    log_written: Option<u64>,
    rule: StoppingRule,
    pub(super) stopping: Stopping,
}

impl Pace {
    /// None where the plan has no rule: nobody looks then.
    pub(super) fn of(plan: &Plan, headline: usize, begin: Nanos) -> Option<Self> {
        let rule = plan.until?;
        let shortest_warm_up = match rule {
            StoppingRule::SteadinessTold => plan.warm_up_ns / 6,
            StoppingRule::RateKnown => plan.warm_up_ns / 4,
        };
        Some(Self {
            headline,
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

    /// The end of the step; never once the round drains, when there is nothing left to end.
    pub(super) fn next(&self, now: Nanos, control: &Control) -> Nanos {
        if control.draining(now) { Nanos::MAX } else { self.last.0 + self.step_ns }
    }

    /// Ends a step once it is over, and looks whether warm-up or interval has lasted long enough.
    pub(super) fn pass(&mut self, now: Nanos, sampler: &Sampler<'_>, control: &Control) {
        if now < self.next(now, control) {
            return;
        }
        let [all, _] = sampler.ended(self.headline);
        let (then, all_then) = std::mem::replace(&mut self.last, (now, all));
        let seconds = (now - then) as f64 / SECOND as f64;
        // Counts are read while others write them: one that seems to fall has not grown.
        self.rates.push((now, all.saturating_sub(all_then) as f64 / seconds));
        self.apply(now, sampler, control);
    }

    fn apply(&mut self, now: Nanos, sampler: &Sampler<'_>, control: &Control) {
        if !self.measuring && now >= control.measure_from() {
            self.measure_from(control.measure_from(), sampler);
        }
        if now < self.look {
            return;
        }
        if !self.measuring {
            if self.is_warm(now) {
                let at = now + self.step_ns;
                control.begin_measuring(at);
                self.measure_from(at, sampler);
                self.stopping.warmed_up = true;
            }
            return;
        }
        let from = control.measure_from();
        let is_enough = match self.rule {
            StoppingRule::RateKnown => {
                stopping::is_known(&self.since(from)) && !self.can_be_judged_later(now, from, sampler)
            }
            StoppingRule::SteadinessTold => stopping::is_told(&self.seconds(from)),
        };
        self.stopping.looks += 1;
        self.look = from + stopping::next_look(now - from, self.longest.1);
        if is_enough {
            self.stopping.reached = true;
            // A moment to come, so that every thread sees the same end.
            control.cut(now + MS);
        }
    }

    /// Notes that the interval begins there.
    fn measure_from(&mut self, from: Nanos, sampler: &Sampler<'_>) {
        self.measuring = true;
        self.log_written = sampler.log_written();
        let shortest = match self.rule {
            StoppingRule::RateKnown => self.longest.1 / 2,
            StoppingRule::SteadinessTold => self.longest.1 / 3,
        };
        self.look = from + shortest;
    }

    /// Whether the interval has too few blocks to judge whether it is steady, and will have enough before it must end.
    fn can_be_judged_later(&self, now: Nanos, from: Nanos, sampler: &Sampler<'_>) -> bool {
        let since_begin = |at: Nanos| at.saturating_sub(self.begin) as f64 / SECOND as f64;
        let written = sampler.log_written().zip(self.log_written).map(|(now, then)| now.saturating_sub(then) as f64);
        let needs = blocks_need_s(&sampler.series, since_begin(from), since_begin(now), written);
        needs.is_some_and(|seconds| seconds <= self.longest.1 as f64 / SECOND as f64)
    }

    fn is_warm(&mut self, now: Nanos) -> bool {
        let passed = now - self.begin;
        match self.rule {
            StoppingRule::RateKnown => {
                self.look = now + passed / 10;
                stopping::agree(&self.since(self.begin))
            }
            StoppingRule::SteadinessTold => {
                self.look = now + passed / 4;
                stopping::is_steady(&self.seconds(self.begin + passed / 3))
            }
        }
    }

    /// Rates of the steps since a moment.
    fn since(&self, from: Nanos) -> Vec<f64> {
        let inside = |at: &&(Nanos, f64)| at.0 >= from + self.step_ns / 2;
        self.rates.iter().filter(inside).map(|(_, rate)| *rate).collect()
    }

    /// The same by seconds, which steadiness is judged by.
    fn seconds(&self, from: Nanos) -> Vec<f64> {
        let steps = (SECOND / self.step_ns).max(1) as usize;
        self.since(from).chunks_exact(steps).map(|it| it.iter().sum::<f64>() / steps as f64).collect()
    }
}
