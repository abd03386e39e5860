//! `--find-max`: the highest rate that keeps every response limit, by short rounds that bracket and halve, then confirmed.

use super::{CaseRun, Executor, Turn};
use crate::failure::Failure;
use crate::plan::{Block, Brokerage, Job};
use crate::progress::note;
use bourse_driver::SECOND;
use bourse_record::{Probe, Round, Search};
use bourse_tpce::transactions::Transaction;
use bourse_tpce::users::{Load, RunOptions};

/// The bracket is narrow enough when its ends differ by this share: further halving would tell noise from noise.
const NARROW: f64 = 0.04;
/// Rounds a search may take before its bracket is what it is.
const MOST: usize = 12;
/// How often a rate that its confirming run refutes is lowered.
const LOWERED: usize = 3;
/// By how much.
const STEP: f64 = 0.95;

impl Executor<'_> {
    /// Finds the rate of each case, one after the other.
    pub(super) fn searches(&mut self, block: &Block, cases: &mut [CaseRun]) -> Result<(), Failure> {
        cases.iter_mut().filter(|case| case.goes_on()).try_for_each(|case| self.search(case, block.rounds))
    }

    /// Finds the rate of a case, and leaves it at that rate with its confirming rounds and the search they ended.
    fn search(&mut self, case: &mut CaseRun, rounds: u32) -> Result<(), Failure> {
        let Job::Brokerage(job) = case.planned.job.clone() else { return Ok(()) };
        // Long enough for a tenth of a second's backlog to show as a hundredth, short enough for a dozen of them.
        let short = Brokerage {
            warm_up_ns: job.warm_up_ns.min(5 * SECOND),
            measure_ns: (job.measure_ns / 3).clamp(5 * SECOND, 60 * SECOND).min(job.measure_ns),
            latency: false,
            ..*job.clone()
        };
        let mut search = Search {
            unit: "TR/s".to_owned(),
            highest_passing: None,
            lowest_failing: None,
            confirmed: false,
            probes: vec![],
        };

        // What the users manage without a schedule is near the rate sought, and says where to begin.
        let label = format!("{}: without a schedule", case.label());
        let capacity = rate_of(&self.probe(case, &label, short.clone())?);
        if capacity <= 0.0 {
            note(&format!("{}: no transaction completed, so no rate can be searched", case.label()));
        }
        let mut next = significant(capacity);
        while next > 0.0 && !self.context.is_interrupted() && search.probes.len() < MOST {
            let label = format!("{}: trying {next} TR/s", case.label());
            let round = self.probe(case, &label, Brokerage { rate: Some(next), ..short.clone() })?;
            if self.context.is_interrupted() {
                break;
            }
            tried(&mut search, next, &round, job.users);
            next = match (search.highest_passing, search.lowest_failing) {
                (Some(found), Some(refuted)) if refuted - found <= NARROW * refuted => break,
                (Some(found), Some(refuted)) => significant((found + refuted) / 2.0),
                (Some(found), None) => significant(found * 1.25),
                // Below a rate that is too high something must be kept: go down fast.
                (None, Some(refuted)) => significant(refuted * 0.75),
                (None, None) => break,
            };
            if Some(next) == search.highest_passing || Some(next) == search.lowest_failing {
                break;
            }
        }
        self.confirm(case, &job, &mut search, rounds)?;
        case.search = Some(search);
        Ok(())
    }

    /// Runs rounds of full length at the rate found, and lowers it as long as they do not keep every limit.
    fn confirm(
        &mut self,
        case: &mut CaseRun,
        job: &Brokerage,
        search: &mut Search,
        rounds: u32,
    ) -> Result<(), Failure> {
        let mut rate = search.highest_passing;
        let mut attempts = 0;
        while let Some(asked) = rate.filter(|_| !self.context.is_interrupted()) {
            case.job = Job::Brokerage(Box::new(Brokerage { rate: Some(asked), ..job.clone() }));
            case.clear();
            for round in 0..rounds {
                let label = format!("{}, round {} of {}", case.label(), round + 2, rounds + 1);
                // Other requests than the search saw: the answer must not hang on one sequence of them.
                self.round(case, round + 1, rounds + 1, &label)?;
            }
            for round in case.rounds() {
                tried(search, asked, round, job.users);
            }
            if case.rounds().iter().all(|round| broke(round, job.users).is_empty()) {
                search.highest_passing = Some(asked);
                search.confirmed = !self.context.is_interrupted();
                break;
            }
            search.highest_passing = None;
            attempts += 1;
            rate = (attempts <= LOWERED).then(|| significant(asked * STEP));
        }
        Ok(())
    }

    /// The figures of a round that is looked at and not kept.
    fn probe(&mut self, case: &CaseRun, label: &str, job: Brokerage) -> Result<Round, Failure> {
        let job = Job::Brokerage(Box::new(job));
        let turn = Turn { job: &job, number: 0, begins_alike: true, is_probe: true, label };
        let outcome = self.outcome(case, turn)?;
        outcome.failure.map_or(Ok(outcome.round), Err)
    }
}

