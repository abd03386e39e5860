//! Transactions of LMDB, made safe.

use crate::environment::{LmdbEnvironment, name_or_null};
use crate::error::{check, error};
use bourse_engine::{EngineError, Result, Wait, writer_blocked_on};
use lmdb_master_sys as ffi;
use std::ffi::{CStr, c_uint};
use std::marker::PhantomData;
use std::ptr;
use std::slice;
use std::sync::Arc;
use std::thread::{self, ThreadId};

fn begin(environment: &LmdbEnvironment, flags: c_uint) -> Result<*mut ffi::MDB_txn> {
    let mut raw = ptr::null_mut();
    // SAFETY: the environment is open; a place for the new transaction, which has no parent.
    check(unsafe { ffi::mdb_txn_begin(environment.raw(), ptr::null_mut(), flags, &raw mut raw) })?;
    Ok(raw)
}

fn value(bytes: &[u8]) -> ffi::MDB_val {
    ffi::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
}

const EMPTY: ffi::MDB_val = ffi::MDB_val { mv_size: 0, mv_data: ptr::null_mut() };

/// Bytes that LMDB points to.
///
/// # Safety
/// LMDB has filled `value`; for `'t` its transaction writes nothing and does not end.
unsafe fn bytes<'t>(value: &ffi::MDB_val) -> &'t [u8] {
    if value.mv_size == 0 {
        return &[];
    }
    // SAFETY: as the caller says.
    unsafe { slice::from_raw_parts(value.mv_data.cast(), value.mv_size) }
}

/// Read access to an open transaction in which nothing is written for `'t`.
#[derive(Clone, Copy)]
pub(crate) struct ReadAccess<'t> {
    raw: *mut ffi::MDB_txn,
    transaction: PhantomData<&'t ()>,
}

/// Callback of a scan for each key and its bytes.
pub(crate) type EachPair<'f> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'f;

impl<'t> ReadAccess<'t> {
    #[inline]
    pub(crate) fn get(self, tree: ffi::MDB_dbi, key: &[u8]) -> Result<Option<&'t [u8]>> {
        let (mut key, mut found) = (value(key), EMPTY);
        // SAFETY: the transaction is open and the tree of its environment; LMDB only reads the key.
        match unsafe { ffi::mdb_get(self.raw, tree, &raw mut key, &raw mut found) } {
            // SAFETY: it has filled `found`, and for `'t` the transaction stays as it is.
            ffi::MDB_SUCCESS => Ok(Some(unsafe { bytes(&found) })),
            ffi::MDB_NOTFOUND => Ok(None),
            code => Err(error(code)),
        }
    }

    /// Number of records in a tree.
    pub(crate) fn count(self, tree: ffi::MDB_dbi) -> Result<u64> {
        // SAFETY: a structure of integers.
        let mut stat: ffi::MDB_stat = unsafe { std::mem::zeroed() };
        // SAFETY: the transaction is open and the tree of its environment.
        check(unsafe { ffi::mdb_stat(self.raw, tree, &raw mut stat) })?;
        Ok(stat.ms_entries as u64)
    }

    /// Passes at most `limit` records in ascending order of their keys to `each`, from `from` or from the first; returns how
    /// many.
    pub(crate) fn scan(
        self,
        tree: ffi::MDB_dbi,
        from: Option<&[u8]>,
        limit: u64,
        each: &mut EachPair<'_>,
    ) -> Result<u64> {
        if limit == 0 {
            return Ok(0);
        }
        let mut cursor = ptr::null_mut();
        // SAFETY: the transaction is open and the tree of its environment.
        check(unsafe { ffi::mdb_cursor_open(self.raw, tree, &raw mut cursor) })?;
        let cursor = LmdbCursor(cursor);
        let (mut key, mut found) = (from.map_or(EMPTY, value), EMPTY);
        let mut step = if from.is_some() { ffi::MDB_SET_RANGE } else { ffi::MDB_FIRST };
        for count in 0..limit {
            // SAFETY: the cursor is open, and so is its transaction.
            match unsafe { ffi::mdb_cursor_get(cursor.0, &raw mut key, &raw mut found, step) } {
                // SAFETY: it has filled both; nothing is written before the next step.
                ffi::MDB_SUCCESS => unsafe { each(bytes(&key), bytes(&found))? },
                ffi::MDB_NOTFOUND => return Ok(count),
                code => return Err(error(code)),
            }
            step = ffi::MDB_NEXT;
        }
        Ok(limit)
    }
}

