//! Panels over time, one below the other: they share the time, and each has an axis of its own, never two.

use super::axis::{Scale, Unit};
use super::svg::{Anchor, Svg};
use super::{Chart, Size, Subject};
use bourse_record::PhaseKind;
use std::fmt::Write;

/// How several values become one where there are more than a drawing can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thin {
    Mean,
    Max,
}

/// A curve.
pub(super) struct Curve {
    pub(super) label: String,
    pub(super) points: Vec<(f64, Option<f64>)>,
    pub(super) thin: Thin,
}

/// One axis with its curves.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) unit: Unit,
    pub(super) logarithmic: bool,
    pub(super) curves: Vec<Curve>,
    /// A line across, with its name.
    pub(super) mark: Option<(f64, String)>,
}

/// Places of a drawing.
struct Layout {
    left: f64,
    plot: f64,
    width: f64,
    /// Of a panel, without title and gap.
    high: f64,
}

impl Layout {
    const fn of(size: Size) -> Self {
        match size {
            Size::Wide => Self { left: 66.0, plot: 640.0, width: 860.0, high: 130.0 },
            Size::Narrow => Self { left: 58.0, plot: 284.0, width: 350.0, high: 120.0 },
        }
    }
}

/// Room for a panel's title with what parts it from the panel above, for the phases' names, and for a row of the legend.
const TITLE: f64 = 34.0;
const PHASES: f64 = 16.0;
const LEGEND: f64 = 18.0;

/// The panels that have values, or none if none has.
pub(super) fn time_chart(subject: &Subject<'_>, chart: &Chart, size: Size, panels: Vec<Panel>) -> Option<String> {
    let layout = Layout::of(size);
    let panels: Vec<Panel> = panels.into_iter().map(|panel| usable(panel, layout.plot)).filter(has_curves).collect();
    if panels.is_empty() {
        return None;
    }
    let last = |curve: &Curve| curve.points.last().map_or(0.0, |(time, _)| *time);
    let end = panels.iter().flat_map(|panel| &panel.curves).map(last).fold(0.0, f64::max);
    let end = subject.round.phases.iter().map(|phase| phase.to_s).filter(|to| to.is_finite()).fold(end, f64::max);
    let time = Scale::time(end, if size == Size::Wide { 9.0 } else { 4.0 });
    let mut svg = Svg::new();
    // The first panel has none above it to be parted from.
    let mut top = -14.0;
    for (nth, panel) in panels.iter().enumerate() {
        top += TITLE;
        svg.text("panel-title", (layout.left, top - 8.0), Anchor::Start, &panel.title);
        if size == Size::Narrow && panel.curves.len() > 1 {
            top += legend(&mut svg, panel, &layout, top + 8.0);
        }
        if nth == 0 && !subject.round.phases.is_empty() {
            top += PHASES;
        }
        draw_phases(&mut svg, subject, &time, &layout, top, nth == 0);
        draw_panel(&mut svg, panel, &time, &layout, top, size);
        top += layout.high;
    }
    draw_time(&mut svg, &time, &layout, top);
    if size == Size::Wide {
        tips(&mut svg, &panels, &time, &layout, top);
    }
    let id = format!("{}-{}-{}", subject.id, chart.key, size.class());
    Some(svg.finish(&id, (layout.width, top + 26.0), chart.title, &described(chart, &panels)))
}

/// Without what cannot be drawn, and no more points than pixels.
fn usable(mut panel: Panel, pixels: f64) -> Panel {
    for curve in &mut panel.curves {
        for (_, value) in &mut curve.points {
            *value = value.filter(|value| *value >= 0.0 && (*value > 0.0 || !panel.logarithmic));
        }
        curve.points.retain(|(time, _)| time.is_finite() && *time >= 0.0);
        thin(curve, pixels as usize / 2);
    }
    panel.curves.retain(|curve| curve.points.iter().any(|(_, value)| value.is_some()));
    panel
}

