//! Records by key on redb.

use crate::error::error;
use crate::options::{Durable, RedbOptions};
use crate::transaction::{Bytes, OpenTable, ReadingTransaction, WriteTables, WritingTransaction, opened, remade};
use bourse_engine::records::codec::{self, EncodedRow};
use bourse_engine::records::refusals::{only_reads, refuse_indexes, wrong_key};
use bourse_engine::{
    Access, EachRow, EngineError, ErrorKind, FieldChange, Key, RecordTable, RecordType, Records, Result, Value, Wait,
    writer_blocked_on,
};
use redb::{Database, Durability, ReadableDatabase as _, ReadableTable, ReadableTableMetadata as _, Table};
use std::sync::Arc;

/// State of a session's transaction.
enum TransactionState {
    Idle,
    Reading(ReadingTransaction),
    Writing(WritingTransaction),
}

/// Session of one user.
pub(crate) struct RedbSession {
    database: Arc<Database>,
    options: RedbOptions,
    /// Whether commits wait for a disk.
    syncs: bool,
    state: TransactionState,
    /// Bytes of the record being written.
    buffer: Vec<u8>,
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
    ($open:expr, $table:expr, $key:expr, |$found:ident, $k:ident| $body:expr) => {
        match ($open, $key) {
            (OpenTable::Int($found), Key::Int($k)) => $body,
            (OpenTable::Text($found), Key::Text($k)) => $body,
            (_, key) => Err(wrong_key($table, key)),
        }
    };
}

/// Runs `$body` on a table to read, in the open transaction or in one of its own.
macro_rules! read {
    ($self:ident, $table:expr, $key:expr, |$found:ident, $k:ident| $body:expr) => {
        match &mut $self.state {
            TransactionState::Idle => {
                let mut reading = $self.reading()?;
                by_type!(reading.table($table)?, $table, $key, |$found, $k| $body)
            }
            TransactionState::Reading(reading) => by_type!(reading.table($table)?, $table, $key, |$found, $k| $body),
            TransactionState::Writing(writing) => writing.with_dependent_mut(|transaction, tables| {
                by_type!(&*opened(transaction, tables, $table)?, $table, $key, |$found, $k| $body)
            }),
        }
    };
}

/// Runs `$body` on a table to write, in the open transaction or in one of its own.
macro_rules! write {
    ($self:ident, $table:expr, $key:expr, |$found:ident, $k:ident| $body:expr) => {
        $self.writing(|writing| {
            writing.with_dependent_mut(|transaction, tables| {
                by_type!(opened(transaction, tables, $table)?, $table, $key, |$found, $k| $body)
            })
        })
    };
}

/// Arbitrary key of the table's type.
fn some_key(table: &RecordTable) -> Key<'static> {
    if table.key().record_type == RecordType::Int { Key::Int(0) } else { Key::Text("") }
}

