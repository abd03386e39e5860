//! Transactions with the tables that they have opened: opening a table again for each record would be half the work.

use crate::error::error;
use bourse_engine::records::codec;
use bourse_engine::{Key, RecordTable, RecordType, Result, Slots};
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

/// Table of records, as a transaction opens it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RedbTable {
    name: &'static str,
    slot: usize,
    keys: RecordType,
}

impl RedbTable {
    pub(crate) fn of(table: &RecordTable) -> Result<Self> {
        table.has_text_keys()?;
        Ok(Self { name: table.name(), slot: table.slot(), keys: table.key().record_type })
    }

    #[inline]
    pub(crate) fn key(self, bytes: &[u8]) -> Result<Key<'_>> {
        codec::key_of(bytes, self.keys)
    }

    /// Arbitrary key of the table's type.
    pub(crate) fn some_key(self) -> Key<'static> {
        if self.keys == RecordType::Int { Key::Int(0) } else { Key::Text("") }
    }

    fn with_ints(self) -> TableDefinition<'static, i64, Bytes> {
        TableDefinition::new(self.name)
    }

    fn with_texts(self) -> TableDefinition<'static, &'static str, Bytes> {
        TableDefinition::new(self.name)
    }
}

impl ReadingTransaction {
    pub(crate) fn new(transaction: ReadTransaction) -> Self {
        Self { transaction, tables: Slots::default() }
    }

    #[inline]
    pub(crate) fn table(&mut self, table: &RedbTable) -> Result<&ReadTable> {
        let transaction = &self.transaction;
        let found = self.tables.get_or_make(table.slot, || match table.keys {
            RecordType::Int => transaction.open_table(table.with_ints()).map(OpenTable::Int).map_err(error),
            _ => transaction.open_table(table.with_texts()).map(OpenTable::Text).map_err(error),
        });
        found.map(|found| &*found)
    }
}

/// Table, opened at first use, and made if it does not exist.
#[inline]
pub(crate) fn opened<'a, 't>(
    transaction: &'t WriteTransaction,
    tables: &'a mut WriteTables<'t>,
    table: &RedbTable,
) -> Result<&'a mut WriteTable<'t>> {
    tables.get_or_make(table.slot, || match table.keys {
        RecordType::Int => transaction.open_table(table.with_ints()).map(OpenTable::Int).map_err(error),
        _ => transaction.open_table(table.with_texts()).map(OpenTable::Text).map_err(error),
    })
}

/// Drops a table with its records, and makes it anew.
pub(crate) fn remade<'t>(
    transaction: &'t WriteTransaction,
    tables: &mut WriteTables<'t>,
    table: &RedbTable,
) -> Result<()> {
    *tables.place(table.slot) = None;
    transaction.delete_table(table.with_ints()).map_err(error)?;
    opened(transaction, tables, table).map(|_| ())
}
