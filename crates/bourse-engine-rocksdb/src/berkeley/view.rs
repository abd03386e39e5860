//! A session's view of the data: by locks on pages, or a snapshot.

use crate::berkeley::database::BerkeleyDatabase;
use crate::berkeley::library::{Dbt, NOT_FOUND, Object, TOO_SMALL};
use bourse_engine::records::KeyView;
use bourse_engine::records::refusals::no_table;
use bourse_engine::{Access, RecordTable, Result, Wait, sometimes_blocked_on, writer_blocked_on};
use std::cell::RefCell;
use std::ptr;
use std::sync::Arc;

/// `DB_TXN_WRITE_NOSYNC`.
const WRITE_NOSYNC: u32 = 0x20;
/// `DB_TXN_SNAPSHOT`.
const SNAPSHOT: u32 = 0x4;
/// `DB_RMW`: a read takes the lock of a change.
const FOR_CHANGE: u32 = 0x2000;
/// `DB_SET_RANGE`: the first key that is not before this one.
const FROM: u32 = 27;
/// `DB_NEXT`.
const NEXT: u32 = 16;

/// Room for a record at first, in bytes.
const ROOM: usize = 4_096;

/// Table; valid as long as its database.
#[derive(Clone, Copy)]
pub(crate) struct Table(pub(super) Object);

// SAFETY: a table that is opened with DB_THREAD is made to be shared by threads.
unsafe impl Send for Table {}

/// A session's view of the database.
pub(crate) struct BerkeleyView {
    database: Arc<BerkeleyDatabase>,
    /// Open transaction; null outside of one.
    transaction: Object,
    access: Option<Access>,
    /// Room for the key and the record that are read.
    room: RefCell<[Vec<u8>; 2]>,
}

// SAFETY: a transaction may go to another thread, where it is used by that one alone.
unsafe impl Send for BerkeleyView {}

/// Cursor; closed when dropped.
struct Cursor<'v>(&'v BerkeleyDatabase, Object);

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: it was opened, and is closed once, before its transaction ends.
        let _ = unsafe { self.0.api.cursor_close(self.1) };
    }
}

/// `None` for an error that says that there is no such record.
fn if_there(done: Result<()>) -> Result<Option<()>> {
    match done {
        Err(e) if e.code() == Some(NOT_FOUND) => Ok(None),
        done => done.map(Some),
    }
}

impl BerkeleyView {
    pub(crate) fn new(database: Arc<BerkeleyDatabase>) -> Self {
        Self { database, transaction: ptr::null_mut(), access: None, room: RefCell::new([vec![0; 64], vec![0; ROOM]]) }
    }

    fn begun(&self, flags: u32) -> Result<Object> {
        let mut transaction = ptr::null_mut();
        // SAFETY: the environment is open; a place for the transaction.
        unsafe { self.database.api.env_begin(self.database.env, ptr::null_mut(), &raw mut transaction, flags) }?;
        Ok(transaction)
    }

    /// Reads a record by `read`, which gets the rooms for key and record, again with more room where there was too little.
    fn with_room(
        room: &mut [Vec<u8>; 2],
        mut read: impl FnMut(&mut Dbt, &mut Dbt) -> Result<()>,
    ) -> Result<Option<(usize, usize)>> {
        loop {
            let [of_key, of_record] = room;
            let (mut key, mut record) = (Dbt::into(of_key), Dbt::into(of_record));
            let done = read(&mut key, &mut record);
            let (of_key, of_record) = (key.size as usize, record.size as usize);
            match done {
                Err(e) if e.code() == Some(TOO_SMALL) => {
                    room[0].resize(room[0].len().max(of_key), 0);
                    room[1].resize(room[1].len().max(of_record), 0);
                }
                done => return Ok(if_there(done)?.map(|()| (of_key, of_record))),
            }
        }
    }

    fn read<T>(
        &self,
        table: Table,
        key: &[u8],
        flags: u32,
        found: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut room = self.room.borrow_mut();
        let read = |_: &mut Dbt, record: &mut Dbt| {
            let mut key = Dbt::of(key);
            // SAFETY: table and transaction are open; key and room are there for the call.
            unsafe { self.database.api.get(table.0, self.transaction, &raw mut key, record, flags) }
        };
        match Self::with_room(&mut room, read)? {
            Some((_, length)) => found(&room[1][..length]).map(Some),
            None => Ok(None),
        }
    }
}

