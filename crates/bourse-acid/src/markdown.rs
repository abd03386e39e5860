//! The examination as Markdown, to be pasted into an issue or a page.

use crate::document::{AcidFile, Case, Test, Verdict};
use crate::kept::{CrashFile, HEADS};
use crate::sampled::{SAMPLED_HEADS, SampledStates};
use crate::states::{ABOUT_STATES, FAULT_HEADS, STATES_HEADS, StatesSection};
use bourse_record::{Build, Machine};
use bourse_report::words::{code, command_line, escaped, markdown_row as row};

/// Verdicts first, then each test with its cases, and the settings they hold for. Ends with a line feed.
pub fn markdown(file: &AcidFile) -> String {
    let engine = &file.engine;
    let mut out = title("ACID tests", &file.provenance.started_at, file.interrupted);
    let count = |verdict| file.count(verdict);
    let (passed, failed) = (count(Verdict::Passed), count(Verdict::Failed));
    let failed_words = if failed > 0 { format!("**{failed} failed**") } else { "0 failed".to_owned() };
    let left_out = count(Verdict::NotApplicable);
    line(&mut out, &format!("{passed} passed, {failed_words}, {left_out} not applicable on {}", code(&engine.target)));
    line(&mut out, &format!("- {} {}", escaped(&engine.name), escaped(&engine.version)));
    let class = format!("- durability class {}: {}", engine.durability, escaped(&engine.durability_reason));
    out.push_str(&format!("{class}\n- {}; seed {}\n", escaped(&file.database), file.provenance.seed));
    file.warnings.iter().for_each(|warning| out.push_str(&format!("- warning: {}\n", escaped(&warning.to_string()))));

    heading(&mut out, 2, "Verdicts");
    table(&mut out, &["test", "verdict", "what is tried", "why"]);
    for test in &file.tests {
        row(&mut out, [&test.id, &verdict(test.verdict), &test.title, &test.reason].into_iter().map(|it| escaped(it)));
    }
    heading(&mut out, 2, "Evidence");
    file.tests.iter().for_each(|test| evidence(&mut out, test));
    heading(&mut out, 2, "Settings in force");
    table(&mut out, &["setting", "value"]);
    engine.settings.iter().for_each(|it| row(&mut out, [&it.name, &it.value].into_iter().map(|text| escaped(text))));
    again(&mut out, &file.provenance.command, &file.provenance.machine, &file.provenance.build);
    notice(&mut out);
    out
}

/// A row for each target, then every crash with its findings. Ends with a line feed.
pub fn crash_markdown(file: &CrashFile) -> String {
    let mut out = title("what crashes leave", &file.provenance.started_at, file.interrupted);
    if let Some(states) = &file.states {
        states_markdown(&mut out, states);
    }
    if !file.rows.is_empty() {
        line(&mut out, &format!("{}; seed {}", escaped(&file.database), file.provenance.seed));
        table(&mut out, &HEADS);
        file.rows.iter().for_each(|it| row(&mut out, it.cells().iter().map(|text| escaped(text))));
        line(&mut out, &format!("{} {}", crate::text::ABOUT_CRASHES, file.power_of_sample()));
    }
    heading(&mut out, 2, "Evidence");
    for it in &file.rows {
        heading(&mut out, 3, &escaped(&it.target));
        line(&mut out, &format!("{}: {}", escaped(&it.class), escaped(&it.class_reason)));
        if !it.not_tried.is_empty() {
            line(&mut out, &format!("Not tried: {}.", escaped(&it.not_tried)));
        }
        if let Some(sampled) = &it.sampled {
            sampled_markdown(&mut out, sampled);
        }
        [&it.killed, &it.power].into_iter().flatten().flat_map(|it| &it.cases).for_each(|it| case(&mut out, it));
    }
    again(&mut out, &file.provenance.command, &file.provenance.machine, &file.provenance.build);
    notice(&mut out);
    out
}

