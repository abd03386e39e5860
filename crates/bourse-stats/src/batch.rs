//! Mean of one series with its interval, by batch means: neighbouring seconds are alike, means of long enough stretches are not.
//!
//! The length of a batch follows from the integrated autocorrelation time, the number of neighbouring values that are worth
//! one independent value: 1 + 2 Σ ρ(k), the sum taken over pairs of neighbouring lags until a pair is no longer positive
//! (Geyer, Practical Markov Chain Monte Carlo, 1992). The mean's interval is then Student's over the batches' means
//! (Law, Simulation Modeling and Analysis, 9.5.3).

use crate::{Estimate, Interval, LEVEL};

/// Fewest batches that have an interval.
pub const FEWEST_BATCHES: usize = 15;

/// Batches are this many times as long as the autocorrelation.
pub const LENGTHS: f64 = 2.0;

/// Mean of a series, with what its interval rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesMean {
    /// Mean; its interval is none where there are too few batches.
    pub mean: Estimate,
    /// Neighbouring values that are worth one independent value, at least 1.
    pub autocorrelation: f64,
    /// Values in a batch.
    pub batch: usize,
    /// Batches.
    pub batches: usize,
}

/// Mean of a series of values at equal distances. None without values.
///
/// The interval misses more often than it says while there are few batches: of 80 values each of which has half of the one
/// before, 10 % instead of 5. From 30 batches on it holds its level.
///
/// ```
/// use bourse_stats::{SplitMix, batch};
/// let mut random = SplitMix::new(1);
/// let values: Vec<f64> = (0..200).map(|_| 100.0 + 5.0 * random.normal()).collect();
/// let found = batch::mean(&values).unwrap();
/// assert!(found.mean.interval.unwrap().holds(100.0) && found.batches >= batch::FEWEST_BATCHES);
/// ```
pub fn mean(values: &[f64]) -> Option<SeriesMean> {
    if values.is_empty() {
        return None;
    }
    let autocorrelation = autocorrelation_time(values);
    let batch = ((LENGTHS * autocorrelation).round() as usize).clamp(1, values.len());
    let means = batches(values, batch);
    let value = means.iter().sum::<f64>() / means.len() as f64;
    let interval = (means.len() >= FEWEST_BATCHES).then(|| interval_of(&means, value, LEVEL));
    Some(SeriesMean { mean: Estimate { value, interval }, autocorrelation, batch, batches: means.len() })
}

/// Student's interval of the mean of batches whose means these are.
pub(crate) fn interval_of(means: &[f64], value: f64, level: f64) -> Interval {
    let count = means.len() as f64;
    let variance = means.iter().map(|it| (it - value).powi(2)).sum::<f64>() / (count - 1.0);
    let common: f64 = means.windows(2).map(|it| (it[0] - value) * (it[1] - value)).sum::<f64>() / (count - 1.0);
    // What batches still tell of the next widens the interval.
    let left = if variance > 0.0 { (common / variance + 1.0 / count).clamp(0.0, 0.9) } else { 0.0 };
    let half = student(count - 1.0, level) * (variance / count * (1.0 + left) / (1.0 - left)).sqrt();
    Interval { low: value - half, high: value + half, level }
}

/// Means of so many values in a row; what is left over is left out at the beginning.
pub(crate) fn batches(values: &[f64], length: usize) -> Vec<f64> {
    let left = values.len() % length;
    values[left..].chunks_exact(length).map(|it| it.iter().sum::<f64>() / length as f64).collect()
}

/// Neighbouring values that are worth one independent value; at least 1.
pub(crate) fn autocorrelation_time(values: &[f64]) -> f64 {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    // Values that are all alike leave rounding errors.
    if variance <= 1e-24 * n as f64 * mean * mean || n < 4 {
        return 1.0;
    }
    let rho = |lag: usize| {
        let common: f64 = values.iter().zip(&values[lag..]).map(|(one, other)| (one - mean) * (other - mean)).sum();
        common / variance
    };
    let mut sum = 0.0;
    let mut lag = 1;
    // rho(0) + rho(1) first, as the sequence of pair sums begins.
    let mut pair = 1.0 + rho(1);
    loop {
        if pair <= 0.0 || lag + 2 >= n {
            break;
        }
        sum += pair;
        pair = rho(lag + 1) + rho(lag + 2);
        lag += 2;
    }
    let raw = (2.0 * sum - 1.0).max(1.0);
    // Measured against the series' own mean every lag is too small by about the time itself divided by the length.
    raw / (1.0 - (raw / n as f64).min(0.5))
}

/// Student's quantile: |t| stays below it in that share of cases.
pub(crate) fn student(freedom: f64, level: f64) -> f64 {
    // Cornish and Fisher's expansion around the normal quantile: 0.1 % at 10 degrees of freedom.
    let z = normal_quantile(0.5 + level / 2.0);
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * freedom)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * freedom.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * freedom.powi(3))
}

fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if crate::signed_rank::normal_below(middle) < share { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, level, expected) in
            [(14.0, 0.95, 2.145), (29.0, 0.95, 2.045), (10.0, 0.99, 3.169), (100.0, 0.95, 1.984)]
        {
            assert!(
                (student(freedom, level) - expected).abs() < 0.005,
                "{freedom}, {level}: {}",
                student(freedom, level)
            );
        }
    }

    #[test]
    fn the_interval_holds_the_mean_as_often_as_it_says_from_30_batches_on() {
        let mut random = SplitMix::new(9);
        for share in [0.0, 0.5, 0.9] {
            let (mut told, mut held) = (0, 0);
            for _ in 0..1_000 {
                let mut off = random.normal();
                let mut next = || {
                    off = share * off + (1.0_f64 - share * share).sqrt() * random.normal();
                    100.0 + 10.0 * off
                };
                let values: Vec<f64> = (0..1_000).map(|_| next()).collect();
                let found = mean(&values).unwrap();
                if let Some(interval) = found.mean.interval {
                    told += 1;
                    held += u32::from(interval.holds(100.0));
                }
            }
            assert!(told >= 900, "{share}: {told} told");
            assert!(f64::from(held) >= 0.93 * f64::from(told), "{share}: {held} of {told}");
        }
    }

    #[test]
    fn too_short_a_series_has_no_interval() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0; 29]).unwrap().mean.interval, None);
        assert_eq!(mean(&[1.0; 30]).unwrap().mean.interval.map(|it| (it.low, it.high)), Some((1.0, 1.0)));
    }
}
