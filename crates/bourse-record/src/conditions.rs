//! Conditions that a case was measured under, as values: rules, comparisons and filters of reports rest on them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::Workload;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Conditions of a case, in addition to its workload's parameters. Fields that are unknown or meaningless for the
/// workload are absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Conditions {
    /// Number of clients, each with a session of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u64>,
    /// Number of sessions in addition to the clients'.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub further_users: Option<u64>,
    /// Users of each process, if several processes have the database open; empty if all users are in one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<UsersOfProcess>,
    /// Size of the database when it was loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Rate of the schedule in the headline's unit; `None` in closed loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_rate: Option<f64>,
    /// Rate, in the headline's unit, of the aged market that each round began with; `None` if the market opened with
    /// the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub market_aged_at: Option<f64>,
    /// Whether each user has an arrival stream of its own, or all share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrival_streams: Option<ArrivalStreams>,
    /// Isolation level by operation, for operations that demand one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub isolation: Vec<OperationIsolation>,
    /// The driver's own queue in front of operations; `None` if there is none, or if a schedule makes all operations
    /// due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_queue: Option<DriverQueue>,
    /// Whether the workload's tunable inputs have the values of its specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tunables: Option<Tunables>,
    /// Description of the constraints that the database has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
    /// Source of the names and texts that the generator draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_data: Option<String>,
    /// Storage of the database's files; `None` without files on this machine, or if the system does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// Raw syncs to the folder of the database's files, timed before the run; `None` if no commit waits for a sync.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_syncs: Option<RawSyncs>,
    /// Free space for the database when the run began, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// Page cache that each round begins with; `None` leaves it as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCache>,
    /// Limit of the memory of a round's processes, their page cache included, in bytes; `None` is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
}

crate::named! {
    /// Pages of the database's files in the system's page cache as a round begins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum PageCache {
        /// None: they were dropped.
        Cold = "cold",
        /// All that fit: they were read.
        Warm = "warm",
    }
}

/// Users of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsersOfProcess {
    /// Number of clients in the process.
    pub users: u64,
    /// Number of sessions in addition to the clients'.
    pub further_users: u64,
}

crate::named! {
    /// Assignment of scheduled arrivals to users.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum ArrivalStreams {
        /// Each user has its own arrivals: those of a busy user wait even if another is free.
        PerUser = "each user waits for its own arrivals",
        /// All users share one stream: the next free user takes the next arrival.
        Shared = "one stream, taken by whichever user is free",
    }
}

/// Size of a scaled database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scale {
    /// Configured customers.
    pub customers: u64,
    /// Customers for each unit of the nominal throughput.
    pub scale_factor: u64,
    /// Business days of trades in the database when it was loaded.
    pub initial_days: u64,
}

/// Storage that a database's files are on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// Type of the file system, as `ext4`.
    pub file_system: String,
    /// Mount options, including those of the file system.
    pub mount_options: String,
    /// Block device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Whether the device has a volatile write cache, according to the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volatile_write_cache: Option<bool>,
    /// Whether a single write can bypass the device's cache (forced unit access).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fua: Option<bool>,
    /// Kind of medium.
    pub medium: Medium,
}

/// Medium that holds the bytes of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// A block device.
    Device,
    /// This machine's memory.
    Memory,
    /// A server reached over the network.
    Network,
    /// A program (FUSE), or a folder of the host.
    Program,
    /// Unknown, such as the medium below an overlay.
    Unknown,
}

/// Times of raw syncs: one page of a file, written and synced repeatedly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawSyncs {
    /// Number of syncs.
    pub count: u64,
    /// Median in nanoseconds.
    pub p50_ns: u64,
    /// 90th percentile in nanoseconds.
    pub p90_ns: u64,
}

impl RawSyncs {
    /// Summary of measured sync times; `None` if there are none.
    pub fn of(mut times_ns: Vec<u64>) -> Option<Self> {
        times_ns.sort_unstable();
        let at = |percent: usize| {
            let rank = times_ns.len().saturating_mul(percent).div_ceil(100).saturating_sub(1);
            times_ns.get(rank).copied()
        };
        Some(Self { count: times_ns.len() as u64, p50_ns: at(50)?, p90_ns: at(90)? })
    }

    /// Kind of storage that the median indicates.
    ///
    /// ```
    /// use bourse_record::{RawSyncs, SyncMeaning};
    /// let syncs = RawSyncs::of(vec![900_000, 1_100_000, 1_000_000, 5_000_000]).unwrap();
    /// assert_eq!((syncs.p50_ns, syncs.p90_ns), (1_000_000, 5_000_000));
    /// assert_eq!(syncs.meaning(), SyncMeaning::Flash);
    /// ```
    pub const fn meaning(&self) -> SyncMeaning {
        match self.p50_ns {
            0..10_000 => SyncMeaning::NothingWritten,
            10_000..300_000 => SyncMeaning::Cache,
            300_000..4_000_000 => SyncMeaning::Flash,
            _ => SyncMeaning::Disk,
        }
    }
}

/// Kind of storage that probably acknowledged a sync, judged by its duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMeaning {
    /// Shorter than any device's answer: nothing was written.
    NothingWritten,
    /// Shorter than a write to flash memory: a cache acknowledged it.
    Cache,
    /// Typical of flash memory.
    Flash,
    /// Typical of a rotating disk or a network.
    Disk,
}

impl Conditions {
    /// The driver's own queue, if the operation's response times include the wait in it.
    pub fn queue_of(&self, operation: &str) -> Option<&DriverQueue> {
        self.driver_queue.as_ref().filter(|queue| queue.operations.iter().any(|name| name == operation))
    }

    /// The driver's own queue, if the headline operation's response times include the wait in it.
    pub fn queue_of_headline(&self, workload: &Workload) -> Option<&DriverQueue> {
        self.queue_of(workload.headline_operation.as_deref()?)
    }
}

/// A queue of the driver; a user that adds to it pauses while it is full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriverQueue {
    /// Maximum number of waiting requests.
    pub room: u64,
    /// Operations whose response times include the wait in the queue.
    pub operations: Vec<String>,
}

/// Isolation level of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationIsolation {
    /// Name of the operation.
    pub operation: String,
    /// Lowest level that the workload's specification permits.
    pub demanded: IsolationLevel,
    /// Level that the engine provided.
    pub provided: IsolationLevel,
}

crate::named! {
    /// Isolation levels of SQL, from weakest to strongest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum IsolationLevel {
        /// Dirty reads are possible.
        ReadUncommitted = "read uncommitted",
        /// No dirty reads.
        ReadCommitted = "read committed",
        /// Repeatable read: a row that was read does not change.
        RepeatableRead = "repeatable read",
        /// One consistent state is read throughout; write skew is possible.
        Snapshot = "snapshot",
        /// Serializable: as if transactions ran one after the other.
        Serializable = "serializable",
    }
}

crate::named! {
    /// Source of a workload's tunable inputs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Tunables {
        /// The specification's values.
        Specification = "the specification's",
        /// Changed values.
        Changed = "changed",
    }
}
