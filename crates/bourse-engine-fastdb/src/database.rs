//! An open database, and the transaction that a thread has joined.
//!
//! FastDB binds a transaction to a thread, the seam to a session: each session has a transaction context of its own, which a
//! thread joins before it calls for that session. So sessions can change threads, and a thread can have several.

use crate::error::{check, note};
use crate::leftovers::{Leftovers, c_path, clear_memory_of, lock_for_process, text_of};
use crate::library::{DatabaseMonitor, FastDbApi};
use crate::options::FastDbOptions;
use crate::statement::SessionSearches;
use bourse_engine::{DatabaseFiles, EngineError, ErrorKind, LoadedLibrary, Result, locked};
use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::fs::{self, File};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Smallest growth of a file in bytes, and initial number of record handles: FastDB's own defaults.
const EXTENSION: usize = 4 << 20;
const HANDLES: usize = 512 << 10;

/// Database that is open in this process.
pub struct FastDbDatabase {
    pub(crate) api: &'static FastDbApi,
    /// FastDB's number of the opened database.
    pub(crate) session: c_int,
    files: DatabaseFiles,
    pub(crate) library: &'static Path,
    /// Whether the file stays empty, since the library is a diskless build.
    pub(crate) is_diskless: bool,
    /// Statements of all sessions: they must be freed before their tables are dropped.
    statements: Mutex<Vec<Weak<Mutex<SessionSearches>>>>,
    /// Key files; dropped last, when the library has closed the database.
    _leftovers: Leftovers,
    _owned: File,
}

impl FastDbDatabase {
    /// Opens a file that Bourse made, or makes one.
    pub(crate) fn at(
        library: &'static LoadedLibrary<FastDbApi>,
        files: &DatabaseFiles,
        options: &FastDbOptions,
    ) -> Result<Arc<Self>> {
        let (api, path) = (&library.api, &*files.open_or_make()?);
        let owned = lock_for_process(path).map_err(|e| EngineError::io("open", path, &e))?;
        let leftovers = Leftovers::new(path).map_err(|e| EngineError::io("make key files for", path, &e))?;
        let name = CString::new(leftovers.name()).expect("our own name");
        let file = c_path(path).map_err(|e| EngineError::io("open", path, &e))?;
        let size = usize::try_from(options.size_bytes).unwrap_or(usize::MAX);
        // SAFETY: both texts end with a zero and live through the call.
        let made = unsafe { (api.create)(name.as_ptr(), file.as_ptr(), 0, 0, size, EXTENSION, HANDLES, 0) };
        let session = check(made, &format!("open {}", path.display()))?;
        // SAFETY: the session is open; the handler stays for good and needs no context.
        unsafe { (api.set_error_handler)(session, Some(note), ptr::null_mut()) };
        // A diskless build leaves the file empty, as it was made here.
        let is_diskless = owned.metadata().is_ok_and(|found| found.len() == 0);
        Ok(Arc::new(Self {
            api,
            session,
            files: files.clone(),
            library: &library.path,
            is_diskless,
            statements: Mutex::default(),
            _leftovers: leftovers,
            _owned: owned,
        }))
    }

    /// Size of the database in bytes.
    pub(crate) fn extent(&self) -> Result<u64> {
        let mut state = DatabaseMonitor::default();
        // SAFETY: the session is open and the structure is the one of `cli.h`.
        check(unsafe { (self.api.get_database_state)(self.session, &raw mut state) }, "tell its state")?;
        Ok(state.database_size as u64)
    }

    /// Names of the tables.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let mut tables = ptr::null_mut();
        // SAFETY: the session is open; FastDB allocates the array.
        let count = check(unsafe { (self.api.show_tables)(self.session, &raw mut tables) }, "list its tables")?;
        // SAFETY: as many descriptors as it said, with names that end with a zero.
        let names = (0..count as usize).map(|at| unsafe { text_of((*tables.add(at)).name) }.into_owned()).collect();
        // SAFETY: its own array, given back once; a null one is fine for `free`.
        unsafe { (self.api.free_memory)(self.session, tables.cast()) };
        Ok(names)
    }

    /// Registers a session's statements, so that they can be freed when tables are dropped.
    pub(crate) fn register(&self, statements: &Arc<Mutex<SessionSearches>>) {
        let mut all = locked(&self.statements);
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(statements));
    }

    /// Frees every other session's statements, so that tables can be dropped.
    ///
    /// # Errors
    /// Another session is at work.
    pub(crate) fn free_statements(&self, but: &Arc<Mutex<SessionSearches>>) -> Result<()> {
        for other in locked(&self.statements).iter().filter_map(Weak::upgrade) {
            if Arc::ptr_eq(&other, but) {
                continue;
            }
            let busy =
                || EngineError::new(ErrorKind::Conflict, "tables cannot be made while another session is at work");
            let mut statements = other.try_lock().map_err(|_| busy())?;
            if statements.in_transaction {
                return Err(busy());
            }
            statements.free(self.api);
        }
        Ok(())
    }
}

impl Drop for FastDbDatabase {
    fn drop(&mut self) {
        leave(self);
        // SAFETY: every session held this database and is gone, with its statements and its context; this thread has a
        // fresh context, in which FastDB commits what `precommit` has left.
        unsafe {
            (self.api.attach)(self.session);
            (self.api.close)(self.session);
        }
        if self.is_diskless {
            let path = self.files.path();
            clear_memory_of(path);
            // Only the empty file that was made for it.
            if fs::metadata(path).is_ok_and(|found| found.len() == 0) {
                let _ = fs::remove_file(path);
                self.files.unmark();
            }
        }
    }
}

thread_local! {
    /// Number of the context that this thread has joined last; 0 for none.
    static JOINED: Cell<u64> = const { Cell::new(0) };
}

/// Makes this thread leave the context it has joined.
fn leave(database: &FastDbDatabase) {
    JOINED.set(0);
    // SAFETY: the session is open; a null context is none.
    unsafe { (database.api.join_context)(database.session, ptr::null_mut()) };
}

/// Transaction context of a session.
pub(crate) struct TransactionContext {
    pub(crate) database: Arc<FastDbDatabase>,
    /// Unique number, never reused, so that a thread cannot take another context for this one.
    number: u64,
    raw: *mut c_void,
}

// SAFETY: a context is used by the thread that has joined it, and a session is with one thread at a time.
unsafe impl Send for TransactionContext {}

impl TransactionContext {
    pub(crate) fn new(database: Arc<FastDbDatabase>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // SAFETY: the library is loaded; the context is removed in `drop`.
        let raw = unsafe { (database.api.create_context)() };
        Self { database, number: NEXT.fetch_add(1, Ordering::Relaxed), raw }
    }

    /// Makes this thread join the context, unless it has already.
    #[inline]
    pub(crate) fn join(&self) {
        if JOINED.get() != self.number {
            // SAFETY: the session is open and the context not yet removed.
            unsafe { (self.database.api.join_context)(self.database.session, self.raw) };
            JOINED.set(self.number);
        }
    }

    /// Calls a function of the library within this context.
    #[inline]
    pub(crate) fn call(&self, function: unsafe extern "C" fn(c_int) -> c_int, doing: &str) -> Result<()> {
        self.join();
        // SAFETY: the session is open, and this thread is in a context of its database.
        check(unsafe { function(self.database.session) }, doing).map(|_| ())
    }
}

impl Drop for TransactionContext {
    fn drop(&mut self) {
        leave(&self.database);
        // SAFETY: made by `new`, and no thread uses it any more: each joins its own before it calls.
        unsafe { (self.database.api.remove_context)(self.raw) };
    }
}
