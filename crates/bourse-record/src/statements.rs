//! Figures of a round by statement.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::Distribution;
use bourse_engine::StatementWork;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of one statement in one operation, over the measurement interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementFigures {
    /// Name of the operation, or transaction, that ran it.
    pub operation: String,
    /// Text of the statement with single spaces; `BEGIN`, `COMMIT` and `ROLLBACK` for calls that are no statements of the
    /// workload.
    pub statement: String,
    /// Calls that returned an error.
    pub failed: u64,
    /// Rows returned or changed.
    pub rows: u64,
    /// Time of each call, from its start to its last row.
    pub service: Distribution,
    /// Plan of the statement after the round, a line for each step, as the engine prints it; empty if it prints none, or for
    /// all but the statements with most time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<String>,
    /// Work by the engine's own counters; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<StatementWork>,
}

impl StatementFigures {
    /// Number of calls.
    pub fn calls(&self) -> u64 {
        self.service.summary.count
    }

    /// Time of all calls, in nanoseconds.
    pub fn total_ns(&self) -> f64 {
        self.service.summary.mean_ns * self.service.summary.count as f64
    }

    /// Adds the calls of the same statement in another round.
    ///
    /// # Errors
    /// The histogram that cannot be read.
    pub fn add(&mut self, other: &Self) -> Result<(), crate::HistogramError> {
        self.service = Distribution::merged([&self.service, &other.service])?;
        self.failed = self.failed.saturating_add(other.failed);
        self.rows = self.rows.saturating_add(other.rows);
        self.work = self.work.zip(other.work).map(|(mine, others)| mine.plus(others));
        if self.plan.is_empty() {
            self.plan.clone_from(&other.plan);
        }
        Ok(())
    }
}
