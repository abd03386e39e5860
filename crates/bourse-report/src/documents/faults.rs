//! Report of the reactions of engines to faults.

use super::lines::{line, table};
use super::{csv_table, sections};
use crate::html::{document_head, render};
use crate::tables::Tone;
use crate::text::{CsvText, Paint, escaped, markdown_row as row};
use bourse_record::faults::{FaultCase, FaultRow, FaultVerdict, FaultsFile, Left, Reaction};
use minijinja::context;
use std::fmt::Write as _;

/// The heads of the table.
const HEADS: [&str; 5] = ["fault", "calls", "engine", "after reopening", "verdict"];

/// Explanation of the table.
const ABOUT: &str = "Each case runs in a process of its own: it works on a small table, and one call fails. Then the database is \
                     opened again and compared, row by row, with what was acknowledged. Lost: acknowledged transactions are \
                     missing. Verdicts: ok, nothing is lost; expected, something is lost, but the disk lied or the settings do \
                     not guarantee more; reported, the database is lost and the engine reports it; BROKEN, something is lost \
                     or corrupted and no error was reported.";

/// The rows of one target, one after the other.
fn by_target(file: &FaultsFile) -> impl Iterator<Item = &[FaultRow]> {
    file.rows.chunk_by(|a, b| a.target == b.target && a.through == b.through)
}

fn about(file: &FaultsFile) -> String {
    format!("{} transactions in each process; seed {}", file.transactions, file.provenance.seed)
}

/// Text for the terminal: a table for each target, and the first case of each guarantee that was broken.
pub fn faults_terminal(file: &FaultsFile, width: usize, color: bool) -> String {
    let (mut out, paint) = (String::new(), Paint { on: color });
    line(&mut out, width, 0, &about(file));
    for rows in by_target(file) {
        target_table(&mut out, rows, width, paint);
    }
    out.push('\n');
    for row in file.rows.iter().filter(|row| row.verdict() == Some(FaultVerdict::Broken)) {
        line(&mut out, width, 0, &format!("{}, {}:", row.target, row.title));
        if let Some(case) = row.cases.iter().find(|case| case.verdict == FaultVerdict::Broken) {
            line(&mut out, width, 4, &case_words(case));
        }
    }
    if file.interrupted {
        line(&mut out, width, 0, "interrupted before all faults were tried");
    }
    line(&mut out, width, 0, ABOUT);
    out
}

/// A target's table, with the faults that were not tried below it.
fn target_table(out: &mut String, rows: &[FaultRow], width: usize, paint: Paint) {
    let Some(first) = rows.first() else { return };
    out.push('\n');
    line(out, width, 0, &heading(first));
    let shown: Vec<[String; 5]> = rows.iter().map(cells).collect();
    table(out, &HEADS, shown.iter().map(|row| &row[..]).zip(rows.iter().map(|row| tone(row.verdict()))), paint);
    for words in reasons(rows) {
        line(out, width, 2, &words);
    }
}

const fn tone(verdict: Option<FaultVerdict>) -> Tone {
    match verdict {
        Some(FaultVerdict::Ok) => Tone::Good,
        Some(FaultVerdict::Broken) => Tone::Bad,
        Some(FaultVerdict::Told) => Tone::Doubtful,
        Some(FaultVerdict::Expected | FaultVerdict::NotMet) | None => Tone::Plain,
    }
}

/// Reasons why some faults were not tried, a line each.
fn reasons(rows: &[FaultRow]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.not_tried.is_empty()) {
        match reasons.iter_mut().find(|(why, _)| *why == row.not_tried) {
            Some((_, titles)) => titles.push(&row.title),
            None => reasons.push((&row.not_tried, vec![&row.title])),
        }
    }
    reasons.iter().map(|(why, titles)| format!("not tried: {}: {why}", titles.join(", "))).collect()
}

/// The target with its class and the way its calls were interfered with.
fn heading(row: &FaultRow) -> String {
    let class = row.class.map_or_else(String::new, |class| format!("{class}, "));
    format!("{} ({class}by {})", row.target, row.through.name())
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
    let met = || row.cases.iter().filter(|case| case.reaction != Reaction::NotMet);
    let lost: Vec<u64> = met().filter(|case| case.left == Left::Lost).map(|case| case.lost).collect();
    let mut words = tally(met().filter(|case| case.left != Left::Lost).map(left_words));
    if let (Some(least), Some(most)) = (lost.iter().min(), lost.iter().max()) {
        let gap = if words.is_empty() { "" } else { ", " };
        let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
        words.push_str(&format!("{gap}{}× {range} lost", lost.len()));
    }
    words
}

