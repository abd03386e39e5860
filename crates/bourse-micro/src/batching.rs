//! Short operations are timed together: reading the clock twice would cost as much as some of them take.

use crate::options::{Kind, OptionSpec};
use bourse_driver::{Clock, Nanos};

/// The option that says how many operations are timed together.
pub(crate) const BATCH: OptionSpec = OptionSpec {
    name: "batch",
    kind: Kind::CountOr { word: "auto", min: 1, max: 100_000 },
    default: "auto",
    meaning: "operations timed together; auto: as many as fill 20 µs, so longer operations are timed one by one",
};

/// How many operations come next in one sample.
#[derive(Debug, Clone)]
pub(crate) struct Batching {
    size: u64,
    fixed: bool,
    handed_out: Nanos,
}

impl Batching {
    const FILL_NS: f64 = 20_000.0;
    const MOST: u64 = 1_000;

    /// Always that many, or as many as fill the time.
    pub(crate) const fn new(fixed: Option<u64>) -> Self {
        match fixed {
            Some(size) => Self { size, fixed: true, handed_out: 0 },
            None => Self { size: 1, fixed: false, handed_out: 0 },
        }
    }

    /// The size of the next batch, of at most `left` operations. The clock is read only where nothing is fixed: a reading is
    /// a good part of what a sample costs.
    ///
    /// Where nothing is fixed it follows what the batch before took, upwards at once and downwards slowly: one slow
    /// operation among many quick ones is no reason to time the quick ones alone.
    #[inline]
    pub(crate) fn next(&mut self, clock: &dyn Clock, left: u64) -> u64 {
        if !self.fixed {
            self.follow(clock.now());
        }
        self.size.min(left)
    }

    fn follow(&mut self, now: Nanos) {
        if self.handed_out > 0 {
            let each = now.saturating_sub(self.handed_out).max(1) as f64 / self.size as f64;
            let wanted = ((Self::FILL_NS / each) as u64).clamp(1, Self::MOST);
            self.size = if wanted >= self.size { wanted } else { (self.size * 7 + wanted) / 8 }.max(1);
        }
        self.handed_out = now.max(1);
    }

    /// The batch is drawn and begins: drawing is no part of what it takes.
    #[inline]
    pub(crate) fn begins(&mut self, clock: &dyn Clock) {
        if !self.fixed {
            self.handed_out = clock.now().max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_driver::SimulatedClock;

    fn auto() -> Batching {
        Batching::new(None)
    }

    #[test]
    fn batches_fill_their_time_and_long_operations_stay_alone() {
        let clock = SimulatedClock::new();
        clock.advance(1);
        let mut batching = auto();
        for _ in 0..5 {
            clock.advance(batching.next(&clock, u64::MAX) * 500);
        }
        assert_eq!(batching.next(&clock, u64::MAX), 40);
        clock.advance(40 * 500);
        assert_eq!(batching.next(&clock, 7), 7, "never more than are left");
        let mut batching = auto();
        for _ in 0..5 {
            assert_eq!(batching.next(&clock, u64::MAX), 1);
            clock.advance(1_000_000);
        }
        assert_eq!(Batching::new(Some(30)).next(&clock, u64::MAX), 30);
    }
}
