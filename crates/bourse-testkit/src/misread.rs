//! An engine whose records are returned wrong on purpose, to show whether a workload checks what it reads.

use crate::misbehave::HitStatements;
use bourse_engine::{
    Access, Capabilities, Connection, Description, EachRow, Engine, FieldChange, Footprint, Hosting, Interface, Key,
    KeyEngine, Location, RecordTable, Records, Result, Row, RowExt as _, StatementForm, Value,
};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Defect of a row that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadDefect {
    /// Values of the row read before, under the right key.
    Neighbour,
    /// The last text without its last byte.
    Truncated,
    /// Another byte in the middle of the last text.
    OneByte,
    /// The first two texts exchanged, or a single one reversed.
    Swapped,
    /// The first integer behind the key plus one.
    Number,
    /// No values behind the key.
    NoValues,
}

/// Engine with records by key that returns some rows wrong.
#[derive(Debug)]
pub struct MisreadingEngine<E> {
    inner: E,
    fault: HitStatements,
    what: ReadDefect,
    rows: Arc<AtomicU64>,
}

impl<E> MisreadingEngine<E> {
    /// Wraps `inner`; rows that `fault` hits, counted as they are read over all sessions, get the defect `what`.
    pub fn new(inner: E, fault: HitStatements, what: ReadDefect) -> Self {
        Self { inner, fault, what, rows: Arc::default() }
    }
}

impl<E: Engine> Engine for MisreadingEngine<E> {
    fn description(&self) -> Result<Description> {
        self.inner.description()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { sql: None, ..self.inner.capabilities() }
    }
    fn interface(&self) -> Interface<'_> {
        Interface::Keys(self)
    }
    fn hosting(&self) -> Hosting<'_> {
        self.inner.hosting()
    }
    fn location(&self) -> Location {
        self.inner.location()
    }
    fn exists(&self) -> Result<bool> {
        self.inner.exists()
    }
    fn footprint(&self) -> Result<Footprint> {
        self.inner.footprint()
    }
}

impl<E: Engine> KeyEngine for MisreadingEngine<E> {
    fn new_records(&self) -> Result<Box<dyn Records>> {
        Ok(Box::new(WrongRecords {
            inner: self.inner.connect()?,
            fault: self.fault,
            what: self.what,
            rows: Arc::clone(&self.rows),
            last: Vec::new(),
        }))
    }
}

struct WrongRecords {
    inner: Connection,
    fault: HitStatements,
    what: ReadDefect,
    rows: Arc<AtomicU64>,
    /// Values of the last row read.
    last: Vec<OwnedCell>,
}

/// A value that was read.
#[derive(Debug, Clone)]
pub(crate) enum OwnedCell {
    Int(i64),
    Text(String),
    Other,
}

impl OwnedCell {
    fn of(value: Value<'_>) -> Self {
        match value {
            Value::Int(number) => Self::Int(number),
            Value::Text(text) => Self::Text(text.to_owned()),
            _ => Self::Other,
        }
    }
}

/// Row of copied values.
pub(crate) struct CopiedRow(Vec<OwnedCell>);

impl CopiedRow {
    pub(crate) fn of(row: &dyn Row) -> Self {
        Self((0..row.columns()).map(|column| OwnedCell::of(row.value(column))).collect())
    }
}

impl Row for CopiedRow {
    fn value(&self, index: usize) -> Value<'_> {
        match self.0.get(index) {
            Some(OwnedCell::Int(number)) => Value::Int(*number),
            Some(OwnedCell::Text(text)) => Value::Text(text),
            Some(OwnedCell::Other) | None => Value::Null,
        }
    }
    fn column_name(&self, _: usize) -> Option<Cow<'_, str>> {
        None
    }
}

impl ReadDefect {
    /// Applies the defect to a row; `before` has the values of the row read before it.
    fn spoil(self, row: &mut Vec<OwnedCell>, before: &[OwnedCell]) {
        let texts: Vec<usize> = (1..row.len()).filter(|&column| matches!(row[column], OwnedCell::Text(_))).collect();
        let text = |row: &mut Vec<OwnedCell>, change: &dyn Fn(&mut String)| {
            let Some(OwnedCell::Text(text)) = texts.last().map(|&last| &mut row[last]) else { return };
            change(text);
        };
        match self {
            Self::Neighbour => row[1..].clone_from_slice(&before[1..]),
            Self::Truncated => text(row, &|text| text.truncate(text.len() - 1)),
            Self::OneByte => text(row, &|text| {
                let at = text.len() / 2;
                let other = if text.as_bytes()[at] == b'x' { "y" } else { "x" };
                text.replace_range(at..=at, other);
            }),
            Self::Swapped => match texts[..] {
                [first, second, ..] => row.swap(first, second),
                _ => text(row, &|text| *text = text.chars().rev().collect()),
            },
            Self::Number => {
                if let Some(OwnedCell::Int(number)) =
                    row[1..].iter_mut().find(|value| matches!(value, OwnedCell::Int(_)))
                {
                    *number += 1;
                }
            }
            Self::NoValues => row.truncate(1),
        }
    }
}

impl WrongRecords {
    /// Runs `f` on the records below with a callback that passes rows with the defect to `each`.
    fn reading<T>(
        &mut self,
        table: &'static RecordTable,
        each: &mut EachRow<'_>,
        f: impl FnOnce(&mut dyn Records, &mut EachRow<'_>) -> T,
    ) -> T {
        let Self { inner, fault, what, rows, last } = self;
        let columns = table.fields().len() + 1;
        inner.with_records(StatementForm::Prepared, |records| {
            f(records, &mut |row| {
                let right: Vec<_> = (0..columns).map(|column| OwnedCell::of(row.value(column))).collect();
                let mut row = right.clone();
                let is_hit = fault.hits(rows.fetch_add(1, Ordering::Relaxed) + 1);
                // The row that marks a database, and the first one, which has none before it, stay as they are.
                if is_hit && last.len() == columns {
                    what.spoil(&mut row, last);
                }
                *last = right;
                each(&CopiedRow(row))
            })
        })
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut dyn Records) -> T) -> T {
        self.inner.with_records(StatementForm::Prepared, f)
    }
}

impl Records for WrongRecords {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        self.with(|records| records.create(tables))
    }
    fn begin(&mut self, access: Access) -> Result<()> {
        self.with(|records| records.begin(access))
    }
    fn commit(&mut self) -> Result<()> {
        self.with(|records| records.commit())
    }
    fn rollback(&mut self) -> Result<()> {
        self.with(|records| records.rollback())
    }
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        self.reading(table, each, |records, each| records.get(table, key, each))
    }
    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        self.with(|records| records.insert(table, key, values))
    }
    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        self.with(|records| records.update(table, key, values))
    }
    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        self.with(|records| records.change(table, key, change))
    }
    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        self.with(|records| records.delete(table, key))
    }
    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64> {
        self.reading(table, each, |records, each| records.scan(table, from, limit, each))
    }
    fn find(
        &mut self,
        table: &'static RecordTable,
        field: usize,
        value: Value<'_>,
        each: &mut EachRow<'_>,
    ) -> Result<u64> {
        self.reading(table, each, |records, each| records.find(table, field, value, each))
    }
    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.with(|records| records.count(table))
    }
    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.with(|records| records.delete_all(table))
    }
}
