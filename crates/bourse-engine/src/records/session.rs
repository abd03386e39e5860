//! Session of a key engine that stores bytes, over what its view of the data offers.

use super::codec::{self, EncodedRow, KeyBytes};
use super::refusals::{key_exists, only_reads, refuse_indexes};
use crate::{Access, EachRow, EngineError, FieldChange, Key, RecordTable, Records, Result, Slots, Value};

/// A session's view of a database: as it is, a snapshot of it, or a transaction. Keys and records are bytes; the methods fail
/// with the engine's errors.
#[allow(clippy::missing_errors_doc, reason = "said of all above")]
pub trait KeyView: Send {
    /// Table, as the engine finds it.
    type Table: Send;
    /// Name of the engine, for errors.
    const ENGINE: &'static str;

    /// Generation of the tables: it changes when tables that sessions have found are no longer valid.
    #[inline]
    fn generation(&self) -> u64 {
        0
    }
    /// Bytes of a record's key, if it is of its table's type.
    #[inline]
    fn key<'k>(table: &RecordTable, key: Key<'k>) -> Result<KeyBytes<'k>> {
        KeyBytes::in_table(table, key)
    }
    /// A record's key from its bytes.
    #[inline]
    fn key_of<'k>(table: &RecordTable, bytes: &'k [u8]) -> Result<Key<'k>> {
        codec::key_of(bytes, table.key().record_type)
    }
    /// Table of the database; an error if it does not exist.
    fn table(&mut self, table: &RecordTable) -> Result<Self::Table>;
    /// Makes a table anew, empty, outside of any transaction.
    fn remake(&self, table: &RecordTable) -> Result<()>;
    /// Kind of the open transaction; `None` outside of one.
    fn access(&self) -> Option<Access>;
    /// Opens a transaction; there is none yet.
    fn begin(&mut self, access: Access) -> Result<()>;
    /// Commits the changes, if there are any, and ends the transaction.
    fn commit(&mut self) -> Result<()>;
    /// Undoes the changes, and ends the transaction.
    fn rollback(&mut self);
    /// Result of `found` on a record, if it exists.
    fn get<T>(&mut self, table: &Self::Table, key: &[u8], found: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>>;
    /// Result of `found` on a record that the open transaction is about to change.
    #[inline]
    fn get_for_update<T>(
        &mut self,
        table: &Self::Table,
        key: &[u8],
        found: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(table, key, found)
    }
    /// Whether a record exists that the open transaction is about to change.
    #[inline]
    fn contains(&mut self, table: &Self::Table, key: &[u8]) -> Result<bool> {
        self.get_for_update(table, key, |_| Ok(())).map(|found| found.is_some())
    }
    /// Writes a record in the open transaction unless its key exists, and returns whether it did.
    #[inline]
    fn insert(&mut self, table: &Self::Table, key: &[u8], value: &[u8]) -> Result<bool> {
        if self.contains(table, key)? { Ok(false) } else { self.put(table, key, value).map(|()| true) }
    }
    /// Writes a record in the open transaction.
    fn put(&mut self, table: &Self::Table, key: &[u8], value: &[u8]) -> Result<()>;
    /// Deletes a record in the open transaction, and returns whether it existed.
    #[inline]
    fn remove(&mut self, table: &Self::Table, key: &[u8]) -> Result<bool> {
        if self.contains(table, key)? { self.delete(table, key).map(|()| true) } else { Ok(false) }
    }
    /// Deletes a record in the open transaction.
    fn delete(&mut self, table: &Self::Table, key: &[u8]) -> Result<()>;
    /// Passes at most `limit` records from a key on to `each`, and returns how many.
    fn scan(
        &mut self,
        table: &Self::Table,
        from: &[u8],
        limit: u64,
        each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<u64>;
    /// Number of records.
    fn count(&mut self, table: &Self::Table) -> Result<u64> {
        self.scan(table, &[], u64::MAX, |_, _| Ok(()))
    }
    /// Whether [`clear`](Self::clear) is faster than [`remake`](Self::remake).
    const CLEARS: bool = false;
    /// Deletes all records in the open transaction, and returns how many.
    fn clear(&mut self, table: &Self::Table) -> Result<u64> {
        let mut keys = Vec::new();
        self.scan(table, &[], u64::MAX, |key, _| {
            keys.push(key.to_vec());
            Ok(())
        })?;
        keys.iter().try_for_each(|key| self.delete(table, key))?;
        Ok(keys.len() as u64)
    }
}

/// Session of one user over a view. A change outside of a transaction is one of its own.
#[derive(Debug)]
pub struct KeySession<V: KeyView> {
    view: V,
    tables: SessionTables<V::Table>,
    /// Bytes of the record being written.
    buffer: Vec<u8>,
}

/// Tables of a session by their slots, valid for a generation.
#[derive(Debug)]
struct SessionTables<T> {
    found: Slots<T>,
    generation: u64,
}

impl<T> SessionTables<T> {
    /// Table, looked up again if tables were made anew since.
    #[inline]
    fn of(&mut self, view: &mut impl KeyView<Table = T>, table: &RecordTable) -> Result<&T> {
        let generation = view.generation();
        if generation != self.generation {
            self.found.clear();
            self.generation = generation;
        }
        self.found.get_or_make(table.slot(), || view.table(table)).map(|found| &*found)
    }
}

impl<V: KeyView> KeySession<V> {
    /// Session that sees the database through `view`.
    pub fn new(view: V) -> Self {
        let tables = SessionTables { found: Slots::default(), generation: view.generation() };
        Self { view, tables, buffer: Vec::new() }
    }

    /// Runs a change in the open transaction or in one of its own.
    #[inline]
    fn writing<T>(&mut self, table: &RecordTable, body: impl FnOnce(&mut V, &V::Table) -> Result<T>) -> Result<T> {
        let found = self.tables.of(&mut self.view, table)?;
        match self.view.access() {
            Some(Access::Read) => Err(only_reads()),
            Some(Access::Write) => body(&mut self.view, found),
            None => {
                self.view.begin(Access::Write)?;
                match body(&mut self.view, found) {
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

impl<V: KeyView> Records for KeySession<V> {
    fn create(&mut self, tables: &[&'static RecordTable]) -> Result<()> {
        refuse_indexes(V::ENGINE, tables, self.view.access().is_some())?;
        tables.iter().try_for_each(|table| self.view.remake(table))
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        if self.view.access().is_some() {
            return Err(EngineError::unsupported("a session has one transaction at a time"));
        }
        self.view.begin(access)
    }

    fn commit(&mut self) -> Result<()> {
        self.view.commit()
    }

    fn rollback(&mut self) -> Result<()> {
        self.view.rollback();
        Ok(())
    }

    #[inline]
    fn get(&mut self, table: &'static RecordTable, key: Key<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        let bytes = V::key(table, key)?;
        let found = self.tables.of(&mut self.view, table)?;
        Ok(self.view.get(found, bytes.as_ref(), |record| each(&EncodedRow::new(key, record)))?.is_some())
    }

    fn insert(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<()> {
        let bytes = V::key(table, key)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer).and_then(|()| {
            self.writing(table, |view, found| {
                if view.insert(found, bytes.as_ref(), &buffer)? { Ok(()) } else { Err(key_exists(table, key)) }
            })
        });
        self.buffer = buffer;
        done
    }

    fn update(&mut self, table: &'static RecordTable, key: Key<'_>, values: &[Value<'_>]) -> Result<bool> {
        let bytes = V::key(table, key)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = codec::encode(values, &mut buffer).and_then(|()| {
            self.writing(table, |view, found| {
                let is_there = view.contains(found, bytes.as_ref())?;
                if is_there {
                    view.put(found, bytes.as_ref(), &buffer)?;
                }
                Ok(is_there)
            })
        });
        self.buffer = buffer;
        done
    }

    fn change(&mut self, table: &'static RecordTable, key: Key<'_>, change: FieldChange<'_>) -> Result<bool> {
        let bytes = V::key(table, key)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let done = self.writing(table, |view, found| {
            let read = |record: &[u8]| {
                buffer.clear();
                buffer.extend_from_slice(record);
                Ok(())
            };
            if view.get_for_update(found, bytes.as_ref(), read)?.is_none() {
                return Ok(false);
            }
            codec::change(&mut buffer, change)?;
            view.put(found, bytes.as_ref(), &buffer).map(|()| true)
        });
        self.buffer = buffer;
        done
    }

    fn delete(&mut self, table: &'static RecordTable, key: Key<'_>) -> Result<bool> {
        let bytes = V::key(table, key)?;
        self.writing(table, |view, found| view.remove(found, bytes.as_ref()))
    }

    fn scan(&mut self, table: &'static RecordTable, from: Key<'_>, limit: u64, each: &mut EachRow<'_>) -> Result<u64> {
        // No record has an empty key in an engine without them, but a scan of all begins there.
        let bytes = if from == Key::Text("") { KeyBytes::in_table(table, from)? } else { V::key(table, from)? };
        let found = self.tables.of(&mut self.view, table)?;
        self.view.scan(found, bytes.as_ref(), limit, |key, bytes| each(&EncodedRow::new(V::key_of(table, key)?, bytes)))
    }

    fn count(&mut self, table: &'static RecordTable) -> Result<u64> {
        let found = self.tables.of(&mut self.view, table)?;
        self.view.count(found)
    }

    fn delete_all(&mut self, table: &'static RecordTable) -> Result<u64> {
        if self.view.access().is_none() && !V::CLEARS {
            let count = self.count(table)?;
            return self.view.remake(table).map(|()| count);
        }
        self.writing(table, |view, found| view.clear(found))
    }
}
