//! A transactional workload as data: tables, sizes, rows, conditions.

use crate::check::Check;
use crate::check::ledger::Growths;
use crate::load::{LoadError, LoadPhase};
use bourse_engine::{Loader, Result};
use bourse_schema::{Batch, Table};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Size of a database: one number for each of [`Workload::size_columns`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size(pub Vec<i64>);

/// A column of the table that stores what a database was made of, with one number of its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeColumn {
    /// SQL name.
    pub column: &'static str,
    /// Name for a person.
    pub name: &'static str,
}

/// Number of rows that a table must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRule {
    /// Least and most rows just after loading.
    pub loaded: RangeInclusive<u64>,
    /// Least and most rows at any later time; [`i128::MAX`] for no limit.
    pub later: RangeInclusive<i128>,
    /// The rule, as a sentence.
    pub words: String,
}

/// Part of a table's rows that no transaction changes, so that it can be compared with the loaded rows at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastingRows {
    /// All rows stay, and none are added; these columns are changed.
    Rows {
        /// Columns that transactions change.
        changed: &'static [&'static str],
    },
    /// Rows with a number below [`Workload::first_new`] stay, others come; these columns are changed.
    InitialRows {
        /// The column with the number.
        number: &'static str,
        /// Columns that transactions change.
        changed: &'static [&'static str],
    },
    /// All rows stay, and none are added; one column is changed, and what transactions noted of that gives its loaded value again.
    Undone {
        /// Column that transactions change.
        column: &'static str,
        /// Expression of its loaded value.
        loaded: &'static str,
        /// Tables that the expression is of; `{first_new}` in it is [`Workload::first_new`].
        of: &'static str,
    },
    /// Rows come, go and change.
    Nothing,
}

impl LastingRows {
    /// Whether a column always has the value that was loaded into it, or that can be found again.
    pub fn keeps(self, column: &str) -> bool {
        match self {
            Self::Rows { changed } | Self::InitialRows { changed, .. } => !changed.contains(&column),
            Self::Undone { .. } => true,
            Self::Nothing => false,
        }
    }

    /// The query for the lasting part, in the order of the table's columns; `None` if nothing lasts. `first_new` is the first
    /// number of rows that transactions add.
    pub fn query(self, table: &Table, first_new: i64) -> Option<String> {
        let of = match self {
            Self::Rows { .. } => table.name.to_owned(),
            Self::InitialRows { number, .. } => format!("{} WHERE {number} < {first_new}", table.name),
            Self::Undone { of, .. } => of.replace("{first_new}", &first_new.to_string()),
            Self::Nothing => return None,
        };
        let value_of = |name| match self {
            Self::Undone { column, loaded, .. } if name == column => loaded,
            _ => name,
        };
        let columns = table.columns.iter().map(|column| column.name).filter(|name| self.keeps(name));
        Some(format!("SELECT {} FROM {of}", columns.map(value_of).collect::<Vec<_>>().join(", ")))
    }
}

/// Trace that runs leave in a database, by which a used one is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunTrace {
    /// Query for the number that grows with every run.
    pub sql: &'static str,
    /// The number just after loading.
    pub initial: u64,
    /// Words that follow what was gained, as "trades added".
    pub gained: &'static str,
}

/// A transactional workload: its tables and the rules that its databases follow.
///
/// Loading ([`load`](crate::load)), checks ([`check`](crate::check)) and the program's commands take a workload as an argument.
/// Nothing of it is called while a transaction is timed.
pub trait Workload: Sync {
    /// Name of the workload, as the command line has it.
    fn name(&self) -> &'static str;

    /// The tables, in the order of their declaration.
    fn tables(&self) -> &'static [&'static Table];

    /// Columns for the numbers of a [`Size`]. The first is the key.
    fn size_columns(&self) -> &'static [SizeColumn];

    /// A size in words, as "1000 customers, 10 days".
    fn size_text(&self, size: &Size) -> String {
        let numbers = self.size_columns().iter().zip(&size.0);
        numbers.map(|(column, number)| format!("{number} {}", column.name)).collect::<Vec<_>>().join(", ")
    }

    /// Checks that a database of that size can be.
    ///
    /// # Errors
    /// The reason why none can be.
    fn check_size(&self, size: &Size) -> Result<(), String>;

    /// Rows that a table of a database of that size must have.
    fn rows(&self, table: &Table, size: &Size) -> RowRule;

    /// Part of a table that no transaction changes.
    fn lasting(&self, table: &Table) -> LastingRows;

    /// First number of the rows that transactions add, in a database of that size.
    fn first_new(&self, size: &Size) -> i64 {
        let _ = size;
        0
    }

    /// The trace of earlier runs.
    fn trace(&self, size: &Size) -> RunTrace;

    /// Conditions that a database must meet at any time.
    fn conditions(&self) -> &'static [Check];

    /// Growth that runs cause.
    fn growths(&self) -> &'static Growths;

    /// Words for holes of the conditions' queries, as `first_trade` for `{first_trade}`.
    fn holes(&self, size: &Size) -> Vec<(&'static str, String)> {
        let _ = size;
        Vec::new()
    }

    /// Source of the rules for numbers of rows, for the checks that count them.
    fn source_of_rows(&self) -> &'static str;

    /// Source of the tables and keys, for the checks of schema and foreign keys.
    fn source_of_schema(&self) -> &'static str {
        self.source_of_rows()
    }

    /// Work of loading a row of a table, in units of the workload's own.
    fn work_of_row(&self, table: &Table) -> f64 {
        let _ = table;
        1.0
    }

    /// Work of loading a database of that size, in the same units.
    fn work(&self, size: &Size) -> f64 {
        let expected = |table: &&'static Table| {
            let loaded = self.rows(table, size).loaded;
            (loaded.start() + loaded.end()) as f64 / 2.0 * self.work_of_row(table)
        };
        self.tables().iter().map(expected).sum()
    }

    /// Called by a load before the phases that follow the rows: planted bugs change rows here.
    ///
    /// # Errors
    /// The engine's.
    fn before_phase(&self, phase: LoadPhase, loader: &mut dyn Loader) -> Result<()> {
        let _ = (phase, loader);
        Ok(())
    }
}

/// Source of a workload's rows.
pub trait Generator: Sync {
    /// Version of the generator: changed whenever it makes other rows of the same inputs.
    fn version(&self) -> i64;

    /// Hash of the input data, at most 32 characters; `none` if the rows need none.
    fn inputs(&self) -> String {
        "none".to_owned()
    }

    /// Makes the rows of a database on so many threads and passes them to `each` in batches, always in the same order, on the
    /// caller's thread.
    ///
    /// # Errors
    /// The first error of `each`, which ends the generation.
    fn generate(
        &self,
        size: &Size,
        threads: usize,
        each: &mut dyn FnMut(&dyn Batch) -> Result<(), LoadError>,
    ) -> Result<(), LoadError>;
}
