//! Search for the commit that changed a figure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A search among the commits after one that is good, up to one that is bad. The cases of its run are the last comparison: of
/// the commits on both sides of the change, if one was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bisection {
    /// Measure that decides: a figure's unit, `instructions/op` or `plans`.
    pub decided_by: String,
    /// Number of commits after the good one.
    pub commits: usize,
    /// Most intervals that the search could need, which hold together at 95 %.
    pub most_intervals: usize,
    /// Ratio to the good commit beyond which a commit has changed; `None` if plans decide, or no difference was shown.
    pub cut: Option<f64>,
    /// Commits that were built or tried, in order: the bad one first.
    pub steps: Vec<BisectStep>,
    /// Commits of which one is the first that changed, the oldest first: one, unless others cannot be built or decided. Empty if
    /// no difference between the ends was shown.
    pub first: Vec<BisectedCommit>,
    /// Difference of the newest of these from the last commit before them.
    pub change: Option<BisectedRatio>,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BisectedCommit {
    /// Its hash.
    pub hash: String,
    /// First line of its message.
    pub subject: String,
}

impl BisectedCommit {
    /// First letters of the hash, and the subject.
    pub fn words(&self) -> String {
        const LETTERS: usize = 10;
        format!("{} {}", self.hash.get(..LETTERS).unwrap_or(&self.hash), self.subject)
    }
}

/// A commit compared with the good one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectStep {
    /// The commit.
    pub commit: BisectedCommit,
    /// Finding about the commit.
    pub outcome: BisectOutcome,
    /// Ratio of its figure to that of the good commit; `None` if plans decide, or it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<BisectedRatio>,
    /// Reason of the outcome, in words; empty if the ratio says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

crate::named! {
    /// Result of a step.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum BisectOutcome {
        /// Like the good commit.
        AsBefore = "as before",
        /// Changed, as the bad one is.
        Changed = "changed",
        /// Neither was shown.
        Undecided = "undecided",
        /// Not built, or its rounds failed.
        Skipped = "skipped",
    }
}

/// A ratio with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectedRatio {
    /// The ratio.
    pub ratio: f64,
    /// Lower and upper end; `None` with too few rounds.
    pub interval: Option<[f64; 2]>,
    /// Level of the interval, between 0 and 1.
    pub level: Option<f64>,
}
