//! Mean of one series with its interval, by batch means: neighbouring values are correlated, means of long stretches
//! less so.
//!
//! The series is cut into [`BATCHES`] batches. The interval of its mean is Student's over the batches' means (Law,
//! Simulation Modeling and Analysis, 9.5.3), widened for two reasons: the remaining correlation of neighbouring
//! batches, and the uncertainty of that correlation in a short series. The latter depends on the integrated
//! autocorrelation time, the number of neighbouring values that are worth one independent value: 1 + 2 Σ ρ(k), the sum
//! taken over pairs of neighbouring lags until a pair is no longer positive (Geyer, Practical Markov Chain Monte Carlo,
//! 1992). In a series of few such times the estimate is mostly too short, and a rule that refuses series would retain
//! those with the worst estimates: their intervals miss most often. So a series that changes slowly has a wide interval
//! instead of none. The part of a trend that exceeds its standard error widens it further, since the rate may continue
//! to change.
//!
//! An interval is withheld if stalls, in which nothing or little is done (`STALLED`), are rare. Their number follows
//! Poisson's distribution: after two stalls up to seven may be usual. A single stall allows no estimate of their length:
//! it is taken as a third of the usual one, which widens the interval, unless that would exceed `LONG_STALLS` of the
//! mean.
//!
//! Coverage of these intervals for simulated series, verified by this module's test:
#![doc = include_str!("batch.md")]
//! Coverage for series of 40 s with a disturbance:
#![doc = include_str!("disturbed.md")]

use crate::estimate::median;
use crate::{Estimate, Interval, LEVEL};

/// Number of batches that a series is cut into; a short one into up to half as many again.
pub const BATCHES: usize = 20;

/// Minimum number of values for an interval.
const FEWEST_VALUES: usize = 3 * BATCHES;

/// Widening of an interval: this factor times the autocorrelation time's share of the series. With half the factor, 91
/// % of intervals of 10 s cover the mean if disturbances last 1.2 s; with this factor, 95 %.
const WIDER: f64 = 8.0;

/// Part of the median below which a value belongs to a stall.
const STALLED: f64 = 0.5;
/// Minimum number of stalls to estimate their frequency.
const FEWEST_STALLS: usize = 2;
/// Ratio of the usual length of stalls to that of the only one seen, at most: it holds in seven of ten cases if lengths are
/// exponentially distributed.
const LONGER_STALLS: f64 = 3.0;
/// Contribution of stalls relative to the mean from which a single one is too few.
const LONG_STALLS: f64 = 0.04;
/// Widening of the stalls' contribution, since the length of further stalls is uncertain too.
const STALLS_WIDER: f64 = 1.2;

/// Mean of a series, with details of its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesMean {
    /// Mean; its interval is `None` if `withheld` is set.
    pub mean: Estimate,
    /// Reason that there is no interval.
    pub withheld: Option<WithheldInterval>,
    /// Autocorrelation time: neighbouring values that are worth one independent value, at least 1.
    pub autocorrelation: f64,
    /// Number of values in a batch.
    pub batch: usize,
    /// Number of batches.
    pub batches: usize,
}

/// Reason that a mean has no interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WithheldInterval {
    /// Too few values.
    TooFew,
    /// Too few stalls to estimate their frequency.
    RareStalls {
        /// Number of stalls in the series.
        seen: usize,
        /// Number of values needed; approximate.
        needs: f64,
    },
}

/// Mean of a series of values at equal distances, whose number was fixed beforehand. `None` without values.
///
/// ```
/// use bourse_stats::{SplitMix, batch};
/// let mut random = SplitMix::new(1);
/// let values: Vec<f64> = (0..200).map(|_| 100.0 + 5.0 * random.normal()).collect();
/// let found = batch::mean(&values).unwrap();
/// assert!(found.mean.interval.unwrap().holds(100.0) && found.batches == batch::BATCHES);
/// ```
pub fn mean(values: &[f64]) -> Option<SeriesMean> {
    mean_after(&[], values)
}

