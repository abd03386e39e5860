//! A figure from run to run.

use super::ChartSize;
use super::axis::{AxisScale, AxisUnit};
use super::svg::{Anchor, Svg};
use crate::units;

/// Contents of a drawing: a point for each run, the earliest on the left, at equal distances.
pub(crate) struct HistoryChart<'a> {
    /// Begins the drawing's ids.
    pub(crate) id: String,
    pub(crate) title: &'a str,
    pub(crate) unit: &'a str,
    pub(crate) points: Vec<HistoryPoint>,
    /// Points at which the level changes, with their descriptions.
    pub(crate) changes: Vec<(usize, String)>,
}

/// The figure of a run.
pub(crate) struct HistoryPoint {
    /// Day, as a tick has it.
    pub(crate) day: String,
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// Run, figure and changes, a line each.
    pub(crate) words: String,
    /// Whether engine, revision or program differs from the previous point's.
    pub(crate) is_new: bool,
}

const PLOT: f64 = 190.0;
const TOP: f64 = 34.0;

/// The drawing; `None` for fewer than two points.
pub(crate) fn history(chart: &HistoryChart<'_>, size: ChartSize) -> Option<String> {
    let count = chart.points.len();
    if count < 2 {
        return None;
    }
    let high = chart.points.iter().map(|it| it.interval.map_or(it.value, |(_, high)| high.max(it.value)));
    let scale = AxisScale::linear(AxisUnit::Count, high.fold(0.0, f64::max), 4.0);
    let (left, width) = (64.0, size.width());
    let plot = width - left - 12.0;
    let x = |at: usize| left + plot * (at as f64 + 0.5) / count as f64;
    let y = |value: f64| TOP + PLOT * (1.0 - scale.place(value));
    let mut svg = Svg::new();
    svg.text("panel-title", (left, 12.0), Anchor::Start, chart.unit);
    for (value, label) in &scale.ticks {
        svg.line("grid", (left, y(*value)), (left + plot, y(*value)));
        svg.text("tick", (left - 6.0, y(*value) + 4.0), Anchor::End, label);
    }
    svg.line("axis", (left, TOP + PLOT), (left + plot, TOP + PLOT));
    let every = count.div_ceil(if size == ChartSize::Wide { 8 } else { 3 }).max(1);
    for (at, point) in chart.points.iter().enumerate().step_by(every) {
        svg.text("tick", (x(at), TOP + PLOT + 16.0), Anchor::Middle, &point.day);
    }
    let mut told = String::new();
    for (at, words) in &chart.changes {
        let place = left + plot * *at as f64 / count as f64;
        svg.line("mark", (place, TOP - 6.0), (place, TOP + PLOT));
        // Labels beyond the middle are on the left of their line.
        let anchor = if place > left + plot / 2.0 { Anchor::End } else { Anchor::Start };
        let away = if anchor == Anchor::End { -4.0 } else { 4.0 };
        svg.text("mark-name", (place + away, TOP - 8.0), anchor, words);
        told.push_str(&format!("From run {} on: {words}. ", at + 1));
    }
    let mut path = String::new();
    for (at, point) in chart.points.iter().enumerate() {
        path.push_str(&format!("{}{:.1},{:.1}", if at == 0 { "M" } else { "L" }, x(at), y(point.value)));
        if let Some((low, high)) = point.interval {
            svg.line("curve s1", (x(at), y(low)), (x(at), y(high)));
        }
    }
    svg.path("curve s1", &path);
    for (at, point) in chart.points.iter().enumerate() {
        svg.circle(
            if point.is_new { "f2" } else { "f1" },
            (x(at), y(point.value)),
            if point.is_new { 5.0 } else { 3.2 },
        );
        svg.tip((x(at) - 9.0, y(point.value) - 9.0), (18.0, 18.0), &point.words);
        told.push_str(&format!("{}: {}. ", point.day, units::number(point.value)));
    }
    Some(svg.finish(
        &format!("{}-{}", chart.id, size.class()),
        (width, TOP + PLOT + 26.0),
        chart.title,
        told.trim_end(),
    ))
}
