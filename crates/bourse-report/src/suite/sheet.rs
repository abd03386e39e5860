//! A suite as a document: findings first, then the tables as they were published.

use super::chart::{charts, published};
use super::view::{self, Matrix};
use crate::documents::{Part, Place, Sheet, ShownForms};
use crate::tables::{Cell, Head, Table, Tone};
use crate::units;
use crate::view::{Remark, engine_words};
use bourse_record::{Document as _, Durability};
use bourse_verdict::suite::SuiteFile;
use bourse_verdict::suite::document::EngineUsed;

/// The document, with its charts.
pub fn suite(file: &SuiteFile) -> Sheet {
    let listed = |all: Vec<(Tone, String)>| {
        Part::List(all.into_iter().map(|(tone, text)| (0, Remark::new(tone, text))).collect())
    };
    let mut parts = vec![listed(view::summary(file))];
    parts.extend(findings(file));
    for (at, table) in file.tables.iter().enumerate() {
        parts.push(Part::Heading(2, format!("table-{}", at + 1), table.title.clone()));
        let (durability, differ) = view::durability(file, table);
        parts.push(Part::toned(if differ { Tone::Doubtful } else { Tone::Plain }, durability));
        parts.extend(published(table, at).into_iter().chain(charts(table, at)).map(|it| Part::Charts(vec![it])));
        let (matrices, notes) = view::matrices(table);
        for matrix in &matrices {
            parts.push(Part::Only(ShownForms::Terminal, vec![Part::Table(joined(matrix))]));
            parts.push(Part::Only(ShownForms::Whole, vec![Part::Table(grouped(matrix))]));
        }
        parts.push(Part::list(Tone::Faint, notes.lines().chain(table.notes.iter().cloned())));
    }
    for (title, tone, items) in [
        ("Published on", Tone::Plain, &file.published_on),
        ("What is different here", Tone::Plain, &file.departures),
        ("Doubts about the published figures", Tone::Plain, &file.notes),
        ("Warnings", Tone::Doubtful, &view::warnings(file)),
    ] {
        if !items.is_empty() {
            parts.extend([Part::heading(2, title), Part::list(tone, items.clone())]);
        }
    }
    parts.extend(engines(file));
    let lines: Vec<view::CellLine> = view::lines(file).into_iter().filter(|line| line.cell.target.is_some()).collect();
    let summary = format!("Every figure with its interval, work and state ({})", lines.len());
    let every = Part::fold(summary, vec![Part::Table(evidence(&lines))]);
    parts.push(Part::Only(ShownForms::Html, vec![every]));
    parts.push(Part::again(&file.provenance));
    let name = format!("suite {}", file.suite);
    let sheet = Sheet::of_run(&file.title, &name, &file.provenance, file.interrupted);
    Sheet { parts, notices: file.notice.iter().cloned().collect(), ..sheet }
}

/// The document as a page, which carries it as JSON and as Markdown.
pub fn suite_html(file: &SuiteFile) -> String {
    let sheet = suite(file);
    let answer = Some(sheet.markdown());
    Sheet { document: Some(("suite.json", file.to_json())), answer, ..sheet }.html()
}

fn findings(file: &SuiteFile) -> Vec<Part> {
    let mut lines = Vec::new();
    for finding in &file.findings {
        let says = format!("{}: {}", finding.verdict.words(), view::finding_words(finding));
        lines.push((0, Remark::new(view::tone(finding.verdict), says)));
        lines.extend(finding.tests.iter().map(|test| (1, Remark::new(Tone::Plain, view::test_words(test)))));
        lines.extend(finding.untested.iter().map(|why| (1, Remark::new(Tone::Plain, format!("not tested: {why}")))));
    }
    match lines.is_empty() {
        true => Vec::new(),
        false => vec![Part::heading(2, "What was found then, and whether it holds here"), Part::List(lines)],
    }
}

/// A measure with three columns for each published one.
fn grouped(matrix: &Matrix) -> Table {
    let of_column = || ["ours", "published", "ratio"].map(Head::right);
    let heads =
        [Head::left(matrix.rows_are.clone())].into_iter().chain(matrix.columns.iter().flat_map(|_| of_column()));
    let mut table = Table::new(matrix.title.clone(), heads.collect());
    table.group.clone_from(&matrix.columns);
    for (title, cells) in &matrix.rows {
        let cells = cells.iter().flat_map(|cell| {
            let measured = format!("{} {}", cell.measured, cell.mark);
            [Cell::text(measured.trim_end()).tone(cell.tone), Cell::text(&cell.published), Cell::text(&cell.ratio)]
        });
        table.push([Cell::text(title)].into_iter().chain(cells).collect());
    }
    table
}