/// Mean of a series like [`mean`], preceded by the values `before`, which are not part of it: stalls in the last two
/// thirds of these show that those of the series are not all there are.
pub fn mean_after(before: &[f64], values: &[f64]) -> Option<SeriesMean> {
    if values.is_empty() {
        return None;
    }
    let autocorrelation = autocorrelation_time(values);
    let batch = (values.len() / BATCHES).max(1);
    let means = batches(values, batch);
    let value = means.iter().sum::<f64>() / means.len() as f64;
    let found = half_width(before, values, &means, value, autocorrelation);
    let interval = |half| Interval { low: value - half, high: value + half, level: LEVEL };
    Some(SeriesMean {
        mean: Estimate { value, interval: found.ok().map(interval) },
        withheld: found.err(),
        autocorrelation,
        batch,
        batches: means.len(),
    })
}

/// Half width of the interval of a series, or the reason that it is withheld.
fn half_width(
    before: &[f64],
    values: &[f64],
    means: &[f64],
    value: f64,
    autocorrelation: f64,
) -> Result<f64, WithheldInterval> {
    let count = values.len() as f64;
    if values.len() < FEWEST_VALUES {
        return Err(WithheldInterval::TooFew);
    }
    if value <= 0.0 {
        return Ok(0.0);
    }
    let trend = LinearTrend::of(means);
    let of_batches = student_half_width(means, value) * (1.0 + WIDER * autocorrelation / count);
    let of_trend = (trend.change.abs() - trend.error).max(0.0);
    let usual = median(values).expect("there are values");
    let stalls = Stalls::of(values, usual);
    let earlier = Stalls::of(&before[before.len() / 3..], usual);
    let known = earlier.seen + stalls.seen;
    let few = known > 0 && stalls.seen < FEWEST_STALLS;
    let (most, wider) = if few { (stalls.cost.max(earlier.cost), LONGER_STALLS) } else { (stalls.cost, 1.0) };
    let of_stalls = usual * STALLS_WIDER * wider * most * unseen(stalls.seen.max(known.min(1))) / count;
    if few && of_stalls > LONG_STALLS * value {
        let needs = 5.0 * (count + before.len() as f64) / known as f64;
        return Err(WithheldInterval::RareStalls { seen: stalls.seen, needs });
    }
    Ok((of_batches + of_trend).max(of_stalls))
}

/// Linear trend of batches' means.
pub(crate) struct LinearTrend {
    /// Change from first to last by least squares.
    pub(crate) change: f64,
    /// Standard error of the change, if batches are independent.
    pub(crate) error: f64,
    /// Correlation of neighbouring residuals.
    pub(crate) left: f64,
}

impl LinearTrend {
    pub(crate) fn of(means: &[f64]) -> Self {
        let count = means.len() as f64;
        let (mean, middle) = (means.iter().sum::<f64>() / count, (count - 1.0) / 2.0);
        let place = |at: usize| at as f64 - middle;
        let square: f64 = (0..means.len()).map(|at| place(at).powi(2)).sum();
        let slope = means.iter().enumerate().map(|(at, it)| place(at) * (it - mean)).sum::<f64>() / square;
        let line = |at: usize| mean + slope * place(at);
        let rest: f64 = means.iter().enumerate().map(|(at, it)| (it - line(at)).powi(2)).sum();
        let error = (rest / (count - 2.0) / square).sqrt();
        Self { change: slope * count, error: error * count, left: lag_1(means, line) }
    }
}

/// Correlation of neighbouring values about a line.
fn lag_1(values: &[f64], line: impl Fn(usize) -> f64) -> f64 {
    let off: Vec<f64> = values.iter().enumerate().map(|(at, it)| it - line(at)).collect();
    let square: f64 = off.iter().map(|it| it * it).sum();
    let common: f64 = off.windows(2).map(|it| it[0] * it[1]).sum();
    if square > 0.0 { common / square } else { 0.0 }
}

