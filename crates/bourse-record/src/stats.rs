//! Random numbers that no reference prescribes, and how sure a figure over several rounds is.

/// A small generator (SplitMix64) for what no reference prescribes: keys, moments, pauses, resampling, and many seeds
/// from one.
///
/// ```
/// use bourse_record::SplitMix;
/// assert_eq!(SplitMix::new(1_234_567).next(), 6_457_827_717_110_365_317); // the published first number of that seed
/// ```
#[derive(Debug, Clone, Default)]
pub struct SplitMix(u64);

impl SplitMix {
    /// A stream of that seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "the stream never ends: there is no None to return")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In 0.0 (inclusive) to 1.0 (exclusive).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In 0 (inclusive) to `n` (exclusive); 0 if `n` is 0. The bias is below n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

/// The range that a figure lies in, as far as its rounds tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The middle of the sorted values; of an even number the mean of the two in the middle. None without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Rounds from which an interval can be told: resampling one or two says nothing.
pub const FEWEST_ROUNDS: usize = 3;

/// The 95 % percentile-bootstrap interval of the median over rounds: rounds are drawn again and again with replacement,
/// 10,000 times, always by the same random numbers, so that a stored run gives the same interval every time.
///
/// None of fewer than [`FEWEST_ROUNDS`].
///
/// ```
/// let interval = bourse_record::median_interval(&[98.0, 100.0, 101.0, 99.0, 130.0]).unwrap();
/// assert_eq!((interval.low, interval.high), (98.0, 130.0));
/// assert_eq!(bourse_record::median_interval(&[1.0, 2.0]), None);
/// ```
pub fn median_interval(rounds: &[f64]) -> Option<Interval> {
    const RESAMPLES: usize = 10_000;
    if rounds.len() < FEWEST_ROUNDS {
        return None;
    }
    let mut random = SplitMix::new(rounds.len() as u64);
    let mut drawn = vec![0.0; rounds.len()];
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            drawn.fill_with(|| rounds[random.below(rounds.len() as u64) as usize]);
            drawn.sort_by(f64::total_cmp);
            median_of_sorted(&drawn).expect("as many as there are rounds")
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    Some(Interval { low: medians[RESAMPLES / 40], high: medians[RESAMPLES - 1 - RESAMPLES / 40] })
}

/// The 95 % percentile-bootstrap interval of one median divided by another, of rounds that have nothing to do with one
/// another; always by the same random numbers.
///
/// None of fewer than [`FEWEST_ROUNDS`] on either side, or of rounds that are not above 0.
///
/// ```
/// let interval = bourse_record::ratio_interval(&[100.0, 101.0, 99.0], &[110.0, 111.0, 109.0]).unwrap();
/// assert!(interval.low > 1.07 && interval.high < 1.13);
/// assert_eq!(bourse_record::ratio_interval(&[1.0; 3], &[1.0, 2.0]), None);
/// ```
pub fn ratio_interval(base: &[f64], head: &[f64]) -> Option<Interval> {
    const RESAMPLES: usize = 10_000;
    if base.len().min(head.len()) < FEWEST_ROUNDS || base.iter().any(|round| *round <= 0.0) {
        return None;
    }
    let mut random = SplitMix::new((base.len() * 1_000 + head.len()) as u64);
    let mut drawn = Vec::new();
    let mut resampled = |rounds: &[f64]| {
        drawn.clear();
        drawn.extend((0..rounds.len()).map(|_| rounds[random.below(rounds.len() as u64) as usize]));
        drawn.sort_by(f64::total_cmp);
        median_of_sorted(&drawn).expect("as many as there are rounds")
    };
    let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| resampled(head) / resampled(base)).collect();
    ratios.sort_by(f64::total_cmp);
    Some(Interval { low: ratios[RESAMPLES / 40], high: ratios[RESAMPLES - 1 - RESAMPLES / 40] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_covers_the_true_median_about_as_often_as_it_says() {
        let mut random = SplitMix::new(5);
        let covered = (0..200)
            .filter(|_| {
                let rounds: Vec<f64> = (0..11).map(|_| 0.5 + random.unit()).collect();
                let interval = median_interval(&rounds).unwrap();
                interval.low <= 1.0 && 1.0 <= interval.high
            })
            .count();
        // A percentile bootstrap of so few rounds covers some 90 to 98 %.
        assert!((176..=198).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median_interval(&[7.0; 5]), Some(Interval { low: 7.0, high: 7.0 }));
    }

    #[test]
    fn numbers_below_a_bound_stay_below_it() {
        let mut random = SplitMix::new(1);
        assert!((0..1_000).all(|n| random.below(n + 1) <= n));
        assert_eq!(random.below(0), 0);
    }
}
