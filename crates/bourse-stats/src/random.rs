//! Random numbers for purposes without a reference sequence.

/// A small generator (SplitMix64) for purposes without a reference sequence: keys, moments, pauses, resampling, and
/// many seeds from one.
///
/// ```
/// use bourse_stats::SplitMix;
/// assert_eq!(SplitMix::new(1_234_567).next(), 6_457_827_717_110_365_317); // the published first number of that seed
/// ```
#[derive(Debug, Clone, Default)]
pub struct SplitMix(u64);

impl SplitMix {
    /// Starts the sequence of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Next number, uniform over `u64`.
    #[expect(clippy::should_implement_trait, reason = "the stream never ends: there is no None to return")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Next number, uniform from 0.0 (inclusive) to 1.0 (exclusive).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Next number from 0 (inclusive) to `n` (exclusive); 0 if `n` is 0. The bias is below n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Shuffles values; every order is equally likely.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for at in (1..values.len()).rev() {
            values.swap(at, self.below(at as u64 + 1) as usize);
        }
    }

    /// Next normal number, of mean 0 and standard deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_a_bound_stay_below_it() {
        let mut random = SplitMix::new(1);
        assert!((0..1_000).all(|n| random.below(n + 1) <= n));
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn normal_numbers_have_their_mean_and_deviation() {
        let mut random = SplitMix::new(2);
        let values: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let square = values.iter().map(|it| it * it).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.04, "{mean} {square}");
    }
}
