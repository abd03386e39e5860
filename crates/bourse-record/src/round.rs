//! One round of a case: its figures, series, resources and checks.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{
    HistoryFigures, NameValue, Operation, Outcome, ResponseMap, StatementFigures, TimeSplit, Warning, Workload,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One execution of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Time from the run's start to the round's, in seconds.
    pub offset_s: f64,
    /// Phases of the round in seconds of its series: warm-up, measurement, drain.
    pub phases: Vec<Phase>,
    /// Length of the measurement interval, in seconds.
    pub measured_s: f64,
    /// Headline figure: valid completions of the headline operation per second of the measurement interval. NaN (`null`
    /// in the document) if the round is `void`.
    #[serde(deserialize_with = "figure_or_none")]
    #[schemars(with = "Option<f64>")]
    pub headline: f64,
    /// Reason that the round has no figure, such as a load whose transaction was rolled back. Counts and times up to
    /// then are retained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
    /// Figures by operation, over the measurement interval.
    pub operations: Vec<Operation>,
    /// Counts of scheduled operations by outcome; `None` in closed loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Values second by second, over the whole round.
    pub series: Series,
    /// Sizes of log or journal, sampled several times a second by workloads that measure their growth: the largest size
    /// of each short step. Times are the ends of the steps.
    #[serde(default)]
    pub fine_series: Series,
    /// Valid completions per second, of all operations (`throughput`) and of the headline's (`throughput.NAME`), ten
    /// times a second over the whole round; in longer rows if the round exceeds two minutes. The interval of a single
    /// round is computed from them.
    #[serde(default)]
    pub throughput_series: Series,
    /// Number of responses by duration and time, over the whole round and all operations. `None` for several
    /// drivers merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_map: Option<ResponseMap>,
    /// Ends of warm-up and measurement interval, if a rule could end them early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// User-mode processor seconds of this process in the measurement interval.
    pub cpu_user_s: f64,
    /// Kernel-mode processor seconds of this process in the measurement interval.
    pub cpu_system_s: f64,
    /// Bytes that this process caused to be read from storage in the measurement interval.
    pub read_bytes: u64,
    /// Bytes that this process caused to be written to storage in the measurement interval.
    pub written_bytes: u64,
    /// Page faults of this process in the measurement interval that waited for storage.
    #[serde(default)]
    pub major_faults: u64,
    /// File operations of the engine in the measurement interval, by its own exact count; empty if it has no count or
    /// no files.
    #[serde(default)]
    pub io: Vec<FileActivity>,
    /// Source of `io`, such as a server's status variables; empty if the engine is in this process and its files were
    /// counted there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub io_source: String,
    /// Resource usage of the server's process in the measurement interval, if there is one and it is accessible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerUse>,
    /// Delay in seconds, over both ends of the interval, with which resource usage was read, if too long for a cost per
    /// operation; otherwise `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_late_s: Option<f64>,
    /// Processes whose CPU time and bytes a cost covers. `None` if neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_covers: Option<CostCovers>,
    /// Processors used by others in the measurement interval; `None` if the system does not report them, or the
    /// interval was too short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference: Option<Interference>,
    /// Age of the emulated market at the start of the measurement interval, in seconds: the time for which limit orders
    /// have been placed. Until 900 s the market owes fewer Trade-Results than it is given orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub market_age_s: Option<f64>,
    /// Counters of the engine or its server over the measurement interval, by its own names; unchanged ones are
    /// omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<EngineCounter>,
    /// Processor time of the engine's own threads in this process, such as a garbage collector's; empty if it has none,
    /// or does not report them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engine_threads: Vec<EngineThreads>,
    /// Conflicts that the engine reported to sessions in the whole round, warm-up and drain included, by its name for
    /// them; retried ones are included. Empty if the engine does not distinguish them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictCount>,
    /// 90th percentile of a fixed CPU loop right after the round, as a multiple of its best time in the run; `None` if it
    /// was not timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// Time of the users' threads in the measurement interval, by activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_split: Option<TimeSplit>,
    /// Phase after the round at a part of its rate, for the response times of customers who do not wait for one
    /// another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Box<LatencyPhase>>,
    /// Figures by statement, the most time first; empty unless requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementFigures>,
    /// Isolation found in a recorded history of transactions, if the workload records one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<HistoryFigures>,
    /// Further figures of the round, such as the number of trades in the database at its start.
    pub facts: Vec<NameValue>,
    /// Shared round on an application server, if this is one driver's part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedRound>,
    /// Checks of the figures, and of the database after the round.
    pub checks: Vec<Check>,
    /// Warnings about this round.
    pub warnings: Vec<Warning>,
}

