//! Records by key on LMDB.

use crate::environment::{LmdbEnvironment, Tree};
use crate::transaction::{ReadAccess, ReadTransaction, WriteTransaction};
use bourse_engine::records::codec::{self, EncodedRow};
use bourse_engine::records::refusals::{key_exists, only_reads, refuse_indexes, wrong_key};
use bourse_engine::{
    Access, EachRow, EngineError, ErrorKind, FieldChange, Key, RecordTable, Records, Result, Slots, Value,
};
use lmdb_master_sys as ffi;
use std::sync::Arc;

/// Session of one user.
pub(crate) struct LmdbSession {
    environment: Arc<LmdbEnvironment>,
    /// Transaction for reading; reused, and reset while no transaction is open.
    reader: Option<ReadTransaction>,
    writer: Option<WriteTransaction>,
    /// Whether a read-only transaction is open.
    is_reading: bool,
    /// Trees by their tables' slots.
    trees: Slots<Tree>,
    /// Bytes of the record being written.
    buffer: Vec<u8>,
}

/// Bytes of a key: LMDB compares integers fastest as unsigned numbers in the machine's byte order.
enum LmdbKey<'k> {
    Int([u8; 8]),
    Text(&'k [u8]),
}

impl<'k> LmdbKey<'k> {
    #[inline]
    fn of(tree: Tree, table: &RecordTable, key: Key<'k>) -> Result<Self> {
        match key {
            Key::Int(number) if !tree.has_text_keys => Ok(Self::Int((number as u64 ^ (1 << 63)).to_ne_bytes())),
            Key::Text("") if tree.has_text_keys => Err(EngineError::unsupported("LMDB has no empty keys")),
            Key::Text(text) if tree.has_text_keys => Ok(Self::Text(text.as_bytes())),
            _ => Err(wrong_key(table, key)),
        }
    }
}

impl AsRef<[u8]> for LmdbKey<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Int(bytes) => bytes,
            Self::Text(bytes) => bytes,
        }
    }
}

/// Key from its bytes.
fn key_of(tree: Tree, bytes: &[u8]) -> Result<Key<'_>> {
    let damaged = || EngineError::new(ErrorKind::Other, format!("damaged key: {bytes:?}"));
    if tree.has_text_keys {
        return std::str::from_utf8(bytes).map(Key::Text).map_err(|_| damaged());
    }
    let bytes: [u8; 8] = bytes.try_into().map_err(|_| damaged())?;
    Ok(Key::Int((u64::from_ne_bytes(bytes) ^ (1 << 63)) as i64))
}

impl LmdbSession {
    pub(crate) fn new(environment: Arc<LmdbEnvironment>) -> Self {
        Self { environment, reader: None, writer: None, is_reading: false, trees: Slots::default(), buffer: Vec::new() }
    }

    #[inline]
    fn tree(&mut self, table: &RecordTable) -> Result<Tree> {
        self.trees.get_or_make(table.slot(), || self.environment.tree(table)).copied()
    }

    /// Transaction for reading, with a snapshot.
    #[inline]
    fn renewed(&mut self) -> Result<&mut ReadTransaction> {
        if self.reader.is_none() {
            self.reader = Some(ReadTransaction::new(Arc::clone(&self.environment))?);
        }
        let reader = self.reader.as_mut().expect("made above");
        reader.renew()?;
        Ok(reader)
    }

