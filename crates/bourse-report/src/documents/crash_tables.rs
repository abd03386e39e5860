//! The cells of the tables of `crash.json`, the same in every form.

use crate::tables::Tone;
use bourse_record::crash::{
    CrashFile, CrashOutcome, CrashRow, Example, Guarantee, PlantedRow, SampledState, SampledStates, StatesRow,
    StatesSection,
};

/// Explanation of the table of crashes.
pub(super) const ABOUT_CRASHES: &str = "Lost: acknowledged Trade-Results missing after a crash, over all crashes of a kind. Power \
                                        losses happen on a simulated disk, which loses any part of what was not synced. Sampled \
                                        states: disk states that a power loss during a recorded load could leave.";

/// Explanation of the table of states.
pub(super) const ABOUT_STATES: &str = "Crash points: moments at which the power fails, and at how many of them every state is checked. Lost: states \
     that miss acknowledged commits, and the most commits that one state misses. Recovery violations: states after a second \
     power loss, during recovery, that violate the guarantee. Sectors, file sizes and directory entries that were not synced \
     may reach the disk in any order.";

/// The heads of the table of crashes.
pub(super) const HEADS: [&str; 7] =
    ["target", "class", "process killed", "power lost", "sampled states", "recovery", "guarantee"];

/// The heads of the table of states.
pub(super) const STATES_HEADS: [&str; 10] = [
    "settings",
    "class",
    "syncs",
    "crash points (all states)",
    "states",
    "states/s",
    "lost",
    "corrupted",
    "recovery violations",
    "guarantee",
];

/// The heads of the table of planted faults.
pub(super) const FAULT_HEADS: [&str; 5] =
    ["planted fault", "settings", "found", "states that reveal it", "chance of one random state"];

/// The heads of the table of drawn states.
pub(super) const SAMPLED_HEADS: [&str; 4] = ["number", "state", "found", "guarantee"];

/// Defects that crashes at sampled moments cannot exclude, in a sentence; empty if there were none.
pub(super) fn power_of_sample(file: &CrashFile) -> String {
    let outcomes = file.rows.iter().flat_map(|row| [&row.killed, &row.power]).flatten();
    let Some(crashes) = outcomes.map(|outcome| outcome.crashes).max() else { return String::new() };
    let percent = 100.0 * undetected(crashes);
    format!(
        "{crashes} crashes of a kind without a loss do not exclude a fault that shows in up to {percent:.0} % of crashes (95 % confidence)."
    )
}

/// Largest share of crashes that may show a fault although none of this many did, with 95 % confidence.
fn undetected(crashes: u32) -> f64 {
    1.0 - 0.05_f64.powf(1.0 / f64::from(crashes.max(1)))
}

/// Word for a guarantee: met or not.
const fn met(guarantee: Guarantee, holds: bool) -> &'static str {
    match (guarantee, holds) {
        (Guarantee::Nothing, _) => "none given",
        (_, true) => "met",
        (_, false) => "VIOLATED",
    }
}

/// The tone of a guarantee that was met or not.
pub(super) const fn tone(holds: bool) -> Tone {
    if holds { Tone::Good } else { Tone::Bad }
}

/// The cells of a target's row.
pub(super) fn crash_cells(row: &CrashRow) -> [String; 7] {
    let cell = |outcome: &Option<CrashOutcome>| outcome.as_ref().map_or_else(|| "not tried".to_owned(), outcome_words);
    let recovery = [&row.killed, &row.power].into_iter().flatten().map(|it| it.recovery_s).fold(0.0, f64::max);
    let guarantee = match (row.killed.is_none() && row.power.is_none(), row.holds()) {
        (true, _) => row.not_tried.clone(),
        (false, true) => "met".to_owned(),
        (false, false) => "VIOLATED".to_owned(),
    };
    [
        row.target.clone(),
        row.class.to_string(),
        cell(&row.killed),
        cell(&row.power),
        row.sampled.as_ref().map_or_else(|| "not tried".to_owned(), sampled_words),
        format!("{:.0} ms", recovery * 1e3),
        guarantee,
    ]
}

fn outcome_words(outcome: &CrashOutcome) -> String {
    let lost = format!("{} of {} lost", outcome.lost, outcome.acknowledged);
    match outcome.corrupted {
        0 if outcome.lost == 0 => lost,
        0 => format!("whole, {lost}"),
        corrupted => format!("corrupted in {corrupted} of {}, {lost}", outcome.crashes),
    }
}

/// Summary of the states that were checked.
pub(super) fn states_words(states: &StatesSection) -> String {
    format!("{} disk states checked in {:.0} s; {}; seed {}", states.states, states.took_s, states.bound, states.seed)
}