fn sampled_markdown(out: &mut String, sampled: &SampledStates) {
    line(out, &format!("Drawn states of {}", escaped(&sampled.about())));
    table(out, &SAMPLED_HEADS);
    sampled.rows().for_each(|(cells, _)| row(out, cells.iter().map(|text| escaped(text))));
}

fn states_markdown(out: &mut String, states: &StatesSection) {
    line(out, &escaped(&format!("Every power loss on a small brokerage database: {}", states.words())));
    table(out, &STATES_HEADS);
    states.rows.iter().for_each(|it| row(out, it.cells().iter().map(|text| escaped(text))));
    line(out, ABOUT_STATES);
    if !states.faults.is_empty() {
        table(out, &FAULT_HEADS);
        states.faults.iter().for_each(|it| row(out, it.cells().iter().map(|text| escaped(text))));
    }
    let examples: Vec<_> = states.broken_examples().collect();
    if !examples.is_empty() {
        table(out, &["state", "found"]);
        examples.iter().for_each(|it| row(out, [&it.state, &it.found].into_iter().map(|text| escaped(text))));
    }
}

pub(crate) fn title(what: &str, started_at: &str, interrupted: bool) -> String {
    let interrupted = if interrupted { " (interrupted)" } else { "" };
    format!("# Bourse: {what}, {}{interrupted}\n", escaped(started_at))
}

fn evidence(out: &mut String, test: &Test) {
    heading(out, 3, &format!("{} {}: {}", escaped(&test.id), escaped(&test.title), verdict(test.verdict)));
    line(out, &format!("{}; {}", test.property.name(), escaped(&test.source)));
    line(out, &format!("Demanded: {}.", escaped(&test.demanded)));
    line(out, &escaped(&test.reason));
    test.cases.iter().for_each(|it| case(out, it));
}

fn case(out: &mut String, case: &Case) {
    let met = if case.met.is_empty() { String::new() } else { format!(": {}", case.met) };
    line(out, &format!("**{}**", escaped(&format!("{}{met}", case.label))));
    if !case.steps.is_empty() {
        table(out, &["session", "did", "what became of it", "read", "statement"]);
        for step in &case.steps {
            let (read, statement) = (step.read.join(", "), step.statement.clone().unwrap_or_default());
            let cells = [&step.session, &step.did, &step.outcome, &read, &statement];
            row(out, cells.into_iter().map(|text| escaped(text)));
        }
    }
    if !case.findings.is_empty() {
        table(out, &["looked at", "wanted", "found"]);
        for finding in &case.findings {
            let found = escaped(&finding.found);
            let found = if finding.holds { found } else { format!("**{found}**") };
            row(out, [escaped(&finding.what), escaped(&finding.wanted), found].into_iter());
        }
    }
}

pub(crate) fn again(out: &mut String, command: &[String], machine: &Machine, build: &Build) {
    heading(out, 2, "Again");
    line(out, &code(&command_line(command)));
    let Machine { processor, cores, system, .. } = machine;
    let on = format!("{processor}, {cores} cores, {system}; {} build of Bourse {}", build.profile, build.version);
    line(out, &escaped(&on));
}

fn notice(out: &mut String) {
    line(out, &format!("*{}*", escaped(bourse_tpce::users::NOTICE)));
}

fn verdict(verdict: Verdict) -> String {
    verdict.name().to_owned()
}

pub(crate) fn heading(out: &mut String, level: usize, text: &str) {
    out.push_str(&format!("\n{} {text}\n", "#".repeat(level)));
}

pub(crate) fn line(out: &mut String, text: &str) {
    out.push_str(&format!("\n{text}\n"));
}

/// The head of a table, with the empty line that must stand before one.
pub(crate) fn table(out: &mut String, heads: &[&str]) {
    out.push('\n');
    row(out, heads.iter().map(|head| (*head).to_owned()));
    row(out, heads.iter().map(|_| "---".to_owned()));
}
