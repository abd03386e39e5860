//! Report of crash tests: kills, power losses, states enumerated and drawn.

use super::acid::case;
use super::crash_tables::{
    ABOUT_CRASHES, ABOUT_STATES, crashes, drawn, expected_losses, planted, planted_examples, power_of_sample,
    sampled_about, sampled_violations, states, states_words, violation_words,
};
use super::sheet::{Sheet, SheetAnswer, SheetPart, ShownForms};
use crate::tables::Tone;
use bourse_record::BROKERAGE_NOTICE;
use bourse_record::crash::{CrashFile, CrashRow, Guarantee, StatesSection};

/// The document: the verdict, a row for each target, the first case of each guarantee that was violated, then every crash with
/// its findings.
pub fn crash(file: &CrashFile) -> Sheet {
    let mut parts = vec![SheetPart::Answer(answer(file))];
    parts.extend(file.states.iter().flat_map(of_states));
    if !file.rows.is_empty() {
        parts.push(SheetPart::faint(format!("{}; seed {}", file.database, file.provenance.seed)));
        parts.push(SheetPart::Table(crashes(file)));
        for it in &file.rows {
            for outcome in [&it.killed, &it.power].into_iter().flatten().filter(|outcome| !outcome.holds) {
                let failed = outcome.cases.iter().find(|case| !case.holds());
                let said = SheetPart::text(format!("{} guarantees {}:", it.target, outcome.promised.name()));
                parts.push(SheetPart::Only(
                    ShownForms::Terminal,
                    [said].into_iter().chain(failed.map(|it| case(it, true))).collect(),
                ));
            }
        }
        let violations = file.rows.iter().filter_map(|it| it.sampled.as_ref()).flat_map(sampled_violations);
        parts.extend(replays(violations.map(|(name, found)| (found, format!("bourse crash --replay {name}")))));
        let sample = Some(power_of_sample(file)).filter(|text| !text.is_empty());
        let about = [ABOUT_CRASHES.to_owned()].into_iter().chain(sample).map(SheetPart::faint);
        let evidence = file.rows.iter().flat_map(evidence);
        parts.push(SheetPart::Only(
            ShownForms::Whole,
            about.chain([SheetPart::heading(2, "Evidence")]).chain(evidence).collect(),
        ));
    }
    parts.push(SheetPart::again(&file.provenance));
    let sheet = Sheet::of_run("What crashes leave", "crash tests", &file.provenance, file.interrupted);
    Sheet { parts, notices: vec![BROKERAGE_NOTICE.to_owned()], ..sheet }
}

/// The number of violated guarantees, and losses that are expected of a device.
fn answer(file: &CrashFile) -> SheetAnswer {
    let answer = SheetAnswer::violated(file.violated(), file.states.is_some() || !file.rows.is_empty());
    match file.states.as_ref().and_then(|states| expected_losses(states).zip(Some(states))) {
        Some(([losses, why], states)) => {
            let is_all = file.rows.is_empty() && states.rows.iter().all(|row| row.promised == Guarantee::Nothing);
            let figure = if is_all { losses } else { format!("{}; {losses}", answer.figure) };
            SheetAnswer { figure, unit: why, ..answer }
        }
        None => answer,
    }
}

/// Findings, each with the command that shows it again.
fn replays(violations: impl Iterator<Item = (String, String)>) -> Option<SheetPart> {
    let lines: Vec<String> = violations.map(|(found, command)| format!("{command}: {found}")).collect();
    (!lines.is_empty()).then(|| SheetPart::list(Tone::Bad, lines))
}

/// The enumerated states: a line for each case, the first states of each case that violate its guarantee, and the detection of
/// planted faults.
fn of_states(of: &StatesSection) -> Vec<SheetPart> {
    let command = |state: &str| format!("bourse crash --replay {state} --seed {}", of.seed);
    let words = format!("Simulated power losses on small databases: {}", states_words(of));
    let mut parts = vec![SheetPart::faint(words), SheetPart::Table(states(of))];
    parts.extend(replays(of.violations().map(|it| (violation_words(it), command(&it.state)))));
    parts.push(SheetPart::Only(ShownForms::Whole, vec![SheetPart::faint(ABOUT_STATES)]));
    parts.extend((!of.faults.is_empty()).then(|| SheetPart::Table(planted(of))));
    let examples = planted_examples(of);
    parts.extend((!examples.is_empty()).then(|| SheetPart::list(Tone::Faint, examples)));
    parts
}

fn evidence(row: &CrashRow) -> Vec<SheetPart> {
    let mut parts = vec![SheetPart::heading(3, row.target.clone()), SheetPart::class(row.class, &row.class_reason)];
    if !row.not_tried.is_empty() {
        parts.push(SheetPart::text(format!("Not tried: {}.", row.not_tried)));
    }
    let sampled = row.sampled.iter();
    let drawn = sampled
        .map(|it| SheetPart::fold(format!("Drawn states of {}", sampled_about(it)), vec![SheetPart::Table(drawn(it))]));
    parts.extend(drawn);
    let cases = [&row.killed, &row.power].into_iter().flatten().flat_map(|it| &it.cases);
    parts.extend(cases.map(|it| case(it, false)));
    parts
}
