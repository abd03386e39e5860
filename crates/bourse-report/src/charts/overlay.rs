//! Several cases on the same axes: their series second by second, and their response times.

use super::axis::AxisUnit;
use super::percentile;
use super::plot::{Curve, HorizontalAxis, Panel, Plot, SeriesSum, Thinning};
use crate::units::printable;
use crate::view::{CaseView, values};

/// Most curves in one panel: more are indistinguishable.
const MAX_CURVES: usize = 12;

/// Title of a panel, metric, unit, whether it is logarithmic, aggregation of points.
type PanelSpec = (&'static str, &'static str, AxisUnit, bool, Thinning);

const ROWS: [PanelSpec; 6] = [
    ("completed a second", "throughput", AxisUnit::PerSecond, false, Thinning::Mean),
    ("response time, p99 of each second", "response_ns_p99", AxisUnit::Nanoseconds, true, Thinning::Max),
    ("processor time of our process, cores", "cpu_user+cpu_system", AxisUnit::Count, false, Thinning::Mean),
    ("written to storage a second", "written_bytes", AxisUnit::BytesPerSecond, false, Thinning::Mean),
    ("write-ahead log", "log_bytes", AxisUnit::Bytes, false, Thinning::Max),
    ("memory of our process", "memory_resident_bytes", AxisUnit::Bytes, false, Thinning::Max),
];

/// A curve of a round's series: the sum of metrics that `+` joins.
pub(super) fn curve(
    view: &CaseView<'_>,
    (case, round): (usize, usize),
    metrics: &str,
    label: &str,
    thin: Thinning,
) -> Curve {
    let metrics: Vec<String> = metrics.split('+').map(str::to_owned).collect();
    of_metrics(view, (case, round), metrics, label, thin)
}

/// A curve of a round's series: the sum of metrics whose names may contain any character.
pub(super) fn of_metrics(
    view: &CaseView<'_>,
    (case, round): (usize, usize),
    metrics: Vec<String>,
    label: &str,
    thin: Thinning,
) -> Curve {
    let of = &view.case.rounds[round];
    let sum = |mut sum: Vec<(f64, Option<f64>)>, further: &String| {
        for ((_, value), (_, more)) in sum.iter_mut().zip(values(of, further)) {
            *value = value.zip(more).map(|(value, more)| value + more);
        }
        sum
    };
    let first = metrics.first().map(|metric| values(of, metric).collect()).unwrap_or_default();
    let points = metrics.iter().skip(1).fold(first, sum);
    Curve { label: printable(label), points, thin, series: Some(SeriesSum { case, round, metrics }) }
}

/// The first rounds of the cases over time, a panel for each metric; `views` with the cases' indices in the run.
pub(super) fn over_time(views: &[(usize, &CaseView<'_>)]) -> Plot {
    let drawn: Vec<_> = views.iter().filter(|(_, view)| !view.case.rounds.is_empty()).take(MAX_CURVES).collect();
    let panel = |(title, metrics, unit, logarithmic, thin): PanelSpec| {
        let curves = drawn.iter().map(|(at, view)| curve(view, (*at, 0), metrics, &view.case.label, thin));
        // A metric that no case has is not drawn as a line at the bottom.
        let is_any = |curve: &Curve| curve.points.iter().any(|(_, value)| value.is_some_and(|value| value > 0.0));
        let curves: Vec<Curve> = curves.collect();
        let curves = if curves.iter().any(is_any) { curves } else { Vec::new() };
        Panel { logarithmic, ..Panel::new(title, unit, curves) }
    };
    Plot::new(HorizontalAxis::Time, ROWS.into_iter().map(panel).collect())
}

/// Percentiles of the cases' response times.
pub(super) fn percentiles(views: &[&CaseView<'_>]) -> Plot {
    percentile::of_cases(&views[..views.len().min(MAX_CURVES)])
}
