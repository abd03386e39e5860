//! The examination for the terminal.

use crate::document::{AcidFile, Case, Test, Verdict};
use crate::kept::{CrashFile, CrashRow, HEADS};
use crate::sampled::SampledStates;
use crate::states::{ABOUT_STATES, FAULT_HEADS, FaultRow, STATES_HEADS, StatesRow, StatesSection};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// What the table of crashes tells.
pub(crate) const ABOUT_CRASHES: &str = "Lost are acknowledged Trade-Results, over all crashes of a kind. The power fails on a \
                                        simulated disk: what was not synced is lost, or there in part and in any order. Drawn \
                                        states are those that a power loss may leave at a sync of a recorded load.";
/// Where the words of a test begin.
const INDENT: usize = 22;

/// The whole as text of so many columns: a line for each test with its verdict and reason, and with `verbose` every case
/// with its steps, and the settings in force. Without it only what failed shows its first case that did.
pub fn text(file: &AcidFile, width: usize, color: bool, verbose: bool) -> String {
    let mut out = String::new();
    let engine = &file.engine;
    line(&mut out, width, 0, &format!("{}  ({} {})", engine.target, engine.name, engine.version));
    line(&mut out, width, 0, &format!("durability class {}: {}", engine.durability, engine.durability_reason));
    line(&mut out, width, 0, &format!("{}; seed {}", file.database, file.provenance.seed));
    let settings: Vec<_> = engine.settings.iter().map(|it| format!("{} {}", it.name, it.value)).collect();
    if verbose && !settings.is_empty() {
        line(&mut out, width, 0, &format!("settings: {}", settings.join(", ")));
    }
    let mut property = None;
    for test in &file.tests {
        if property != Some(test.property) {
            property = Some(test.property);
            let _ = write!(out, "\n{}\n", test.property.name());
        }
        let verdict = format!("{:<15}", test.verdict.name());
        let _ = write!(out, "{:<5} {} ", test.id, paint(&verdict, test.verdict, color));
        let title = folded(&format!("{} ({})", test.title, test.source), width, INDENT);
        out.push_str(title.trim_start());
        line(&mut out, width, INDENT, &test.reason);
        cases(&mut out, test, width, verbose);
    }
    let count = |verdict| file.count(verdict);
    let _ = write!(
        out,
        "\n{} passed, {} failed, {} not applicable{}\n",
        count(Verdict::Passed),
        count(Verdict::Failed),
        count(Verdict::NotApplicable),
        if file.interrupted { "; interrupted before all tests were run" } else { "" }
    );
    for warning in &file.warnings {
        line(&mut out, width, 0, &format!("warning: {warning}"));
    }
    line(&mut out, width, 0, bourse_tpce::users::NOTICE);
    out
}

/// What crashes left, for the terminal: a line for each target, and the first case of each promise that was broken.
pub fn crash_text(file: &CrashFile, width: usize, color: bool) -> String {
    let mut out = String::new();
    if let Some(states) = &file.states {
        states_text(&mut out, states, width, color);
    }
    if file.rows.is_empty() {
        return out;
    }
    line(&mut out, width, 0, &format!("{}; seed {}", file.database, file.provenance.seed));
    out.push('\n');
    let rows: Vec<[String; 7]> = file.rows.iter().map(CrashRow::cells).collect();
    let verdicts = file.rows.iter().map(|it| if it.holds() { Verdict::Passed } else { Verdict::Failed });
    table(&mut out, &HEADS, rows.iter().map(|row| &row[..]).zip(verdicts), color);
    out.push('\n');
    for it in &file.rows {
        for outcome in [&it.killed, &it.power].into_iter().flatten().filter(|outcome| !outcome.holds) {
            line(&mut out, width, 0, &format!("{} promises {}:", it.target, outcome.promised));
            if let Some(failed) = outcome.cases.iter().find(|case| !case.holds()) {
                case(&mut out, failed, width);
            }
        }
    }
    for (name, found) in file.rows.iter().filter_map(|it| it.sampled.as_ref()).flat_map(SampledStates::broken_states) {
        line(&mut out, width, 0, &format!("{name}: {found}"));
        line(&mut out, width, 4, &format!("bourse crash --replay {name}"));
    }
    line(&mut out, width, 0, ABOUT_CRASHES);
    line(&mut out, width, 0, &file.power_of_sample());
    line(&mut out, width, 0, bourse_tpce::users::NOTICE);
    out
}

