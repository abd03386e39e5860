//! Response times by percentile: the tail at a glance.

use super::axis::AxisUnit;
use super::plot::{Curve, HorizontalAxis, Panel, Plot, Thinning};
use crate::view::{CaseView, Latency, OperationView, Quantile};

/// Points a nine.
const POINTS: usize = 16;
/// p99.999.
const NINES: usize = 5;

/// A curve of the quantiles that have enough operations beyond them.
fn curve(label: &str, latency: &Latency) -> Curve {
    let mut points = Vec::new();
    for step in 1..=POINTS * NINES {
        let place = step as f64 / POINTS as f64;
        match latency.quantile(1.0 - 10_f64.powf(-place)) {
            Some(Quantile::At(ns)) => points.push((place, Some(ns.max(1) as f64))),
            Some(Quantile::TooFew | Quantile::Beyond(_)) | None => break,
        }
    }
    Curve::of_points(label, Thinning::Max, points)
}

fn plot(title: &str, curves: Vec<Curve>) -> Plot {
    let panel = Panel { logarithmic: true, ..Panel::new(title, AxisUnit::Nanoseconds, curves) };
    Plot::new(HorizontalAxis::Quantile, vec![panel])
}

/// A curve for each operation of a case.
pub(super) fn of_case(view: &CaseView<'_>) -> Plot {
    let curves = view.operations.iter().map(|operation| curve(&operation.name, &operation.response));
    plot("response time, all rounds", curves.collect())
}

/// A curve for each case, of its headline's operations.
pub(super) fn of_cases(views: &[&CaseView<'_>]) -> Plot {
    let of = |view: &&CaseView<'_>| -> Option<Curve> {
        let operation: &OperationView = view.headline_operation()?;
        Some(curve(&view.case.label, &operation.response))
    };
    plot("response time of the headline's operation", views.iter().filter_map(of).collect())
}
