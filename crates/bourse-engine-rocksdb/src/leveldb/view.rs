//! A session's view of the data, and its changes until they are committed.

use crate::leveldb::database::LevelDbDatabase;
use crate::library::{Iter, ReadOptions, Snapshot};
use crate::transaction::{raw, slice};
use bourse_engine::records::KeyView;
use bourse_engine::records::refusals::no_table;
use bourse_engine::{Access, RecordTable, Result, Wait, writer_blocked_on};
use std::collections::BTreeMap;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Prefix of the keys that name the tables: a table has a name before its zero byte.
const TABLES: &[u8] = b"\0";

/// Longest wait for another session that writes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Number of records that are deleted in one batch when a table is made anew.
const DELETED_TOGETHER: u64 = 10_000;

/// A session's view of the database.
pub(crate) struct LevelDbView {
    database: Arc<LevelDbDatabase>,
    access: Option<Access>,
    /// Read options that pin the snapshot of a transaction that only reads.
    options: *mut ReadOptions,
    snapshot: *const Snapshot,
    /// Changes of the open transaction; `None` deletes.
    changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

// SAFETY: a snapshot and options may go to another thread, where they are used by that one alone.
unsafe impl Send for LevelDbView {}

/// Iterator; released when dropped.
struct Scan<'v>(&'v LevelDbDatabase, *mut Iter);

impl Drop for Scan<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made by the database, which is still open.
        unsafe { (self.0.api.iter_destroy)(self.1) };
    }
}

impl Scan<'_> {
    /// Key and value at which the iterator is, if the key has that prefix.
    fn record(&self, prefix: &[u8]) -> Option<(&[u8], &[u8])> {
        let (mut of_key, mut of_value) = (0, 0);
        // SAFETY: key and value are read where the iterator is valid, and stay until it is moved.
        unsafe {
            if (self.0.api.iter_valid)(self.1) == 0 {
                return None;
            }
            let key = (self.0.api.iter_key)(self.1, &raw mut of_key);
            let value = (self.0.api.iter_value)(self.1, &raw mut of_value);
            let (key, value) = (slice(key, of_key), slice(value, of_value));
            key.starts_with(prefix).then_some((key, value))
        }
    }

    fn next(&mut self) {
        // SAFETY: the iterator is valid: its record was read.
        unsafe { (self.0.api.iter_next)(self.1) };
    }
}

impl LevelDbView {
    pub(crate) fn new(database: Arc<LevelDbDatabase>) -> Self {
        // SAFETY: takes no argument.
        let options = unsafe { (database.api.read_options_create)() };
        Self { database, access: None, options, snapshot: ptr::null(), changes: BTreeMap::new() }
    }

    /// Commits the changes.
    fn write(&mut self) -> Result<()> {
        let LevelDbDatabase { api, raw: database, write_options, syncs, .. } = *self.database;
        let changes = std::mem::take(&mut self.changes);
        // SAFETY: the batch is made here, filled with bytes that it copies, and released.
        unsafe {
            let batch = (api.batch_create)();
            for (key, value) in &changes {
                match value {
                    Some(value) => (api.batch_put)(batch, raw(key), key.len(), raw(value), value.len()),
                    None => (api.batch_delete)(batch, raw(key), key.len()),
                }
            }
            let write = || api.checked(|status| (api.write)(database, write_options, batch, status));
            // Where no commit waits for a disk it is so short that timing each would show.
            let done = writer_blocked_on(syncs, Wait::of_commit(syncs), write);
            (api.batch_destroy)(batch);
            done
        }
    }
}

impl LevelDbDatabase {
    /// Names of all tables.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        // SAFETY: the database is open; the options are made here, and released after the iterator that has them.
        unsafe {
            let options = (self.api.read_options_create)();
            let mut scan = Scan(self, (self.api.iterate)(self.raw, options));
            (self.api.iter_seek)(scan.1, raw(TABLES), TABLES.len());
            while let Some((name, _)) = scan.record(TABLES) {
                let name = String::from_utf8_lossy(&name[TABLES.len()..]);
                names.push(RecordTable::name_in(&name));
                scan.next();
            }
            drop(scan);
            (self.api.read_options_destroy)(options);
        }
        names
    }
}

fn key_of(table: &[u8], key: &[u8]) -> Vec<u8> {
    [table, key].concat()
}

impl KeyView for LevelDbView {
    /// Prefix of the keys of its records.
    type Table = Vec<u8>;
    const ENGINE: &'static str = "LevelDB";

    #[inline]
    fn generation(&self) -> u64 {
        self.database.generation.load(Ordering::Acquire)
    }

    fn table(&mut self, table: &RecordTable) -> Result<Vec<u8>> {
        let name = table.typed_name()?;
        match self.get(&TABLES.to_vec(), name.as_bytes(), |_| Ok(()))? {
            Some(()) => Ok(key_of(name.as_bytes(), b"\0")),
            None => Err(no_table(table)),
        }
    }

