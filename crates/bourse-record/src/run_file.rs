//! The run file: one versioned document with all that is needed to draw a report, or to doubt it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{
    BROKERAGE_NOTICE, Conditions, DocumentKind, NameValue, Outcome, Provenance, ResponseLimit, Round, TimeSpent,
    Verdict, Warning,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the document; raised when a reader of the old form would misread the new.
pub const SCHEMA_VERSION: u32 = 2;

/// One run: what was asked, what it ran on, and what came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// What kind of run: `tpce`, `micro` or the name of a suite.
    pub name: String,
    /// Provenance: time, command, seed, build and machine.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Cases of the run.
    pub cases: Vec<Case>,
    /// Warnings about the figures.
    pub warnings: Vec<Warning>,
    /// Whether the run was ended before its time.
    pub interrupted: bool,
    /// Where its time went; none of runs that were merged, or ended before they could tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_spent: Option<TimeSpent>,
    /// The comparison that the run was made for: of two targets in interleaved rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// A notice that has to stand in every report of the run, also where it came to no case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl RunFile {
    /// A run that has measured nothing yet.
    pub fn new(name: impl Into<String>, provenance: Provenance) -> Self {
        Self {
            document: DocumentKind::Run,
            schema_version: SCHEMA_VERSION,
            name: name.into(),
            provenance,
            cases: Vec::new(),
            warnings: Vec::new(),
            interrupted: false,
            time_spent: None,
            comparison: None,
            notice: None,
        }
    }
}

/// Difference of the second of two cases from the first, as it was decided when the run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Label of the case that is compared with: A.
    pub base: String,
    /// Label of the case that is compared: B.
    pub head: String,
    /// Part of one by which B may be slower.
    pub tolerance: f64,
    /// Figure of B divided by that of A: the Hodges–Lehmann estimate over the pairs of rounds. None where there is no ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Lower and upper end of its interval. None of too few rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Level of the interval: over all looks, where a look could end the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Whether the comparison could end at any of several looks, over all of which the level holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_decided: bool,
    /// The verdict that follows.
    pub verdict: Verdict,
}

/// One workload on one target with one set of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// Short label, unique in the run.
    pub label: String,
    /// The engine and its settings.
    pub engine: Engine,
    /// The workload.
    pub workload: Workload,
    /// Conditions of the case.
    #[serde(default)]
    pub conditions: Conditions,
    /// What a sweep or a search varied, with this case's values; empty otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<NameValue>,
    /// The search this case is the answer of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// Where it was measured, if that is not what the document says of all its cases: runs merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Provenance>,
    /// Rounds, in the order in which they ran.
    pub rounds: Vec<Round>,
    /// Rounds that others disturbed and that were repeated: no part of any figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<Round>,
}

/// A search for the highest rate that keeps every response limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// Unit of the rates.
    pub unit: String,
    /// The limits; empty in files from before they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<ResponseLimit>,
    /// The highest rate that kept every limit; none if none did.
    pub highest_passing: Option<f64>,
    /// The lowest rate tried that did not keep them; none if all did.
    pub lowest_failing: Option<f64>,
    /// Whether a run of full length at the rate found kept every limit too.
    pub confirmed: bool,
    /// Every round of the search, in the order they ran.
    pub probes: Vec<Probe>,
}

/// A round of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Rate asked for.
    pub rate: f64,
    /// Rate reached.
    pub reached: f64,
    /// Seconds measured.
    pub measured_s: f64,
    /// The worst of the quantiles that have a limit, as a share of it; none where one of them is an operation that failed, was
    /// dropped or was never started.
    pub worst_limit_ratio: Option<f64>,
    /// Why it did not keep every limit, in words; empty if it did.
    pub violations: Vec<String>,
}

/// What was run on, as read back from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// Name with build variant.
    pub name: String,
    /// The engine's own version.
    pub version: String,
    /// The target as given, without secrets.
    pub target: String,
    /// What a commit survives with these settings.
    pub durability: Durability,
    /// What power loss may take of the commits that were acknowledged, in the class `consistent`; in the class `process`,
    /// what the end of the process may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_lose: Option<MayLose>,
    /// The settings that class follows from.
    pub durability_reason: String,
    /// How sessions that want to write wait for one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_wait: Option<WriterWait>,
    /// What holds the database, if it is in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_store: Option<MemoryStore>,
    /// Settings in force.
    pub settings: Vec<NameValue>,
    /// Options the engine was compiled with.
    pub compile_options: Vec<String>,
}

impl Engine {
    /// Name of the engine that does nothing.
    pub const NULL: &str = "null";

    /// Whether the engine does nothing, so that all time is the harness's and the workload's own.
    pub fn is_null(&self) -> bool {
        self.name == Self::NULL
    }

