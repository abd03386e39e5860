//! The run file: one versioned document with all that is needed to draw a report, or to doubt it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the document; raised when a reader of the old form would misread the new.
pub const SCHEMA_VERSION: u32 = 1;

/// One run: what was asked, what it ran on, and what came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// Version of this document's form.
    pub schema_version: u32,
    /// What kind of run: `tpce`, `micro` or the name of a suite.
    pub name: String,
    /// When it began: RFC 3339 with the machine's offset.
    pub started_at: String,
    /// How to run it again: program and arguments, without secrets.
    pub command: Vec<String>,
    /// The seed all random sequences follow from.
    pub seed: u64,
    /// The program that ran.
    pub build: Build,
    /// The machine it ran on.
    pub machine: Machine,
    /// What was run, on what.
    pub cases: Vec<Case>,
    /// What casts doubt on the figures, in words.
    pub warnings: Vec<String>,
    /// Whether the run was ended before its time.
    pub interrupted: bool,
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// Version of Bourse.
    pub version: String,
    /// `release` or `debug`.
    pub profile: String,
    /// Target triple or architecture and system.
    pub target: String,
}

/// The machine it ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Operating system with kernel release.
    pub system: String,
    /// Processor model.
    pub processor: String,
    /// Processors that we may use.
    pub cores: u32,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Load average over one minute when the run began.
    pub load_average: Option<f64>,
    /// Further facts: frequency governor, virtualisation, file system of the target.
    pub details: Vec<NameValue>,
}

/// A name with its value, both as a person reads them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NameValue {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// One workload on one target with one set of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// Short label, unique in the run.
    pub label: String,
    /// What was run on.
    pub engine: Engine,
    /// What was run.
    pub workload: Workload,
    /// What a sweep or a search varied, with this case's values; empty otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<NameValue>,
    /// The search this case is the answer of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// Where it was measured, if that is not what the document says of all its cases: runs put together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Its rounds, in the order they ran.
    pub rounds: Vec<Round>,
}

/// A search for the highest rate that keeps every response limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// Unit of the rates.
    pub unit: String,
    /// The highest rate that kept every limit; none if none did.
    pub found: Option<f64>,
    /// The lowest rate tried that did not keep them; none if all did.
    pub refuted: Option<f64>,
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
    /// The worst 90th percentile, as a share of its limit.
    pub worst_of_limit: f64,
    /// Why it did not keep every limit, in words; empty if it did.
    pub broke: Vec<String>,
}

/// Where and when a case was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// When the run began: RFC 3339 with the machine's offset.
    pub started_at: String,
    /// How to run it again.
    pub command: Vec<String>,
    /// The program that ran.
    pub build: Build,
    /// The machine it ran on.
    pub machine: Machine,
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
    /// `volatile`, `process`, `consistent` or `durable`.
    pub durability: String,
    /// The settings that class follows from.
    pub durability_reason: String,
    /// Settings in force.
    pub settings: Vec<NameValue>,
    /// Options the engine was compiled with.
    pub compile_options: Vec<String>,
}

/// What was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// `tpce`, or the name of a classic workload.
    pub name: String,
    /// Effective parameters: customers, scale factor, initial days, users, constraints, schedule …
    pub parameters: Vec<NameValue>,
    /// The operation whose valid completions per second are the headline, with the headline's unit (`TR/s`).
    pub headline_operation: String,
    /// Unit of the headline.
    pub headline_unit: String,
    /// What the headline should be near by the workload's own rule (customers / scale factor), if it has one.
    pub nominal: Option<f64>,
    /// A notice that has to stand in every report of this workload.
    pub notice: Option<String>,
}

/// One execution of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Seconds from the run's beginning to the round's.
    pub offset_s: f64,
    /// Phases in seconds of the round's series: warm-up, measurement, drain.
    pub phases: Vec<Phase>,
    /// Length of the measurement interval, in seconds.
    pub measured_s: f64,
    /// The headline: valid completions of the headline operation in the measurement interval, per second. Not a number
    /// (`null` in the document) where the round is `void`.
    #[serde(deserialize_with = "figure_or_none")]
    #[schemars(with = "Option<f64>")]
    pub headline: f64,
    /// Why the round has no figure, in words, such as a load whose transaction was rolled back. What was counted and timed
    /// until then stands in the round all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
    /// Figures by operation, over the measurement interval.
    pub operations: Vec<Operation>,
    /// What became of what was due by a schedule; none in closed loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Second by second, over the whole round.
    pub series: Series,
    /// Sizes looked at more often than once a second, where a workload is about how they grow; the times are the ends of
    /// short intervals, the values the largest seen in each.
    #[serde(default)]
    pub closer: Series,
    /// Processor seconds of our process in the measurement interval: user.
    pub cpu_user_s: f64,
    /// Processor seconds of our process in the measurement interval: system.
    pub cpu_system_s: f64,
    /// Bytes our process caused to be read from storage in the measurement interval.
    pub read_bytes: u64,
    /// Bytes our process caused to be written to storage in the measurement interval.
    pub written_bytes: u64,
    /// What the engine asked of the file system in the measurement interval, by its own exact count; empty where it cannot
    /// say or has no files.
    #[serde(default)]
    pub io: Vec<KindOfFile>,
    /// Who counted `io`, such as a server's own status variables; empty where the engine is in our process and its files
    /// were counted there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub io_source: String,
    /// What the process of a server used in the measurement interval that the engine is in, where it can be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerUse>,
    /// Processors that were not ours in the measurement interval; none where the system does not say, or the interval was
    /// too short to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<Taken>,
    /// Further figures of the round, such as trades that came with the database, and how it was found.
    pub facts: Vec<NameValue>,
    /// The round on an application server that this is a driver's part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedRound>,
    /// Checks of the figures, and of the database after the round.
    pub checks: Vec<Check>,
    /// What casts doubt on this round, in words.
    pub warnings: Vec<String>,
}

