//! The figures of one operation: outcomes counted, latency distributions.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One operation's figures over the measurement interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// Name, as `Trade-Result`.
    pub name: String,
    /// How many ended, by outcome, the commonest first; outcomes with a status code apart from one another.
    pub outcomes: Vec<OutcomeCount>,
    /// Retries after lock conflicts, over all.
    pub retries: u64,
    /// How often they waited for a server's answer, over all. 0 without a server, and in files from before it was counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round_trips: u64,
    /// Completed, but later than the limit.
    pub late: u64,
    /// How often the clock was read for them: fewer times than there were operations where short ones were timed in
    /// batches. Then quantiles are those of the batches' means. 0 in files from before this was counted.
    #[serde(default)]
    pub samples: u64,
    /// How many of those that ended were only counted: of operations too short to be timed one by one, one in so many was
    /// timed, alone. 0 where all were timed, alone or in batches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untimed: u64,
    /// What the harness itself takes of an operation's time, in nanoseconds: the same operations on the null engine. Given
    /// for operations short enough that it matters.
    #[serde(default)]
    pub harness_overhead_ns: Option<f64>,
    /// Share of the mix it should have, in percent, if the workload says.
    pub mix_target_percent: Option<f64>,
    /// Share of the mix that it should have in this round, in percent, where that differs from round to round: a market that
    /// has just opened owes fewer Trade-Results than one in which as many limit orders come due as are placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix_expected_percent: Option<f64>,
    /// How far the share may be off, in percentage points, if the workload says.
    pub mix_tolerance_points: Option<f64>,
    /// 90 % must be answered within this many nanoseconds, if the workload says.
    pub limit_ns: Option<u64>,
    /// Whether a schedule makes it due: what was due and never started is shared out over these. False in closed loops, and in
    /// files from before this was kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_schedule: bool,
    /// From when it was due to its end: what a customer waits. Those under way at the end of the interval are among them.
    pub response: Distribution,
    /// From its start to its end: what the engine and its locks take.
    pub service: Distribution,
    /// The times of those that failed, which are among the two above; none if none failed, and in files from before they were
    /// kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Times>,
    /// Those that were due before the end of the measurement interval and had not ended by then. They are in no count and no
    /// rate; none if there were none, and in files from before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_way: Option<UnderWay>,
    /// The same by outcome, for those outcomes that occurred.
    #[serde(default)]
    pub by_outcome: Vec<OutcomeLatency>,
    /// Where the time went, for operations performed behind an application server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerFigures>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
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

/// Response and service times of some operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// From when they were due to their end.
    pub response: Distribution,
    /// From their start to their end.
    pub service: Distribution,
}

/// Operations that were due before the end of the measurement interval and had not ended by then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnderWay {
    /// Number of operations.
    pub count: u64,
    /// How many of them failed.
    pub failed: u64,
    /// The longest of them in nanoseconds: from when it was due to its end, or to when nobody waited for it any more.
    pub longest_ns: u64,
    /// Times from due on of those whose end nobody knows, as of calls that were interrupted: they took at least as long. The
    /// times of all others are among the operation's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unended: Option<Distribution>,
}

/// Response and service times of one outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeLatency {
    /// The outcome.
    pub outcome: Outcome,
    /// Response times.
    pub response: LatencySummary,
    /// Service times.
    pub service: LatencySummary,
    /// The whole of both, so that those of several processes or drivers can be merged; none where they stand elsewhere: of the
    /// failed ones, or of an operation that had no other outcome. None in files from before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
}

/// Outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Completed as expected.
    Completed,
    /// Completed with a warning of the workload's own, as «no trade found».
    Warned,
    /// Rolled back as designed.
    RolledBack,
    /// Found less than a full-sized database would hold; explained by the database's size, and not a failure.
    TooFewRows,
    /// Failed.
    Failed,
    /// Never started, because the backlog was full.
    Dropped,
}

impl Outcome {
    /// All that take time: every one but [`Dropped`](Self::Dropped).
    pub const MEASURED: [Self; 5] = [Self::Completed, Self::Warned, Self::RolledBack, Self::TooFewRows, Self::Failed];

    /// What operations of any workload may come to where nothing else is declared.
    pub const PLAIN: [Self; 2] = [Self::Completed, Self::Failed];

    /// Its place among [`MEASURED`](Self::MEASURED); none if dropped.
    pub const fn measured(self) -> Option<usize> {
        match self {
            Self::Dropped => None,
            measured => Some(measured as usize),
        }
    }
}

/// Count of one outcome and status code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeCount {
    /// The outcome.
    pub outcome: Outcome,
    /// The workload's status code, where it has one and it is not 0.
    pub code: i32,
    /// Number of operations.
    pub count: u64,
    /// What the status code means, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
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
