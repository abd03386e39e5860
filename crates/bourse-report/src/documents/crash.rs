//! Report of crash tests: kills, power losses, states enumerated and drawn.

use super::acid::case;
use super::crash_tables::{
    ABOUT_CRASHES, ABOUT_STATES, FAULT_HEADS, HEADS, SAMPLED_HEADS, STATES_HEADS, crash_cells, planted_cells,
    power_of_sample, sampled_about, sampled_rows, sampled_violations, states_cells, states_words, tone,
    violation_words,
};
use super::lines::{line, table};
use super::{csv_table, sections};
use crate::html::{document_head, render};
use crate::tables::Tone;
use crate::text::{CsvText, Paint, escaped, markdown_row as row};
use bourse_record::BROKERAGE_NOTICE;
use bourse_record::crash::{CrashFile, CrashRow, Guarantee, SampledStates, StatesSection};
use minijinja::value::Serde;
use minijinja::{Value, context};

/// Results of crash tests for the terminal: a line for each target, and the first case of each guarantee that was violated.
pub fn crash_terminal(file: &CrashFile, width: usize, color: bool) -> String {
    let (mut out, paint) = (String::new(), Paint { on: color });
    if let Some(states) = &file.states {
        states_terminal(&mut out, states, width, paint);
    }
    if file.rows.is_empty() {
        return out;
    }
    line(&mut out, width, 0, &format!("{}; seed {}", file.database, file.provenance.seed));
    out.push('\n');
    let rows: Vec<[String; 7]> = file.rows.iter().map(crash_cells).collect();
    let tones = file.rows.iter().map(|it| tone(it.holds()));
    table(&mut out, &HEADS, rows.iter().map(|row| &row[..]).zip(tones), paint);
    out.push('\n');
    for it in &file.rows {
        for outcome in [&it.killed, &it.power].into_iter().flatten().filter(|outcome| !outcome.holds) {
            line(&mut out, width, 0, &format!("{} guarantees {}:", it.target, outcome.promised.word()));
            if let Some(failed) = outcome.cases.iter().find(|case| !case.holds()) {
                case(&mut out, failed, width);
            }
        }
    }
    for (name, found) in file.rows.iter().filter_map(|it| it.sampled.as_ref()).flat_map(sampled_violations) {
        line(&mut out, width, 0, &format!("{name}: {found}"));
        line(&mut out, width, 4, &format!("bourse crash --replay {name}"));
    }
    line(&mut out, width, 0, ABOUT_CRASHES);
    line(&mut out, width, 0, &power_of_sample(file));
    line(&mut out, width, 0, BROKERAGE_NOTICE);
    out
}

/// The enumerated states: a line for each case, then the detection of planted faults, then the first states of each case
/// that violate its guarantee.
fn states_terminal(out: &mut String, states: &StatesSection, width: usize, paint: Paint) {
    line(out, width, 0, &format!("Simulated power losses on a small brokerage database: {}", states_words(states)));
    out.push('\n');
    let rows: Vec<_> = states.rows.iter().map(states_cells).collect();
    let tones = states.rows.iter().map(|row| match (row.promised, row.holds()) {
        (Guarantee::Nothing, _) => Tone::Faint,
        (_, holds) => tone(holds),
    });
    table(out, &STATES_HEADS, rows.iter().map(|row| &row[..]).zip(tones), paint);
    if !states.faults.is_empty() {
        out.push('\n');
        let rows: Vec<_> = states.faults.iter().map(planted_cells).collect();
        let tones = states.faults.iter().map(|row| tone(row.found == row.runs));
        table(out, &FAULT_HEADS, rows.iter().map(|row| &row[..]).zip(tones), paint);
    }
    out.push('\n');
    line(out, width, 0, ABOUT_STATES);
    for example in states.violations() {
        line(out, width, 0, &format!("{}: {}", example.state, violation_words(example)));
        line(out, width, 4, &format!("bourse crash --replay {} --seed {}", example.state, states.seed));
    }
    out.push('\n');
}

/// One self-contained page: a row for each target, then every crash with its findings.
pub fn crash_html(file: &CrashFile) -> String {
    let sampled = |it: &SampledStates| {
        let rows: Vec<_> = sampled_rows(it).map(|(cells, broken)| context! { cells, broken }).collect();
        context! { about => sampled_about(it), heads => SAMPLED_HEADS, rows }
    };
    let row = |row: &CrashRow| {
        context! { cells => crash_cells(row), holds => row.holds(), sampled => row.sampled.as_ref().map(sampled) }
    };
    let rows: Vec<_> = file.rows.iter().map(row).collect();
    let states = file.states.as_ref().map(|states| {
        let rows: Vec<_> = states.rows.iter().map(|row| context! { cells => states_cells(row), holds => row.holds() }).collect();
        let faults: Vec<_> = states.faults.iter().map(planted_cells).collect();
        let broken: Vec<_> = states.violations().map(|it| context! { state => it.state.as_str(), found => violation_words(it) }).collect();
        context! { heads => STATES_HEADS, fault_heads => FAULT_HEADS, words => states_words(states), about => ABOUT_STATES, rows, faults, broken }
    });
    let page = context! {
        head => document_head("What crashes leave", "crash", &file.provenance, file.interrupted),
        file => Value::from(Serde(file)),
        heads => HEADS,
        rows,
        states,
        broken => file.violated(),
        about => format!("{} {}", ABOUT_CRASHES, power_of_sample(file)),
        notice => BROKERAGE_NOTICE,
    };
    render("crash.html", page)
}

