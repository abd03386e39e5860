use crate::{Batch, EngineError, Isolation, Location, Session};
use bourse_schema::Dialect;
use std::fmt;
use std::ops::AddAssign;

/// What a commit that was acknowledged survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Nothing survives the process.
    Volatile,
    /// A crash of the process.
    Process,
    /// Power loss without corruption, though the last commits may be lost.
    Consistent,
    /// Power loss.
    Durable,
}

impl Durability {
    /// The word that stands in every table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volatile => "volatile",
            Self::Process => "process",
            Self::Consistent => "consistent",
            Self::Durable => "durable",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What an engine can do: known before a run, so that a workload that needs more is refused at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether it runs SQL.
    pub sql: bool,
    /// Isolation levels it gives.
    pub isolation: &'static [Isolation],
    /// Whether it enforces foreign keys.
    pub foreign_keys: bool,
    /// Whether it enforces checks.
    pub checks: bool,
    /// Whether several writers can be at work at once.
    pub concurrent_writers: bool,
    /// Whether a reader's open transaction lets writers commit, and keeps what it read as it was.
    pub snapshots: bool,
    /// Whether there is a log that [`Session::checkpoint`] moves into the database.
    pub checkpoints: bool,
    /// Whether no more than one session can be open at a time.
    pub one_session: bool,
    /// Records by key, through [`Session::records`] or, for SQL engines, over its statements; `None` if neither.
    pub records: Option<RecordCapabilities>,
}

/// What an engine can do with records by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordCapabilities {
    /// Whether keys can be texts.
    pub text_keys: bool,
    /// Whether records can be had in the order of their keys.
    pub ordered_scans: bool,
    /// Whether fields beside the key can have a tree index.
    pub indexed_fields: bool,
    /// Whether a key or an indexed field can have a hash index.
    pub hash_index: bool,
    /// Whether the engine can assign keys by itself.
    pub assigned_keys: bool,
    /// Whether a transaction can be undone.
    pub rollback: bool,
}

impl RecordCapabilities {
    /// What a SQL engine has through [`RecordsOverSql`](crate::RecordsOverSql).
    pub const OVER_SQL: Self = Self {
        text_keys: true,
        ordered_scans: true,
        indexed_fields: true,
        hash_index: false,
        assigned_keys: true,
        rollback: true,
    };
}

/// One setting in force, as read back from the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The engine's name for it.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What was run on: read back from the engine, not repeated from our options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Name with build variant, as `sqlite`.
    pub engine: String,
    /// The engine's own version.
    pub version: String,
    /// The target as given, without secrets.
    pub target: String,
    /// What its settings promise.
    pub durability: Durability,
    /// Why that class: the settings it follows from, in a few words.
    pub durability_reason: String,
    /// Settings in force.
    pub settings: Vec<Setting>,
    /// Options the engine was compiled with.
    pub compile_options: Vec<String>,
    /// What a reader should know: a setting that could not be had, a file system that forgets.
    pub warnings: Vec<String>,
}

/// Sizes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footprint {
    /// The database itself.
    pub data_bytes: u64,
    /// Write-ahead log or redo log.
    pub log_bytes: u64,
    /// Rollback journal.
    pub journal_bytes: u64,
    /// Memory as the engine counts it.
    pub memory_bytes: u64,
    /// Times the engine made somebody wait for a lock, since it was opened.
    pub lock_waits: u64,
    /// Time spent in those waits, in nanoseconds.
    pub lock_wait_ns: u64,
    /// What the process uses that the engine is in, where that is not ours.
    pub server: Option<ServerProcess>,
}

/// What a server's process has used since it began, and holds now.
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

/// Where an engine's work is done, and so what has to end for it to crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lives {
    /// In this process.
    Here,
    /// In a server that we started and may kill: [`Engine::kill`], [`Engine::restart`].
    OwnServer,
    /// In a server that others use too.
    Elsewhere,
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

/// A database under test, opened with its settings. Each user thread makes its own session.
pub trait Engine: Send + Sync {
    /// Version and settings in force, read back from the engine.
    ///
    /// # Errors
    /// The engine's.
    fn description(&self) -> Result<Description, EngineError>;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Its dialect.
    fn dialect(&self) -> &'static Dialect;

