//! Report of the reactions of engines to faults.

use super::sheet::{Sheet, SheetAnswer, SheetPart, ShownForms};
use crate::tables::{SheetTable, TableCell, Tone};
use bourse_record::faults::{DataState, FaultCase, FaultRow, FaultVerdict, FaultsFile, Reaction};
use bourse_stats::grouped;
use std::fmt::Write as _;

/// Explanation of the table.
const ABOUT: &str = "Each case runs in a process of its own: it works on a small table, and one call fails. Then the database is \
                     opened again and compared, row by row, with what was acknowledged. Lost: acknowledged transactions are \
                     missing. Verdicts: ok, nothing is lost; expected, something is lost, but the disk lied or the settings do \
                     not guarantee more; reported, the database is lost and the engine reports it; BROKEN, something is lost \
                     or corrupted and no error was reported.";

/// The document: a table for each target, the first case of each guarantee that was broken, then every case.
pub fn faults(file: &FaultsFile) -> Sheet {
    let mut parts = vec![
        SheetPart::Answer(SheetAnswer::violated(file.violated(), !file.rows.is_empty())),
        SheetPart::faint(format!("{} transactions in each process; seed {}", file.transactions, file.provenance.seed)),
    ];
    if file.interrupted {
        parts.push(SheetPart::toned(Tone::Bad, "interrupted before all faults were tried"));
    }
    let broken = file.rows.iter().filter(|row| row.verdict() == Some(FaultVerdict::Broken)).map(|row| {
        let case = row.cases.iter().find(|case| case.verdict == FaultVerdict::Broken).map(case_words);
        format!("{}, {}: {}", row.target, row.title, case.unwrap_or_default())
    });
    parts.push(SheetPart::list(Tone::Bad, broken));
    let by_target = || file.rows.chunk_by(|a, b| a.target == b.target);
    parts.extend(
        by_target().flat_map(|rows| [SheetPart::Table(table(rows)), SheetPart::list(Tone::Faint, reasons(rows))]),
    );
    let evidence = by_target().flat_map(|rows| {
        let class = rows.iter().find_map(|row| Some(SheetPart::class(row.class?, &row.class_reason)));
        [Some(SheetPart::Table(cases(rows))), class].into_iter().flatten()
    });
    parts.push(SheetPart::Only(
        ShownForms::Whole,
        vec![SheetPart::faint(ABOUT), SheetPart::fold("Evidence", evidence.collect())],
    ));
    parts.push(SheetPart::again(&file.provenance));
    let title = "What engines do about faults";
    Sheet { parts, ..Sheet::of_run(title, "fault tests", &file.provenance, file.interrupted) }
}

/// A target's table.
fn table(rows: &[FaultRow]) -> SheetTable {
    let row = |row: &FaultRow| {
        let [title, calls, engine, left, verdict] = cells(row).map(|cell| TableCell::text(&cell));
        vec![title, calls, engine, left, verdict.tone(tone(row.verdict()))]
    };
    let table =
        SheetTable::of(&["fault", "calls", "engine", "after reopening", "verdict"], rows.iter().map(row).collect());
    SheetTable { title: rows.first().map(heading).unwrap_or_default(), ..table }
}

/// Every case of a target.
fn cases(rows: &[FaultRow]) -> SheetTable {
    let row = |row: &FaultRow, case: &FaultCase| {
        let texts = [
            row.fault.clone(),
            format!("{}: {}", case.nth, case.first_hit),
            reaction_words(case),
            case.errors.join("; "),
            format!("{} acknowledged, {}", case.acknowledged, left_words(case)),
            case.evidence.clone(),
        ];
        let verdict = TableCell::text(case.verdict.name()).tone(tone(Some(case.verdict)));
        texts.iter().map(|text| TableCell::text(text)).chain([verdict]).collect()
    };
    let title = rows.first().map(heading);
    let rows = rows.iter().flat_map(|of| of.cases.iter().map(move |case| row(of, case)));
    let heads = ["fault", "call", "engine", "errors reported", "after reopening", "evidence", "verdict"];
    SheetTable { title: title.unwrap_or_default(), ..SheetTable::of(&heads, rows.collect()) }
}