/// Stalls in a series.
struct Stalls {
    seen: usize,
    /// Root mean square of the values that one stall costs.
    cost: f64,
}

impl Stalls {
    /// Finds stretches of values below [`STALLED`] times `usual`.
    fn of(values: &[f64], usual: f64) -> Self {
        let (mut seen, mut squares, mut cost) = (0_usize, 0.0, 0.0);
        for value in values.iter().chain([&f64::INFINITY]) {
            if *value < STALLED * usual {
                cost += 1.0 - value / usual;
            } else if cost > 0.0 {
                seen += 1;
                squares += cost * cost;
                cost = 0.0;
            }
        }
        Self { seen, cost: (squares / seen.max(1) as f64).sqrt() }
    }
}

/// Number of stalls that may be missing from a series with `seen` of them: Poisson's upper limit of 97.5 % less `seen`, by
/// the approximation of Wilson and Hilferty; 0 without any.
fn unseen(seen: usize) -> f64 {
    let next = seen as f64 + 1.0;
    let most = next * (1.0 - 1.0 / (9.0 * next) + 1.96 / (3.0 * next.sqrt())).powi(3);
    if seen == 0 { 0.0 } else { most - seen as f64 }
}

/// Half width of Student's interval of the mean of batches with these means.
fn student_half_width(means: &[f64], value: f64) -> f64 {
    let count = means.len() as f64;
    let variance = means.iter().map(|it| (it - value).powi(2)).sum::<f64>() / (count - 1.0);
    let common: f64 = means.windows(2).map(|it| (it[0] - value) * (it[1] - value)).sum::<f64>() / (count - 1.0);
    // The remaining correlation of batches widens the interval.
    let left = if variance > 0.0 { (common / variance + 1.0 / count).clamp(0.0, 0.9) } else { 0.0 };
    student(count - 1.0, LEVEL) * (variance / count * (1.0 + left) / (1.0 - left)).sqrt()
}

/// Means of consecutive groups of `length` values; a remainder is dropped at the beginning.
pub(crate) fn batches(values: &[f64], length: usize) -> Vec<f64> {
    let left = values.len() % length;
    values[left..].chunks_exact(length).map(|it| it.iter().sum::<f64>() / length as f64).collect()
}

/// Autocorrelation time: neighbouring values that are worth one independent value; at least 1.
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

