//! Hodges–Lehmann estimate with the Wilcoxon signed-rank interval, for a figure over several rounds and for pairs of
//! rounds.
//!
//! The estimate is the median of all means of two values (Walsh averages, each value with itself too). If the values scatter
//! symmetrically around the truth, the number of averages below the truth is distributed as the signed-rank statistic: over
//! all 2^n choices of signs, the sum of the ranks with a plus. That distribution is counted here, so levels are exact.
//! The only assumption is symmetry, which differences of two rounds under equal conditions have (Hollander and Wolfe,
//! Nonparametric Statistical Methods, 3.1 to 3.3).

use crate::estimate::median_of_sorted;
use crate::{Estimate, Interval, LEVEL};

/// Number of values beyond which the normal approximation replaces counting; its error is below 0.001 there.
const COUNTED: usize = 60;

/// Hodges–Lehmann estimate of the centre of values, with its interval, which needs six values. `None` without values.
///
/// ```
/// let centre = bourse_stats::center(&[98.0, 100.0, 101.0, 99.0, 103.0, 100.5]).unwrap();
/// let interval = centre.interval.unwrap();
/// assert_eq!((centre.value, interval.low, interval.high), (100.25, 98.0, 103.0));
/// assert_eq!(bourse_stats::center(&[1.0, 2.0]).unwrap().interval, None);
/// ```
pub fn center(values: &[f64]) -> Option<Estimate> {
    center_at(values, LEVEL)
}

/// Estimate as of [`center`], with an interval of at least that level.
fn center_at(values: &[f64], level: f64) -> Option<Estimate> {
    let averages = walsh(values);
    let value = median_of_sorted(&averages)?;
    let interval = place(values.len(), level).map(|(place, level)| Interval {
        low: averages[place - 1],
        high: averages[averages.len() - place],
        level,
    });
    Some(Estimate { value, interval })
}

/// Ratio of the second to the first in pairs of interleaved rounds, with its interval: the centre of the logarithms of
/// the pairs' ratios. `None` unless every first round is above 0; a second of 0 is a ratio of 0.
pub fn ratio_of_pairs(pairs: &[(f64, f64)]) -> Option<Estimate> {
    ratio_of_pairs_at(pairs, LEVEL)
}

/// Ratio as of [`ratio_of_pairs`], with an interval of at least that level: for several ratios together, or several
/// looks.
///
/// ```
/// use bourse_stats::signed_rank::{fewest, ratio_of_pairs_at};
/// assert_eq!((fewest(0.95), fewest(0.99)), (6, 8));
/// let pairs = [(1.0, 1.1); 7];
/// assert!(ratio_of_pairs_at(&pairs, 0.95).unwrap().interval.is_some());
/// assert_eq!(ratio_of_pairs_at(&pairs, 0.99).unwrap().interval, None);
/// ```
pub fn ratio_of_pairs_at(pairs: &[(f64, f64)], level: f64) -> Option<Estimate> {
    Some(center_at(&log_ratios(pairs)?, level)?.map(f64::exp))
}

/// Level of each of several intervals that together hold [`LEVEL`], whatever their dependence (Bonferroni).
///
/// ```
/// use bourse_stats::signed_rank::{fewest, level_of_each};
/// assert_eq!([1, 2, 4, 7, 12].map(|others| fewest(level_of_each(others))), [6, 7, 8, 9, 9]);
/// ```
pub fn level_of_each(intervals: usize) -> f64 {
    1.0 - (1.0 - LEVEL) / intervals.max(1) as f64
}

/// Minimum number of values for an interval of that level: 2 / 2^n must not exceed 1 − level.
pub fn fewest(level: f64) -> u32 {
    let mut count = 1;
    while count < 60 && 2.0_f64.powi(1 - count) > 1.0 - level {
        count += 1;
    }
    count.unsigned_abs()
}

/// Two-sided p-value of pairs: probability of a difference at least as large if there were none; exact up to 60 pairs.
/// Ties count against a difference. `None` unless every first round is above 0.
///
/// ```
/// let p = bourse_stats::signed_rank::p_of_pairs(&[(1.0, 1.2); 6]).unwrap();
/// assert_eq!(p, 2.0 / 64.0); // six pairs with the same sign
/// ```
pub fn p_of_pairs(pairs: &[(f64, f64)]) -> Option<f64> {
    let averages = walsh(&log_ratios(pairs)?);
    let not_above = averages.iter().filter(|it| **it <= 0.0).count();
    let not_below = averages.iter().filter(|it| **it >= 0.0).count();
    Some((2.0 * below(pairs.len())(not_above.min(not_below))).min(1.0))
}

/// Minimum number of values for an interval: 2 / 2^n must not exceed 1 − [`LEVEL`].
pub const MIN_VALUES: usize = 6;