    /// Announces how many sessions will be open at once, so that the engine divides among them what it gives to each; what
    /// that changes, in words. Sessions opened later have the divided share.
    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        let _ = sessions;
        None
    }

    /// A new session.
    ///
    /// # Errors
    /// The engine's.
    fn connect(&self) -> Result<Box<dyn Session>, EngineError>;

    /// Why what lies at the target is not ours to open or replace, in words; `None` if it may be used. Looking changes
    /// nothing and opens nothing with the engine's library.
    ///
    /// # Errors
    /// The engine's, if it cannot be looked at.
    fn foreign(&self) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// This database for reading alone: an engine whose sessions change nothing in the database's folder. `None` where a
    /// session changes nothing anyway unless it is told to.
    ///
    /// # Errors
    /// The engine's.
    fn for_reading(&self) -> Result<Option<ForReading>, EngineError> {
        Ok(None)
    }

    /// Whether there is a database with anything in it.
    ///
    /// # Errors
    /// The engine's.
    fn exists(&self) -> Result<bool, EngineError>;

    /// A loader that builds a new database in the place of whatever is there; nobody sees any of it before it is finished.
    ///
    /// # Errors
    /// The engine's.
    fn loader(&self) -> Result<Box<dyn Loader>, EngineError>;

    /// What a load that was killed has left behind, in words; the next [`Engine::loader`] takes it away.
    ///
    /// # Errors
    /// The engine's.
    fn remains(&self) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// Where the database is, by its target: asking opens nothing and touches no file's content.
    fn location(&self) -> Location;

    /// Keeps a copy of the database as it is now, so that rounds can begin alike. No session may be open.
    ///
    /// # Errors
    /// The engine's; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if it keeps no copies.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, EngineError> {
        Err(EngineError::new(crate::ErrorKind::Unsupported, "no copy of its database can be kept"))
    }

    /// Sizes now. Cheap: it is asked once a second during a run.
    ///
    /// # Errors
    /// The engine's.
    fn footprint(&self) -> Result<Footprint, EngineError>;

    /// Where its work is done.
    fn lives(&self) -> Lives {
        Lives::Here
    }

    /// Ends the engine's own server as a crash would: at once, whatever it is doing. Its data stays.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) unless the engine [lives](Engine::lives) in a server of ours.
    fn kill(&self) -> Result<(), EngineError> {
        Err(EngineError::unsupported("the engine has no server of ours to kill"))
    }

    /// Starts the server that was killed again, on the same data, and waits until it answers.
    ///
    /// # Errors
    /// The engine's, with its last words if it does not come back.
    fn restart(&self) -> Result<(), EngineError> {
        Err(EngineError::unsupported("the engine has no server of ours to start again"))
    }

    /// Whether the engine can check its own data, indexes among them: [`Engine::damage`].
    fn has_integrity_check(&self) -> bool {
        false
    }

    /// What the engine's own check of its data finds damaged, in its words; nothing where it has no such check.
    ///
    /// # Errors
    /// The engine's, if it cannot even look.
    fn damage(&self) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }

    /// What it has asked of the file system until now; `None` where it cannot say, or has no files. Cheap.
    ///
    /// # Errors
    /// The engine's.
    fn io_counts(&self) -> Result<Option<IoCounts>, EngineError> {
        Ok(None)
    }
}

/// A database opened for reading alone.
pub struct ForReading {
    /// Its engine.
    pub engine: Box<dyn Engine>,
    /// Why a copy elsewhere is read instead of the database itself, and where it lies; `None` if it is not.
    pub copied: Option<String>,
    /// Fails if the database was changed since it was opened, so that what was read does not belong together.
    pub unchanged: Box<dyn Fn() -> Result<(), EngineError>>,
}

/// A copy of a database; gone when it is dropped.
pub trait Snapshot: Send {
    /// How it was made, in words.
    fn how(&self) -> &str;

    /// Puts the database back as it was. No session may be open.
    ///
    /// # Errors
    /// The engine's.
    fn restore(&self) -> Result<(), EngineError>;
}

/// Fills a new database as fast as the engine can.
///
/// Dropped unfinished, or killed, it leaves nothing that could be taken for a good database.
pub trait Loader {
    /// Runs a statement without result: DDL, analysis.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn run(&mut self, sql: &str) -> Result<(), EngineError>;

    /// Adds rows to a table that exists.
    ///
    /// # Errors
    /// The engine's.
    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError>;

    /// Runs a query, to check what was loaded before it is seen.
    ///
    /// # Errors
    /// The engine's, with the statement.
    fn query(&mut self, sql: &str, each: &mut crate::session::EachRow<'_>) -> Result<(), EngineError>;

    /// Makes the database visible and as durable as its settings promise.
    ///
    /// # Errors
    /// The engine's.
    fn finish(self: Box<Self>) -> Result<(), EngineError>;
}
