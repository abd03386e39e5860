//! Contents of the tables of a suite.

use crate::tables::Tone;
use crate::units;
use bourse_verdict::suite::document::{CellFigure, CellResult, CellState, SuiteFile, TableResult};
use bourse_verdict::suite::finding::{FindingResult, TestResult};
use bourse_verdict::suite::measure::MeasureFormat;
use bourse_verdict::suite::{FindingVerdict, Measure};
use std::collections::BTreeMap;

/// One measure of a table.
pub(super) struct Matrix {
    pub(super) title: String,
    pub(super) rows_are: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<(String, Vec<MatrixCell>)>,
}

/// A cell: the measured figure, the published figure, their ratio; a mark if it has a footnote.
#[derive(Debug, Clone, Default)]
pub(super) struct MatrixCell {
    pub(super) measured: String,
    pub(super) mark: String,
    pub(super) published: String,
    pub(super) ratio: String,
    pub(super) tone: Tone,
}

impl MatrixCell {
    pub(super) fn joined(&self) -> String {
        let measured =
            if self.mark.is_empty() { self.measured.clone() } else { format!("{} {}", self.measured, self.mark) };
        format!("{measured} | {} | {}", self.published, self.ratio)
    }
}

/// Footnotes of a table: each text once.
#[derive(Debug, Default)]
pub(super) struct Footnotes {
    pub(super) texts: Vec<String>,
}

impl Footnotes {
    fn mark(&mut self, text: String) -> String {
        let at = self.texts.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        name(at)
    }

    /// Every footnote with its mark before it.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.texts.iter().enumerate().map(|(at, text)| format!("{} {text}", name(at)))
    }
}

/// `a`, `b` … `z`, `aa` …
fn name(at: usize) -> String {
    let letter = char::from(b'a' + (at % 26) as u8);
    let prefix = if at >= 26 { name(at / 26 - 1).trim_matches(['(', ')']).to_owned() } else { String::new() };
    format!("({prefix}{letter})")
}

/// The measures of a table as matrices, and the footnotes below them. A measure with neither a measured nor a published
/// figure is left out.
pub(super) fn matrices(table: &TableResult) -> (Vec<Matrix>, Footnotes) {
    let mut notes = Footnotes::default();
    let mut matrices = Vec::new();
    for (nth, measure) in table.measures.iter().enumerate() {
        let figures = || table.cells.iter().filter_map(|cell| figure_of(cell, *measure));
        let told = figures().any(|figure| figure.measured.is_some() || figure.published.is_some());
        if !told && nth > 0 {
            continue;
        }
        let rows = table
            .rows
            .iter()
            .map(|row| {
                let cells = table.columns.iter().map(|column| {
                    let cell = table.cells.iter().find(|cell| cell.row == row.id && cell.column == column.id);
                    cell.map_or_else(MatrixCell::default, |cell| matrix_cell(cell, *measure, &mut notes))
                });
                (units::printable(&row.title), cells.collect())
            })
            .collect();
        matrices.push(Matrix {
            title: units::printable(&measure.title(&table.counted)),
            rows_are: units::printable(&table.rows_are),
            columns: table.columns.iter().map(|column| units::printable(&column.title)).collect(),
            rows,
        });
    }
    (matrices, notes)
}

pub(super) fn figure_of(cell: &CellResult, measure: Measure) -> Option<&CellFigure> {
    cell.figures.iter().find(|figure| figure.measure == measure)
}

/// A figure with its unit.
pub(super) fn written(measure: Measure, value: f64) -> String {
    match measure.unit() {
        MeasureFormat::Number => units::number(value),
        MeasureFormat::Bytes => units::decimal_bytes(value),
        MeasureFormat::Percent => format!("{} %", units::significant(value, 3)),
    }
}

