//! Where the time of a run went, as the person who waited for it has it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time from the start of the program until the results are written, by part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSpent {
    /// All of it, in seconds.
    pub total_s: f64,
    /// Its parts, which add up to it; what has no name is `other`.
    pub parts: Vec<PartOfTime>,
}

/// A part of the time of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartOfTime {
    /// What it went into.
    pub name: String,
    /// How long, over all rounds, in seconds.
    pub seconds: f64,
}
