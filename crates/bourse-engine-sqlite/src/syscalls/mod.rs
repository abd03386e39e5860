//! System calls of SQLite's unix file system, observed and made to fail: for crash search and fault injection.
//!
//! SQLite's unix VFS calls the system through a table of functions that can be replaced (`xSetSystemCall`).
//! [`observe_thread`] and [`observe_process`] replace those that touch files and report each call to an [`Observer`]
//! before and after it is made. Syncs of files are not in that table; connections that are opened while an observer is
//! active use a thin VFS on top of the unix one, which reports them. The sync of a directory immediately follows the
//! `openDirectory` call, so that call represents it.
//!
//! The table belongs to the process and stays replaced. Only a process that searches for crashes or injects faults
//! replaces it: the timed path never does. Memory maps bypass the table, so `mmap` must be 0.
//!
//! Files: `table` (the functions in the table), `files` (the thin VFS).

mod files;
mod table;

use crate::error::{error, words};
use crate::ffi::{self, Library};
use bourse_engine::EngineError;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

pub(crate) use files::NAME;

/// A system call, with the path of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<'c> {
    /// `open` of a file; directories are [`Call::SyncDirectory`].
    Open {
        /// Path of the file.
        path: &'c Path,
        /// Whether the file did not exist and is created.
        creates: bool,
    },
    /// `read` or `pread`.
    Read {
        /// Path of the file.
        path: &'c Path,
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes requested.
        length: usize,
    },
    /// `write` or `pwrite`. After the call, `bytes` are those that were written.
    Write {
        /// Path of the file.
        path: &'c Path,
        /// Offset of the first byte.
        offset: u64,
        /// Bytes to be written.
        bytes: &'c [u8],
    },
    /// `ftruncate`.
    Truncate {
        /// Path of the file.
        path: &'c Path,
        /// New size in bytes.
        size: u64,
    },
    /// `fsync` or `fdatasync` of a file. The first sync of a new journal or log includes that of its directory: its
    /// [`Observer::after`] is called after the directory's.
    Sync {
        /// Path of the file.
        path: &'c Path,
    },
    /// `fsync` of the directory that holds a file.
    SyncDirectory {
        /// Path of a file in it.
        path: &'c Path,
    },
    /// `unlink`.
    Unlink {
        /// Path of the file.
        path: &'c Path,
    },
    /// `rename`, by the loader: SQLite itself never renames.
    Rename {
        /// Path of the file.
        path: &'c Path,
        /// New path.
        to: &'c Path,
    },
}

impl Call<'_> {
    /// Path of the file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Open { path, .. }
            | Self::Read { path, .. }
            | Self::Write { path, .. }
            | Self::Truncate { path, .. }
            | Self::Sync { path }
            | Self::SyncDirectory { path }
            | Self::Unlink { path }
            | Self::Rename { path, .. } => path,
        }
    }
}

/// Decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The call is made.
    Proceed,
    /// The call is not made and fails with this `errno`.
    ///
    /// A failed sync of a directory appears as `EBADF` to SQLite, whatever the number. A failed sync of a file becomes
    /// `SQLITE_IOERR_FSYNC`.
    Fail(c_int),
    /// Reads or writes at most this many bytes; other calls are made unchanged. SQLite treats a write of 0 bytes as a
    /// full disk.
    Short(usize),
}

/// Properties that a disk declares to SQLite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclaredDevice {
    /// Sector size in bytes.
    pub sector_bytes: u32,
    /// Whether an interrupted write leaves neighbouring bytes unchanged (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`).
    pub powersafe_overwrite: bool,
}

/// Receives the calls, in the order in which they are made. Must not call SQLite.
pub trait Observer: Send + Sync {
    /// Called before a call is made.
    fn before(&self, call: &Call<'_>) -> Decision {
        let _ = call;
        Decision::Proceed
    }

    /// Called after a call has succeeded.
    fn after(&self, call: &Call<'_>) {
        let _ = call;
    }