fn matrix_cell(cell: &CellResult, measure: Measure, notes: &mut Footnotes) -> MatrixCell {
    let figure = figure_of(cell, measure);
    let published = figure.and_then(|figure| figure.published).map(|value| written(measure, value));
    let ratio = figure.and_then(|figure| figure.ratio).map(|ratio| format!("{}×", units::significant(ratio, 3)));
    let mut said = Vec::new();
    let (measured, tone) = match &cell.state {
        CellState::NotRun(why) => {
            said.push(format!("not run: {why}"));
            ("not run".to_owned(), Tone::Doubtful)
        }
        CellState::Failed(why) => {
            said.push(format!("failed: {why}"));
            ("failed".to_owned(), Tone::Bad)
        }
        CellState::Void(why) => {
            said.push(format!("void: {why}"));
            ("void".to_owned(), Tone::Bad)
        }
        CellState::Absent(why) => {
            said.push(why.clone());
            (units::NOTHING.to_owned(), Tone::Faint)
        }
        CellState::Measured | CellState::Derived => {
            let measured = figure.and_then(|figure| figure.measured).map(|value| written(measure, value));
            said.extend(capped(cell));
            said.extend(failures(cell));
            said.extend(figure.and_then(|figure| figure.no_ratio.clone()).map(|why| format!("no ratio: {why}")));
            (measured.unwrap_or_else(|| units::NOTHING.to_owned()), Tone::Plain)
        }
    };
    if published.is_some() {
        said.extend(cell.published.note.iter().map(|note| format!("published: {note}")));
    }
    let mark: String = said.into_iter().map(|text| notes.mark(units::printable(&text))).collect();
    MatrixCell {
        measured,
        mark,
        published: published.unwrap_or_else(|| units::NOTHING.to_owned()),
        ratio: ratio.unwrap_or_else(|| units::NOTHING.to_owned()),
        tone,
    }
}

/// Note on the work that a cap left undone; no estimate of the full run.
fn capped(cell: &CellResult) -> Option<String> {
    let rounds: Vec<u64> = cell.rounds.iter().filter(|round| round.capped).map(|round| round.done).collect();
    let (low, high) = (rounds.iter().min()?, rounds.iter().max()?);
    let done =
        if low == high { units::count(*low) } else { format!("{} to {}", units::count(*low), units::count(*high)) };
    let of = cell.work.map(|work| format!(" of {}", units::count(work))).unwrap_or_default();
    let which = if rounds.len() < cell.rounds.len() {
        format!("{} of {} rounds ", rounds.len(), cell.rounds.len())
    } else {
        String::new()
    };
    let cap = cell.cap_s.map(units::seconds).unwrap_or_default();
    Some(format!("{which}ended by the cap of {cap}: {done}{of} done"))
}

fn failures(cell: &CellResult) -> Option<String> {
    let failed: u64 = cell.rounds.iter().map(|round| round.failed).sum();
    (failed > 0).then(|| format!("{} failed, over all rounds", units::counted(failed, "operation", "operations")))
}

/// The warnings with their advice.
pub(super) fn warnings(file: &SuiteFile) -> Vec<String> {
    file.warnings.iter().map(crate::view::warning).collect()
}

/// Durability classes of a table's targets, as text; and whether they differ.
pub(super) fn durability(file: &SuiteFile, table: &TableResult) -> (String, bool) {
    let mut by_class: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let mut seen = Vec::new();
    for cell in &table.cells {
        let (Some(target), Some(class)) = (&cell.target, &cell.durability) else { continue };
        if !seen.contains(&target) {
            seen.push(target);
            let title = file.engines.get(target).map_or(target.as_str(), |engine| engine.title.as_str());
            by_class.entry(class.name()).or_default().push(units::printable(title));
        }
    }
    let classes: Vec<String> =
        by_class.iter().map(|(class, targets)| format!("{class} ({})", targets.join("; "))).collect();
    match classes.len() {
        0 => ("durability class: nothing was measured".to_owned(), false),
        1 => (format!("durability class: {}", classes[0]), false),
        _ => (format!("durability classes differ, so that not the same was done: {}", classes.join(", ")), true),
    }
}

/// Rounds of the measured cells, and those requested if a cell has fewer.
fn rounds(file: &SuiteFile, measured: &[&&CellResult]) -> String {
    let requested = units::counted(u64::from(file.rounds), "round", "rounds");
    let done = || measured.iter().map(|cell| cell.rounds.len() as u64);
    match (done().min(), done().max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {} of {requested}", units::count(least), units::count(most))
        }
        (Some(all), _) if all < u64::from(file.rounds) => format!("{} of {requested}", units::count(all)),
        _ => requested,
    }
}

/// Lines at the top: scale, rounds, missing parts.
pub(super) fn summary(file: &SuiteFile) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    if file.interrupted {
        lines.push((Tone::Bad, "interrupted: what was measured until then is here".to_owned()));
    }
    if file.scale < 1.0 {
        let scale = file.scale;
        lines.push((
            Tone::Doubtful,
            format!(
                "scale {scale}: rows, counts and durations are {scale} of the published ones; a quick look, not a rerun"
            ),
        ));
    }
    let every: Vec<&CellResult> =
        file.tables.iter().flat_map(|table| &table.cells).filter(|cell| cell.target.is_some()).collect();
    let measured: Vec<&&CellResult> = every.iter().filter(|cell| cell.state == CellState::Measured).collect();
    let is_whole = measured.len() == every.len();
    let rounds = rounds(file, &measured);
    lines.push((
        if is_whole { Tone::Plain } else { Tone::Doubtful },
        format!("{} of {} cells measured, {rounds} each; ratio = ours / published", measured.len(), every.len()),
    ));
    let missing = file.engines.values().filter_map(|engine| Some((engine, engine.not_run.as_ref()?)));
    lines.extend(missing.map(|(engine, why)| (Tone::Doubtful, format!("{}: not run: {why}", engine.title))));
    lines
}