/// Counter of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EngineCounter {
    /// Name in the engine's terms.
    pub name: String,
    /// Increase of the counter.
    pub count: u64,
}

/// Threads of an engine that do the same work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineThreads {
    /// Work of the threads.
    pub work: String,
    /// Processor seconds of the threads in the measurement interval: a part of this process's.
    pub cpu_s: f64,
    /// Share of the threads in this process's processor time during the warm-up, from 0 to 1; `None` without a warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_share: Option<f64>,
}

/// Conflicts of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictCount {
    /// Name in the engine's terms.
    pub name: String,
    /// Number of conflicts.
    pub count: u64,
}

impl Round {
    /// Removes the headline, with the reason; counts and times are retained. Of several reasons the first is recorded.
    pub fn make_void(&mut self, why: impl Into<String>) {
        self.headline = f64::NAN;
        self.void.get_or_insert(why.into());
    }

    /// Longest permitted delay at the two ends of the interval, as a part of the interval, for a cost per operation to
    /// be shown: the error that the cost may have.
    pub const LATE_PART: f64 = 0.1;

    /// Least processor seconds for a cost per operation to be shown: they are counted in hundredths of a second.
    pub const LEAST_CPU_S: f64 = 0.1;

    /// Processor seconds in the measurement interval, a server's included; `None` if the server is not accessible, or
    /// usage was read too late.
    pub fn cpu_s(&self) -> Option<f64> {
        let of_server = self.server_cpu_s().unwrap_or(0.0);
        self.is_whole().then_some(self.own_cpu_s() + of_server)
    }

    /// Processor seconds of this process in the measurement interval: the client's, and the engine's if it is in this
    /// process.
    pub fn own_cpu_s(&self) -> f64 {
        self.cpu_user_s + self.cpu_system_s
    }

    /// Processor seconds of the server's process in the measurement interval; `None` if there is none, or it is not
    /// accessible.
    pub fn server_cpu_s(&self) -> Option<f64> {
        self.server.map(|server| server.cpu_user_s + server.cpu_system_s)
    }

    /// Bytes written to storage in the measurement interval, a server's included; `None` under the conditions of
    /// [`Self::cpu_s`].
    pub fn all_written_bytes(&self) -> Option<f64> {
        let of_server = self.server.map_or(0, |server| server.written_bytes);
        self.is_whole().then_some(self.written_bytes.saturating_add(of_server) as f64)
    }

    /// Bytes read from storage in the measurement interval, a server's included; `None` under the conditions of
    /// [`Self::cpu_s`].
    pub fn all_read_bytes(&self) -> Option<f64> {
        let of_server = self.server.map_or(0, |server| server.read_bytes);
        self.is_whole().then_some(self.read_bytes.saturating_add(of_server) as f64)
    }

    /// Number of times in the measurement interval that a page was not in memory: the engine's own count, or else that of
    /// page faults.
    pub fn misses(&self) -> u64 {
        let known = |it: &&EngineCounter| Self::MISSES.contains(&it.name.as_str());
        self.counters.iter().find(known).map_or(self.major_faults, |it| it.count)
    }

    /// Names of the counters of engines that count pages which are not in their caches.
    const MISSES: [&str; 3] = ["page cache misses", "Innodb_buffer_pool_reads", "blks_read"];

    /// Bytes that a server wrote to its files in the measurement interval, by its own count; `None` if it has none.
    pub fn server_counted_bytes(&self) -> Option<f64> {
        let counted = !self.io_source.is_empty() && !self.io.is_empty();
        counted.then(|| self.io.iter().map(|files| files.written_bytes as f64).sum())
    }

