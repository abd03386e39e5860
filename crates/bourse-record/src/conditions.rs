//! What a case was run under, as values: every rule, comparison and filter of a report asks these and no sentence.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::Workload;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conditions of a case, beside the parameters of its workload. What is not known, or means nothing for the workload, is
/// absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Conditions {
    /// Clients at work, each on a session of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u64>,
    /// Sessions at work beside those of the clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub further_users: Option<u64>,
    /// Processes that those users are shared out over, each with the database open; empty where all are in one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<UsersOfProcess>,
    /// Size of the database as it was loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Rate that a schedule asked for, in the unit of the headline; none in closed loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_rate: Option<f64>,
    /// Rate of the market whose pending orders each round began with, in the unit of the headline; none where the market
    /// opened with the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub market_aged_at: Option<f64>,
    /// Whether each user waits for arrivals of its own at that rate, or all share one stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrival_streams: Option<ArrivalStreams>,
    /// Isolation level by operation, as far as levels are demanded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub isolation: Vec<OperationIsolation>,
    /// The driver's own queue that operations wait in; none where there is none, or a schedule makes all operations due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_queue: Option<DriverQueue>,
    /// Whether the workload's tunable inputs are those of its specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tunables: Option<Tunables>,
    /// Which constraints the database has, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
    /// What the generator draws names and texts from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_data: Option<String>,
    /// What the database's files lie on; none where there are no files of this machine, or the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// Raw syncs to the folder of the database's files, timed before the run; none where no commit waits for a sync.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_syncs: Option<RawSyncs>,
    /// Room for the database to grow when the run began, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

/// Users of one process of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsersOfProcess {
    /// Its clients.
    pub users: u64,
    /// Its sessions beside those of the clients.
    pub further_users: u64,
}

/// Who waits for what a schedule makes due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalStreams {
    /// Each user has arrivals of its own: what waits for a busy one waits though another is free.
    PerUser,
    /// All users share one stream: whichever is free takes the next.
    Shared,
}

impl ArrivalStreams {
    /// The words for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PerUser => "each user waits for its own arrivals",
            Self::Shared => "one stream, taken by whichever user is free",
        }
    }
}

/// How large a scaled database was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scale {
    /// Configured customers.
    pub customers: u64,
    /// Customers for each unit of the nominal throughput.
    pub scale_factor: u64,
    /// Business days of trades that the database began with.
    pub initial_days: u64,
}

/// What a database's files lie on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// File system, as `ext4`.
    pub file_system: String,
    /// Mount options, those of the file system among them.
    pub mount_options: String,
    /// Block device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Whether the device has a volatile write cache, as the kernel sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volatile_write_cache: Option<bool>,
    /// Whether a single write can pass the device's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fua: Option<bool>,
    /// What keeps the bytes.
    pub medium: Medium,
}

/// What keeps the bytes of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// A block device.
    Device,
    /// This machine's memory.
    Memory,
    /// Another machine.
    Network,
    /// A program (FUSE), or a host's folder.
    Program,
    /// Not known, such as what lies below an overlay.
    Unknown,
}

/// Times of raw syncs: one page of a file written and synced, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawSyncs {
    /// Number of syncs.
    pub count: u64,
    /// The median, in nanoseconds.
    pub p50_ns: u64,
    /// The 90th percentile, in nanoseconds.
    pub p90_ns: u64,
}

impl RawSyncs {
    /// Times of syncs, as they were measured; none of none.
    pub fn of(mut times_ns: Vec<u64>) -> Option<Self> {
        times_ns.sort_unstable();
        let at = |percent: usize| {
            let rank = times_ns.len().saturating_mul(percent).div_ceil(100).saturating_sub(1);
            times_ns.get(rank).copied()
        };
        Some(Self { count: times_ns.len() as u64, p50_ns: at(50)?, p90_ns: at(90)? })
    }

    /// What the times mean.
    pub const fn meaning(&self) -> SyncMeaning {
        match self.p50_ns {
            0..10_000 => SyncMeaning::NothingWritten,
            10_000..300_000 => SyncMeaning::Cache,
            300_000..4_000_000 => SyncMeaning::Flash,
            _ => SyncMeaning::Disk,
        }
    }
}

/// What the time of a sync tells about what acknowledged it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMeaning {
    /// Shorter than any device's answer.
    NothingWritten,
    /// Shorter than flash memory takes to be written: a cache answered.
    Cache,
    /// As flash memory takes.
    Flash,
    /// As a turning disk takes, or a network.
    Disk,
}

impl Conditions {
    /// The driver's own queue, if the response times of an operation include it.
    pub fn queue_of(&self, operation: &str) -> Option<&DriverQueue> {
        self.driver_queue.as_ref().filter(|queue| queue.operations.iter().any(|name| name == operation))
    }

    /// The driver's own queue, if the response times of the headline's operation include it.
    pub fn queue_of_headline(&self, workload: &Workload) -> Option<&DriverQueue> {
        self.queue_of(workload.headline_operation.as_deref()?)
    }
}

/// A queue of the driver's own: whoever fills it pauses while it is full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriverQueue {
    /// Requests that may wait.
    pub room: u64,
    /// Operations that wait in it: their response times include it.
    pub operations: Vec<String>,
}

/// The isolation level of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationIsolation {
    /// Name of the operation.
    pub operation: String,
    /// What the workload's specification demands at least.
    pub demanded: IsolationLevel,
    /// Level that the engine provided.
    pub provided: IsolationLevel,
}

/// Isolation levels of SQL; of two the greater prevents more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IsolationLevel {
    /// Dirty reads are possible.
    ReadUncommitted,
    /// No dirty reads.
    ReadCommitted,
    /// Repeatable read: a row that was read does not change.
    RepeatableRead,
    /// One consistent state is read throughout; write skew is possible.
    Snapshot,
    /// Serializable: as if transactions ran one after the other.
    Serializable,
}

impl IsolationLevel {
    /// The words for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "read uncommitted",
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Snapshot => "snapshot",
            Self::Serializable => "serializable",
        }
    }
}

/// Tunable inputs of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tunables {
    /// The specification's values.
    Specification,
    /// Changed values.
    Changed,
}

impl Tunables {
    /// The words for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Specification => "the specification's",
            Self::Changed => "changed",
        }
    }
}