/// Each distinct text once, with its count if they differ.
fn tally(all: impl Iterator<Item = String>) -> String {
    let mut counted: Vec<(String, u32)> = Vec::new();
    for words in all {
        match counted.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => counted.push((words, 1)),
        }
    }
    let words = counted.iter().map(|(words, count)| format!("{count}× {words}"));
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
        Left::Whole if case.stood > 0 => "nothing lost, failed transaction committed".to_owned(),
        Left::Whole => case.left.name().to_owned(),
        Left::Lost => format!("{} of {} lost", case.lost, case.acknowledged),
        Left::Corrupted | Left::Unreadable => case.left.name().to_owned(),
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
    let met = if case.met.is_empty() { "not met".to_owned() } else { case.met.clone() };
    let mut words = format!("call {} ({met}): {}", case.nth, reaction_words(case));
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

/// A table for each target, then every case. Ends with a line feed.
pub fn faults_markdown(file: &FaultsFile) -> String {
    let mut out = sections::title("what engines do about faults", &file.provenance, file.interrupted);
    sections::line(&mut out, &about(file));
    for rows in by_target(file) {
        let Some(first) = rows.first() else { continue };
        sections::heading(&mut out, 2, &escaped(&heading(first)));
        sections::table(&mut out, &HEADS);
        rows.iter().for_each(|it| row(&mut out, cells(it).iter().map(|text| escaped(text))));
        reasons(rows).iter().for_each(|words| sections::line(&mut out, &escaped(words)));
    }
    sections::line(&mut out, ABOUT);
    sections::heading(&mut out, 2, "Evidence");
    sections::table(
        &mut out,
        &["target", "fault", "call", "engine", "errors reported", "after reopening", "evidence", "verdict"],
    );
    for it in &file.rows {
        for case in &it.cases {
            let call = format!("{}: {}", case.nth, case.met);
            let shown = [
                it.target.clone(),
                it.fault.clone(),
                call,
                reaction_words(case),
                case.errors.join("; "),
                format!("{} acknowledged, {}", case.acknowledged, left_words(case)),
                case.evidence.clone(),
                case.verdict.name().to_owned(),
            ];
            row(&mut out, shown.iter().map(|text| escaped(text)));
        }
    }
    sections::again(&mut out, &file.provenance);
    out
}

/// One self-contained page: a table for each target, then every case.
pub fn faults_html(file: &FaultsFile) -> String {
    let targets: Vec<_> = by_target(file)
        .map(|rows| {
            let shown: Vec<_> = rows
                .iter()
                .map(|row| {
                    let class = match row.verdict() {
                        Some(FaultVerdict::Ok | FaultVerdict::Broken) => tone(row.verdict()).class(),
                        _ => "",
                    };
                    let cases: Vec<_> = row.cases.iter().map(case_words).collect();
                    context! { cells => cells(row), class, name => row.fault.clone(), cases }
                })
                .collect();
            let title = rows.first().map(heading).unwrap_or_default();
            let reason = rows.first().map(|row| row.class_reason.clone()).unwrap_or_default();
            context! { heading => title, reason, rows => shown, not_tried => reasons(rows) }
        })
        .collect();
    let page = context! {
        head => document_head("What engines do about faults", "faults", &file.provenance, file.interrupted),
        heads => HEADS,
        targets,
        broken => file.violated(),
        summary => about(file),
        about => ABOUT,
    };
    render("faults.html", page)
}

/// CSV with a line for each case, and one for each row without cases.
pub fn faults_csv(file: &FaultsFile, texts: CsvText) -> String {
    let heads = [
        "target",
        "class",
        "through",
        "fault",
        "call",
        "fired",
        "met",
        "acknowledged",
        "reaction",
        "errors",
        "left",
        "lost",
        "evidence",
        "verdict",
    ];
    let rows = file.rows.iter().flat_map(|row| {
        let head = move || {
            vec![
                row.target.as_str().into(),
                row.class.map_or("", |class| class.name()).into(),
                row.through.name().into(),
                row.fault.as_str().into(),
            ]
        };
        let cases = row.cases.iter().map(move |case| {
            let mut cells = head();
            cells.extend([
                case.nth.to_string().into(),
                case.fired.to_string().into(),
                case.met.as_str().into(),
                case.acknowledged.to_string().into(),
                reaction_words(case).into(),
                case.errors.join("; ").into(),
                left_words(case).into(),
                case.lost.to_string().into(),
                case.evidence.as_str().into(),
                case.verdict.name().to_lowercase().into(),
            ]);
            cells
        });
        let not_tried = row.cases.is_empty().then(|| {
            let mut cells = head();
            cells.resize(heads.len() - 2, "".into());
            cells.extend([row.not_tried.as_str().into(), "not tried".into()]);
            cells
        });
        cases.chain(not_tried)
    });
    csv_table(&heads, rows, texts)
}
