//! What a workload can be asked for besides being run: declared by the workload, read by whoever plans a run.

/// One thing that a workload can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// It can.
    Has,
    /// It cannot, for this reason.
    Lacks(&'static str),
}

impl Ability {
    /// Why the workload cannot; `None` if it can.
    pub const fn lacks(self) -> Option<&'static str> {
        match self {
            Self::Has => None,
            Self::Lacks(why) => Some(why),
        }
    }
}

/// Everything that a workload can be asked for, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Operations at a rate that is asked for.
    pub rate: Ability,
    /// A sample of its operations timed one by one, and the others counted.
    pub sampling: Ability,
    /// A search for the highest rate that keeps every response limit.
    pub search: Ability,
    /// A judgement whether a round was in steady state.
    pub steadiness: Ability,
    /// Rounds that begin on a kept copy of one loaded database.
    pub snapshot: Ability,
}
