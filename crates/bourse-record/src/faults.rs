//! `faults.json`: which faults an engine met, what it did, what was left, and the verdicts.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{DocumentKind, Durability, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the document; raised when a reader of the old form would misread the new.
pub const FAULTS_SCHEMA_VERSION: u32 = 2;

/// Faults on one target after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultsFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// When, how and on what it ran.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Transactions that each process is given.
    pub transactions: u64,
    /// Each target with each fault, in order.
    pub rows: Vec<FaultRow>,
    /// Whether it was ended before its time: rows are missing then.
    pub interrupted: bool,
}

impl FaultsFile {
    /// A table that has no row yet.
    pub fn new(provenance: Provenance, transactions: u64) -> Self {
        Self {
            document: DocumentKind::Faults,
            schema_version: FAULTS_SCHEMA_VERSION,
            provenance,
            transactions,
            rows: Vec::new(),
            interrupted: false,
        }
    }

    /// The rows, if no fault could be tried in any of them.
    pub fn untried(&self) -> &[FaultRow] {
        if self.rows.iter().all(|row| !row.not_tried.is_empty()) { &self.rows } else { &[] }
    }

    /// How many rows have a case in which a guarantee was violated.
    pub fn violated(&self) -> usize {
        self.rows.iter().filter(|row| row.verdict() == Some(FaultVerdict::Broken)).count()
    }
}

/// The JSON Schema of the document, derived from its types.
pub fn faults_file_schema() -> serde_json::Value {
    schemars::schema_for!(FaultsFile).to_value()
}

/// Interface at which faults are injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Through {
    /// A preloaded library that stands in for calls of the C library.
    Preload,
    /// The engine's own trait for storage.
    Storage,
}

impl Through {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preload => "preload",
            Self::Storage => "storage",
        }
    }
}

/// A target and a fault, tried several times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
    /// The target with its options, without a path.
    pub target: String,
    /// Durability class of its settings; none if nothing was tried.
    pub class: Option<Durability>,
    /// The settings that class follows from.
    pub class_reason: String,
    /// Interface at which the fault was injected.
    pub through: Through,
    /// The fault's name.
    pub fault: String,
    /// What happens, in a line.
    pub title: String,
    /// Calls of the kind that the same work makes without a fault, in words.
    pub calls: String,
    /// Why it was not tried; empty if it was.
    pub not_tried: String,
    /// Each time it was tried.
    pub cases: Vec<FaultCase>,
}

/// One fault, as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCase {
    /// Which call it was meant for, from 1.
    pub nth: u64,
    /// Calls that it was done to.
    pub fired: u64,
    /// The first of them: which call, of which file, where.
    pub met: String,
    /// Transactions acknowledged.
    pub acknowledged: u64,
    /// Transactions found committed although an error had been reported for them: the engine's user takes them for failed.
    pub stood: u64,
    /// The first errors that the engine reported, in its words.
    pub errors: Vec<String>,
    /// What the engine did.
    pub reaction: Reaction,
    /// The signal that ended the process, if one did.
    pub signal: Option<i32>,
    /// What was found afterwards.
    pub left: Left,
    /// Acknowledged transactions that were not there.
    pub lost: u64,
    /// What shows that, where something is lost or wrong.
    pub evidence: String,
    /// The verdict.
    pub verdict: FaultVerdict,
}

/// What the engine did when it met the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    /// It reported an error.
    Reported,
    /// It continued without an error.
    WentOn,
    /// Its process ended: by a signal, or with an exit code that nobody asked for.
    Died,
    /// It stopped answering.
    Hung,
    /// Its process was killed, which was the fault.
    Killed,
    /// It did not meet the fault.
    NotMet,
}

impl Reaction {
    /// The words for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reported => "error",
            Self::WentOn => "continued",
            Self::Died => "died",
            Self::Hung => "hung",
            Self::Killed => "killed",
            Self::NotMet => "not met",
        }
    }
}

/// What was found when the database was opened again without a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Left {
    /// All that was acknowledged, and nothing half-done.
    Whole,
    /// A state it once was in, without the last acknowledged transactions.
    Lost,
    /// Rows of no state it ever was in, wrong data while running, or damage by the engine's own check.
    Corrupted,
    /// The engine refuses to open or to read it.
    Unreadable,
}

impl Left {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "nothing lost",
            Self::Lost => "lost",
            Self::Corrupted => "corrupted",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Verdict on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultVerdict {
    /// The fault was not met: nothing is known.
    NotMet,
    /// Nothing acknowledged is lost, the database is whole.
    Ok,
    /// Something is lost, as it must be: the disk lied, or the settings promise no more.
    Expected,
    /// The database is lost, and the engine reports it.
    Told,
    /// Something acknowledged is lost, or the database is corrupted, and no error was reported.
    Broken,
}

impl FaultVerdict {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotMet => "not met",
            Self::Ok => "ok",
            Self::Expected => "expected",
            Self::Told => "reported",
            Self::Broken => "BROKEN",
        }
    }
}

impl FaultRow {
    /// The worst verdict of its cases; `None` if it was not tried.
    pub fn verdict(&self) -> Option<FaultVerdict> {
        self.cases.iter().map(|case| case.verdict).max()
    }
}
