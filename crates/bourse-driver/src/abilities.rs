//! Abilities of a workload besides running: declared by the workload, read by the planner of a run.

/// Support of a workload for one feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// The workload supports it.
    Has,
    /// The workload does not support it, for this reason.
    Lacks(&'static str),
}

impl Ability {
    /// Reason that the workload does not support it; `None` if it does.
    pub const fn lacks(self) -> Option<&'static str> {
        match self {
            Self::Has => None,
            Self::Lacks(why) => Some(why),
        }
    }
}

/// Features of runs that a workload may support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Operations at a given rate.
    pub rate: Ability,
    /// Timing of a sample of the operations, with the others only counted.
    pub sampling: Ability,
    /// Search for the highest rate within all response limits.
    pub search: Ability,
    /// Test of rounds for steady state.
    pub steadiness: Ability,
    /// Rounds that start from a snapshot of one loaded database.
    pub snapshot: Ability,
}