impl RedbSession {
    pub(crate) fn new(database: Arc<Database>, options: RedbOptions, has_disk: bool) -> Self {
        let syncs = has_disk && options.durability == Durable::Immediate;
        Self { database, options, syncs, state: TransactionState::Idle, buffer: Vec::new() }
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
    fn writing<T>(&mut self, body: impl FnOnce(&mut WritingTransaction) -> Result<T>) -> Result<T> {
        match &mut self.state {
            TransactionState::Reading(_) => Err(only_reads()),
            TransactionState::Writing(writing) => body(writing),
            TransactionState::Idle => {
                let mut writing = self.begin_write(self.options.durability)?;
                match body(&mut writing) {
                    Ok(value) => committed(writing, self.syncs).map(|()| value),
                    Err(e) => writing.into_owner().abort().map_err(error).and(Err(e)),
                }
            }
        }
    }
}

/// Commits, and reports to the sampler that the thread waits: for the disk if there is one, else for writes of pages.
fn committed(writing: WritingTransaction, syncs: bool) -> Result<()> {
    writer_blocked_on(syncs, Wait::of_commit(syncs), || writing.into_owner().commit()).map_err(error)
}

#[inline]
fn get<K: RedbKey>(table: &impl ReadableTable<K, Bytes>, own: K::SelfType<'_>, each: &mut EachRow<'_>) -> Result<bool> {
    let Some(found) = table.get(&own).map_err(error)? else { return Ok(false) };
    each(&EncodedRow::new(K::as_key(&own), found.value()))?;
    Ok(true)
}

#[inline]
fn insert<K: RedbKey>(table: &mut Table<'_, K, Bytes>, own: K::SelfType<'_>, bytes: &[u8]) -> Result<()> {
    // One descent where the key is new, which it nearly always is.
    let Some(old) = table.insert(&own, bytes).map_err(error)?.map(|old| old.value().to_vec()) else { return Ok(()) };
    table.insert(&own, old.as_slice()).map_err(error)?;
    let text = format!("there is a record of key {:?} already", K::as_key(&own));
    Err(EngineError::new(ErrorKind::Duplicate, text))
}

fn update<K: RedbKey>(table: &mut Table<'_, K, Bytes>, own: K::SelfType<'_>, bytes: &[u8]) -> Result<bool> {
    if table.get(&own).map_err(error)?.is_none() {
        return Ok(false);
    }
    table.insert(&own, bytes).map_err(error)?;
    Ok(true)
}

fn change_record<K: RedbKey>(
    table: &mut Table<'_, K, Bytes>,
    own: K::SelfType<'_>,
    buffer: &mut Vec<u8>,
    change: FieldChange<'_>,
) -> Result<bool> {
    let Some(found) = table.get(&own).map_err(error)? else { return Ok(false) };
    buffer.clear();
    buffer.extend_from_slice(found.value());
    drop(found);
    codec::change(buffer, change)?;
    table.insert(&own, buffer.as_slice()).map_err(error)?;
    Ok(true)
}

fn scan<K: RedbKey>(
    table: &impl ReadableTable<K, Bytes>,
    from: K::SelfType<'_>,
    limit: u64,
    each: &mut EachRow<'_>,
) -> Result<u64> {
    let mut count = 0;
    if limit == 0 {
        return Ok(0);
    }
    for entry in table.range(from..).map_err(error)? {
        let (key, bytes) = entry.map_err(error)?;
        each(&EncodedRow::new(K::as_key(&key.value()), bytes.value()))?;
        count += 1;
        if count == limit {
            break;
        }
    }
    Ok(count)
}

impl Records for RedbSession {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        refuse_indexes("redb", tables, !matches!(self.state, TransactionState::Idle))?;
        let mut writing = self.begin_write(Durable::Immediate)?;
        writing.with_dependent_mut(|transaction, open| {
            tables.iter().try_for_each(|table| remade(transaction, open, table))
        })?;
        writing.into_owner().commit().map_err(error)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        if !matches!(self.state, TransactionState::Idle) {
            return Err(EngineError::unsupported("redb has no transactions within transactions"));
        }
        self.state = match access {
            Access::Read => TransactionState::Reading(self.reading()?),
            Access::Write => TransactionState::Writing(self.begin_write(self.options.durability)?),
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, TransactionState::Idle) {
            TransactionState::Idle | TransactionState::Reading(_) => Ok(()),
            TransactionState::Writing(writing) => committed(writing, self.syncs),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, TransactionState::Idle) {
            TransactionState::Idle | TransactionState::Reading(_) => Ok(()),
            TransactionState::Writing(writing) => writing.into_owner().abort().map_err(error),
        }
    }

    #[inline]
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        read!(self, table, key, |found, own| get(found, own, each))
    }

    #[inline]
    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer)
            .and_then(|()| write!(self, table, key, |found, own| insert(found, own, &buffer)));
        self.buffer = buffer;
        done
    }

    #[inline]
    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer)
            .and_then(|()| write!(self, table, key, |found, own| update(found, own, &buffer)));
        self.buffer = buffer;
        done
    }

    #[inline]
    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = write!(self, table, key, |found, own| change_record(found, own, &mut buffer, change));
        self.buffer = buffer;
        done
    }

    #[inline]
    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        write!(self, table, key, |found, own| found.remove(&own).map(|old| old.is_some()).map_err(error))
    }

    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64> {
        read!(self, table, from, |found, own| scan(found, own, limit, each))
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        read!(self, table, some_key(table), |found, _own| found.len().map_err(error))
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.writing(|writing| {
            writing.with_dependent_mut(|transaction, tables| {
                let count = by_type!(opened(transaction, tables, table)?, table, some_key(table), |found, _own| {
                    found.len().map_err(error)
                })?;
                // A tree is given back whole; record by record it would be copied page by page.
                remade(transaction, tables, table)?;
                Ok(count)
            })
        })
    }
}
