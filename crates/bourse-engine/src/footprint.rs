//! Sizes, lock waits and file operations of an engine, asked for during a run.

use std::ops::AddAssign;

/// Sizes of a database and of the engine's memory, with what the engine counts of lock waits and its server's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

/// Lock waits that an engine has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

/// What was asked of the file system for one kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileIo {
    /// Times the disk was waited for, folders' syncs among them.
    pub syncs: u64,
    /// How long those waits took, in nanoseconds, all threads' added up; `None` where the engine does not take the time.
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

    /// What came since.
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

/// What an engine has asked of the file system, by its own exact count, since it was opened; of a server others may use
/// too, since the server began: only differences tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IoCounts {
    /// Who counted, as a report names it; empty for a count of the engine's own files in this process.
    pub source: &'static str,
    /// The database's own files.
    pub database: FileIo,
    /// Write-ahead log or redo log.
    pub log: FileIo,
    /// Rollback journal.
    pub journal: FileIo,
    /// Files for sorting and the like.
    pub temporary: FileIo,
    /// What is counted of data and log files together, and cannot be told apart.
    pub together: FileIo,
}

impl IoCounts {
    /// Nothing asked yet, by an engine that takes the time of its syncs.
    pub const TIMED: Self = {
        let files = FileIo { syncs: 0, sync_ns: Some(0), writes: 0, written_bytes: 0, reads: 0, read_bytes: 0 };
        Self { source: "", database: files, log: files, journal: files, temporary: files, together: files }
    };

    /// Each kind of file with its name, as reports have it.
    pub fn by_kind(&self) -> [(&'static str, FileIo); 5] {
        [
            ("database", self.database),
            ("log", self.log),
            ("journal", self.journal),
            ("temporary", self.temporary),
            ("data and log files", self.together),
        ]
    }

    /// Over all kinds.
    pub fn total(&self) -> FileIo {
        let mut total = FileIo::default();
        self.by_kind().into_iter().for_each(|(_, files)| total += files);
        total
    }

    /// What came since.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            source: self.source,
            database: self.database.since(before.database),
            log: self.log.since(before.log),
            journal: self.journal.since(before.journal),
            temporary: self.temporary.since(before.temporary),
            together: self.together.since(before.together),
        }
    }
}
