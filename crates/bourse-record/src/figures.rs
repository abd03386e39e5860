//! The figures of one operation: outcomes counted, latency distributions.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One operation's figures over the measurement interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// Name, as `Trade-Result`.
    pub name: String,
    /// Counts by outcome and status code, the most frequent first.
    pub outcomes: Vec<OutcomeCount>,
    /// Retries after lock conflicts, in total.
    pub retries: u64,
    /// Waits for a server's answer, in total. 0 without a server.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round_trips: u64,
    /// Completed operations that exceeded the limit.
    pub late: u64,
    /// Number of timed samples. Lower than the number of operations if short ones were timed in batches: quantiles are
    /// then those of the batches' means.
    #[serde(default)]
    pub samples: u64,
    /// Operations that ended and were counted without a time: of operations too short to time individually, one in
    /// several is timed alone. 0 if all were timed, alone or in batches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untimed: u64,
    /// Harness overhead of an operation in nanoseconds, measured with the same operations on the null engine. Present
    /// for operations that are short enough for it to matter.
    #[serde(default)]
    pub harness_overhead_ns: Option<f64>,
    /// Required share of the mix in percent, if the workload declares one.
    pub mix_target_percent: Option<f64>,
    /// Expected share of the mix in this round in percent, if it differs between rounds: a market that has just opened
    /// owes fewer Trade-Results than one in which as many limit orders come due as are placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix_expected_percent: Option<f64>,
    /// Permitted deviation of the share in percentage points, if the workload declares one.
    pub mix_tolerance_points: Option<f64>,
    /// Limit of the 90th percentile of response times in nanoseconds, if the workload declares one.
    pub limit_ns: Option<u64>,
    /// Whether a schedule makes the operation due; only such operations share the number of those due and never
    /// started. False in closed loops.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_schedule: bool,
    /// Response times, from due to end: the wait of a customer. Operations under way at the end of the interval are
    /// included.
    pub response: Distribution,
    /// Service times, from start to end: the engine and its locks.
    pub service: Distribution,
    /// Times of the failed operations, which `response` and `service` include; `None` if none failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Times>,
    /// Operations due before the end of the measurement interval that had not ended by then. No count and no rate
    /// includes them; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_way: Option<UnderWay>,
    /// Response and service times of each outcome that occurred.
    #[serde(default)]
    pub by_outcome: Vec<OutcomeLatency>,
    /// Components of the response time behind an application server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerFigures>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Components of the response time of operations behind an application server, over all outcomes but dropped.
///
/// Response time is the wait before the start, plus network and server; the server's time includes the engine's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerFigures {
    /// Server time: from the request's arrival to the reply's departure.
    pub server: Distribution,
    /// Engine time: in the transaction itself, with its locks and without back-offs.
    pub engine: Distribution,
    /// Network time: from start to end as the driver measures it, less the server time; encoding and the way in both
    /// directions.
    pub network: Distribution,
}

/// Response and service times of some operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Response times, from due to end.
    pub response: Distribution,
    /// Service times, from start to end.
    pub service: Distribution,
}

/// Operations that were due before the end of the measurement interval and had not ended by then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnderWay {
    /// Number of operations.
    pub count: u64,
    /// Number of them that failed.
    pub failed: u64,
    /// Longest time in nanoseconds, from due to the end or to the moment at which the driver stopped waiting.
    pub longest_ns: u64,
    /// Ages, since due, of operations with an unknown end, such as interrupted calls: lower bounds of their times. The
    /// times of the other operations under way are part of the operation's distributions.
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
    /// Complete distributions of both, so that several processes or drivers can be merged. `None` if another field
    /// holds them (failed operations; an operation with a single outcome).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
}

/// Outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Completed as expected.
    Completed,
    /// Completed with a warning that the workload defines, as «no trade found».
    Warned,
    /// Rolled back as the specification intends.
    RolledBack,
    /// Found less data than a full-sized database would hold; no failure.
    TooFewRows,
    /// Failed.
    Failed,
    /// Never started, because the backlog was full.
    Dropped,
}

impl Outcome {
    /// Outcomes that take time: all but [`Dropped`](Self::Dropped).
    pub const MEASURED: [Self; 5] = [Self::Completed, Self::Warned, Self::RolledBack, Self::TooFewRows, Self::Failed];

    /// Outcomes of workloads that declare no others.
    pub const PLAIN: [Self; 2] = [Self::Completed, Self::Failed];

    /// Index in [`MEASURED`](Self::MEASURED); `None` if dropped.
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
    /// Status code of the workload; 0 if there is none.
    pub code: i32,
    /// Number of operations.
    pub count: u64,
    /// Meaning of the status code, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    /// Example of an error message, for failures.
    pub example: Option<String>,
}

/// A latency distribution over all outcomes but dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Quantiles, mean and extremes, in nanoseconds.
    pub summary: LatencySummary,
    /// Complete histogram: HdrHistogram V2 serialization in Base64, three significant figures, nanoseconds.
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
