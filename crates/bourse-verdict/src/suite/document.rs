//! `suite.json`: one versioned document with measured and published figures, and all that is needed to doubt them.
//! Written and read like run files; every report of a suite is drawn from it alone.

use crate::suite::definition::{PublishedFigures, SuiteTable};
use crate::suite::finding::{self, FindingResult};
use crate::suite::measure::{Measure, counts};
use crate::suite::plan::{CellPlan, PlannedCell};
use bourse_record::{
    CheckStatus, Document, DocumentKind, Durability, Engine, Provenance, Round, SCHEMA_VERSION, Warning,
};
use bourse_stats::center;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A rerun of a published experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// Name of the suite.
    pub suite: String,
    /// Title: what the suite measures.
    pub title: String,
    /// Machine and settings of the publication.
    pub published_on: Vec<String>,
    /// Differences from the publication, with reasons.
    pub departures: Vec<String>,
    /// Contradictions in the published figures, and other doubts.
    pub notes: Vec<String>,
    /// Notice that every report of these figures must show.
    pub notice: Option<String>,
    /// Time, command, seed, program and machine of the rerun.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Factor that counts of rows and operations were multiplied by.
    pub scale: f64,
    /// Requested rounds of each case.
    pub rounds: u32,
    /// Engines of the cases, by name of the target.
    pub engines: BTreeMap<String, EngineUsed>,
    /// Published tables.
    pub tables: Vec<TableResult>,
    /// Results for the published findings.
    pub findings: Vec<FindingResult>,
    /// Warnings about the figures.
    pub warnings: Vec<Warning>,
    /// Whether the rerun was interrupted.
    pub interrupted: bool,
}

/// Engine of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineUsed {
    /// Title of a few words.
    pub title: String,
    /// Engine as read back; `None` if nothing was run on it.
    pub engine: Option<Engine>,
    /// Reason that nothing was run on it, if so.
    pub not_run: Option<String>,
}

/// One published table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TableResult {
    /// Short name.
    pub id: String,
    /// Title of the table.
    pub title: String,
    /// Head of the first column, which names the rows.
    pub rows_are: String,
    /// Unit that is counted.
    pub counted: String,
    /// Measures shown in each cell.
    pub measures: Vec<Measure>,
    /// Columns, by short name and head.
    pub columns: Vec<Heading>,
    /// Rows, by short name and label.
    pub rows: Vec<Heading>,
    /// Cells, row by row; each row has one for each column.
    pub cells: Vec<CellResult>,
    /// Notes.
    pub notes: Vec<String>,
    /// Whether it was published as charts by row.
    pub charted: bool,
}

/// Name of a row or a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heading {
    /// Short name.
    pub id: String,
    /// Title for display.
    pub title: String,
}

/// State of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "state", content = "why")]
pub enum CellState {
    /// Rounds of the cell were run.
    Measured,
    /// The cell is computed from others.
    Derived,
    /// The cell was not run, for this reason.
    NotRun(String),
    /// The cell was run and failed, for this reason.
    Failed(String),
    /// A check of the database failed: the cell has no figure.
    Void(String),
    /// The cell does not exist, for this reason.
    Absent(String),
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellResult {
    /// Short name of its row.
    pub row: String,
    /// Short name of its column.
    pub column: String,
    /// State of the cell.
    #[serde(flatten)]
    pub state: CellState,
    /// Name of its target, if it has one.
    pub target: Option<String>,
    /// Durability class it was measured with.
    pub durability: Option<Durability>,
    /// Workload and options, as typed at this scale.
    pub workload: String,
    /// Operations to perform, if the work ends a round.
    pub work: Option<u64>,
    /// Operations that the published time covers.
    pub published_work: Option<u64>,
    /// Maximum of a round's measurement in seconds.
    pub cap_s: Option<f64>,
    /// Rounds of the cell.
    pub rounds: Vec<CellRound>,
    /// Published figures.
    pub published: PublishedFigures,
    /// Measured figures compared with published ones.
    pub figures: Vec<CellFigure>,
}

/// One round of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellRound {
    /// Operations completed.
    pub done: u64,
    /// Total duration in seconds.
    pub seconds: f64,
    /// Whether the maximum time ended the round.
    pub capped: bool,
    /// Operations that failed.
    pub failed: u64,
    /// Measured figures.
    pub values: BTreeMap<Measure, f64>,
}

