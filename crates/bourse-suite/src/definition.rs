//! The form of a suite's data file.
//!
//! A cell's case is assembled from four parts, each of which may say any of it: the table's, the column's, the row's and
//! the cell's own; what is said later wins. So a table whose rows are threads and whose columns are targets says each once.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::document::MEAN_ROW;
use crate::measure::Measure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// A published experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Name, as it is typed.
    pub name: String,
    /// What it measures, in a line.
    pub title: String,
    /// What was published on which machine, with which settings.
    pub published_on: Vec<String>,
    /// What is different here, and why.
    #[serde(default)]
    pub departures: Vec<String>,
    /// Where the published figures contradict themselves, and other doubts.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What has to stand in every report of these figures.
    #[serde(default)]
    pub notice: Option<String>,
    /// Rounds of each case where none are asked for.
    pub rounds: u32,
    /// Seconds that a round may take to measure where no cap is asked for.
    pub cap_s: f64,
    /// Targets by name.
    pub targets: BTreeMap<String, Target>,
    /// Tables, in the published order.
    pub tables: Vec<Table>,
    /// Findings of the publication.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

/// Target of cases.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Its URL. `{data}` is the folder for databases; `{env:NAME}` an environment variable, without which the target's cells
    /// are not run.
    pub url: String,
    /// Title, in a few words.
    pub title: String,
    /// Whether the workload reaches it through the application server (`bourse tpce serve`).
    #[serde(default)]
    pub served: bool,
    /// How to get what it needs, said where it is absent.
    #[serde(default)]
    pub hint: Option<String>,
}

/// A published table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Short name, by which findings refer to it.
    pub id: String,
    /// Title of the table.
    pub title: String,
    /// What its rows are: head of the first column.
    pub rows_are: String,
    /// What is shown of each cell, each in a table of its own.
    pub measures: Vec<Measure>,
    /// What is counted: `reads`, `rows`.
    pub counted: String,
    /// Parts that all its cells share.
    #[serde(default)]
    pub case: CasePatch,
    /// Columns, from left to right.
    pub columns: Vec<Column>,
    /// Rows, from top to bottom.
    pub rows: Vec<Row>,
    /// Notes.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Whether what one operation costs depends on how many rows there are, so that rates at another scale cannot be compared.
    #[serde(default)]
    pub depends_on_size: bool,
    /// Whether it was published as charts by row.
    #[serde(default)]
    pub charted: bool,
    /// Whether only some rows are run at a smaller scale: the first, the last, and a part of those between.
    #[serde(default)]
    pub thins: bool,
    /// A row of means over the other rows, with the means that were published, by column.
    #[serde(default)]
    pub mean: Option<MeanRow>,
}

/// A row of means over all others.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeanRow {
    /// Label of the row.
    pub title: String,
    /// What was published, by column.
    pub published: BTreeMap<String, Published>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Short name.
    pub id: String,
    /// Head of the column.
    pub title: String,
    /// Parts that its cells share.
    #[serde(default)]
    pub case: CasePatch,
    /// Its cells are not measured but the sums of these columns' times.
    #[serde(default)]
    pub sum_of: Vec<String>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Short name.
    pub id: String,
    /// Label of the row.
    pub title: String,
    /// Parts that its cells share.
    #[serde(default)]
    pub case: CasePatch,
    /// What was published, by column.
    #[serde(default)]
    pub published: BTreeMap<String, Published>,
    /// What single cells have to themselves, by column.
    #[serde(default)]
    pub cells: BTreeMap<String, CellSpec>,
}

/// Part of one cell's definition.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSpec {
    /// What its case has to itself.
    #[serde(default)]
    pub case: CasePatch,
    /// Why there is no such cell; it is not run.
    #[serde(default)]
    pub absent: Option<String>,
}