    /// Device declared by files that are opened from now on; `None` for the unix VFS's declaration.
    fn device(&self) -> Option<DeclaredDevice> {
        None
    }
}

thread_local! {
    static OF_THREAD: RefCell<Option<Arc<dyn Observer>>> = const { RefCell::new(None) };
}
static OF_PROCESS: RwLock<Option<Arc<dyn Observer>>> = RwLock::new(None);
/// Whether an observer ever existed: checked first, so that other processes pay for one load.
static USED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether a call is being made whose own calls are part of it.
    static MUTED: Cell<bool> = const { Cell::new(false) };
}

/// Makes calls that are not observed.
fn muted<T>(calls: impl FnOnce() -> T) -> T {
    let before = MUTED.replace(true);
    let done = calls();
    MUTED.set(before);
    done
}

/// The observer of this thread, or else of the process.
fn current() -> Option<Arc<dyn Observer>> {
    if !USED.load(Ordering::Acquire) || MUTED.get() {
        return None;
    }
    // A thread that ends has no observer any more.
    let of_thread = OF_THREAD.try_with(|observer| observer.borrow().clone()).ok().flatten();
    of_thread.or_else(|| OF_PROCESS.read().unwrap_or_else(PoisonError::into_inner).clone())
}

/// Reports an operation of Bourse itself, with the full path. It is made whatever the observer decides: faults are for
/// SQLite's calls.
pub(crate) fn report(path: &Path, call: impl for<'p> FnOnce(&'p Path) -> Call<'p>) {
    let Some(observer) = current() else { return };
    let call = |path: &Path| {
        let call = call(path);
        let _ = observer.before(&call);
        observer.after(&call);
    };
    call(&full(path));
}

/// Reports a renaming.
pub(crate) fn report_rename(from: &Path, to: &Path) {
    let Some(observer) = current() else { return };
    let (from, to) = (full(from), full(to));
    let call = Call::Rename { path: &from, to: &to };
    let _ = observer.before(&call);
    observer.after(&call);
}

fn full(path: &Path) -> std::path::PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether connections opened now are observed.
pub(crate) fn is_active() -> bool {
    current().is_some()
}

/// An observation, which ends when this is dropped. Connections opened meanwhile should be closed first.
#[derive(Debug)]
#[must_use = "dropping it ends the observation"]
pub struct Observation {
    of_process: bool,
    /// A thread's observation ends on that thread.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl Drop for Observation {
    fn drop(&mut self) {
        if self.of_process {
            *OF_PROCESS.write().unwrap_or_else(PoisonError::into_inner) = None;
        } else {
            OF_THREAD.set(None);
        }
    }
}

/// Observes the calls of this thread, until the result is dropped.
///
/// # Errors
/// An error if this build of SQLite has no such table, or makes its calls in an unknown way.
pub fn observe_thread(observer: Arc<dyn Observer>) -> Result<Observation, EngineError> {
    install()?;
    OF_THREAD.set(Some(observer));
    Ok(Observation { of_process: false, _not_send: std::marker::PhantomData })
}

/// Observes the calls of all threads without an observer of their own, until the result is dropped.
///
/// # Errors
/// Those of [`observe_thread`].
pub fn observe_process(observer: Arc<dyn Observer>) -> Result<Observation, EngineError> {
    install()?;
    *OF_PROCESS.write().unwrap_or_else(PoisonError::into_inner) = Some(observer);
    Ok(Observation { of_process: true, _not_send: std::marker::PhantomData })
}

/// Replaces the functions and registers the thin VFS; does nothing the second time.
fn install() -> Result<(), EngineError> {
    static INSTALLED: std::sync::OnceLock<c_int> = std::sync::OnceLock::new();
    let code = *INSTALLED.get_or_init(|| match table::install() {
        ffi::SQLITE_OK => files::register(),
        code => code,
    });
    USED.store(true, Ordering::Release);
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(error(code, format!("the system calls of SQLite cannot be observed: {}", words(Library, code)))),
    }
}
