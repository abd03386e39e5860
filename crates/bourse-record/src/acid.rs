//! `acid.json`: what was tested, on what, what happened step by step, and the verdicts.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{DocumentKind, Engine, OperationIsolation, Provenance, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the document; raised when a reader of the old form would misread the new.
pub const ACID_SCHEMA_VERSION: u32 = 2;

/// One examination of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcidFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// When, how and on what it ran.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The target, with the settings in force.
    pub engine: Engine,
    /// The database it was tested on, in words.
    pub database: String,
    /// Isolation level by transaction: what it demands, and what the engine declares to give it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub isolation: Vec<OperationIsolation>,
    /// The tests in order.
    pub tests: Vec<Test>,
    /// What a reader should know besides.
    pub warnings: Vec<Warning>,
    /// Whether it was ended before its time: tests are missing then.
    pub interrupted: bool,
}

impl AcidFile {
    /// An examination that has no test yet.
    pub fn new(provenance: Provenance, engine: Engine, database: String) -> Self {
        Self {
            document: DocumentKind::Acid,
            schema_version: ACID_SCHEMA_VERSION,
            provenance,
            engine,
            database,
            isolation: Vec::new(),
            tests: Vec::new(),
            warnings: Vec::new(),
            interrupted: false,
        }
    }

    /// How many tests have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.tests.iter().filter(|test| test.verdict == verdict).count()
    }
}

/// The JSON Schema of the document, derived from its types.
pub fn acid_file_schema() -> serde_json::Value {
    schemars::schema_for!(AcidFile).to_value()
}

/// The four promises of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// All of it or nothing.
    Atomicity,
    /// From one valid state to another.
    Consistency,
    /// As if others were not there.
    Isolation,
    /// What was acknowledged stays.
    Durability,
}

impl Property {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Atomicity => "atomicity",
            Self::Consistency => "consistency",
            Self::Isolation => "isolation",
            Self::Durability => "durability",
        }
    }
}

/// What came of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything demanded was found.
    Passed,
    /// Something demanded was not.
    Failed,
    /// Nothing can be demanded, or it cannot be tried here; the reason says which.
    NotApplicable,
}

impl Verdict {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::NotApplicable => "not applicable",
        }
    }
}

/// A test with its verdict and everything it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    /// Short name: A1, C1, I1, D1 …
    pub id: String,
    /// Which promise.
    pub property: Property,
    /// What is tried, in a line.
    pub title: String,
    /// The clause, or where else the test comes from.
    pub source: String,
    /// What must be found.
    pub demanded: String,
    /// What came of it.
    pub verdict: Verdict,
    /// Why: what happened in words, or what was found instead.
    pub reason: String,
    /// Each time it was tried.
    pub cases: Vec<Case>,
    /// How long it took, in seconds.
    pub took_s: f64,
}

/// One time a test was tried.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// With what: the account, the security, the ending.
    pub label: String,
    /// What the second session met, in a few words; empty where there is one session.
    pub met: String,
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// What was looked at in the end.
    pub findings: Vec<Finding>,
}

impl Case {
    /// Whether everything was as demanded.
    pub fn holds(&self) -> bool {
        self.findings.iter().all(|finding| finding.holds)
    }
}

/// One thing that was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// By which session: S1, S2 …, or who else.
    pub session: String,
    /// What it was told to do.
    pub did: String,
    /// Outcome.
    pub outcome: String,
    /// What was read there, if that matters: names and values.
    pub read: Vec<String>,
    /// The statement it stands at or waits in, if any.
    pub statement: Option<String>,
}

/// One thing that was looked at, and what it must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What.
    pub what: String,
    /// What must be found.
    pub wanted: String,
    /// What was found.
    pub found: String,
    /// Whether that is as it must be.
    pub holds: bool,
}

impl Finding {
    /// Compares a value with what it must be.
    pub fn equal<T: PartialEq + ToString>(what: impl Into<String>, wanted: &T, found: &T) -> Self {
        Self { what: what.into(), wanted: wanted.to_string(), found: found.to_string(), holds: wanted == found }
    }

    /// A value that may be one of several.
    pub fn one_of<T: PartialEq + ToString>(what: impl Into<String>, wanted: &[T], found: &T) -> Self {
        let words: Vec<_> = wanted.iter().map(ToString::to_string).collect();
        Self { what: what.into(), wanted: words.join(" or "), found: found.to_string(), holds: wanted.contains(found) }
    }
}
