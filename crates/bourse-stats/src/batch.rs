//! Mean of one series with its interval, by batch means: neighbouring moments are alike, means of long enough stretches are less so.
//!
//! The series is cut into [`BATCHES`] batches. The interval of its mean is Student's over the batches' means (Law, Simulation
//! Modeling and Analysis, 9.5.3), widened twice: by what neighbouring batches still share, and by how little a short series
//! tells of that. The latter goes by the integrated autocorrelation time, the number of neighbouring values that are worth one
//! independent value: 1 + 2 Σ ρ(k), the sum taken over pairs of neighbouring lags until a pair is no longer positive (Geyer,
//! Practical Markov Chain Monte Carlo, 1992). In a series of few such times it is mostly found too short, and a rule that
//! refuses many series keeps those where it was: their intervals miss most often. So nearly every series has an interval,
//! a wide one if need be.
//!
//! How often these intervals hold the mean of simulated series is this module's test:
#![doc = include_str!("batch.md")]

use crate::{Estimate, Interval, LEVEL};

/// Batches that a series is cut into; of a short one up to half as many again.
pub const BATCHES: usize = 20;

/// Fewest values that have an interval.
const FEWEST_VALUES: usize = 3 * BATCHES;

/// Fewest autocorrelation times that a series with an interval has.
const FEWEST_TIMES: f64 = 6.0;

/// An interval is wider by the autocorrelation time's part of the series, so many times. With half as many, 91 % of the intervals
/// of 10 s hold the mean where what happens lasts 1.2 s; with these, 95 %.
const WIDER: f64 = 8.0;

/// Mean of a series, with what its interval rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesMean {
    /// Mean; its interval is none where the series is too short.
    pub mean: Estimate,
    /// Neighbouring values that are worth one independent value, at least 1.
    pub autocorrelation: f64,
    /// Values in a batch.
    pub batch: usize,
    /// Batches.
    pub batches: usize,
    /// Values from which on what neighbours share does not stand against an interval.
    pub needs: f64,
}

/// Mean of a series of values at equal distances, whose number was fixed before. None without values.
///
/// ```
/// use bourse_stats::{SplitMix, batch};
/// let mut random = SplitMix::new(1);
/// let values: Vec<f64> = (0..200).map(|_| 100.0 + 5.0 * random.normal()).collect();
/// let found = batch::mean(&values).unwrap();
/// assert!(found.mean.interval.unwrap().holds(100.0) && found.batches == batch::BATCHES);
/// ```
pub fn mean(values: &[f64]) -> Option<SeriesMean> {
    if values.is_empty() {
        return None;
    }
    let autocorrelation = autocorrelation_time(values);
    let count = values.len() as f64;
    let batch = (values.len() / BATCHES).max(1);
    let means = batches(values, batch);
    let value = means.iter().sum::<f64>() / means.len() as f64;
    let needs = FEWEST_TIMES * autocorrelation;
    let interval = (values.len() >= FEWEST_VALUES && count >= needs).then(|| {
        let found = interval_of(&means, value, LEVEL);
        let half = found.half_width() * (1.0 + WIDER * autocorrelation / count);
        Interval { low: value - half, high: value + half, ..found }
    });
    Some(SeriesMean { mean: Estimate { value, interval }, autocorrelation, batch, batches: means.len(), needs })
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

    /// Lengths of simulated series, in steps of 0.1 s.
    const LENGTHS: [usize; 4] = [100, 300, 400, 600];
    /// For how many seconds what happens lasts, on average; nothing lasts in the first.
    const LASTS: [f64; 7] = [0.0, 0.1, 0.2, 0.4, 0.8, 1.2, 2.4];

    /// Of 1,000 series of that length: how many have an interval, and which share of those intervals holds the mean.
    fn simulated(lasts: f64, length: usize) -> (u32, f64) {
        let share = if lasts > 0.0 { (-0.1 / lasts).exp() } else { 0.0 };
        let mut random = SplitMix::new(9);
        let (mut told, mut held) = (0, 0);
        for _ in 0..1_000 {
            let mut off = random.normal();
            let mut next = || {
                off = share * off + (1.0_f64 - share * share).sqrt() * random.normal();
                100.0 + 10.0 * off
            };
            let values: Vec<f64> = (0..length).map(|_| next()).collect();
            if let Some(interval) = mean(&values).unwrap().mean.interval {
                told += 1;
                held += u32::from(interval.holds(100.0));
            }
        }
        (told, f64::from(held) / f64::from(told.max(1)))
    }

    #[test]
    fn the_interval_holds_the_mean_as_often_as_it_says_and_the_table_says_how_often() {
        let seconds = LENGTHS.map(|length| format!("{} s", length / 10)).join(" | ");
        let mut table = format!("\n| what happens lasts | {seconds} |\n|---|---|---|---|---|\n");
        for lasts in LASTS {
            let cells = LENGTHS.map(|length| {
                let (told, held) = simulated(lasts, length);
                let (told, held) = (f64::from(told) / 10.0, 100.0 * held);
                // A round of 10 s has room for four of what lasts 2.4 s.
                let least = if lasts <= 0.8 || length >= 300 { 93.0 } else { 80.0 };
                assert!(held >= least, "{lasts} s in {length} steps: {held} % of {told} %");
                assert!(told >= 95.0 || lasts > 0.4 && length < 600, "{lasts} s in {length} steps: {told} % told");
                format!("{held:.0} / {told:.0}")
            });
            let name = if lasts > 0.0 { format!("{lasts} s") } else { "no longer than a step".to_owned() };
            table.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
        }
        table.push_str(
            "\nPer cent of the intervals that hold the mean / per cent of the rounds that have one, of 1,000 rounds each, \
             counted ten times a second.\n",
        );
        crate::table::check("batch.md", include_str!("batch.md"), &table);
    }

    #[test]
    fn too_short_a_series_has_no_interval() {
        assert_eq!(mean(&[]), None);
        let few = mean(&[1.0; 59]).unwrap();
        assert_eq!((few.mean.interval, few.needs), (None, 6.0));
        assert_eq!(mean(&[1.0; 60]).unwrap().mean.interval.map(|it| (it.low, it.high)), Some((1.0, 1.0)));
        // A rate that rises all the time tells of no mean, however many values it has.
        let rising: Vec<f64> = (0..200).map(f64::from).collect();
        let found = mean(&rising).unwrap();
        assert!(found.mean.interval.is_none() && found.needs > 200.0, "{found:?}");
    }
}