/// A measure with a column for each published one.
fn joined(matrix: &Matrix) -> Table {
    let columns = matrix.columns.iter().map(|column| Head::right(column.clone()));
    let heads = [Head::left(matrix.rows_are.clone())].into_iter().chain(columns);
    let mut table = Table::new(format!("{}: ours | published | ratio", matrix.title), heads.collect());
    for (title, cells) in &matrix.rows {
        let cells = cells.iter().map(|cell| Cell::text(&cell.joined()).tone(cell.tone));
        table.push([Cell::text(title)].into_iter().chain(cells).collect());
    }
    table
}

/// Machine and engines that it ran on.
fn engines(file: &SuiteFile) -> Vec<Part> {
    let machine = &file.provenance.machine;
    let facts = [
        machine.processor.clone(),
        units::counted(u64::from(machine.cores), "core", "cores"),
        units::bytes(machine.memory_bytes as f64),
        machine.system.clone(),
        format!("{} build", file.provenance.build.profile),
        format!("seed {}", file.provenance.seed),
    ];
    let mut parts = vec![Part::heading(2, "What it ran on"), Part::text(facts.join(" · "))];
    let in_page = |used: &EngineUsed| {
        let mut parts = vec![Part::heading(3, used.title.clone())];
        match &used.engine {
            Some(engine) => {
                parts.push(Part::class(engine.durability, &engine.durability_reason));
                let on = format!("{} · {}", engine.target, engine_words(engine));
                parts.push(Part::at(Place::Target, Tone::Plain, on));
                let settings = engine.settings.iter().map(|it| format!("{}={}", it.name, it.value));
                let settings = settings.collect::<Vec<_>>().join(" · ");
                parts.push(Part::fold("settings read back", vec![Part::text(settings)]));
            }
            None => {
                parts.push(Part::class("not run", used.not_run.as_deref().unwrap_or("interrupted before its turn")));
            }
        }
        parts
    };
    parts.push(Part::Only(ShownForms::Whole, file.engines.values().flat_map(in_page).collect()));
    let in_line = file.engines.iter().filter_map(|(name, used)| {
        let engine = used.engine.as_ref()?;
        let (target, class, reason) = (&engine.target, engine.durability, &engine.durability_reason);
        Some(Part::text(format!("{name}: {target} · {} · {class} ({reason})", engine_words(engine))))
    });
    parts.push(Part::Only(ShownForms::Terminal, in_line.collect()));
    parts
}

/// Details of each figure of each cell.
fn evidence(lines: &[view::CellLine]) -> Table {
    let heads = ["table", "row", "column", "figure"].map(Head::left).into_iter();
    let heads = heads.chain(["median", "95 % interval", "rounds", "done"].map(Head::right));
    let heads = heads.chain(["durability", "workload", "state"].map(Head::left));
    let mut table = Table::new("", heads.collect());
    for line in lines {
        let (cell, figure) = (&line.cell, line.figure.as_ref());
        let number = |value: Option<f64>| figure.zip(value).map(|(figure, value)| view::written(figure.measure, value));
        let interval = figure.and_then(|figure| Some((number(figure.low)?, number(figure.high)?)));
        let done = view::done(cell).map(|(least, most)| {
            let range = if least == most { String::new() } else { format!(" to {}", units::count(most)) };
            let of = cell.work.map(|work| format!(" of {}", units::count(work))).unwrap_or_default();
            format!("{}{range}{of}", units::count(least))
        });
        let or_nothing = |text: Option<String>| Cell::or_missing(text.map(|text| Cell::text(&text)));
        table.push(vec![
            Cell::text(&line.table),
            Cell::text(&line.row),
            Cell::text(&line.column),
            Cell::text(figure.map(|figure| figure.measure.title("")).unwrap_or_default().trim_start_matches('/')),
            or_nothing(number(figure.and_then(|it| it.measured))),
            or_nothing(interval.map(|(low, high)| format!("{low} to {high}"))),
            Cell::text(&cell.rounds.len().to_string()),
            or_nothing(done),
            Cell::text(cell.durability.map_or(units::NOTHING, Durability::name)),
            Cell::text(&cell.workload),
            Cell::text(&view::state_words(cell)),
        ]);
    }
    table
}