/// Student's quantile: |t| is below it with probability `level`.
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
    use crate::rates::{NoiseKind, STEPS_PER_SECOND};

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

    /// Lengths of simulated series in steps of 0.1 s.
    const LENGTHS: [usize; 4] = [100, 300, 400, 600];
    /// Mean duration of a simulated disturbance in seconds; 0 gives independent samples.
    const LASTS: [f64; 7] = [0.0, 0.1, 0.2, 0.4, 0.8, 1.2, 2.4];

    /// Number of series out of 1,000 with an interval, and the share of those intervals that cover the mean.
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
                assert!(held >= 93.0 && told >= 99.0, "{lasts} s in {length} steps: {held} % of {told} %");
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
    fn disturbed_series_have_an_honest_interval_or_none_and_the_table_says_how_often() {
        const ROUNDS: u32 = 500;
        const BEFORE: usize = 12 * STEPS_PER_SECOND;
        let mut table =
            String::from("\n| disturbance | has an interval | which holds the mean | ± |\n|---|---|---|---|\n");
        for noise in NoiseKind::KINDS {
            let mut random = SplitMix::new(1);
            let (mut told, mut held, mut width) = (0_u32, 0_u32, 0.0);
            for _ in 0..ROUNDS {
                let rates = noise.steps(BEFORE + 40 * STEPS_PER_SECOND, &mut random);
                let (before, values) = rates.split_at(BEFORE);
                if let Some(interval) = mean_after(before, values).unwrap().mean.interval {
                    told += 1;
                    held += u32::from(interval.holds(1.0));
                    width += 100.0 * interval.half_width();
                }
            }
            let percent = |part: u32, of: u32| 100.0 * f64::from(part) / f64::from(of.max(1));
            let (told_of_all, held_of_told) = (percent(told, ROUNDS), percent(held, told));
            // A round of 40 s seldom reveals how far a rate drifts in minutes.
            let least = if matches!(noise, NoiseKind::Wander(20.0)) { 70.0 } else { 87.0 };
            assert!(held_of_told >= least && told_of_all >= 75.0, "{noise:?}: {held_of_told} % of {told_of_all} %");
            table.push_str(&format!(
                "| {} | {told_of_all:.0} % | {held_of_told:.0} % | {:.1} % |\n",
                noise.words(),
                width / f64::from(told.max(1))
            ));
        }
        table.push_str(
            "\nOf 500 rounds each, with a warm-up of 12 s and an interval of 40 s, counted ten times a second.\n",
        );
        crate::table::check("disturbed.md", include_str!("disturbed.md"), &table);
    }

    #[test]
    fn why_there_is_no_interval_is_told() {
        let mut random = SplitMix::new(5);
        let level: Vec<f64> = (0..400).map(|_| 100.0 + 5.0 * random.normal()).collect();
        let with = |change: &dyn Fn(usize) -> f64| {
            let values: Vec<f64> = level.iter().enumerate().map(|(at, it)| it * change(at)).collect();
            mean(&values).unwrap().withheld
        };
        assert_eq!(with(&|_| 1.0), None);
        let stall = |at: usize| if (200..207).contains(&at) { 0.0 } else { 1.0 };
        assert_eq!(with(&stall), Some(WithheldInterval::RareStalls { seen: 1, needs: 2_000.0 }));
        // One in the warm-up is to be expected in the interval too; one at its very beginning is not.
        let before = |from: usize, length: usize| {
            (0..60).map(|it| if (from..from + length).contains(&it) { 20.0 } else { 100.0 }).collect::<Vec<f64>>()
        };
        let after = |from, length| mean_after(&before(from, length), &level).unwrap();
        assert_eq!(after(40, 2).withheld, Some(WithheldInterval::RareStalls { seen: 0, needs: 2_300.0 }));
        assert_eq!(after(2, 2).withheld, None);
        // A single step costs little, even if further stalls are longer: it widens the interval, seen before it or in it.
        let half = |found: SeriesMean| found.mean.interval.unwrap().half_width();
        assert!((3.0..4.0).contains(&half(after(40, 1))), "{}", half(after(40, 1)));
        assert!(half(after(2, 1)) < 1.5);
        let short: Vec<f64> = level.iter().enumerate().map(|(at, it)| if at == 200 { 20.0 } else { *it }).collect();
        assert!((3.0..4.0).contains(&half(mean(&short).unwrap())));
        // Many small ones are noise like any other.
        assert_eq!(with(&|at| if at % 10 == 0 { 0.0 } else { 1.0 }), None);
    }

    #[test]
    fn too_short_a_series_has_no_interval() {
        assert_eq!(mean(&[]), None);
        let few = mean(&[1.0; 59]).unwrap();
        assert_eq!((few.mean.interval, few.withheld), (None, Some(WithheldInterval::TooFew)));
        assert_eq!(mean(&[1.0; 60]).unwrap().mean.interval.map(|it| (it.low, it.high)), Some((1.0, 1.0)));
        // The mean of a rate that rises all the time may be anywhere near its ends.
        let rising: Vec<f64> = (200..400).map(f64::from).collect();
        let half = mean(&rising).unwrap().mean.interval.unwrap().half_width();
        assert!((200.0..1_000.0).contains(&half), "{half}");
    }
}
