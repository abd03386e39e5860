//! Panels one below the other over one horizontal axis: each has a vertical axis of its own, never two.
//!
//! A plot is data: its JSON in a page is drawn by the page's script, from the run that the page carries and from the points that
//! the plot brings.

use super::axis::AxisUnit;
use crate::units::printable;
use bourse_record::{Phase, PhaseKind, Round};
use serde::Serialize;
use std::fmt::Write;

/// Aggregation of values, if there are more than a drawing can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Thinning {
    Mean,
    Max,
}

/// Metrics of a round's series in the run file that the page carries, whose sum is a curve.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SeriesSum {
    pub(super) case: usize,
    pub(super) round: usize,
    pub(super) metrics: Vec<String>,
}

/// A curve.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Curve {
    pub(super) label: String,
    /// The points; not in the page if it carries the series.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) points: Vec<(f64, Option<f64>)>,
    pub(super) thin: Thinning,
    #[serde(flatten)]
    pub(super) series: Option<SeriesSum>,
}

impl Curve {
    /// A curve of these points.
    pub(crate) fn of_points(label: &str, thin: Thinning, points: Vec<(f64, Option<f64>)>) -> Self {
        Self { label: printable(label), points, thin, series: None }
    }
}

/// One vertical axis with its curves.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Panel {
    pub(super) title: String,
    pub(super) unit: AxisUnit,
    #[serde(rename = "log")]
    pub(super) logarithmic: bool,
    pub(super) curves: Vec<Curve>,
    /// Lines across, with their names.
    pub(super) marks: Vec<(f64, String)>,
    /// Case and round whose response map is behind the curves; on a logarithmic axis of nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) heat: Option<(usize, usize)>,
}

impl Panel {
    /// A panel with a linear axis.
    pub(super) fn new(title: impl Into<String>, unit: AxisUnit, curves: Vec<Curve>) -> Self {
        Self { title: printable(&title.into()), unit, logarithmic: false, curves, marks: Vec::new(), heat: None }
    }
}

/// Moments marked below the curves: those at which a separate curve is above zero.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Events {
    pub(super) name: &'static str,
    #[serde(flatten)]
    pub(super) curve: Curve,
}

/// The horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum HorizontalAxis {
    /// Seconds since the round began.
    Time,
    /// Quantiles, each nine as wide as the one before: the position is the decimal logarithm of 1 / (1 - quantile).
    Quantile,
    /// Rows of a table, by their names.
    Rows,
}

/// Contents of a drawing.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Plot {
    pub(super) across: HorizontalAxis,
    pub(super) panels: Vec<Panel>,
    /// Name, first and last second of each phase.
    pub(super) phases: Vec<(&'static str, f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) events: Option<Events>,
    /// Names of the rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) names: Vec<String>,
}

/// Moments below which a curve over time shows nothing: two points look like a trend.
const FEWEST_MOMENTS: usize = 3;

/// Whether a round has too few moments for charts over time.
pub(crate) fn is_too_short(round: &Round) -> bool {
    round.series.time_s.len().max(round.fine_series.time_s.len()) < FEWEST_MOMENTS
}

/// A phase in a word.
const fn phase_name(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::WarmUp => "warm-up",
        PhaseKind::Measurement => "measured",
        PhaseKind::Drain => "drain",
    }
}

impl Plot {
    pub(super) fn new(across: HorizontalAxis, panels: Vec<Panel>) -> Self {
        Self { across, panels, phases: Vec::new(), events: None, names: Vec::new() }
    }

    /// A plot over the time of a round with these phases.
    pub(super) fn over_time(panels: Vec<Panel>, phases: &[Phase], events: Option<Events>) -> Self {
        let phases = phases.iter().map(|phase| (phase_name(phase.kind), phase.from_s, phase.to_s)).collect();
        Self { phases, events, ..Self::new(HorizontalAxis::Time, panels) }
    }

    /// A panel of curves over the rows of a table.
    pub(crate) fn over_rows(
        title: &str,
        is_bytes: bool,
        rows: &[&str],
        curves: Vec<Curve>,
        marks: Vec<(f64, String)>,
    ) -> Self {
        let unit = if is_bytes { AxisUnit::DecimalBytes } else { AxisUnit::Count };
        let marks = marks.into_iter().map(|(value, name)| (value, printable(&name))).collect();
        let names = rows.iter().map(|row| printable(row)).collect();
        Self { names, ..Self::new(HorizontalAxis::Rows, vec![Panel { marks, ..Panel::new(title, unit, curves) }]) }
    }

    /// The plot with only its drawable parts, as JSON that can be in a page, and its description for readers without the
    /// drawing; `None` if there is nothing to draw.
    pub(super) fn drawable(mut self) -> Option<(String, String)> {
        let fewest = if self.across == HorizontalAxis::Time { FEWEST_MOMENTS } else { 1 };
        for panel in &mut self.panels {
            for curve in &mut panel.curves {
                for (_, value) in &mut curve.points {
                    *value = value.filter(|value| *value >= 0.0 && (*value > 0.0 || !panel.logarithmic));
                }
                curve.points.retain(|(place, _)| place.is_finite() && *place >= 0.0);
            }
            let is_any = |curve: &Curve| curve.points.iter().any(|(_, value)| value.is_some());
            panel.curves.retain(|curve| curve.points.len() >= fewest && is_any(curve));
        }
        self.panels.retain(|panel| !panel.curves.is_empty());
        if self.panels.is_empty() {
            return None;
        }
        let described = self.described();
        let curves = self.panels.iter_mut().flat_map(|panel| &mut panel.curves);
        let curves = curves.chain(self.events.iter_mut().map(|events| &mut events.curve));
        curves.filter(|curve| curve.series.is_some()).for_each(|curve| curve.points.clear());
        Some((crate::html::json(&self), described))
    }

    /// Peak of each curve. The mean of its points is no figure: they are of the warm-up too, or quantiles.
    fn described(&self) -> String {
        let mut words = String::new();
        for (panel, curve) in self.panels.iter().flat_map(|panel| panel.curves.iter().map(move |curve| (panel, curve)))
        {
            let peak = curve.points.iter().filter_map(|(_, value)| *value).fold(0.0, f64::max);
            write!(words, "{}: at most {}. ", curve.label, panel.unit.text(peak)).expect("a string takes all");
        }
        words
    }
}
