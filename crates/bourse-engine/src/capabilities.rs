//! Capabilities of an engine, known from its target without opening the database.

use crate::Isolation;

/// Capabilities of an engine: known before a run, so that a workload that needs more is refused at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// SQL; `None` for an engine that finds records by key alone, and for one that runs statements without effect.
    pub sql: Option<SqlCapabilities>,
    /// Whether several writers can be at work at once.
    pub concurrent_writers: bool,
    /// Whether a reader's open transaction lets writers commit, and keeps what it read as it was.
    pub snapshots: bool,
    /// Whether there is a log that [`Session::checkpoint`](crate::Session::checkpoint) moves into the database.
    pub checkpoints: bool,
    /// Whether no more than one session can be open at a time.
    pub one_session: bool,
    /// Whether several processes may have the database open at once, each by opening the same target.
    pub processes: bool,
    /// Records by key: the engine's own, or for SQL engines over its statements; `None` if neither.
    pub records: Option<RecordCapabilities>,
}

/// Capabilities of an engine that runs SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqlCapabilities {
    /// Isolation levels it gives.
    pub isolation: &'static [Isolation],
    /// Whether it enforces foreign keys.
    pub foreign_keys: bool,
    /// Whether it enforces checks.
    pub checks: bool,
    /// Whether transactions that change different rows of one table can both commit. Where not, conflicts are of whole tables.
    pub row_conflicts: bool,
}

/// Capabilities of an engine with records by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordCapabilities {
    /// Whether keys can be texts.
    pub text_keys: bool,
    /// Whether records can be had in the order of their keys.
    pub ordered_scans: bool,
    /// Whether fields beside the key can have a tree index.
    pub indexed_fields: bool,
    /// Whether a key or an indexed field can have a hash index.
    pub hash_index: bool,
    /// Whether the engine can assign keys by itself.
    pub assigned_keys: bool,
    /// Whether a transaction can be undone.
    pub rollback: bool,
}

impl RecordCapabilities {
    /// What a SQL engine has through [`RecordsOverSql`](crate::RecordsOverSql).
    pub const OVER_SQL: Self = Self {
        text_keys: true,
        ordered_scans: true,
        indexed_fields: true,
        hash_index: false,
        assigned_keys: true,
        rollback: true,
    };
}
