//! One round of a case: its figures, series, resources and checks.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{NameValue, Operation, Outcome, ResponseMap, TimeSplit, Warning, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Counts of scheduled operations by outcome; none in closed loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Second by second, over the whole round.
    pub series: Series,
    /// Sizes of log or journal, looked at more often than once a second where a workload is about how they grow: the largest
    /// of each short step. The times are the ends of the steps.
    #[serde(default)]
    pub fine_series: Series,
    /// Valid completions per second, of all operations (`throughput`) and of the headline's (`throughput.NAME`), ten times a
    /// second over the whole round; in longer rows where the round is longer than two minutes. The interval of a single
    /// round rests on them. Empty in files from before they were kept.
    #[serde(default)]
    pub throughput_series: Series,
    /// How many responses took how long, by time, over the whole round and all operations. None in files from before it was
    /// kept, and of several drivers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_map: Option<ResponseMap>,
    /// How warm-up and interval ended, where a rule could end them sooner than planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
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
    pub io: Vec<FileActivity>,
    /// Who counted `io`, such as a server's own status variables; empty where the engine is in our process and its files
    /// were counted there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub io_source: String,
    /// What the process of a server used in the measurement interval that the engine is in, where it can be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerUse>,
    /// Seconds by which what was used was read too late at the two ends of the interval, together, where that is too much for
    /// the cost of an operation to be told; none where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_late_s: Option<f64>,
    /// The processes whose CPU time and bytes are known: what a cost covers. None in files of older versions, where it follows
    /// from `server` and `interference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_covers: Option<CostCovers>,
    /// Processors that were not ours in the measurement interval; none where the system does not say, or the interval was
    /// too short to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference: Option<Interference>,
    /// Age of the emulated market when the measurement interval began, in seconds: how long limit orders have been placed.
    /// Until 900 s it owes fewer Trade-Results than it is given orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub market_age_s: Option<f64>,
    /// What the engine or its server counted by itself in the measurement interval, by its own names; what did not change is
    /// left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<EngineCounter>,
    /// What threads of the engine's own used in our process, such as a garbage collector's; empty where it has none, or
    /// cannot say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engine_threads: Vec<EngineThreads>,
    /// Conflicts that the engine told sessions of in the whole round, warm-up and drain included, by its name for them. Those
    /// that were tried again are among them. Empty where the engine does not tell them apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictCount>,
    /// The 90th percentile of a fixed CPU loop right after the round, as a multiple of its best time in the run; none in files
    /// from before it was timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// Where the time of the users' threads went in the measurement interval; none in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_split: Option<TimeSplit>,
    /// What followed at a part of the rate, so that response times are those of customers who do not wait for one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Box<LatencyPhase>>,
    /// Further figures of the round, such as trades that came with the database, and how it was found.
    pub facts: Vec<NameValue>,
    /// The round on an application server that this is a driver's part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedRound>,
    /// Checks of the figures, and of the database after the round.
    pub checks: Vec<Check>,
    /// Warnings about this round.
    pub warnings: Vec<Warning>,
}

/// What an engine counted by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EngineCounter {
    /// The engine's name for it.
    pub name: String,
    /// How many.
    pub count: u64,
}

/// Threads of an engine's own that do the same work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineThreads {
    /// Their work.
    pub work: String,
    /// Their processor seconds in the measurement interval: a part of our process's.
    pub cpu_s: f64,
    /// Their part of our process's processor time in the warm-up, from 0 to 1; none without a warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_share: Option<f64>,
}

/// Conflicts of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictCount {
    /// The engine's name for it.
    pub name: String,
    /// How many.
    pub count: u64,
}

impl Round {
    /// Takes the headline away, with the reason; what was counted and timed stays. The first reason stands.
    pub fn make_void(&mut self, why: impl Into<String>) {
        self.headline = f64::NAN;
        self.void.get_or_insert(why.into());
    }

    /// Part of the measurement interval by which its ends may be noted too late, together, for the cost of an operation to be
    /// told: it is the error that the cost may have.
    pub const LATE_PART: f64 = 0.1;

