//! Declaration of an engine by its crate, for a program that lists engines and opens targets.

use crate::Engine;
use crate::target::{OptionHelp, TargetError};

/// An engine that targets can name. Its crate has a list `KINDS`: more than one entry if several schemes share a crate.
///
/// [`EngineKind::new`] has the fields that every engine states; the others have the values of an engine without the property.
///
/// ```
/// use bourse_engine::{KINDS, Location};
/// let null = KINDS.iter().find(|kind| kind.scheme == "null").unwrap();
/// let engine = (null.open)("null:").unwrap();
/// assert_eq!(engine.location(), Location::Nowhere);
/// ```
pub struct EngineKind {
    /// Scheme: the part of a target before the colon.
    pub scheme: &'static str,
    /// Summary, in one line.
    pub summary: &'static str,
    /// Form of a target, as `sqlite:PATH`.
    pub example: &'static str,
    /// Places of its databases, for an engine in this process that stores data.
    pub in_process: Option<InProcessPlaces>,
    /// Seconds that a private server or cluster of it takes to start on two cores, about; `None` if it starts none.
    pub starts_s: Option<u64>,
    /// Rows of a hundred bytes that it loads in a second on two cores, about; `None` if it loads no tables.
    pub loads_rows_s: Option<u64>,
    /// Milliseconds that a round of a microbenchmark of the default size takes on two cores in addition to warm-up and
    /// interval, about. Most of it creates the rows that the round begins with.
    pub prepares_ms: u64,
    /// Milliseconds that a round takes which inserts as many rows one by one, about; `None` if that is as fast as
    /// creating the initial rows.
    pub inserts_ms: Option<u64>,
    /// Version of the engine on this machine, or the reason why it cannot run: what is missing, and which package has
    /// it.
    pub version: fn() -> Result<String, String>,
    /// Whether this machine has what a target needs: a library or a server, which the target itself may name.
    pub available: fn(&str) -> Result<(), String>,
    /// Every option of a target of a scheme.
    pub options: fn(&str) -> Vec<OptionHelp>,
    /// Options that the engine was compiled with; empty if they are unknown.
    pub compiled: fn() -> Vec<String>,
    /// Opens a target: parses it, and touches nothing else.
    pub open: OpenTarget,
    /// Ends and removes the private server that a killed process has left of a target.
    pub cleanup: fn(&str),
    /// Options that crash tests vary by default, each with its values, as `journal=wal,delete`; `None` for an engine without
    /// a database file that a child process can work on a copy of.
    pub crash_sweeps: Option<&'static [&'static str]>,
    /// Options that `tune` varies, each with its values, as `cache=2MiB,256MiB`; a value may bring the options that it needs,
    /// as `writers=busy&begin=deferred`. Each is among the settings that the engine reads back.
    pub tunes: &'static [&'static str],
    /// Statement that puts a setting into force, by the name and value that the engine reads back; `None` if it has none.
    pub statement: fn(&str, &str) -> Option<String>,
    /// Whether a preloaded library that replaces calls of the C library can make its reads, writes and syncs fail.
    pub faults_by_preload: bool,
    /// Whether a target loads a library of its own, which stays in the process.
    pub stays_loaded: bool,
    /// Whether no page cache of the engine itself outlives a session.
    pub caches_by_session: bool,
}

/// Opens a target.
pub type OpenTarget = fn(&str) -> Result<Box<dyn Engine>, TargetError>;

/// Places of the databases of an engine that works in this process.
pub struct InProcessPlaces {
    /// Ending of its files' names, if they can be in files.
    pub file_ending: Option<&'static str>,
    /// Whether they can be in memory, as `:memory:`.
    pub memory: bool,
    /// Scheme of the engine of which this one is another build; the difference is processor time.
    pub variant_of: Option<&'static str>,
    /// Whether `quick` includes it only with all engines, since its results depend on which library a target names.
    pub is_asked_for: bool,
}

impl InProcessPlaces {
    /// Places of an engine of its own, in files with that ending, and in memory if it has databases there.
    pub const fn new(file_ending: Option<&'static str>, memory: bool) -> Self {
        Self { file_ending, memory, variant_of: None, is_asked_for: false }
    }
}

/// Name of a database in memory.
const MEMORY: &str = ":memory:";

impl EngineKind {
    /// An engine that needs nothing on this machine, as a running server does, and loads nothing at run time.
    pub const fn new(
        [scheme, summary, example]: [&'static str; 3],
        version: fn() -> Result<String, String>,
        options: fn(&str) -> Vec<OptionHelp>,
        open: OpenTarget,
    ) -> Self {
        Self {
            scheme,
            summary,
            example,
            in_process: None,
            starts_s: None,
            loads_rows_s: None,
            prepares_ms: 1_000,
            inserts_ms: None,
            version,
            available: |_| Ok(()),
            options,
            compiled: Vec::new,
            open,
            cleanup: |_| {},
            crash_sweeps: None,
            tunes: &[],
            statement: |_, _| None,
            faults_by_preload: false,
            stays_loaded: false,
            caches_by_session: false,
        }
    }

    /// A target of this engine in a file in a folder; `None` if it has no files here.
    pub fn file_target(&self, folder: &str, name: &str) -> Option<String> {
        let ending = self.in_process.as_ref()?.file_ending?;
        Some(format!("{}:{folder}/{name}.{ending}", self.scheme))
    }

    /// Whether the names of its files have this ending.
    pub fn has_files_of(&self, ending: &str) -> bool {
        self.in_process.as_ref().is_some_and(|it| it.file_ending == Some(ending))
    }

    /// A target of this engine in memory; `None` if it has none.
    pub fn memory_target(&self) -> Option<String> {
        self.in_process.as_ref().filter(|it| it.memory).map(|_| format!("{}:{MEMORY}", self.scheme))
    }

    /// A target of this engine on a private server or cluster, with its data in memory or on disk; `None` if it starts
    /// none.
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
        let null = KINDS.iter().find(|kind| kind.scheme == "null").expect("this crate has it");
        assert_eq!(null.file_target("data", "x"), None);
        assert_eq!((null.memory_target(), null.private_target(true)), (None, None));
        assert!(!null.has_files_of(""));
    }
}
