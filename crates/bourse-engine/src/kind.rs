//! What an engine's crate says of itself to a program that lists its targets and opens them.

use crate::target::{OptionHelp, Renamed, TargetError};
use crate::{Engine, SideFileKind};

/// An engine that targets can name. Its crate has a list `KINDS`: more than one where several schemes share a crate.
///
/// Nothing has a default here: an engine that forgets to say it does not compile.
pub struct EngineKind {
    /// What stands before the colon of a target.
    pub scheme: &'static str,
    /// Summary, in one line.
    pub summary: &'static str,
    /// How a target of it is written.
    pub example: &'static str,
    /// Where its databases can lie, if it works in this process and keeps anything.
    pub in_process: Option<InProcess>,
    /// What a private server or cluster of it takes to start on two cores, about, in seconds; none of an engine that starts none.
    pub starts_s: Option<u64>,
    /// Rows of a hundred bytes that it loads in a second on two cores, about; none of an engine that loads no tables.
    pub loads_rows_s: Option<u64>,
    /// What a round of a microbenchmark of the usual size takes beside its warm-up and its interval on two cores, about, in
    /// milliseconds: most of it for the rows that it begins with.
    pub prepares_ms: u64,
    /// What a round takes that inserts as many rows one by one, about, in milliseconds; none where that is as fast as what a
    /// round begins with.
    pub inserts_ms: Option<u64>,
    /// Its version on this machine, or why it cannot run: what is missing, and which package has it.
    pub version: fn() -> Result<String, String>,
    /// Whether what a target needs is on this machine, which the target itself may name: a library, a server.
    pub available: fn(&str) -> Result<(), String>,
    /// Every option of a target.
    pub options: fn() -> Vec<OptionHelp>,
    /// The options it was compiled with, where it is compiled in and tells.
    pub compiled: fn() -> Vec<String>,
    /// The words of a target that have a new name.
    pub renamed: fn(&str) -> Vec<Renamed>,
    /// Opens a target: reads it, and nothing else.
    pub open: Open,
    /// Ends and removes the private server that a killed process has left of a target.
    pub cleanup: fn(&str),
    /// How its databases are crashed, if they are files that a process of ours can work on and that can be copied.
    pub crashes: Option<Crashes>,
    /// The ways in which its reads, writes and syncs can be made to fail.
    pub faults: Faults,
    /// Whether a target loads a library of its own, which stays in the process.
    pub stays_loaded: bool,
}

/// Opens a target.
pub type Open = fn(&str) -> Result<Box<dyn Engine>, TargetError>;

/// Where databases of an engine can lie that works in this process.
pub struct InProcess {
    /// Ending of its files' names, if they can be in files.
    pub file_ending: Option<&'static str>,
    /// Whether they can be in memory, as `:memory:`.
    pub memory: bool,
    /// The engine that this one is another build of: what it saves is processor time.
    pub variant_of: Option<&'static str>,
    /// Whether a person has to say which library is meant, so that it is part of a look at all engines alone.
    pub is_asked_for: bool,
}

/// How the databases of an engine are crashed.
pub struct Crashes {
    /// The copy that is crashed: its name, and what tells that one which is there was left by a process of ours.
    pub copy: SideFileKind,
    /// What is swept when nothing else is said.
    pub sweeps: &'static [&'static str],
    /// The setting for a simulated disk that loses what was not synced, if its files can be on one.
    pub lossy_disk: Option<&'static str>,
    /// Whether its system calls can be recorded.
    pub can_be_recorded: bool,
    /// Whether the engine locks a file as a side file is locked, so that a copy is left to it without a lock.
    pub takes_the_lock: bool,
}

/// The ways in which an engine's reads, writes and syncs can be made to fail.
pub struct Faults {
    /// By a preloaded library that stands in for calls of the C library.
    pub by_preload: bool,
    /// By the engine's own trait for storage: opens a target on one that fails on purpose.
    pub on_storage: Option<Open>,
}

impl Faults {
    /// Of an engine that has no files which could be interfered with.
    pub const NONE: Self = Self { by_preload: false, on_storage: None };
    /// Of an engine that calls the C library for its files.
    pub const BY_PRELOAD: Self = Self { by_preload: true, on_storage: None };
}

/// Name of a database in memory.
const MEMORY: &str = ":memory:";

impl EngineKind {
    /// A target of it in a file of that name in a folder; none if it has no files here.
    pub fn file_target(&self, folder: &str, name: &str) -> Option<String> {
        let ending = self.in_process.as_ref()?.file_ending?;
        Some(format!("{}:{folder}/{name}.{ending}", self.scheme))
    }

    /// Whether its files' names end so.
    pub fn has_files_of(&self, ending: &str) -> bool {
        self.in_process.as_ref().is_some_and(|it| it.file_ending == Some(ending))
    }

    /// A target of it in memory, if it has any.
    pub fn memory_target(&self) -> Option<String> {
        self.in_process.as_ref().filter(|it| it.memory).map(|_| format!("{}:{MEMORY}", self.scheme))
    }

    /// A target of it on a private server or cluster, with its data in memory or on a disk; none if it starts none.
    pub fn private_target(&self, in_memory: bool) -> Option<String> {
        let settings = if in_memory { "?ram=on" } else { "" };
        self.starts_s.map(|_| format!("{}:{settings}", self.scheme))
    }
}

#[cfg(test)]
mod tests {
    use crate::KINDS;

    #[test]
    fn an_engine_without_files_has_no_targets_of_ours() {
        let [null] = KINDS else { panic!("this crate has one engine") };
        assert_eq!(null.file_target("data", "x"), None);
        assert_eq!((null.memory_target(), null.private_target(true)), (None, None));
        assert!(!null.has_files_of(""));
    }
}