const fn tone(verdict: Option<FaultVerdict>) -> Tone {
    match verdict {
        Some(FaultVerdict::Ok) => Tone::Good,
        Some(FaultVerdict::Broken) => Tone::Bad,
        Some(FaultVerdict::Reported) => Tone::Doubtful,
        Some(FaultVerdict::Expected | FaultVerdict::NotMet) | None => Tone::Plain,
    }
}

/// Reasons why some faults were not tried, a line each.
fn reasons(rows: &[FaultRow]) -> Vec<String> {
    let untried = rows.iter().filter(|row| !row.not_tried.is_empty());
    let reasons = grouped(untried.map(|row| (row.not_tried.as_str(), row.title.as_str())));
    reasons.iter().map(|(why, titles)| format!("not tried: {}: {why}", titles.join(", "))).collect()
}

/// Target with its durability class.
fn heading(row: &FaultRow) -> String {
    row.class.map_or_else(|| row.target.clone(), |class| format!("{} ({class})", row.target))
}

/// The cells of a row.
fn cells(row: &FaultRow) -> [String; 5] {
    let verdict = match row.verdict() {
        Some(verdict) => verdict.name().to_owned(),
        None => "not tried".to_owned(),
    };
    let reaction = tally(row.cases.iter().map(reaction_words));
    [row.title.clone(), row.calls.clone(), reaction, all_left_words(row), verdict]
}

/// State of the database in all cases.
fn all_left_words(row: &FaultRow) -> String {
    let hit = || row.cases.iter().filter(|case| case.reaction != Reaction::NotMet);
    let lost: Vec<u64> = hit().filter(|case| case.left == DataState::Lost).map(|case| case.lost).collect();
    let mut words = tally(hit().filter(|case| case.left != DataState::Lost).map(left_words));
    if let (Some(least), Some(most)) = (lost.iter().min(), lost.iter().max()) {
        let gap = if words.is_empty() { "" } else { ", " };
        let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
        words.push_str(&format!("{gap}{}× {range} lost", lost.len()));
    }
    words
}

/// Each distinct text once, with its count if they differ.
fn tally(all: impl Iterator<Item = String>) -> String {
    let counted = grouped(all.map(|words| (words, ())));
    let words = counted.iter().map(|(words, each)| format!("{}× {words}", each.len()));
    words.collect::<Vec<_>>().join(", ")
}

/// Reaction of the engine, with the signal.
fn reaction_words(case: &FaultCase) -> String {
    match (case.reaction, case.signal) {
        (Reaction::Died, Some(signal)) => format!("died of {}", signal_name(signal)),
        (reaction, _) => reaction.name().to_owned(),
    }
}

/// State of the database after the fault.
fn left_words(case: &FaultCase) -> String {
    match case.left {
        DataState::Whole if case.committed_despite_error > 0 => "nothing lost, failed transaction committed".to_owned(),
        DataState::Whole => case.left.name().to_owned(),
        DataState::Lost => format!("{} of {} lost", case.lost, case.acknowledged),
        DataState::Corrupted | DataState::Unreadable => case.left.name().to_owned(),
    }
}

/// Name of a signal that ends processes.
fn signal_name(signal: i32) -> String {
    match signal {
        4 => "SIGILL".to_owned(),
        6 => "SIGABRT".to_owned(),
        7 => "SIGBUS".to_owned(),
        8 => "SIGFPE".to_owned(),
        9 => "SIGKILL".to_owned(),
        11 => "SIGSEGV".to_owned(),
        15 => "SIGTERM".to_owned(),
        other => format!("signal {other}"),
    }
}

/// A case in a sentence.
fn case_words(case: &FaultCase) -> String {
    let first_hit = if case.first_hit.is_empty() { "not met".to_owned() } else { case.first_hit.clone() };
    let mut words = format!("call {} ({first_hit}): {}", case.nth, reaction_words(case));
    if case.reaction == Reaction::NotMet {
        return words;
    }
    if let Some(error) = case.errors.first() {
        let _ = write!(words, ", {error}");
    }
    let _ = write!(words, "; {} acknowledged; {}", case.acknowledged, left_words(case));
    if !case.evidence.is_empty() {
        let _ = write!(words, ": {}", case.evidence);
    }
    words
}