/// A figure of a cell: measured, published, and their ratio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellFigure {
    /// Measure of the figure.
    pub measure: Measure,
    /// Hodges–Lehmann estimate over the measured rounds.
    pub measured: Option<f64>,
    /// Lower end of its signed-rank interval over the rounds.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Level of the interval.
    pub level: Option<f64>,
    /// Published figure.
    pub published: Option<f64>,
    /// Ratio of the measured figure to the published one.
    pub ratio: Option<f64>,
    /// Reason that there is no ratio although both figures exist.
    pub no_ratio: Option<String>,
}

/// Result of a case.
#[derive(Debug, Clone, Default)]
pub struct SuiteCaseOutcome {
    /// Completed rounds of the case.
    pub rounds: Vec<Round>,
    /// Reason that rounds are missing, if any are.
    pub trouble: Option<Incomplete>,
}

/// Reason that rounds of a case are missing.
#[derive(Debug, Clone)]
pub enum Incomplete {
    /// The case was not started, for this reason.
    NotRun(String),
    /// The case failed, for this reason.
    Failed(String),
}

/// Facts about a rerun that the runner contributes.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "as in SuiteFile")]
pub struct RerunFacts {
    pub provenance: Provenance,
    pub rounds: u32,
    pub engines: BTreeMap<String, EngineUsed>,
    pub warnings: Vec<Warning>,
    pub interrupted: bool,
}

impl CellRound {
    /// Result of a round for an operation; the first by default.
    pub fn of(round: &Round, operation: Option<&str>, work: Option<u64>, cap_s: f64, cores: u32) -> Self {
        let (done, failed) = counts(round, operation);
        let seconds = round.measured_s;
        let capped = seconds >= cap_s * 0.999 && work.is_none_or(|work| done < work);
        let value = |measure: Measure| Some((measure, measure.measured(round, done, seconds, cores)?));
        Self { done, seconds, capped, failed, values: Measure::ALL.into_iter().filter_map(value).collect() }
    }
}

impl SuiteFile {
    /// Document of a plan, from the outcomes of its cases.
    pub fn of(plan: &CellPlan<'_>, outcomes: &[SuiteCaseOutcome], facts: RerunFacts) -> Self {
        let suite = plan.suite;
        let shown = |at: usize| plan.cells.iter().any(|cell| cell.table == at);
        let tables: Vec<TableResult> = suite
            .tables
            .iter()
            .enumerate()
            .filter(|(at, _)| shown(*at))
            .map(|(at, table)| table_result(plan, outcomes, &facts, at, table))
            .collect();
        let findings = finding::judge(&suite.findings, &tables, facts.provenance.machine.cores, plan.scale);
        Self {
            document: Self::KIND,
            schema_version: SCHEMA_VERSION,
            suite: suite.name.clone(),
            title: suite.title.clone(),
            published_on: suite.published_on.clone(),
            departures: suite.departures.clone(),
            notes: suite.notes.clone(),
            notice: suite.notice.clone(),
            provenance: facts.provenance,
            scale: plan.scale,
            rounds: facts.rounds,
            engines: facts.engines,
            tables,
            findings,
            warnings: facts.warnings,
            interrupted: facts.interrupted,
        }
    }

    /// Whether any cell has a figure.
    pub fn has_figures(&self) -> bool {
        self.tables.iter().flat_map(|table| &table.cells).any(|cell| !cell.rounds.is_empty())
    }
}