fn has_curves(panel: &Panel) -> bool {
    !panel.curves.is_empty()
}

fn thin(curve: &mut Curve, most: usize) {
    let size = curve.points.len().div_ceil(most.max(1));
    if size < 2 {
        return;
    }
    let thinned = curve.points.chunks(size).map(|chunk| {
        let values: Vec<f64> = chunk.iter().filter_map(|(_, value)| *value).collect();
        let value = match curve.thin {
            Thin::Mean => values.iter().sum::<f64>() / values.len() as f64,
            Thin::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        (chunk[chunk.len() - 1].0, (!values.is_empty()).then_some(value))
    });
    curve.points = thinned.collect();
}

fn scale_of(panel: &Panel) -> Scale {
    let values = panel.curves.iter().flat_map(|curve| &curve.points).filter_map(|(_, value)| *value);
    let values = values.chain(panel.mark.as_ref().map(|(value, _)| *value).filter(|_| !panel.logarithmic));
    let (low, high) = values.fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if panel.logarithmic { Scale::logarithmic(panel.unit, low, high, 5) } else { Scale::linear(panel.unit, high, 4.0) }
}

fn draw_phases(svg: &mut Svg, subject: &Subject<'_>, time: &Scale, layout: &Layout, top: f64, named: bool) {
    let x = |seconds: f64| layout.left + layout.plot * time.place(seconds);
    for phase in &subject.round.phases {
        let (from, to) = (x(phase.from_s), x(phase.to_s));
        let name = match phase.kind {
            PhaseKind::WarmUp => "warm-up",
            PhaseKind::Measurement => "measured",
            PhaseKind::Drain => "drain",
        };
        if phase.kind == PhaseKind::Measurement {
            svg.line("bound", (from, top), (from, top + layout.high));
            svg.line("bound", (to, top), (to, top + layout.high));
        } else {
            svg.rect("apart", (from, top), (to - from, layout.high));
        }
        // A name wider than its phase would lie on its neighbour's.
        if named && to - from > name.len() as f64 * 6.5 {
            svg.text("phase", ((from + to) / 2.0, top - 4.0), Anchor::Middle, name);
        }
    }
}

fn draw_panel(svg: &mut Svg, panel: &Panel, time: &Scale, layout: &Layout, top: f64, size: Size) {
    let scale = scale_of(panel);
    let x = |seconds: f64| layout.left + layout.plot * time.place(seconds);
    let y = |value: f64| top + layout.high * (1.0 - scale.place(value));
    for (value, label) in &scale.ticks {
        svg.line("grid", (layout.left, y(*value)), (layout.left + layout.plot, y(*value)));
        svg.text("tick", (layout.left - 6.0, y(*value) + 4.0), Anchor::End, label);
    }
    if let Some((value, name)) = panel.mark.as_ref().filter(|(value, _)| *value <= scale.ends().1) {
        svg.line("mark", (layout.left, y(*value)), (layout.left + layout.plot, y(*value)));
        // At the top there is no room above the line.
        let below = if y(*value) < top + 14.0 { 13.0 } else { -4.0 };
        svg.text("mark-name", (layout.left + 4.0, y(*value) + below), Anchor::Start, name);
    }
    for (at, curve) in panel.curves.iter().enumerate() {
        draw_curve(svg, curve, at, &x, &y);
    }
    if size == Size::Wide {
        let mut labels: Vec<(f64, usize)> = Vec::new();
        for (at, curve) in panel.curves.iter().enumerate() {
            let last = curve.points.iter().rev().find_map(|(_, value)| *value);
            labels.extend(last.map(|value| (y(value), at)));
        }
        for (place, at) in apart(labels, top, top + layout.high) {
            let class = format!("label c{}", at % 6 + 1);
            svg.text(&class, (layout.left + layout.plot + 8.0, place + 4.0), Anchor::Start, &panel.curves[at].label);
        }
    }
}

/// Labels moved so far apart that none lies on another, in their order, between `top` and `bottom` as far as they fit.
fn apart(mut labels: Vec<(f64, usize)>, top: f64, bottom: f64) -> Vec<(f64, usize)> {
    const LINE: f64 = 14.0;
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut least = top;
    for label in &mut labels {
        label.0 = label.0.max(least);
        least = label.0 + LINE;
    }
    let mut most = bottom;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(most);
        most = label.0 - LINE;
    }
    labels
}

