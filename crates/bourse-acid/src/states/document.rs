//! The results of the enumeration, in the form of `crash.json`.

use super::case::StateCase;
use super::record::RecordedCase;
use bourse_crash::{CrashFault, Exploration, FailedState, Promise, RecoveryOutcome};
use bourse_record::crash::{Example, Guarantee, InterruptedRecoveries, PlantedRow, StatesRow};

/// Guarantee of the document for a promise.
const fn guarantee(promise: Promise) -> Guarantee {
    match promise {
        Promise::Nothing => Guarantee::Nothing,
        Promise::Whole => Guarantee::Whole,
        Promise::Everything => Guarantee::Everything,
    }
}

/// Description of a state's outcome, and whether it violates the promise.
pub(super) fn judged(outcome: &RecoveryOutcome, acknowledged: u64, promise: Promise) -> (String, bool) {
    match outcome {
        RecoveryOutcome::Corrupted { found } => (format!("corrupted: {found}"), promise != Promise::Nothing),
        RecoveryOutcome::Whole { commits } if *commits < acknowledged => {
            let lost = acknowledged - commits;
            (format!("{lost} of {acknowledged} acknowledged commits lost"), promise == Promise::Everything)
        }
        RecoveryOutcome::Whole { commits } => (format!("whole, with {commits} commits"), false),
    }
}

/// Describes a failure in a case's trace; `prefix` names the recovery in which it happened.
pub(super) fn example(case: &StateCase, promise: Promise, prefix: &str, failure: &FailedState) -> Example {
    let (found, broken) = judged(&failure.outcome, failure.acknowledged, promise);
    let state = format!("{case}/{prefix}{}", failure.id);
    Example { state, acknowledged: failure.acknowledged, found, broken, repeats: None, minimal: Vec::new() }
}

/// First failures of each kind, those that violate the promise first.
pub(super) fn failures(explored: &Exploration) -> Vec<&FailedState> {
    let mut failures: Vec<_> = explored.broken.iter().collect();
    for failure in [&explored.corrupted, &explored.lossy].into_iter().flatten() {
        if failures.iter().all(|known| known.id != failure.id) {
            failures.push(failure);
        }
    }
    failures
}

/// Row of a case whose states were tried.
pub(super) fn states_row(
    case: &StateCase,
    recorded: &RecordedCase,
    explored: &Exploration,
    took_s: f64,
    recovery: Option<InterruptedRecoveries>,
    examples: Vec<Example>,
) -> StatesRow {
    let (class, trace) = (&recorded.class, &recorded.trace);
    let counts = explored.counts;
    let acknowledged = |operation: &bourse_crash::FileOperation| match operation {
        bourse_crash::FileOperation::Acknowledged(number) => Some(*number),
        _ => None,
    };
    StatesRow {
        case: case.to_string(),
        device: case.device.title.to_owned(),
        class: class.class,
        class_reason: class.reason.clone(),
        promised: guarantee(recorded.promise),
        commits: trace.operations.iter().filter_map(acknowledged).max().unwrap_or(0),
        operations: trace.operations.len() as u64,
        syncs: trace.syncs() as u64,
        points: counts.points,
        exhaustive_points: counts.exhaustive,
        states: counts.states,
        distinct: counts.distinct,
        took_s,
        lossy: counts.lossy,
        most_lost: counts.most_lost,
        corrupted: counts.corrupted,
        broken: counts.broken,
        recovery,
        examples,
    }
}

/// Row of a fault that was planted once.
pub(super) fn planted_row(
    case: &str,
    fault: CrashFault,
    explored: &Exploration,
    example: Option<Example>,
) -> PlantedRow {
    PlantedRow {
        fault: fault.words(),
        case: case.to_owned(),
        runs: 1,
        found: u32::from(explored.counts.broken > 0),
        states: explored.counts.states,
        broken: explored.counts.broken,
        example,
    }
}

/// Rows of several runs, merged by case and fault.
pub(super) fn merged(runs: Vec<Vec<PlantedRow>>) -> Vec<PlantedRow> {
    let mut rows: Vec<PlantedRow> = Vec::new();
    for row in runs.into_iter().flatten() {
        match rows.iter_mut().find(|known| known.fault == row.fault && known.case == row.case) {
            Some(known) => {
                known.runs += row.runs;
                known.found += row.found;
                known.states += row.states;
                known.broken += row.broken;
            }
            None => rows.push(row),
        }
    }
    rows
}
