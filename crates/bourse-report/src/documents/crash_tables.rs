//! The tables of `crash.json`.

use crate::tables::{ColumnHead, SheetTable, TableCell, Tone};
use crate::units;
use bourse_record::Durability;
use bourse_record::crash::{
    CrashFile, CrashOutcome, CrashRow, Example, Guarantee, PlantedRow, SampledState, SampledStates, StatesRow,
    StatesSection,
};
use std::collections::BTreeSet;

/// Explanation of the table of crashes.
pub(super) const ABOUT_CRASHES: &str = "Lost: acknowledged Trade-Results missing after a crash, over all crashes of a kind. Power \
                                        losses happen on a simulated disk, which loses any part of what was not synced. Sampled \
                                        states: disk states that a power loss during a recorded load could leave.";

/// Explanation of the table of states.
pub(super) const ABOUT_STATES: &str = "Crash points: moments at which the power fails, and at how many of them every state is checked. Lost: states \
     that miss acknowledged commits, and the most commits that one state misses. Recovery violations: states after a second \
     power loss, during recovery, that violate the guarantee. Sectors, file sizes and directory entries that were not synced \
     may reach the disk in any order.";

/// Defects that crashes at sampled moments cannot exclude, in a sentence; empty if there were none.
pub(super) fn power_of_sample(file: &CrashFile) -> String {
    let outcomes = file.rows.iter().flat_map(|row| [&row.killed, &row.power]).flatten();
    let Some(crashes) = outcomes.map(|outcome| outcome.crashes).max() else { return String::new() };
    let percent = 100.0 * undetected(crashes);
    format!(
        "{} of a kind without a loss cannot exclude a fault that shows in up to {percent:.0} % of crashes (95 % confidence).",
        units::counted(crashes.into(), "crash", "crashes")
    )
}

/// Largest share of crashes that may show a fault although none of this many did, with 95 % confidence.
fn undetected(crashes: u32) -> f64 {
    1.0 - 0.05_f64.powf(1.0 / f64::from(crashes.max(1)))
}

/// Heading of the column that says whether a guarantee was met.
const GUARANTEE: &str = "guarantee";

/// Word for a guarantee: met or not.
const fn met(guarantee: Guarantee, holds: bool) -> &'static str {
    match (guarantee, holds) {
        (Guarantee::Nothing, _) => "none given",
        (_, true) => "met",
        (_, false) => "VIOLATED",
    }
}

/// A table of texts; column *guarantee*, or the last, says whether the guarantee was met.
fn table<const N: usize>(
    title: &str,
    heads: [ColumnHead; N],
    rows: impl Iterator<Item = ([String; N], Tone)>,
) -> SheetTable {
    let toned = heads.iter().position(|head| head.title == GUARANTEE).unwrap_or(N - 1);
    let mut table = SheetTable::new(title, heads.to_vec());
    for (cells, tone) in rows {
        let mut cells = cells.map(|cell| TableCell::text(&cell)).to_vec();
        cells[toned].tone = tone;
        table.push(cells);
    }
    table
}

/// A row for each target.
pub(super) fn crashes(file: &CrashFile) -> SheetTable {
    let heads = ["target", "class", GUARANTEE, "process killed", "power lost", "sampled states", "recovery"];
    let rows = file.rows.iter().map(|row| (crash_cells(row), Tone::of(row.holds())));
    table("Crashes", heads.map(ColumnHead::left), rows)
}

fn crash_cells(row: &CrashRow) -> [String; 7] {
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
        guarantee,
        cell(&row.killed),
        cell(&row.power),
        row.sampled.as_ref().map_or_else(|| "not tried".to_owned(), sampled_words),
        format!("{:.0} ms", recovery * 1e3),
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
    let count = units::count(states.states);
    format!("{count} disk states checked in {:.0} s; {}; seed {}", states.took_s, states.bound, states.seed)
}