impl Round {
    /// Takes the headline away, with the reason; what was counted and timed stays. The first reason stands.
    pub fn make_void(&mut self, why: impl Into<String>) {
        self.headline = f64::NAN;
        self.void.get_or_insert(why.into());
    }

    /// Operations that failed in the measurement interval.
    pub fn failed(&self) -> u64 {
        let outcomes = self.operations.iter().flat_map(|operation| &operation.outcomes);
        outcomes.filter(|it| it.outcome == Outcome::Failed).map(|it| it.count).sum()
    }
}

/// A figure that may be none: JSON has no «not a number».
fn figure_or_none<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// What became of the operations that a schedule made due in the measurement interval.
///
/// `due` = `started` + `dropped` + `unstarted`. One that was started may have ended after the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Arrivals {
    /// Due in the interval.
    pub due: u64,
    /// Of them, started.
    pub started: u64,
    /// Of them, never started, because as many as the backlog holds were waiting.
    pub dropped: u64,
    /// Of them, still waiting when the interval ended.
    pub unstarted: u64,
    /// How many may wait, over all users.
    pub backlog_limit: u64,
    /// The most that one user had waiting.
    pub backlog_longest: u64,
}

/// What a server's process used in the measurement interval, as the operating system counts it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerUse {
    /// Processor seconds in user mode.
    pub cpu_user_s: f64,
    /// Processor seconds in the kernel.
    pub cpu_system_s: f64,
    /// Bytes it caused to be read from storage.
    pub read_bytes: u64,
    /// Bytes it caused to be written to storage.
    pub written_bytes: u64,
}

/// What others took of the machine in the measurement interval: processors kept busy, on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// By processes other than ours and, where it can be looked at, the server's.
    pub by_others: f64,
    /// By the kernel, in interrupts and threads of its own. Much of it is for whoever writes and waits for syncs, which may
    /// be us, so that alone it is no disturbance; where its threads are hidden, they count as others.
    pub by_kernel: f64,
    /// By the host of a virtual machine, for other machines.
    pub by_host: f64,
}

impl Taken {
    /// From here on it is told of: a tenth of a processor shows in the tail of the response times.
    pub const NOTICED: f64 = 0.1;

    /// What surely was not for us.
    pub fn from_us(self) -> f64 {
        self.by_others + self.by_host
    }
}

/// What was asked of the file system for one kind of file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindOfFile {
    /// `database`, `log`, `journal`, `temporary`, or `data and log files` where those two are counted together.
    pub kind: String,
    /// Times the disk was waited for.
    pub syncs: u64,
    /// How long those waits took, in nanoseconds, all users' added up; none where the engine does not take the time.
    #[serde(default)]
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

/// Of several drivers that shared a round on an application server, one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedRound {
    /// The round's name: the same for all its drivers, and for no other round.
    pub round: String,
    /// Which driver, counted from 1; all of them once they are put together: 0.
    pub number: u32,
    /// Of how many.
    pub of: u32,
    /// Drivers that vanished before the end; their figures are lost.
    pub vanished: Vec<u32>,
}

/// A stretch of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Which.
    pub kind: PhaseKind,
    /// First second, in the series' time.
    pub from_s: f64,
    /// End, in the series' time.
    pub to_s: f64,
}

/// The stretches of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Before measuring.
    WarmUp,
    /// The measurement interval.
    Measurement,
    /// After measuring: work in flight is finished.
    Drain,
}

