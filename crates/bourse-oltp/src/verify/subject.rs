//! The interface of a compared system: anything that performs transactions and shows its rows.

use super::{Cell, TableDigest};
use bourse_engine::{Result, one_line};
use bourse_schema::{Table, Timestamp};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// A row, by the values of its table's primary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowKey {
    /// Definition of the table.
    pub table: &'static Table,
    /// Values of [`Table::key`], in that order.
    pub key: Vec<Cell>,
}

impl RowKey {
    /// The key of a row of that table.
    pub fn of(table: &'static Table, row: &[Cell]) -> Self {
        let place = |name: &&str| table.columns.iter().position(|column| column.name == *name);
        let key = table.key.iter().filter_map(place).map(|at| row[at].clone()).collect();
        Self { table, key }
    }
}

impl fmt::Display for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, cell)) in self.table.key.iter().zip(&self.key).enumerate() {
            let domain = self.table.column(name).expect("a key names columns of its table").column_type;
            let and = if at == 0 { "" } else { ", " };
            write!(f, "{and}{name} = {}", cell.shown(domain))?;
        }
        Ok(())
    }
}

/// A statement that a subject ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The statement's text.
    pub sql: &'static str,
    /// Its parameters, in readable form.
    pub params: Vec<String>,
    /// The first rows it returned.
    pub rows: Vec<Vec<String>>,
    /// Rows it changed, or the total of rows returned.
    pub count: u64,
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", one_line(self.sql))?;
        for (at, param) in self.params.iter().enumerate() {
            write!(f, "{} ?{} = {param}", if at == 0 { " --" } else { "," }, at + 1)?;
        }
        write!(f, " -> {} rows", self.count)
    }
}

/// Result of a transaction on a subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// Output of the transaction, or the text of its error.
    pub outcome: Result<OutputValue, String>,
    /// Messages that it sent to the sequence of transactions, in order: orders to a market.
    pub sent: Vec<Value>,
}

/// Output of a transaction as a serde value, so that outputs of any workload can be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputValue {
    /// The workload's status code; 0 for success.
    pub status: i32,
    /// The whole output.
    pub output: Value,
}

impl OutputValue {
    /// Converts an output.
    pub fn of(status: i32, output: &impl Serialize) -> Self {
        Self { status, output: value(output) }
    }
}

/// Converts an output or a message to a serde value.
pub fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("outputs are structs, enums and lists with names as keys")
}

/// Performs transactions one at a time and shows its rows. `R` is a transaction's input.
pub trait Subject<R> {
    /// Name in reports.
    fn name(&self) -> &str;

    /// Performs a transaction at the constant time `now`.
    fn perform(&mut self, request: &R, now: Timestamp) -> Performance;

    /// Rows that the last transaction changed, made or removed, if the subject knows them: the same rows are read from all
    /// subjects right after it, so that a difference is found at the transaction that makes it.
    fn changed(&self) -> Vec<RowKey> {
        Vec::new()
    }

    /// A row, in the order of the table's columns; `None` if no such key exists.
    ///
    /// # Errors
    /// The engine's.
    fn row(&mut self, key: &RowKey) -> Result<Option<Vec<Cell>>>;

    /// Every row of a table, in any order.
    ///
    /// # Errors
    /// The engine's.
    fn each_row(&mut self, table: &'static Table, each: &mut dyn FnMut(&[Cell])) -> Result<()>;

    /// The digest of a table.
    ///
    /// # Errors
    /// The engine's.
    fn digest(&mut self, table: &'static Table) -> Result<TableDigest> {
        let (mut digest, mut scratch) = (TableDigest::default(), Vec::new());
        self.each_row(table, &mut |row| digest.add(row, &mut scratch))?;
        Ok(digest)
    }

    /// The statements of the last transaction, if the subject runs statements.
    fn trace(&self) -> &[Statement] {
        &[]
    }
}
