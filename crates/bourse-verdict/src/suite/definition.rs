//! Form of a suite's data file.
//!
//! A cell's case is assembled from four parts, each of which may define any of it: the table's, the column's, the row's
//! and the cell's own; later ones take precedence. So a table whose rows are threads and whose columns are targets
//! defines each once.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::suite::document::MEAN_ROW;
use crate::suite::measure::Measure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// A published experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Name, as typed.
    pub name: String,
    /// One-line description of what the suite measures.
    pub title: String,
    /// Machine and settings of the publication.
    pub published_on: Vec<String>,
    /// Differences from the publication, with reasons.
    #[serde(default)]
    pub departures: Vec<String>,
    /// Contradictions in the published figures, and other doubts.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Notice that every report of these figures must show.
    pub notice: Option<String>,
    /// Default number of rounds of each case.
    pub rounds: u32,
    /// Default maximum of a round's measurement in seconds.
    pub cap_s: f64,
    /// Targets by name.
    pub targets: BTreeMap<String, SuiteTarget>,
    /// Tables, in the published order.
    pub tables: Vec<SuiteTable>,
    /// Findings of the publication.
    #[serde(default)]
    pub findings: Vec<SuiteFinding>,
}

/// A target that cases run on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteTarget {
    /// URL. `{data}` is the folder for databases; `{env:NAME}` an environment variable, without which the target's
    /// cells are not run.
    pub url: String,
    /// Title of a few words.
    pub title: String,
    /// Whether the workload uses the application server (`bourse tpce serve`) in front of it.
    #[serde(default)]
    pub served: bool,
    /// Instructions to obtain what the target needs, shown if that is absent.
    pub hint: Option<String>,
}

/// A published table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteTable {
    /// Short name that findings refer to.
    pub id: String,
    /// Title of the table.
    pub title: String,
    /// Head of the first column, which names the rows.
    pub rows_are: String,
    /// Measures shown for each cell, each in a separate table.
    pub measures: Vec<Measure>,
    /// Unit that is counted: `reads`, `rows`.
    pub counted: String,
    /// Part of the case that all cells share.
    #[serde(default)]
    pub case: CasePatch,
    /// Table whose columns and rows this one has too.
    pub like: Option<String>,
    /// Columns, from left to right.
    #[serde(default)]
    pub columns: Vec<SuiteColumn>,
    /// Rows, from top to bottom.
    #[serde(default)]
    pub rows: Vec<SuiteRow>,
    /// Notes.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Whether the cost of an operation depends on the number of rows, so that rates at another scale cannot be
    /// compared.
    #[serde(default)]
    pub depends_on_size: bool,
    /// Whether it was published as charts by row.
    #[serde(default)]
    pub charted: bool,
    /// Whether only some rows are run at a smaller scale: the first, the last, and a part of those between.
    #[serde(default)]
    pub thins: bool,
    /// Row with the mean of each column over the other rows, next to the published mean.
    pub mean: Option<MeanRow>,
}

/// A row of means over all others.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeanRow {
    /// Label of the row.
    pub title: String,
    /// Published figures by column.
    pub published: BTreeMap<String, PublishedFigures>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteColumn {
    /// Short name.
    pub id: String,
    /// Head of the column.
    pub title: String,
    /// Part of the case that its cells share.
    #[serde(default)]
    pub case: CasePatch,
    /// Columns whose times are added up to this one's cells, which are then not measured.
    #[serde(default)]
    pub sum_of: Vec<String>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteRow {
    /// Short name.
    pub id: String,
    /// Label of the row.
    pub title: String,
    /// Part of the case that its cells share.
    #[serde(default)]
    pub case: CasePatch,
    /// Published figures by column.
    #[serde(default)]
    pub published: BTreeMap<String, PublishedFigures>,
    /// Parts of individual cells, by column.
    #[serde(default)]
    pub cells: BTreeMap<String, CellSpec>,
}

/// Part of one cell's definition.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSpec {
    /// Part of the case that only this cell has.
    #[serde(default)]
    pub case: CasePatch,
    /// Reason that the cell does not exist; it is not run.
    pub absent: Option<String>,
}

/// Published figures of a cell, as printed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedFigures {
    /// Times of the individual rounds, in milliseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds_ms: Vec<f64>,
    /// Mean time, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ms: Option<f64>,
    /// Operations per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Processor time, in percent of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Size of the log or journal at its peak, or of the database, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
    /// Memory used on the machine, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<f64>,
    /// Doubt about the published figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Part of the definition of a cell's case.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CasePatch {
    /// Name of the workload.
    pub workload: Option<String>,
    /// Name of the target.
    pub target: Option<String>,
    /// Operation that fills the cell, or `all` together; the workload's first by default.
    pub operation: Option<String>,
    /// Options of the workload that do not depend on the scale.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// Options of the workload that are multiplied by the scale.
    #[serde(default)]
    pub scaled: BTreeMap<String, u64>,
    /// Operations of each thread, independent of the scale.
    pub count: Option<u64>,
    /// Operations of each thread, multiplied by the scale.
    pub scaled_count: Option<u64>,
    /// Length of the measurement interval in seconds at scale 1; multiplied by the scale, at least 1 s.
    pub seconds: Option<f64>,
    /// Operations of all threads together that the published time covers; multiplied by the
    /// scale if the count is.
    pub work: Option<u64>,
    /// Maximum of a round's measurement in seconds, if the suite's is unsuitable.
    pub cap_s: Option<f64>,
    /// Warm-up in seconds.
    pub warm_up_s: Option<f64>,
}

