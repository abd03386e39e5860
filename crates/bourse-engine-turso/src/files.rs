//! The file system below Turso: the platform's own, with reads, writes and syncs counted by kind of file, and with the time
//! that a session's thread waits for them recorded.
//!
//! One name differs. Turso names the log of rows of `x.abc` `x.db-log`, as it would that of `x.def`; here it is `x.abc-log`. What
//! another program of Turso's wrote to `x.db-log` would not be found, so such a database is refused.

use crate::error::error;
use bourse_engine::{EngineError, FileCounter, IoCounts, Result, Wait, blocked_on, sometimes_blocked_on};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use turso_core::io::{FileId, FileSyncType};
use turso_core::{
    Buffer, Clock, Completion, File, IO, MemoryIO, MonotonicInstant, OpenFlags, PlatformIO, WallClockInstant,
};

/// Suffixes of files next to a database: the log of pages, and that of rows with MVCC.
pub(crate) const PAGES_LOG: &str = "-wal";
pub(crate) const ROWS_LOG: &str = "-log";

/// Counts of the file operations of all databases of an engine.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileCounts {
    database: Arc<FileCounter>,
    log: Arc<FileCounter>,
    temporary: Arc<FileCounter>,
}

impl FileCounts {
    /// Counts so far.
    pub(crate) fn now(&self) -> IoCounts {
        let (database, log, temporary) = (self.database.now(), self.log.now(), self.temporary.now());
        IoCounts { database, log, temporary, ..IoCounts::TIMED }
    }
}

/// File system of one database.
pub(crate) struct CountedFiles {
    below: PlatformIO,
    counts: FileCounts,
    path: String,
    /// Turso's name of the log of rows, and the real one.
    rows_log: [String; 2],
}

/// Turso's name of a database's log of rows, and the real one.
///
/// # Errors
/// [`Refused`](bourse_engine::ErrorKind::Refused) if there is a log by Turso's name.
pub(crate) fn rows_log(path: &str) -> Result<[String; 2]> {
    let called = Path::new(path).with_extension("db-log").to_string_lossy().into_owned();
    let name = format!("{path}{ROWS_LOG}");
    if called != name && std::fs::metadata(&called).is_ok_and(|found| found.len() > 0) {
        return Err(EngineError::refused(format!(
            "{called} may hold rows of {path} that a program other than Bourse has not written into it: have it run `PRAGMA \
             wal_checkpoint(TRUNCATE)`, or move the log away"
        )));
    }
    Ok([called, name])
}

impl CountedFiles {
    /// File system of the database at a path.
    ///
    /// # Errors
    /// Those of [`rows_log`]; Turso's.
    pub(crate) fn new(path: &str, counts: FileCounts) -> Result<Self> {
        let rows_log = rows_log(path)?;
        let below = PlatformIO::new().map_err(|e| error(&e))?;
        Ok(Self { below, counts, path: path.to_owned(), rows_log })
    }

    fn named<'p>(&'p self, path: &'p str) -> &'p str {
        let [called, name] = &self.rows_log;
        if path == called { name } else { path }
    }

    fn is_log(&self, path: &str) -> bool {
        path == self.rows_log[1] || path.strip_suffix(PAGES_LOG) == Some(&*self.path)
    }

    fn counter(&self, path: &str) -> Arc<FileCounter> {
        Arc::clone(match path {
            _ if self.is_log(path) => &self.counts.log,
            path if path == self.path => &self.counts.database,
            _ => &self.counts.temporary,
        })
    }
}

impl Clock for CountedFiles {
    fn current_time_monotonic(&self) -> MonotonicInstant {
        self.below.current_time_monotonic()
    }

    fn current_time_wall_clock(&self) -> WallClockInstant {
        self.below.current_time_wall_clock()
    }
}

impl IO for CountedFiles {
    fn open_file(&self, path: &str, flags: OpenFlags, direct: bool) -> turso_core::Result<Arc<dyn File>> {
        let path = self.named(path);
        // A database that was closed or restored has no logs. Opened read-only, Turso wants that of rows all the same, and with
        // MVCC panics at the first transaction without one of pages.
        let is_missing_log = self.is_log(path) && !Path::new(path).exists();
        let file = match is_missing_log && flags.contains(OpenFlags::ReadOnly) {
            true => MemoryIO::new().open_file(path, OpenFlags::Create, direct)?,
            false => self.below.open_file(path, flags, direct)?,
        };
        Ok(Arc::new(CountedFile { below: file, counter: self.counter(path) }))
    }

    fn remove_file(&self, path: &str) -> turso_core::Result<()> {
        self.below.remove_file(self.named(path))
    }

    fn step(&self) -> turso_core::Result<()> {
        self.below.step()
    }

    fn file_id(&self, path: &str) -> turso_core::Result<FileId> {
        self.below.file_id(self.named(path))
    }
}

struct CountedFile {
    below: Arc<dyn File>,
    counter: Arc<FileCounter>,
}

impl File for CountedFile {
    fn lock_file(&self, exclusive: bool) -> turso_core::Result<()> {
        self.below.lock_file(exclusive)
    }

    fn unlock_file(&self) -> turso_core::Result<()> {
        self.below.unlock_file()
    }

    fn pread(&self, at: u64, done: Completion) -> turso_core::Result<Completion> {
        self.counter.read(done.as_read().buf().len() as u64);
        sometimes_blocked_on(Wait::Storage, || self.below.pread(at, done))
    }

    fn pwrite(&self, at: u64, bytes: Arc<Buffer>, done: Completion) -> turso_core::Result<Completion> {
        self.counter.wrote(bytes.len() as u64);
        sometimes_blocked_on(Wait::Storage, || self.below.pwrite(at, bytes, done))
    }

    fn pwritev(&self, at: u64, bytes: Vec<Arc<Buffer>>, done: Completion) -> turso_core::Result<Completion> {
        self.counter.wrote(bytes.iter().map(|buffer| buffer.len() as u64).sum());
        sometimes_blocked_on(Wait::Storage, || self.below.pwritev(at, bytes, done))
    }

    fn sync(&self, done: Completion, how: FileSyncType) -> turso_core::Result<Completion> {
        let begun = Instant::now();
        let synced = blocked_on(Wait::Sync, || self.below.sync(done, how));
        self.counter.synced(1, begun);
        synced
    }

    fn size(&self) -> turso_core::Result<u64> {
        self.below.size()
    }

    fn truncate(&self, length: u64, done: Completion) -> turso_core::Result<Completion> {
        self.below.truncate(length, done)
    }
}
