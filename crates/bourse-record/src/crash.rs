//! `crash.json`: what crashes left of databases, by target and by kind of crash, and the states that power losses may leave.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::acid::{Case, Finding};
use crate::{DocumentKind, Durability, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is guaranteed to be found after a crash; of two the greater guarantees more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Guarantee {
    /// Nothing.
    Nothing,
    /// The database is whole and in a state it once was in; the last commits may be missing.
    Whole,
    /// It is whole, and every acknowledged commit is in it.
    Everything,
}

impl Guarantee {
    /// The word for documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Whole => "whole",
            Self::Everything => "everything",
        }
    }
}

impl std::fmt::Display for Guarantee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// Version of the document; raised when a reader of the old form would misread the new.
pub const CRASH_SCHEMA_VERSION: u32 = 2;

/// Crashes of one target after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// When, how and on what it ran.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The database, in words.
    pub database: String,
    /// The targets in order.
    pub rows: Vec<CrashRow>,
    /// The states that power losses may leave of a small database, enumerated; absent where that was not asked for.
    #[serde(default)]
    pub states: Option<StatesSection>,
    /// Whether it was ended before its time: rows are missing then.
    pub interrupted: bool,
}

impl CrashFile {
    /// A table that has no row yet.
    pub fn new(provenance: Provenance) -> Self {
        Self {
            document: DocumentKind::Crash,
            schema_version: CRASH_SCHEMA_VERSION,
            provenance,
            database: String::new(),
            rows: Vec::new(),
            states: None,
            interrupted: false,
        }
    }

    /// How many targets, and settings enumerated, violated their guarantee.
    pub fn violated(&self) -> usize {
        let enumerated = self.states.iter().flat_map(|states| &states.rows).filter(|row| !row.holds()).count();
        self.rows.iter().filter(|row| !row.holds()).count().saturating_add(enumerated)
    }

    /// Targets of which no crash could be tried, if nothing else was tried either.
    pub fn untried(&self) -> &[CrashRow] {
        let is_untried = |row: &CrashRow| row.killed.is_none() && row.power.is_none() && row.sampled.is_none();
        if self.states.is_none() && self.rows.iter().all(is_untried) { &self.rows } else { &[] }
    }

    /// How many targets and settings there are.
    pub fn tried(&self) -> usize {
        self.rows.len().saturating_add(self.states.as_ref().map_or(0, |states| states.rows.len()))
    }
}

/// The JSON Schema of the document, derived from its types.
pub fn crash_file_schema() -> serde_json::Value {
    schemars::schema_for!(CrashFile).to_value()
}

/// A target, and what its crashes left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashRow {
    /// The target with its options.
    pub target: String,
    /// Durability class of its settings.
    pub class: Durability,
    /// The settings that class follows from.
    pub class_reason: String,
    /// After its process was killed; absent where that was not tried.
    pub killed: Option<CrashOutcome>,
    /// After the power failed; absent where that was not tried.
    pub power: Option<CrashOutcome>,
    /// States drawn from the trace of a load; absent where that was not tried.
    #[serde(default)]
    pub sampled: Option<SampledStates>,
    /// Why something was not tried; empty if all was.
    pub not_tried: String,
}

/// What crashes of one kind left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashOutcome {
    /// How many crashes.
    pub crashes: u32,
    /// Trade-Results acknowledged before them, all together.
    pub acknowledged: u64,
    /// How many of these were gone.
    pub lost: u64,
    /// Crashes after which the database was damaged, inconsistent, or had something half-done in it.
    pub corrupted: u32,
    /// The longest time from opening to the first answer, in seconds.
    pub recovery_s: f64,
    /// What is guaranteed.
    pub promised: Guarantee,
    /// Whether that was kept.
    pub holds: bool,
    /// Each crash.
    pub cases: Vec<Case>,
}

impl CrashRow {
    /// Whether everything guaranteed was found.
    pub fn holds(&self) -> bool {
        [&self.killed, &self.power].into_iter().flatten().all(|outcome| outcome.holds)
            && self.sampled.as_ref().is_none_or(SampledStates::holds)
    }
}

/// The enumeration of all cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatesSection {
    /// What the workload and the drawn states follow from.
    pub seed: u64,
    /// Which states were tried.
    pub bound: String,
    /// States in all, those of planted faults apart.
    pub states: u64,
    /// How long all took, planted faults included, in seconds.
    pub took_s: f64,
    /// The cases in order.
    pub rows: Vec<StatesRow>,
    /// What planted faults would have been found.
    pub faults: Vec<PlantedRow>,
}