    fn remake(&self, table: &RecordTable) -> Result<()> {
        let name = table.typed_name()?;
        let prefix = key_of(name.as_bytes(), b"\0");
        let mut changing = Self::new(Arc::clone(&self.database));
        loop {
            changing.begin(Access::Write)?;
            let mut keys = Vec::new();
            changing.scan(&prefix, &[], DELETED_TOGETHER, |key, _| {
                keys.push(key.to_vec());
                Ok(())
            })?;
            if keys.is_empty() {
                changing.put(&TABLES.to_vec(), name.as_bytes(), &[])?;
                changing.commit()?;
                self.database.generation.fetch_add(1, Ordering::Release);
                return Ok(());
            }
            keys.iter().try_for_each(|key| changing.delete(&prefix, key))?;
            changing.commit()?;
        }
    }

    #[inline]
    fn access(&self) -> Option<Access> {
        self.access
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        match access {
            Access::Write => self.database.writer.take(PATIENCE)?,
            // SAFETY: the database is open; the options have the snapshot until it is released.
            Access::Read => unsafe {
                self.snapshot = (self.database.api.snapshot_create)(self.database.raw);
                (self.database.api.set_snapshot)(self.options, self.snapshot);
            },
        }
        self.access = Some(access);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let done = if self.changes.is_empty() { Ok(()) } else { self.write() };
        self.rollback();
        done
    }

    fn rollback(&mut self) {
        self.changes.clear();
        match self.access.take() {
            None => {}
            Some(Access::Write) => self.database.writer.give_back(),
            // SAFETY: the options are good; the snapshot was made, and is released once.
            Some(Access::Read) => unsafe {
                (self.database.api.set_snapshot)(self.options, ptr::null());
                (self.database.api.snapshot_release)(self.database.raw, self.snapshot);
            },
        }
    }

    #[inline]
    fn get<T>(&mut self, table: &Vec<u8>, key: &[u8], found: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>> {
        let (api, key) = (self.database.api, key_of(table, key));
        if let Some(change) = self.changes.get(&key) {
            return change.as_deref().map(found).transpose();
        }
        let mut length = 0;
        // SAFETY: the database is open, and the key is there for the call.
        let value = api.checked(|status| unsafe {
            (api.get)(self.database.raw, self.options, raw(&key), key.len(), &raw mut length, status)
        })?;
        if value.is_null() {
            return Ok(None);
        }
        // SAFETY: so many bytes, which are freed once they were used.
        unsafe {
            let done = found(slice(value, length));
            (api.free)(value.cast());
            done.map(Some)
        }
    }

    fn put(&mut self, table: &Vec<u8>, key: &[u8], value: &[u8]) -> Result<()> {
        self.changes.insert(key_of(table, key), Some(value.to_vec()));
        Ok(())
    }

    fn delete(&mut self, table: &Vec<u8>, key: &[u8]) -> Result<()> {
        self.changes.insert(key_of(table, key), None);
        Ok(())
    }

    fn scan(
        &mut self,
        table: &Vec<u8>,
        from: &[u8],
        limit: u64,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<u64> {
        let (api, from) = (self.database.api, key_of(table, from));
        // SAFETY: the database is open. The iterator sees the snapshot of the options, or if there is none the database as it is now.
        let mut scan = Scan(&self.database, unsafe { (api.iterate)(self.database.raw, self.options) });
        // SAFETY: the iterator is there; the key is there for the call.
        unsafe { (api.iter_seek)(scan.1, raw(&from), from.len()) };
        let mut own = self.changes.range(from..).take_while(|(key, _)| key.starts_with(table)).peekable();
        let mut count = 0;
        while count < limit {
            let there = scan.record(table);
            let change = own.next_if(|(key, _)| there.is_none_or(|(there, _)| key.as_slice() <= there));
            // A change stands for the record of its key.
            let is_passed = there.is_some_and(|(there, _)| change.is_none_or(|(key, _)| key == there));
            let record = match change {
                Some((key, value)) => value.as_deref().map(|value| (key.as_slice(), value)),
                None if there.is_none() => break,
                None => there,
            };
            if let Some((key, value)) = record {
                each(&key[table.len()..], value)?;
                count += 1;
            }
            if is_passed {
                scan.next();
            }
        }
        // SAFETY: as above. An iterator that fails is not valid any more, as one that is at the end.
        api.checked(|status| unsafe { (api.iter_error)(scan.1, status) })?;
        Ok(count)
    }
}

impl Drop for LevelDbView {
    fn drop(&mut self) {
        self.rollback();
        // SAFETY: the options belong to this view, and the open transaction has ended.
        unsafe { (self.database.api.read_options_destroy)(self.options) };
    }
}
