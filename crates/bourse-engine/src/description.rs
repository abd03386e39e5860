//! Description of the database that a run used: version, settings in force, durability class.

use crate::PlacedDurability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// Events that an acknowledged commit survives; the greater of two classes guarantees more.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Durability {
        /// Unknown: no setting that can be read determines it.
        Unknown = "not known",
        /// No commit survives the process.
        Volatile = "volatile",
        /// Commits survive a crash of the process.
        Process = "process",
        /// The database survives power loss without corruption; the last commits may be lost.
        Consistent = "consistent",
        /// Commits survive power loss.
        Durable = "durable",
    }
}

crate::named! {
    /// Mechanism by which writing sessions wait for one another.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum WriterWait {
        /// A queue of Bourse's in front of the engine.
        BourseQueue = "Bourse queues writers",
        /// Bourse's busy handler, which retries after microseconds.
        BourseBusyHandler = "writers wait by Bourse's busy handler",
        /// The engine's own busy timeout, which sleeps and retries.
        EngineBusyTimeout = "writers wait by the engine's busy timeout",
        /// A queue of Bourse's for the single connection that makes all changes.
        OneConnection = "one connection writes, behind Bourse's queue",
        /// The engine's own locks.
        EngineLocks = "writers wait by the engine's locks",
    }
}

crate::named! {
    /// Storage of a database in memory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum MemoryStore {
        /// An in-memory file system of Bourse's below the engine.
        Bourse = "in Bourse's memory file system",
        /// The engine's own in-memory mode.
        Engine = "in the engine's own memory",
    }
}

crate::named! {
    /// Acknowledged commits that may be lost.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum MayLose {
        /// The last commit.
        LastCommit = "last commit",
        /// Commits of about the last second.
        LastSecond = "commits of the last second",
        /// Commits of about the last second, which only the engine's memory has: the end of its process loses them too.
        LastSecondInMemory = "commits of the last second, also in a crash of the process",
        /// Commits since the last checkpoint.
        SinceCheckpoint = "commits since the checkpoint",
        /// Commits that the operating system has not written back yet.
        NotWrittenBack = "commits not written back",
    }
}

impl Description {
    /// Description of an engine whose writers wait by its own locks. `durability` is the class with its reason, and a
    /// warning about the place of the files.
    pub fn new(
        engine: &str,
        version: String,
        target: &str,
        (durability, durability_reason, warning): PlacedDurability,
        settings: Vec<Setting>,
    ) -> Self {
        Self {
            engine: engine.to_owned(),
            version,
            target: target.to_owned(),
            durability,
            may_lose: None,
            durability_reason,
            writer_wait: Some(WriterWait::EngineLocks),
            memory_store: None,
            settings,
            compile_options: Vec::new(),
            warnings: warning.into_iter().collect(),
        }
    }

    /// Lowers the class to `class`, for that reason, if it promises more.
    pub fn lower(&mut self, class: Durability, reason: String) {
        if self.durability > class {
            (self.durability, self.durability_reason, self.may_lose) = (class, reason, None);
        }
    }
}

/// A name and its value, both for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NameValue")]
pub struct Setting {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

impl Setting {
    /// A setting of that name and value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }

    /// Placement of a cluster's sessions, which is another in each round.
    const PLACEMENT: [&str; 2] = ["nodes", "sessions"];

    /// First setting that has another value later, with that; `None` if nothing changed or nothing is known. Where a cluster's
    /// sessions are placed is left out.
    ///
    /// ```
    /// use bourse_engine::Setting;
    /// let all = |sync| [("journal", "wal"), ("synchronous", sync), ("encoding", sync)].map(|(n, v)| Setting::new(n, v));
    /// let (was, is) = (all("full"), all("off"));
    /// assert_eq!(Setting::first_changed(&was, &is), Some((&was[1], &is[1])));
    /// assert_eq!(Setting::first_changed(&was, &was), None);
    /// assert_eq!(Setting::first_changed(&was, &[]), None);
    /// ```
    pub fn first_changed<'s>(
        earlier: impl IntoIterator<Item = &'s Self>,
        later: &'s [Self],
    ) -> Option<(&'s Self, &'s Self)> {
        let changed = |was: &'s Self| later.iter().find(|is| is.name == was.name && is.value != was.value);
        let mut lasting = earlier.into_iter().filter(|it| !Self::PLACEMENT.contains(&&*it.name));
        lasting.find_map(|was| Some((was, changed(was)?)))
    }
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
        let by_settings = (Durability::Consistent, "by its settings".to_owned(), None);
        let mut description = Description::new("", String::new(), "", by_settings, Vec::new());
        description.may_lose = Some(MayLose::LastSecond);
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