/// A row for each target, then every crash with its findings. Ends with a line feed.
pub fn crash_markdown(file: &CrashFile) -> String {
    let mut out = sections::title("what crashes leave", &file.provenance, file.interrupted);
    if let Some(states) = &file.states {
        states_markdown(&mut out, states);
    }
    if !file.rows.is_empty() {
        sections::line(&mut out, &format!("{}; seed {}", escaped(&file.database), file.provenance.seed));
        sections::table(&mut out, &HEADS);
        file.rows.iter().for_each(|it| row(&mut out, crash_cells(it).iter().map(|text| escaped(text))));
        sections::line(&mut out, &format!("{} {}", ABOUT_CRASHES, power_of_sample(file)));
    }
    sections::heading(&mut out, 2, "Evidence");
    for it in &file.rows {
        sections::heading(&mut out, 3, &escaped(&it.target));
        sections::line(&mut out, &format!("{}: {}", it.class, escaped(&it.class_reason)));
        if !it.not_tried.is_empty() {
            sections::line(&mut out, &format!("Not tried: {}.", escaped(&it.not_tried)));
        }
        if let Some(sampled) = &it.sampled {
            sampled_markdown(&mut out, sampled);
        }
        [&it.killed, &it.power]
            .into_iter()
            .flatten()
            .flat_map(|it| &it.cases)
            .for_each(|it| sections::case(&mut out, it));
    }
    sections::again(&mut out, &file.provenance);
    sections::notice(&mut out);
    out
}

fn sampled_markdown(out: &mut String, sampled: &SampledStates) {
    sections::line(out, &format!("Drawn states of {}", escaped(&sampled_about(sampled))));
    sections::table(out, &SAMPLED_HEADS);
    sampled_rows(sampled).for_each(|(cells, _)| row(out, cells.iter().map(|text| escaped(text))));
}

fn states_markdown(out: &mut String, states: &StatesSection) {
    sections::line(
        out,
        &escaped(&format!("Simulated power losses on a small brokerage database: {}", states_words(states))),
    );
    sections::table(out, &STATES_HEADS);
    states.rows.iter().for_each(|it| row(out, states_cells(it).iter().map(|text| escaped(text))));
    sections::line(out, ABOUT_STATES);
    if !states.faults.is_empty() {
        sections::table(out, &FAULT_HEADS);
        states.faults.iter().for_each(|it| row(out, planted_cells(it).iter().map(|text| escaped(text))));
    }
    let examples: Vec<_> = states.violations().collect();
    if !examples.is_empty() {
        sections::table(out, &["state", "found"]);
        examples
            .iter()
            .for_each(|it| row(out, [it.state.clone(), violation_words(it)].iter().map(|text| escaped(text))));
    }
}

/// Every table: targets, states enumerated, planted faults, states drawn; each below a line with its name.
pub fn crash_csv(file: &CrashFile, texts: CsvText) -> String {
    fn cells<const N: usize>(cells: [String; N]) -> Vec<std::borrow::Cow<'static, str>> {
        cells.into_iter().map(Into::into).collect()
    }
    let mut tables = vec![("targets", csv_table(&HEADS, file.rows.iter().map(|row| cells(crash_cells(row))), texts))];
    if let Some(states) = &file.states {
        let rows = states.rows.iter().map(|row| cells(states_cells(row)));
        tables.push(("states", csv_table(&STATES_HEADS, rows, texts)));
        let rows = states.faults.iter().map(|row| cells(planted_cells(row)));
        tables.push(("planted_faults", csv_table(&FAULT_HEADS, rows, texts)));
    }
    let drawn = file.rows.iter().filter_map(|row| Some((row, row.sampled.as_ref()?)));
    let drawn = drawn.flat_map(|(row, sampled)| {
        sampled_rows(sampled).map(move |(state, _)| {
            let mut all = vec![row.target.as_str().into()];
            all.extend(cells(state));
            all
        })
    });
    let [number, state, found, guarantee] = SAMPLED_HEADS;
    tables.push(("drawn_states", csv_table(&["target", number, state, found, guarantee], drawn, texts)));
    let sections = tables.into_iter().map(|(name, table)| format!("{name}\r\n{table}"));
    sections.collect::<Vec<_>>().join("\r\n")
}