    /// Whether the counts of files are a server's, which counts for all that it serves.
    pub fn has_server_counts(&self) -> bool {
        !self.io_source.is_empty() || self.operations.iter().any(|operation| operation.server.is_some())
    }

    /// Whether it is one driver's part of a round on a server whose usage is that of all drivers: the part has no count of the
    /// others' operations, among which it would have to be shared out.
    pub fn is_part_on_server(&self) -> bool {
        let is_part = self.shared.as_ref().is_some_and(SharedRound::is_part);
        is_part && (self.server.is_some() || self.has_server_counts())
    }

    /// Processes whose CPU time and bytes a cost covers.
    pub fn cost_covers(&self) -> CostCovers {
        match self.cost_covers {
            _ if self.is_part_on_server() => CostCovers::Client,
            Some(covers) => covers,
            None if self.server.is_some() => CostCovers::ClientAndServer,
            None if self.interference.is_some_and(|it| it.includes_server) => CostCovers::Client,
            None => CostCovers::Process,
        }
    }

    /// Whether the processes with known usage did all the work, and their usage was read in time.
    fn is_whole(&self) -> bool {
        self.usage_late_s.is_none() && self.cost_covers() != CostCovers::Client
    }

    /// Whether other processes or the host disturbed the round: they took more than [`Interference::NOTICED`], or a
    /// fixed CPU loop took more than [`SLOWED`](Self::SLOWED) times its best time.
    pub fn is_disturbed(&self) -> bool {
        self.cpus_taken() > Interference::NOTICED || self.slowdown.is_some_and(|slowdown| slowdown > Self::SLOWED)
    }

    /// CPUs certainly taken by others, on average; 0 if the system does not report them.
    pub fn cpus_taken(&self) -> f64 {
        self.interference.map_or(0.0, Interference::from_us)
    }

    /// Slowdown of a fixed CPU loop from which the round counts as disturbed. Frequency scaling alone accounts for
    /// about 1.2.
    pub const SLOWED: f64 = 1.5;

    /// The round and its phase at a part of the rate, if any.
    pub fn with_latency(&self) -> impl Iterator<Item = &Round> {
        std::iter::once(self).chain(self.latency.iter().map(|phase| &phase.round))
    }

    /// Operation of that name.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.name == name)
    }

    /// Valid completions that the headline counts.
    pub fn headline_valid(&self, workload: &Workload) -> u64 {
        self.operations.iter().filter(|it| workload.is_headline(&it.name)).map(Operation::valid).sum()
    }

    /// Number of operations `name` that were due and never started. Since their kinds were never drawn, `unstarted` is
    /// apportioned to the scheduled operations by their numbers started or dropped, rounded up; a sole operation gets
    /// all.
    pub fn unstarted_of(&self, name: &str) -> u64 {
        let unstarted = self.arrivals.map_or(0, |arrivals| arrivals.unstarted);
        let is_alone = self.operations.len() == 1;
        let count = |it: &Operation| it.outcomes.iter().map(|outcome| outcome.count).fold(0, u64::saturating_add);
        let all = self.operations.iter().filter(|it| it.by_schedule).map(count).fold(0, u64::saturating_add);
        match self.operation(name) {
            Some(it) if it.by_schedule && all > 0 => {
                let share = u128::from(unstarted).saturating_mul(count(it).into()).div_ceil(all.into());
                u64::try_from(share).unwrap_or(unstarted)
            }
            Some(it) if it.by_schedule || is_alone => unstarted,
            _ => 0,
        }
    }

    /// Number of operations that failed in the measurement interval.
    pub fn failed(&self) -> u64 {
        let outcomes = self.operations.iter().flat_map(|operation| &operation.outcomes);
        outcomes.filter(|it| it.outcome == Outcome::Failed).map(|it| it.count).sum()
    }
}

