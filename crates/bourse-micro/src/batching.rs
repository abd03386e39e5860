//! Batches of short operations: timing each alone would read the clock twice, which costs as much as some of them take.

use crate::options::{OptionKind, WorkloadOption, option};
use bourse_driver::{Clock, Nanos, SplitMix};

/// Option: the number of operations timed together.
pub(crate) const BATCH: WorkloadOption = option!("batch" => OptionKind::CountOr { word: "auto", min: 1, max: 100_000 }, "auto",
    "operations timed together; auto: as many as fill 20 µs, so longer operations are timed one by one");

/// Size of the next sample, in operations.
#[derive(Debug, Clone)]
pub(crate) struct Batching {
    size: u64,
    by: SizeRule,
    handed_out: Nanos,
}

/// Rule for the size of the next sample.
#[derive(Debug, Clone)]
enum SizeRule {
    /// A fixed number.
    Number,
    /// A number that takes about the target time.
    Time,
    /// Alternation of one operation timed alone and several that are only counted; their number is drawn.
    Turns { is_alone: bool, random: SplitMix },
}

impl Batching {
    const FILL_NS: f64 = 20_000.0;
    const MAX_BATCH: u64 = 1_000;

    /// Batches of a fixed size, or as large as the target time allows.
    pub(crate) const fn new(fixed: Option<u64>) -> Self {
        match fixed {
            Some(size) => Self { size, by: SizeRule::Number, handed_out: 0 },
            None => Self { size: 1, by: SizeRule::Time, handed_out: 0 },
        }
    }

    /// Times one of [`Self::ONE_IN`] operations alone, on average, and counts the others. Their number is drawn each
    /// time, evenly from a half to one and a half times the mean: at even distances the one alone might always meet, or
    /// always miss, a periodic event.
    pub(crate) const fn sampled(seed: u64) -> Self {
        Self { size: 1, by: SizeRule::Turns { is_alone: true, random: SplitMix::new(seed) }, handed_out: 0 }
    }

    /// Mean number of operations per operation timed alone, if sampled.
    pub(crate) const ONE_IN: u64 = 64;

    /// Whether the next sample is timed, and not only counted.
    pub(crate) const fn is_timed(&self) -> bool {
        !matches!(self.by, SizeRule::Turns { is_alone: false, .. })
    }

    /// Size of the next batch, of at most `left` operations. The clock is read only if no size is fixed: a reading is a
    /// good part of what a sample costs.
    ///
    /// A variable size follows the time of the previous batch, upwards immediately and downwards slowly: one slow
    /// operation among many quick ones is no reason to time the quick ones alone.
    #[inline]
    pub(crate) fn next(&mut self, clock: &dyn Clock, left: u64) -> u64 {
        match &mut self.by {
            SizeRule::Number => {}
            SizeRule::Time => self.follow(clock.now()),
            SizeRule::Turns { is_alone, random } => {
                *is_alone = !*is_alone;
                // From 32 to 94, 63 on average.
                self.size = if *is_alone { 1 } else { Self::ONE_IN / 2 + random.below(Self::ONE_IN - 1) };
            }
        }
        self.size.min(left)
    }

    fn follow(&mut self, now: Nanos) {
        if self.handed_out > 0 {
            let each = now.saturating_sub(self.handed_out).max(1) as f64 / self.size as f64;
            let wanted = ((Self::FILL_NS / each) as u64).clamp(1, Self::MAX_BATCH);
            self.size = if wanted >= self.size { wanted } else { (self.size * 7 + wanted) / 8 }.max(1);
        }
        self.handed_out = now.max(1);
    }

    /// Marks the start of the batch, after its inputs were drawn: drawing is not part of its time.
    #[inline]
    pub(crate) fn begins(&mut self, clock: &dyn Clock) {
        if matches!(self.by, SizeRule::Time) {
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

    #[test]
    fn one_in_sixty_four_is_alone_at_distances_that_do_not_repeat() {
        let clock = SimulatedClock::new();
        let mut batching = Batching::sampled(3);
        let (mut operations, mut alone, mut phases) = (0, 0, [0; 16]);
        while alone < 10_000 {
            let size = batching.next(&clock, u64::MAX);
            assert_eq!(batching.is_timed(), size == 1);
            if size == 1 {
                alone += 1;
                phases[(operations % 16) as usize] += 1;
            }
            operations += size;
        }
        let one_in = operations as f64 / 10_000.0;
        // A number from 32 to 94 scatters by 18: the mean of ten thousand by 0.18.
        assert!((one_in - 64.0).abs() < 1.0, "{one_in}");
        // Whatever comes every 16 operations is met as often as all else: 625 times, give or take five times 24.
        assert!(phases.iter().all(|&count| (505..745).contains(&count)), "{phases:?}");
        assert!(Batching::new(None).is_timed());
        assert_eq!(Batching::sampled(1).next(&clock, 5), 5, "never more than are left");
    }
}
