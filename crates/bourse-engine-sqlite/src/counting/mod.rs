//! A file system that passes everything through and counts disk operations: reads, writes and syncs by kind of file.
//!
//! It opens files with the default file system and then replaces four functions in the file's table of methods:
//! reading, writing, syncing, closing. Locks, sizes and the log's shared index, which a session uses in every
//! transaction, are passed through directly. Reads through a memory map are not counted.
//!
//! Each engine registers a file system under its own name, so that engines are counted separately. A process that tests
//! crashes [declares a device](declare_device) to SQLite by one more.

mod methods;

use crate::ffi::{self, SqliteLibrary};
use crate::vfs::default_vfs::OLDEST_VERSION;
use bourse_engine::{FileCounter, FileIo, IoCounts, locked};
use std::ffi::{CStr, CString, c_int};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// Purpose of a file for SQLite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FilePurpose {
    Database,
    Log,
    Journal,
    Temporary,
}

impl FilePurpose {
    /// Purpose of a file opened with these flags.
    fn of(flags: c_int) -> Self {
        match flags {
            flags if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 => Self::Database,
            flags if flags & ffi::SQLITE_OPEN_WAL != 0 => Self::Log,
            flags if flags & (ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL) != 0 => Self::Journal,
            _ => Self::Temporary,
        }
    }

    fn part(self, of: &mut IoCounts) -> &mut FileIo {
        match self {
            Self::Database => &mut of.database,
            Self::Log => &mut of.log,
            Self::Journal => &mut of.journal,
            Self::Temporary => &mut of.temporary,
        }
    }
}

/// Operations on one open file. Each file has its own, so that threads do not share a counter.
#[derive(Debug)]
struct OpenFileCounter {
    kind: FilePurpose,
    io: FileCounter,
    /// Reads of pages of the database, or of its log.
    pages: AtomicU64,
}