/// One operation's figures over the measurement interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// Name, as `Trade-Result`.
    pub name: String,
    /// How many ended, by outcome, the commonest first; outcomes with a status code apart from one another.
    pub outcomes: Vec<OutcomeCount>,
    /// Retries after lock conflicts, over all.
    pub retries: u64,
    /// Completed, but later than the limit.
    pub late: u64,
    /// How often the clock was read for them: fewer times than there were operations where short ones were timed in
    /// batches. Then quantiles are those of the batches' means. 0 in files from before this was counted.
    #[serde(default)]
    pub samples: u64,
    /// What the harness itself takes of an operation's time, in nanoseconds: the same operations on the null engine. Given
    /// for operations short enough that it matters.
    #[serde(default)]
    pub floor_ns: Option<f64>,
    /// Share of the mix it should have, in percent, if the workload says.
    pub mix_target_percent: Option<f64>,
    /// How far the share may be off, in percentage points, if the workload says.
    pub mix_tolerance_points: Option<f64>,
    /// 90 % must be answered within this many nanoseconds, if the workload says.
    pub limit_ns: Option<u64>,
    /// From when it was due to its end: what a customer waits.
    pub response: Distribution,
    /// From its start to its end: what the engine and its locks take.
    pub service: Distribution,
    /// The same by outcome, for those outcomes that occurred.
    #[serde(default)]
    pub by_outcome: Vec<OutcomeLatency>,
    /// Where the time went, for operations performed behind an application server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerFigures>,
}

/// Where the time of operations behind an application server went, over all outcomes but those dropped.
///
/// Response time is the wait before the start, and then these: network and server; the engine's time is part of the server's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerFigures {
    /// From the request's arrival at the server to the reply's departure.
    pub server: Distribution,
    /// In the transaction itself, its locks included, back-offs not.
    pub engine: Distribution,
    /// From start to end as the driver saw it, less the server's time: the way there and back, with encoding.
    pub network: Distribution,
}

/// Response and service times of one outcome.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeLatency {
    /// Which.
    pub outcome: Outcome,
    /// What a customer waited.
    pub response: LatencySummary,
    /// What the engine and its locks took.
    pub service: LatencySummary,
}

/// How operations ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it should.
    Completed,
    /// Completed with a warning of the workload's own, as «no trade found».
    Warned,
    /// Rolled back as designed.
    RolledBack,
    /// Found less than a full-sized database would hold; explained by the database's size, and not a failure.
    ShortDatabase,
    /// Failed.
    Failed,
    /// Never started, because the backlog was full.
    Dropped,
}

impl Outcome {
    /// All that take time: every one but [`Dropped`](Self::Dropped).
    pub const MEASURED: [Self; 5] =
        [Self::Completed, Self::Warned, Self::RolledBack, Self::ShortDatabase, Self::Failed];

    /// Its place among [`MEASURED`](Self::MEASURED); none if dropped.
    pub const fn measured(self) -> Option<usize> {
        match self {
            Self::Dropped => None,
            measured => Some(measured as usize),
        }
    }
}

/// How many ended so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeCount {
    /// How.
    pub outcome: Outcome,
    /// The workload's status code, where it has one and it is not 0.
    pub code: i32,
    /// How many.
    pub count: u64,
    /// For failures: an example in words.
    pub example: Option<String>,
}

/// A latency distribution, over all outcomes but those dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Quantiles and the like, in nanoseconds.
    pub summary: LatencySummary,
    /// The whole histogram: HdrHistogram V2 serialization, Base64, three significant figures, nanoseconds.
    pub hdr_base64: String,
    /// Samples beyond the histogram's range, counted at its end.
    pub clamped: u64,
}

/// Quantiles of a latency distribution, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct LatencySummary {
    pub count: u64,
    pub min_ns: u64,
    pub mean_ns: f64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p95_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
}

/// Values second by second; second 0 is the beginning of the warm-up.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The end of each row's interval, in seconds since the round began.
    pub time_s: Vec<f64>,
    /// One column a metric.
    pub columns: Vec<Column>,
}

/// A metric's values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// A name of the metrics table, for some metrics with `.operation` behind it.
    pub metric: String,
    /// One value a row; null where there was nothing to measure.
    pub values: Vec<Option<f64>>,
}

/// A check of the database, or of the figures against what the driver counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Short name.
    pub name: String,
    /// What must hold, in words.
    pub words: String,
    /// Where that is demanded: a clause, or our own invariant.
    pub source: String,
    /// How it went.
    pub status: CheckStatus,
    /// What was found: counts, offending rows.
    pub evidence: String,
    /// How long it took, in seconds.
    pub took_s: f64,
}

impl Check {
    /// The source of checks that compare the recorder's figures with the driver's own count.
    pub const RECONCILIATION: &'static str = "reconciliation of recorder and driver";

    /// Whether it looked at the database, and not at the figures alone.
    pub fn is_of_database(&self) -> bool {
        self.source != Self::RECONCILIATION
    }
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed,
    /// It could not be asked, or does not apply.
    NotApplicable,
}