/// Prints the result of a rate.
fn tried(search: &mut Search, rate: f64, round: &Round, users: usize) {
    let broke = broke(round, users);
    if broke.is_empty() {
        note(&format!("{rate} TR/s: within every limit"));
        search.highest_passing = Some(search.highest_passing.map_or(rate, |found| found.max(rate)));
    } else {
        note(&format!("{rate} TR/s: {}", broke.join("; ")));
        search.lowest_failing = Some(search.lowest_failing.map_or(rate, |refuted| refuted.min(rate)));
    }
    // A void round has no figure: it reached nothing.
    let reached = if round.headline.is_nan() { 0.0 } else { round.headline };
    let measured_s = round.measured_s;
    search.probes.push(Probe {
        rate,
        reached,
        measured_s,
        worst_limit_ratio: worst_limit_ratio(round),
        violations: broke,
    });
}

/// Customers' transactions a second.
pub(super) fn customers_rate(round: &Round) -> f64 {
    let market =
        [Transaction::TradeResult, Transaction::MarketFeed, Transaction::DataMaintenance, Transaction::TradeCleanup];
    let customers = Transaction::ALL.into_iter().filter(|transaction| !market.contains(transaction));
    let done: u64 = customers.filter_map(|it| Some(round.operations.get(it as usize)?.valid())).sum();
    if round.measured_s > 0.0 { done as f64 / round.measured_s } else { 0.0 }
}

/// The same in terms of the Trade-Results that the mix has for them.
fn rate_of(round: &Round) -> f64 {
    let Load::Constant { per_second } = RunOptions::at_rate(1.0, true) else { return 0.0 };
    customers_rate(round) / per_second
}

/// The worst 90th percentile as a share of its limit.
fn worst_limit_ratio(round: &Round) -> f64 {
    let share = |it: &bourse_record::Operation| Some(it.response.summary.p90_ns as f64 / it.limit_ns? as f64);
    round.operations.iter().filter_map(share).fold(0.0, f64::max)
}

/// What a round did not keep, in words: a limit, or the pace. Empty if it kept all.
fn broke(round: &Round, users: usize) -> Vec<String> {
    let mut broke = Vec::new();
    for operation in &round.operations {
        let p90 = operation.response.summary.p90_ns;
        if let Some(limit) = operation.limit_ns.filter(|&limit| p90 > limit) {
            broke.push(format!("{}: p90 {:.2} s, limit {} s", operation.name, p90 as f64 / 1e9, limit / SECOND));
        }
    }
    let failed: u64 = round
        .operations
        .iter()
        .flat_map(|operation| &operation.outcomes)
        .filter(|it| it.outcome == bourse_record::Outcome::Failed)
        .map(|it| it.count)
        .sum();
    if failed > 0 {
        broke.push(format!("{failed} failed"));
    }
    match round.arrivals {
        Some(it) if it.due > 0 => {
            // A short round ends before a backlog that grows has reached the limits, so the pace itself is asked too: what
            // each user may have waiting at a chance moment, or a hundredth of all.
            let left = it.dropped + it.unstarted;
            if left > (it.due / 100).max(3 * users as u64) {
                broke.push(format!("{left} of {} that were due were not started", it.due));
            }
        }
        _ => broke.push("no transaction was due".to_owned()),
    }
    broke
}

/// Three figures: a rate that can be typed again.
fn significant(rate: f64) -> f64 {
    if rate <= 0.0 || !rate.is_finite() {
        return 0.0;
    }
    let unit = 10_f64.powf(rate.log10().floor() - 2.0);
    // Not by multiplication alone: 0.1 × 3 is not 0.3.
    format!("{:.6}", (rate / unit).round() * unit).parse().expect("it was just written as a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_can_be_typed_again() {
        for (rate, typed) in [(271.828, 272.0), (0.031_415_9, 0.0314), (9_999.0, 10_000.0), (0.0, 0.0), (1.0, 1.0)] {
            assert_eq!(significant(rate), typed);
        }
    }
}