/// Losses under settings whose guarantee no engine can keep on the device, or of a document whose settings all give none: their
/// number, and why they are expected; `None` if there are none.
pub(super) fn expected_losses(of: &StatesSection) -> Option<[String; 2]> {
    let is_lasting = |class: Durability| matches!(class, Durability::Durable | Durability::Consistent);
    let is_none_given = of.rows.iter().all(|row| row.promised == Guarantee::Nothing && !is_lasting(row.class));
    let is_unmet = |row: &&StatesRow| row.promised == Guarantee::Nothing && is_lasting(row.class);
    let rows = || of.rows.iter().filter(|row| is_none_given || is_unmet(row));
    let sum = |count: fn(&StatesRow) -> u64| rows().map(count).fold(0, u64::saturating_add);
    let found =
        [("acknowledged commits lost", sum(|row| row.lossy)), ("databases corrupted", sum(|row| row.corrupted))];
    let found = found.into_iter().filter(|(_, count)| *count > 0);
    let found: Vec<String> = found.map(|(what, count)| format!("{what} in {}", units::count(count))).collect();
    let devices: BTreeSet<&str> = rows().map(|row| row.device.as_str()).collect();
    let devices = devices.into_iter().collect::<Vec<_>>().join("; ");
    (!found.is_empty()).then(|| {
        let why = match is_none_given {
            true => "as allowed: no guarantee is given".to_owned(),
            false => format!("as expected: no engine can keep its guarantee on this device ({devices})"),
        };
        [format!("{} of {} states,", found.join(", "), units::count(sum(|row| row.states))), why]
    })
}

/// A row for each case of the enumerated states.
pub(super) fn states(of: &StatesSection) -> SheetTable {
    let heads = [
        ColumnHead::left("settings"),
        ColumnHead::left("class"),
        ColumnHead::left(GUARANTEE),
        ColumnHead::right("states"),
        ColumnHead::right("lost (most)"),
        ColumnHead::right("corrupted"),
        ColumnHead::left("recovery violations"),
        ColumnHead::left("crash points (all states)").rank(1),
        ColumnHead::right("syncs").rank(2),
        ColumnHead::right("states/s").rank(3),
    ];
    let tone = |row: &StatesRow| match row.promised {
        Guarantee::Nothing => Tone::Faint,
        _ => Tone::of(row.holds()),
    };
    table("States that power losses leave", heads, of.rows.iter().map(|row| (states_cells(row), tone(row))))
}

fn states_cells(row: &StatesRow) -> [String; 10] {
    let lost = match row.lossy {
        0 => "0".to_owned(),
        lossy => format!("{} ({})", units::count(lossy), row.most_lost),
    };
    let in_recovery = row
        .recovery
        .as_ref()
        .map_or_else(|| "-".to_owned(), |recovery| format!("{} of {}", recovery.broken, recovery.states));
    let per_second = if row.took_s > 0.0 { row.states as f64 / row.took_s } else { 0.0 };
    [
        row.case.clone(),
        row.class.to_string(),
        met(row.promised, row.holds()).to_owned(),
        units::count(row.states),
        lost,
        units::count(row.corrupted),
        in_recovery,
        format!("{} ({})", row.points, row.exhaustive_points),
        units::count(row.syncs),
        units::count(per_second as u64),
    ]
}

/// A row for each planted fault.
pub(super) fn planted(of: &StatesSection) -> SheetTable {
    let heads = ["planted fault", "settings", "states that reveal it", "chance of one random state", "found"];
    let cells = |row: &PlantedRow| {
        let share = if row.states > 0 { 100.0 * row.broken as f64 / row.states as f64 } else { 0.0 };
        [
            row.fault.clone(),
            row.case.clone(),
            format!("{} of {}", row.broken, row.states),
            format!("{share:.2} %"),
            format!("{} of {}", row.found, row.runs),
        ]
    };
    let rows = of.faults.iter().map(|row| (cells(row), Tone::of(row.found == row.runs)));
    table("Planted faults", heads.map(ColumnHead::left), rows)
}

/// A state that reveals each planted fault, reduced.
pub(super) fn planted_examples(of: &StatesSection) -> Vec<String> {
    let words = |row: &PlantedRow| {
        let example = row.example.as_ref()?;
        Some(format!("{} in {}: {}", row.fault, row.case, violation_words(example)))
    };
    of.faults.iter().filter_map(words).collect()
}

/// A row for each drawn state.
pub(super) fn drawn(of: &SampledStates) -> SheetTable {
    let row = |state: &SampledState| {
        let guarantee = met(of.promised, !state.broken).to_owned();
        let cells = [state.number.to_string(), state.state.clone(), sampled_state_words(state), guarantee];
        (cells, Tone::of(!state.broken))
    };
    table("", ["number", "state", "found", GUARANTEE].map(ColumnHead::left), of.states.iter().map(row))
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
    let minimal = match &example.minimal[..] {
        [] => String::new(),
        words => format!("; reduced: {}", words.join(", ")),
    };
    format!("{}{minimal}{repeats}", example.found)
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
