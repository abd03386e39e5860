//! `crash.json`: the state of databases after crashes, by target and kind of crash, and the states possible after power
//! loss.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::acid::{AcidCase, AcidFinding};
use crate::{Document, DocumentKind, Durability, Provenance, SCHEMA_VERSION};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// Guarantee for a database after a crash; the greater of two guarantees more.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Guarantee {
        /// Nothing.
        Nothing = "nothing",
        /// The database is undamaged and in a state that it was in before; the last commits may be missing.
        Whole = "whole",
        /// The database is undamaged and contains every acknowledged commit.
        Everything = "everything",
    }
}

/// Crash tests of several targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// Time, command, seed, program and machine of the tests.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Description of the database.
    pub database: String,
    /// Targets in order.
    pub rows: Vec<CrashRow>,
    /// Enumerated states of a small database after power loss; `None` if the enumeration was not requested.
    #[serde(default)]
    pub states: Option<StatesSection>,
    /// Whether the tests were interrupted; some rows are missing then.
    pub interrupted: bool,
}

impl CrashFile {
    /// A document without a row.
    pub fn new(provenance: Provenance) -> Self {
        Self {
            document: Self::KIND,
            schema_version: SCHEMA_VERSION,
            provenance,
            database: String::new(),
            rows: Vec::new(),
            states: None,
            interrupted: false,
        }
    }

    /// Number of targets and enumerated settings that violated their guarantee.
    pub fn violated(&self) -> usize {
        let enumerated = self.states.iter().flat_map(|states| &states.rows).filter(|row| !row.holds()).count();
        self.rows.iter().filter(|row| !row.holds()).count().saturating_add(enumerated)
    }

    /// Targets without any crash test, if no other test ran either; otherwise empty.
    pub fn untried(&self) -> &[CrashRow] {
        let is_untried = |row: &CrashRow| row.killed.is_none() && row.power.is_none() && row.sampled.is_none();
        if self.states.is_none() && self.rows.iter().all(is_untried) { &self.rows } else { &[] }
    }

    /// Number of targets and enumerated settings.
    pub fn tried(&self) -> usize {
        self.rows.len().saturating_add(self.states.as_ref().map_or(0, |states| states.rows.len()))
    }
}

impl Document for CrashFile {
    const KIND: DocumentKind = DocumentKind::Crash;
}

/// Crash tests of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashRow {
    /// The target with its options.
    pub target: String,
    /// Durability class of its settings.
    pub class: Durability,
    /// Settings that the class follows from.
    pub class_reason: String,
    /// Databases after a kill of the process; `None` if not tested.
    pub killed: Option<CrashOutcome>,
    /// Databases after a power loss; `None` if not tested.
    pub power: Option<CrashOutcome>,
    /// States sampled from the trace of a load; `None` if not tested.
    #[serde(default)]
    pub sampled: Option<SampledStates>,
    /// Reason that a test did not run; empty if all ran.
    pub not_tried: String,
}

/// Databases after crashes of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashOutcome {
    /// Number of crashes.
    pub crashes: u32,
    /// Trade-Results acknowledged before the crashes, in total.
    pub acknowledged: u64,
    /// Number of acknowledged Trade-Results that were missing afterwards.
    pub lost: u64,
    /// Crashes after which the database was damaged, inconsistent, or contained part of a transaction.
    pub corrupted: u32,
    /// Longest time from opening to the first answer, in seconds.
    pub recovery_s: f64,
    /// Guarantee of the target's durability class.
    pub promised: Guarantee,
    /// Whether the guarantee was met.
    pub holds: bool,
    /// The crashes one by one.
    pub cases: Vec<AcidCase>,
}

impl CrashRow {
    /// Whether the guarantee was met.
    pub fn holds(&self) -> bool {
        [&self.killed, &self.power].into_iter().flatten().all(|outcome| outcome.holds)
            && self.sampled.as_ref().is_none_or(SampledStates::holds)
    }
}

/// Enumeration of the states after power loss, over several settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatesSection {
    /// Seed of the workload and of the drawn states.
    pub seed: u64,
    /// Description of the bound within which states were enumerated.
    pub bound: String,
    /// Number of states, without those of planted faults.
    pub states: u64,
    /// Duration in seconds, planted faults included.
    pub took_s: f64,
    /// Settings in order.
    pub rows: Vec<StatesRow>,
    /// Planted faults: whether the enumeration detects them.
    pub faults: Vec<PlantedRow>,
}

