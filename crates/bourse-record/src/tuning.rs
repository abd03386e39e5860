//! Search for the settings of a target that make it fastest: the race, the settings that it selected, and their crash test.

use crate::Durability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A search for settings. The cases of its run are the proof: the defaults, the selected settings, and these without each line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tuning {
    /// Durability class that every selected setting keeps.
    pub promise: Durability,
    /// Settings that were raced against the defaults, one option changed in each.
    pub race: Vec<RacedSetting>,
    /// The selected settings together, each taken away alone, in rounds of the race; empty with fewer than two. The one that is missed
    /// least goes, and the others are judged anew, until each is missed.
    pub elimination: Vec<RacedSetting>,
    /// Selected settings; empty if none was faster than the defaults in the race.
    pub lines: Vec<TunedLine>,
    /// Statements that put the settings of `target` into force, in the engine's language; empty if it has none.
    pub statements: Vec<String>,
    /// Target with the selected settings that are shown to bring something when they are taken away alone. `None` if all are
    /// shown to, or none is: it then has them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Statements that put the other selected settings into force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unshown: Vec<String>,
    /// Power losses of targets that the race selected, in order: the last is that of `lines`, unless it failed too.
    pub crashes: Vec<TunedCrash>,
    /// Settings that were not raced, each with the reason.
    pub left_out: Vec<String>,
}

/// Setting in a race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RacedSetting {
    /// The changed option with its value, as `cache=256MiB`.
    pub change: String,
    /// Last stage of the race in which it ran, from 1.
    pub stage: u32,
    /// Ratios of its figure to the reference's in the same round: the defaults', or in the elimination the figure of all
    /// settings that were left.
    pub ratios: Vec<f64>,
    /// Reason that it left the race, if not its figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
}

/// Selected setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TunedLine {
    /// The option with its value, as `cache=256MiB`.
    pub change: String,
    /// Label of the case that has every selected setting but this one.
    pub without: String,
}

/// Enumerated states that power losses may leave of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TunedCrash {
    /// The target that was tested, without its place.
    pub target: String,
    /// States built, those of interrupted recoveries among them.
    pub states: u64,
    /// States that violate the guarantee of the target's class.
    pub broken: u64,
    /// Reason that no states were built; empty if some were.
    pub not_tried: String,
}