struct LmdbCursor(*mut ffi::MDB_cursor);

impl Drop for LmdbCursor {
    fn drop(&mut self) {
        // SAFETY: opened by `scan` within a transaction that is still open.
        unsafe { ffi::mdb_cursor_close(self.0) };
    }
}

/// Transaction for reading. After a reset it still has its place in LMDB's table of readers, so that renewing it is fast.
pub(crate) struct ReadTransaction {
    raw: *mut ffi::MDB_txn,
    is_open: bool,
    _environment: Arc<LmdbEnvironment>,
}

// SAFETY: with MDB_NOTLS a transaction that reads belongs to no thread; it is used by one at a time, being `&mut` to change.
unsafe impl Send for ReadTransaction {}

impl ReadTransaction {
    pub(crate) fn new(environment: Arc<LmdbEnvironment>) -> Result<Self> {
        let raw = begin(&environment, ffi::MDB_RDONLY)?;
        Ok(Self { raw, is_open: true, _environment: environment })
    }

    /// Takes a new snapshot.
    #[inline]
    pub(crate) fn renew(&mut self) -> Result<()> {
        if !self.is_open {
            // SAFETY: it was reset.
            check(unsafe { ffi::mdb_txn_renew(self.raw) })?;
            self.is_open = true;
        }
        Ok(())
    }

    /// Releases the snapshot.
    #[inline]
    pub(crate) fn reset(&mut self) {
        if self.is_open {
            // SAFETY: it is open, and nothing that it pointed to is in use: that would borrow it.
            unsafe { ffi::mdb_txn_reset(self.raw) };
            self.is_open = false;
        }
    }

    /// Read access to the snapshot.
    ///
    /// # Panics
    /// If it has no snapshot.
    #[inline]
    pub(crate) fn at(&self) -> ReadAccess<'_> {
        assert!(self.is_open, "a transaction that was reset is renewed before it is read");
        ReadAccess { raw: self.raw, transaction: PhantomData }
    }

    /// Opens an existing tree.
    pub(crate) fn open_tree(&self, name: Option<&CStr>, flags: c_uint) -> Result<ffi::MDB_dbi> {
        let mut tree = 0;
        // SAFETY: the transaction is open; the environment lets one thread at a time open trees.
        check(unsafe { ffi::mdb_dbi_open(self.raw, name_or_null(name), flags, &raw mut tree) })?;
        Ok(tree)
    }

    /// Commits, which makes the trees that it has opened available to other transactions.
    pub(crate) fn commit(mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        // SAFETY: it was open, and is not ended again.
        check(unsafe { ffi::mdb_txn_commit(raw) })
    }
}

impl Drop for ReadTransaction {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: not yet ended; one that was reset is to be aborted too.
            unsafe { ffi::mdb_txn_abort(self.raw) };
        }
    }
}

/// Transaction for writing: there is one at a time, and it belongs to the thread that began it.
pub(crate) struct WriteTransaction {
    raw: *mut ffi::MDB_txn,
    thread: ThreadId,
    environment: Arc<LmdbEnvironment>,
}

// SAFETY: another thread can hold it, but every call on it is refused there, and it is not even ended.
unsafe impl Send for WriteTransaction {}

