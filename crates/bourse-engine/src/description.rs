//! Description of the database that a run used: version, settings in force, durability class.

use std::fmt;

/// What a commit that was acknowledged survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Not known: nothing that can be read says it.
    Unknown,
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
            Self::Unknown => "not known",
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

/// How sessions that want to write wait for one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriterWait {
    /// In a queue of Bourse's in front of the engine.
    BourseQueue,
    /// By Bourse's busy handler, which asks the engine again after microseconds.
    BourseBusyHandler,
    /// By the engine's own busy timeout, which sleeps and asks again.
    EngineBusyTimeout,
    /// In a queue of Bourse's for the one connection that makes all changes.
    OneConnection,
    /// By the engine's own locks.
    EngineLocks,
}

/// What holds a database that is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryStore {
    /// A file system of Bourse's in memory, below the engine.
    Bourse,
    /// The engine's own means.
    Engine,
}

/// What power loss may take of the commits that were acknowledged, in the class [`Durability::Consistent`];
/// [`MayLose::LastSecondInMemory`] is said in the class [`Durability::Process`] too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MayLose {
    /// The last one.
    LastCommit,
    /// Those of about the last second.
    LastSecond,
    /// Those of about the last second, which the engine's memory alone has: the end of its process takes them too.
    LastSecondInMemory,
    /// All since the last checkpoint.
    SinceCheckpoint,
    /// Those that the operating system has not written back yet.
    NotWrittenBack,
}

impl MayLose {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::LastCommit, Self::LastSecond, Self::SinceCheckpoint, Self::NotWrittenBack, Self::LastSecondInMemory];
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
    /// What of the commits may be lost within the class; none where it says everything.
    pub may_lose: Option<MayLose>,
    /// Why that class: the settings it follows from, in a few words.
    pub durability_reason: String,
    /// How writers wait for one another; `None` for an engine that keeps nothing.
    pub writer_wait: Option<WriterWait>,
    /// What holds the database, if it is in memory.
    pub memory_store: Option<MemoryStore>,
    /// Settings in force.
    pub settings: Vec<Setting>,
    /// Options the engine was compiled with.
    pub compile_options: Vec<String>,
    /// What a reader should know: a setting that could not be had, a file system that forgets.
    pub warnings: Vec<String>,
}
