//! Heads, tables and paragraphs of Markdown.

use crate::text::{code, escaped, markdown_row as row};
use crate::units::command_line;
use bourse_record::acid::Case;
use bourse_record::{Machine, Provenance};

/// The title of a document.
pub(super) fn title(what: &str, head: &Provenance, interrupted: bool) -> String {
    let interrupted = if interrupted { " (interrupted)" } else { "" };
    format!("# Bourse: {what}, {}{interrupted}\n", escaped(&head.started_at))
}

/// A case: its steps, and its findings at the end.
pub(super) fn case(out: &mut String, case: &Case) {
    let met = if case.met.is_empty() { String::new() } else { format!(": {}", case.met) };
    line(out, &format!("**{}**", escaped(&format!("{}{met}", case.label))));
    if !case.steps.is_empty() {
        table(out, &["session", "did", "outcome", "read", "statement"]);
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

/// Command and machine of the run, to run it again.
pub(super) fn again(out: &mut String, head: &Provenance) {
    heading(out, 2, "Again");
    line(out, &code(&command_line(&head.command)));
    let (Machine { processor, cores, system, .. }, build) = (&head.machine, &head.build);
    let on = format!("{processor}, {cores} cores, {system}; {} build of Bourse {}", build.profile, build.words());
    line(out, &escaped(&on));
}

/// Notice that is required below the figures.
pub(super) fn notice(out: &mut String) {
    line(out, &format!("*{}*", escaped(bourse_record::BROKERAGE_NOTICE)));
}

/// A heading.
pub(super) fn heading(out: &mut String, level: usize, text: &str) {
    out.push_str(&format!("\n{} {text}\n", "#".repeat(level)));
}

/// A paragraph.
pub(super) fn line(out: &mut String, text: &str) {
    out.push_str(&format!("\n{text}\n"));
}

/// The head of a table, after the empty line that a table requires.
pub(super) fn table(out: &mut String, heads: &[&str]) {
    out.push('\n');
    row(out, heads.iter().map(|head| (*head).to_owned()));
    row(out, heads.iter().map(|_| "---".to_owned()));
}