/// Published figures of a cell, as they were printed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Times of the single rounds, in milliseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds_ms: Vec<f64>,
    /// Mean time, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ms: Option<f64>,
    /// Operations a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Processor time, in percent of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Size of the log or journal at its peak, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
    /// Memory used on the machine, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<f64>,
    /// Doubt about the published figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Part of what a cell's case is.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CasePatch {
    /// Name of the workload.
    pub workload: Option<String>,
    /// Name of the target.
    pub target: Option<String>,
    /// The operation that fills the cell; the workload's first where none is named.
    pub operation: Option<String>,
    /// Options of the workload that are the same at every scale.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// Options that shrink with the scale.
    #[serde(default)]
    pub scaled: BTreeMap<String, u64>,
    /// Operations of each thread, the same at every scale.
    pub count: Option<u64>,
    /// Operations of each thread, which shrink with the scale.
    pub scaled_count: Option<u64>,
    /// Length of the measurement interval, in seconds, at scale 1; it shrinks with the scale, to 1 s at least.
    pub seconds: Option<f64>,
    /// Operations of all threads together: what the published time is for. Shrinks if the count does.
    pub work: Option<u64>,
    /// Seconds that a round may take to measure, where the suite's cap does not fit.
    pub cap_s: Option<f64>,
    /// Seconds of warm-up.
    pub warm_up_s: Option<f64>,
}

impl CasePatch {
    /// This, and over it what `later` says.
    pub fn over(&self, later: &Self) -> Self {
        let mut case = self.clone();
        macro_rules! take {
            ($($field:ident),+) => { $(if later.$field.is_some() { case.$field.clone_from(&later.$field); })+ };
        }
        take!(workload, target, operation, count, scaled_count, seconds, work, cap_s, warm_up_s);
        for (name, value) in &later.options {
            case.scaled.remove(name);
            case.options.insert(name.clone(), value.clone());
        }
        for (name, value) in &later.scaled {
            case.options.remove(name);
            case.scaled.insert(name.clone(), *value);
        }
        case
    }
}

/// What was found when it was published, as tests on cells.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What was found, in a sentence without full stop.
    pub says: String,
    /// The published figures it rests on.
    pub rests_on: String,
    /// All of these must hold. None where it cannot be tested here, for the reason [`untested`](Self::untested) gives.
    #[serde(default)]
    pub tests: Vec<Test>,
    /// Reason why it is not tested.
    #[serde(default)]
    pub untested: Option<String>,
    /// Cores that it takes: with fewer its tests say something about the machine alone.
    #[serde(default)]
    pub needs_cores: Option<u32>,
    /// The scale that it takes: with less to do its tests say something about other sizes.
    #[serde(default)]
    pub needs_scale: Option<f64>,
    /// Conditions that the publication's machine met, as tests: where one does not hold here, the finding cannot be tested.
    #[serde(default)]
    pub given: Vec<Test>,
    /// What is done here differently, so that another thing is tested than was found.
    #[serde(default)]
    pub departure: Option<String>,
}

impl Finding {
    /// Why it cannot be tested with so many cores at that scale, if it cannot.
    pub fn unmet(&self, cores: u32, scale: f64) -> Option<String> {
        let cores_needed = self.needs_cores.filter(|needed| cores < *needed);
        let scale_needed = self.needs_scale.filter(|needed| scale < *needed);
        let cores = cores_needed.map(|needed| format!("it takes {needed} cores, this machine has {cores}"));
        let scale = scale_needed.map(|needed| format!("it takes a scale of {needed} or more, this is {scale}"));
        match (cores, scale) {
            (Some(cores), Some(scale)) => Some(format!("{cores}; {scale}")),
            (one, other) => one.or(other),
        }
    }
}

/// A range that a value formed of one or two cells must lie in.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The comparison, as a sentence.
    pub says: String,
    /// The cell: `table/row/column`.
    pub cell: String,
    /// The cell it is divided by.
    #[serde(default)]
    pub by: Option<String>,
    /// Measure that is compared.
    pub measure: Measure,
    /// The value is the exponent with which the figure grows from the cell `by` to this one: log of their ratio over the log of
    /// the ratio of their rows' work.
    #[serde(default)]
    pub exponent: bool,
    /// Lower end of the range.
    #[serde(default)]
    pub at_least: Option<f64>,
    /// Upper end of the range.
    #[serde(default)]
    pub at_most: Option<f64>,
}