/// The enumerated states: a line for each case, then what planted faults would be found, then the first states of each case
/// that violate its guarantee.
fn states_text(out: &mut String, states: &StatesSection, width: usize, color: bool) {
    line(out, width, 0, &format!("Every power loss on a small brokerage database: {}", states.words()));
    out.push('\n');
    let rows: Vec<_> = states.rows.iter().map(StatesRow::cells).collect();
    let verdicts = states.rows.iter().map(|row| match (row.promised.as_str(), row.holds()) {
        ("nothing", _) => Verdict::NotApplicable,
        (_, true) => Verdict::Passed,
        (_, false) => Verdict::Failed,
    });
    table(out, &STATES_HEADS, rows.iter().map(|row| &row[..]).zip(verdicts), color);
    if !states.faults.is_empty() {
        out.push('\n');
        let rows: Vec<_> = states.faults.iter().map(FaultRow::cells).collect();
        let verdicts = states.faults.iter().map(|row| match row.found == row.runs {
            true => Verdict::Passed,
            false => Verdict::Failed,
        });
        table(out, &FAULT_HEADS, rows.iter().map(|row| &row[..]).zip(verdicts), color);
    }
    out.push('\n');
    line(out, width, 0, ABOUT_STATES);
    for example in states.broken_examples() {
        line(out, width, 0, &format!("{}: {}", example.state, example.found));
        line(out, width, 4, &format!("bourse crash --replay {} --seed {}", example.state, states.seed));
    }
    out.push('\n');
}

/// Rows under their heads, the last column in the color of the row's verdict.
fn table<'r>(
    out: &mut String,
    heads: &[&str],
    rows: impl Iterator<Item = (&'r [String], Verdict)> + Clone,
    color: bool,
) {
    let widest = |column: usize| {
        let of_rows = rows.clone().filter_map(|(cells, _)| cells.get(column)).map(|cell| cell.width()).max();
        of_rows.unwrap_or(0).max(heads.get(column).map_or(0, |head| head.width()))
    };
    let widths: Vec<usize> = (0..heads.len()).map(widest).collect();
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    for (cells, verdict) in std::iter::once((&heads[..], None)).chain(rows.map(|(cells, it)| (cells, Some(it)))) {
        for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let is_last = at + 1 == cells.len();
            let gap = if is_last { 0 } else { width - cell.width() + 2 };
            let cell = match verdict {
                Some(verdict) if is_last => paint(cell, verdict, color),
                _ => cell.clone(),
            };
            let _ = write!(out, "{cell}{:gap$}", "");
        }
        out.push('\n');
    }
}

fn cases(out: &mut String, test: &Test, width: usize, verbose: bool) {
    if verbose {
        line(out, width, INDENT, &format!("demanded: {}", test.demanded));
        test.cases.iter().for_each(|shown| case(out, shown, width));
    } else if test.verdict == Verdict::Failed
        && let Some(failed) = test.cases.iter().find(|case| !case.holds())
    {
        line(out, width, INDENT, &format!("demanded: {}", test.demanded));
        case(out, failed, width);
    }
}

fn case(out: &mut String, case: &Case, width: usize) {
    line(out, width, INDENT, &format!("- {}", case.label));
    for step in &case.steps {
        let mut words = format!("{}: {}", step.session, step.did);
        if !step.outcome.is_empty() {
            let _ = write!(words, ": {}", step.outcome);
        }
        if !step.read.is_empty() {
            let _ = write!(words, "; read {}", step.read.join(", "));
        }
        if let Some(statement) = &step.statement {
            let _ = write!(words, "; at: {statement}");
        }
        line(out, width, INDENT + 4, &words);
    }
    for finding in &case.findings {
        let mark = if finding.holds { "=" } else { "≠" };
        let words = match finding.holds {
            true => format!("{mark} {}: {}", finding.what, finding.found),
            false => format!("{mark} {}: {} wanted, {} found", finding.what, finding.wanted, finding.found),
        };
        line(out, width, INDENT + 4, &words);
    }
}

pub(crate) fn line(out: &mut String, width: usize, indent: usize, words: &str) {
    out.push_str(&folded(words, width, indent));
}

/// The words broken into lines of at most so many columns, each with its indent.
fn folded(words: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in words.split_whitespace() {
        let wide = word.width();
        if column == 0 {
            let _ = write!(out, "{:indent$}{word}", "");
            column = indent + wide;
        } else if column + 1 + wide > width.max(indent + 20) {
            let _ = write!(out, "\n{:indent$}{word}", "");
            column = indent + wide;
        } else {
            let _ = write!(out, " {word}");
            column += 1 + wide;
        }
    }
    out.push('\n');
    out
}

fn paint(words: &str, verdict: Verdict, color: bool) -> String {
    let code = match verdict {
        Verdict::Passed => "32",
        Verdict::Failed => "1;31",
        Verdict::NotApplicable => "2",
    };
    if color { format!("\u{1b}[{code}m{words}\u{1b}[0m") } else { words.to_owned() }
}
