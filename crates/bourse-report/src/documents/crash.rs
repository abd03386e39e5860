//! Report of crash tests: kills, power losses, states enumerated and drawn.

use super::acid::case;
use super::crash_tables::{
    ABOUT_CRASHES, ABOUT_STATES, crashes, drawn, planted, power_of_sample, sampled_about, sampled_violations, states,
    states_words, violation_words,
};
use super::sheet::{Part, Sheet, ShownForms};
use crate::tables::Tone;
use bourse_record::BROKERAGE_NOTICE;
use bourse_record::crash::{CrashFile, CrashRow, StatesSection};

/// The document: the verdict, a row for each target, the first case of each guarantee that was violated, then every crash with
/// its findings.
pub fn crash(file: &CrashFile) -> Sheet {
    let mut parts = vec![Part::violated(file.violated())];
    parts.extend(file.states.iter().flat_map(of_states));
    if !file.rows.is_empty() {
        parts.push(Part::faint(format!("{}; seed {}", file.database, file.provenance.seed)));
        parts.push(Part::Table(crashes(file)));
        for it in &file.rows {
            for outcome in [&it.killed, &it.power].into_iter().flatten().filter(|outcome| !outcome.holds) {
                let failed = outcome.cases.iter().find(|case| !case.holds());
                let said = Part::text(format!("{} guarantees {}:", it.target, outcome.promised.word()));
                parts.push(Part::Only(
                    ShownForms::Terminal,
                    [said].into_iter().chain(failed.map(|it| case(it, true))).collect(),
                ));
            }
        }
        let violations = file.rows.iter().filter_map(|it| it.sampled.as_ref()).flat_map(sampled_violations);
        parts.extend(replays(violations.map(|(name, found)| (found, format!("bourse crash --replay {name}")))));
        parts.push(Part::faint(ABOUT_CRASHES));
        parts.extend(Some(power_of_sample(file)).filter(|text| !text.is_empty()).map(Part::faint));
        let evidence = file.rows.iter().flat_map(evidence);
        parts.push(Part::Only(ShownForms::Whole, [Part::heading(2, "Evidence")].into_iter().chain(evidence).collect()));
    }
    parts.push(Part::again(&file.provenance));
    let sheet = Sheet::of_run("What crashes leave", "crash tests", &file.provenance, file.interrupted);
    Sheet { parts, notices: vec![BROKERAGE_NOTICE.to_owned()], ..sheet }
}

/// Findings, each with the command that shows it again.
fn replays(violations: impl Iterator<Item = (String, String)>) -> Option<Part> {
    let lines: Vec<String> = violations.map(|(found, command)| format!("{command}: {found}")).collect();
    (!lines.is_empty()).then(|| Part::list(Tone::Bad, lines))
}

/// The enumerated states: a line for each case, the first states of each case that violate its guarantee, and the detection of
/// planted faults.
fn of_states(of: &StatesSection) -> Vec<Part> {
    let command = |state: &str| format!("bourse crash --replay {state} --seed {}", of.seed);
    let words = format!("Simulated power losses on a small brokerage database: {}", states_words(of));
    let mut parts = vec![Part::faint(words), Part::Table(states(of))];
    parts.extend(replays(of.violations().map(|it| (violation_words(it), command(&it.state)))));
    parts.push(Part::faint(ABOUT_STATES));
    parts.extend((!of.faults.is_empty()).then(|| Part::Table(planted(of))));
    parts
}

fn evidence(row: &CrashRow) -> Vec<Part> {
    let mut parts = vec![Part::heading(3, row.target.clone()), Part::class(row.class, &row.class_reason)];
    if !row.not_tried.is_empty() {
        parts.push(Part::text(format!("Not tried: {}.", row.not_tried)));
    }
    let sampled = row.sampled.iter();
    let drawn =
        sampled.map(|it| Part::fold(format!("Drawn states of {}", sampled_about(it)), vec![Part::Table(drawn(it))]));
    parts.extend(drawn);
    let cases = [&row.killed, &row.power].into_iter().flatten().flat_map(|it| &it.cases);
    parts.extend(cases.map(|it| case(it, false)));
    parts
}
