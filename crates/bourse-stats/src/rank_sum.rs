//! Hodges–Lehmann ratio of two independent groups of rounds, with the Mann–Whitney interval.
//!
//! The estimate is the median of all differences between a value of one group and a value of the other. If both groups
//! have the same distribution but for a shift, the number of differences below the truth is distributed as Mann and
//! Whitney's U, which is counted here (Hollander and Wolfe, 4.1 to 4.3).

use crate::estimate::median_of_sorted;
use crate::signed_rank::normal_below;
use crate::{Estimate, Interval, LEVEL};

/// Number of values in both groups up to which the distribution is counted exactly.
const COUNTED: usize = 60;

/// Ratio of the second group to the first, with its interval. The interval needs four rounds on either side, or three
/// and five. `None` unless there are rounds on both sides and those of the first are above 0.
///
/// ```
/// let ratio = bourse_stats::ratio_of_groups(&[100.0, 101.0, 99.0, 100.5], &[110.0, 111.0, 109.0, 110.4]).unwrap();
/// let interval = ratio.interval.unwrap();
/// assert!(interval.low > 1.07 && interval.high < 1.13 && interval.level > 0.97);
/// assert_eq!(bourse_stats::ratio_of_groups(&[1.0; 3], &[1.0; 3]).unwrap().interval, None);
/// ```
pub fn ratio_of_groups(base: &[f64], head: &[f64]) -> Option<Estimate> {
    // A round of 0 in the second group is a ratio of 0: its logarithm is below every other.
    if base.iter().any(|round| *round <= 0.0) || head.iter().any(|round| *round < 0.0) {
        return None;
    }
    let with = |one: &f64| {
        let one = one.ln();
        head.iter().map(move |other| other.ln() - one)
    };
    let mut differences: Vec<f64> = base.iter().flat_map(with).collect();
    differences.sort_by(f64::total_cmp);
    let value = median_of_sorted(&differences)?;
    let interval = place(base.len(), head.len()).map(|(place, level)| Interval {
        low: differences[place - 1],
        high: differences[differences.len() - place],
        level,
    });
    Some(Estimate { value, interval }.map(f64::exp))
}

/// Rank from either end of the sorted differences that bounds the interval, and its level.
fn place(base: usize, head: usize) -> Option<(usize, f64)> {
    let shares = shares(base, head);
    let mut below = 0.0;
    let mut found = None;
    for place in 1..=(base * head / 2) {
        below += match &shares {
            Some(shares) => shares[place - 1],
            None => {
                let (m, n) = (base as f64, head as f64);
                let (mean, deviation) = (m * n / 2.0, (m * n * (m + n + 1.0) / 12.0).sqrt());
                let to = |sum: f64| normal_below((sum + 0.5 - mean) / deviation);
                to(place as f64 - 1.0) - if place == 1 { 0.0 } else { to(place as f64 - 2.0) }
            }
        };
        let level = 1.0 - 2.0 * below;
        if level < LEVEL {
            break;
        }
        found = Some((place, level));
    }
    found
}

/// Probability of each value of U; `None` if there are too many values to count.
fn shares(base: usize, head: usize) -> Option<Vec<f64>> {
    if base + head > COUNTED {
        return None;
    }
    // The largest value is of the one group or of the other: of the first with probability i / (i + j), and then it is above
    // all j of the second.
    let size = base * head + 1;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..=base {
        let mut row: Vec<Vec<f64>> = Vec::new();
        for j in 0..=head {
            let mut share = vec![0.0; size];
            if i == 0 || j == 0 {
                share[0] = 1.0;
            } else {
                let (first, second) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
                for (at, share) in share.iter_mut().enumerate().take(i * j + 1) {
                    let with = if at >= j { rows[j][at - j] } else { 0.0 };
                    *share = first * with + second * row[j - 1][at];
                }
            }
            row.push(share);
        }
        rows = row;
    }
    rows.pop()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix;

    #[test]
    fn levels_are_those_of_the_tables() {
        // 2 / C(8, 4), and the places of the usual tables at 5 %.
        let (first, level) = place(4, 4).unwrap();
        assert!(first == 1 && (level - (1.0 - 2.0 / 70.0)).abs() < 1e-12);
        assert_eq!(place(3, 3), None);
        assert_eq!([(5, 5), (6, 6), (8, 8), (10, 10)].map(|(m, n)| place(m, n).unwrap().0), [3, 6, 14, 24]);
        assert_eq!(place(3, 5).unwrap().0, 1);
    }

    #[test]
    fn large_groups_are_approximated_closely() {
        let (counted, level) = place(30, 30).unwrap();
        let (near, approximate) = place(31, 30).unwrap();
        assert!(near.abs_diff(counted) < 14 && (level - approximate).abs() < 0.002, "{counted} {near}");
    }

    #[test]
    fn groups_that_are_alike_are_told_apart_as_seldom_as_the_level_says() {
        let mut random = SplitMix::new(11);
        let mut group = |count: usize| -> Vec<f64> { (0..count).map(|_| (0.1 * random.normal()).exp()).collect() };
        for (base, head) in [(4, 4), (5, 7), (8, 8)] {
            let mut wrong = 0;
            for _ in 0..5_000 {
                let ratio = ratio_of_groups(&group(base), &group(head)).unwrap();
                wrong += u32::from(!ratio.interval.unwrap().holds(1.0));
            }
            assert!(wrong <= 300, "{base} and {head}: {wrong} of 5,000");
        }
    }
}
