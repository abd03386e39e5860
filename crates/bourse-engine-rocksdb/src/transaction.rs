//! A session's view of the data: the database as it is, a snapshot of it, or a transaction.

use crate::database::{ColumnFamily, RocksDbDatabase};
use crate::error::UNCHECKED;
use crate::library::{Iter, Pinned, ReadOptions, Snapshot, Transaction};
use bourse_engine::records::KeyView;
use bourse_engine::{Access, RecordTable, Result, Wait, writer_blocked_on};
use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

/// State of a session's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionState {
    Idle,
    Reading(*const Snapshot),
    Writing,
}

/// A session's view of the database.
pub(crate) struct TransactionView {
    database: Arc<RocksDbDatabase>,
    state: TransactionState,
    /// Read options that pin the snapshot of the open transaction.
    options: *mut ReadOptions,
    /// Transaction object, reused; null before the first.
    transaction: *mut Transaction,
}

// SAFETY: a transaction, a snapshot and options may go to another thread, where they are used by that one alone.
unsafe impl Send for TransactionView {}

/// Record that was read; released when dropped.
pub(crate) struct FoundRecord<'v> {
    view: &'v TransactionView,
    raw: *mut Pinned,
}

impl FoundRecord<'_> {
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        let mut length = 0;
        // SAFETY: a record that was found; its bytes stay until it is given back.
        unsafe {
            let bytes = (self.view.database.handles.api.pinned_value)(self.raw, &raw mut length);
            slice(bytes, length)
        }
    }
}

impl Drop for FoundRecord<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it was not given back yet.
        unsafe { (self.view.database.handles.api.pinned_destroy)(self.raw) };
    }
}

/// Slice of the library's memory.
///
/// # Safety
/// `length` bytes must be readable at `bytes` for `'a`.
#[inline]
pub(crate) unsafe fn slice<'a>(bytes: *const c_char, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(bytes.cast(), length) }
}

pub(crate) fn raw(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

/// Iterator; released when dropped.
struct Scan<'v>(&'v TransactionView, *mut Iter);

impl Drop for Scan<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made by the view, which is still there.
        unsafe { (self.0.database.handles.api.iter_destroy)(self.1) };
    }
}

impl TransactionView {
    pub(crate) fn new(database: Arc<RocksDbDatabase>) -> Self {
        // SAFETY: takes no argument.
        let options = unsafe { (database.handles.api.read_options_create)() };
        Self { database, state: TransactionState::Idle, options, transaction: ptr::null_mut() }
    }

    fn begin_reading(&mut self) {
        let handles = &self.database.handles;
        // SAFETY: the database is open; the options have the snapshot until it is released.
        unsafe {
            let snapshot = (handles.api.snapshot_create)(handles.base);
            (handles.api.set_snapshot)(self.options, snapshot);
            self.state = TransactionState::Reading(snapshot);
        }
    }

    fn begin_writing(&mut self) {
        let handles = &self.database.handles;
        // SAFETY: the database is open; a transaction that has ended is begun anew. The snapshot belongs to the transaction,
        // and its handle must be freed here.
        unsafe {
            self.transaction = (handles.api.begin)(
                handles.transactions,
                handles.write_options,
                handles.transaction_options,
                self.transaction,
            );
            let snapshot = (handles.api.transaction_snapshot)(self.transaction);
            (handles.api.set_snapshot)(self.options, snapshot);
            (handles.api.free)(snapshot.cast_mut().cast());
        }
        self.state = TransactionState::Writing;
    }

    /// Releases the snapshot.
    fn close(&mut self) {
        let handles = &self.database.handles;
        // SAFETY: the options are good; a snapshot that was made is released once.
        unsafe {
            (handles.api.set_snapshot)(self.options, ptr::null());
            if let TransactionState::Reading(snapshot) = self.state {
                (handles.api.snapshot_release)(handles.base, snapshot);
            }
        }
        self.state = TransactionState::Idle;
    }

    fn found(&self, raw: *mut Pinned) -> Option<FoundRecord<'_>> {
        (!raw.is_null()).then_some(FoundRecord { view: self, raw })
    }
}

impl KeyView for TransactionView {
    type Table = Arc<ColumnFamily>;
    const ENGINE: &'static str = "RocksDB";

    #[inline]
    fn generation(&self) -> u64 {
        self.database.generation()
    }

    fn table(&mut self, table: &RecordTable) -> Result<Self::Table> {
        self.database.table(table)
    }

    fn remake(&self, table: &RecordTable) -> Result<()> {
        self.database.remake(table)
    }

    #[inline]
    fn access(&self) -> Option<Access> {
        match self.state {
            TransactionState::Idle => None,
            TransactionState::Reading(_) => Some(Access::Read),
            TransactionState::Writing => Some(Access::Write),
        }
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        match access {
            Access::Read => self.begin_reading(),
            Access::Write => self.begin_writing(),
        }
        Ok(())
    }

