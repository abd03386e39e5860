//! What drawn states turned out to be, as it stands in `crash.json`.

use super::stored::LoadTrace;
use crate::demand::{Crash, promised};
use crate::document::Finding;
use bourse_crash::points;
use bourse_engine::Durability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// What is promised: `nothing`, `whole` or `everything`.
    pub promised: String,
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
    pub ruined: bool,
    /// Whether that broke the promise.
    pub broken: bool,
    /// What was not as in a database that kept everything.
    pub wrong: Vec<Finding>,
}

/// The heads of the table of drawn states.
pub const SAMPLED_HEADS: [&str; 4] = ["number", "state", "found", "its promise"];

impl SampledStates {
    pub(super) fn new(trace: &LoadTrace, class: Durability) -> Self {
        Self {
            trace: String::new(),
            base_bytes: trace.base_bytes(),
            base_sha256: trace.base_sha256().to_owned(),
            ended: trace.ended().to_owned(),
            acknowledged: trace.acknowledged().len() as u64,
            operations: trace.trace().operations.len() as u64,
            syncs: trace.trace().syncs() as u64,
            points: points(trace.trace()).len() as u64,
            promised: promised(class, Crash::Power).word().to_owned(),
            states: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, state: SampledState) {
        self.states.push(state);
    }

    /// Whether every state was as promised.
    pub fn holds(&self) -> bool {
        self.states.iter().all(|state| !state.broken)
    }

    /// The cell of the table.
    pub fn words(&self) -> String {
        let count = |is: fn(&SampledState) -> bool| self.states.iter().filter(|state| is(state)).count();
        let (ruined, lossy) = (count(|state| state.ruined), count(|state| !state.ruined && !state.wrong.is_empty()));
        let all = self.states.len();
        match (ruined, lossy) {
            (0, 0) => format!("{all} states: nothing lost"),
            (0, lossy) => format!("{all} states: whole, {lossy} with losses"),
            (ruined, 0) => format!("{all} states: {ruined} ruined"),
            (ruined, lossy) => format!("{all} states: {ruined} ruined, {lossy} with losses"),
        }
    }

    /// The cells of the table of states, and whether each broke the promise.
    pub fn rows(&self) -> impl Iterator<Item = ([String; 4], bool)> {
        self.states.iter().map(|state| {
            let promise = match (self.promised.as_str(), state.broken) {
                ("nothing", _) => "none given",
                (_, false) => "kept",
                (_, true) => "BROKEN",
            };
            ([state.number.to_string(), state.state.clone(), state.words(), promise.to_owned()], state.broken)
        })
    }

    /// What the trace holds, in words.
    pub fn about(&self) -> String {
        format!(
            "{}: {} file operations, {} syncs, {} acknowledged trades, recorded until {}; the database of {} bytes at its start has SHA-256 {}",
            self.trace, self.operations, self.syncs, self.acknowledged, self.ended, self.base_bytes, self.base_sha256
        )
    }

    /// States that broke the promise, each with its name for `--replay` and what was found.
    pub fn broken_states(&self) -> impl Iterator<Item = (String, String)> {
        let broken = self.states.iter().filter(|state| state.broken);
        broken.map(|state| (format!("{}#{}", self.trace, state.number), state.words()))
    }
}

impl SampledState {
    /// What was found, in words that are the same each time.
    pub fn words(&self) -> String {
        let lost = format!("{} of {} acknowledged Trade-Results lost", self.lost, self.acknowledged);
        match self.wrong.first() {
            None => format!("whole, {lost}"),
            Some(first) => {
                let more = match self.wrong.len() {
                    1 => String::new(),
                    2 => "; 1 more finding".to_owned(),
                    all => format!("; {} more findings", all - 1),
                };
                format!("{}: {} wanted, {} found{more}; {lost}", first.what, first.wanted, first.found)
            }
        }
    }
}