/// Enumerated states of one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatesRow {
    /// Name of the setting: activity, journal, sync, device.
    pub case: String,
    /// Effect of a power loss on sectors being written.
    pub device: String,
    /// Durability class of its settings.
    pub class: Durability,
    /// Settings that the class follows from.
    pub class_reason: String,
    /// Guarantee after a power loss.
    pub promised: Guarantee,
    /// Commits acknowledged in the trace.
    pub commits: u64,
    /// File operations in the trace.
    pub operations: u64,
    /// Syncs among them.
    pub syncs: u64,
    /// Points at which the power was lost.
    pub points: u64,
    /// Number of those points whose states were all tried.
    pub exhaustive_points: u64,
    /// States built.
    pub states: u64,
    /// Number of distinct states, each recovered once.
    pub distinct: u64,
    /// Duration in seconds.
    pub took_s: f64,
    /// States with missing acknowledged commits.
    pub lossy: u64,
    /// Largest number of acknowledged commits missing in one state.
    pub most_lost: u64,
    /// Corrupted states.
    pub corrupted: u64,
    /// States that violate the guarantee.
    pub broken: u64,
    /// Power losses during recovery from a power loss; `None` if not tested.
    pub recovery: Option<InterruptedRecoveries>,
    /// First states of each kind; violations of the guarantee come first.
    pub examples: Vec<Example>,
}

/// Power losses during recoveries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptedRecoveries {
    /// Recoveries that were interrupted.
    pub recoveries: u64,
    /// States left by the interrupted recoveries.
    pub states: u64,
    /// States that violate the guarantee.
    pub broken: u64,
    /// First such state.
    pub example: Option<Example>,
}

/// A state that differs from what the acknowledged commits imply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Example {
    /// Identifier of the state, for `--replay`.
    pub state: String,
    /// Commits acknowledged before the power loss.
    pub acknowledged: u64,
    /// Description of the database found.
    pub found: String,
    /// Whether the state violates the guarantee.
    pub broken: bool,
    /// Whether a second recording with the same seed led to the same state; `None` if no guarantee was violated. An
    /// intermittent fault of the engine need not repeat: the state's files are stored next to the document.
    #[serde(default)]
    pub repeats: Option<bool>,
    /// Pieces in which a violating state, once reduced, differs from one in which everything, or nothing, arrived; no single
    /// one can be left out. Empty if no guarantee was violated.
    #[serde(default)]
    pub minimal: Vec<String>,
}

/// A planted fault, over the settings that it was planted in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlantedRow {
    /// Name of the fault.
    pub fault: String,
    /// Setting that it was planted in.
    pub case: String,
    /// Number of plantings, each with another seed.
    pub runs: u32,
    /// Number of plantings that a state revealed.
    pub found: u32,
    /// States tried, over all plantings.
    pub states: u64,
    /// States that revealed the fault; divided by `states`, the chance that a random state reveals it.
    pub broken: u64,
    /// First state that revealed the first planting, reduced; `--replay` records without the fault, and so does not make it again.
    /// `None` if no state did.
    #[serde(default)]
    pub example: Option<Example>,
}

impl StatesSection {
    /// States that violated the guarantee, for `--replay`.
    pub fn violations(&self) -> impl Iterator<Item = &Example> {
        self.rows.iter().flat_map(StatesRow::violations)
    }
}

impl StatesRow {
    /// Whether every state met the guarantee.
    pub fn holds(&self) -> bool {
        self.broken == 0 && self.recovery.as_ref().is_none_or(|recovery| recovery.broken == 0)
    }

    /// States that violated the guarantee, for `--replay`.
    pub fn violations(&self) -> impl Iterator<Item = &Example> {
        let of_recovery = self.recovery.iter().filter_map(|recovery| recovery.example.as_ref());
        self.examples.iter().chain(of_recovery).filter(|example| example.broken)
    }
}

/// States sampled from the trace of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledStates {
    /// File of the trace.
    pub trace: String,
    /// Size in bytes of the database before the load.
    pub base_bytes: u64,
    /// SHA-256 of the database before the load.
    pub base_sha256: String,
    /// Reason that the recording ended.
    pub ended: String,
    /// Trades acknowledged in the trace, orders and results together.
    pub acknowledged: u64,
    /// File operations in the trace.
    pub operations: u64,
    /// Syncs among them.
    pub syncs: u64,
    /// Points at which the power may be lost.
    pub points: u64,
    /// Guarantee of the target's durability class.
    pub promised: Guarantee,
    /// Sampled states by number.
    pub states: Vec<SampledState>,
}

/// A sampled state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledState {
    /// Number of the state.
    pub number: u64,
    /// Point and selection, in the enumeration's notation.
    pub state: String,
    /// Trade-Results acknowledged before the power loss.
    pub acknowledged: u64,
    /// Number of acknowledged Trade-Results that were missing.
    pub lost: u64,
    /// Whether the database was damaged, inconsistent, or contained part of a transaction.
    pub corrupted: bool,
    /// Whether the state violates the guarantee.
    pub broken: bool,
    /// Findings that differ from a database with every acknowledged commit.
    pub wrong: Vec<AcidFinding>,
}

impl SampledStates {
    /// Whether every state met the guarantee.
    pub fn holds(&self) -> bool {
        self.states.iter().all(|state| !state.broken)
    }
}