/// A data file that cannot be used.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// No suite of that name.
    #[error("unknown suite '{name}'; suites: {known}")]
    Unknown {
        /// The name as it was typed.
        name: String,
        /// Those there are.
        known: String,
    },
    /// Not TOML, or not of this form.
    #[error("the data file of a suite cannot be read: {0}")]
    Form(#[from] Box<toml::de::Error>),
    /// A name that nothing has.
    #[error("{suite}: {what}")]
    Dangling {
        /// Name of the suite.
        suite: String,
        /// The mistake.
        what: String,
    },
    /// A scale that makes no sense.
    #[error("a scale is a number above 0 and up to 1, not {0}")]
    Scale(f64),
}

impl Suite {
    /// Reads a data file.
    ///
    /// # Errors
    /// It is not of this form, or a name in it means nothing.
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        let suite: Self = toml::from_str(text).map_err(Box::new)?;
        suite.check()?;
        Ok(suite)
    }

    /// A table by its id.
    pub fn table(&self, id: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.id == id)
    }

    fn check(&self) -> Result<(), SuiteError> {
        let wrong = |what: String| Err(SuiteError::Dangling { suite: self.name.clone(), what });
        for table in &self.tables {
            let at = &table.id;
            for row in &table.rows {
                if let Some(column) = row.cells.keys().chain(row.published.keys()).find(|id| table.column(id).is_none())
                {
                    return wrong(format!("table {at}, row {}: no column is called {column:?}", row.id));
                }
                for column in &table.columns {
                    let Some(case) = table.case(row, column) else { continue };
                    let place = format!("{at}/{}/{}", row.id, column.id);
                    match &case.target {
                        Some(target) if self.targets.contains_key(target) => {}
                        Some(target) => return wrong(format!("{place}: no target is called {target:?}")),
                        None => return wrong(format!("{place} has no target")),
                    }
                    if case.workload.is_none() {
                        return wrong(format!("{place} has no workload"));
                    }
                }
            }
            let sums = table.columns.iter().flat_map(|column| &column.sum_of);
            let means = table.mean.iter().flat_map(|mean| mean.published.keys());
            if let Some(column) = sums.chain(means).find(|id| table.column(id).is_none()) {
                return wrong(format!("table {at}: no column is called {column:?}"));
            }
        }
        for test in self.findings.iter().flat_map(|finding| finding.given.iter().chain(&finding.tests)) {
            for cell in std::iter::once(&test.cell).chain(&test.by) {
                if !self.has_cell(cell) {
                    return wrong(format!("a finding refers to {cell:?}, which is no measured cell"));
                }
            }
            if test.at_least.is_none() && test.at_most.is_none() {
                return wrong(format!("the test {:?} has no range", test.says));
            }
        }
        let idle = self.findings.iter().find(|finding| finding.tests.is_empty() == finding.untested.is_none());
        match idle {
            Some(finding) => wrong(format!("the finding {:?} needs tests, or why there are none", finding.says)),
            None => Ok(()),
        }
    }

    fn has_cell(&self, path: &str) -> bool {
        let mut parts = path.split('/');
        let (Some(table), Some(row), Some(column), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        let Some(table) = self.table(table) else { return false };
        if row == MEAN_ROW {
            return table.mean.is_some() && table.column(column).is_some();
        }
        let (Some(row), Some(column)) = (table.rows.iter().find(|it| it.id == row), table.column(column)) else {
            return false;
        };
        table.case(row, column).is_some()
    }
}

impl Table {
    /// A column by its id.
    pub fn column(&self, id: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// What fills a cell: its case, assembled. None where nothing is measured.
    pub fn case(&self, row: &Row, column: &Column) -> Option<CasePatch> {
        if !column.sum_of.is_empty() {
            return None;
        }
        let own = row.cells.get(&column.id);
        if own.is_some_and(|cell| cell.absent.is_some()) {
            return None;
        }
        let case = self.case.over(&column.case).over(&row.case);
        Some(own.map_or_else(|| case.clone(), |cell| case.over(&cell.case)))
    }
}
