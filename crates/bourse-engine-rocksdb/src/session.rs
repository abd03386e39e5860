//! Records by key on RocksDB.

use crate::database::{ColumnFamily, RocksDbDatabase};
use crate::transaction::{TransactionState, TransactionView};
use bourse_engine::records::codec::{self, EncodedRow, KeyBytes};
use bourse_engine::records::refusals::{key_exists, only_reads, refuse_indexes};
use bourse_engine::{Access, EachRow, EngineError, FieldChange, Key, RecordTable, Records, Slots, Value};
use std::sync::Arc;

/// Session of one user.
pub(crate) struct RocksDbSession {
    view: TransactionView,
    tables: SessionTables,
    /// Bytes of the record being written.
    buffer: Vec<u8>,
}

/// Tables of a session by their slots, valid for a generation.
struct SessionTables {
    found: Slots<Arc<ColumnFamily>>,
    generation: u64,
}

impl SessionTables {
    /// Table, looked up again if tables were made anew since.
    #[inline]
    fn of(&mut self, database: &RocksDbDatabase, table: &RecordTable) -> Result<&ColumnFamily, EngineError> {
        let generation = database.generation();
        if generation != self.generation {
            self.found.clear();
            self.generation = generation;
        }
        self.found.get_or_make(table.slot(), || database.table(table)).map(|found| &**found)
    }
}

impl RocksDbSession {
    pub(crate) fn new(database: Arc<RocksDbDatabase>) -> Self {
        let tables = SessionTables { found: Slots::default(), generation: database.generation() };
        Self { view: TransactionView::new(database), tables, buffer: Vec::new() }
    }

    /// Runs a change in the open transaction or in one of its own.
    #[inline]
    fn writing<T>(
        &mut self,
        table: &RecordTable,
        body: impl FnOnce(&TransactionView, &ColumnFamily) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let found = self.tables.of(self.view.database(), table)?;
        match self.view.state() {
            TransactionState::Reading(_) => Err(only_reads()),
            TransactionState::Writing => body(&self.view, found),
            TransactionState::Idle => {
                self.view.begin_writing();
                match body(&self.view, found) {
                    Ok(value) => self.view.commit().map(|()| value),
                    Err(e) => {
                        self.view.rollback();
                        Err(e)
                    }
                }
            }
        }
    }
}

impl Records for RocksDbSession {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<(), EngineError> {
        refuse_indexes("RocksDB", tables, self.view.state() != TransactionState::Idle)?;
        tables.iter().try_for_each(|table| self.view.database().remake(table))
    }

    fn begin(&mut self, access: Access) -> Result<(), EngineError> {
        if self.view.state() != TransactionState::Idle {
            return Err(EngineError::unsupported("a session has one transaction at a time"));
        }
        match access {
            Access::Read => self.view.begin_reading(),
            Access::Write => self.view.begin_writing(),
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), EngineError> {
        self.view.commit()
    }

    fn rollback(&mut self) -> Result<(), EngineError> {
        self.view.rollback();
        Ok(())
    }

    #[inline]
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool, EngineError> {
        let bytes = KeyBytes::in_table(table, key)?;
        let found = self.tables.of(self.view.database(), table)?;
        let Some(found) = self.view.get(found, bytes.as_ref())? else { return Ok(false) };
        each(&EncodedRow::new(key, found.bytes()))?;
        Ok(true)
    }

    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<(), EngineError> {
        let bytes = KeyBytes::in_table(table, key)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer).and_then(|()| {
            self.writing(table, |view, found| {
                if view.get_for_update(found, bytes.as_ref())?.is_some() {
                    return Err(key_exists(table, key));
                }
                view.put(found, bytes.as_ref(), &buffer)
            })
        });
        self.buffer = buffer;
        done
    }

    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool, EngineError> {
        let bytes = KeyBytes::in_table(table, key)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer).and_then(|()| {
            self.writing(table, |view, found| {
                let is_there = view.get_for_update(found, bytes.as_ref())?.is_some();
                if is_there {
                    view.put(found, bytes.as_ref(), &buffer)?;
                }
                Ok(is_there)
            })
        });
        self.buffer = buffer;
        done
    }

    fn change(
        &mut self,
        table: &'static RecordTable,
        key: Key<'_>,
        change: FieldChange<'_>,
    ) -> Result<bool, EngineError> {
        let bytes = KeyBytes::in_table(table, key)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = self.writing(table, |view, found| {
            let Some(record) = view.get_for_update(found, bytes.as_ref())? else { return Ok(false) };
            buffer.clear();
            buffer.extend_from_slice(record.bytes());
            codec::change(&mut buffer, change)?;
            view.put(found, bytes.as_ref(), &buffer).map(|()| true)
        });
        self.buffer = buffer;
        done
    }

    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool, EngineError> {
        let bytes = KeyBytes::in_table(table, key)?;
        self.writing(table, |view, found| {
            let is_there = view.get_for_update(found, bytes.as_ref())?.is_some();
            if is_there {
                view.delete(found, bytes.as_ref())?;
            }
            Ok(is_there)
        })
    }

    fn scan(
        &mut self,
        table: &'static RecordTable,
        from: Key<'_>,
        limit: u64,
        each: &mut EachRow<'_>,
    ) -> Result<u64, EngineError> {
        let bytes = KeyBytes::in_table(table, from)?;
        let found = self.tables.of(self.view.database(), table)?;
        self.view.scan(found, bytes.as_ref(), limit, |key, bytes| {
            each(&EncodedRow::new(codec::key_of(key, table.key().record_type)?, bytes))
        })
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64, EngineError> {
        let found = self.tables.of(self.view.database(), table)?;
        self.view.scan(found, &[], u64::MAX, |_, _| Ok(()))
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64, EngineError> {
        if self.view.state() == TransactionState::Idle {
            let count = self.count(table)?;
            // Drops the files in one step; deleting each record would write a tombstone for it.
            return self.view.database().remake(table).map(|()| count);
        }
        // In a transaction, which could be undone, there is no shorter way.
        self.writing(table, |view, found| {
            let mut keys = Vec::new();
            view.scan(found, &[], u64::MAX, |key, _| {
                keys.push(key.to_vec());
                Ok(())
            })?;
            keys.iter().try_for_each(|key| view.delete(found, key))?;
            Ok(keys.len() as u64)
        })
    }
}
