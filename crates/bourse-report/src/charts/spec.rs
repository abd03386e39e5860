//! Specification from which the page's script redraws a plot: titles, units, and the place of each curve's values in the
//! embedded run file.

use super::plot::{Across, Curve, Panel, Plot, Source, Thin, phase_name, style};
use crate::units;
use serde::Serialize;

/// A plot for the script.
#[derive(Serialize)]
struct Spec<'a> {
    /// `time` or `quantile`.
    across: &'static str,
    panels: Vec<PanelSpec<'a>>,
    /// Name, first and last second.
    phases: Vec<(&'static str, f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<EventsSpec<'a>>,
}

#[derive(Serialize)]
struct PanelSpec<'a> {
    title: String,
    unit: &'static str,
    log: bool,
    curves: Vec<CurveSpec<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<(f64, String)>,
    /// Places of the case and of the round whose response map is behind the curves.
    #[serde(skip_serializing_if = "Option::is_none")]
    heat: Option<(usize, usize)>,
}

#[derive(Serialize)]
struct CurveSpec<'a> {
    label: String,
    style: usize,
    #[serde(flatten)]
    source: SourceSpec<'a>,
}

#[derive(Serialize)]
struct EventsSpec<'a> {
    name: &'a str,
    #[serde(flatten)]
    source: SourceSpec<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SourceSpec<'a> {
    Series { case: usize, round: usize, metrics: &'a [String], thin: &'static str },
    Points { points: &'a [(f64, Option<f64>)], thin: &'static str },
}

fn source(curve: &Curve) -> SourceSpec<'_> {
    let thin = match curve.thin {
        Thin::Mean => "mean",
        Thin::Max => "max",
    };
    match &curve.source {
        Source::Series { case, round, metrics } => SourceSpec::Series { case: *case, round: *round, metrics, thin },
        Source::Points => SourceSpec::Points { points: &curve.points, thin },
    }
}

fn panel(panel: &Panel) -> PanelSpec<'_> {
    let curves = panel.curves.iter().enumerate().map(|(at, curve)| CurveSpec {
        label: units::printable(&curve.label),
        style: style(at),
        source: source(curve),
    });
    PanelSpec {
        title: units::printable(&panel.title),
        unit: panel.unit.key(),
        log: panel.logarithmic,
        curves: curves.collect(),
        heat: panel.heat.as_ref().map(|heat| (heat.case, heat.round)),
        mark: panel.mark.as_ref().map(|(value, name)| (*value, units::printable(name))),
    }
}

/// The specification of a usable plot, as JSON that can stand in a page.
pub(super) fn spec(plot: &Plot) -> String {
    let (across, phases, events) = match &plot.across {
        Across::Time { phases, events } => ("time", phases.as_slice(), events.as_ref()),
        Across::Quantiles => ("quantile", Default::default(), None),
    };
    let spec = Spec {
        across,
        panels: plot.panels.iter().map(panel).collect(),
        phases: phases.iter().map(|phase| (phase_name(phase.kind), phase.from_s, phase.to_s)).collect(),
        events: events.map(|events| EventsSpec { name: events.name, source: source(&events.curve) }),
    };
    crate::html::json(&spec)
}