impl OpenFileCounter {
    /// Adds a read of that many bytes. No page is smaller than 512 bytes; headers are.
    fn read(&self, bytes: u64) {
        self.io.read(bytes);
        if bytes >= 512 && matches!(self.kind, FilePurpose::Database | FilePurpose::Log) {
            self.pages.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn add_to(&self, counts: &mut IoCounts) {
        *self.kind.part(counts) += self.io.now();
    }
}

/// Counters of open files, and the sum of those of closed files.
#[derive(Debug)]
struct FileCounters {
    open: Vec<Arc<OpenFileCounter>>,
    closed: IoCounts,
    closed_pages: u64,
}

impl Default for FileCounters {
    fn default() -> Self {
        Self { open: Vec::new(), closed: IoCounts::TIMED, closed_pages: 0 }
    }
}

/// The file system of one engine. Open connections hold a reference to it.
#[derive(Debug)]
pub(crate) struct CountingFiles {
    library: SqliteLibrary,
    name: CString,
    /// Registration with SQLite while this lives; it points back to this.
    vfs: Mutex<Option<RegisteredVfs>>,
    default_vfs: *mut ffi::sqlite3_vfs,
    files: Mutex<FileCounters>,
}

/// A registered description; boxed, since SQLite stores its address.
#[derive(Debug)]
struct RegisteredVfs(Box<ffi::sqlite3_vfs>);

// SAFETY: the description is not changed while it is registered, and SQLite guards its own list of them; the default_vfs file
// system is made to be used by several threads.
unsafe impl Send for CountingFiles {}
// SAFETY: likewise.
unsafe impl Sync for CountingFiles {}

impl CountingFiles {
    /// Registers a file system over the one with that name, or over the default one; `None` if SQLite has none such, one of before
    /// 3.7.0, or no memory.
    pub(crate) fn register(library: SqliteLibrary, over: Option<&str>) -> Option<Arc<Self>> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if library.start() != ffi::SQLITE_OK {
            return None;
        }
        let over = over.map(CString::new).transpose().ok()?;
        // SAFETY: the name ends in zero, or asks for the default file system, which lives as long as the process; an extension
        // that registers one is never unloaded.
        let default_vfs = unsafe { library.sqlite3_vfs_find(over.as_ref().map_or(ptr::null(), |name| name.as_ptr())) };
        // SAFETY: it is there, and alive.
        if default_vfs.is_null() || unsafe { (*default_vfs).iVersion } < OLDEST_VERSION {
            return None;
        }
        let name = format!("bourse-counting-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let name = CString::new(name).expect("the name has no zero byte");
        let this = Arc::new(Self { library, name, vfs: Mutex::new(None), default_vfs, files: Mutex::default() });
        // SAFETY: the default file system is alive.
        let description = unsafe { methods::file_system(default_vfs, &this.name, Arc::as_ptr(&this)) };
        let mut registered = RegisteredVfs(Box::new(description));
        // SAFETY: the description is boxed and unregistered before it goes, and this before its fields go.
        let code = unsafe { library.sqlite3_vfs_register(&raw mut *registered.0, 0) };
        if code != ffi::SQLITE_OK {
            return None;
        }
        *locked(&this.vfs) = Some(registered);
        Some(this)
    }

    /// Name for opening.
    pub(crate) fn name(&self) -> &CStr {
        &self.name
    }

    /// Operations so far.
    pub(crate) fn counts(&self) -> IoCounts {
        let files = self.files();
        let mut counts = files.closed;
        files.open.iter().for_each(|file| file.add_to(&mut counts));
        counts
    }

    /// Pages read so far from the database and its log: those that were not in SQLite's page cache.
    pub(crate) fn pages_read(&self) -> u64 {
        let files = self.files();
        files.closed_pages + files.open.iter().map(|file| file.pages.load(Ordering::Relaxed)).sum::<u64>()
    }

    fn files(&self) -> MutexGuard<'_, FileCounters> {
        locked(&self.files)
    }

    fn opened(&self, flags: c_int) -> Arc<OpenFileCounter> {
        let counter = Arc::new(OpenFileCounter {
            kind: FilePurpose::of(flags),
            io: FileCounter::default(),
            pages: AtomicU64::new(0),
        });
        self.files().open.push(Arc::clone(&counter));
        counter
    }

    fn closed(&self, counter: &Arc<OpenFileCounter>) {
        let mut files = self.files();
        files.open.retain(|open| !Arc::ptr_eq(open, counter));
        counter.add_to(&mut files.closed);
        files.closed_pages += counter.pages.load(Ordering::Relaxed);
    }

    /// Counts the sync of a folder that follows the removal of a file.
    fn synced_folder(&self, took_ns: u64) {
        let of_folder = FileIo { syncs: 1, sync_ns: Some(took_ns), ..FileIo::default() };
        self.files().closed.journal += of_folder;
    }
}

/// Properties of a disk, as SQLite asks for them.
#[derive(Debug, Clone, Copy)]
struct DeclaredDevice {
    sector_bytes: c_int,
    /// `SQLITE_IOCAP_…`.
    characteristics: c_int,
}

static DECLARED: OnceLock<(DeclaredDevice, Option<Arc<CountingFiles>>)> = OnceLock::new();

/// Declares the disk below all files that this process opens from now on: its sector size in bytes, and whether an
/// interrupted write leaves neighbouring bytes unchanged (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`). Called at most once, before
/// a file is opened.
#[cfg(not(any(lean, loaded)))]
pub fn declare_device(sector_bytes: u32, powersafe_overwrite: bool) {
    let characteristics = if powersafe_overwrite { ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE } else { 0 };
    let device = DeclaredDevice { sector_bytes: sector_bytes as c_int, characteristics };
    DECLARED.get_or_init(|| (device, CountingFiles::register(SqliteLibrary, None)));
}

/// File system for files that no engine counts, if a device is declared.
pub(crate) fn declared() -> Option<&'static Arc<CountingFiles>> {
    DECLARED.get().and_then(|(_, files)| files.as_ref())
}

impl Drop for CountingFiles {
    fn drop(&mut self) {
        if let Some(mut registered) = locked(&self.vfs).take() {
            // SAFETY: it was registered, and no connection is left that uses it: each keeps this alive.
            unsafe { self.library.sqlite3_vfs_unregister(&raw mut *registered.0) };
        }
    }
}
