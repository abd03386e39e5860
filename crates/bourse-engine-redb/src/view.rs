//! Records by key on redb: a view of the database for the session that key engines have in common.

use crate::error::error;
use crate::options::{Durable, RedbOptions};
use crate::transaction::{
    Bytes, OpenTable, ReadingTransaction, RedbTable, WriteTables, WritingTransaction, opened, remade,
};
use bourse_engine::records::KeyView;
use bourse_engine::records::codec::KeyBytes;
use bourse_engine::{Access, EngineError, ErrorKind, Key, RecordTable, Result, Wait, writer_blocked_on};
use redb::{Database, Durability, ReadableDatabase as _, ReadableTable, ReadableTableMetadata as _};
use std::sync::Arc;

/// State of a session's transaction.
enum TransactionState {
    Idle,
    Reading(ReadingTransaction),
    Writing(WritingTransaction),
}

/// View of one session.
pub(crate) struct RedbView {
    database: Arc<Database>,
    options: RedbOptions,
    /// Whether commits wait for a disk.
    syncs: bool,
    state: TransactionState,
}

/// Key in redb's types.
trait RedbKey: redb::Key + 'static {
    fn as_key<'k>(own: &'k Self::SelfType<'_>) -> Key<'k>;
}

impl RedbKey for i64 {
    fn as_key<'k>(own: &'k i64) -> Key<'k> {
        Key::Int(*own)
    }
}

impl RedbKey for &'static str {
    fn as_key<'k>(own: &'k &str) -> Key<'k> {
        Key::Text(own)
    }
}

/// Runs `$body` on the table whose key type is that of `$key`.
macro_rules! by_type {
    ($open:expr, $key:expr, |$found:ident, $k:ident| $body:expr) => {
        match ($open, $key) {
            (OpenTable::Int($found), Key::Int($k)) => $body,
            (OpenTable::Text($found), Key::Text($k)) => $body,
            _ => unreachable!("a table is opened by the type of its keys"),
        }
    };
}

/// Runs `$body` on a table to read, in the open transaction or in one of its own.
macro_rules! read {
    ($self:ident, $table:ident, $key:expr, |$found:ident, $k:ident| $body:expr) => {
        match &mut $self.state {
            TransactionState::Idle => {
                let mut reading = $self.reading()?;
                by_type!(reading.table($table)?, $key, |$found, $k| $body)
            }
            TransactionState::Reading(reading) => by_type!(reading.table($table)?, $key, |$found, $k| $body),
            TransactionState::Writing(writing) => writing.with_dependent_mut(|transaction, tables| {
                by_type!(&*opened(transaction, tables, $table)?, $key, |$found, $k| $body)
            }),
        }
    };
}

/// Runs `$body` on a table to write in the open transaction.
macro_rules! write {
    ($self:ident, $table:ident, $key:expr, |$found:ident, $k:ident| $body:expr) => {
        $self.writing().with_dependent_mut(|transaction, tables| {
            by_type!(opened(transaction, tables, $table)?, $key, |$found, $k| $body)
        })
    };
}

impl RedbView {
    pub(crate) fn new(database: Arc<Database>, options: RedbOptions, has_disk: bool) -> Self {
        let syncs = has_disk && options.durability == Durable::Immediate;
        Self { database, options, syncs, state: TransactionState::Idle }
    }

    #[inline]
    fn reading(&self) -> Result<ReadingTransaction> {
        self.database.begin_read().map(ReadingTransaction::new).map_err(error)
    }

    fn begin_write(&self, durability: Durable) -> Result<WritingTransaction> {
        let mut transaction =
            writer_blocked_on(self.syncs, Wait::Lock, || self.database.begin_write()).map_err(error)?;
        let durability = match durability {
            Durable::Immediate => Durability::Immediate,
            Durable::None => Durability::None,
        };
        transaction.set_durability(durability).map_err(|e| EngineError::new(ErrorKind::Other, e.to_string()))?;
        transaction.set_two_phase_commit(self.options.two_phase);
        Ok(WritingTransaction::new(transaction, |_| WriteTables::default()))
    }

    #[inline]
    fn writing(&mut self) -> &mut WritingTransaction {
        match &mut self.state {
            TransactionState::Writing(writing) => writing,
            _ => unreachable!("changes are made in a transaction"),
        }
    }
}

