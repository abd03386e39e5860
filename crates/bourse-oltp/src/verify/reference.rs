//! Tables on plain collections, for a workload's transactions written a second time without SQL.

use super::{Cell, RowKey};
use crate::workload::{Generator, Size};
use bourse_schema::{Column, Table, TableRow, Value};
use std::collections::BTreeMap;

/// Name of a reference in place of a target.
pub const MODEL: &str = "model:";

/// Rows by the values of their primary key.
type RowsByKey = BTreeMap<Vec<Cell>, Vec<Cell>>;

/// Rows of all tables, and those that the last transaction changed. Tables are named by the type of their rows, and keys are
/// whole numbers.
#[derive(Debug, Clone, Default)]
pub struct ReferenceTables {
    tables: BTreeMap<&'static str, RowsByKey>,
    changed: Vec<RowKey>,
}

impl ReferenceTables {
    /// Makes the rows of a database of that size.
    pub fn load(generator: &dyn Generator, size: &Size) -> Self {
        let mut this = Self::default();
        let made = generator.generate(size, 1, &mut |batch| {
            let table = batch.table();
            for at in 0..batch.len() {
                batch.with_row(at, &mut |values| this.add(table, cells(table, values)));
            }
            Ok(())
        });
        made.expect("only a refused batch ends a generation, and each is taken");
        this
    }

    /// Adds a row as it is, in place of one with its key.
    pub fn add(&mut self, table: &'static Table, row: Vec<Cell>) {
        self.tables.entry(table.name).or_default().insert(RowKey::of(table, &row).key, row);
    }

    /// A row, in the order of the table's columns.
    pub fn row(&self, key: &RowKey) -> Option<&[Cell]> {
        self.tables.get(key.table.name)?.get(&key.key).map(Vec::as_slice)
    }

    /// All rows of a table, in the order of their keys.
    pub fn rows(&self, table: &Table) -> impl Iterator<Item = &[Cell]> {
        self.tables.get(table.name).into_iter().flat_map(BTreeMap::values).map(Vec::as_slice)
    }

    /// A number; `None` if there is no such row.
    pub fn number<R: TableRow>(&self, key: &[i64], column: &str) -> Option<i64> {
        match self.cell::<R>(key, column)? {
            Cell::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// A text; `None` if there is no such row.
    pub fn text<R: TableRow>(&self, key: &[i64], column: &str) -> Option<&str> {
        match self.cell::<R>(key, column)? {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }

    fn cell<R: TableRow>(&self, key: &[i64], column: &str) -> Option<&Cell> {
        self.row(&key_of::<R>(key)).map(|row| &row[place::<R>(column)])
    }

    /// Last numbers of the keys that begin with these, in their order.
    pub fn last_numbers<'t, R: TableRow>(&'t self, begin: &[i64]) -> impl DoubleEndedIterator<Item = i64> + use<'t, R> {
        let [from, until] = [0, 1].map(|more| {
            let mut key = key_of::<R>(begin).key;
            if let Some(Cell::Int(last)) = key.last_mut() {
                *last += more;
            }
            key
        });
        let rows = self.tables.get(R::NAME).into_iter();
        rows.flat_map(move |rows| rows.range(from.clone()..until.clone())).filter_map(|(key, _)| match key.last() {
            Some(Cell::Int(number)) => Some(*number),
            _ => None,
        })
    }

    /// Changes a number; whether there is such a row.
    pub fn set<R: TableRow>(&mut self, key: &[i64], column: &str, number: i64) -> bool {
        self.set_cell::<R>(key, column, Cell::Int(number))
    }

    /// Changes a text; whether there is such a row.
    pub fn set_text<R: TableRow>(&mut self, key: &[i64], column: &str, text: &str) -> bool {
        self.set_cell::<R>(key, column, Cell::Text(text.into()))
    }

    fn set_cell<R: TableRow>(&mut self, key: &[i64], column: &str, cell: Cell) -> bool {
        let key = key_of::<R>(key);
        let row = self.tables.get_mut(R::NAME).and_then(|rows| rows.get_mut(&key.key));
        let found = row.map(|row| row[place::<R>(column)] = cell).is_some();
        self.changed.push(key);
        found
    }

    /// Adds a row unless its key exists; whether it was added.
    pub fn insert<R: TableRow>(&mut self, row: &R) -> bool {
        let row = row.with_values(|values| cells(R::table(), values));
        let key = RowKey::of(R::table(), &row);
        let rows = self.tables.entry(R::NAME).or_default();
        let is_new = !rows.contains_key(&key.key);
        if is_new {
            rows.insert(key.key.clone(), row);
        }
        self.changed.push(key);
        is_new
    }

    /// Removes a row; whether there was one.
    pub fn remove<R: TableRow>(&mut self, key: &[i64]) -> bool {
        let key = key_of::<R>(key);
        let found = self.tables.get_mut(R::NAME).and_then(|rows| rows.remove(&key.key)).is_some();
        self.changed.push(key);
        found
    }

    /// Keys of the rows that were to be changed since [`settle`](Self::settle).
    pub fn changed(&self) -> &[RowKey] {
        &self.changed
    }

    /// Marks all rows as unchanged.
    pub fn settle(&mut self) {
        self.changed.clear();
    }
}

fn key_of<R: TableRow>(key: &[i64]) -> RowKey {
    RowKey { table: R::table(), key: key.iter().copied().map(Cell::Int).collect() }
}

fn place<R: TableRow>(column: &str) -> usize {
    let columns = R::table().columns;
    columns.iter().position(|known| known.name == column).expect("a reference names columns of its tables")
}

/// Values of a row.
///
/// # Panics
/// Panics if a value is not of its column's type.
pub fn cells(table: &Table, values: &[Value<'_>]) -> Vec<Cell> {
    let cell = |(column, value): (&Column, &Value<'_>)| {
        Cell::of(column.column_type, *value).expect("a row's value is of its column's type")
    };
    table.columns.iter().zip(values).map(cell).collect()
}
