//! Repeats of rounds that other processes disturbed, or in which nothing ended.

use super::CaseRun;
use super::case_run::LastRound;
use bourse_stats::repeats::Budget;

/// Rounds to be run again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RepeatedRounds {
    /// Indices of their cases, in the order of the round.
    pub(super) cases: Vec<usize>,
    /// Whether nothing ended in one of them.
    pub(super) nothing_ended: bool,
}

/// Selects the rounds to repeat among those just run, `ran` by the indices of their cases; none if all are fit, the budget
/// is used up, or a pair has a round that failed. They are taken from the budget, and set aside.
pub(super) fn again(budget: &mut Budget, round: u32, ran: &[usize], cases: &mut [CaseRun]) -> Option<RepeatedRounds> {
    let is = |at: &usize, last: LastRound| cases[*at].last_round() == last;
    let nothing_ended = ran.iter().any(|at| is(at, LastRound::NothingEnded));
    let unfit = |at: &&usize| is(at, LastRound::NothingEnded) || is(at, LastRound::Disturbed);
    let mut wanted: Vec<usize> = match ran.iter().any(|at| unfit(&at)) {
        false => return None,
        // Both of a pair, so that they meet the same machine.
        true if budget.is_of_pairs() && ran.iter().any(|at| is(at, LastRound::Unsound)) => return None,
        true if budget.is_of_pairs() => ran.to_vec(),
        true => ran.iter().filter(unfit).copied().collect(),
    };
    // As many as the budget permits, the first of the round first.
    while !wanted.is_empty() && !budget.take(round, u32::try_from(wanted.len()).ok()?, nothing_ended) {
        if budget.is_of_pairs() {
            return None;
        }
        wanted.pop();
    }
    wanted.iter().for_each(|at| cases[*at].set_last_aside());
    (!wanted.is_empty()).then_some(RepeatedRounds { cases: wanted, nothing_ended })
}
