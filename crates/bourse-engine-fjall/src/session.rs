//! Records by key on fjall.

use crate::database::FjallDatabase;
use crate::error::error;
use bourse_engine::records::codec::{self, EncodedRow, KeyBytes};
use bourse_engine::records::refusals::{key_exists, only_reads, refuse_indexes};
use bourse_engine::{Access, EachRow, EngineError, FieldChange, Key, RecordTable, Records, Result, Slots, Value};
use fjall::{Keyspace, OptimisticWriteTx, Readable, Snapshot};
use std::sync::Arc;

/// State of a session's transaction.
enum TransactionState {
    Idle,
    Reading(Snapshot),
    Writing(Box<OptimisticWriteTx>),
}

/// Session of one user.
pub(crate) struct FjallSession {
    database: Arc<FjallDatabase>,
    state: TransactionState,
    /// Keyspaces by their tables' slots.
    keyspaces: Slots<Keyspace>,
    /// Bytes of the record being written.
    buffer: Vec<u8>,
}

/// Bytes of a key, if it is of its table's type.
#[inline]
fn bytes_of<'k>(table: &RecordTable, key: Key<'k>) -> Result<KeyBytes<'k>> {
    if key == Key::Text("") {
        Err(EngineError::unsupported("fjall has no empty keys"))
    } else {
        KeyBytes::in_table(table, key)
    }
}

/// Runs `$body` on the source of reads, a transaction or the current keyspace, with the table's keyspace.
macro_rules! read {
    ($self:ident, $table:expr, |$from:ident, $keyspace:ident| $body:expr) => {{
        let $keyspace = &*$self.keyspaces.get_or_make($table.slot(), || $self.database.keyspace($table))?;
        match &$self.state {
            TransactionState::Idle => {
                let $from = $self.database.snapshot();
                $body
            }
            TransactionState::Reading($from) => $body,
            TransactionState::Writing($from) => {
                let $from = &**$from;
                $body
            }
        }
    }};
}

impl FjallSession {
    pub(crate) fn new(database: Arc<FjallDatabase>) -> Self {
        Self { database, state: TransactionState::Idle, keyspaces: Slots::default(), buffer: Vec::new() }
    }

    /// Runs a change in the open transaction or in one of its own.
    #[inline]
    fn writing<T>(
        &mut self,
        table: &RecordTable,
        body: impl FnOnce(&mut OptimisticWriteTx, &Keyspace) -> Result<T>,
    ) -> Result<T> {
        let keyspace = &*self.keyspaces.get_or_make(table.slot(), || self.database.keyspace(table))?;
        match &mut self.state {
            TransactionState::Reading(_) => Err(only_reads()),
            TransactionState::Writing(writing) => body(writing, keyspace),
            TransactionState::Idle => {
                let mut writing = self.database.begin()?;
                let value = body(&mut writing, keyspace)?;
                self.database.commit(writing).map(|()| value)
            }
        }
    }
}

impl Records for FjallSession {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        refuse_indexes("fjall", tables, !matches!(self.state, TransactionState::Idle))?;
        tables.iter().try_for_each(|table| self.database.remake(table))
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        if !matches!(self.state, TransactionState::Idle) {
            return Err(EngineError::unsupported("a session has one transaction at a time"));
        }
        self.state = match access {
            Access::Read => TransactionState::Reading(self.database.snapshot()),
            Access::Write => TransactionState::Writing(Box::new(self.database.begin()?)),
        };
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, TransactionState::Idle) {
            TransactionState::Idle | TransactionState::Reading(_) => Ok(()),
            TransactionState::Writing(writing) => self.database.commit(*writing),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        // A transaction that is dropped has written nothing.
        self.state = TransactionState::Idle;
        Ok(())
    }

    #[inline]
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        let bytes = bytes_of(table, key)?;
        let keyspace = &*self.keyspaces.get_or_make(table.slot(), || self.database.keyspace(table))?;
        let found = match &self.state {
            // One read needs no snapshot.
            TransactionState::Idle => keyspace.get(bytes),
            TransactionState::Reading(snapshot) => snapshot.get(keyspace, bytes),
            TransactionState::Writing(writing) => writing.get(keyspace, bytes),
        };
        let Some(found) = found.map_err(error)? else { return Ok(false) };
        each(&EncodedRow::new(key, &found))?;
        Ok(true)
    }

    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        let bytes = bytes_of(table, key)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer).and_then(|()| {
            self.writing(table, |writing, keyspace| {
                if writing.contains_key(keyspace, bytes).map_err(error)? {
                    return Err(key_exists(table, key));
                }
                writing.insert(keyspace, bytes.as_ref(), buffer.as_slice());
                Ok(())
            })
        });
        self.buffer = buffer;
        done
    }

    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        let bytes = bytes_of(table, key)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer).and_then(|()| {
            self.writing(table, |writing, keyspace| {
                let is_there = writing.contains_key(keyspace, bytes).map_err(error)?;
                if is_there {
                    writing.insert(keyspace, bytes.as_ref(), buffer.as_slice());
                }
                Ok(is_there)
            })
        });
        self.buffer = buffer;
        done
    }

    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        let bytes = bytes_of(table, key)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = self.writing(table, |writing, keyspace| {
            let Some(found) = writing.get(keyspace, bytes).map_err(error)? else { return Ok(false) };
            buffer.clear();
            buffer.extend_from_slice(&found);
            codec::change(&mut buffer, change)?;
            writing.insert(keyspace, bytes.as_ref(), buffer.as_slice());
            Ok(true)
        });
        self.buffer = buffer;
        done
    }

    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        let bytes = bytes_of(table, key)?;
        self.writing(table, |writing, keyspace| {
            let is_there = writing.contains_key(keyspace, bytes).map_err(error)?;
            if is_there {
                writing.remove(keyspace, bytes.as_ref());
            }
            Ok(is_there)
        })
    }

    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64> {
        if limit == 0 {
            return Ok(0);
        }
        // An empty text comes before every key.
        let from = if from == Key::Text("") { KeyBytes::of(from) } else { bytes_of(table, from)? };
        read!(self, table, |snapshot, keyspace| {
            let mut count = 0;
            for entry in snapshot.range(keyspace, from.as_ref()..) {
                let (key, bytes) = entry.into_inner().map_err(error)?;
                each(&EncodedRow::new(codec::key_of(&key, table.key().record_type)?, &bytes))?;
                count += 1;
                if count == limit {
                    break;
                }
            }
            Ok(count)
        })
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        read!(self, table, |snapshot, keyspace| snapshot.len(keyspace).map(|count| count as u64).map_err(error))
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        let count = self.count(table)?;
        if matches!(self.state, TransactionState::Idle) {
            let keyspace = &*self.keyspaces.get_or_make(table.slot(), || self.database.keyspace(table))?;
            return self.database.clear(keyspace).map(|()| count);
        }
        // In a transaction, which could be undone, there is no shorter way.
        self.writing(table, |writing, keyspace| {
            for entry in writing.iter(keyspace) {
                writing.remove(keyspace, entry.key().map_err(error)?);
            }
            Ok(count)
        })
    }
}
