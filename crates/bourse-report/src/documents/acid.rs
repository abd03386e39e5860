//! The ACID tests of a target.

use super::{csv_table, lines, sections};
use crate::html::{document_head, render};
use crate::tables::Tone;
use crate::text::{CsvText, Paint, code, escaped, markdown_row as row};
use crate::view::{isolation_not_given, warning};
use bourse_record::BROKERAGE_NOTICE;
use bourse_record::acid::{AcidFile, Case, Test, Verdict};
use lines::line;
use minijinja::value::Serde;
use minijinja::{Value, context};
use std::fmt::Write as _;

/// Column at which the text of a test begins.
const INDENT: usize = 22;

const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Passed => Tone::Good,
        Verdict::Failed => Tone::Bad,
        Verdict::NotApplicable => Tone::Faint,
    }
}

/// The document as text of `width` columns: a line for each test with its verdict and reason, and with `verbose` every case
/// with its steps, and the settings in force. Otherwise only failed tests show their first failed case.
pub fn acid_terminal(file: &AcidFile, width: usize, color: bool, verbose: bool) -> String {
    let (mut out, paint) = (String::new(), Paint { on: color });
    let engine = &file.engine;
    line(&mut out, width, 0, &format!("{}  ({} {})", engine.target, engine.name, engine.version));
    line(&mut out, width, 0, &format!("durability class {}: {}", engine.durability, engine.durability_reason));
    line(&mut out, width, 0, &format!("{}; seed {}", file.database, file.provenance.seed));
    if let Some(isolation) = isolation(file) {
        line(&mut out, width, 0, &isolation);
    }
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
        let _ = write!(out, "{:<5} {} ", crate::units::printable(&test.id), paint.tone(tone(test.verdict), &verdict));
        let mut title = String::new();
        line(&mut title, width, INDENT, &format!("{} ({})", test.title, test.source));
        out.push_str(title.trim_start());
        line(&mut out, width, INDENT, &test.reason);
        cases(&mut out, test, width, verbose);
    }
    let count = |verdict| file.count(verdict);
    let _ = write!(
        out,
        "\n{} passed, {} failed, {} not applicable\n",
        count(Verdict::Passed),
        count(Verdict::Failed),
        count(Verdict::NotApplicable),
    );
    if let Some(incomplete) = incomplete(file) {
        let _ = writeln!(out, "{}", paint.tone(Tone::Bad, &incomplete));
    }
    for it in &file.warnings {
        line(&mut out, width, 0, &format!("warning: {}", warning(it)));
    }
    line(&mut out, width, 0, BROKERAGE_NOTICE);
    out
}

/// Whether each transaction gets the isolation level that it demands; `None` for a document without levels.
fn isolation(file: &AcidFile) -> Option<String> {
    let given = || match isolation_not_given(&file.isolation) {
        None => "isolation: the engine gives each transaction the level that it demands".to_owned(),
        Some(short) => format!("isolation lower than demanded: {short}"),
    };
    (!file.isolation.is_empty()).then(given)
}

/// First line about tests that were cut short: tests that passed until then are no result of the whole.
fn incomplete(file: &AcidFile) -> Option<String> {
    let ended = crate::units::counted(file.tests.len() as u64, "test", "tests");
    file.interrupted.then(|| format!("incomplete: interrupted after {ended}"))
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

/// A case with its steps and findings, for the terminal.
pub(super) fn case(out: &mut String, case: &Case, width: usize) {
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

/// One self-contained page: verdicts first, then each test with its cases, folded.
pub fn acid_html(file: &AcidFile) -> String {
    let page = context! {
        head => document_head(&format!("ACID tests of {}", file.engine.target), "ACID tests", &file.provenance, file.interrupted),
        file => Value::from(Serde(file)),
        warnings => file.warnings.iter().map(warning).collect::<Vec<_>>(),
        incomplete => incomplete(file),
        isolation => isolation(file),
        passed => file.count(Verdict::Passed),
        failed => file.count(Verdict::Failed),
        not_applicable => file.count(Verdict::NotApplicable),
        notice => BROKERAGE_NOTICE,
    };
    render("acid.html", page)
}

/// Markdown with the verdicts first, then each test with its cases, and the settings they hold for. Ends with a line feed.
pub fn acid_markdown(file: &AcidFile) -> String {
    let engine = &file.engine;
    let mut out = sections::title("ACID tests", &file.provenance, file.interrupted);
    let count = |verdict| file.count(verdict);
    let (passed, failed) = (count(Verdict::Passed), count(Verdict::Failed));
    let failed_words = if failed > 0 { format!("**{failed} failed**") } else { "0 failed".to_owned() };
    let left_out = count(Verdict::NotApplicable);
    if let Some(incomplete) = incomplete(file) {
        sections::line(&mut out, &format!("**{incomplete}**"));
    }
    sections::line(
        &mut out,
        &format!("{passed} passed, {failed_words}, {left_out} not applicable on {}", code(&engine.target)),
    );
    sections::line(&mut out, &format!("- {} {}", escaped(&engine.name), escaped(&engine.version)));
    let class = format!("- durability class {}: {}", engine.durability, escaped(&engine.durability_reason));
    out.push_str(&format!("{class}\n- {}; seed {}\n", escaped(&file.database), file.provenance.seed));
    isolation(file).iter().for_each(|it| out.push_str(&format!("- {}\n", escaped(it))));
    file.warnings.iter().for_each(|it| out.push_str(&format!("- warning: {}\n", escaped(&warning(it)))));

    sections::heading(&mut out, 2, "Verdicts");
    sections::table(&mut out, &["test", "verdict", "what is tried", "why"]);
    for test in &file.tests {
        row(
            &mut out,
            [&test.id, &test.verdict.name().to_owned(), &test.title, &test.reason].into_iter().map(|it| escaped(it)),
        );
    }
    sections::heading(&mut out, 2, "Evidence");
    file.tests.iter().for_each(|test| evidence(&mut out, test));
    sections::heading(&mut out, 2, "Settings in force");
    sections::table(&mut out, &["setting", "value"]);
    engine.settings.iter().for_each(|it| row(&mut out, [&it.name, &it.value].into_iter().map(|text| escaped(text))));
    sections::again(&mut out, &file.provenance);
    sections::notice(&mut out);
    out
}

fn evidence(out: &mut String, test: &Test) {
    sections::heading(out, 3, &format!("{} {}: {}", escaped(&test.id), escaped(&test.title), test.verdict.name()));
    sections::line(out, &format!("{}; {}", test.property.name(), escaped(&test.source)));
    sections::line(out, &format!("Demanded: {}.", escaped(&test.demanded)));
    sections::line(out, &escaped(&test.reason));
    test.cases.iter().for_each(|it| sections::case(out, it));
}

/// CSV with a line for each test. Its evidence is no table: the page and the document have it.
pub fn acid_csv(file: &AcidFile, texts: CsvText) -> String {
    let heads = ["test", "property", "title", "source", "demanded", "verdict", "reason", "cases", "took_s"];
    let rows = file.tests.iter().map(|test| {
        vec![
            test.id.as_str().into(),
            test.property.name().into(),
            test.title.as_str().into(),
            test.source.as_str().into(),
            test.demanded.as_str().into(),
            test.verdict.name().to_lowercase().into(),
            test.reason.as_str().into(),
            test.cases.len().to_string().into(),
            test.took_s.to_string().into(),
        ]
    });
    csv_table(&heads, rows, texts)
}
