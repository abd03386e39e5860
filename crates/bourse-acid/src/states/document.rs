//! What the enumeration found, as it stands in `crash.json`.

use super::case::Case;
use bourse_crash::{Explored, Failure, Fault, Outcome, Promise, Trace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub faults: Vec<FaultRow>,
}

/// The states of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatesRow {
    /// Its name: activity, journal, sync, device.
    pub case: String,
    /// What a power loss does to sectors that are being written.
    pub device: String,
    /// `volatile`, `process`, `consistent` or `durable`.
    pub class: String,
    /// The settings that class follows from.
    pub class_reason: String,
    /// What is promised after a power loss: `nothing`, `whole` or `everything`.
    pub promised: String,
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
}

/// A planted fault, over the settings it was planted in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
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

/// The heads of the table of states.
pub const STATES_HEADS: [&str; 10] = [
    "settings",
    "class",
    "syncs",
    "points (all states)",
    "states",
    "states/s",
    "lost",
    "corrupted",
    "in recovery",
    "guarantee",
];

/// The heads of the table of planted faults.
pub const FAULT_HEADS: [&str; 5] =
    ["planted fault", "settings", "found", "states that show it", "one random state shows it"];

/// What the table of states tells.
pub(crate) const ABOUT_STATES: &str = "Lost are states without all acknowledged commits, and the most commits missing in one; in recovery: \
     states after a second power loss during recovery that violate the guarantee. Sectors, sizes and names that are not \
     synced arrive in any order.";

/// The word for a promise.
fn promise_word(promise: Promise) -> &'static str {
    match promise {
        Promise::Nothing => "nothing",
        Promise::Whole => "whole",
        Promise::Everything => "everything",
    }
}

/// A state's outcome in words, and whether it broke the promise.
pub(super) fn judged(outcome: &Outcome, acknowledged: u64, promise: Promise) -> (String, bool) {
    match outcome {
        Outcome::Corrupted { found } => (format!("corrupted: {found}"), promise != Promise::Nothing),
        Outcome::Whole { commits } if *commits < acknowledged => {
            let lost = acknowledged - commits;
            (format!("{lost} of {acknowledged} acknowledged commits lost"), promise == Promise::Everything)
        }
        Outcome::Whole { commits } => (format!("whole, with {commits} commits"), false),
    }
}

impl Example {
    /// Of a failure in a case's trace; `prefix` names the recovery it happened in.
    pub(super) fn new(case: &Case, prefix: &str, failure: &Failure) -> Self {
        let (found, broken) = judged(&failure.outcome, failure.acknowledged, case.promise());
        Self { state: format!("{case}/{prefix}{}", failure.id), acknowledged: failure.acknowledged, found, broken }
    }
}

impl StatesSection {
    /// What was tried, in words.
    pub fn words(&self) -> String {
        format!("{} states in {:.0} s; {}; seed {}", self.states, self.took_s, self.bound, self.seed)
    }

    /// States that broke the promise, for `--replay`.
    pub fn broken_examples(&self) -> impl Iterator<Item = &Example> {
        self.rows.iter().flat_map(StatesRow::broken_examples)
    }
}

impl StatesRow {
    pub(super) fn new(
        case: &Case,
        trace: &Trace,
        explored: &Explored,
        took_s: f64,
        recovery: Option<Interrupted>,
    ) -> Self {
        let (class, class_reason) = case.class();
        let counts = explored.counts;
        let mut examples: Vec<_> = explored.broken.iter().map(|failure| Example::new(case, "", failure)).collect();
        for failure in [&explored.corrupted, &explored.lossy].into_iter().flatten() {
            let example = Example::new(case, "", failure);
            if examples.iter().all(|known| known.state != example.state) {
                examples.push(example);
            }
        }
        let acknowledged = |operation: &bourse_crash::Operation| match operation {
            bourse_crash::Operation::Acknowledged(number) => Some(*number),
            _ => None,
        };
        Self {
            case: case.to_string(),
            device: case.device.words(),
            class: class.name().to_owned(),
            class_reason,
            promised: promise_word(case.promise()).to_owned(),
            commits: trace.operations.iter().filter_map(acknowledged).max().unwrap_or(0),
            operations: trace.operations.len() as u64,
            syncs: trace.syncs() as u64,
            points: counts.points,
            exhaustive_points: counts.exhaustive,
            states: counts.states,
            distinct: counts.distinct,
            took_s,
            lossy: counts.lossy,
            most_lost: counts.most_lost,
            corrupted: counts.corrupted,
            broken: counts.broken,
            recovery,
            examples,
        }
    }

    /// The cells of the table.
    pub fn cells(&self) -> [String; 10] {
        let lost = match self.lossy {
            0 => "0".to_owned(),
            lossy => format!("{lossy} (up to {})", self.most_lost),
        };
        let in_recovery = self
            .recovery
            .as_ref()
            .map_or_else(|| "-".to_owned(), |recovery| format!("{} of {}", recovery.broken, recovery.states));
        let guarantee = match (self.promised.as_str(), self.holds()) {
            ("nothing", _) => "none given",
            (_, true) => "met",
            (_, false) => "VIOLATED",
        };
        let per_second = if self.took_s > 0.0 { self.states as f64 / self.took_s } else { 0.0 };
        [
            self.case.clone(),
            self.class.clone(),
            self.syncs.to_string(),
            format!("{} ({})", self.points, self.exhaustive_points),
            self.states.to_string(),
            format!("{per_second:.0}"),
            lost,
            self.corrupted.to_string(),
            in_recovery,
            guarantee.to_owned(),
        ]
    }

    /// Whether every state was as promised.
    pub fn holds(&self) -> bool {
        self.broken == 0 && self.recovery.as_ref().is_none_or(|recovery| recovery.broken == 0)
    }

    /// States that broke the promise, for `--replay`.
    pub fn broken_examples(&self) -> impl Iterator<Item = &Example> {
        let of_recovery = self.recovery.iter().filter_map(|recovery| recovery.example.as_ref());
        self.examples.iter().chain(of_recovery).filter(|example| example.broken)
    }
}

impl FaultRow {
    /// The cells of the table.
    pub fn cells(&self) -> [String; 5] {
        let share = if self.states > 0 { 100.0 * self.broken as f64 / self.states as f64 } else { 0.0 };
        [
            self.fault.clone(),
            self.case.clone(),
            format!("{} of {}", self.found, self.runs),
            format!("{} of {}", self.broken, self.states),
            format!("{share:.2} %"),
        ]
    }

    pub(super) fn new(case: &str, fault: Fault, explored: &Explored) -> Self {
        Self {
            fault: fault.words(),
            case: case.to_owned(),
            runs: 1,
            found: u32::from(explored.counts.broken > 0),
            states: explored.counts.states,
            broken: explored.counts.broken,
        }
    }
}

/// Rows of the same fault in the same case made one.
pub(super) fn merged(runs: Vec<Vec<FaultRow>>) -> Vec<FaultRow> {
    let mut rows: Vec<FaultRow> = Vec::new();
    for row in runs.into_iter().flatten() {
        match rows.iter_mut().find(|known| known.fault == row.fault && known.case == row.case) {
            Some(known) => {
                known.runs += row.runs;
                known.found += row.found;
                known.states += row.states;
                known.broken += row.broken;
            }
            None => rows.push(row),
        }
    }
    rows
}
