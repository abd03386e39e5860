//! Meaning of a run file, worked out once for all outputs: figures over all rounds, their validity, rules met.

mod case;
mod checks;
mod cost;
mod limits;
mod operation;
mod quantiles;
mod rules;
mod statements;
mod status;
mod storage;
mod time_split;
mod validity;
mod verdict;
mod waits;

pub use bourse_record::{Latency, LatencyClock, Quantile};
pub use case::{CaseView, values};
pub use checks::checks_words;
pub use operation::{OperationView, ServerTimeSplit, outcome_word};
pub use quantiles::{QUANTILES, RoundQuantiles, of_round, over_rounds};
pub use rules::{RuleStatus, not_tpce, rules};
pub use statements::{ComparedPlans, hints, is_named_by_statement, statements};
pub use status::meaning;
pub use storage::{storage_words, sync_words};
pub use time_split::{RoleSplit, TimePart, not_available, roles};
pub use validity::{FigureValidity, Remark, SearchAnswer};
pub use verdict::{CaseVerdict, verdicts};
pub use waits::latency_case;

use crate::units;
use bourse_record::{
    Case, Engine, Interference, IsolationLevel, OperationIsolation, Round, RunFile, Warning, WriterWait,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The notices that every report must have, each once.
pub fn notices(file: &RunFile) -> Vec<&str> {
    let mut notices: Vec<&str> = Vec::new();
    // A brokerage run has the notice even if its file lacks it.
    let of_cases = file.cases.iter().map(|case| case.workload.notice.as_deref().or(case.workload.kind.notice()));
    for notice in of_cases.chain([file.notice.as_deref()]).flatten() {
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    notices
}

/// Every warning of a run with its advice, a sentence each; those of rounds with their place before them.
pub fn warnings(file: &RunFile) -> Vec<String> {
    let mut all = warnings_of_the_request(file);
    all.extend(warnings_of_others(file));
    all.extend(other_warnings(file));
    all
}

/// The warnings that something other than what was requested was measured.
pub fn warnings_of_the_request(file: &RunFile) -> Vec<String> {
    of_rounds(file, Warning::is_of_the_request)
}

/// The warnings that other processes or the host took CPUs: those of rounds first.
pub fn warnings_of_others(file: &RunFile) -> Vec<String> {
    let mut all = of_rounds(file, Warning::is_of_others);
    all.extend(file.warnings.iter().filter(|it| it.is_of_others()).map(warning));
    all
}

/// All but those two kinds.
pub fn other_warnings(file: &RunFile) -> Vec<String> {
    let mut all = of_run(file);
    for case in &file.cases {
        let (void, others): (Vec<_>, Vec<_>) = case.set_aside.iter().partition(|round| round.void.is_some());
        let (disturbed, partners): (Vec<_>, Vec<_>) = others.into_iter().partition(|round| round.is_disturbed());
        let rounds = |rounds: &[&Round]| units::counted(rounds.len() as u64, "round", "rounds");
        if !disturbed.is_empty() {
            let most =
                |of: fn(&Round) -> Option<f64>| disturbed.iter().filter_map(|round| of(round)).fold(0.0, f64::max);
            let (taken, slowdown) = (most(|round| Some(round.cpus_taken())), most(|round| round.slowdown));
            let how = match taken > Interference::NOTICED {
                true => format!("they took up to {taken:.2} CPUs"),
                false => format!("a fixed CPU loop took up to {slowdown:.1}× its best time"),
            };
            let rounds = rounds(&disturbed);
            all.push(format!("{}: repeated because others disturbed it: {rounds}; {how}", case.label));
        }
        if !partners.is_empty() {
            all.push(format!("{}: repeated with the other round of its pair: {}", case.label, rounds(&partners)));
        }
        if !void.is_empty() {
            all.push(format!("{}: repeated because nothing ended in it: {}", case.label, rounds(&void)));
        }
    }
    all.extend(of_rounds(file, |warning| !warning.is_of_the_request() && !warning.is_of_others()));
    all
}

/// The warnings of the run as a whole, without those that others took CPUs; what an engine says of several targets once.
fn of_run(file: &RunFile) -> Vec<String> {
    let named = file.warnings.iter().filter(|it| !it.is_of_others()).map(|it| match it {
        Warning::Engine { target, text } if !target.is_empty() => (text.clone(), Some(target.as_str())),
        other => (warning(other), None),
    });
    let with_targets = |(text, targets): (String, Vec<Option<&str>>)| {
        let targets: Vec<&str> = targets.into_iter().flatten().collect();
        if targets.is_empty() { text } else { format!("{}: {text}", targets.join(", ")) }
    };
    bourse_stats::grouped(named).into_iter().map(with_targets).collect()
}

/// The warnings of rounds, each once for a case, with the number of its rounds that have it if several do.
fn of_rounds(file: &RunFile, which: impl Fn(&Warning) -> bool) -> Vec<String> {
    let mut all = Vec::new();
    for case in &file.cases {
        let numbered =
            case.rounds.iter().zip(1..).flat_map(|(round, at)| round.warnings.iter().map(move |it| (it, at)));
        let found = numbered.filter(|(it, _)| which(it)).map(|(it, at)| match it.cpus_taken() {
            // CPUs that others took are another number in each round.
            Some(cpus) => ((std::mem::discriminant(it), String::new()), (cpus, at, warning(it))),
            None => ((std::mem::discriminant(it), warning(it)), (0.0, at, warning(it))),
        });
        for (_, mut rounds) in bourse_stats::grouped(found) {
            rounds.sort_by(|one, other| other.0.total_cmp(&one.0));
            let Some((cpus, most_in, text)) = rounds.first().cloned() else { continue };
            let round = match (case.rounds.len(), rounds.len()) {
                (1, _) => String::new(),
                (_, 1) => format!("round {most_in}"),
                (all, several) if cpus > 0.0 => format!("{several} of {all} rounds, most in round {most_in}"),
                (all, several) => format!("{several} of {all} rounds"),
            };
            let label = if file.cases.len() > 1 { case.label.as_str() } else { "" };
            let place: Vec<&str> = [label, &round].into_iter().filter(|it| !it.is_empty()).collect();
            all.push(if place.is_empty() { text } else { format!("{}: {text}", place.join(", ")) });
        }
    }
    all
}

/// Isolation levels of a case, the highest first, each with its operations; a single common level without them.
pub fn isolation_words(levels: &[OperationIsolation]) -> String {
    let mut by_level: BTreeMap<Reverse<IsolationLevel>, Vec<&str>> = BTreeMap::new();
    for it in levels {
        by_level.entry(Reverse(it.provided)).or_default().push(&it.operation);
    }
    if let (1, Some((level, _))) = (by_level.len(), by_level.first_key_value()) {
        return format!("{} throughout", level.0.name());
    }
    let words = by_level.iter().map(|(level, operations)| format!("{}: {}", level.0.name(), operations.join(", ")));
    units::printable(&words.collect::<Vec<_>>().join("; "))
}

/// The operations that get a lower level than they demand, with both levels; `None` if all get what they demand.
pub fn isolation_not_given(levels: &[OperationIsolation]) -> Option<String> {
    let short = levels.iter().filter(|it| it.provided < it.demanded);
    let short: Vec<String> =
        short.map(|it| format!("{} {} instead of {}", it.operation, it.provided.name(), it.demanded.name())).collect();
    (!short.is_empty()).then(|| units::printable(&short.join(", ")))
}

/// An engine and its version, with the arrangements that its figures depend on.
pub fn engine_words(engine: &Engine) -> String {
    let name = format!("{} {}", engine.name, engine.version);
    engine.arrangements().fold(name, |words, arrangement| format!("{words} · {arrangement}"))
}

/// Description of a case's engine, and of the processes that its users are in.
pub fn case_words(case: &Case) -> String {
    let words = engine_words(&case.engine);
    match (case.conditions.processes.len(), case.engine.writer_wait) {
        (0, _) => words,
        (processes, None | Some(WriterWait::EngineLocks)) => format!("{words} · users in {processes} processes"),
        // The arrangement between writers holds within a process.
        (processes, Some(_)) => {
            format!("{words} · in each of {processes} processes, between which the engine's lock decides")
        }
    }
}

/// A warning with its advice.
pub fn warning(warning: &Warning) -> String {
    warning.advice().map_or_else(|| warning.to_string(), |advice| format!("{warning}; {advice}"))
}
