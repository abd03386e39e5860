//! How sure a figure over several rounds is.

use bourse_stats::{SplitMix, median_of_sorted};

/// The range that a figure lies in, as far as its rounds tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
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
        assert_eq!(median_interval(&[7.0; 5]), Some(Interval { low: 7.0, high: 7.0 }));
    }
}
