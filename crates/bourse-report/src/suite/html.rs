//! A suite as one HTML page that opens offline, in the look of the other reports.

use super::chart::{charts, published};
use super::view::{self, MatrixCell};
use crate::charts::{Drawn, Frame};
use crate::html::{Carried, Drawing, Head, render};
use crate::units;
use crate::view::engine_words;
use bourse_record::Document as _;
use bourse_record::Durability;
use bourse_suite::SuiteFile;
use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;

#[derive(Serialize)]
struct Page {
    head: Head,
    title: String,
    summary: Vec<Said>,
    findings: Vec<FindingPage>,
    tables: Vec<TablePage>,
    lists: Vec<List>,
    engines: Vec<EnginePage>,
    lines: Vec<Vec<String>>,
    machine: Vec<String>,
    notice: Option<String>,
}

#[derive(Serialize)]
struct Said {
    class: &'static str,
    text: String,
}

#[derive(Serialize)]
struct FindingPage {
    class: &'static str,
    verdict: &'static str,
    says: String,
    rests_on: String,
    tests: Vec<Said>,
    untested: Option<String>,
}

#[derive(Serialize)]
struct TablePage {
    id: String,
    title: String,
    durability: Said,
    charts: Vec<Drawing>,
    matrices: Vec<MatrixPage>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct MatrixPage {
    title: String,
    rows_are: String,
    columns: Vec<String>,
    rows: Vec<RowPage>,
}

#[derive(Serialize)]
struct RowPage {
    title: String,
    cells: Vec<CellPage>,
}

#[derive(Serialize)]
struct CellPage {
    class: &'static str,
    ours: String,
    mark: String,
    published: String,
    ratio: String,
}

#[derive(Serialize)]
struct List {
    title: &'static str,
    class: &'static str,
    items: Vec<String>,
}

#[derive(Serialize)]
struct EnginePage {
    title: String,
    durability: String,
    reason: String,
    on: String,
    settings: String,
}

/// A suite as one self-contained HTML page.
pub fn suite_html(file: &SuiteFile) -> String {
    render("suite.html", Value::from(Serde(page(file))))
}

fn page(file: &SuiteFile) -> Page {
    let said =
        |(tone, text): (crate::tables::Tone, String)| Said { class: tone.class(), text: units::printable(&text) };
    let list = |title, class, items: &[String]| List {
        title,
        class,
        items: items.iter().map(|item| units::printable(item)).collect(),
    };
    let machine = &file.provenance.machine;
    let title = format!("{} {} · Bourse", file.suite, file.provenance.started_at);
    let name = format!("suite {}", file.suite);
    let carried = Carried::script().document("suite.json", &file.to_json()).markdown(&super::suite_markdown(file));
    Page {
        head: Head::new(&title, &name, &file.provenance, file.interrupted, include_str!("suite.css")).carrying(carried),
        title: units::printable(&file.title),
        summary: view::summary(file).into_iter().map(said).collect(),
        findings: findings(file),
        tables: file.tables.iter().enumerate().map(|(at, _)| table(file, at)).collect(),
        lists: vec![
            list("What is different here", "", &file.departures),
            list("Doubts about the published figures", "", &file.notes),
            list("Published on", "", &file.published_on),
            list("Warnings", "doubtful", &view::warnings(file)),
        ],
        engines: engines(file),
        lines: view::lines(file).iter().filter(|line| line.cell.target.is_some()).map(evidence).collect(),
        machine: vec![
            units::printable(&machine.processor),
            units::counted(u64::from(machine.cores), "core", "cores"),
            units::bytes(machine.memory_bytes as f64),
            units::printable(&machine.system),
            format!("{} build", units::printable(&file.provenance.build.profile)),
            format!("seed {}", file.provenance.seed),
        ],
        notice: file.notice.as_deref().map(units::printable),
    }
}

fn findings(file: &SuiteFile) -> Vec<FindingPage> {
    let finding = |finding: &bourse_suite::FindingResult| FindingPage {
        class: view::tone(finding.verdict).class(),
        verdict: finding.verdict.words(),
        says: units::printable(&finding.says),
        rests_on: view::rests_on(finding),
        tests: finding
            .tests
            .iter()
            .map(|test| Said { class: view::tone(test.verdict).class(), text: view::test_words(test) })
            .collect(),
        untested: finding.untested.as_deref().map(units::printable),
    };
    file.findings.iter().map(finding).collect()
}

fn table(file: &SuiteFile, at: usize) -> TablePage {
    let table = &file.tables[at];
    let (matrices, notes) = view::matrices(table);
    let (durability, differ) = view::durability(file, table);
    let cell = |cell: MatrixCell| CellPage {
        class: cell.tone.class(),
        ours: cell.ours,
        mark: cell.mark,
        published: cell.published,
        ratio: cell.ratio,
    };
    let matrices = matrices.into_iter().map(|matrix| MatrixPage {
        title: matrix.title,
        rows_are: matrix.rows_are,
        columns: matrix.columns,
        rows: matrix
            .rows
            .into_iter()
            .map(|(title, cells)| RowPage { title, cells: cells.into_iter().map(cell).collect() })
            .collect(),
    });
    let drawings = published(table, at).into_iter().chain(charts(table, at)).map(|chart| {
        let frame = Frame { id: &chart.id, title: &chart.title, about: &chart.about };
        Drawing::new(chart.key, &frame, Drawn { sizes: chart.drawings, spec: None })
    });
    TablePage {
        id: format!("table-{}", at + 1),
        title: units::printable(&table.title),
        durability: Said { class: if differ { "doubtful" } else { "" }, text: durability },
        charts: drawings.collect(),
        matrices: matrices.collect(),
        notes: notes.lines().chain(table.notes.iter().map(|note| units::printable(note))).collect(),
    }
}

fn engines(file: &SuiteFile) -> Vec<EnginePage> {
    let engine = |used: &bourse_suite::document::EngineUsed| {
        let title = units::printable(&used.title);
        match &used.engine {
            Some(engine) => EnginePage {
                title,
                durability: engine.durability.to_string(),
                reason: units::printable(&engine.durability_reason),
                on: units::printable(&format!("{} · {}", engine.target, engine_words(engine))),
                settings: units::printable(
                    &engine
                        .settings
                        .iter()
                        .map(|setting| format!("{}={}", setting.name, setting.value))
                        .collect::<Vec<_>>()
                        .join(" · "),
                ),
            },
            None => EnginePage {
                title,
                durability: "not run".to_owned(),
                reason: units::printable(used.not_run.as_deref().unwrap_or("interrupted before its turn")),
                on: String::new(),
                settings: String::new(),
            },
        }
    };
    file.engines.values().map(engine).collect()
}

/// Details of one figure of one cell.
fn evidence(line: &view::Line) -> Vec<String> {
    let cell = &line.cell;
    let figure = line.figure.as_ref();
    let number = |value: Option<f64>| {
        figure
            .zip(value)
            .map_or_else(|| units::NOTHING.to_owned(), |(figure, value)| view::written(figure.measure, value))
    };
    let interval = match figure.map(|figure| (figure.low, figure.high)) {
        Some((Some(low), Some(high))) => format!("{} to {}", number(Some(low)), number(Some(high))),
        _ => units::NOTHING.to_owned(),
    };
    let done = view::done(cell).map_or_else(
        || units::NOTHING.to_owned(),
        |(least, most)| {
            let done = if least == most {
                units::count(least)
            } else {
                format!("{} to {}", units::count(least), units::count(most))
            };
            cell.work.map_or_else(|| done.clone(), |work| format!("{done} of {}", units::count(work)))
        },
    );
    vec![
        units::printable(&line.table),
        line.row.clone(),
        line.column.clone(),
        figure.map(|figure| figure.measure.title("")).unwrap_or_default().trim_start_matches('/').to_owned(),
        number(figure.and_then(|it| it.ours)),
        interval,
        cell.rounds.len().to_string(),
        done,
        cell.durability.map_or(units::NOTHING, Durability::name).to_owned(),
        units::printable(&cell.workload),
        view::state_words(cell),
    ]
}
