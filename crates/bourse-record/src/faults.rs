//! `faults.json`: faults injected into engines, each engine's reaction, the data left, and the verdicts.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{Document, DocumentKind, Durability, Provenance, SCHEMA_VERSION};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fault tests of several targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultsFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// Time, command, seed, program and machine of the tests.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Number of transactions that each process performs.
    pub transactions: u64,
    /// Rows in order, one for each target and fault.
    pub rows: Vec<FaultRow>,
    /// Whether the tests were interrupted; some rows are missing then.
    pub interrupted: bool,
}

impl FaultsFile {
    /// A document without a row.
    pub fn new(provenance: Provenance, transactions: u64) -> Self {
        Self {
            document: Self::KIND,
            schema_version: SCHEMA_VERSION,
            provenance,
            transactions,
            rows: Vec::new(),
            interrupted: false,
        }
    }

    /// All rows, if no fault could be tested in any of them; otherwise empty.
    pub fn untried(&self) -> &[FaultRow] {
        if self.rows.iter().all(|row| !row.not_tried.is_empty()) { &self.rows } else { &[] }
    }

    /// Number of rows with a case that violates a guarantee.
    pub fn violated(&self) -> usize {
        self.rows.iter().filter(|row| row.verdict() == Some(FaultVerdict::Broken)).count()
    }
}

impl Document for FaultsFile {
    const KIND: DocumentKind = DocumentKind::Faults;
}

/// Tests of one fault on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
    /// Target with its options, without a path.
    pub target: String,
    /// Durability class of the settings; `None` if nothing was tested.
    pub class: Option<Durability>,
    /// Settings that the class follows from.
    pub class_reason: String,
    /// Name of the fault.
    pub fault: String,
    /// One-line description of the fault.
    pub title: String,
    /// Description of the calls of that kind that the same work makes without a fault.
    pub calls: String,
    /// Reason that the fault was not tested; empty if it was.
    pub not_tried: String,
    /// Test cases.
    pub cases: Vec<FaultCase>,
}

/// One injection of a fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCase {
    /// Number of the call to be affected, from 1.
    pub nth: u64,
    /// Number of calls affected.
    pub fired: u64,
    /// First affected call, with file and position.
    pub first_hit: String,
    /// Transactions acknowledged.
    pub acknowledged: u64,
    /// Transactions that were committed although an error was reported for them: the engine's user believes that they
    /// failed.
    pub committed_despite_error: u64,
    /// First errors that the engine reported.
    pub errors: Vec<String>,
    /// Reaction of the engine.
    pub reaction: Reaction,
    /// Signal that ended the process, if one did.
    pub signal: Option<i32>,
    /// State of the data afterwards.
    pub left: DataState,
    /// Acknowledged transactions that were missing.
    pub lost: u64,
    /// Evidence of loss or damage.
    pub evidence: String,
    /// Verdict.
    pub verdict: FaultVerdict,
}

crate::named! {
    /// Reaction of the engine to the fault.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Reaction {
        /// The engine reported an error.
        Reported = "error",
        /// The engine continued without an error.
        WentOn = "continued",
        /// The engine's process ended by a signal or with an unexpected exit code.
        Died = "died",
        /// The engine stopped answering.
        Hung = "hung",
        /// The engine's process was killed by the fault itself.
        Killed = "killed",
        /// The engine did not encounter the fault.
        NotMet = "not met",
    }
}

crate::named! {
    /// State of the data when the database was opened again without a fault.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum DataState {
        /// Everything acknowledged is present, and no part of another transaction.
        Whole = "nothing lost",
        /// An earlier state, without the last acknowledged transactions.
        Lost = "lost",
        /// Rows of no earlier state, wrong data while running, or damage found by the engine's own check.
        Corrupted = "corrupted",
        /// The engine refuses to open or read the database.
        Unreadable = "unreadable",
    }
}

crate::named! {
    /// Verdict on a case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum FaultVerdict {
        /// Nothing is known: the fault was not encountered.
        NotMet = "not met",
        /// Nothing acknowledged is lost, and the database is undamaged.
        Ok = "ok",
        /// Data is lost, as permitted: the disk lied, or the settings guarantee no more.
        Expected = "expected",
        /// The database is lost, and the engine reported it.
        Reported = "reported",
        /// Acknowledged data is lost or the database corrupted, and no error was reported.
        Broken = "BROKEN",
    }
}

impl FaultRow {
    /// Worst verdict of the cases; `None` if the fault was not tested.
    pub fn verdict(&self) -> Option<FaultVerdict> {
        self.cases.iter().map(|case| case.verdict).max()
    }
}