fn table_result(
    plan: &CellPlan<'_>,
    outcomes: &[SuiteCaseOutcome],
    facts: &RerunFacts,
    at: usize,
    table: &SuiteTable,
) -> TableResult {
    let named = |id: &str, title: &str| Heading { id: id.to_owned(), title: title.to_owned() };
    let mut cells = Vec::new();
    // A note counts the rows that a smaller scale omits.
    let is_run = |row: usize| !table.thins || plan.cells.iter().any(|cell| (cell.table, cell.row) == (at, row));
    for (row_at, row) in table.rows.iter().enumerate().filter(|(row, _)| is_run(*row)) {
        let from = cells.len();
        for (column_at, column) in table.columns.iter().enumerate() {
            let published = row.published.get(&column.id).cloned().unwrap_or_default();
            let planned = plan.cells.iter().find(|cell| (cell.table, cell.row, cell.column) == (at, row_at, column_at));
            cells.push(match planned {
                Some(planned) => measured_cell(plan, planned, &outcomes[planned.case], facts, table, published),
                None => {
                    let own = row.cells.get(&column.id).and_then(|cell| cell.absent.clone());
                    let state = own.map_or(CellState::Derived, CellState::Absent);
                    empty_cell(&row.id, &column.id, state, published)
                }
            });
        }
        // Sums follow the columns that they add up.
        for (column_at, column) in table.columns.iter().enumerate().filter(|(_, column)| !column.sum_of.is_empty()) {
            let parts: Vec<&CellResult> =
                cells[from..].iter().filter(|cell| column.sum_of.contains(&cell.column)).collect();
            let figures = sums(table, &parts, &cells[from + column_at].published);
            cells[from + column_at].figures = figures;
        }
    }
    let mut rows: Vec<Heading> = Vec::new();
    for (row_at, row) in table.rows.iter().enumerate().filter(|(row, _)| is_run(*row)) {
        let planned = plan.cells.iter().find(|cell| (cell.table, cell.row) == (at, row_at));
        let seconds =
            planned.and_then(|cell| plan.cases[cell.case].seconds).filter(|_| plan.scale < 1.0 && table.thins);
        let title = seconds.map_or_else(|| row.title.clone(), |here| format!("{here} s for {}", row.title));
        rows.push(named(&row.id, &title));
    }
    let mut notes = table.notes.clone();
    if rows.len() < table.rows.len() {
        notes.push(format!("Of {} rows {} are run at this scale.", table.rows.len(), rows.len()));
    }
    if let Some(mean) = &table.mean {
        for column in &table.columns {
            let published = mean.published.get(&column.id).cloned().unwrap_or_default();
            let mut cell = empty_cell(MEAN_ROW, &column.id, CellState::Derived, published);
            let parts: Vec<&CellResult> = cells.iter().filter(|part| part.column == column.id).collect();
            cell.figures = means(table, &parts, &cell.published);
            cells.push(cell);
        }
        rows.push(named(MEAN_ROW, &mean.title));
    }
    TableResult {
        id: table.id.clone(),
        title: table.title.clone(),
        rows_are: table.rows_are.clone(),
        counted: table.counted.clone(),
        measures: table.measures.clone(),
        columns: table.columns.iter().map(|column| named(&column.id, &column.title)).collect(),
        rows,
        cells,
        notes,
        charted: table.charted,
    }
}

/// Short name of the row of means.
pub const MEAN_ROW: &str = "mean";

fn empty_cell(row: &str, column: &str, state: CellState, published: PublishedFigures) -> CellResult {
    CellResult {
        row: row.to_owned(),
        column: column.to_owned(),
        state,
        target: None,
        durability: None,
        workload: String::new(),
        work: None,
        published_work: None,
        cap_s: None,
        rounds: Vec::new(),
        published,
        figures: Vec::new(),
    }
}

fn measured_cell(
    plan: &CellPlan<'_>,
    planned: &PlannedCell,
    outcome: &SuiteCaseOutcome,
    facts: &RerunFacts,
    table: &SuiteTable,
    published: PublishedFigures,
) -> CellResult {
    let case = &plan.cases[planned.case];
    let cap_s = if case.seconds.is_some() { f64::MAX } else { case.cap_s };
    let operation = planned.operation.as_deref();
    let broken = outcome.rounds.iter().flat_map(|round| &round.checks).find(|it| it.status == CheckStatus::Failed);
    let cores = facts.provenance.machine.cores;
    let rounds: Vec<CellRound> =
        outcome.rounds.iter().map(|round| CellRound::of(round, operation, planned.work, cap_s, cores)).collect();
    let nothing = rounds.iter().all(|round| round.done == 0);
    // A round that failed has no figure, and no other round makes up for it.
    let void = outcome.rounds.iter().find_map(|round| round.void.clone());
    let failed = rounds.iter().any(|round| round.failed > 0);
    let state = match (&outcome.trouble, broken, void) {
        (_, Some(check), _) => CellState::Void(format!("the check {:?} failed: {}", check.name, check.evidence)),
        (Some(Incomplete::Failed(why)), ..) => CellState::Failed(why.clone()),
        (_, _, Some(why)) if failed => CellState::Failed(why),
        // Its cap was too short for it.
        (_, _, Some(why)) => CellState::NotRun(why),
        (Some(Incomplete::NotRun(why)), ..) if rounds.is_empty() => CellState::NotRun(why.clone()),
        _ if rounds.is_empty() => CellState::NotRun("interrupted before its turn".to_owned()),
        _ if nothing => CellState::Failed("not one operation was completed".to_owned()),
        _ => CellState::Measured,
    };
    let mut options: Vec<String> = case.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    options.extend(case.count.map(|count| format!("count={count}")));
    options.extend(case.seconds.map(|seconds| format!("for={seconds}s")));
    let row = &table.rows[planned.row];
    let mut cell = CellResult {
        row: row.id.clone(),
        column: table.columns[planned.column].id.clone(),
        target: Some(case.target.clone()),
        durability: facts
            .engines
            .get(&case.target)
            .and_then(|it| it.engine.as_ref())
            .filter(|_| !rounds.is_empty())
            .map(|engine| engine.durability),
        workload: format!("{} {}", case.workload, options.join(" ")).trim_end().to_owned(),
        work: planned.work,
        published_work: planned.published_work,
        cap_s: case.seconds.is_none().then_some(case.cap_s),
        rounds,
        published,
        figures: Vec::new(),
        state,
    };
    cell.figures = table.measures.iter().map(|measure| figure(*measure, &cell, table, plan.scale)).collect();
    cell
}

