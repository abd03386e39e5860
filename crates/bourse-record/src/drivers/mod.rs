//! Merges rounds that several drivers shared: rates added, histograms merged, series aligned. Drivers are those of a server,
//! those that one of them coordinates, or the processes of one machine over which a run shares out its users.
//!
//! | file | merges |
//! |---|---|
//! | `round` | a round: of drivers, of processes |
//! | `operation` | the figures of an operation |
//! | `series` | values over time |
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

mod operation;
mod round;
mod series;

pub use round::of_processes;
pub use series::both_rows;

use crate::{Case, Conditions, HistogramError, NameValue, RunFile, SharedRound, Warning};
use round::one_round;
use thiserror::Error;

/// Reason that runs cannot be merged.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MergeError {
    /// One of the runs is not a driver's part of shared rounds.
    #[error("{run} is no part of a round that drivers shared, and {other} is")]
    Whole {
        /// One run, by its start time.
        run: String,
        /// Another of the runs, by its start time.
        other: String,
    },
    /// The runs are parts of different rounds.
    #[error("{run} and {other} are drivers of different rounds: {mine} and {theirs}")]
    OtherRound {
        /// One run, by its start time.
        run: String,
        /// The other run.
        other: String,
        /// Names of its rounds.
        mine: String,
        /// Names of the other run's rounds.
        theirs: String,
    },
    /// A driver has two runs of one round.
    #[error("driver {number}/{of} of round {round} is given twice")]
    Twice {
        /// Number of the driver.
        number: u32,
        /// Number of drivers.
        of: u32,
        /// Name of the round.
        round: String,
    },
    /// The run of a driver that finished is missing.
    #[error(
        "driver {number}/{of} of round {round} is missing: it came to the end, and its figures belong to the round's"
    )]
    Missing {
        /// Number of the driver.
        number: u32,
        /// Number of drivers.
        of: u32,
        /// Name of the round.
        round: String,
    },
    /// A histogram cannot be read.
    #[error("{operation}: {cause}")]
    Histogram {
        /// Name of the operation.
        operation: String,
        /// Error of the histogram.
        cause: HistogramError,
    },
}

/// Whether a run is one driver's part of shared rounds.
pub fn is_part(run: &RunFile) -> bool {
    run.cases.iter().flat_map(|case| &case.rounds).filter_map(|round| round.shared.as_ref()).any(SharedRound::is_part)
}

/// Merges drivers' runs to one run with one figure for each round. The run of a driver that vanished may be missing; a
/// warning reports it.
///
/// # Errors
/// [`MergeError`], with the runs concerned.
///
/// # Panics
/// Panics if `runs` is empty.
pub fn together(mut runs: Vec<RunFile>) -> Result<RunFile, MergeError> {
    let names = |run: &RunFile| -> Vec<String> {
        let rounds = run.cases.iter().flat_map(|case| &case.rounds);
        rounds.map(|round| round.shared.as_ref().map_or_else(String::new, |shared| shared.round.clone())).collect()
    };
    let number = |run: &RunFile| {
        let mut rounds = run.cases.iter().flat_map(|case| &case.rounds);
        rounds.find_map(|round| round.shared.as_ref()).map_or(0, |shared| shared.number)
    };
    runs.sort_by_key(number);
    let (first, others) = runs.split_first().expect("who puts runs together has some");
    for run in others.iter().chain([first]) {
        let part = |run: &RunFile| {
            run.cases
                .iter()
                .flat_map(|case| &case.rounds)
                .all(|it| it.shared.as_ref().is_some_and(SharedRound::is_part))
        };
        if let Some(whole) = [run, first].into_iter().find(|run| !part(run)) {
            let other = [first, run].into_iter().find(|run| part(run)).unwrap_or(first);
            return Err(MergeError::Whole {
                run: whole.provenance.started_at.clone(),
                other: other.provenance.started_at.clone(),
            });
        }
        let (mine, theirs) = (names(run), names(first));
        let shape = |run: &RunFile| run.cases.iter().map(|case| case.rounds.len()).collect::<Vec<_>>();
        if mine != theirs || shape(run) != shape(first) {
            return Err(MergeError::OtherRound {
                run: run.provenance.started_at.clone(),
                other: first.provenance.started_at.clone(),
                mine: mine.join(", "),
                theirs: theirs.join(", "),
            });
        }
    }
    // Each driver has waited for the others.
    let mut whole = RunFile { time_spent: None, ..first.clone() };
    for (at, case) in whole.cases.iter_mut().enumerate() {
        let parts: Vec<&Case> = runs.iter().filter_map(|run| run.cases.get(at)).collect();
        one_case(case, &parts)?;
    }
    for run in others {
        whole.interrupted |= run.interrupted;
        whole.warnings.extend(run.warnings.iter().cloned());
        if run.provenance.machine.system != first.provenance.machine.system
            || run.provenance.machine.processor != first.provenance.machine.processor
        {
            whole.warnings.push(Warning::DifferentMachines { processor: run.provenance.machine.processor.clone() });
        }
    }
    remove_duplicates(&mut whole.warnings);
    let seeds: Vec<String> = runs.iter().map(|run| run.provenance.seed.to_string()).collect();
    if seeds.iter().any(|seed| Some(seed) != seeds.first()) {
        let seeds = NameValue::new("seeds of the drivers", seeds.join("; "));
        whole.cases.iter_mut().for_each(|case| case.workload.parameters.push(seeds.clone()));
    }
    Ok(whole)
}

/// Removes repeated warnings and preserves the order.
pub fn remove_duplicates(warnings: &mut Vec<Warning>) {
    let mut seen: Vec<Warning> = Vec::with_capacity(warnings.len());
    for warning in warnings.drain(..) {
        if !seen.contains(&warning) {
            seen.push(warning);
        }
    }
    *warnings = seen;
}

/// Turns `case`, the first of the parts, into the merged case.
fn one_case(case: &mut Case, parts: &[&Case]) -> Result<(), MergeError> {
    case.workload.nominal = parts.iter().map(|part| part.workload.nominal).sum();
    for parameter in &mut case.workload.parameters {
        let values: Vec<&str> =
            parts.iter().filter_map(|part| value(&part.workload.parameters, &parameter.name)).collect();
        parameter.value = one_value(&values);
    }
    let conditions = |of: fn(&Conditions) -> Option<u64>| {
        parts.iter().filter_map(|part| of(&part.conditions)).reduce(u64::saturating_add)
    };
    case.conditions.users = conditions(|it| it.users);
    case.conditions.further_users = conditions(|it| it.further_users);
    case.conditions.requested_rate =
        parts.iter().filter_map(|part| part.conditions.requested_rate).reduce(|sum, rate| sum + rate);
    for (at, round) in case.rounds.iter_mut().enumerate() {
        one_round(round, &parts.iter().filter_map(|part| part.rounds.get(at)).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn value<'v>(values: &'v [NameValue], name: &str) -> Option<&'v str> {
    values.iter().find(|value| value.name == name).map(|value| value.value.as_str())
}

/// Values joined for display; a value that all share appears once.
fn one_value(values: &[&str]) -> String {
    match values {
        [first, others @ ..] if others.iter().all(|other| other == first) => (*first).to_owned(),
        _ => values.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_said_once_where_they_are_the_same() {
        assert_eq!(one_value(&["2000", "2000"]), "2000");
        assert_eq!(one_value(&["1", "2"]), "1; 2");
    }
}