/// A line through what is there; a gap stays a gap, and a value alone becomes a dot.
fn draw_curve(svg: &mut Svg, curve: &Curve, at: usize, x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) {
    let class = at % 6 + 1;
    let mut data = String::new();
    for stretch in curve.points.split(|(_, value)| value.is_none()) {
        if let [(time, Some(value))] = stretch {
            svg.circle(&format!("dot f{class}"), (x(*time), y(*value)), 2.0);
            continue;
        }
        for (nth, (time, value)) in stretch.iter().enumerate() {
            let value = value.expect("stretches are parted where there is none");
            let command = if nth == 0 { 'M' } else { 'L' };
            write!(data, "{command}{:.1} {:.1}", x(*time), y(value)).expect("a string takes all");
        }
    }
    svg.path(&format!("curve s{class}"), &data);
}

/// Names of the curves above the panel; answers the height it took.
fn legend(svg: &mut Svg, panel: &Panel, layout: &Layout, top: f64) -> f64 {
    let (mut x, mut row) = (layout.left, 0.0);
    for (at, curve) in panel.curves.iter().enumerate() {
        let wide = 24.0 + 6.3 * curve.label.chars().count() as f64 + 10.0;
        if x > layout.left && x + wide > layout.width {
            x = layout.left;
            row += LEGEND;
        }
        let y = top + row;
        svg.line(&format!("curve s{}", at % 6 + 1), (x, y - 4.0), (x + 18.0, y - 4.0));
        svg.text("label", (x + 23.0, y), Anchor::Start, &curve.label);
        x += wide;
    }
    row + LEGEND
}

fn draw_time(svg: &mut Svg, time: &Scale, layout: &Layout, top: f64) {
    svg.line("axis", (layout.left, top), (layout.left + layout.plot, top));
    for (seconds, label) in &time.ticks {
        let x = layout.left + layout.plot * time.place(*seconds);
        svg.line("axis", (x, top), (x, top + 4.0));
        svg.text("tick", (x, top + 18.0), Anchor::Middle, label);
    }
}

/// What stands under the pointer, at each time.
fn tips(svg: &mut Svg, panels: &[Panel], time: &Scale, layout: &Layout, bottom: f64) {
    let Some(longest) = panels.iter().flat_map(|panel| &panel.curves).max_by_key(|curve| curve.points.len()) else {
        return;
    };
    let mut from = 0.0;
    for (at, _) in &longest.points {
        let mut words = crate::units::seconds(*at);
        for panel in panels {
            for curve in &panel.curves {
                if let Some((_, Some(value))) = curve.points.iter().find(|(time, _)| (time - at).abs() < 1e-9) {
                    write!(words, "\n{}: {}", curve.label, panel.unit.text(*value)).expect("a string takes all");
                }
            }
        }
        let (left, right) = (time.place(from), time.place(*at));
        let x = layout.left + layout.plot * left;
        svg.tip((x, TITLE), (layout.plot * (right - left), bottom - TITLE), &words);
        from = *at;
    }
}

/// The drawing in words: what a curve's mean and peak are.
fn described(chart: &Chart, panels: &[Panel]) -> String {
    let mut words = chart.about.to_owned();
    for panel in panels {
        for curve in &panel.curves {
            let values: Vec<f64> = curve.points.iter().filter_map(|(_, value)| *value).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let peak = values.iter().copied().fold(0.0, f64::max);
            let (mean, peak) = (panel.unit.text(mean), panel.unit.text(peak));
            write!(words, " {}: mean {mean}, at most {peak}.", curve.label).expect("a string takes all");
        }
    }
    words
}