    /// Processor seconds in the measurement interval, a server's included; `None` where the server cannot be looked at, or what
    /// was used was read too late.
    pub fn cpu_s(&self) -> Option<f64> {
        let of_server = self.server_cpu_s().unwrap_or(0.0);
        self.is_whole().then_some(self.own_cpu_s() + of_server)
    }

    /// Processor seconds of our process in the measurement interval: the client's, and the engine's if it works in it.
    pub fn own_cpu_s(&self) -> f64 {
        self.cpu_user_s + self.cpu_system_s
    }

    /// Processor seconds of the server's process in the measurement interval; `None` where there is none, or it cannot be looked at.
    pub fn server_cpu_s(&self) -> Option<f64> {
        self.server.map(|server| server.cpu_user_s + server.cpu_system_s)
    }

    /// Bytes written to storage in the measurement interval, as the processor time.
    pub fn all_written_bytes(&self) -> Option<f64> {
        let of_server = self.server.map_or(0, |server| server.written_bytes);
        self.is_whole().then_some(self.written_bytes.saturating_add(of_server) as f64)
    }

    /// Bytes that a server has written to its files in the measurement interval, by its own count; `None` where it has none.
    pub fn server_counted_bytes(&self) -> Option<f64> {
        let counted = !self.io_source.is_empty() && !self.io.is_empty();
        counted.then(|| self.io.iter().map(|files| files.written_bytes as f64).sum())
    }

    /// The processes whose CPU time and bytes are known.
    pub fn cost_covers(&self) -> CostCovers {
        match self.cost_covers {
            Some(covers) => covers,
            None if self.server.is_some() => CostCovers::ClientAndServer,
            None if self.interference.is_some_and(|it| it.includes_server) => CostCovers::Client,
            None => CostCovers::Process,
        }
    }

    /// Whether our process and the server's whose use is known did all the work, and their use was read in time.
    fn is_whole(&self) -> bool {
        self.usage_late_s.is_none() && self.cost_covers() != CostCovers::Client
    }

    /// Whether others disturbed the round: they took more than [`Interference::NOTICED`], or a fixed CPU loop took more than
    /// [`SLOWED`](Self::SLOWED) times its best time.
    pub fn is_disturbed(&self) -> bool {
        self.taken() > Interference::NOTICED || self.slowdown.is_some_and(|slowdown| slowdown > Self::SLOWED)
    }

    /// CPUs that others took for certain, on average; 0 where the system does not say.
    pub fn taken(&self) -> f64 {
        self.interference.map_or(0.0, Interference::from_us)
    }

    /// From here on a fixed CPU loop is disturbed: it took half as long again. Frequencies that change make a fifth.
    pub const SLOWED: f64 = 1.5;

    /// The round, and what followed at a part of its rate.
    pub fn with_latency(&self) -> impl Iterator<Item = &Round> {
        std::iter::once(self).chain(self.latency.iter().map(|phase| &phase.round))
    }

    /// The operation of that name.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.name == name)
    }

    /// Valid completions that the headline counts.
    pub fn headline_valid(&self, workload: &Workload) -> u64 {
        self.operations.iter().filter(|it| workload.is_headline(&it.name)).map(Operation::valid).sum()
    }

    /// How many of an operation were due and never started. Which one it would have been nobody has drawn, so each that the
    /// schedule makes due has the share that it had of those that were started or dropped, rounded up; all of it where none
    /// was.
    pub fn unstarted_of(&self, name: &str) -> u64 {
        let unstarted = self.arrivals.map_or(0, |arrivals| arrivals.unstarted);
        // Older files do not say what a schedule makes due.
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

/// A phase after a round, on the same database, at a part of the round's rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyPhase {
    /// The part of the round's rate that was asked for: 0.7.
    pub part: f64,
    /// Customers' transactions a second that were asked for.
    pub per_second: f64,
    /// What was measured, with its own phases, reconciliation and checks; its warm-up is at that rate too.
    pub round: Round,
}

impl LatencyPhase {
    /// Share of what was due that has to be started, so that its response times are those of that rate.
    pub const STARTED: f64 = 0.99;

    /// Whether as much was started as has to be.
    pub fn kept_pace(&self) -> bool {
        self.round.arrivals.is_some_and(|it| it.due > 0 && it.started as f64 >= Self::STARTED * it.due as f64)
    }
}

