//! Figures of a recorded history of transactions: the isolation that was promised, and the anomalies found.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of a history, over the whole round with its warm-up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryFigures {
    /// Level that the transactions requested, as `repeatable-read`.
    pub level: String,
    /// Isolation that the engine promises at that level.
    pub promised: String,
    /// Whether an anomaly was found that the promise excludes.
    pub is_broken: bool,
    /// Strongest isolation that no anomaly refutes, in words; what was not refuted is not proven.
    pub not_refuted: String,
    /// Number of committed transactions.
    pub committed: u64,
    /// Number of transactions that were rolled back, on purpose or after a conflict.
    pub rolled_back: u64,
    /// Number of those that met a conflict.
    pub conflicts: u64,
    /// Number of transactions with an unknown outcome.
    pub unknown: u64,
    /// Number of those that were committed: others saw their changes.
    #[serde(default)]
    pub unknown_seen: u64,
    /// Pairs of transactions that overlapped in time on a row that one of them changed: without any, nothing was tested.
    pub overlapping: u64,
    /// Anomalies by class.
    pub anomalies: Vec<FoundAnomaly>,
}

/// Anomalies of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundAnomaly {
    /// Name of the class, as `write skew`.
    pub name: String,
    /// Number of them.
    pub count: u64,
    /// Levels of isolation that exclude it.
    pub refutes: Vec<String>,
    /// Whether the promise excludes it.
    pub is_excluded: bool,
    /// The smallest of them as a story: lines with the transactions, their statements, times and values.
    pub story: Vec<String>,
}

impl HistoryFigures {
    /// Number of anomalies that serializable excludes.
    pub fn not_serializable(&self) -> u64 {
        let excluded = |it: &&FoundAnomaly| it.refutes.iter().any(|level| level == "serializable");
        self.anomalies.iter().filter(excluded).map(|it| it.count).fold(0, u64::saturating_add)
    }
}