fn scan<K: RedbKey>(
    table: &impl ReadableTable<K, Bytes>,
    from: K::SelfType<'_>,
    limit: u64,
    mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<u64> {
    let mut count = 0;
    if limit == 0 {
        return Ok(0);
    }
    for entry in table.range(from..).map_err(error)? {
        let (key, bytes) = entry.map_err(error)?;
        each(KeyBytes::of(K::as_key(&key.value())).as_ref(), bytes.value())?;
        count += 1;
        if count == limit {
            break;
        }
    }
    Ok(count)
}

impl KeyView for RedbView {
    type Table = RedbTable;

    const ENGINE: &'static str = "redb";

    /// A tree is given back whole; record by record it would be copied page by page.
    const CLEARS: bool = true;

    fn table(&mut self, table: &RecordTable) -> Result<RedbTable> {
        RedbTable::of(table)
    }

    fn remake(&self, table: &RecordTable) -> Result<()> {
        let table = RedbTable::of(table)?;
        let mut writing = self.begin_write(Durable::Immediate)?;
        writing.with_dependent_mut(|transaction, open| remade(transaction, open, &table))?;
        writing.into_owner().commit().map_err(error)
    }

    #[inline]
    fn access(&self) -> Option<Access> {
        match self.state {
            TransactionState::Idle => None,
            TransactionState::Reading(_) => Some(Access::Read),
            TransactionState::Writing(_) => Some(Access::Write),
        }
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.state = match access {
            Access::Read => TransactionState::Reading(self.reading()?),
            Access::Write => TransactionState::Writing(self.begin_write(self.options.durability)?),
        };
        Ok(())
    }

    /// Commits, and reports to the sampler that the thread waits: for the disk if there is one, else for writes of pages.
    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, TransactionState::Idle) {
            TransactionState::Idle | TransactionState::Reading(_) => Ok(()),
            TransactionState::Writing(writing) => {
                let wait = Wait::of_commit(self.syncs);
                writer_blocked_on(self.syncs, wait, || writing.into_owner().commit()).map_err(error)
            }
        }
    }

    fn rollback(&mut self) {
        self.state = TransactionState::Idle;
    }

    #[inline]
    fn get<T>(&mut self, table: &RedbTable, key: &[u8], found: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>> {
        read!(self, table, table.key(key)?, |open, own| {
            open.get(&own).map_err(error)?.map(|record| found(record.value())).transpose()
        })
    }

    /// One descent where the key is new, which it nearly always is.
    #[inline]
    fn insert(&mut self, table: &RedbTable, key: &[u8], value: &[u8]) -> Result<bool> {
        write!(self, table, table.key(key)?, |open, own| {
            let old = open.insert(&own, value).map_err(error)?.map(|old| old.value().to_vec());
            let Some(old) = old else { return Ok(true) };
            open.insert(&own, old.as_slice()).map(|_| false).map_err(error)
        })
    }

    #[inline]
    fn put(&mut self, table: &RedbTable, key: &[u8], value: &[u8]) -> Result<()> {
        write!(self, table, table.key(key)?, |open, own| open.insert(&own, value).map(drop).map_err(error))
    }

    #[inline]
    fn remove(&mut self, table: &RedbTable, key: &[u8]) -> Result<bool> {
        write!(self, table, table.key(key)?, |open, own| open.remove(&own).map(|old| old.is_some()).map_err(error))
    }

    fn delete(&mut self, table: &RedbTable, key: &[u8]) -> Result<()> {
        self.remove(table, key).map(drop)
    }

    fn scan(
        &mut self,
        table: &RedbTable,
        from: &[u8],
        limit: u64,
        each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<u64> {
        read!(self, table, table.key(from)?, |open, own| scan(open, own, limit, each))
    }

    fn count(&mut self, table: &RedbTable) -> Result<u64> {
        read!(self, table, table.some_key(), |open, _own| open.len().map_err(error))
    }

    fn clear(&mut self, table: &RedbTable) -> Result<u64> {
        let count = self.count(table)?;
        self.writing().with_dependent_mut(|transaction, tables| remade(transaction, tables, table))?;
        Ok(count)
    }
}