// Tables stay open: one that is made anew is emptied.
impl KeyView for BerkeleyView {
    type Table = Table;
    const ENGINE: &'static str = "Berkeley DB";

    fn table(&mut self, table: &RecordTable) -> Result<Table> {
        self.database.table(&table.typed_name()?).ok_or_else(|| no_table(table))
    }

    fn remake(&self, table: &RecordTable) -> Result<()> {
        self.database.remake(&table.typed_name()?)
    }

    #[inline]
    fn access(&self) -> Option<Access> {
        self.access
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.transaction = self.begun(match access {
            Access::Read => SNAPSHOT,
            Access::Write if self.database.sync => 0,
            Access::Write => WRITE_NOSYNC,
        })?;
        self.access = Some(access);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let Some(access) = self.access.take() else { return Ok(()) };
        let transaction = std::mem::replace(&mut self.transaction, ptr::null_mut());
        // SAFETY: the transaction is open, and over after the call whatever it returns.
        let commit = || unsafe { self.database.api.commit(transaction, 0) };
        match access {
            Access::Read => commit(),
            Access::Write => {
                let syncs = self.database.syncs;
                writer_blocked_on(syncs, Wait::of_commit(syncs), commit).and_then(|()| self.database.committed())
            }
        }
    }

    fn rollback(&mut self) {
        if self.access.take().is_some() {
            let transaction = std::mem::replace(&mut self.transaction, ptr::null_mut());
            // SAFETY: the transaction is open, and over after the call. Its locks are free then in any case.
            let _ = unsafe { self.database.api.abort(transaction) };
        }
    }

    #[inline]
    fn get<T>(&mut self, table: &Table, key: &[u8], found: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>> {
        self.read(*table, key, 0, found)
    }

    #[inline]
    fn get_for_update<T>(
        &mut self,
        table: &Table,
        key: &[u8],
        found: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        sometimes_blocked_on(Wait::Lock, || self.read(*table, key, FOR_CHANGE, found))
    }

    #[inline]
    fn put(&mut self, table: &Table, key: &[u8], value: &[u8]) -> Result<()> {
        let (mut key, mut value) = (Dbt::of(key), Dbt::of(value));
        // SAFETY: table and transaction are open; key and value are there for the call.
        unsafe { self.database.api.put(table.0, self.transaction, &raw mut key, &raw mut value, 0) }
    }

    #[inline]
    fn delete(&mut self, table: &Table, key: &[u8]) -> Result<()> {
        let mut key = Dbt::of(key);
        // SAFETY: table and transaction are open; the key is there for the call.
        if_there(unsafe { self.database.api.delete(table.0, self.transaction, &raw mut key, 0) }).map(drop)
    }

    fn scan(
        &mut self,
        table: &Table,
        from: &[u8],
        limit: u64,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<u64> {
        let api = self.database.api;
        // Outside of a transaction a scan is one of its own, which sees one state.
        let own = if self.access.is_none() { Some(self.begun(SNAPSHOT)?) } else { None };
        let mut scanned = || {
            let mut opened = ptr::null_mut();
            // SAFETY: table and transaction are open; a place for the cursor.
            unsafe { api.cursor(table.0, own.unwrap_or(self.transaction), &raw mut opened, 0) }?;
            let cursor = Cursor(&self.database, opened);
            let mut room = self.room.borrow_mut();
            let (mut count, mut flags) = (0, FROM);
            let wanted = room[0].len().max(from.len());
            room[0].resize(wanted, 0);
            room[0][..from.len()].copy_from_slice(from);
            while count < limit {
                let read = |key: &mut Dbt, record: &mut Dbt| {
                    key.size = u32::try_from(from.len()).unwrap_or(u32::MAX);
                    // SAFETY: the cursor is open; the rooms are there for the call, and the first has the key to begin from.
                    unsafe { api.cursor_get(cursor.1, key, record, flags) }
                };
                let Some((of_key, of_record)) = Self::with_room(&mut room, read)? else { break };
                each(&room[0][..of_key], &room[1][..of_record])?;
                (count, flags) = (count + 1, NEXT);
            }
            Ok(count)
        };
        let done = scanned();
        if let Some(own) = own {
            // SAFETY: the transaction is open, and has changed nothing; its cursor is closed.
            unsafe { api.abort(own) }?;
        }
        done
    }
}

impl Drop for BerkeleyView {
    fn drop(&mut self) {
        self.rollback();
    }
}
