//! Merges runs of several drivers that shared rounds on a server: rates added, histograms merged, series aligned.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{
    Arrivals, Case, Check, Column, Conditions, Distribution, HistogramError, NameValue, Operation, Outcome,
    OutcomeCount, OutcomeLatency, Round, RunFile, Series, ServerFigures, SharedRound, TimeSplit, Times, UnderWay,
    Warning,
};
use std::collections::BTreeSet;
use thiserror::Error;

/// Reason that runs cannot be merged.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NotTogether {
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
    run.cases.iter().flat_map(|case| &case.rounds).filter_map(|round| round.shared.as_ref()).any(is_share)
}

fn is_share(shared: &SharedRound) -> bool {
    shared.of > 1 && shared.number > 0
}

/// Merges drivers' runs to one run with one figure for each round. The run of a driver that vanished may be missing; a
/// warning reports it.
///
/// # Errors
/// [`NotTogether`], with the runs concerned.
///
/// # Panics
/// Panics if `runs` is empty.
pub fn together(mut runs: Vec<RunFile>) -> Result<RunFile, NotTogether> {
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
            run.cases.iter().flat_map(|case| &case.rounds).all(|it| it.shared.as_ref().is_some_and(is_share))
        };
        if let Some(whole) = [run, first].into_iter().find(|run| !part(run)) {
            let other = [first, run].into_iter().find(|run| part(run)).unwrap_or(first);
            return Err(NotTogether::Whole {
                run: whole.provenance.started_at.clone(),
                other: other.provenance.started_at.clone(),
            });
        }
        let (mine, theirs) = (names(run), names(first));
        let shape = |run: &RunFile| run.cases.iter().map(|case| case.rounds.len()).collect::<Vec<_>>();
        if mine != theirs || shape(run) != shape(first) {
            return Err(NotTogether::OtherRound {
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
    each_once(&mut whole.warnings);
    let seeds: Vec<String> = runs.iter().map(|run| run.provenance.seed.to_string()).collect();
    if seeds.iter().any(|seed| Some(seed) != seeds.first()) {
        let seeds = NameValue { name: "seeds of the drivers".to_owned(), value: seeds.join("; ") };
        whole.cases.iter_mut().for_each(|case| case.workload.parameters.push(seeds.clone()));
    }
    Ok(whole)
}

/// Removes repeated warnings and preserves the order.
pub fn each_once(warnings: &mut Vec<Warning>) {
    let mut seen: Vec<Warning> = Vec::with_capacity(warnings.len());
    for warning in warnings.drain(..) {
        if !seen.contains(&warning) {
            seen.push(warning);
        }
    }
    *warnings = seen;
}

/// Turns `case`, the first of the parts, into the merged case.
fn one_case(case: &mut Case, parts: &[&Case]) -> Result<(), NotTogether> {
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

/// Turns `round`, the first of the parts, into the merged round.
fn one_round(round: &mut Round, parts: &[&Round]) -> Result<(), NotTogether> {
    let shared: Vec<&SharedRound> = parts.iter().filter_map(|part| part.shared.as_ref()).collect();
    let Some((name, of)) = shared.first().map(|first| (first.round.clone(), first.of)) else { return Ok(()) };
    let mut vanished: Vec<u32> = shared.iter().flat_map(|shared| &shared.vanished).copied().collect();
    vanished.sort_unstable();
    vanished.dedup();
    let mut warnings = Vec::new();
    for number in 1..=of {
        match shared.iter().filter(|shared| shared.number == number).count() {
            1 => {}
            0 if vanished.contains(&number) => {}
            0 => return Err(NotTogether::Missing { number, of, round: name }),
            _ => return Err(NotTogether::Twice { number, of, round: name }),
        }
    }
    let longest = parts.iter().map(|part| part.measured_s).fold(0.0, f64::max);
    let shortest = parts.iter().map(|part| part.measured_s).fold(f64::INFINITY, f64::min);
    if longest - shortest > 0.01 * longest + 0.1 {
        warnings.push(Warning::DifferentLengths { shortest_s: shortest, longest_s: longest });
    }
    round.measured_s = longest;
    round.headline = parts.iter().map(|part| part.headline).sum();
    round.cpu_user_s = parts.iter().map(|part| part.cpu_user_s).sum();
    round.cpu_system_s = parts.iter().map(|part| part.cpu_system_s).sum();
    round.read_bytes = total(parts, |part| part.read_bytes);
    round.written_bytes = total(parts, |part| part.written_bytes);
    for operation in &mut round.operations {
        let same: Vec<&Operation> =
            parts.iter().flat_map(|part| &part.operations).filter(|other| other.name == operation.name).collect();
        let name = operation.name.clone();
        one_operation(operation, &same).map_err(|cause| NotTogether::Histogram { operation: name, cause })?;
    }
    round.arrivals = parts.iter().filter_map(|part| part.arrivals).reduce(both);
    // The steps of several drivers do not end together.
    round.fine_series = Series::default();
    round.series = one_series(&parts.iter().map(|part| &part.series).collect::<Vec<_>>());
    // Drivers began at different moments: sums of their rows would be the throughput of no moment.
    round.throughput_series = Series::default();
    round.response_map = None;
    round.time_split = TimeSplit::merged(parts.iter().map(|part| part.time_split.as_ref()));
    let who: Vec<String> = shared.iter().map(|shared| format!("driver {}/{}", shared.number, shared.of)).collect();
    round.facts = facts(parts, &who);
    round.checks = checks(parts);
    round.void = parts.iter().find_map(|part| part.void.clone());
    for (part, shared) in parts.iter().zip(&shared) {
        for warning in &part.warnings {
            let everywhere = parts.iter().all(|part| part.warnings.contains(warning));
            let of_driver = || Warning::Driver { number: shared.number, of, warning: Box::new(warning.clone()) };
            let said = if everywhere { warning.clone() } else { of_driver() };
            if !warnings.contains(&said) {
                warnings.push(said);
            }
        }
    }
    round.warnings = warnings;
    round.shared = Some(SharedRound { round: name, number: 0, of, vanished });
    Ok(())
}

/// Checks of the database, which the server made once for all drivers, and each driver's checks of its own figures.
fn checks(parts: &[&Round]) -> Vec<Check> {
    let of_database = |part: &&Round| part.checks.iter().filter(|check| check.is_of_database()).cloned().collect();
    let of_figures = parts.iter().flat_map(|part| &part.checks).filter(|check| !check.is_of_database()).cloned();
    let once: Vec<Check> = parts.iter().map(of_database).find(|checks: &Vec<_>| !checks.is_empty()).unwrap_or_default();
    of_figures.chain(once).collect()
}

/// Sum of a count over the parts, saturating at `u64::MAX`.
pub(crate) fn total<P>(parts: &[&P], of: impl Fn(&P) -> u64) -> u64 {
    parts.iter().map(|part| of(part)).fold(0, u64::saturating_add)
}

/// Turns `operation`, the first of the parts, into the merged operation.
pub(crate) fn one_operation(operation: &mut Operation, parts: &[&Operation]) -> Result<(), HistogramError> {
    let mut outcomes: Vec<OutcomeCount> = Vec::new();
    for outcome in parts.iter().flat_map(|part| &part.outcomes) {
        match outcomes.iter_mut().find(|known| (known.outcome, known.code) == (outcome.outcome, outcome.code)) {
            Some(known) => {
                known.count = known.count.saturating_add(outcome.count);
                known.example = known.example.take().or_else(|| outcome.example.clone());
            }
            None => outcomes.push(outcome.clone()),
        }
    }
    outcomes.sort_by_key(|outcome| (std::cmp::Reverse(outcome.count), outcome.outcome, outcome.code));
    operation.outcomes = outcomes;
    operation.retries = total(parts, |part| part.retries);
    operation.round_trips = total(parts, |part| part.round_trips);
    operation.late = total(parts, |part| part.late);
    operation.samples = total(parts, |part| part.samples);
    operation.untimed = total(parts, |part| part.untimed);
    let expected: Vec<f64> = parts.iter().filter_map(|part| part.mix_expected_percent).collect();
    operation.mix_expected_percent =
        (!expected.is_empty()).then(|| expected.iter().sum::<f64>() / expected.len() as f64);
    operation.mix_tolerance_points = parts.iter().filter_map(|part| part.mix_tolerance_points).reduce(f64::max);
    operation.response = Distribution::merged(parts.iter().map(|part| &part.response))?;
    operation.service = Distribution::merged(parts.iter().map(|part| &part.service))?;
    // Without the times of all failed operations these cannot be separated.
    let has_failed = |part: &&&Operation| part.outcomes.iter().any(|it| it.outcome == Outcome::Failed && it.count > 0);
    let failed: Option<Vec<&Times>> = parts.iter().filter(has_failed).map(|part| part.failed.as_ref()).collect();
    operation.failed = match failed.as_deref() {
        None | Some([]) => None,
        Some(failed) => Some(Times {
            response: Distribution::merged(failed.iter().map(|it| &it.response))?,
            service: Distribution::merged(failed.iter().map(|it| &it.service))?,
        }),
    };
    operation.under_way = under_way(&parts.iter().filter_map(|part| part.under_way.as_ref()).collect::<Vec<_>>())?;
    let servers: Vec<&ServerFigures> = parts.iter().filter_map(|part| part.server.as_ref()).collect();
    if !servers.is_empty() {
        operation.server = Some(ServerFigures {
            server: Distribution::merged(servers.iter().map(|it| &it.server))?,
            engine: Distribution::merged(servers.iter().map(|it| &it.engine))?,
            network: Distribution::merged(servers.iter().map(|it| &it.network))?,
        });
    }
    operation.by_outcome = by_outcome(parts)?;
    Ok(())
}

/// Times of each outcome over all drivers; empty if a file lacks the histograms, since quantiles cannot be merged.
fn by_outcome(parts: &[&Operation]) -> Result<Vec<OutcomeLatency>, HistogramError> {
    if parts.iter().any(|part| part.by_outcome.is_empty() && part.response.summary.count > 0) {
        return Ok(Vec::new());
    }
    let mut merged = Vec::new();
    for outcome in Outcome::MEASURED {
        let occurred: Vec<(&Operation, &OutcomeLatency)> = parts
            .iter()
            .flat_map(|part| part.by_outcome.iter().filter(|it| it.outcome == outcome).map(move |it| (*part, it)))
            .collect();
        let whole: Option<Vec<[&Distribution; 2]>> = occurred.iter().map(|(part, it)| times_of(part, it)).collect();
        let Some(whole) = whole else { return Ok(Vec::new()) };
        if whole.is_empty() {
            continue;
        }
        let response = Distribution::merged(whole.iter().map(|[response, _]| *response))?;
        let service = Distribution::merged(whole.iter().map(|[_, service]| *service))?;
        let summaries = (response.summary, service.summary);
        merged.push(OutcomeLatency {
            outcome,
            response: summaries.0,
            service: summaries.1,
            times: (outcome != Outcome::Failed).then_some(Times { response, service }),
        });
    }
    // Those of a single outcome are the operation's.
    if let [only] = merged.as_mut_slice() {
        only.times = None;
    }
    Ok(merged)
}

/// Response and service times of an outcome of an operation, from whichever field holds them.
fn times_of<'p>(operation: &'p Operation, latency: &'p OutcomeLatency) -> Option<[&'p Distribution; 2]> {
    let both = |times: &'p Times| [&times.response, &times.service];
    match (operation.by_outcome.as_slice(), latency.outcome) {
        ([_], _) => Some([&operation.response, &operation.service]),
        (_, Outcome::Failed) => operation.failed.as_ref().map(both),
        _ => latency.times.as_ref().map(both),
    }
}

/// Operations still under way at the end, over all drivers.
fn under_way(parts: &[&UnderWay]) -> Result<Option<UnderWay>, HistogramError> {
    if parts.is_empty() {
        return Ok(None);
    }
    let unended: Vec<&Distribution> = parts.iter().filter_map(|part| part.unended.as_ref()).collect();
    Ok(Some(UnderWay {
        count: total(parts, |part| part.count),
        failed: total(parts, |part| part.failed),
        longest_ns: parts.iter().map(|part| part.longest_ns).fold(0, u64::max),
        unended: if unended.is_empty() { None } else { Some(Distribution::merged(unended)?) },
    }))
}

pub(crate) fn both(one: Arrivals, other: Arrivals) -> Arrivals {
    Arrivals {
        due: one.due.saturating_add(other.due),
        started: one.started.saturating_add(other.started),
        dropped: one.dropped.saturating_add(other.dropped),
        unstarted: one.unstarted.saturating_add(other.unstarted),
        backlog_limit: one.backlog_limit.saturating_add(other.backlog_limit),
        backlog_longest: one.backlog_longest.max(other.backlog_longest),
        unstarted_ns_longest: one.unstarted_ns_longest.max(other.unstarted_ns_longest),
        started_of_warm_up: one.started_of_warm_up.saturating_add(other.started_of_warm_up),
    }
}

/// Facts of the parts: those that all share once, others with the name of their part.
pub(crate) fn facts(parts: &[&Round], who: &[String]) -> Vec<NameValue> {
    let mut facts: Vec<NameValue> = Vec::new();
    for (part, who) in parts.iter().zip(who) {
        for fact in &part.facts {
            let everywhere = parts.iter().all(|part| part.facts.contains(fact));
            let fact = if everywhere {
                fact.clone()
            } else {
                NameValue { name: format!("{who}: {}", fact.name), ..fact.clone() }
            };
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
    }
    facts
}

/// Rule to combine values of several drivers at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// Sum, for shares of a whole: rates, waiting operations, a process's usage.
    Sum,
    /// Maximum, for quantiles, which cannot be added, and for properties of the one database and machine.
    Most,
}

fn join_of(name: &str) -> Join {
    let plain = name.split('.').next().unwrap_or(name);
    // Each driver sees the full counts of the server, and of a machine that drivers may share.
    const SEEN_BY_ALL: [&str; 4] = ["data_bytes", "log_bytes", "journal_bytes", "engine_memory_bytes"];
    const OF_THE_SERVER: [&str; 5] = ["machine_", "server_", "lock_", "cpu_others", "cpu_stolen"];
    let quantile = plain.starts_with("response_ns");
    if quantile || SEEN_BY_ALL.contains(&plain) || OF_THE_SERVER.iter().any(|of| plain.starts_with(of)) {
        return Join::Most;
    }
    Join::Sum
}

/// Merged series in rows of one second from the round's start, which is simultaneous for all drivers within a network
/// delay. A driver whose series ends earlier contributes nothing from there on; a second for which no driver has a row
/// is omitted.
pub(crate) fn one_series(parts: &[&Series]) -> Series {
    let second = |time: f64| time.round().max(1.0) as u64;
    let seconds: BTreeSet<u64> = parts.iter().flat_map(|series| &series.time_s).map(|time| second(*time)).collect();
    let mut names: Vec<&str> = Vec::new();
    for column in parts.iter().flat_map(|series| &series.columns) {
        if !names.contains(&column.metric.as_str()) {
            names.push(&column.metric);
        }
    }
    let value = |series: &Series, name: &str, at: u64| -> Option<f64> {
        let row = series.time_s.iter().position(|time| second(*time) == at)?;
        series.column(name)?.get(row).copied().flatten()
    };
    let columns = names.into_iter().map(|name| {
        let join = join_of(name);
        let values = seconds.iter().map(|&at| {
            let values = parts.iter().filter_map(|series| value(series, name, at));
            match join {
                Join::Sum => values.reduce(|sum, value| sum + value),
                Join::Most => values.reduce(f64::max),
            }
        });
        Column { metric: name.to_owned(), values: values.collect() }
    });
    Series { columns: columns.collect(), time_s: seconds.iter().map(|&at| at as f64).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OperationSpec, Recorder, Sample};

    fn series(rows: &[(f64, f64, f64)]) -> Series {
        let mut series = Series::default();
        for (time, rate, p90) in rows {
            let values = [("throughput", *rate), ("response_ns_p90", *p90), ("data_bytes", 7.0)];
            series.push(*time, values.map(|(name, value)| (name.to_owned(), Some(value))));
        }
        series
    }

    /// A recorder of operations with the given outcomes and times.
    fn recorder(ended: &[(Outcome, u64)]) -> Recorder {
        let mut recorder = Recorder::new([OperationSpec::new("work")].into(), |_| true);
        for &(outcome, end_ns) in ended {
            let (due_ns, start_ns, back_off_ns, retries, count, operation, code) = (0, end_ns / 2, 0, 0, 1, 0, 0);
            let server = None;
            let sample = Sample {
                due_ns,
                start_ns,
                end_ns,
                back_off_ns,
                retries,
                round_trips: 0,
                count,
                operation,
                outcome,
                code,
                server,
            };
            recorder.sample(&sample, true);
        }
        recorder
    }

    #[test]
    fn times_by_outcome_are_those_of_all_samples_together() {
        use Outcome::{Completed, Failed, RolledBack, Warned};
        for (one, other) in [
            (&[(Completed, 5_000), (RolledBack, 70), (Completed, 9_000)][..], &[(RolledBack, 900), (Warned, 40)][..]),
            (&[(Completed, 5_000), (Failed, 80_000)], &[(Completed, 300)]),
            (&[(Completed, 5_000), (Failed, 80_000)], &[(Failed, 300), (Warned, 7)]),
            (&[(Completed, 5)], &[(Completed, 7)]),
            (&[(Completed, 5)], &[]),
        ] {
            let parts = [one, other].map(|ended| recorder(ended).figures().remove(0));
            let mut merged = parts[0].clone();
            one_operation(&mut merged, &[&parts[0], &parts[1]]).unwrap();
            let mut whole = recorder(one);
            whole.merge(recorder(other));
            assert_eq!(merged, whole.figures().remove(0), "{one:?} {other:?}");
        }
        // A file with quantiles alone has none to merge.
        let parts = [
            recorder(&[(Completed, 5), (Warned, 7)]).figures().remove(0),
            recorder(&[(Warned, 5)]).figures().remove(0),
        ];
        let mut old = parts[0].clone();
        old.by_outcome.iter_mut().for_each(|it| it.times = None);
        let mut merged = old.clone();
        one_operation(&mut merged, &[&old, &parts[1]]).unwrap();
        assert_eq!(merged.by_outcome, []);
    }

    #[test]
    fn rates_are_added_and_quantiles_are_the_worst() {
        let one = series(&[(1.0, 10.0, 5.0), (2.0, 20.0, 6.0), (2.6, 1.0, 1.0)]);
        let other = series(&[(1.01, 1.0, 9.0), (2.02, 2.0, 4.0)]);
        let both = one_series(&[&one, &other]);
        assert_eq!(both.time_s, [1.0, 2.0, 3.0]);
        assert_eq!(both.column("throughput"), Some([Some(11.0), Some(22.0), Some(1.0)].as_slice()));
        assert_eq!(both.column("response_ns_p90"), Some([Some(9.0), Some(6.0), Some(1.0)].as_slice()));
        assert_eq!(both.column("data_bytes"), Some([Some(7.0), Some(7.0), Some(7.0)].as_slice()));
    }

    #[test]
    fn values_are_said_once_where_they_are_the_same() {
        assert_eq!(one_value(&["2000", "2000"]), "2000");
        assert_eq!(one_value(&["1", "2"]), "1; 2");
    }
}