impl WriteTransaction {
    /// Begins when no other transaction writes.
    pub(crate) fn new(environment: Arc<LmdbEnvironment>) -> Result<Self> {
        let raw = writer_blocked_on(environment.syncs(), Wait::Lock, || begin(&environment, 0))?;
        Ok(Self { raw, thread: thread::current().id(), environment })
    }

    #[inline]
    fn raw(&self) -> Result<*mut ffi::MDB_txn> {
        if self.thread == thread::current().id() {
            Ok(self.raw)
        } else {
            Err(EngineError::unsupported("an LMDB transaction that writes cannot go on in another thread"))
        }
    }

    #[inline]
    pub(crate) fn at(&self) -> Result<ReadAccess<'_>> {
        Ok(ReadAccess { raw: self.raw()?, transaction: PhantomData })
    }

    /// Writes a record; returns whether it did: with `MDB_NOOVERWRITE` it does not if the key exists.
    #[inline]
    pub(crate) fn put(&mut self, tree: ffi::MDB_dbi, key: &[u8], bytes: &[u8], flags: c_uint) -> Result<bool> {
        let raw = self.raw()?;
        let (mut key, mut data) = (value(key), value(bytes));
        // SAFETY: the transaction is open and the tree of its environment; LMDB copies key and data.
        match unsafe { ffi::mdb_put(raw, tree, &raw mut key, &raw mut data, flags) } {
            ffi::MDB_SUCCESS => Ok(true),
            ffi::MDB_KEYEXIST => Ok(false),
            code => Err(error(code)),
        }
    }

    /// Deletes a record; returns whether it existed.
    #[inline]
    pub(crate) fn delete(&mut self, tree: ffi::MDB_dbi, key: &[u8]) -> Result<bool> {
        let raw = self.raw()?;
        let mut key = value(key);
        // SAFETY: as in `put`.
        match unsafe { ffi::mdb_del(raw, tree, &raw mut key, ptr::null_mut()) } {
            ffi::MDB_SUCCESS => Ok(true),
            ffi::MDB_NOTFOUND => Ok(false),
            code => Err(error(code)),
        }
    }

    /// Deletes all records of a tree.
    pub(crate) fn clear(&mut self, tree: ffi::MDB_dbi) -> Result<()> {
        let raw = self.raw()?;
        // SAFETY: as in `put`; the tree itself stays.
        check(unsafe { ffi::mdb_drop(raw, tree, 0) })
    }

    /// Opens a tree, or makes it.
    pub(crate) fn open_tree(&mut self, name: &CStr, flags: c_uint) -> Result<ffi::MDB_dbi> {
        let raw = self.raw()?;
        let mut tree = 0;
        // SAFETY: the transaction is open; the environment lets one thread at a time open trees.
        check(unsafe { ffi::mdb_dbi_open(raw, name.as_ptr(), flags, &raw mut tree) })?;
        Ok(tree)
    }

    pub(crate) fn commit(mut self) -> Result<()> {
        let raw = self.raw()?;
        self.raw = ptr::null_mut();
        let syncs = self.environment.syncs();
        // SAFETY: it was open, and is not ended again, whether this works or not.
        match writer_blocked_on(syncs, Wait::of_commit(syncs), || unsafe { ffi::mdb_txn_commit(raw) }) {
            // LMDB reports a write that was cut short by a full disk so.
            libc::EIO if self.environment.is_disk_full() => Err(error(libc::ENOSPC)),
            code => check(code),
        }
    }
}

impl Drop for WriteTransaction {
    fn drop(&mut self) {
        match (self.raw.is_null(), self.raw()) {
            (true, _) => {}
            // SAFETY: not yet ended, and this is its thread.
            (false, Ok(raw)) => unsafe { ffi::mdb_txn_abort(raw) },
            // Another thread could not give the writers' lock back: the transaction stays, and so must its environment.
            (false, Err(_)) => std::mem::forget(Arc::clone(&self.environment)),
        }
    }
}