/// Figure of a cell, with a ratio if the amount of work permits one.
fn figure(measure: Measure, cell: &CellResult, table: &SuiteTable, scale: f64) -> CellFigure {
    let counts = cell.state == CellState::Measured;
    // The time of a round that its cap ended is the cap's, not the work's.
    let told = cell.rounds.iter().filter(|round| !(measure.is_total() && round.capped));
    let values: Vec<f64> = told.filter_map(|round| round.values.get(&measure).copied()).collect();
    let estimate = center(&values).filter(|_| counts);
    let (measured, interval) = (estimate.map(|it| it.value), estimate.and_then(|it| it.interval));
    let published = measure.published(&cell.published, cell.published_work);
    let capped = cell.rounds.iter().any(|round| round.capped);
    let smaller = cell.work.zip(cell.published_work).is_some_and(|(here, then)| here != then) || scale < 1.0;
    let no_ratio = if measured.is_none() || published.is_none() {
        None
    } else if measure.is_total() && capped {
        Some("a capped round did less".to_owned())
    } else if (measure.is_total() || table.depends_on_size) && smaller {
        Some("another amount of work".to_owned())
    } else {
        None
    };
    let ratio =
        measured.zip(published).filter(|_| no_ratio.is_none()).map(|(measured, published)| measured / published);
    CellFigure {
        measure,
        measured,
        low: interval.map(|it| it.low),
        high: interval.map(|it| it.high),
        level: interval.map(|it| it.level),
        published,
        ratio: ratio.filter(|ratio| ratio.is_finite()),
        no_ratio,
    }
}

/// Sums of the times of several cells, if all of them were measured in full.
fn sums(table: &SuiteTable, parts: &[&CellResult], published: &PublishedFigures) -> Vec<CellFigure> {
    let sum = |measure: &Measure| {
        let figures: Vec<&CellFigure> =
            parts.iter().filter_map(|cell| cell.figures.iter().find(|it| it.measure == *measure)).collect();
        let total = matches!(measure, Measure::TimeMs | Measure::TimeS);
        let whole = parts.iter().flat_map(|cell| &cell.rounds).all(|round| !round.capped);
        let measured: Option<f64> = figures.iter().map(|figure| figure.measured).sum();
        let measured = measured.filter(|_| total && whole && !parts.is_empty());
        let published = measure.published(published, None);
        let no_ratio = figures.iter().find_map(|figure| figure.no_ratio.clone()).filter(|_| measured.is_some());
        let ratio = measured.zip(published).filter(|_| no_ratio.is_none()).map(|(measured, then)| measured / then);
        CellFigure { measure: *measure, measured, low: None, high: None, level: None, published, ratio, no_ratio }
    };
    table.measures.iter().map(sum).collect()
}

/// Means of a column's cells that have a figure.
fn means(table: &SuiteTable, parts: &[&CellResult], published: &PublishedFigures) -> Vec<CellFigure> {
    let mean = |measure: &Measure| {
        let figures = parts.iter().filter_map(|cell| cell.figures.iter().find(|it| it.measure == *measure));
        let measured: Vec<f64> = figures.filter_map(|figure| figure.measured).collect();
        let mean = (!measured.is_empty()).then(|| measured.iter().sum::<f64>() / measured.len() as f64);
        // Rows are no rounds: how they scatter around their mean says how much the mean depends on which were run.
        let interval = center(&measured).and_then(|it| it.interval);
        let published = measure.published(published, None);
        // A mean of some rows is not the published one of all.
        let no_ratio = (mean.is_some() && measured.len() < parts.len())
            .then(|| format!("{} of {} rows have a figure", measured.len(), parts.len()));
        let ratio = mean.zip(published).filter(|_| no_ratio.is_none()).map(|(measured, then)| measured / then);
        CellFigure {
            measure: *measure,
            measured: mean,
            low: interval.map(|it| it.low),
            high: interval.map(|it| it.high),
            level: interval.map(|it| it.level),
            published,
            ratio,
            no_ratio,
        }
    };
    table.measures.iter().map(mean).collect()
}

impl Document for SuiteFile {
    const KIND: DocumentKind = DocumentKind::Suite;
}
