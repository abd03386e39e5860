//! Search for the first of several revisions in which a figure changed, with an error that holds over all its decisions.
//!
//! Revisions are numbered from 0, which is known to be as before, to the last, which has changed. A decision compares a revision with
//! revision 0: it has changed if its ratio lies beyond a [`cut`](Cut) between 1 and the ratio of the last one. If each of
//! the intervals misses its ratio with a probability of at most 5 % divided by their number, none misses it with 95 %
//! (Bonferroni), and then no decision is false. [`Bisection::most_intervals`] is that number: each decision halves what
//! is left, so that n revisions need ⌈log₂ n⌉, and what cannot be built is left out without a decision.

use crate::Interval;
use std::collections::BTreeSet;

/// Revisions that are left: those after `low` and up to `high` may be the first that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bisection {
    low: usize,
    high: usize,
    untestable: BTreeSet<usize>,
}

impl Bisection {
    /// Search among revisions 1 to `last`.
    ///
    /// ```
    /// use bourse_stats::bisect::Bisection;
    /// // The fifth of eight revisions changed the figure, and the fourth cannot be built.
    /// let mut search = Bisection::new(8);
    /// let mut decisions = 0;
    /// while let Some(at) = search.to_decide() {
    ///     match at {
    ///         4 => search.leave_out(at),
    ///         _ => search.decide(at, at >= 5),
    ///     }
    ///     decisions += usize::from(at != 4);
    /// }
    /// assert_eq!(search.candidates().collect::<Vec<_>>(), [4, 5], "one of the two");
    /// assert!(decisions <= 3 && Bisection::most_intervals(8) == 5);
    /// ```
    pub fn new(last: usize) -> Self {
        Self { low: 0, high: last, untestable: BTreeSet::new() }
    }

    /// Most intervals of a search among so many revisions: the first, which shows that the last differs from revision 0; one for
    /// each decision; and one of the change itself.
    pub const fn most_intervals(revisions: usize) -> usize {
        2 + revisions.next_power_of_two().ilog2() as usize
    }

    /// Last revision that is known to be as before.
    pub const fn low(&self) -> usize {
        self.low
    }

    /// First revision that is known to have changed.
    pub const fn high(&self) -> usize {
        self.high
    }

    /// The revision to decide next: the middle of those that are left and can be tested; `None` at the end.
    pub fn to_decide(&self) -> Option<usize> {
        let left: Vec<usize> = (self.low + 1..self.high).filter(|at| !self.untestable.contains(at)).collect();
        left.get(left.len() / 2).copied()
    }

    /// Decides a revision.
    pub fn decide(&mut self, at: usize, has_changed: bool) {
        if has_changed { self.high = at } else { self.low = at }
    }

    /// Leaves out a revision that cannot be tested.
    pub fn leave_out(&mut self, at: usize) {
        self.untestable.insert(at);
    }

    /// Revisions of which one is the first that changed: one, unless those before it cannot be tested.
    pub fn candidates(&self) -> std::ops::RangeInclusive<usize> {
        self.low + 1..=self.high
    }
}

/// Ratio between 1 and that of the last revision, by which others are distinguished.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut(f64);

impl Cut {
    /// The middle between 1 and the nearer end of the last revision's interval, which is therefore beyond it; `None` if the
    /// interval holds 1, so that no difference is shown.
    ///
    /// ```
    /// use bourse_stats::{Interval, bisect::Cut};
    /// let interval = |low, high| Interval { low, high, level: 0.99 };
    /// let cut = Cut::of(&interval(0.70, 0.81)).unwrap();
    /// assert_eq!(cut.ratio(), 0.9);
    /// let decided = [(0.7, 0.8), (0.95, 1.1), (0.8, 1.0)].map(|(low, high)| cut.has_changed(&interval(low, high)));
    /// assert_eq!(decided, [Some(true), Some(false), None]);
    /// assert_eq!(Cut::of(&interval(0.9, 1.2)), None);
    /// ```
    pub fn of(interval: &Interval) -> Option<Self> {
        let nearer = if interval.low > 1.0 { interval.low } else { interval.high };
        (!interval.holds(1.0) && nearer > 0.0).then(|| Self(nearer.sqrt()))
    }

    /// The ratio.
    pub const fn ratio(self) -> f64 {
        self.0
    }

    /// Whether a ratio is beyond it; `None` if its interval holds it.
    pub fn has_changed(self, interval: &Interval) -> Option<bool> {
        let is_above = interval.low > self.0;
        (is_above || interval.high < self.0).then_some(is_above == (self.0 > 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_found_within_the_number_of_intervals() {
        for last in 1..=40 {
            for first in 1..=last {
                for broken in 0..=last {
                    let mut search = Bisection::new(last);
                    let mut decisions = 0;
                    while let Some(at) = search.to_decide() {
                        if at == broken {
                            search.leave_out(at);
                        } else {
                            search.decide(at, at >= first);
                            decisions += 1;
                        }
                    }
                    assert!(decisions + 2 <= Bisection::most_intervals(last), "{last} {first}: {decisions}");
                    let found = search.candidates();
                    assert!(found.contains(&first) && found.clone().count() <= 2, "{last} {first} {broken}: {found:?}");
                    assert!(found.count() == 1 || (broken > 0 && broken < last), "{last} {first} {broken}");
                }
            }
        }
    }
}
