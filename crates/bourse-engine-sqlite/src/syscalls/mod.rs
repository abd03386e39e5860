//! System calls of SQLite's unix file system, observed and made to fail: for crash search and fault injection.
//!
//! SQLite's unix VFS reaches the system through a table of functions that can be replaced (`xSetSystemCall`). [`observe_thread`]
//! and [`observe_process`] replace those that touch files and report each call to an [`Observer`] before and after it is
//! made. Syncs of files are not in that table; connections that are opened while an observer is active go through a thin
//! VFS on top of the unix one, which reports them. The sync of a directory follows the `openDirectory` call at once, so
//! that call stands for it.
//!
//! The table belongs to the process and stays replaced once it was. Only a process that searches for crashes or injects
//! faults does that: the timed path never does. Memory maps bypass the table; keep `mmap` at 0.
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

/// A call to the system, with the path of the file it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<'c> {
    /// `open` of a file; directories are [`Call::SyncDirectory`].
    Open {
        /// The file.
        path: &'c Path,
        /// Whether it did not exist and is created.
        creates: bool,
    },
    /// `read` or `pread`.
    Read {
        /// The file.
        path: &'c Path,
        /// First byte.
        offset: u64,
        /// Bytes asked for.
        length: usize,
    },
    /// `write` or `pwrite`. After the call, `bytes` are those that were written.
    Write {
        /// The file.
        path: &'c Path,
        /// First byte.
        offset: u64,
        /// What is written.
        bytes: &'c [u8],
    },
    /// `ftruncate`.
    Truncate {
        /// The file.
        path: &'c Path,
        /// Its new size in bytes.
        size: u64,
    },
    /// `fsync` or `fdatasync` of a file. The first sync of a new journal or log contains that of its directory: its
    /// [`Observer::after`] comes after the directory's.
    Sync {
        /// The file.
        path: &'c Path,
    },
    /// `fsync` of the directory that holds a file.
    SyncDirectory {
        /// A file in it.
        path: &'c Path,
    },
    /// `unlink`.
    Unlink {
        /// The file.
        path: &'c Path,
    },
    /// `rename`, by the loader: SQLite itself renames nothing.
    Rename {
        /// The file.
        path: &'c Path,
        /// Its new name.
        to: &'c Path,
    },
}

impl Call<'_> {
    /// The file that the call is about.
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

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is made.
    Proceed,
    /// It is not made and fails with this `errno`.
    ///
    /// A failed sync of a directory shows as `EBADF` to SQLite, whatever the number. A failed sync of a file becomes
    /// `SQLITE_IOERR_FSYNC`.
    Fail(c_int),
    /// At most so many bytes are read or written; other calls are made as they are. SQLite takes a write of 0 bytes for a
    /// full disk.
    Short(usize),
}

/// What a disk declares to SQLite about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclaredDevice {
    /// Sector size in bytes.
    pub sector_bytes: u32,
    /// Whether an interrupted write leaves the bytes beside those written alone (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`).
    pub powersafe_overwrite: bool,
}

/// Sees the calls, in the order in which they are made. It must not call SQLite.
pub trait Observer: Send + Sync {
    /// A call is about to be made.
    fn before(&self, call: &Call<'_>) -> Decision {
        let _ = call;
        Decision::Proceed
    }

    /// A call was made and succeeded.
    fn after(&self, call: &Call<'_>) {
        let _ = call;
    }

    /// What files that are opened from now on declare about their disk; `None` for what the unix VFS says.
    fn device(&self) -> Option<DeclaredDevice> {
        None
    }
}

thread_local! {
    static OF_THREAD: RefCell<Option<Arc<dyn Observer>>> = const { RefCell::new(None) };
}
static OF_PROCESS: RwLock<Option<Arc<dyn Observer>>> = RwLock::new(None);
/// Whether there ever was an observer: what is asked first, so that other processes pay one load.
static USED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Set while a call is made whose own calls are a part of it.
    static MUTED: Cell<bool> = const { Cell::new(false) };
}

/// Makes calls that nobody observes.
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

/// Reports an operation of ours that SQLite takes no part in, with the full path. It is made whatever the observer decides:
/// faults are for SQLite's calls.
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

/// Ends the observation when it is dropped. Connections opened meanwhile should be closed first.
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

/// Observes the calls of this thread, until what is returned is dropped.
///
/// # Errors
/// If this build of SQLite has no such table, or it was built in a way whose calls are not known here.
pub fn observe_thread(observer: Arc<dyn Observer>) -> Result<Observation, EngineError> {
    install()?;
    OF_THREAD.set(Some(observer));
    Ok(Observation { of_process: false, _not_send: std::marker::PhantomData })
}

/// Observes the calls of all threads that have no observer of their own, until what is returned is dropped.
///
/// # Errors
/// As [`observe_thread`].
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
