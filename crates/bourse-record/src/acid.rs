//! `acid.json`: the ACID tests of a target, with steps, findings and verdicts.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{Document, DocumentKind, Engine, OperationIsolation, Provenance, SCHEMA_VERSION, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ACID tests of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcidFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// Time, command, seed, program and machine of the tests.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The target, with the settings in force.
    pub engine: Engine,
    /// Description of the database that the tests ran on.
    pub database: String,
    /// Isolation level by transaction: the level that it demands, and the level that the engine declares to provide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub isolation: Vec<OperationIsolation>,
    /// The tests in order.
    pub tests: Vec<AcidTest>,
    /// Warnings about the target or the machine.
    pub warnings: Vec<Warning>,
    /// Whether the tests were interrupted; some are missing then.
    pub interrupted: bool,
    /// Notice that every report of these tests must show; `None` is that of the brokerage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl AcidFile {
    /// A document without a test.
    pub fn new(provenance: Provenance, engine: Engine, database: String) -> Self {
        Self {
            document: Self::KIND,
            schema_version: SCHEMA_VERSION,
            provenance,
            engine,
            database,
            isolation: Vec::new(),
            tests: Vec::new(),
            warnings: Vec::new(),
            interrupted: false,
            notice: None,
        }
    }

    /// Number of tests with this verdict.
    pub fn count(&self, verdict: AcidVerdict) -> usize {
        self.tests.iter().filter(|test| test.verdict == verdict).count()
    }
}

impl Document for AcidFile {
    const KIND: DocumentKind = DocumentKind::Acid;
}

crate::named! {
    /// The four ACID properties.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Property {
        /// All changes of a transaction are made, or none.
        Atomicity = "atomicity",
        /// Transactions lead from one valid state to another.
        Consistency = "consistency",
        /// Concurrent transactions do not see one another's intermediate states.
        Isolation = "isolation",
        /// Acknowledged changes survive a failure.
        Durability = "durability",
    }
}

crate::named! {
    /// Verdict on a test.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum AcidVerdict {
        /// Every finding is as demanded.
        Passed = "passed",
        /// A finding is not as demanded.
        Failed = "FAILED",
        /// The test does not apply to this target or cannot run on it; the reason says which.
        NotApplicable = "not applicable",
    }
}

/// A test, its verdict, and the evidence for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcidTest {
    /// Short name: A1, C1, I1, D1 …
    pub id: String,
    /// Property that the test examines.
    pub property: Property,
    /// One-line description of the test.
    pub title: String,
    /// Source of the test: a clause of the specification, or another origin.
    pub source: String,
    /// Condition that the findings must meet.
    pub demanded: String,
    /// Verdict on all cases together.
    pub verdict: AcidVerdict,
    /// Explanation of the verdict: the course of the test, or the findings that contradict the demand.
    pub reason: String,
    /// Executions of the test.
    pub cases: Vec<AcidCase>,
    /// Duration in seconds.
    pub took_s: f64,
}

/// One execution of a test.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AcidCase {
    /// Variant of the test: the account, the security, the way that it ends.
    pub label: String,
    /// Short description of what happened to the second session; empty with a single session.
    pub second_session: String,
    /// Actions in order.
    pub steps: Vec<AcidStep>,
    /// Observations at the end.
    pub findings: Vec<AcidFinding>,
}

impl AcidCase {
    /// Whether every finding is as demanded.
    pub fn holds(&self) -> bool {
        self.findings.iter().all(|finding| finding.holds)
    }
}

/// One action of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcidStep {
    /// Name of the session (S1, S2, …) or of another actor.
    pub session: String,
    /// Action that was requested.
    pub did: String,
    /// Outcome.
    pub outcome: String,
    /// Values read by the action, as names and values; empty if none matter.
    pub read: Vec<String>,
    /// Statement that the session halted at or is blocked in, if any.
    pub statement: Option<String>,
}

/// One observation, compared with the required value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AcidFinding {
    /// Name of the observed value.
    pub what: String,
    /// Required value.
    pub wanted: String,
    /// Observed value.
    pub found: String,
    /// Whether the observed value meets the requirement.
    pub holds: bool,
}

impl AcidFinding {
    /// Compares an observed value with the required one.
    ///
    /// ```
    /// use bourse_record::acid::AcidFinding;
    /// let finding = AcidFinding::equal("balance", &100, &101);
    /// assert_eq!((finding.wanted.as_str(), finding.found.as_str(), finding.holds), ("100", "101", false));
    /// ```
    pub fn equal<T: PartialEq + ToString>(what: impl Into<String>, wanted: &T, found: &T) -> Self {
        Self { what: what.into(), wanted: wanted.to_string(), found: found.to_string(), holds: wanted == found }
    }

    /// Compares an observed value with several permitted ones.
    pub fn one_of<T: PartialEq + ToString>(what: impl Into<String>, wanted: &[T], found: &T) -> Self {
        let words: Vec<_> = wanted.iter().map(ToString::to_string).collect();
        Self { what: what.into(), wanted: words.join(" or "), found: found.to_string(), holds: wanted.contains(found) }
    }
}
