//! When a user's operations are due: a value, so that one loop serves closed and open workloads alike.

use crate::{Nanos, SECOND};
use bourse_record::SplitMix;

/// When operations are due, for one user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// The next is due when the last has ended: a fixed number of users, each with one operation outstanding.
    Closed,
    /// At even distances, whatever the engine does.
    Constant {
        /// Operations a second, of this user.
        per_second: f64,
    },
    /// At random moments of a constant mean rate, as from many independent customers.
    Poisson {
        /// Operations a second on average, of this user.
        per_second: f64,
        /// Seed of the moments.
        seed: u64,
    },
    /// When another part of the workload says so: the user's draw gives each operation's due time.
    Arrivals,
}

impl Schedule {
    /// The moments from `from` on.
    ///
    /// # Panics
    /// If a rate is not positive: rates are checked where they are asked for.
    pub fn pacer(&self, from: Nanos) -> Pacer {
        let gap = |per_second: f64| {
            assert!(per_second > 0.0 && per_second.is_finite(), "a rate of {per_second} a second is no schedule");
            SECOND as f64 / per_second
        };
        let (gap_ns, random) = match *self {
            Self::Closed | Self::Arrivals => (None, None),
            Self::Constant { per_second } => (Some(gap(per_second)), None),
            Self::Poisson { per_second, seed } => (Some(gap(per_second)), Some(SplitMix::new(seed))),
        };
        let mut pacer = Pacer { gap_ns, random, at: from as f64 };
        if pacer.random.is_some() {
            // Even the first arrival of a Poisson stream is random.
            pacer.advance();
        }
        pacer
    }
}

/// The moments of a [`Schedule`].
#[derive(Debug, Clone)]
pub struct Pacer {
    gap_ns: Option<f64>,
    random: Option<SplitMix>,
    /// Kept as a fraction of nanoseconds, so that a rate that divides no second is kept exactly over hours.
    at: f64,
}

impl Pacer {
    /// When the next operation is due, or none if that is not the schedule's to say.
    pub fn next_due(&mut self) -> Option<Nanos> {
        self.gap_ns?;
        let due = self.at as Nanos;
        self.advance();
        Some(due)
    }

    fn advance(&mut self) {
        let Some(gap) = self.gap_ns else { return };
        self.at += match &mut self.random {
            None => gap,
            // The inverse of the exponential distribution; 1 − u is never 0.
            Some(random) => -gap * (1.0 - random.unit()).ln(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_moments_do_not_drift() {
        let mut pacer = Schedule::Constant { per_second: 3.0 }.pacer(7);
        assert_eq!(pacer.next_due(), Some(7));
        let last = (1..=30_000).filter_map(|_| pacer.next_due()).last().unwrap();
        assert!(last.abs_diff(10_000 * SECOND + 7) < 1_000, "{last}");
    }

    #[test]
    fn poisson_moments_have_their_mean_and_spread() {
        let mut pacer = Schedule::Poisson { per_second: 1_000.0, seed: 1 }.pacer(0);
        let moments: Vec<_> = (0..100_000).filter_map(|_| pacer.next_due()).collect();
        assert!(moments.is_sorted());
        let seconds = *moments.last().unwrap() as f64 / SECOND as f64;
        assert!((99.0..101.0).contains(&seconds), "{seconds}");
        // The count a second of a Poisson stream has a variance equal to its mean.
        let counts: Vec<f64> = (0..90).map(|s| moments.iter().filter(|&&at| at / SECOND == s).count() as f64).collect();
        let mean = counts.iter().sum::<f64>() / 90.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 89.0;
        assert!((600.0..1_600.0).contains(&variance), "{variance}");
    }

    #[test]
    fn closed_loops_and_arrivals_have_no_moments_of_their_own() {
        assert_eq!(Schedule::Closed.pacer(5).next_due(), None);
        assert_eq!(Schedule::Arrivals.pacer(5).next_due(), None);
    }
}
