//! Schedule of a user's operations: a value, so that one loop serves closed and open workloads alike.

use crate::{Nanos, SECOND};
use bourse_record::{ArrivalStreams, SplitMix};
use thiserror::Error;

/// Rule for the due times of one user's operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// Closed loop: the next operation is due when the last has ended; one is outstanding for each user.
    Closed,
    /// Constant rate at even distances, whatever the engine does.
    Constant {
        /// Operations per second of this user.
        per_second: f64,
    },
    /// Random moments of a constant mean rate, as from many independent customers.
    Poisson {
        /// Mean operations per second of this user.
        per_second: f64,
        /// Seed of the moments.
        seed: u64,
    },
    /// Shared stream of all users that have this schedule: the next free user takes the next operation.
    Shared {
        /// Operations per second of all these users together.
        per_second: f64,
        /// Seed of random moments, as of [`Schedule::Poisson`]; even distances if `None`. The first user's seed is
        /// used.
        seed: Option<u64>,
    },
    /// Due times set by another part of the workload: the user's draw returns them.
    Arrivals,
}

/// Operations of all users together that are due at a rate, whatever the engine does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenLoop {
    /// Operations a second of all users together.
    pub per_second: f64,
    /// Whether they are due at even distances instead of random moments.
    pub evenly: bool,
    /// Whether they come in one stream for all users, and not in one for each.
    pub shared: bool,
}

impl OpenLoop {
    /// Seconds that an operation may wait for its user before it is dropped, unless set otherwise.
    const BACKLOG_S: f64 = 5.0;

    /// Schedule of one of so many users.
    pub fn schedule(self, users: usize, seed: u64) -> Schedule {
        if self.shared {
            return Schedule::Shared { per_second: self.per_second, seed: (!self.evenly).then_some(seed) };
        }
        let per_second = self.per_second / users.max(1) as f64;
        if self.evenly { Schedule::Constant { per_second } } else { Schedule::Poisson { per_second, seed } }
    }

    /// Most operations that may be due and wait in each stream.
    pub fn backlog(self, users: usize) -> usize {
        let streams = if self.shared { 1 } else { users.max(1) };
        (self.per_second / streams as f64 * Self::BACKLOG_S).ceil().max(1.0) as usize
    }

    /// Streams of arrivals, for documents.
    pub fn streams(self) -> ArrivalStreams {
        if self.shared { ArrivalStreams::Shared } else { ArrivalStreams::PerUser }
    }
}

/// A rate that is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "a rate of {per_second} operations a second for one user cannot be drawn: from {} to {} are possible",
    Schedule::LOWEST,
    Schedule::HIGHEST
)]
pub struct RateError {
    /// Rate in operations per second.
    pub per_second: f64,
}

impl Schedule {
    /// Minimum rate of one user: one operation in eleven days.
    pub const LOWEST: f64 = 1e-6;
    /// Maximum rate of one user. Moments are drawn between operations, and those of a much higher rate would take
    /// longer to draw than they last.
    pub const HIGHEST: f64 = 1e7;

    /// Whether the schedule itself determines when operations are due.
    pub fn has_moments(&self) -> bool {
        match self {
            Self::Closed | Self::Arrivals => false,
            Self::Constant { .. } | Self::Poisson { .. } | Self::Shared { .. } => true,
        }
    }

    /// Refuses rates that are out of range.
    ///
    /// # Errors
    /// [`RateError`] with the rate.
    pub fn check(&self) -> Result<(), RateError> {
        match *self {
            Self::Closed | Self::Arrivals => Ok(()),
            Self::Constant { per_second } | Self::Poisson { per_second, .. } | Self::Shared { per_second, .. } => {
                // NaN is in no range.
                let is_possible = (Self::LOWEST..=Self::HIGHEST).contains(&per_second);
                if is_possible { Ok(()) } else { Err(RateError { per_second }) }
            }
        }
    }

    /// The moments from `from` on.
    ///
    /// # Panics
    /// Panics if [`Schedule::check`] refuses the rate; a round checks it before it begins.
    pub fn pacer(&self, from: Nanos) -> Pacer {
        self.check().expect("a round begins with schedules that were checked");
        let gap = |per_second: f64| SECOND as f64 / per_second;
        let (gap_ns, random) = match *self {
            Self::Closed | Self::Arrivals => (None, None),
            Self::Constant { per_second } => (Some(gap(per_second)), None),
            Self::Poisson { per_second, seed } => (Some(gap(per_second)), Some(SplitMix::new(seed))),
            Self::Shared { per_second, seed } => (Some(gap(per_second)), seed.map(SplitMix::new)),
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
    /// Next moment in nanoseconds with a fraction, so that a rate that divides no second stays exact over hours.
    at: f64,
}

impl Pacer {
    /// Due time of the next operation; `None` if the schedule does not determine it.
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
    fn rates_that_cannot_be_drawn_are_refused() {
        for per_second in [0.0, -1.0, 1e-300, 1e8, 1e300, f64::INFINITY, f64::NAN] {
            let refused = Schedule::Constant { per_second }.check().unwrap_err();
            assert!(
                refused.to_string().ends_with("cannot be drawn: from 0.000001 to 10000000 are possible"),
                "{refused}"
            );
            assert!(Schedule::Poisson { per_second, seed: 1 }.check().is_err());
        }
        for per_second in [Schedule::LOWEST, 1.0, Schedule::HIGHEST] {
            assert_eq!(Schedule::Constant { per_second }.check(), Ok(()));
        }
        assert_eq!((Schedule::Closed.check(), Schedule::Arrivals.check()), (Ok(()), Ok(())));
    }

    #[test]
    fn closed_loops_and_arrivals_have_no_moments_of_their_own() {
        assert_eq!(Schedule::Closed.pacer(5).next_due(), None);
        assert_eq!(Schedule::Arrivals.pacer(5).next_due(), None);
    }
}