/// Reads a figure; `null` becomes NaN, which JSON cannot represent.
fn figure_or_none<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// A phase after a round, on the same database, at a part of the round's rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyPhase {
    /// Requested part of the round's rate, as 0.7.
    pub part: f64,
    /// Requested rate in customers' transactions per second.
    pub per_second: f64,
    /// Figures of the phase, with its own phases, reconciliation and checks; its warm-up is at the reduced rate too.
    pub round: Round,
}

impl LatencyPhase {
    /// Share of the due operations that must be started for response times to be representative of the rate.
    pub const STARTED: f64 = 0.99;

    /// Whether the share of due operations that were started reached [`Self::STARTED`].
    pub fn kept_pace(&self) -> bool {
        self.round.arrivals.is_some_and(|it| it.due > 0 && it.started as f64 >= Self::STARTED * it.due as f64)
    }
}

/// Rule that ends warm-up and measurement interval depending on measurements; the planned lengths are then maxima.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoppingRule {
    /// The warm-up ends when its rate shows no trend; the interval has its planned length.
    #[serde(rename = "rate_known")]
    RateLevel,
    /// Both end when steady state is confirmed or refuted.
    SteadinessDecided,
}

/// Result of the rule that could end warm-up and interval early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stopping {
    /// The rule.
    pub rule: StoppingRule,
    /// Whether the rule ended the warm-up; if not, it reached its maximum length.
    pub warmed_up: bool,
    /// Number of times that the rule examined the interval.
    pub looks: u32,
    /// Whether the rule ended the interval; if not, it reached its maximum length.
    pub reached: bool,
}

/// Counts of the operations that a schedule made due in the measurement interval, by outcome.
///
/// `due` = `started` + `dropped` + `unstarted`. A started operation may have ended after the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Arrivals {
    /// Operations due in the interval.
    pub due: u64,
    /// Due operations that were started.
    pub started: u64,
    /// Due operations never started, because the backlog was full.
    pub dropped: u64,
    /// Due operations still queued at the end of the interval.
    pub unstarted: u64,
    /// Limit of queued operations, over all users.
    pub backlog_limit: u64,
    /// Longest queue of a single user.
    pub backlog_longest: u64,
    /// Longest time that an operation still queued had waited at the end of the interval, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unstarted_ns_longest: u64,
    /// Operations due before the interval and started in it: the headline counts those that ended validly in it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub started_of_warm_up: u64,
    /// Time that the round went on after the last operation was due, of a round that ends with its work, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub behind_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Resource usage of a server's process in the measurement interval, as the operating system counts it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerUse {
    /// Processor seconds in user mode.
    pub cpu_user_s: f64,
    /// Processor seconds in the kernel.
    pub cpu_system_s: f64,
    /// Bytes that the process caused to be read from storage.
    pub read_bytes: u64,
    /// Bytes that the process caused to be written to storage.
    pub written_bytes: u64,
}

crate::named! {
    /// Processes whose CPU time and bytes a cost covers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum CostCovers {
        /// This process, which includes the engine.
        Process = "process",
        /// This process and the server's.
        ClientAndServer = "client_and_server",
        /// This process alone: the server's is not accessible, or it is that of other drivers too.
        Client = "client",
    }
}

/// Processors kept busy by others in the measurement interval, on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interference {
    /// Processors used by processes other than Bourse's and, if accessible, the server's.
    pub by_others: f64,
    /// Processors used by the kernel in interrupts and its own threads. Much of that serves processes that write and
    /// sync, perhaps Bourse, so alone it is no disturbance; if the kernel's threads are hidden, they count as others.
    pub by_kernel: f64,
    /// Processors taken by the host of a virtual machine for other machines.
    pub by_host: f64,
    /// Whether the other processes may include a server under test, since its own process is not accessible. Their
    /// usage is then not certainly a disturbance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub includes_server: bool,
}

impl Interference {
    /// Processors from which interference is reported: a tenth of one shows in the tail of the response times.
    pub const NOTICED: f64 = 0.1;

    /// Processors from which the figure of a single round has no interval: its scatter within the round says nothing of another
    /// run, beside which others use more or less.
    pub const DECISIVE: f64 = 0.25;

