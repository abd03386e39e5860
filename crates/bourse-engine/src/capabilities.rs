//! Capabilities of an engine, known from its target without opening the database.

use crate::Isolation;

/// Capabilities of an engine: known before a run, so that a workload that needs more is refused before anything is
/// opened.
///
/// ```
/// use bourse_engine::{Engine, NullEngine};
/// let capabilities = NullEngine.capabilities();
/// assert!(capabilities.sql.is_none(), "a workload whose statements must have an effect is refused");
/// assert!(capabilities.records.is_some_and(|records| records.ordered_scans), "scans by key are accepted");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// SQL; `None` for an engine that finds records by key alone, and for one that runs statements without effect.
    pub sql: Option<SqlCapabilities>,
    /// Whether several writers can work concurrently.
    pub concurrent_writers: bool,
    /// Whether writers can commit during a reader's open transaction, and the reader's view stays unchanged.
    pub snapshots: bool,
    /// Whether the engine has a log that [`Session::checkpoint`](crate::Session::checkpoint) moves into the database.
    pub checkpoints: bool,
    /// Whether no more than one session can be open at a time.
    pub one_session: bool,
    /// Whether several processes may have the database open, each by opening the same target.
    pub processes: bool,
    /// Records by key: the engine's own, or for SQL engines over its statements; `None` if neither.
    pub records: Option<RecordCapabilities>,
    /// Isolation that it promises a transaction of each level, from read committed to serializable.
    pub guarantees: [Guarantee; 3],
}

crate::named! {
    /// Isolation that an engine promises, by the weakest model that its documentation commits it to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Guarantee {
        /// No dirty writes, and no more.
        ReadUncommitted = "read uncommitted",
        /// No dirty writes, and no reads of what is rolled back or changed again later.
        ReadCommitted = "read committed",
        /// Reads of a snapshot, with changes of the newest rows: committed data alone, but two moments of it.
        ConsistentReads = "consistent reads",
        /// Equivalence to some serial order, except for rows that appear in ranges read.
        RepeatableRead = "repeatable read",
        /// Reads and writes of a snapshot; of two transactions that change a row one fails.
        Snapshot = "snapshot",
        /// Equivalence to some serial order.
        Serializable = "serializable",
    }
}

impl Guarantee {
    /// Promises of an engine whose transactions are serializable at every level.
    pub const ALWAYS_SERIALIZABLE: [Self; 3] = [Self::Serializable; 3];
    /// Promises of an engine whose transactions see a snapshot at every level.
    pub const ALWAYS_SNAPSHOT: [Self; 3] = [Self::Snapshot; 3];
    /// Promises of an engine with three levels, the second a snapshot.
    pub const BY_LEVEL: [Self; 3] = [Self::ReadCommitted, Self::Snapshot, Self::Serializable];
    /// Promises of an engine that has no more than a snapshot.
    pub const UP_TO_SNAPSHOT: [Self; 3] = [Self::ReadCommitted, Self::Snapshot, Self::Snapshot];
}

impl Capabilities {
    /// Capabilities of a key engine with ordered keys, one writer at a time, and readers that see snapshots.
    pub const OF_KEYS: Self = Self {
        sql: None,
        concurrent_writers: false,
        snapshots: true,
        checkpoints: false,
        one_session: false,
        processes: false,
        records: Some(RecordCapabilities {
            text_keys: true,
            ordered_scans: true,
            indexed_fields: false,
            hash_index: false,
            assigned_keys: false,
            rollback: true,
        }),
        guarantees: Guarantee::ALWAYS_SERIALIZABLE,
    };

    /// Capabilities of a SQL engine with concurrent writers beside readers of snapshots.
    pub const OF_SQL: Self = Self {
        sql: Some(SqlCapabilities::ALL),
        concurrent_writers: true,
        records: Some(RecordCapabilities::OVER_SQL),
        guarantees: Guarantee::BY_LEVEL,
        ..Self::OF_KEYS
    };

    /// Isolation that the engine promises a transaction of that level.
    pub const fn guarantee(&self, level: Isolation) -> Guarantee {
        let [read_committed, repeatable_read, serializable] = self.guarantees;
        match level {
            Isolation::ReadCommitted => read_committed,
            Isolation::RepeatableRead => repeatable_read,
            Isolation::Serializable => serializable,
        }
    }
}

/// Capabilities of an engine that runs SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqlCapabilities {
    /// Isolation levels that its sessions accept.
    pub isolation: &'static [Isolation],
    /// Whether it enforces foreign keys.
    pub foreign_keys: bool,
    /// Whether it enforces checks.
    pub checks: bool,
    /// Whether transactions that change different rows of one table can both commit. If not, conflicts are of whole
    /// tables.
    pub row_conflicts: bool,
}

impl SqlCapabilities {
    /// All of them.
    pub const ALL: Self = Self {
        isolation: &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable],
        foreign_keys: true,
        checks: true,
        row_conflicts: true,
    };
}

/// Capabilities of an engine with records by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordCapabilities {
    /// Whether keys can be texts.
    pub text_keys: bool,
    /// Whether records can be read in the order of their keys.
    pub ordered_scans: bool,
    /// Whether fields other than the key can have a tree index.
    pub indexed_fields: bool,
    /// Whether a key or an indexed field can have a hash index.
    pub hash_index: bool,
    /// Whether the engine can assign keys by itself.
    pub assigned_keys: bool,
    /// Whether a transaction can be undone.
    pub rollback: bool,
}

impl RecordCapabilities {
    /// Capabilities of a SQL engine through [`RecordsOverSql`](crate::RecordsOverSql).
    pub const OVER_SQL: Self = Self {
        text_keys: true,
        ordered_scans: true,
        indexed_fields: true,
        hash_index: false,
        assigned_keys: true,
        rollback: true,
    };
}