/// Mean half width of the interval of `count` values, in standard deviations of a normally distributed value: the
/// resolution of a comparison of that many pairs. `None` below [`MIN_VALUES`].
///
/// Simulated, always with the same random numbers.
///
/// ```
/// let eight = bourse_stats::signed_rank::expected_half_width(8).unwrap();
/// assert!((0.85..1.0).contains(&eight), "{eight}");
/// ```
pub fn expected_half_width(count: usize) -> Option<f64> {
    const TRIALS: u32 = 400;
    let mut random = crate::SplitMix::new(count as u64);
    let mut sum = 0.0;
    for _ in 0..TRIALS {
        let values: Vec<f64> = (0..count.min(COUNTED)).map(|_| random.normal()).collect();
        sum += center(&values)?.interval?.half_width();
    }
    let counted = sum / f64::from(TRIALS);
    Some(counted * (count.min(COUNTED) as f64 / count as f64).sqrt())
}

fn log_ratios(pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    pairs.iter().map(|&(one, other)| (one > 0.0 && other >= 0.0).then(|| (other / one).ln())).collect()
}

/// Walsh averages: means of all pairs of values, each with itself too; sorted.
fn walsh(values: &[f64]) -> Vec<f64> {
    let with = |at: usize| values[at..].iter().map(move |other| (values[at] + other) / 2.0);
    let mut averages: Vec<f64> = (0..values.len()).flat_map(with).collect();
    averages.sort_by(f64::total_cmp);
    averages
}

/// Rank from either end of the sorted averages that bounds the interval, and its level.
fn place(count: usize, least: f64) -> Option<(usize, f64)> {
    let below = below(count);
    let places = (1..=count * (count + 1) / 4).map(|place| (place, 1.0 - 2.0 * below(place - 1)));
    places.take_while(|(_, level)| *level >= least).last()
}

/// Probability, by sum, that the signed-rank statistic of `count` values is at most that sum.
fn below(count: usize) -> impl Fn(usize) -> f64 {
    let (counted, n) = (count.min(COUNTED), count as f64);
    let mut share = vec![0.0; counted * (counted + 1) / 2 + 1];
    share[0] = 1.0;
    for rank in 1..=counted {
        // With a minus the rank adds nothing, with a plus itself.
        for at in (0..share.len()).rev() {
            share[at] = (share[at] + if at >= rank { share[at - rank] } else { 0.0 }) / 2.0;
        }
    }
    move |sum| {
        if count == counted {
            return share.iter().take(sum + 1).sum();
        }
        let (mean, variance) = (n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);
        normal_below((sum as f64 + 0.5 - mean) / variance.sqrt())
    }
}

/// Normal distribution function, to 1e-7 (Abramowitz and Stegun 26.2.17).
pub(crate) fn normal_below(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let tail = series.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    let tail = tail * (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix;

    #[test]
    fn levels_are_those_of_the_tables() {
        assert!((0..MIN_VALUES).all(|count| place(count, LEVEL).is_none()));
        // Hollander and Wolfe, table A.4: places and levels.
        for (count, expected, level) in
            [(6, 1, 0.968_75), (7, 3, 0.953_125), (8, 4, 0.960_937_5), (9, 6, 0.960_937_5), (10, 9, 0.951_171_875)]
        {
            let (place, found) = place(count, LEVEL).unwrap();
            assert_eq!(place, expected, "{count}");
            assert!((found - level).abs() < 1e-12, "{count}: {found}");
        }
    }

    #[test]
    fn counting_and_the_normal_approximation_meet() {
        let counted = place(COUNTED, LEVEL).unwrap();
        let n = COUNTED as f64;
        let (mean, variance) = (n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);
        let near = normal_below((counted.0 as f64 - 0.5 - mean) / variance.sqrt());
        assert!((1.0 - 2.0 * near - counted.1).abs() < 1e-3);
        assert!((normal_below(1.959_964) - 0.975).abs() < 1e-6 && (normal_below(-1.0) - 0.158_655).abs() < 1e-6);
    }

    #[test]
    fn the_estimate_lies_in_its_interval_and_p_agrees_with_it() {
        let mut random = SplitMix::new(3);
        for trial in 0..500 {
            let shift = 0.02 * f64::from(trial % 5);
            let pairs: Vec<(f64, f64)> = (0..8).map(|_| (1.0, (shift + 0.02 * random.normal()).exp())).collect();
            let ratio = ratio_of_pairs(&pairs).unwrap();
            let interval = ratio.interval.unwrap();
            assert!(interval.holds(ratio.value));
            assert_eq!(p_of_pairs(&pairs).unwrap() <= 1.0 - LEVEL, !interval.holds(1.0), "{pairs:?}");
        }
        assert_eq!(p_of_pairs(&[(1.0, 1.0); 8]), Some(1.0), "nothing but ties");
        assert!((p_of_pairs(&[(1.0, 2.0); 8]).unwrap() - 2.0 / 256.0).abs() < 1e-12);
        let nothing = ratio_of_pairs(&[(5.0, 0.0); 8]).unwrap();
        assert_eq!((nothing.value, nothing.interval.map(|it| (it.low, it.high))), (0.0, Some((0.0, 0.0))));
        assert_eq!(ratio_of_pairs(&[(0.0, 1.0); 8]), None);
    }
}