/// Rule that ends warm-up and measurement interval by what is measured; the planned lengths are then the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoppingRule {
    /// The warm-up ends when its rate shows no trend; the interval has its planned length. In files of older versions a look at
    /// the rate may have ended the interval too.
    #[serde(rename = "rate_known")]
    RateLevel,
    /// Both end when it can be told whether they are in steady state.
    SteadinessTold,
}

/// How warm-up and interval ended, where a rule could end them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stopping {
    /// The rule.
    pub rule: StoppingRule,
    /// Whether the rule ended the warm-up; else it had its longest length.
    pub warmed_up: bool,
    /// How often the interval was looked at.
    pub looks: u32,
    /// Whether the rule ended the interval; else it had its longest length.
    pub reached: bool,
}

/// Counts of the operations that a schedule made due in the measurement interval, by outcome.
///
/// `due` = `started` + `dropped` + `unstarted`. One that was started may have ended after the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Arrivals {
    /// Due in the interval.
    pub due: u64,
    /// Number of those that were started.
    pub started: u64,
    /// Of them, never started, because as many as the backlog holds were waiting.
    pub dropped: u64,
    /// Of them, still waiting when the interval ended.
    pub unstarted: u64,
    /// Limit of waiting operations, over all users.
    pub backlog_limit: u64,
    /// The most that one user had waiting.
    pub backlog_longest: u64,
    /// The longest that one had waited when the interval ended which was never started, in nanoseconds; 0 in files from before
    /// this was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unstarted_ns_longest: u64,
    /// Operations due before the interval that were started in it: the headline counts those that ended validly in it. 0 in
    /// files from before this was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub started_of_warm_up: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
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

/// The processes whose CPU time and bytes a cost has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostCovers {
    /// This one, which the engine works in.
    Process,
    /// This one and the server's.
    ClientAndServer,
    /// This one alone: the server's cannot be looked at.
    Client,
}

impl CostCovers {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::ClientAndServer => "client_and_server",
            Self::Client => "client",
        }
    }
}

/// What others took of the machine in the measurement interval: processors kept busy, on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interference {
    /// By processes other than ours and, where it can be looked at, the server's.
    pub by_others: f64,
    /// By the kernel, in interrupts and threads of its own. Much of it is for whoever writes and waits for syncs, which may
    /// be us, so that alone it is no disturbance; where its threads are hidden, they count as others.
    pub by_kernel: f64,
    /// By the host of a virtual machine, for other machines.
    pub by_host: f64,
    /// Whether a server under test may be among the other processes, since its own process cannot be looked at. Then what
    /// others took is no disturbance for certain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub includes_server: bool,
}

impl Interference {
    /// From here on it is told of: a tenth of a processor shows in the tail of the response times.
    pub const NOTICED: f64 = 0.1;

    /// Processors taken by others for certain: other processes and the host.
    pub fn from_us(self) -> f64 {
        if self.includes_server { self.by_host } else { self.by_others + self.by_host }
    }
}

/// Files of a database that are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// The database's own files.
    Database,
    /// Write-ahead log or redo log.
    Log,
    /// Rollback journal.
    Journal,
    /// Files for sorting and the like.
    Temporary,
    /// Data and log files that are counted together and cannot be told apart.
    DataAndLog,
}

impl FileKind {
    /// The words for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Log => "log",
            Self::Journal => "journal",
            Self::Temporary => "temporary",
            Self::DataAndLog => "data and log files",
        }
    }
}

/// What was asked of the file system for one kind of file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileActivity {
    /// Kind of the files.
    pub kind: FileKind,
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
    /// Number of the driver, from 1; 0 where all drivers are merged.
    pub number: u32,
    /// Number of drivers.
    pub of: u32,
    /// Drivers that vanished before the end; their figures are lost.
    pub vanished: Vec<u32>,
}

/// A stretch of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Kind of the phase.
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
    /// The condition, as a sentence.
    pub condition: String,
    /// Where that is demanded: a clause, or our own invariant.
    pub source: String,
    /// Status of the check.
    pub status: CheckStatus,
    /// What was found: counts, offending rows.
    pub evidence: String,
    /// Time that the check took, in seconds.
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

/// Status of a check.
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
