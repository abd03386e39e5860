//! A suite as a document: findings first, then the tables as they were published.

use super::chart::{charts, published};
use super::view::{self, Matrix};
use crate::documents::{LinePlace, Sheet, SheetPart, ShownForms};
use crate::tables::{ColumnHead, SheetTable, TableCell, Tone, row};
use crate::units;
use crate::view::{Remark, engine_words};
use bourse_record::{Document as _, Durability};
use bourse_verdict::suite::SuiteFile;
use bourse_verdict::suite::document::EngineUsed;

/// The document, with its charts.
pub fn suite(file: &SuiteFile) -> Sheet {
    let listed = |all: Vec<(Tone, String)>| {
        SheetPart::List(all.into_iter().map(|(tone, text)| (0, Remark::new(tone, text))).collect())
    };
    let mut parts = vec![listed(view::summary(file))];
    parts.extend(findings(file));
    for (at, table) in file.tables.iter().enumerate() {
        parts.push(SheetPart::Heading(2, format!("table-{}", at + 1), table.title.clone()));
        let (durability, differ) = view::durability(file, table);
        parts.push(SheetPart::toned(if differ { Tone::Doubtful } else { Tone::Plain }, durability));
        parts.extend(published(table, at).into_iter().chain(charts(table, at)).map(|it| SheetPart::Charts(vec![it])));
        let (matrices, notes) = view::matrices(table);
        for matrix in &matrices {
            parts.push(SheetPart::Only(ShownForms::Terminal, vec![SheetPart::Table(joined(matrix))]));
            parts.push(SheetPart::Only(ShownForms::Whole, vec![SheetPart::Table(grouped(matrix))]));
        }
        parts.push(SheetPart::list(Tone::Faint, notes.lines().chain(table.notes.iter().cloned())));
    }
    for (title, tone, items) in [
        ("Published on", Tone::Plain, &file.published_on),
        ("What is different here", Tone::Plain, &file.departures),
        ("Doubts about the published figures", Tone::Plain, &file.notes),
        ("Warnings", Tone::Doubtful, &view::warnings(file)),
    ] {
        if !items.is_empty() {
            parts.extend([SheetPart::heading(2, title), SheetPart::list(tone, items.clone())]);
        }
    }
    parts.extend(engines(file));
    let lines: Vec<view::CellLine> = view::lines(file).into_iter().filter(|line| line.cell.target.is_some()).collect();
    let summary = format!("Every figure with its interval, work and state ({})", lines.len());
    let every = SheetPart::fold(summary, vec![SheetPart::Table(evidence(&lines))]);
    parts.push(SheetPart::Only(ShownForms::Html, vec![every]));
    parts.push(SheetPart::again(&file.provenance));
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

fn findings(file: &SuiteFile) -> Vec<SheetPart> {
    let mut lines = Vec::new();
    for finding in &file.findings {
        let says = format!("{}: {}", finding.verdict.name(), view::finding_words(finding));
        lines.push((0, Remark::new(view::tone(finding.verdict), says)));
        lines.extend(finding.tests.iter().map(|test| (1, Remark::new(Tone::Plain, view::test_words(test)))));
        lines.extend(finding.untested.iter().map(|why| (1, Remark::new(Tone::Plain, format!("not tested: {why}")))));
    }
    match lines.is_empty() {
        true => Vec::new(),
        false => vec![SheetPart::heading(2, "What was found then, and whether it holds here"), SheetPart::List(lines)],
    }
}

/// A measure with three columns for each published one.
fn grouped(matrix: &Matrix) -> SheetTable {
    let of_column = || ["ours", "published", "ratio"].map(ColumnHead::right);
    let heads =
        [ColumnHead::left(matrix.rows_are.clone())].into_iter().chain(matrix.columns.iter().flat_map(|_| of_column()));
    let mut table = SheetTable::new(matrix.title.clone(), heads.collect());
    table.group.clone_from(&matrix.columns);
    for (title, cells) in &matrix.rows {
        let cells = cells.iter().flat_map(|cell| {
            let measured = format!("{} {}", cell.measured, cell.mark);
            [
                TableCell::text(measured.trim_end()).tone(cell.tone),
                TableCell::text(&cell.published),
                TableCell::text(&cell.ratio),
            ]
        });
        table.push([TableCell::text(title)].into_iter().chain(cells).collect());
    }
    table
}

/// A measure with a column for each published one.
fn joined(matrix: &Matrix) -> SheetTable {
    let columns = matrix.columns.iter().map(|column| ColumnHead::right(column.clone()));
    let heads = [ColumnHead::left(matrix.rows_are.clone())].into_iter().chain(columns);
    let mut table = SheetTable::new(format!("{}: ours | published | ratio", matrix.title), heads.collect());
    for (title, cells) in &matrix.rows {
        let cells = cells.iter().map(|cell| TableCell::text(&cell.joined()).tone(cell.tone));
        table.push([TableCell::text(title)].into_iter().chain(cells).collect());
    }
    table
}

/// Machine and engines that it ran on.
fn engines(file: &SuiteFile) -> Vec<SheetPart> {
    let machine = &file.provenance.machine;
    let facts = [
        machine.processor.clone(),
        units::counted(u64::from(machine.cores), "core", "cores"),
        units::bytes(machine.memory_bytes as f64),
        machine.system.clone(),
        format!("{} build", file.provenance.build.profile),
        format!("seed {}", file.provenance.seed),
    ];
    let mut parts = vec![SheetPart::heading(2, "What it ran on"), SheetPart::text(facts.join(" · "))];
    let in_page = |used: &EngineUsed| {
        let mut parts = vec![SheetPart::heading(3, used.title.clone())];
        match &used.engine {
            Some(engine) => {
                parts.push(SheetPart::class(engine.durability, &engine.durability_reason));
                let on = format!("{} · {}", engine.target, engine_words(engine));
                parts.push(SheetPart::at(LinePlace::Target, Tone::Plain, on));
                let settings = engine.settings.iter().map(|it| format!("{}={}", it.name, it.value));
                let settings = settings.collect::<Vec<_>>().join(" · ");
                parts.push(SheetPart::fold("settings read back", vec![SheetPart::text(settings)]));
            }
            None => {
                parts.push(SheetPart::class(
                    "not run",
                    used.not_run.as_deref().unwrap_or("interrupted before its turn"),
                ));
            }
        }
        parts
    };
    parts.push(SheetPart::Only(ShownForms::Whole, file.engines.values().flat_map(in_page).collect()));
    let in_line = file.engines.iter().filter_map(|(name, used)| {
        let engine = used.engine.as_ref()?;
        let (target, class, reason) = (&engine.target, engine.durability, &engine.durability_reason);
        Some(SheetPart::text(format!("{name}: {target} · {} · {class} ({reason})", engine_words(engine))))
    });
    parts.push(SheetPart::Only(ShownForms::Terminal, in_line.collect()));
    parts
}

/// Details of each figure of each cell.
fn evidence(lines: &[view::CellLine]) -> SheetTable {
    let heads = ["table", "row", "column", "figure"].map(ColumnHead::left).into_iter();
    let heads = heads.chain(["median", "95 % interval", "rounds", "done"].map(ColumnHead::right));
    let heads = heads.chain(["durability", "workload", "state"].map(ColumnHead::left));
    let mut table = SheetTable::new("", heads.collect());
    for line in lines {
        let (cell, figure) = (&line.cell, line.figure.as_ref());
        let number = |value: Option<f64>| figure.zip(value).map(|(figure, value)| view::written(figure.measure, value));
        let interval = figure.and_then(|figure| Some((number(figure.low)?, number(figure.high)?)));
        let done = view::done(cell).map(|(least, most)| {
            let range = if least == most { String::new() } else { format!(" to {}", units::count(most)) };
            let of = cell.work.map(|work| format!(" of {}", units::count(work))).unwrap_or_default();
            format!("{}{range}{of}", units::count(least))
        });
        let or_nothing = |text: Option<String>| TableCell::or_missing(text.map(|text| TableCell::text(&text)));
        table.push(row![
            &line.table,
            &line.row,
            &line.column,
            figure.map(|figure| figure.measure.title("")).unwrap_or_default().trim_start_matches('/'),
            or_nothing(number(figure.and_then(|it| it.measured))),
            or_nothing(interval.map(|(low, high)| format!("{low} to {high}"))),
            cell.rounds.len().to_string(),
            or_nothing(done),
            cell.durability.map_or(units::NOTHING, Durability::name),
            &cell.workload,
            view::state_words(cell)
        ]);
    }
    table
}
