//! The faults as text, Markdown and a page.

use super::document::{Conduct, FaultCase, FaultRow, FaultVerdict, FaultsFile, HEADS};
use crate::{html, markdown, text};
use bourse_report::words::{command_line, escaped, markdown_row as row};
use minijinja::value::Serde;
use minijinja::{Value, context};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// What the table tells.
const ABOUT: &str = "Each case is a process of its own that works on a small table while one call goes wrong; what it \
                     acknowledged is compared, row by row, with what is found when the database is opened again. Lost are \
                     acknowledged transactions. ok: nothing lost. expected: lost, but the disk lied or the settings promise \
                     no more. told: the database is lost and the engine says so. BROKEN: lost or corrupted without a word.";

/// The rows of one target, one after the other.
fn by_target(file: &FaultsFile) -> impl Iterator<Item = &[FaultRow]> {
    file.rows.chunk_by(|a, b| a.target == b.target && a.through == b.through)
}

fn about(file: &FaultsFile) -> String {
    format!("{} transactions in each process; seed {}", file.transactions, file.provenance.seed)
}

/// For the terminal: a table for each target, and the first case of each guarantee that was broken.
pub fn faults_text(file: &FaultsFile, width: usize, color: bool) -> String {
    let mut out = String::new();
    text::line(&mut out, width, 0, &about(file));
    for rows in by_target(file) {
        table(&mut out, rows, width, color);
    }
    out.push('\n');
    for row in file.rows.iter().filter(|row| row.verdict() == Some(FaultVerdict::Broken)) {
        text::line(&mut out, width, 0, &format!("{}, {}:", row.target, row.title));
        if let Some(case) = row.cases.iter().find(|case| case.verdict == FaultVerdict::Broken) {
            text::line(&mut out, width, 4, &case_words(case));
        }
    }
    if file.interrupted {
        text::line(&mut out, width, 0, "interrupted before all faults were tried");
    }
    text::line(&mut out, width, 0, ABOUT);
    out
}

/// The columns of a target's table are as wide as their cells; what the terminal has no room for goes below.
fn table(out: &mut String, rows: &[FaultRow], width: usize, color: bool) {
    let Some(first) = rows.first() else { return };
    out.push('\n');
    text::line(out, width, 0, &first.heading());
    let cells: Vec<[String; 5]> = rows.iter().map(FaultRow::cells).collect();
    let heads = HEADS.map(str::to_owned);
    // The last column needs no width.
    let wide = |column: usize| {
        let all = cells.iter().chain([&heads]).filter_map(|row| row.get(column)).map(|cell| cell.width());
        all.max().unwrap_or(0)
    };
    let widths: [usize; 4] = std::array::from_fn(wide);
    let mut line = |row: &[String; 5], verdict: Option<FaultVerdict>| {
        let mut text = String::from("  ");
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(text, "{cell}{:gap$}", "", gap = width - cell.width() + 2);
        }
        text.push_str(&row.last().map_or_else(String::new, |cell| paint(cell, verdict, color)));
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(&heads, None);
    for (row, cells) in rows.iter().zip(&cells) {
        line(cells, row.verdict());
    }
    for words in reasons(rows) {
        text::line(out, width, 2, &words);
    }
}

/// Why some were not tried, a line for each reason.
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

fn paint(words: &str, verdict: Option<FaultVerdict>, color: bool) -> String {
    let code = match verdict {
        Some(FaultVerdict::Ok) => "32",
        Some(FaultVerdict::Broken) => "1;31",
        Some(FaultVerdict::Told) => "33",
        Some(FaultVerdict::Expected | FaultVerdict::NotMet) | None => return words.to_owned(),
    };
    if color { format!("\u{1b}[{code}m{words}\u{1b}[0m") } else { words.to_owned() }
}

/// A case in a sentence.
fn case_words(case: &FaultCase) -> String {
    let met = if case.met.is_empty() { "not met".to_owned() } else { case.met.clone() };
    let mut words = format!("call {} ({met}): {}", case.nth, case.conduct_words());
    if case.conduct == Conduct::NotMet {
        return words;
    }
    if let Some(error) = case.errors.first() {
        let _ = write!(words, ", {error}");
    }
    let _ = write!(words, "; {} acknowledged; {}", case.acknowledged, case.left_words());
    if !case.evidence.is_empty() {
        let _ = write!(words, ": {}", case.evidence);
    }
    words
}

/// A table for each target, then every case. Ends with a line feed.
pub fn faults_markdown(file: &FaultsFile) -> String {
    let mut out = markdown::title("what engines do about faults", &file.provenance.started_at, file.interrupted);
    markdown::line(&mut out, &about(file));
    for rows in by_target(file) {
        let Some(first) = rows.first() else { continue };
        markdown::heading(&mut out, 2, &escaped(&first.heading()));
        markdown::table(&mut out, &HEADS);
        rows.iter().for_each(|it| row(&mut out, it.cells().iter().map(|text| escaped(text))));
        reasons(rows).iter().for_each(|words| markdown::line(&mut out, &escaped(words)));
    }
    markdown::line(&mut out, ABOUT);
    markdown::heading(&mut out, 2, "Evidence");
    markdown::table(
        &mut out,
        &["target", "fault", "call", "the engine", "its errors", "afterwards", "evidence", "verdict"],
    );
    for it in &file.rows {
        for case in &it.cases {
            let call = format!("{}: {}", case.nth, case.met);
            let cells = [
                it.target.clone(),
                it.fault.clone(),
                call,
                case.conduct_words(),
                case.errors.join("; "),
                format!("{} acknowledged, {}", case.acknowledged, case.left_words()),
                case.evidence.clone(),
                case.verdict.name().to_owned(),
            ];
            row(&mut out, cells.iter().map(|text| escaped(text)));
        }
    }
    markdown::again(&mut out, &file.provenance.command, &file.provenance.machine, &file.provenance.build);
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
                        Some(FaultVerdict::Ok) => "good",
                        Some(FaultVerdict::Broken) => "bad",
                        _ => "",
                    };
                    let cases: Vec<_> = row.cases.iter().map(case_words).collect();
                    context! { cells => row.cells(), class, name => row.fault.clone(), cases }
                })
                .collect();
            let heading = rows.first().map(FaultRow::heading).unwrap_or_default();
            let reason = rows.first().map(|row| row.class_reason.clone()).unwrap_or_default();
            context! { heading, reason, rows => shown, not_tried => reasons(rows) }
        })
        .collect();
    let page = context! {
        style => Value::from_safe_string(bourse_report::STYLE.to_owned()),
        file => Value::from(Serde(file)),
        heads => HEADS,
        targets,
        broken => file.broken(),
        summary => about(file),
        about => ABOUT,
        command => command_line(&file.provenance.command),
    };
    html::render("faults.html", page)
}