    /// Processors certainly taken by others: other processes and the host.
    pub fn from_us(self) -> f64 {
        if self.includes_server { self.by_host } else { self.by_others + self.by_host }
    }

    /// Processors taken by others; `None` if a server under test may be among the other processes.
    pub fn known(self) -> Option<f64> {
        (!self.includes_server).then(|| self.from_us())
    }
}

crate::named! {
    /// Kinds of database files that are counted separately.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum FileKind {
        /// The database's own files.
        Database = "database",
        /// Write-ahead log or redo log.
        Log = "log",
        /// Rollback journal.
        Journal = "journal",
        /// Temporary files, as for sorting.
        Temporary = "temporary",
        /// Data and log files that are only counted together.
        DataAndLog = "data and log files",
    }
}

/// File operations on one kind of file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileActivity {
    /// Kind of the files.
    pub kind: FileKind,
    /// Number of waits for the disk.
    pub syncs: u64,
    /// Duration of those waits in nanoseconds, summed over all users; `None` if the engine does not measure it.
    #[serde(default)]
    pub sync_ns: Option<u64>,
    /// Number of writes.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Number of reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
}

/// One driver's part of a round that several drivers shared on an application server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SharedRound {
    /// Name of the round: equal for its drivers, unique among rounds.
    pub round: String,
    /// Number of the driver, from 1; 0 if all drivers are merged.
    pub number: u32,
    /// Number of drivers.
    pub of: u32,
    /// Drivers that vanished before the end; their figures are lost.
    pub vanished: Vec<u32>,
}

impl SharedRound {
    /// Whether it is the part of one of several drivers.
    pub const fn is_part(&self) -> bool {
        self.of > 1 && self.number > 0
    }
}

/// Part of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Kind of the phase.
    pub kind: PhaseKind,
    /// Start in seconds of the series.
    pub from_s: f64,
    /// End in seconds of the series.
    pub to_s: f64,
}

/// Kinds of phases of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Warm-up, before measuring.
    WarmUp,
    /// The measurement interval.
    Measurement,
    /// Drain, after measuring: work in flight is finished.
    Drain,
}

/// Values second by second; time 0 is the start of the warm-up.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The end of each row's interval, in seconds since the round began.
    pub time_s: Vec<f64>,
    /// Columns, one per metric.
    pub columns: Vec<SeriesColumn>,
}

/// Values of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesColumn {
    /// Name in the metrics table, with `.operation` appended for some metrics.
    pub metric: String,
    /// Values by row; null if there was nothing to measure.
    pub values: Vec<Option<f64>>,
}

/// A check of the database, or of the figures against what the driver counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Short name.
    pub name: String,
    /// The condition, as a sentence.
    pub condition: String,
    /// Source of the condition: a clause, or an invariant of Bourse.
    pub source: String,
    /// Status of the check.
    pub status: CheckStatus,
    /// Evidence: counts, offending rows.
    pub evidence: String,
    /// Duration of the check in seconds.
    pub took_s: f64,
}

impl Check {
    /// Source of checks that compare the recorder's figures with the driver's own count.
    pub const RECONCILIATION: &'static str = "reconciliation of recorder and driver";

    /// Check with its result; `true` is passed. The time that it took is zero.
    pub fn new(
        name: impl Into<String>,
        condition: impl Into<String>,
        source: &str,
        status: impl Into<CheckStatus>,
        evidence: impl Into<String>,
    ) -> Self {
        let (name, condition, source) = (name.into(), condition.into(), source.to_owned());
        Self { name, condition, source, status: status.into(), evidence: evidence.into(), took_s: 0.0 }
    }

    /// Whether the check examined the database, and not only the figures.
    pub fn is_of_database(&self) -> bool {
        self.source != Self::RECONCILIATION
    }
}

/// Status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// The condition holds.
    Passed,
    /// The condition does not hold.
    Failed,
    /// The condition was not evaluated; the evidence has the reason.
    NotApplicable,
}

impl From<bool> for CheckStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::Passed } else { Self::Failed }
    }
}
