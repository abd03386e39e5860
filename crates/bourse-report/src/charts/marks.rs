//! Measured figures next to published ones: a lane for each, marks on one axis.

use super::axis::{AxisScale, AxisUnit};
use super::svg::{Anchor, Svg};
use super::{ChartFrame, ChartSize};

/// Contents of a drawing: groups of lanes, one below the other.
pub(crate) struct LaneChart<'a> {
    /// Whether the quantity is bytes, in thousands and millions.
    pub(crate) is_bytes: bool,
    /// Name of a group, and its lanes.
    pub(crate) groups: Vec<(&'a str, Vec<Lane<'a>>)>,
}

/// A measured figure, and the published one.
pub(crate) struct Lane<'a> {
    pub(crate) name: &'a str,
    pub(crate) measured: Option<f64>,
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) published: Option<f64>,
}

impl Lane<'_> {
    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let (low, high) = self.interval.unzip();
        [self.measured, low, high, self.published]
            .into_iter()
            .flatten()
            .filter(|value| value.is_finite() && *value >= 0.0)
    }
}

const LANE: f64 = 20.0;
const HEAD: f64 = 26.0;
/// Ratio of the largest to the smallest value above which the axis is logarithmic.
const WIDE_RANGE: f64 = 30.0;

/// The drawing; `None` if no lane has both figures.
pub(crate) fn marks(frame: &ChartFrame<'_>, chart: &LaneChart<'_>, size: ChartSize) -> Option<String> {
    let lanes = || chart.groups.iter().flat_map(|(_, lanes)| lanes);
    if !lanes().any(|lane| lane.measured.is_some() && lane.published.is_some()) {
        return None;
    }
    let values = || lanes().flat_map(Lane::values).filter(|value| *value > 0.0);
    let (low, high) = values().fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let unit = if chart.is_bytes { AxisUnit::DecimalBytes } else { AxisUnit::Count };
    let is_logarithmic = high / low > WIDE_RANGE;
    let scale = match (is_logarithmic, size) {
        (true, ChartSize::Wide) => AxisScale::logarithmic(unit, low, high, 8),
        (true, ChartSize::Narrow) => AxisScale::logarithmic(unit, low, high, 4),
        (false, ChartSize::Wide) => AxisScale::linear(unit, high, 6.0),
        (false, ChartSize::Narrow) => AxisScale::linear(unit, high, 3.0),
    };
    let (left, plot) = match size {
        ChartSize::Wide => (230.0, 590.0),
        ChartSize::Narrow => (8.0, 324.0),
    };
    let lane_height = if size == ChartSize::Wide { LANE } else { LANE + 16.0 };
    let x = |value: f64| left + plot * scale.place(value);
    let legend = 22.0;
    let height: f64 =
        chart.groups.iter().map(|(_, lanes)| HEAD + lane_height * lanes.len() as f64).sum::<f64>() + legend;
    let mut svg = Svg::new();
    svg.circle("estimate plain", (left + 6.0, 10.0), 5.0);
    svg.text("label", (left + 16.0, 14.0), Anchor::Start, "ours, with its interval");
    svg.path("then", &diamond((left + 176.0, 10.0), 6.0));
    svg.text("label", (left + 186.0, 14.0), Anchor::Start, "published");
    for (value, _) in &scale.ticks {
        svg.line("grid", (x(*value), legend), (x(*value), height));
    }
    let mut about = frame.about.to_owned();
    let mut top = legend;
    for (group, lanes) in &chart.groups {
        svg.text("panel-title", (8.0, top + 17.0), Anchor::Start, group);
        top += HEAD;
        for lane in lanes {
            let y = top + lane_height - LANE / 2.0;
            match size {
                ChartSize::Wide => svg.text("row-note", (left - 10.0, y + 4.0), Anchor::End, lane.name),
                ChartSize::Narrow => svg.text("row-note", (left, y - 14.0), Anchor::Start, lane.name),
            }
            svg.line("foot", (left, y), (left + plot, y));
            if let (Some(measured), Some(published)) = (lane.measured, lane.published) {
                svg.line("between", (x(measured), y), (x(published), y));
            }
            if let Some((low, high)) = lane.interval {
                svg.line("whisker plain", (x(low), y), (x(high), y));
            }
            if let Some(published) = lane.published {
                svg.path("then", &diamond((x(published), y), 6.0));
            }
            if let Some(measured) = lane.measured {
                svg.circle("estimate plain", (x(measured), y), 5.0);
            }
            let told = |value: Option<f64>| value.map_or_else(|| "nothing".to_owned(), |value| unit.text(value));
            let (measured, published) = (told(lane.measured), told(lane.published));
            about.push_str(&format!(" {group}, {}: ours {measured}, published {published}.", lane.name));
            top += lane_height;
        }
    }
    svg.axis(&scale, (left, height), plot);
    Some(svg.finish(&format!("{}-{}", frame.id, size.class()), (size.width(), height + 26.0), frame.title, &about))
}

/// Path of a diamond around a point, with its half width.
pub(super) fn diamond((x, y): (f64, f64), half: f64) -> String {
    format!("M{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}Z", x - half, y - half, x + half, y + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_figures_stand_beside_the_published_ones() {
        let lane = |name, measured, published| Lane { name, measured, interval: None, published };
        let chart = |lanes| LaneChart { is_bytes: false, groups: vec![("rows <10>", lanes)] };
        let frame = ChartFrame { id: "m", title: "Inserts", about: "Each." };
        for size in ChartSize::ALL {
            let both = chart(vec![lane("wal", Some(120.0), Some(90_000.0)), lane("delete", None, Some(0.0))]);
            let drawing = marks(&frame, &both, size).expect("one lane has both");
            for part in ["rows &lt;10&gt;, wal: ours 120, published 90,000.", "delete: ours nothing, published 0."] {
                assert!(drawing.contains(part), "{drawing}");
            }
            assert!(!drawing.contains("NaN"), "{drawing}");
            assert_eq!(marks(&frame, &chart(vec![lane("wal", Some(1.0), None)]), size), None);
        }
    }
}