/// The states of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatesRow {
    /// Its name: activity, journal, sync, device.
    pub case: String,
    /// What a power loss does to sectors that are being written.
    pub device: String,
    /// Durability class of its settings.
    pub class: Durability,
    /// The settings that class follows from.
    pub class_reason: String,
    /// What is guaranteed after a power loss.
    pub promised: Guarantee,
    /// Commits acknowledged in the trace.
    pub commits: u64,
    /// File operations in the trace.
    pub operations: u64,
    /// Syncs among them.
    pub syncs: u64,
    /// Points at which the power was lost.
    pub points: u64,
    /// Of these, points whose states were all tried.
    pub exhaustive_points: u64,
    /// States built.
    pub states: u64,
    /// Different ones among them, each recovered once.
    pub distinct: u64,
    /// How long that took, in seconds.
    pub took_s: f64,
    /// States in which acknowledged commits were missing.
    pub lossy: u64,
    /// The most acknowledged commits missing in one.
    pub most_lost: u64,
    /// States that were corrupted.
    pub corrupted: u64,
    /// States that broke the promise.
    pub broken: u64,
    /// Power losses during the recovery from a power loss; absent where that was not tried.
    pub recovery: Option<Interrupted>,
    /// The first states of each kind: those that broke the promise first.
    pub examples: Vec<Example>,
}

/// Power losses during recoveries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interrupted {
    /// Recoveries that were interrupted.
    pub recoveries: u64,
    /// States that this left.
    pub states: u64,
    /// States that broke the promise.
    pub broken: u64,
    /// The first of them.
    pub example: Option<Example>,
}

/// A state that is not as the acknowledged commits would have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Example {
    /// The state, for `--replay`.
    pub state: String,
    /// Commits acknowledged by then.
    pub acknowledged: u64,
    /// What was found.
    pub found: String,
    /// Whether that broke the promise.
    pub broken: bool,
    /// Whether a second recording with the same seed led to the same state; absent where no guarantee was violated. A fault
    /// of the engine that comes and goes need not repeat: the state's files are stored beside the document.
    #[serde(default)]
    pub repeats: Option<bool>,
}

/// A planted fault, over the settings it was planted in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlantedRow {
    /// The fault.
    pub fault: String,
    /// The case it was planted in.
    pub case: String,
    /// How often it was planted, each time with another seed.
    pub runs: u32,
    /// How often a state showed it.
    pub found: u32,
    /// States tried, all together.
    pub states: u64,
    /// States that showed it: one state at random shows it with a chance of this over that.
    pub broken: u64,
}

impl StatesSection {
    /// States that violated the guarantee, for `--replay`.
    pub fn violations(&self) -> impl Iterator<Item = &Example> {
        self.rows.iter().flat_map(StatesRow::violations)
    }
}

impl StatesRow {
    /// Whether every state was as guaranteed.
    pub fn holds(&self) -> bool {
        self.broken == 0 && self.recovery.as_ref().is_none_or(|recovery| recovery.broken == 0)
    }

    /// States that violated the guarantee, for `--replay`.
    pub fn violations(&self) -> impl Iterator<Item = &Example> {
        let of_recovery = self.recovery.iter().filter_map(|recovery| recovery.example.as_ref());
        self.examples.iter().chain(of_recovery).filter(|example| example.broken)
    }
}

/// States drawn from the trace of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledStates {
    /// The file of the trace.
    pub trace: String,
    /// Bytes of the database that the load began with.
    pub base_bytes: u64,
    /// SHA-256 of that database.
    pub base_sha256: String,
    /// Why the recording ended, in words.
    pub ended: String,
    /// Trades acknowledged in the trace: orders and results.
    pub acknowledged: u64,
    /// File operations in the trace.
    pub operations: u64,
    /// Syncs among them.
    pub syncs: u64,
    /// Points at which the power may be lost.
    pub points: u64,
    /// What is guaranteed.
    pub promised: Guarantee,
    /// The states in order of their numbers.
    pub states: Vec<SampledState>,
}

/// A state that was drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledState {
    /// Its number.
    pub number: u64,
    /// The point and the selection, as the enumeration names them.
    pub state: String,
    /// Trade-Results acknowledged by then.
    pub acknowledged: u64,
    /// How many of these were gone.
    pub lost: u64,
    /// Whether the database was damaged, inconsistent, or had something half-done in it.
    pub corrupted: bool,
    /// Whether that broke the promise.
    pub broken: bool,
    /// What was not as in a database that kept everything.
    pub wrong: Vec<Finding>,
}

impl SampledStates {
    /// Whether every state was as guaranteed.
    pub fn holds(&self) -> bool {
        self.states.iter().all(|state| !state.broken)
    }
}
