//! CPU use of other processes while each side of a comparison ran, and the part of the difference that it may explain.

use super::CasePair;
use crate::units;
use bourse_record::{Case, Interference, Round, median};
use serde::Serialize;

/// Disturbance of the rounds of a side by other processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Disturbance {
    /// Rounds that count.
    pub rounds: usize,
    /// Rounds among them that other processes disturbed.
    pub disturbed: usize,
    /// Further rounds that were repeated.
    pub repeated: usize,
    /// CPUs that other processes used, as the median over the rounds that count. `None` if those rounds were too short to
    /// tell, or if a server under test may be among the processes.
    pub taken: Option<f64>,
    /// Time of a fixed CPU loop after the rounds, as a multiple of its best time: the median; `None` if it was not timed.
    pub slowdown: Option<f64>,
}

fn cpus_taken(round: &Round) -> Option<f64> {
    round.interference.map(Interference::from_us)
}

impl Disturbance {
    /// Disturbance of the rounds of a case.
    pub(super) fn of(case: &Case) -> Self {
        let rounds = &case.rounds;
        let middle = |of: fn(&Round) -> Option<f64>| median(&rounds.iter().filter_map(of).collect::<Vec<_>>());
        Self {
            rounds: rounds.len(),
            disturbed: rounds.iter().filter(|round| round.is_disturbed()).count(),
            repeated: case.set_aside.len(),
            taken: middle(|round| round.interference?.known()),
            slowdown: middle(|round| round.slowdown),
        }
    }

    /// Whether there is nothing to report.
    pub(super) fn is_none(&self) -> bool {
        self.disturbed == 0 && self.repeated == 0
    }

    /// Whether most of the rounds that count were disturbed.
    pub(super) fn is_mostly(&self) -> bool {
        2 * self.disturbed > self.rounds
    }

    /// Text for the report.
    pub(super) fn words(&self) -> String {
        let taken = match self.taken {
            Some(taken) => format!("{taken:.2} CPUs taken"),
            None => "CPUs taken not measured (short rounds, or a server may be among the others)".to_owned(),
        };
        let slowdown = self
            .slowdown
            .map(|slowdown| format!(", a fixed CPU loop took {slowdown:.1}× its best time"))
            .unwrap_or_default();
        let repeated = if self.repeated > 0 { format!(", {} more repeated", self.repeated) } else { String::new() };
        let rounds = units::counted(self.rounds as u64, "round", "rounds");
        format!("{} of {rounds}{repeated}, {taken}{slowdown}", self.disturbed)
    }
}

/// Factors by which the figure of each side may be too low where others disturbed most rounds of both and the CPUs that they took
/// were not measured: the slowdown of the fixed CPU loop on that side. 1 where they are measured, since the rounds of both sides
/// are then known to be disturbed alike, or unalike.
pub(super) fn unmeasured(sides: &[Disturbance; 2]) -> [f64; 2] {
    if !sides.iter().all(Disturbance::is_mostly) || sides.iter().all(|side| side.taken.is_some()) {
        return [1.0; 2];
    }
    sides.map(|side| side.slowdown.unwrap_or(1.0).max(1.0))
}

/// Factor by which the second side's figure may be too low compared with the first's because other processes disturbed it
/// more; below 1 if they disturbed the first more, 1 if both alike.
///
/// Both rounds of a pair ran one after the other, or are the rounds of one number in two stored runs. The factor is the
/// median over pairs, so that a single round in which the machine stalled does not count. Processes that take d CPUs more
/// from one side are assumed to slow it down to 1 / (1 + d), like one neighbour with its fair share; if it is worse than
/// that, the fixed CPU loop was slower too, and its factor is multiplied.
pub(super) fn explains(pair: &CasePair) -> f64 {
    let pairs = || pair.base.rounds.iter().zip(&pair.head.rounds);
    let more: Vec<f64> = pairs().filter_map(|(one, other)| Some(cpus_taken(other)? - cpus_taken(one)?)).collect();
    let more = median(&more).filter(|more| more.abs() > Interference::NOTICED).unwrap_or(0.0);
    let slower: Vec<f64> = pairs().filter_map(|(one, other)| Some(other.slowdown? / one.slowdown?)).collect();
    let is_unlike = |ratio: &f64| *ratio > Round::SLOWED || *ratio < 1.0 / Round::SLOWED;
    let slower = median(&slower).filter(is_unlike).unwrap_or(1.0);
    slower * if more < 0.0 { 1.0 / (1.0 - more) } else { 1.0 + more }
}
