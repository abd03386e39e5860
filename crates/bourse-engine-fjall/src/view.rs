//! A session's view of the data: the database as it is, a snapshot of it, or a transaction.

use crate::database::FjallDatabase;
use crate::error::error;
use bourse_engine::records::KeyView;
use bourse_engine::records::codec::KeyBytes;
use bourse_engine::{Access, EngineError, Key, RecordTable, Result};
use fjall::{Keyspace, OptimisticWriteTx, Readable, Snapshot};
use std::sync::Arc;

/// A session's view of the database. At most one of its two transactions is open.
pub(crate) struct FjallView {
    database: Arc<FjallDatabase>,
    reading: Option<Snapshot>,
    writing: Option<OptimisticWriteTx>,
}

/// Runs `$body` on the source of reads: a transaction, or a snapshot of the current state.
macro_rules! read {
    ($self:ident, |$from:ident| $body:expr) => {
        match (&$self.writing, &$self.reading) {
            (Some($from), _) => $body,
            (None, Some($from)) => $body,
            (None, None) => {
                let $from = $self.database.snapshot();
                $body
            }
        }
    };
}

impl FjallView {
    pub(crate) fn new(database: Arc<FjallDatabase>) -> Self {
        Self { database, reading: None, writing: None }
    }

    #[inline]
    fn open(&self) -> &OptimisticWriteTx {
        self.writing.as_ref().expect("changes are made in a transaction")
    }

    #[inline]
    fn open_mut(&mut self) -> &mut OptimisticWriteTx {
        self.writing.as_mut().expect("changes are made in a transaction")
    }
}

impl KeyView for FjallView {
    type Table = Keyspace;
    const ENGINE: &'static str = "fjall";

    #[inline]
    fn key<'k>(table: &RecordTable, key: Key<'k>) -> Result<KeyBytes<'k>> {
        if key == Key::Text("") {
            return Err(EngineError::unsupported("fjall has no empty keys"));
        }
        KeyBytes::in_table(table, key)
    }

    fn table(&mut self, table: &RecordTable) -> Result<Keyspace> {
        self.database.keyspace(table)
    }

    fn remake(&self, table: &RecordTable) -> Result<()> {
        self.database.remake(table)
    }

    #[inline]
    fn access(&self) -> Option<Access> {
        match (&self.writing, &self.reading) {
            (Some(_), _) => Some(Access::Write),
            (None, Some(_)) => Some(Access::Read),
            (None, None) => None,
        }
    }

    #[inline]
    fn begin(&mut self, access: Access) -> Result<()> {
        match access {
            Access::Read => self.reading = Some(self.database.snapshot()),
            Access::Write => self.writing = Some(self.database.begin()?),
        }
        Ok(())
    }

    #[inline]
    fn commit(&mut self) -> Result<()> {
        self.reading = None;
        self.writing.take().map_or(Ok(()), |writing| self.database.commit(writing))
    }

    fn rollback(&mut self) {
        // A transaction that is dropped has written nothing.
        (self.reading, self.writing) = (None, None);
    }

    #[inline]
    fn get<T>(&mut self, table: &Keyspace, key: &[u8], found: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>> {
        let record = match (&self.writing, &self.reading) {
            (Some(writing), _) => writing.get(table, key),
            (None, Some(snapshot)) => snapshot.get(table, key),
            // One read needs no snapshot.
            (None, None) => table.get(key),
        };
        record.map_err(error)?.map(|record| found(&record)).transpose()
    }

    #[inline]
    fn contains(&mut self, table: &Keyspace, key: &[u8]) -> Result<bool> {
        self.open().contains_key(table, key).map_err(error)
    }

    #[inline]
    fn put(&mut self, table: &Keyspace, key: &[u8], value: &[u8]) -> Result<()> {
        self.open_mut().insert(table, key, value);
        Ok(())
    }

    #[inline]
    fn delete(&mut self, table: &Keyspace, key: &[u8]) -> Result<()> {
        self.open_mut().remove(table, key);
        Ok(())
    }

    fn scan(
        &mut self,
        table: &Keyspace,
        from: &[u8],
        limit: u64,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<u64> {
        if limit == 0 {
            return Ok(0);
        }
        read!(self, |source| {
            let mut count = 0;
            for entry in source.range(table, from..) {
                let (key, bytes) = entry.into_inner().map_err(error)?;
                each(&key, &bytes)?;
                count += 1;
                if count == limit {
                    break;
                }
            }
            Ok(count)
        })
    }

    fn count(&mut self, table: &Keyspace) -> Result<u64> {
        read!(self, |source| source.len(table).map(|count| count as u64).map_err(error))
    }
}
