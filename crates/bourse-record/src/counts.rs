//! A latency histogram that costs a few nanoseconds a sample: fixed memory, no allocation, no branch that can fail.

use crate::{Distribution, LatencySummary};
use hdrhistogram::Histogram;

/// Buckets of HdrHistogram's own layout for 1 ns at three significant figures: exact up to 2,047 ns, beyond that 1,024
/// buckets an octave, so that a bucket is never wider than a thousandth of its value.
///
/// Our own array instead of the crate's type because the crate writes every bucket when it is made; this one is zeroed by
/// the system page by page when first touched, so that a histogram for every operation and outcome of every user costs
/// next to nothing until it is needed. [`Counts::histogram`] gives the crate's type, bucket for bucket.
#[derive(Debug, Clone)]
pub struct Counts {
    buckets: Box<[u64]>,
    clamped: u64,
}

impl Counts {
    /// The longest time told apart, in nanoseconds: an hour.
    pub const LONGEST_NS: u64 = 3_600_000_000_000;

    const EXACT: usize = 2_048;
    const OCTAVE: usize = 1_024;
    const BUCKETS: usize = Self::index(Self::LONGEST_NS) + 1;

    /// Nothing counted yet.
    pub fn new() -> Self {
        Self { buckets: vec![0; Self::BUCKETS].into_boxed_slice(), clamped: 0 }
    }

    /// Counts one sample; one beyond the range is counted at its end, and as clamped.
    pub fn record(&mut self, ns: u64) {
        self.record_many(ns, 1);
    }

    /// Counts `many` samples of the same length.
    pub fn record_many(&mut self, ns: u64, many: u64) {
        let within = ns.min(Self::LONGEST_NS);
        self.clamped += if within == ns { 0 } else { many };
        self.buckets[Self::index(within)] += many;
    }

    /// Adds another's samples, without loss.
    pub fn add(&mut self, other: &Self) {
        self.clamped += other.clamped;
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Samples counted.
    pub fn len(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.buckets.iter().all(|&count| count == 0)
    }

    /// Samples that were beyond the range.
    pub fn clamped(&self) -> u64 {
        self.clamped
    }

    /// The same counts as HdrHistogram's type.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram =
            Histogram::new_with_bounds(1, Self::LONGEST_NS, 3).expect("these bounds are valid, being constant");
        for (index, &count) in self.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            histogram.record_n(Self::lowest(index), count).expect("the bucket lies within the same bounds");
        }
        histogram
    }

    /// As the run file keeps it.
    pub fn distribution(&self) -> Distribution {
        Distribution::of(&self.histogram(), self.clamped)
    }

    /// Its quantiles.
    pub fn summary(&self) -> LatencySummary {
        LatencySummary::of(&self.histogram())
    }

    const fn index(ns: u64) -> usize {
        if ns < Self::EXACT as u64 {
            return ns as usize;
        }
        let shift = (u64::BITS - 1 - ns.leading_zeros()) as usize - 10;
        Self::EXACT + (shift - 1) * Self::OCTAVE + ((ns >> shift) as usize - Self::OCTAVE)
    }

    /// The smallest time that falls into a bucket.
    const fn lowest(index: usize) -> u64 {
        if index < Self::EXACT {
            return index as u64;
        }
        let shift = (index - Self::EXACT) / Self::OCTAVE + 1;
        let within = (index - Self::EXACT) % Self::OCTAVE + Self::OCTAVE;
        (within as u64) << shift
    }
}

impl Default for Counts {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_bucket_begins_where_the_one_before_ends() {
        for index in 0..Counts::BUCKETS {
            let lowest = Counts::lowest(index);
            assert_eq!(Counts::index(lowest), index);
            if lowest > 0 {
                assert_eq!(Counts::index(lowest - 1), index - 1);
            }
        }
    }

    #[test]
    fn what_is_beyond_the_range_is_counted_at_its_end_and_told() {
        let mut counts = Counts::new();
        counts.record(Counts::LONGEST_NS);
        counts.record(u64::MAX);
        assert_eq!((counts.len(), counts.clamped()), (2, 1));
        let kept = counts.distribution();
        assert_eq!(kept.clamped, 1);
        assert!(kept.summary.max_ns.abs_diff(Counts::LONGEST_NS) <= Counts::LONGEST_NS / 1_000);
    }

    proptest! {
        /// Against the samples themselves, sorted.
        #[test]
        fn quantiles_are_within_a_thousandth_of_sorting(
            mut samples in prop::collection::vec((0u32..42, any::<u64>()).prop_map(|(bits, raw)| raw % (1 << bits).max(1)), 1..500),
        ) {
            let mut counts = Counts::new();
            samples.iter().for_each(|&ns| counts.record(ns));
            samples.sort_unstable();
            let histogram = counts.histogram();
            prop_assert_eq!(histogram.len(), samples.len() as u64);
            for quantile in [0.0, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
                let rank = ((quantile * samples.len() as f64).ceil() as usize).clamp(1, samples.len());
                let exact = samples[rank - 1].min(Counts::LONGEST_NS);
                let found = histogram.value_at_quantile(quantile);
                prop_assert!(found.abs_diff(exact) as f64 <= exact as f64 / 1_000.0, "q{quantile}: {found}, sorted {exact}");
            }
        }

        /// Against HdrHistogram itself, bucket for bucket.
        #[test]
        fn the_crate_counts_the_same(samples in prop::collection::vec(0..Counts::LONGEST_NS, 0..200)) {
            let mut counts = Counts::new();
            let mut reference = Histogram::<u64>::new_with_bounds(1, Counts::LONGEST_NS, 3).unwrap();
            for &ns in &samples {
                counts.record(ns);
                reference.record(ns).unwrap();
            }
            prop_assert_eq!(counts.histogram(), reference);
        }
    }
}
