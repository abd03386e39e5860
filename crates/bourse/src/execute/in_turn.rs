//! The rounds of all cases in turn, in an order drawn for each round; disturbed ones are repeated.

use super::strategy::Strategy;
use super::{CaseRun, Executor, expected, repeats};
use crate::failure::Result;
use crate::live;
use crate::plan::{CaseBlock, OnFailure, PlannedCase, about};
use crate::progress::{RunBar, note, passing};
use bourse_driver::Clock as _;

/// Strategy that runs as many rounds of each case as are planned.
pub(super) struct RoundsInTurn;

impl Strategy for RoundsInTurn {
    fn run(&self, executor: &mut Executor<'_>, block: &CaseBlock, cases: &mut [CaseRun]) -> Result<()> {
        let of = block.rounds;
        let mut budget = executor.plan.budget(block);
        for round in 0..of {
            let (turns, left_out): (Vec<usize>, Vec<usize>) =
                block.turns(round, executor.plan.seed).into_iter().partition(|at| cases[*at].has_more_rounds());
            for case in left_out.iter().map(|at| &cases[*at].planned).filter(|case| case.not_run.is_none()) {
                executor.round_is_over(case);
            }
            let mut order = turns;
            // A whole round of all cases or none, so that each case has as many.
            let expected_ns = order.iter().map(|at| about::round_ns(&block.cases[*at])).fold(0, u64::saturating_add);
            if round > 0 && !executor.is_in_time(expected_ns) {
                let workload = block.cases.first().map_or("", |case| case.job.noun());
                executor.left_out(format!("{workload}: {round} of {of} rounds were run"));
                return Ok(());
            }
            executor.turns(block, cases, round, &order)?;
            order.iter().for_each(|at| executor.round_is_over(&cases[*at].planned));
            while !executor.context.is_interrupted() && executor.may_repeat(block, &order) {
                let Some(again) = repeats::again(&mut budget, round, &order, cases) else { break };
                let why = if again.nothing_ended { "nothing ended in" } else { "others disturbed" };
                let labels: Vec<_> = again.cases.iter().map(|at| cases[*at].label()).collect();
                passing(&format!("round {} of {of}: repeated, since {why} it: {}", round + 1, labels.join(", ")));
                let before: Vec<usize> = again.cases.iter().map(|at| cases[*at].rounds().len()).collect();
                let done = executor.turns(block, cases, round, &again.cases);
                // A disturbed round is better than none.
                for (at, before) in again.cases.iter().zip(before) {
                    if cases[*at].rounds().len() == before {
                        cases[*at].take_back();
                    }
                }
                done?;
                order = again.cases;
            }
            if executor.context.is_interrupted() {
                return Ok(());
            }
            if let (Some(_), [one, other]) = (&executor.plan.compares, &*cases)
                && let Some(case) = &one.case
                && let Some(words) = expected::after(&case.workload, one.rounds(), other.rounds(), of)
            {
                note(&words);
            }
            if let (Some(comparing), [one, other]) = (&executor.plan.compares, &*cases)
                && comparing.looks.contains(&(round + 1))
                && let Some(verdict) = expected::decided(comparing, one, other)
            {
                note(&format!("decided after {} of at most {of} pairs: {verdict}", round + 1));
                break;
            }
        }
        Ok(())
    }
}

impl Executor<'_> {
    /// The rounds of these cases, in this order. Results before a failure are retained.
    fn turns(&mut self, block: &CaseBlock, cases: &mut [CaseRun], round: u32, order: &[usize]) -> Result<()> {
        let of = block.rounds;
        for (nth, at) in order.iter().enumerate() {
            if self.context.is_interrupted() {
                return Ok(());
            }
            let case = &mut cases[*at];
            let expected_ns = about::round_ns(&case.planned);
            if case.case.is_none() && !self.has_time(case, expected_ns) {
                continue;
            }
            let label = match (self.plan.on_failure, of) {
                (OnFailure::LeaveOutCase, _) => {
                    let (round, nth, all, label) = (round + 1, nth + 1, order.len(), case.label());
                    format!("round {round} of {of}, case {nth} of {all}: {label}")
                }
                (OnFailure::EndRun, 1) => case.label().to_owned(),
                (OnFailure::EndRun, _) => format!("{}, round {} of {of}", case.label(), round + 1),
            };
            self.turn(case, round, of, &label)?;
            self.limit.done(expected_ns);
        }
        Ok(())
    }

    /// Whether there is time to repeat rounds of these cases.
    fn may_repeat(&self, block: &CaseBlock, order: &[usize]) -> bool {
        let expected = order.iter().map(|at| about::round_ns(&block.cases[*at])).fold(0, u64::saturating_add);
        let left = self.whole.as_ref().map_or(0, RunBar::left_ns);
        self.limit.permits_repeat(self.context.clock.now(), left, expected)
    }

    /// Advances the progress by a round that was run, or left out.
    fn round_is_over(&mut self, case: &PlannedCase) {
        let expected_ns = about::round_ns(case);
        live::round_done(expected_ns);
        if let Some(whole) = &mut self.whole {
            whole.round_ended(expected_ns);
        }
    }
}
