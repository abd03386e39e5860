//! Elapsed time of a run by activity, as experienced by the person who waited.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time from the start of the program until the results are written, by part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSpent {
    /// Total time in seconds.
    pub total_s: f64,
    /// Parts, which add up to the total; the unnamed rest is `other`.
    pub parts: Vec<PartOfTime>,
}

/// Time of a run spent on one activity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartOfTime {
    /// Name of the activity.
    pub name: String,
    /// Duration in seconds, over all rounds.
    pub seconds: f64,
}
