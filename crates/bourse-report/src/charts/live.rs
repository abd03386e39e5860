//! The last seconds of an unfinished run.

use super::axis::AxisUnit;
use super::plot::{Curve, HorizontalAxis, Panel, Plot, Thinning};
use crate::live::{LivePoint, points_of};

/// Panels of throughput and response times.
pub(crate) fn live_panels(points: &[LivePoint]) -> Plot {
    let completed = points_of(points, |point| Some(point.throughput));
    let quantile = |at: usize| points_of(points, |point| Some(point.response_ns?[at]));
    let curves = [("p99", 1), ("median", 0)].map(|(label, at)| Curve::of_points(label, Thinning::Max, quantile(at)));
    let completed = vec![Curve::of_points("completed", Thinning::Mean, completed)];
    let response = Panel { logarithmic: true, ..Panel::new("response time", AxisUnit::Nanoseconds, curves.to_vec()) };
    Plot::new(HorizontalAxis::Time, vec![Panel::new("completed a second", AxisUnit::PerSecond, completed), response])
}
