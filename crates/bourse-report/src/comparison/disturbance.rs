//! What others took of the machine while each side of a comparison ran.

use bourse_record::{Case, Interference, Round};
use serde::Serialize;

/// What others did to the rounds of a side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Disturbance {
    /// Rounds that count.
    pub rounds: usize,
    /// Rounds among them that others disturbed.
    pub disturbed: usize,
    /// Further rounds that were disturbed, and repeated.
    pub repeated: usize,
    /// CPUs that others took, on average over the rounds that count.
    pub taken: f64,
    /// How many times its best time a fixed CPU loop took after the rounds, on average; none where it was not timed.
    pub slowdown: Option<f64>,
}

/// Difference of slow-downs between the sides from which on no verdict is given: what a round is disturbed by.
const UNLIKE_SLOWDOWN: f64 = Round::SLOWED - 1.0;

impl Disturbance {
    /// Of the rounds of a case.
    pub(super) fn of(case: &Case) -> Self {
        let rounds = &case.rounds;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let slowdowns: Vec<f64> = rounds.iter().filter_map(|round| round.slowdown).collect();
        Self {
            rounds: rounds.len(),
            disturbed: rounds.iter().filter(|round| round.is_disturbed()).count(),
            repeated: case.set_aside.len(),
            taken: mean(&rounds.iter().map(Round::taken).collect::<Vec<_>>()),
            slowdown: (!slowdowns.is_empty()).then(|| mean(&slowdowns)),
        }
    }

    /// Whether nothing is to be said of it.
    pub(super) fn is_none(&self) -> bool {
        self.disturbed == 0 && self.repeated == 0
    }

    /// Whether a difference between two sides may be one of disturbance.
    pub(super) fn is_unlike(&self, other: &Self) -> bool {
        let slowdown = self.slowdown.zip(other.slowdown).map_or(0.0, |(one, other)| (one - other).abs());
        (self.taken - other.taken).abs() > Interference::NOTICED || slowdown > UNLIKE_SLOWDOWN
    }

    /// Whether most of the rounds that count were disturbed.
    pub(super) fn is_mostly(&self) -> bool {
        2 * self.disturbed > self.rounds
    }

    /// For a person.
    pub(super) fn words(&self) -> String {
        let slowdown = self
            .slowdown
            .map(|slowdown| format!(", a fixed CPU loop took {slowdown:.1}× its best time"))
            .unwrap_or_default();
        format!(
            "{} of {} rounds, {} more repeated, {:.2} CPUs taken{slowdown}",
            self.disturbed, self.rounds, self.repeated, self.taken
        )
    }
}