    /// Arrangements between Bourse and the engine that its figures depend on, in words: how writers wait, and what holds a
    /// database in memory.
    pub fn arrangements(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.memory_store.map(MemoryStore::words).into_iter().chain(self.writer_wait.map(WriterWait::words))
    }
}

/// How sessions that want to write wait for one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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

impl WriterWait {
    /// The words for reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::BourseQueue => "writers wait in Bourse's queue",
            Self::BourseBusyHandler => "writers wait by Bourse's busy handler",
            Self::EngineBusyTimeout => "writers wait by the engine's busy timeout",
            Self::OneConnection => "one connection writes, behind Bourse's queue",
            Self::EngineLocks => "writers wait by the engine's locks",
        }
    }
}

/// What holds a database that is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryStore {
    /// A file system of Bourse's in memory, below the engine.
    Bourse,
    /// The engine's own means.
    Engine,
}

impl MemoryStore {
    /// The words for reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Bourse => "in Bourse's memory file system",
            Self::Engine => "in the engine's own memory",
        }
    }
}

/// What may be lost of the commits that were acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
    /// The words for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LastCommit => "last commit",
            Self::LastSecond => "commits of the last second",
            Self::LastSecondInMemory => "commits of the last second, also in a crash of the process",
            Self::SinceCheckpoint => "commits since the checkpoint",
            Self::NotWrittenBack => "commits not written back",
        }
    }
}

/// What an acknowledged commit survives; of two classes the greater promises more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
    /// The word for tables.
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

impl std::fmt::Display for Durability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Workload of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// `tpce`, or the name of a classic workload.
    pub name: String,
    /// Which kind of workload: it decides which rules and tests its figures are held against.
    pub kind: WorkloadKind,
    /// The workload's own options with their effective values.
    pub parameters: Vec<NameValue>,
    /// The operation whose valid completions per second are the headline; none: all operations, counted together.
    pub headline_operation: Option<String>,
    /// Unit of the headline.
    pub headline_unit: String,
    /// What the headline should be near by the workload's own rule (customers / scale factor), if it has one.
    pub nominal: Option<f64>,
    /// How its operations may end; what cannot happen to them has no place in a report.
    pub outcomes: Vec<Outcome>,
    /// What the workload calls metrics that mean something of its own to it, such as `queue_length`: metric and title.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metric_titles: Vec<NameValue>,
    /// A notice that has to stand in every report of this workload.
    pub notice: Option<String>,
    /// Whether its work goes on until the time is over, so that its rate may be asked for a steady state; of a brokerage it
    /// always is.
    #[serde(default)]
    pub has_lasting_rate: bool,
}

/// Kinds of workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadKind {
    /// Emulated customers of a brokerage house: transactions in a mix, in steady state, with the specification's rules.
    Brokerage,
    /// A classic workload: a few operations, as fast as they go.
    Micro,
}

impl WorkloadKind {
    /// What one of its operations is called: the specification says transaction; other workloads have operations, of which
    /// a transaction may hold many.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Brokerage => "transaction",
            Self::Micro => "operation",
        }
    }

    /// What has to stand in every report of its figures, whatever else the workload itself says.
    pub const fn notice(self) -> Option<&'static str> {
        match self {
            Self::Brokerage => Some(BROKERAGE_NOTICE),
            Self::Micro => None,
        }
    }
}

impl Workload {
    /// Name of the parameter that says how arrivals come, where that is not as it is by default.
    pub const ARRIVALS: &str = "arrivals";

    /// Unit of the figure that heads reports: of the brokerage transactions of all kinds a second, elsewhere the headline's.
    pub fn figure_unit(&self) -> &str {
        match self.kind {
            WorkloadKind::Brokerage => "transactions/s",
            WorkloadKind::Micro => &self.headline_unit,
        }
    }

    /// Whether an operation's valid completions are part of the headline.
    pub fn is_headline(&self, operation: &str) -> bool {
        self.headline_operation.as_ref().is_none_or(|name| name == operation)
    }

    /// The column of a round's series that has the headline's rate.
    pub fn headline_metric(&self) -> String {
        self.headline_operation.as_ref().map_or_else(|| "throughput".to_owned(), |name| format!("throughput.{name}"))
    }

    /// Whether its measurement intervals are asked for a steady state.
    pub fn may_be_steady(&self) -> bool {
        self.kind == WorkloadKind::Brokerage || self.has_lasting_rate
    }

    /// The workload's own title of a metric, if it has one.
    pub fn metric_title(&self, metric: &str) -> Option<&str> {
        self.metric_titles.iter().find(|title| title.name == metric).map(|title| title.value.as_str())
    }
}
