//! The last seconds of an unfinished run.

use super::axis::Unit;
use super::plot::{Across, Curve, Panel, Plot, Source, Thin};
use crate::live::{LivePoint, points_of};

/// Panels of throughput and response times.
pub(crate) fn live_panels(points: &[LivePoint]) -> Plot {
    let curve = |label: &str, thin, points| Curve { label: label.to_owned(), points, thin, source: Source::Points };
    let panel = |title: &str, unit, logarithmic, curves| {
        let title = title.to_owned();
        Panel { title, unit, logarithmic, curves, mark: None, heat: None }
    };
    let completed = points_of(points, |point| Some(point.throughput));
    let quantile = |at: usize| points_of(points, |point| Some(point.response_ns?[at]));
    Plot {
        across: Across::Time { phases: Vec::new(), events: None },
        panels: vec![
            panel("completed a second", Unit::PerSecond, false, vec![curve("completed", Thin::Mean, completed)]),
            panel(
                "response time",
                Unit::Nanoseconds,
                true,
                vec![curve("p99", Thin::Max, quantile(1)), curve("median", Thin::Max, quantile(0))],
            ),
        ],
    }
}
