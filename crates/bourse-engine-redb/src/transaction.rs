//! Transactions with the tables that they have opened: opening a table again for each record would be half the work.

use crate::error::error;
use bourse_engine::{EngineError, Key, RecordTable, RecordType};
use redb::{ReadOnlyTable, ReadTransaction, Table, TableDefinition, WriteTransaction};

/// Stored form of a record.
pub(crate) type Bytes = &'static [u8];

/// Open table, by the type of its keys.
pub(crate) enum Open<I, T> {
    /// Table with integer keys.
    Int(I),
    /// Table with text keys.
    Text(T),
}

pub(crate) type WriteTable<'t> = Open<Table<'t, i64, Bytes>, Table<'t, &'static str, Bytes>>;
pub(crate) type ReadTable = Open<ReadOnlyTable<i64, Bytes>, ReadOnlyTable<&'static str, Bytes>>;
pub(crate) type WriteTables<'t> = Vec<Option<WriteTable<'t>>>;

self_cell::self_cell!(
    /// Transaction for writing, with its tables by their slots.
    pub(crate) struct Writing {
        owner: WriteTransaction,
        #[not_covariant]
        dependent: WriteTables,
    }
);

/// Transaction for reading, with its tables by their slots.
pub(crate) struct Reading {
    transaction: ReadTransaction,
    tables: Vec<Option<ReadTable>>,
}

fn with_ints(table: &RecordTable) -> TableDefinition<'_, i64, Bytes> {
    TableDefinition::new(table.name())
}

fn with_texts(table: &RecordTable) -> TableDefinition<'_, &'static str, Bytes> {
    TableDefinition::new(table.name())
}

/// Whether a table's keys are texts.
///
/// # Errors
/// Keys that are neither integers nor texts.
pub(crate) fn has_text_keys(table: &RecordTable) -> Result<bool, EngineError> {
    match table.key().record_type {
        RecordType::Int => Ok(false),
        RecordType::Text(_) => Ok(true),
        other => Err(EngineError::unsupported(format!("keys of {} are {other:?}", table.name()))),
    }
}

/// Error for a key that is not of its table's type.
pub(crate) fn wrong_key(table: &RecordTable, key: Key<'_>) -> EngineError {
    EngineError::unsupported(format!("{key:?} is no key of {}", table.name()))
}

impl Reading {
    pub(crate) fn new(transaction: ReadTransaction) -> Self {
        Self { transaction, tables: Vec::new() }
    }

    #[inline]
    pub(crate) fn table(&mut self, table: &RecordTable) -> Result<&ReadTable, EngineError> {
        let slot = table.slot();
        if self.tables.len() <= slot {
            self.tables.resize_with(slot + 1, || None);
        }
        let place = &mut self.tables[slot];
        if place.is_none() {
            *place = Some(if has_text_keys(table)? {
                Open::Text(self.transaction.open_table(with_texts(table)).map_err(error)?)
            } else {
                Open::Int(self.transaction.open_table(with_ints(table)).map_err(error)?)
            });
        }
        Ok(place.as_ref().expect("opened above"))
    }
}

/// Table, opened at first use, and made if it does not exist.
#[inline]
pub(crate) fn opened<'a, 't>(
    transaction: &'t WriteTransaction,
    tables: &'a mut WriteTables<'t>,
    table: &RecordTable,
) -> Result<&'a mut WriteTable<'t>, EngineError> {
    let slot = table.slot();
    if tables.len() <= slot {
        tables.resize_with(slot + 1, || None);
    }
    let place = &mut tables[slot];
    if place.is_none() {
        *place = Some(if has_text_keys(table)? {
            Open::Text(transaction.open_table(with_texts(table)).map_err(error)?)
        } else {
            Open::Int(transaction.open_table(with_ints(table)).map_err(error)?)
        });
    }
    Ok(place.as_mut().expect("opened above"))
}

/// Drops a table with its records, and makes it anew.
pub(crate) fn remade<'t>(
    transaction: &'t WriteTransaction,
    tables: &mut WriteTables<'t>,
    table: &RecordTable,
) -> Result<(), EngineError> {
    if let Some(place) = tables.get_mut(table.slot()) {
        *place = None;
    }
    transaction.delete_table(with_ints(table)).map_err(error)?;
    opened(transaction, tables, table).map(|_| ())
}
