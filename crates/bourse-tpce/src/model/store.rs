//! Rows of a table by key, and the set of changed ones.

use bourse_oltp::verify::reference::cells;
use bourse_oltp::verify::{Cell, RowKey};
use bourse_schema::TableRow;
use std::collections::BTreeMap;
use std::ops::RangeBounds;

/// A row with its primary key.
pub(crate) trait KeyedRow: TableRow {
    type Key: Ord + Clone;

    fn key(&self) -> Self::Key;

    /// Values of the key, in the order of the table's key.
    fn cells(key: &Self::Key) -> Vec<Cell>;

    /// Key with these values.
    fn key_of(cells: &[Cell]) -> Option<Self::Key>;
}

/// Rows of a table.
#[derive(Clone)]
pub(crate) struct Store<R: KeyedRow> {
    rows: BTreeMap<R::Key, R>,
    /// Keys of rows that were made, changed or removed since [`Store::settle`].
    changed: Vec<R::Key>,
}

impl<R: KeyedRow> Default for Store<R> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), changed: Vec::new() }
    }
}

impl<R: KeyedRow> Store<R> {
    /// Adds a row of the initial database.
    pub(crate) fn load(&mut self, row: R) {
        self.rows.insert(row.key(), row);
    }

    /// # Panics
    /// Panics if a row with that key exists: a defect of the model's transactions.
    pub(crate) fn insert(&mut self, row: R) {
        self.changed.push(row.key());
        let before = self.rows.insert(row.key(), row);
        assert!(before.is_none(), "two rows of one key in {}", R::NAME);
    }

    pub(crate) fn remove(&mut self, key: &R::Key) -> Option<R> {
        self.changed.push(key.clone());
        self.rows.remove(key)
    }

    pub(crate) fn get(&self, key: &R::Key) -> Option<&R> {
        self.rows.get(key)
    }

    /// Row to be changed; its key must stay.
    pub(crate) fn change(&mut self, key: &R::Key) -> Option<&mut R> {
        self.changed.push(key.clone());
        self.rows.get_mut(key)
    }

    pub(crate) fn all(&self) -> impl DoubleEndedIterator<Item = &R> {
        self.rows.values()
    }

    pub(crate) fn range(&self, keys: impl RangeBounds<R::Key>) -> impl DoubleEndedIterator<Item = &R> {
        self.rows.range(keys).map(|(_, row)| row)
    }

    pub(crate) fn changed(&self) -> impl Iterator<Item = RowKey> {
        self.changed.iter().map(|key| RowKey { table: R::table(), key: R::cells(key) })
    }

    /// Marks all rows as unchanged.
    pub(crate) fn settle(&mut self) {
        self.changed.clear();
    }
}

/// Values of a row.
pub(crate) fn row_cells<R: TableRow>(row: &R) -> Vec<Cell> {
    row.with_values(|values| cells(R::table(), values))
}
