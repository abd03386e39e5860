//! Transactions with the tables that they have opened: opening a table again for each record would be half the work.

use crate::error::error;
use bourse_engine::{RecordTable, Result, Slots};
use redb::{ReadOnlyTable, ReadTransaction, Table, TableDefinition, WriteTransaction};

/// Stored form of a record.
pub(crate) type Bytes = &'static [u8];

/// Open table, by the type of its keys.
pub(crate) enum OpenTable<I, T> {
    /// Table with integer keys.
    Int(I),
    /// Table with text keys.
    Text(T),
}

pub(crate) type WriteTable<'t> = OpenTable<Table<'t, i64, Bytes>, Table<'t, &'static str, Bytes>>;
pub(crate) type ReadTable = OpenTable<ReadOnlyTable<i64, Bytes>, ReadOnlyTable<&'static str, Bytes>>;
pub(crate) type WriteTables<'t> = Slots<WriteTable<'t>>;

self_cell::self_cell!(
    /// Transaction for writing, with its tables by their slots.
    pub(crate) struct WritingTransaction {
        owner: WriteTransaction,
        #[not_covariant]
        dependent: WriteTables,
    }
);

/// Transaction for reading, with its tables by their slots.
pub(crate) struct ReadingTransaction {
    transaction: ReadTransaction,
    tables: Slots<ReadTable>,
}

fn with_ints(table: &RecordTable) -> TableDefinition<'_, i64, Bytes> {
    TableDefinition::new(table.name())
}

fn with_texts(table: &RecordTable) -> TableDefinition<'_, &'static str, Bytes> {
    TableDefinition::new(table.name())
}

impl ReadingTransaction {
    pub(crate) fn new(transaction: ReadTransaction) -> Self {
        Self { transaction, tables: Slots::default() }
    }

    #[inline]
    pub(crate) fn table(&mut self, table: &RecordTable) -> Result<&ReadTable> {
        let transaction = &self.transaction;
        let found = self.tables.get_or_make(table.slot(), || match table.has_text_keys()? {
            true => transaction.open_table(with_texts(table)).map(OpenTable::Text).map_err(error),
            false => transaction.open_table(with_ints(table)).map(OpenTable::Int).map_err(error),
        });
        found.map(|found| &*found)
    }
}

/// Table, opened at first use, and made if it does not exist.
#[inline]
pub(crate) fn opened<'a, 't>(
    transaction: &'t WriteTransaction,
    tables: &'a mut WriteTables<'t>,
    table: &RecordTable,
) -> Result<&'a mut WriteTable<'t>> {
    tables.get_or_make(table.slot(), || match table.has_text_keys()? {
        true => transaction.open_table(with_texts(table)).map(OpenTable::Text).map_err(error),
        false => transaction.open_table(with_ints(table)).map(OpenTable::Int).map_err(error),
    })
}

/// Drops a table with its records, and makes it anew.
pub(crate) fn remade<'t>(
    transaction: &'t WriteTransaction,
    tables: &mut WriteTables<'t>,
    table: &RecordTable,
) -> Result<()> {
    *tables.place(table.slot()) = None;
    transaction.delete_table(with_ints(table)).map_err(error)?;
    opened(transaction, tables, table).map(|_| ())
}
