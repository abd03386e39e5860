//! A latency histogram that costs a few nanoseconds a sample and holds memory only for the times that occur.

use crate::{Distribution, LatencySummary};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// Buckets of HdrHistogram's own layout for 1 ns at three significant figures: exact up to 2,047 ns, beyond that 1,024
/// buckets an octave, so that a bucket is never wider than a thousandth of its value.
///
/// HdrHistogram's own type holds all 33,000 buckets from the start: 260 KiB for every operation and outcome of every
/// user. This type allocates a stretch of 64 buckets when the first time falls into it, with four bytes a bucket;
/// counts beyond 2^32 are carried in a map. [`Counts::histogram`] converts to HdrHistogram's type, bucket for bucket.
///
/// ```
/// use bourse_record::Counts;
/// let mut counts = Counts::new();
/// counts.record_many(1_000, 99);
/// counts.record(1_000_000);
/// let summary = counts.summary();
/// assert_eq!((summary.count, summary.p50_ns), (100, 1_000));
/// assert_eq!(summary.max_ns, 1_000_447); // the upper end of its bucket, which is less than 0.1 % wide
/// ```
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Index into `cells` of each stretch, or [`Self::NONE`]; empty before the first sample.
    places: Vec<u16>,
    cells: Vec<[u32; Self::STRETCH]>,
    /// Overflow of 32-bit buckets by bucket index, in units of 2^32.
    carried: BTreeMap<usize, u64>,
    clamped: u64,
}

impl Counts {
    /// Longest time that is resolved, in nanoseconds: one hour.
    pub const LONGEST_NS: u64 = 3_600_000_000_000;

    const EXACT: usize = 2_048;
    const OCTAVE: usize = 1_024;
    const BUCKETS: usize = Self::index(Self::LONGEST_NS) + 1;
    const STRETCH: usize = 64;
    const STRETCHES: usize = Self::BUCKETS.div_ceil(Self::STRETCH);
    /// Index of a stretch that is not allocated.
    const NONE: u16 = u16::MAX;

    /// Empty counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one sample. A time beyond the range is counted in the last bucket, and as clamped.
    pub fn record(&mut self, ns: u64) {
        self.record_many(ns, 1);
    }

    /// Counts `many` samples of the same duration. With `many` = 0, only allocates the bucket for that duration.
    #[inline]
    pub fn record_many(&mut self, ns: u64, many: u64) {
        let within = ns.min(Self::LONGEST_NS);
        self.clamped += if within == ns { 0 } else { many };
        self.count(Self::index(within), many);
    }

    #[inline]
    fn count(&mut self, index: usize, many: u64) {
        let stretch = index / Self::STRETCH;
        let place = match self.places.get(stretch) {
            Some(&place) if place != Self::NONE => usize::from(place),
            _ => self.grow(stretch),
        };
        let cell = &mut self.cells[place][index % Self::STRETCH];
        let (sum, carries) = cell.overflowing_add(many as u32);
        *cell = sum;
        let above = (many >> u32::BITS) + u64::from(carries);
        if above > 0 {
            *self.carried.entry(index).or_default() += above;
        }
    }

    /// Allocates a stretch and returns its index.
    #[cold]
    fn grow(&mut self, stretch: usize) -> usize {
        self.places.resize(Self::STRETCHES, Self::NONE);
        if self.cells.len() == self.cells.capacity() {
            // Doubling would leave up to half of it unused, for each of a thousand users.
            self.cells.reserve_exact(self.cells.len() / 4 + 2);
        }
        let place = self.cells.len();
        self.cells.push([0; Self::STRETCH]);
        self.places[stretch] = u16::try_from(place).expect("there are fewer stretches than a u16 counts");
        place
    }

    /// Buckets with samples and their counts, shortest time first.
    fn buckets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let allocated = self.places.iter().enumerate().filter(|(_, place)| **place != Self::NONE);
        allocated
            .flat_map(|(stretch, &place)| {
                let first = stretch * Self::STRETCH;
                let cells = self.cells[usize::from(place)].iter().enumerate();
                cells.map(move |(at, &count)| (first + at, u64::from(count)))
            })
            .map(|(index, count)| {
                let above = if self.carried.is_empty() { 0 } else { self.carried.get(&index).copied().unwrap_or(0) };
                (index, count + (above << u32::BITS))
            })
            .filter(|(_, count)| *count > 0)
    }

    /// Adds the samples of other counts, without loss.
    pub fn add(&mut self, other: &Self) {
        self.clamped += other.clamped;
        other.buckets().for_each(|(index, count)| self.count(index, count));
    }

    /// Number of samples.
    pub fn len(&self) -> u64 {
        self.buckets().map(|(_, count)| count).sum()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.buckets().next().is_none()
    }

    /// Number of samples beyond the range.
    pub fn clamped(&self) -> u64 {
        self.clamped
    }

    /// Memory held on the heap, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<u16>() + self.cells.capacity() * size_of::<[u32; Self::STRETCH]>()) as u64
    }

    /// Converts to HdrHistogram's type.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram =
            Histogram::new_with_bounds(1, Self::LONGEST_NS, 3).expect("these bounds are valid, being constant");
        for (index, count) in self.buckets() {
            histogram.record_n(Self::lowest(index), count).expect("the bucket lies within the same bounds");
        }
        histogram
    }

    /// Distribution in the run file's form.
    pub fn distribution(&self) -> Distribution {
        Distribution::of(&self.histogram(), self.clamped)
    }

    /// Summary with quantiles, in nanoseconds.
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

    /// Smallest time of a bucket, in nanoseconds.
    const fn lowest(index: usize) -> u64 {
        if index < Self::EXACT {
            return index as u64;
        }
        let shift = (index - Self::EXACT) / Self::OCTAVE + 1;
        let within = (index - Self::EXACT) % Self::OCTAVE + Self::OCTAVE;
        (within as u64) << shift
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

    #[test]
    fn memory_follows_the_times_that_occur_and_zero_samples_make_room() {
        let mut counts = Counts::new();
        assert_eq!(counts.memory_bytes(), 0);
        counts.record_many(1_000_000, 0);
        assert!(counts.is_empty() && counts.memory_bytes() < 2_048, "{} bytes", counts.memory_bytes());
        let room = counts.memory_bytes();
        counts.record(1_000_000);
        assert_eq!((counts.len(), counts.memory_bytes()), (1, room));
        // Every bucket from 16 us to 1 s.
        (16_000..1_000_000_000).step_by(5_000).for_each(|ns| counts.record(ns));
        assert!(counts.memory_bytes() < 100_000, "{} bytes", counts.memory_bytes());
    }

    #[test]
    fn a_bucket_counts_beyond_its_32_bits() {
        let most = u64::from(u32::MAX);
        let mut counts = Counts::new();
        counts.record_many(700, most);
        counts.record_many(700, 2);
        counts.record_many(9_000, 3 * (most + 1) + 5);
        let mut sum = Counts::new();
        sum.record_many(700, most);
        sum.add(&counts);
        assert_eq!(sum.buckets().map(|(_, count)| count).collect::<Vec<_>>(), [2 * most + 2, 3 * (most + 1) + 5]);
        assert_eq!(sum.histogram().len(), sum.len());
    }

    proptest! {
        /// Compares quantiles with those of the sorted samples.
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

        /// Compares every bucket with HdrHistogram's.
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
