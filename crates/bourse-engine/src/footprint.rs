//! Sizes, lock waits and file operations of an engine, read during a run.

use crate::{DatabaseFiles, path_with_suffix};
use serde::{Deserialize, Serialize};
use std::fs;
use std::ops::AddAssign;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Sizes of a database and of the engine's memory, the engine's count of lock waits, and its server's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Footprint {
    /// The database itself, in bytes.
    pub data_bytes: u64,
    /// Write-ahead log or redo log, in bytes.
    pub log_bytes: u64,
    /// Rollback journal, in bytes.
    pub journal_bytes: u64,
    /// Memory as the engine counts it, in bytes; 0 where it does not.
    pub memory_bytes: u64,
    /// Lock waits since the engine was opened; `None` where it does not count them.
    pub locks: Option<LockStats>,
    /// Resource usage of the server's process; `None` for an engine in this process, and where it cannot be seen.
    pub server: Option<ServerProcess>,
}

impl Footprint {
    /// Sizes of a database in a file and of its logs; without a file it is the engine's memory.
    pub fn of_file(files: Option<&DatabaseFiles>, memory_bytes: u64) -> Self {
        let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        let (data_bytes, log_bytes) = files.map_or((memory_bytes, 0), |files| {
            let logs = files.format().logs.iter().map(|suffix| length(&path_with_suffix(files.path(), suffix)));
            (length(files.path()), logs.sum())
        });
        Self { data_bytes, log_bytes, memory_bytes, ..Self::default() }
    }
}

/// Lock waits that an engine has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LockStats {
    /// Times that a session waited for a lock.
    pub waits: u64,
    /// Time spent in those waits, in nanoseconds.
    pub wait_ns: u64,
}

impl LockStats {
    /// The waits since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self { waits: self.waits.saturating_sub(before.waits), wait_ns: self.wait_ns.saturating_sub(before.wait_ns) }
    }
}

/// Resource usage of a server's process since it began, and the memory it holds now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ServerProcess {
    /// Processor time in user mode, in nanoseconds.
    pub cpu_user_ns: u64,
    /// Processor time in the kernel, in nanoseconds.
    pub cpu_system_ns: u64,
    /// Memory resident now, in bytes.
    pub resident_bytes: u64,
    /// Bytes caused to be read from storage.
    pub read_bytes: u64,
    /// Bytes caused to be written to storage.
    pub written_bytes: u64,
}

impl AddAssign for ServerProcess {
    fn add_assign(&mut self, other: Self) {
        self.cpu_user_ns += other.cpu_user_ns;
        self.cpu_system_ns += other.cpu_system_ns;
        self.resident_bytes += other.resident_bytes;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
    }
}

/// Counts of file operations that several threads add to.
#[derive(Debug, Default)]
pub struct FileCounter {
    syncs: AtomicU64,
    sync_ns: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
    reads: AtomicU64,
    read_bytes: AtomicU64,
}

impl FileCounter {
    /// Adds a read of that many bytes.
    #[inline]
    pub fn read(&self, bytes: u64) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds a write of that many bytes.
    #[inline]
    pub fn wrote(&self, bytes: u64) {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds syncs, and the time since they began.
    pub fn synced(&self, syncs: u64, begun: Instant) {
        self.syncs.fetch_add(syncs, Ordering::Relaxed);
        let took_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.sync_ns.fetch_add(took_ns, Ordering::Relaxed);
    }

    /// Counts so far.
    pub fn now(&self) -> FileIo {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        FileIo {
            syncs: get(&self.syncs),
            sync_ns: Some(get(&self.sync_ns)),
            writes: get(&self.writes),
            written_bytes: get(&self.written_bytes),
            reads: get(&self.reads),
            read_bytes: get(&self.read_bytes),
        }
    }
}

/// File operations on files of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileIo {
    /// Syncs, those of folders included.
    pub syncs: u64,
    /// Total time of those syncs over all threads, in nanoseconds; `None` if the engine does not time them.
    pub sync_ns: Option<u64>,
    /// Writes.
    pub writes: u64,
    /// Bytes they wrote.
    pub written_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Bytes they read.
    pub read_bytes: u64,
}

impl FileIo {
    fn each(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let sync_ns = match (self.sync_ns, other.sync_ns) {
            (Some(mine), Some(theirs)) => Some(f(mine, theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        Self {
            syncs: f(self.syncs, other.syncs),
            sync_ns,
            writes: f(self.writes, other.writes),
            written_bytes: f(self.written_bytes, other.written_bytes),
            reads: f(self.reads, other.reads),
            read_bytes: f(self.read_bytes, other.read_bytes),
        }
    }

    /// Operations since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        self.each(before, u64::saturating_sub)
    }
}

impl AddAssign for FileIo {
    fn add_assign(&mut self, other: Self) {
        *self = self.each(other, u64::saturating_add);
    }
}

/// File operations of an engine by its own exact count, since it was opened; for a server that others use too, since
/// the server started. Only differences are meaningful.
///
/// ```
/// use bourse_engine::{FileIo, IoCounts};
/// let before = IoCounts { log: FileIo { syncs: 10, ..FileIo::default() }, ..IoCounts::default() };
/// let after = IoCounts { log: FileIo { syncs: 12, ..FileIo::default() }, ..IoCounts::default() };
/// assert_eq!(after.since(before).total().syncs, 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IoCounts {
    /// Name of the counter for reports; empty for a count of the engine's own files in this process. Not serialized: its text
    /// lives as long as the program.
    #[serde(skip)]
    pub source: &'static str,
    /// Time in nanoseconds by which the counter may be late: a shorter interval has no counts. Not serialized, as its source.
    #[serde(skip)]
    pub delay_ns: u64,
    /// The database's own files.
    pub database: FileIo,
    /// Write-ahead log or redo log.
    pub log: FileIo,
    /// Rollback journal.
    pub journal: FileIo,
    /// Files for sorting and the like.
    pub temporary: FileIo,
    /// Operations on data and log files together, where the counter does not distinguish them.
    pub together: FileIo,
}

impl IoCounts {
    /// No operation yet, in an engine that times its syncs.
    pub const TIMED: Self = {
        let files = FileIo { syncs: 0, sync_ns: Some(0), writes: 0, written_bytes: 0, reads: 0, read_bytes: 0 };
        Self { source: "", delay_ns: 0, database: files, log: files, journal: files, temporary: files, together: files }
    };

    /// Each kind of file with its name in reports.
    pub fn by_kind(&self) -> [(&'static str, FileIo); 5] {
        [
            ("database", self.database),
            ("log", self.log),
            ("journal", self.journal),
            ("temporary", self.temporary),
            ("data and log files", self.together),
        ]
    }

    /// Sum over all kinds of files.
    pub fn total(&self) -> FileIo {
        let mut total = FileIo::default();
        self.by_kind().into_iter().for_each(|(_, files)| total += files);
        total
    }

    /// Operations since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            source: self.source,
            delay_ns: self.delay_ns,
            database: self.database.since(before.database),
            log: self.log.since(before.log),
            journal: self.journal.since(before.journal),
            temporary: self.temporary.since(before.temporary),
            together: self.together.since(before.together),
        }
    }
}
