//! Histories: the transactions of a workload with the times and results of their operations.

use serde::{Deserialize, Serialize};

/// The transactions of one run of a workload, in any order.
///
/// At the start each register that exists has version 0 and each counter is 0. A list has no row before its first append:
/// it is read as empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct History {
    /// Name of the workload.
    pub name: String,
    /// Transactions of all sessions. Those of one session do not overlap in time.
    pub transactions: Vec<Transaction>,
}

/// Number of the session that reads the final state, in one transaction, when all other sessions have ended.
pub const FINAL_SESSION: u32 = 1 << 30;

/// One transaction. Times are nanoseconds on one clock that all sessions share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Number of the session that ran it.
    pub session: u32,
    /// Time before its first statement was sent.
    pub begin_ns: u64,
    /// Time after the answer to its commit or rollback; of an unknown outcome, time at which the session gave up.
    pub end_ns: u64,
    /// Outcome, as the client knows it.
    pub outcome: TransactionOutcome,
    /// Operations that were answered, in the order of the client's calls; for an unknown outcome also writes without an answer.
    pub operations: Vec<Operation>,
}

/// Outcome of a transaction, as the client knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransactionOutcome {
    /// The commit was acknowledged.
    Committed,
    /// The transaction was rolled back, or its commit refused: it had no effect.
    RolledBack,
    /// The connection was lost or the engine killed before the answer: it may have committed or not.
    Unknown,
}

/// One operation of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Time before its statement was sent, in nanoseconds.
    pub begin_ns: u64,
    /// Time after its answer, in nanoseconds.
    pub end_ns: u64,
    /// Effect and result.
    pub action: Action,
}

/// An operation's effect and result. Keys of registers, lists and counters are three name spaces: key 1 of one is not key 1 of another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Read of a register.
    Read {
        /// Key of the row.
        key: u64,
        /// Version read; `None`: no such row.
        version: Option<u64>,
    },
    /// Insert or update of a register.
    Write {
        /// Key of the row.
        key: u64,
        /// Version written: above 0, and unique in the history.
        version: u64,
    },
    /// Removal of a row that was there.
    Delete {
        /// Key of the row.
        key: u64,
    },
    /// Append to a list.
    Append {
        /// Key of the list.
        key: u64,
        /// Element, unique for its key.
        element: u64,
    },
    /// Read of a list.
    ReadList {
        /// Key of the list.
        key: u64,
        /// Elements in the order stored.
        elements: Vec<u64>,
    },
    /// Read of all rows of registers whose keys are in a range.
    ReadRange {
        /// Lowest key.
        from: u64,
        /// Highest key, inclusive.
        to: u64,
        /// Key and version of each row found; the other keys of the range have no row.
        rows: Vec<(u64, u64)>,
    },
    /// Increment of a counter by 1.
    Count {
        /// Key of the counter.
        key: u64,
        /// Value after the increment, as the same transaction read it.
        value: u64,
    },
}