/// The cells of a case's row.
pub(super) fn states_cells(row: &StatesRow) -> [String; 10] {
    let lost = match row.lossy {
        0 => "0".to_owned(),
        lossy => format!("{lossy} (up to {})", row.most_lost),
    };
    let in_recovery = row
        .recovery
        .as_ref()
        .map_or_else(|| "-".to_owned(), |recovery| format!("{} of {}", recovery.broken, recovery.states));
    let guarantee = met(row.promised, row.holds());
    let per_second = if row.took_s > 0.0 { row.states as f64 / row.took_s } else { 0.0 };
    [
        row.case.clone(),
        row.class.to_string(),
        row.syncs.to_string(),
        format!("{} ({})", row.points, row.exhaustive_points),
        row.states.to_string(),
        format!("{per_second:.0}"),
        lost,
        row.corrupted.to_string(),
        in_recovery,
        guarantee.to_owned(),
    ]
}

/// The cells of a planted fault's row.
pub(super) fn planted_cells(row: &PlantedRow) -> [String; 5] {
    let share = if row.states > 0 { 100.0 * row.broken as f64 / row.states as f64 } else { 0.0 };
    [
        row.fault.clone(),
        row.case.clone(),
        format!("{} of {}", row.found, row.runs),
        format!("{} of {}", row.broken, row.states),
        format!("{share:.2} %"),
    ]
}

/// Summary of the findings in all drawn states.
fn sampled_words(sampled: &SampledStates) -> String {
    let count = |is: fn(&SampledState) -> bool| sampled.states.iter().filter(|state| is(state)).count();
    let (corrupted, lossy) =
        (count(|state| state.corrupted), count(|state| !state.corrupted && !state.wrong.is_empty()));
    let all = sampled.states.len();
    match (corrupted, lossy) {
        (0, 0) => format!("{all} states: nothing lost"),
        (0, lossy) => format!("{all} states: whole, {lossy} with losses"),
        (corrupted, 0) => format!("{all} states: {corrupted} corrupted"),
        (corrupted, lossy) => format!("{all} states: {corrupted} corrupted, {lossy} with losses"),
    }
}

/// The cells of the table of states, and whether each violated the guarantee.
pub(super) fn sampled_rows(sampled: &SampledStates) -> impl Iterator<Item = ([String; 4], bool)> {
    sampled.states.iter().map(move |state| {
        let guarantee = met(sampled.promised, !state.broken);
        (
            [state.number.to_string(), state.state.clone(), sampled_state_words(state), guarantee.to_owned()],
            state.broken,
        )
    })
}

/// Summary of the trace.
pub(super) fn sampled_about(sampled: &SampledStates) -> String {
    format!(
        "{}: {} file operations, {} syncs, {} acknowledged trades, recorded until {}; the database of {} bytes at its start has SHA-256 {}",
        sampled.trace,
        sampled.operations,
        sampled.syncs,
        sampled.acknowledged,
        sampled.ended,
        sampled.base_bytes,
        sampled.base_sha256
    )
}

/// Findings in an enumerated state that violated its guarantee, and whether it repeats under its seed.
pub(super) fn violation_words(example: &Example) -> String {
    let repeats = match example.repeats {
        Some(false) => {
            " (does not repeat under its seed: the fault comes and goes; the files found are stored with the run)"
        }
        Some(true) | None => "",
    };
    format!("{}{repeats}", example.found)
}

/// States that violated the guarantee, each with its name for `--replay` and its finding.
pub(super) fn sampled_violations(sampled: &SampledStates) -> impl Iterator<Item = (String, String)> {
    let broken = sampled.states.iter().filter(|state| state.broken);
    broken.map(move |state| (format!("{}#{}", sampled.trace, state.number), sampled_state_words(state)))
}

/// Findings in a drawn state, in a text that is the same each time.
pub fn sampled_state_words(state: &SampledState) -> String {
    let lost = format!("{} of {} acknowledged Trade-Results lost", state.lost, state.acknowledged);
    match state.wrong.first() {
        None => format!("whole, {lost}"),
        Some(first) => {
            let more = match state.wrong.len() {
                1 => String::new(),
                2 => "; 1 more finding".to_owned(),
                all => format!("; {} more findings", all - 1),
            };
            format!("{}: {} wanted, {} found{more}; {lost}", first.what, first.wanted, first.found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_crashes_exclude_little() {
        assert!((undetected(1) - 0.95).abs() < 1e-9);
        assert!((undetected(2) - 0.776).abs() < 1e-3);
        assert!((undetected(60) - 0.0487).abs() < 1e-3, "three over the number, where there are many");
    }
}