/// Colour of a verdict.
pub(super) const fn tone(verdict: FindingVerdict) -> Tone {
    match verdict {
        FindingVerdict::Holds => Tone::Good,
        FindingVerdict::DoesNotHold => Tone::Bad,
        FindingVerdict::NotShown | FindingVerdict::NotTestable => Tone::Doubtful,
    }
}

/// Text of a test: value, interval, range, verdict.
pub(super) fn test_words(test: &TestResult) -> String {
    let number = |value: f64| units::significant(value, 3);
    let value = match (test.value, test.low, test.high) {
        (Some(value), Some(low), Some(high)) => {
            // Intervals in documents without levels have a lower level than they claimed.
            let level = test.level.map(|level| format!("{} ", units::level(level))).unwrap_or_default();
            format!("{} ({level}interval {} to {})", number(value), number(low), number(high))
        }
        (Some(value), ..) => number(value),
        _ => units::NOTHING.to_owned(),
    };
    let range = match (test.at_least, test.at_most) {
        (Some(from), Some(to)) => format!("{} to {}", number(from), number(to)),
        (Some(from), None) => format!("at least {}", number(from)),
        (None, Some(to)) => format!("at most {}", number(to)),
        (None, None) => units::NOTHING.to_owned(),
    };
    let why = test.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let published = test.published.map(|value| format!("; published: {}", number(value))).unwrap_or_default();
    let verdict = test.verdict.name();
    units::printable(&format!("{}: {value}{published}; to hold: {range}: {verdict}{why}", test.claim))
}

/// A finding's words.
pub(super) fn finding_words(finding: &FindingResult) -> String {
    units::printable(&format!("{} (published: {})", finding.claim, rests_on(finding)))
}

/// Basis of a finding, the level of the verdict on it, and the departure from the publication.
pub(super) fn rests_on(finding: &FindingResult) -> String {
    let level = finding.level.map(|level| format!("; level of the verdict: {}", units::level(level)));
    let departure = finding.departure.as_ref().map(|what| format!("; tested on a departure: {what}"));
    units::printable(&format!("{}{}{}", finding.rests_on, level.unwrap_or_default(), departure.unwrap_or_default()))
}

/// Every cell with all its figures, a row each: the detailed form of CSV, Markdown and the page.
pub(crate) struct CellLine {
    pub(crate) table: String,
    pub(crate) row: String,
    pub(crate) column: String,
    pub(crate) cell: CellResult,
    pub(crate) figure: Option<CellFigure>,
}

pub(crate) fn lines(file: &SuiteFile) -> Vec<CellLine> {
    let mut lines = Vec::new();
    for table in &file.tables {
        for cell in &table.cells {
            let title = |all: &[bourse_verdict::suite::document::Heading], id: &str| {
                all.iter().find(|it| it.id == id).map_or_else(|| id.to_owned(), |it| units::printable(&it.title))
            };
            let line = |figure: Option<&CellFigure>| CellLine {
                table: table.id.clone(),
                row: title(&table.rows, &cell.row),
                column: title(&table.columns, &cell.column),
                cell: cell.clone(),
                figure: figure.cloned(),
            };
            if cell.figures.is_empty() {
                lines.push(line(None));
            }
            lines.extend(cell.figures.iter().map(|figure| line(Some(figure))));
        }
    }
    lines
}

/// State of a cell as a sentence.
pub(crate) fn state_words(cell: &CellResult) -> String {
    units::printable(&match &cell.state {
        CellState::Measured => "measured".to_owned(),
        CellState::Derived => "derived".to_owned(),
        CellState::NotRun(why) => format!("not run: {why}"),
        CellState::Failed(why) => format!("failed: {why}"),
        CellState::Void(why) => format!("void: {why}"),
        CellState::Absent(why) => format!("absent: {why}"),
    })
}

/// Work done in the rounds: least and most.
pub(crate) fn done(cell: &CellResult) -> Option<(u64, u64)> {
    let done = || cell.rounds.iter().map(|round| round.done);
    Some((done().min()?, done().max()?))
}
