//! The exit code for a run's figures.

use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::output::line_width;
use crate::plan::{OnFailure, Plan};
use bourse_record::{Case, Check, CheckStatus, Outcome, Round, RunFile, Search, Steadiness, Steady, WorkloadKind};
use bourse_verdict::view::warnings_of_others;

/// Failed operations allowed in a round: none.
const ALLOWED_FAILURES: u64 = 0;

/// Fails if a check failed, by the failure that ended the run, if operations failed, the run was interrupted, a search has no
/// answer, a round has no figure, or a required steady state was not shown; in that order.
pub(crate) fn verdict(file: &RunFile, plan: &Plan, outcome: Result<()>) -> Result<()> {
    let rounds = file.cases.iter().flat_map(|case| case.rounds.iter().map(move |round| (&*case.label, round)));
    let rounds = rounds.flat_map(|(case, round)| round.with_latency().map(move |round| (case, round)));
    if let Some(failure) = failed_checks(rounds) {
        return Err(match outcome {
            Ok(()) => failure,
            Err(ended) => failure.detail("and", ended.line()),
        });
    }
    outcome?;
    if let Some(failed) = failed_operations(file) {
        return Err(failed);
    }
    if file.interrupted {
        return Err(interrupt::interrupted("what was measured until then is reported"));
    }
    if let Some(case) = file.cases.iter().find(|case| case.search.as_ref().is_some_and(|search| !search.confirmed)) {
        if let Some(undetermined) = case.search.as_ref().and_then(Search::undetermined) {
            let what = format!("{}: the rounds are too short to tell whether a rate meets every limit", case.label);
            return Err(Failure::new(Exit::Inconclusive, what).detail("too few", undetermined));
        }
        let failure = match case.rounds.is_empty() {
            true => Failure::new(Exit::Target, "found no rate that meets every response-time limit"),
            false => {
                Failure::new(Exit::Target, format!("{}: no rate met every limit in a round of full length", case.label))
            }
        };
        // Others may have kept the target from every rate.
        let disturbed = warnings_of_others(file).into_iter().take(1);
        let lower = plan.cases().find_map(|case| case.job.search()).map(|search| search.hint.to_owned());
        return Err(disturbed.chain(lower).fold(failure, Failure::hint));
    }
    // Where a failed case is left out, the others have their figures without it, as without one that has none.
    let has_figure = |case: &Case| !case.rounds.is_empty() && case.rounds.iter().all(|round| round.void.is_none());
    let is_left_out = plan.on_failure == OnFailure::LeaveOutCase && file.cases.iter().any(has_figure);
    let judged = file.cases.iter().filter(|_| !is_left_out);
    let mut rounds = judged.flat_map(|case| case.rounds.iter().map(move |round| (case, round)));
    if let Some((case, round, why)) = rounds.find_map(|(case, round)| Some((case, round, round.void.as_deref()?))) {
        let what = format!("no figure of {} on {}", case.workload.name, case.engine.target);
        let failure = Failure::new(Exit::Usage, what).detail("cause", why);
        return Err(match round.headline_valid(&case.workload) {
            0 => failure.hint("a longer --for, fewer users or rows, or a higher --rate"),
            _ => failure,
        });
    }
    steady(file, plan)
}

/// Failure of rounds of which checks failed, each with the label of its case: with what the first failed check of a case found, of
/// several cases the beginning of it.
pub(super) fn failed_checks<'r>(rounds: impl Iterator<Item = (&'r str, &'r Round)>) -> Option<Failure> {
    /// Lines of what was found in each of several cases.
    const LINES: usize = 2;
    let (mut names, mut first): (Vec<&str>, Vec<(&str, &Check)>) = Default::default();
    let checks = rounds.flat_map(|(case, round)| round.checks.iter().map(move |check| (case, check)));
    for (case, check) in checks.filter(|(_, check)| check.status == CheckStatus::Failed) {
        if !names.contains(&&*check.name) {
            names.push(&check.name);
        }
        if first.iter().all(|(known, _)| *known != case) {
            first.push((case, check));
        }
    }
    let failure = Failure::new(Exit::Check, "the figures are void: checks of the database failed");
    let failure = failure.detail("failed", names.join(", "));
    let width = line_width() - 4;
    let found = |check: &Check, most: usize| {
        let lines = check.evidence.lines().take(most).map(|line| match line.chars().count() {
            wide if wide > width => bourse_report::fill(line, width, 2),
            _ => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    match &first[..] {
        [] => None,
        [(_, check)] => Some(failure.detail("found", found(check, usize::MAX))),
        several => {
            let of_case = |failure: Failure, (case, check): &(&str, &Check)| {
                failure.detail(format!("{case}, {}", check.name), found(check, LINES))
            };
            Some(several.iter().fold(failure, of_case).hint("-v and the report show all that was found"))
        }
    }
}

/// Fails if a round that must be steady by the plan was not shown to be in steady state; an undetermined one was not shown
/// to be. Rounds that end by their work are exempt.
pub(crate) fn steady(file: &RunFile, plan: &Plan) -> Result<()> {
    let mut unsteady = Vec::new();
    let asked = |case: &&Case| plan.demands_steadiness(&case.label) && case.workload.may_be_steady();
    for case in file.cases.iter().filter(asked) {
        for (at, round) in case.rounds.iter().enumerate() {
            let found = Steadiness::of(round, &case.workload);
            if found.steady != Steady::Yes {
                let (word, evidence) = (found.steady.name(), found.evidence());
                unsteady.push(format!("{}, round {}: {word}; {evidence}", case.label, at + 1));
            }
        }
    }
    if unsteady.is_empty() {
        return Ok(());
    }
    let takes_until =
        plan.compares.is_none() && file.cases.iter().all(|it| it.workload.kind == WorkloadKind::Brokerage);
    let hint = match takes_until {
        true => "--until-steady 5m measures until steadiness is decided; or use a longer --warmup, or a longer --for",
        false => "use a longer --warmup, or a longer --for",
    };
    let failure = Failure::new(Exit::NotSteady, "no steady state shown, as --require-steady demands");
    Err(failure.detail("found", unsteady.join("\n")).hint(hint))
}

/// Failure of a run with more failed operations than allowed, with an example of each case; with the reason of a round that
/// has no figure for it.
fn failed_operations<'f>(file: &'f RunFile) -> Option<Failure> {
    let of_case = |case: &'f Case| case.rounds.iter().flat_map(Round::with_latency).map(move |round| (case, round));
    let rounds = || file.cases.iter().flat_map(of_case);
    let mut found = Vec::new();
    let mut void = None;
    for (case, round) in rounds().filter(|(_, round)| round.failed() > ALLOWED_FAILURES) {
        void = void.or(round.void.as_deref());
        for operation in &round.operations {
            let failed = || operation.outcomes.iter().filter(|it| it.outcome == Outcome::Failed);
            let count: u64 = failed().map(|it| it.count).sum();
            if count > 0 {
                let example = failed().find_map(|it| it.example.as_deref()).unwrap_or("no example was kept");
                found.push(format!("{}: {count} of {}, as {example}", case.label, operation.name));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let all: u64 = rounds().map(|(_, round)| round.failed()).sum();
    let operations = if all == 1 { "operation" } else { "operations" };
    let failure =
        Failure::new(Exit::Target, format!("{all} {operations} failed: at most {ALLOWED_FAILURES} are allowed"))
            .detail("failed", found.join("\n"));
    Some(match void {
        Some(why) => failure.detail("no figure", why),
        None => failure,
    })
}