    /// Runs a read in the open transaction or in one of its own.
    #[inline]
    fn reading<T>(&mut self, table: &RecordTable, body: impl FnOnce(Tree, ReadAccess<'_>) -> Result<T>) -> Result<T> {
        let tree = self.tree(table)?;
        if let Some(writer) = &self.writer {
            return body(tree, writer.at()?);
        }
        let is_reading = self.is_reading;
        let reader = self.renewed()?;
        let done = body(tree, reader.at());
        if !is_reading {
            reader.reset();
        }
        done
    }

    /// Runs a change in the open transaction or in one of its own.
    #[inline]
    fn writing<T>(
        &mut self,
        table: &RecordTable,
        body: impl FnOnce(Tree, &mut WriteTransaction) -> Result<T>,
    ) -> Result<T> {
        if self.is_reading {
            return Err(only_reads());
        }
        let tree = self.tree(table)?;
        if let Some(writer) = &mut self.writer {
            return body(tree, writer);
        }
        let mut writer = WriteTransaction::new(Arc::clone(&self.environment))?;
        let value = body(tree, &mut writer)?;
        writer.commit().map(|()| value)
    }

    fn is_in_transaction(&self) -> bool {
        self.is_reading || self.writer.is_some()
    }

    fn end_reading(&mut self) {
        self.is_reading = false;
        if let Some(reader) = &mut self.reader {
            reader.reset();
        }
    }
}

impl Records for LmdbSession {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        refuse_indexes("LMDB", tables, self.is_in_transaction())?;
        self.environment.remake(tables)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        if self.is_in_transaction() {
            return Err(EngineError::unsupported("a session has one transaction at a time"));
        }
        match access {
            Access::Read => {
                self.renewed()?;
                self.is_reading = true;
            }
            Access::Write => self.writer = Some(WriteTransaction::new(Arc::clone(&self.environment))?),
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.end_reading();
        self.writer.take().map_or(Ok(()), WriteTransaction::commit)
    }

    fn rollback(&mut self) -> Result<()> {
        self.end_reading();
        self.writer = None;
        Ok(())
    }

    #[inline]
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        self.reading(table, |tree, at| {
            let Some(bytes) = at.get(tree.raw, LmdbKey::of(tree, table, key)?.as_ref())? else { return Ok(false) };
            each(&EncodedRow::new(key, bytes))?;
            Ok(true)
        })
    }

    #[inline]
    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer).and_then(|()| {
            self.writing(table, |tree, writer| {
                let bytes = LmdbKey::of(tree, table, key)?;
                if writer.put(tree.raw, bytes.as_ref(), &buffer, ffi::MDB_NOOVERWRITE)? {
                    return Ok(());
                }
                Err(key_exists(table, key))
            })
        });
        self.buffer = buffer;
        done
    }

    #[inline]
    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer).and_then(|()| {
            self.writing(table, |tree, writer| {
                let bytes = LmdbKey::of(tree, table, key)?;
                let is_there = writer.at()?.get(tree.raw, bytes.as_ref())?.is_some();
                Ok(is_there && writer.put(tree.raw, bytes.as_ref(), &buffer, 0)?)
            })
        });
        self.buffer = buffer;
        done
    }

    #[inline]
    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = self.writing(table, |tree, writer| {
            let bytes = LmdbKey::of(tree, table, key)?;
            let Some(found) = writer.at()?.get(tree.raw, bytes.as_ref())? else { return Ok(false) };
            buffer.clear();
            buffer.extend_from_slice(found);
            codec::change(&mut buffer, change)?;
            writer.put(tree.raw, bytes.as_ref(), &buffer, 0)
        });
        self.buffer = buffer;
        done
    }

    #[inline]
    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        self.writing(table, |tree, writer| writer.delete(tree.raw, LmdbKey::of(tree, table, key)?.as_ref()))
    }

    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64> {
        self.reading(table, |tree, at| {
            // An empty text comes before every key, and LMDB takes none.
            let from = if from == Key::Text("") { None } else { Some(LmdbKey::of(tree, table, from)?) };
            at.scan(tree.raw, from.as_ref().map(AsRef::as_ref), limit, &mut |key, bytes| {
                each(&EncodedRow::new(key_of(tree, key)?, bytes))
            })
        })
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.reading(table, |tree, at| at.count(tree.raw))
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        self.writing(table, |tree, writer| {
            let count = writer.at()?.count(tree.raw)?;
            writer.clear(tree.raw)?;
            Ok(count)
        })
    }
}
