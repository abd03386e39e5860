//! Budget of repeated rounds: limits how many disturbed rounds are run again, so that the level of a comparison holds.
//!
//! Rounds of two cases are repeated as whole pairs, from one budget. Whether a pair is repeated then depends on the
//! moments at which its rounds ran and not on which case ran in which of them, and with a random order each pair that
//! counts favours either side with the same probability. With a budget for each side, a side that has exhausted its own
//! is disturbed in all later pairs: the level of 8 pairs is then missed by 8 % of sessions instead of 4, of 16 pairs by
//! 13 %. With more than two cases, single rounds are repeated, from one budget too, so that every two cases are in the
//! same position.
//!
//! The budget is spread over the rounds: on a machine that is never quiet the first round would use all of it. Rounds
//! in which nothing ended have a separate reserve, since without them their case has no figure.

/// Units beyond the budget for rounds in which nothing ended.
const SPARE_ROUNDS: u32 = 2;

/// Budget of repeated rounds of interleaved cases.
///
/// ```
/// use bourse_stats::repeats::Budget;
/// let mut budget = Budget::new(2, 8); // two cases of eight rounds each: pairs are repeated whole
/// assert!(budget.is_of_pairs() && budget.most() == 8);
/// assert!(budget.take(0, 2, false));
/// assert!(!budget.take(0, 2, false), "the budget is spread over the rounds");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Rounds that are repeated together.
    unit: u32,
    /// Units that may be repeated; a unit is a pair, or a single round.
    units: u32,
    /// Rounds of each case.
    rounds: u32,
    /// Rounds repeated so far.
    used: u32,
    /// Rounds that may be repeated beyond the budget because nothing ended in them.
    reserve: u32,
}

impl Budget {
    /// Budget for `cases` cases of `rounds` rounds each: half as many rounds again. A single round of each is not
    /// repeated.
    pub fn new(cases: u32, rounds: u32) -> Self {
        let unit = if cases <= 2 { cases.max(1) } else { 1 };
        let units = (rounds / 2).saturating_mul(cases.max(1)) / unit;
        Self { unit, units, rounds: rounds.max(1), used: 0, reserve: if units > 0 { SPARE_ROUNDS * unit } else { 0 } }
    }

    /// An empty budget.
    pub const fn none() -> Self {
        Self { unit: 1, units: 0, rounds: 1, used: 0, reserve: 0 }
    }

    /// Whether the rounds of a pair are repeated together.
    pub const fn is_of_pairs(&self) -> bool {
        self.unit > 1
    }

    /// Maximum number of repeated rounds, without the reserve.
    pub const fn most(&self) -> u32 {
        self.units.saturating_mul(self.unit)
    }

    /// Takes `count` rounds from the budget for the round numbered `round`, from 0. Returns whether they may be
    /// repeated.
    pub fn take(&mut self, round: u32, count: u32, nothing_ended: bool) -> bool {
        let [unit, units, rounds] = [self.unit, self.units, self.rounds].map(u64::from);
        let until_now = unit * (units * (u64::from(round) + 1).min(rounds)).div_ceil(rounds);
        if u64::from(self.used) + u64::from(count) <= until_now {
            self.used += count;
            return true;
        }
        let of_reserve = nothing_ended && count <= self.reserve;
        if of_reserve {
            self.reserve -= count;
        }
        of_reserve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_repeated_whole_and_half_as_many_as_there_are() {
        let mut budget = Budget::new(2, 8);
        assert!(budget.is_of_pairs() && budget.most() == 8);
        // A machine that is never quiet: one repeat in every other round, not all in the first.
        let repeats: Vec<bool> = (0..8).map(|round| budget.take(round, 2, false)).collect();
        assert_eq!(repeats, [true, false, true, false, true, false, true, false]);
        // The share of quiet rounds is available later.
        let mut budget = Budget::new(2, 8);
        assert_eq!((0..5).filter(|_| budget.take(7, 2, false)).count(), 4);
    }

    #[test]
    fn a_round_in_which_nothing_ended_has_a_reserve() {
        let mut budget = Budget::new(2, 8);
        while budget.take(7, 2, false) {}
        assert_eq!((0..5).filter(|_| budget.take(7, 2, true)).count(), 2);
    }

    #[test]
    fn several_cases_share_one_budget_of_single_rounds() {
        let mut budget = Budget::new(5, 6);
        assert!(!budget.is_of_pairs() && budget.most() == 15);
        assert_eq!((0..9).filter(|_| budget.take(0, 1, false)).count(), 3, "a sixth of 15, rounded up");
        let mut alone = Budget::new(3, 1);
        assert!(!alone.take(0, 1, true) && !Budget::none().take(0, 1, true), "a single round is not repeated");
        assert!(Budget::new(u32::MAX, u32::MAX).take(u32::MAX, 1, false), "no number is too large");
    }
}
