//! An estimate, its interval, and the order statistics that both come from.

/// Minimum level of an interval: the share of experiments whose interval covers the true value.
pub const LEVEL: f64 = 0.95;

/// Confidence interval of a figure, estimated from its rounds.
///
/// ```
/// let interval = bourse_stats::Interval { low: 0.98, high: 1.02, level: 0.95 };
/// assert!(interval.holds(1.0) && !interval.holds(1.1));
/// assert!((interval.half_width() - 0.02).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// True level, at least [`LEVEL`]: with few values only some levels are attainable.
    pub level: f64,
}

impl Interval {
    /// Whether a value is inside the interval.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Half of the interval's width.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Interval of an increasing function of the figure.
    #[must_use]
    pub fn map(self, rising: impl Fn(f64) -> f64) -> Self {
        Self { low: rising(self.low), high: rising(self.high), level: self.level }
    }
}

/// Interval that a further value of the same distribution is in with probability [`LEVEL`]: Student's prediction interval of
/// the logarithms (Hahn and Meeker, Statistical Intervals, 4.7). `None` unless there are three values or more, all above 0.
///
/// ```
/// let next = bourse_stats::prediction(&[7_341.0, 6_391.0, 6_008.0, 6_745.0, 6_623.0]).unwrap();
/// assert!(next.low < 6_008.0 && next.high > 7_341.0);
/// assert!(bourse_stats::prediction(&[7_341.0, 6_391.0]).is_none());
/// ```
pub fn prediction(values: &[f64]) -> Option<Interval> {
    const FEWEST: usize = 3;
    if values.len() < FEWEST || values.iter().any(|it| *it <= 0.0) {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().map(|it| it.ln()).sum::<f64>() / count;
    let variance = values.iter().map(|it| (it.ln() - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = crate::batch::student(count - 1.0, LEVEL) * (variance * (1.0 + 1.0 / count)).sqrt();
    Some(Interval { low: mean - half, high: mean + half, level: LEVEL }.map(f64::exp))
}

/// Estimate of a figure with its interval.
///
/// ```
/// let seconds = bourse_stats::center(&[2.0, 2.5, 1.5, 3.0, 2.0, 2.5]).unwrap();
/// let milliseconds = seconds.map(|seconds| seconds * 1_000.0);
/// assert_eq!(milliseconds.value, 2_250.0);
/// assert_eq!(milliseconds.interval.map(|it| (it.low, it.high)), Some((1_500.0, 3_000.0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Estimated value.
    pub value: f64,
    /// Interval; `None` with too few values.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// Estimate of an increasing function of the figure.
    #[must_use]
    pub fn map(self, rising: impl Fn(f64) -> f64) -> Self {
        Self { value: rising(self.value), interval: self.interval.map(|it| it.map(&rising)) }
    }
}

/// Median of the values; for an even number the mean of the middle two. `None` without values.
///
/// ```
/// assert_eq!(bourse_stats::median(&[3.0, 1.0, 2.0]), Some(2.0));
/// assert_eq!(bourse_stats::median(&[]), None);
/// ```
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// Median of sorted values. `None` without values.
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Quantile: value below which the given share of the values is, interpolated linearly (R's default, type 7). `None`
/// without values.
///
/// ```
/// assert_eq!(bourse_stats::quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.75), Some(4.0));
/// ```
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    Some(sorted[below] + (sorted[above] - sorted[below]) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quantiles_lie_between_their_neighbours() {
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(quantile(&[10.0, 20.0], 0.25), Some(12.5));
        assert_eq!(quantile(&[7.0], 0.9), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
    #[test]
    fn a_prediction_holds_the_next_value_as_often_as_it_says() {
        let mut random = crate::SplitMix::new(5);
        for count in [3, 4, 5, 10] {
            const TRIES: u32 = 20_000;
            let held: u32 = (0..TRIES)
                .map(|_| {
                    let mut next = || 1_000.0 * (0.07 * random.normal()).exp();
                    let values: Vec<f64> = (0..count).map(|_| next()).collect();
                    u32::from(prediction(&values).expect("there are enough").holds(next()))
                })
                .sum();
            let share = f64::from(held) / f64::from(TRIES);
            assert!((0.94..0.96).contains(&share), "{count} values: {share}");
        }
        assert!(prediction(&[1.0, 2.0]).is_none() && prediction(&[1.0, 2.0, 0.0]).is_none());
    }
}