    // A conflict with another transaction undoes the changes too.
    fn commit(&mut self) -> Result<()> {
        if self.state != TransactionState::Writing {
            self.rollback();
            return Ok(());
        }
        let (api, transaction) = (self.database.handles.api, self.transaction);
        // SAFETY: the transaction is open.
        let commit = || api.checked(|status| unsafe { (api.transaction_commit)(transaction, status) });
        let syncs = self.database.syncs;
        let done = writer_blocked_on(syncs, Wait::of_commit(syncs), commit);
        let Err(error) = done else {
            self.close();
            return Ok(());
        };
        self.rollback();
        if error.code() == Some(UNCHECKED) {
            self.database.renew_snapshots()?;
        }
        Err(error)
    }

    fn rollback(&mut self) {
        if self.state == TransactionState::Writing {
            let (api, transaction) = (self.database.handles.api, self.transaction);
            // SAFETY: the transaction is open. What it has changed is in its own memory: forgetting that cannot fail.
            let _ = api.checked(|status| unsafe { (api.transaction_rollback)(transaction, status) });
        }
        self.close();
    }

    #[inline]
    fn get<T>(&mut self, table: &Self::Table, key: &[u8], found: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>> {
        let handles = &self.database.handles;
        let (api, options, table) = (handles.api, self.options, table.raw);
        // SAFETY: database, transaction and table are open; the key is there for the call.
        let pinned = api.checked(|status| unsafe {
            match self.state {
                TransactionState::Writing => {
                    (api.transaction_get)(self.transaction, options, table, raw(key), key.len(), status)
                }
                _ => (api.get)(handles.base, options, table, raw(key), key.len(), status),
            }
        })?;
        self.found(pinned).map(|record| found(record.bytes())).transpose()
    }

    // If another transaction changes the record before this one commits, this one fails.
    #[inline]
    fn get_for_update<T>(
        &mut self,
        table: &Self::Table,
        key: &[u8],
        found: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        debug_assert_eq!(self.state, TransactionState::Writing);
        let api = self.database.handles.api;
        // SAFETY: transaction and table are open; the key is there for the call.
        let pinned = api.checked(|status| unsafe {
            let get = api.transaction_get_for_update;
            get(self.transaction, self.options, table.raw, raw(key), key.len(), 1, status)
        })?;
        self.found(pinned).map(|record| found(record.bytes())).transpose()
    }

    #[inline]
    fn put(&mut self, table: &Self::Table, key: &[u8], value: &[u8]) -> Result<()> {
        debug_assert_eq!(self.state, TransactionState::Writing);
        let api = self.database.handles.api;
        // SAFETY: transaction and table are open; key and value are copied by the call.
        api.checked(|status| unsafe {
            let put = api.transaction_put;
            put(self.transaction, table.raw, raw(key), key.len(), raw(value), value.len(), status);
        })
    }

    #[inline]
    fn delete(&mut self, table: &Self::Table, key: &[u8]) -> Result<()> {
        debug_assert_eq!(self.state, TransactionState::Writing);
        let api = self.database.handles.api;
        // SAFETY: transaction and table are open; the key is copied by the call.
        api.checked(|status| unsafe {
            (api.transaction_delete)(self.transaction, table.raw, raw(key), key.len(), status);
        })
    }

    fn scan(
        &mut self,
        table: &Self::Table,
        from: &[u8],
        limit: u64,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<u64> {
        let handles = &self.database.handles;
        let api = handles.api;
        // SAFETY: database, transaction and table are open. The iterator sees the snapshot of the options, or if there is none
        // the database as it is now.
        let scan = Scan(self, unsafe {
            match self.state {
                TransactionState::Writing => (api.transaction_iterate)(self.transaction, self.options, table.raw),
                _ => (api.iterate)(handles.base, self.options, table.raw),
            }
        });
        let mut count = 0;
        // SAFETY: the iterator is there; the key is there for the call.
        unsafe { (api.iter_seek)(scan.1, raw(from), from.len()) };
        // SAFETY: as above; key and value are read where the iterator is valid, and stay until it is moved.
        while count < limit && unsafe { (api.iter_valid)(scan.1) } != 0 {
            let (mut of_key, mut of_value) = (0, 0);
            // SAFETY: as above.
            let (key, value) = unsafe {
                let key = (api.iter_key)(scan.1, &raw mut of_key);
                let value = (api.iter_value)(scan.1, &raw mut of_value);
                (slice(key, of_key), slice(value, of_value))
            };
            each(key, value)?;
            count += 1;
            // SAFETY: as above.
            unsafe { (api.iter_next)(scan.1) };
        }
        // An iterator that fails is not valid any more, as one that is at the end.
        // SAFETY: as above.
        api.checked(|status| unsafe { (api.iter_error)(scan.1, status) })?;
        Ok(count)
    }
}

impl Drop for TransactionView {
    fn drop(&mut self) {
        self.rollback();
        let api = self.database.handles.api;
        // SAFETY: both belong to this view, and the open transaction has ended.
        unsafe {
            if !self.transaction.is_null() {
                (api.transaction_destroy)(self.transaction);
            }
            (api.read_options_destroy)(self.options);
        }
    }
}