impl CasePatch {
    /// Merges with a later part, which takes precedence.
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

/// A published finding, as tests on cells.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteFinding {
    /// Finding in a sentence without full stop.
    pub claim: String,
    /// Published figures that the finding rests on.
    pub rests_on: String,
    /// Tests, all of which must hold. Empty if the finding cannot be tested here, for the reason in
    /// [`untested`](Self::untested).
    #[serde(default)]
    pub tests: Vec<FindingTest>,
    /// Reason that the finding is not tested.
    pub untested: Option<String>,
    /// Minimum number of cores: with fewer, the tests describe only the machine.
    pub needs_cores: Option<u32>,
    /// Minimum scale: with less work, the tests describe other sizes.
    pub needs_scale: Option<f64>,
    /// Conditions that the publication's machine met, as tests: if one does not hold here, the finding cannot be
    /// tested.
    #[serde(default)]
    pub given: Vec<FindingTest>,
    /// Difference from the publication because of which something other than the finding is tested.
    pub departure: Option<String>,
}

impl SuiteFinding {
    /// Reason that the finding cannot be tested with `cores` cores at that scale, if it cannot.
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

/// A range for a value computed from one or two cells.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingTest {
    /// Comparison as a sentence.
    pub claim: String,
    /// Path of the cell: `table/row/column`.
    pub cell: String,
    /// Path of the cell that the value is divided by.
    pub by: Option<String>,
    /// Measure that is compared.
    pub measure: Measure,
    /// Whether the value is the exponent with which the figure grows from the cell `by` to this one: the log of their
    /// ratio over the log of the ratio of their rows' work.
    #[serde(default)]
    pub exponent: bool,
    /// Lower end of the range.
    pub at_least: Option<f64>,
    /// Upper end of the range.
    pub at_most: Option<f64>,
    /// Value as printed, if the publication prints it.
    pub published: Option<f64>,
}

/// Error of a data file or of a request for a suite.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// No suite has that name.
    #[error("unknown suite '{name}'; suites: {known}")]
    Unknown {
        /// Name as typed.
        name: String,
        /// Names of all suites.
        known: String,
    },
    /// The file is not TOML, or not of this form.
    #[error("the data file of a suite cannot be read: {0}")]
    Form(#[from] Box<toml::de::Error>),
    /// A name in the file refers to nothing.
    #[error("{suite}: {what}")]
    Dangling {
        /// Name of the suite.
        suite: String,
        /// Description of the defect.
        what: String,
    },
    /// The scale is out of range.
    #[error("a scale is a number above 0 and up to 1, not {0}")]
    Scale(f64),
}

impl Suite {
    /// Parses a data file.
    ///
    /// # Errors
    /// The file is not of this form, or a name in it refers to nothing.
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        let mut suite: Self = toml::from_str(text).map_err(Box::new)?;
        let all = suite.tables.clone();
        for table in &mut suite.tables {
            if let Some(model) = table.like.as_ref().and_then(|like| all.iter().find(|other| other.id == *like)) {
                table.columns.clone_from(&model.columns);
                table.rows.clone_from(&model.rows);
            }
        }
        suite.check()?;
        Ok(suite)
    }

    /// Table with that id.
    pub fn table(&self, id: &str) -> Option<&SuiteTable> {
        self.tables.iter().find(|table| table.id == id)
    }

    fn check(&self) -> Result<(), SuiteError> {
        let wrong = |what: String| Err(SuiteError::Dangling { suite: self.name.clone(), what });
        for table in &self.tables {
            let at = &table.id;
            if table.columns.is_empty() || table.rows.is_empty() {
                return wrong(format!("table {at} has no cells of its own, or of the table that it is like"));
            }
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
                return wrong(format!("the test {:?} has no range", test.claim));
            }
        }
        let idle = self.findings.iter().find(|finding| finding.tests.is_empty() == finding.untested.is_none());
        match idle {
            Some(finding) => wrong(format!("the finding {:?} needs tests, or why there are none", finding.claim)),
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

impl SuiteTable {
    /// Column with that id.
    pub fn column(&self, id: &str) -> Option<&SuiteColumn> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// Complete case of a cell; `None` if nothing is measured.
    pub fn case(&self, row: &SuiteRow, column: &SuiteColumn) -> Option<CasePatch> {
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
