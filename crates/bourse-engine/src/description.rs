//! Description of the database that a run used: version, settings in force, durability class.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Failures that an acknowledged commit survives, from the weakest class to the strongest.
///
/// ```
/// use bourse_engine::Durability;
/// assert!(Durability::Durable > Durability::Process);
/// assert_eq!(Durability::Consistent.name(), "consistent");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Durability {
    /// Not known: no setting that can be read determines it.
    Unknown,
    /// No failure: data ends with the process.
    Volatile,
    /// A crash of the process.
    Process,
    /// Power loss without corruption, though the last commits may be lost.
    Consistent,
    /// Power loss.
    Durable,
}

impl Durability {
    /// The word for tables and documents.
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

impl Description {
    /// Lowers the class to `class`, for that reason, if it promises more.
    pub fn lower(&mut self, class: Durability, reason: String) {
        if self.durability > class {
            (self.durability, self.durability_reason, self.may_lose) = (class, reason, None);
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Mechanism by which sessions wait for the writer lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WriterWait {
    /// Bourse's queue in front of the engine.
    BourseQueue,
    /// Bourse's busy handler, which retries after microseconds.
    BourseBusyHandler,
    /// The engine's own busy timeout, which sleeps and retries.
    EngineBusyTimeout,
    /// Bourse's queue for the one connection that makes all changes.
    OneConnection,
    /// The engine's own locks.
    EngineLocks,
}

/// Storage of an in-memory database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MemoryStore {
    /// Bourse's own file system in memory, below the engine.
    Bourse,
    /// The engine's own in-memory mode.
    Engine,
}

/// Acknowledged commits that power loss may take in the class [`Durability::Consistent`].
/// [`MayLose::LastSecondInMemory`] occurs in the class [`Durability::Process`] too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MayLose {
    /// The last commit.
    LastCommit,
    /// Commits of about the last second.
    LastSecond,
    /// Commits of about the last second, held only in the engine's memory: the end of its process loses them too.
    LastSecondInMemory,
    /// All commits since the last checkpoint.
    SinceCheckpoint,
    /// Commits that the operating system has not written back yet.
    NotWrittenBack,
}

/// One setting in force, as read back from the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The engine's name for it.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Description of the database that was run on, read back from the engine rather than copied from the options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Name with build variant, as `sqlite`.
    pub engine: String,
    /// The engine's own version.
    pub version: String,
    /// The target as given, without secrets.
    pub target: String,
    /// Durability class that the settings promise.
    pub durability: Durability,
    /// Commits that may be lost within the class; `None` if the class alone determines them.
    pub may_lose: Option<MayLose>,
    /// The settings that the class follows from, briefly.
    pub durability_reason: String,
    /// Mechanism by which writers wait for one another; `None` for an engine without data.
    pub writer_wait: Option<WriterWait>,
    /// Storage of the database if it is in memory.
    pub memory_store: Option<MemoryStore>,
    /// Settings in force.
    pub settings: Vec<Setting>,
    /// Options the engine was compiled with.
    pub compile_options: Vec<String>,
    /// Facts that a reader of the results should know: a setting that was not accepted, a volatile file system.
    pub warnings: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_lowered_and_never_raised() {
        let mut description = Description {
            engine: String::new(),
            version: String::new(),
            target: String::new(),
            durability: Durability::Consistent,
            may_lose: Some(MayLose::LastSecond),
            durability_reason: "by its settings".to_owned(),
            writer_wait: None,
            memory_store: None,
            settings: Vec::new(),
            compile_options: Vec::new(),
            warnings: Vec::new(),
        };
        for (class, expected) in [
            (Durability::Durable, Durability::Consistent),
            (Durability::Process, Durability::Process),
            (Durability::Consistent, Durability::Process),
            (Durability::Unknown, Durability::Unknown),
        ] {
            description.lower(class, class.to_string());
            assert_eq!(description.durability, expected);
        }
        assert_eq!((description.may_lose, &*description.durability_reason), (None, "not known"));
    }
}
