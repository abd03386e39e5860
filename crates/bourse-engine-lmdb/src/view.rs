//! Records by key on LMDB: a view of the environment for the session that key engines have in common.

use crate::environment::LmdbEnvironment;
use crate::transaction::{ReadAccess, ReadTransaction, WriteTransaction};
use bourse_engine::records::KeyView;
use bourse_engine::records::codec::{self, KeyBytes};
use bourse_engine::{Access, EngineError, Key, RecordTable, RecordType, Result};
use lmdb_master_sys as ffi;
use std::sync::Arc;

/// View of one session.
pub(crate) struct LmdbView {
    environment: Arc<LmdbEnvironment>,
    /// Transaction for reading; reused, and reset while no transaction is open.
    reader: Option<ReadTransaction>,
    writer: Option<WriteTransaction>,
    /// Whether a read-only transaction is open.
    is_reading: bool,
}

impl LmdbView {
    pub(crate) fn new(environment: Arc<LmdbEnvironment>) -> Self {
        Self { environment, reader: None, writer: None, is_reading: false }
    }

    #[inline]
    fn renewed(&mut self) -> Result<&mut ReadTransaction> {
        if self.reader.is_none() {
            self.reader = Some(ReadTransaction::new(Arc::clone(&self.environment))?);
        }
        let reader = self.reader.as_mut().expect("made above");
        reader.renew()?;
        Ok(reader)
    }

    /// Reads in the open transaction, or in one that ends with it.
    #[inline]
    fn reading<T>(&mut self, body: impl FnOnce(ReadAccess<'_>) -> Result<T>) -> Result<T> {
        if let Some(writer) = &self.writer {
            return body(writer.at()?);
        }
        let is_reading = self.is_reading;
        let reader = self.renewed()?;
        let done = body(reader.at());
        if !is_reading {
            reader.reset();
        }
        done
    }

    #[inline]
    fn open(&mut self) -> &mut WriteTransaction {
        self.writer.as_mut().expect("changes are made in a transaction")
    }

    fn end_reading(&mut self) {
        self.is_reading = false;
        if let Some(reader) = &mut self.reader {
            reader.reset();
        }
    }
}

impl KeyView for LmdbView {
    type Table = ffi::MDB_dbi;
    const ENGINE: &'static str = "LMDB";

    /// Bytes of a key: LMDB compares integers fastest as unsigned numbers in the machine's byte order.
    #[inline]
    fn key<'k>(table: &RecordTable, key: Key<'k>) -> Result<KeyBytes<'k>> {
        match KeyBytes::in_table(table, key)? {
            KeyBytes::Int(bytes) => Ok(KeyBytes::Int(u64::from_be_bytes(bytes).to_ne_bytes())),
            KeyBytes::Text([]) => Err(EngineError::unsupported("LMDB has no empty keys")),
            text @ KeyBytes::Text(_) => Ok(text),
        }
    }

    #[inline]
    fn key_of<'k>(table: &RecordTable, bytes: &'k [u8]) -> Result<Key<'k>> {
        match (table.key().record_type, bytes.try_into()) {
            (RecordType::Int, Ok(bytes)) => Ok(Key::Int((u64::from_ne_bytes(bytes) ^ (1 << 63)).cast_signed())),
            _ => codec::key_of(bytes, table.key().record_type),
        }
    }

    fn table(&mut self, table: &RecordTable) -> Result<ffi::MDB_dbi> {
        self.environment.tree(table)
    }

    fn remake(&self, table: &RecordTable) -> Result<()> {
        self.environment.remake(table)
    }

    #[inline]
    fn access(&self) -> Option<Access> {
        match self.writer {
            Some(_) => Some(Access::Write),
            None => self.is_reading.then_some(Access::Read),
        }
    }

    #[inline]
    fn begin(&mut self, access: Access) -> Result<()> {
        match access {
            Access::Read => {
                self.renewed()?;
                self.is_reading = true;
            }
            Access::Write => self.writer = Some(WriteTransaction::new(Arc::clone(&self.environment))?),
        }
        Ok(())
    }

    #[inline]
    fn commit(&mut self) -> Result<()> {
        self.end_reading();
        self.writer.take().map_or(Ok(()), WriteTransaction::commit)
    }

    fn rollback(&mut self) {
        self.end_reading();
        self.writer = None;
    }

    #[inline]
    fn get<T>(&mut self, tree: &ffi::MDB_dbi, key: &[u8], found: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>> {
        self.reading(|at| at.get(*tree, key)?.map(found).transpose())
    }

    #[inline]
    fn insert(&mut self, tree: &ffi::MDB_dbi, key: &[u8], value: &[u8]) -> Result<bool> {
        self.open().put(*tree, key, value, ffi::MDB_NOOVERWRITE)
    }

    #[inline]
    fn put(&mut self, tree: &ffi::MDB_dbi, key: &[u8], value: &[u8]) -> Result<()> {
        self.open().put(*tree, key, value, 0).map(drop)
    }

    #[inline]
    fn remove(&mut self, tree: &ffi::MDB_dbi, key: &[u8]) -> Result<bool> {
        self.open().delete(*tree, key)
    }

    fn delete(&mut self, tree: &ffi::MDB_dbi, key: &[u8]) -> Result<()> {
        self.remove(tree, key).map(drop)
    }

    fn scan(
        &mut self,
        tree: &ffi::MDB_dbi,
        from: &[u8],
        limit: u64,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<u64> {
        // LMDB has no empty keys, also not to begin at.
        self.reading(|at| at.scan(*tree, (!from.is_empty()).then_some(from), limit, &mut each))
    }

    fn count(&mut self, tree: &ffi::MDB_dbi) -> Result<u64> {
        self.reading(|at| at.count(*tree))
    }

    const CLEARS: bool = true;

    fn clear(&mut self, tree: &ffi::MDB_dbi) -> Result<u64> {
        let count = self.open().at()?.count(*tree)?;
        self.open().clear(*tree).map(|()| count)
    }
}
