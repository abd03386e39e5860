//! Panels one below the other over one horizontal axis: each has a vertical axis of its own, never two.
//!
//! A plot is drawn twice as a still picture. A [specification](super::spec) of the same plot lets the page's script redraw
//! it from the run's data.

use super::axis::{Scale, Unit};
use super::svg::{Anchor, Svg};
use super::{Frame, Size};
use bourse_record::{Phase, PhaseKind, ResponseMap, Round};
use std::fmt::Write;

/// Aggregation of values, if there are more than a drawing can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thin {
    Mean,
    Max,
}

/// Source of a curve's values.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// The sum of these metrics of a round's series, in the run file that the page carries.
    Series { case: usize, round: usize, metrics: Vec<String> },
    /// Worked out for the page.
    Points,
}

/// A curve.
pub(super) struct Curve {
    pub(super) label: String,
    pub(super) points: Vec<(f64, Option<f64>)>,
    pub(super) thin: Thin,
    pub(super) source: Source,
}

/// One vertical axis with its curves.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) unit: Unit,
    pub(super) logarithmic: bool,
    pub(super) curves: Vec<Curve>,
    /// A line across, with its name.
    pub(super) mark: Option<(f64, String)>,
    /// Density of response times, behind the curves; on a logarithmic axis of nanoseconds.
    pub(super) heat: Option<Heat>,
}

/// A grid of counts, and the round in the run file that the page carries.
pub(super) struct Heat {
    pub(super) case: usize,
    pub(super) round: usize,
    pub(super) map: ResponseMap,
}

/// Moments marked below the curves: those at which a separate curve is above zero.
pub(super) struct Events {
    pub(super) name: &'static str,
    pub(super) curve: Curve,
}

/// The horizontal axis.
pub(super) enum Across {
    /// Seconds since the round began, with its phases.
    Time { phases: Vec<Phase>, events: Option<Events> },
    /// Quantiles, each nine as wide as the one before: the position is the decimal logarithm of 1 / (1 - quantile).
    Quantiles,
}

/// Contents of a drawing.
pub(crate) struct Plot {
    pub(super) across: Across,
    pub(super) panels: Vec<Panel>,
}

/// Colours and dashes that curves take in turn.
pub(super) const STYLES: usize = 12;

/// Class number of the curve at that index.
pub(super) const fn style(at: usize) -> usize {
    at % STYLES + 1
}

/// Quantiles named on the axis, by position.
pub(super) const NAMED_QUANTILES: [(f64, &str); 7] =
    [(0.0, "min"), (0.301, "p50"), (1.0, "p90"), (2.0, "p99"), (3.0, "p99.9"), (4.0, "p99.99"), (5.0, "p99.999")];

impl Across {
    fn scale(&self, panels: &[Panel], size: Size) -> Scale {
        let last = |curve: &Curve| curve.points.last().map_or(0.0, |(place, _)| *place);
        let end = panels.iter().flat_map(|panel| &panel.curves).map(last).fold(0.0, f64::max);
        match self {
            Self::Time { phases, .. } => {
                let end = phases.iter().map(|phase| phase.to_s).filter(|to| to.is_finite()).fold(end, f64::max);
                Scale::time(end, if size == Size::Wide { 9.0 } else { 4.0 })
            }
            Self::Quantiles => Scale::named(end.max(1.0), &NAMED_QUANTILES),
        }
    }
}

/// Places of a drawing.
struct Layout {
    left: f64,
    plot: f64,
    width: f64,
    /// Height of a panel, without title and gap.
    high: f64,
}

impl Layout {
    const fn of(size: Size, across: &Across) -> Self {
        let high = match across {
            Across::Time { .. } => 130.0,
            Across::Quantiles => 260.0,
        };
        match size {
            Size::Wide => Self { left: 66.0, plot: 640.0, width: 860.0, high },
            Size::Narrow => Self { left: 58.0, plot: 284.0, width: 350.0, high: 0.9 * high },
        }
    }
}

/// Room for a panel's title with the gap to the panel above, for the phases' names, and for a row of the legend.
const TITLE: f64 = 34.0;
const PHASES: f64 = 16.0;
const LEGEND: f64 = 18.0;

/// Moments below which a curve over time shows nothing: two points look like a trend.
const FEWEST_MOMENTS: usize = 3;

/// Whether a round has too few moments for charts over time.
pub(crate) fn is_too_short(round: &Round) -> bool {
    round.series.time_s.len().max(round.fine_series.time_s.len()) < FEWEST_MOMENTS
}

/// The plot with only its drawable parts; `None` if there are none.
pub(super) fn usable(mut plot: Plot) -> Option<Plot> {
    let fewest = if matches!(plot.across, Across::Time { .. }) { FEWEST_MOMENTS } else { 1 };
    for panel in &mut plot.panels {
        for curve in &mut panel.curves {
            for (_, value) in &mut curve.points {
                *value = value.filter(|value| *value >= 0.0 && (*value > 0.0 || !panel.logarithmic));
            }
            curve.points.retain(|(place, _)| place.is_finite() && *place >= 0.0);
        }
        let is_any = |curve: &Curve| curve.points.iter().any(|(_, value)| value.is_some());
        panel.curves.retain(|curve| curve.points.len() >= fewest && is_any(curve));
    }
    plot.panels.retain(|panel| !panel.curves.is_empty());
    (!plot.panels.is_empty()).then_some(plot)
}

/// The still drawing of a [usable] plot.
pub(super) fn still(frame: &Frame<'_>, plot: &Plot, size: Size) -> String {
    let layout = Layout::of(size, &plot.across);
    let scale = plot.across.scale(&plot.panels, size);
    let mut svg = Svg::new();
    // The first panel has no gap above it.
    let mut top = -14.0;
    for (nth, panel) in plot.panels.iter().enumerate() {
        top += TITLE;
        svg.text("panel-title", (layout.left, top - 8.0), Anchor::Start, &panel.title);
        if size == Size::Narrow && panel.curves.len() > 1 {
            top += legend(&mut svg, panel, &layout, top + 8.0);
        }
        if let Across::Time { phases, .. } = &plot.across {
            if nth == 0 && !phases.is_empty() {
                top += PHASES;
            }
            draw_phases(&mut svg, phases, &scale, &layout, top, nth == 0);
        } else {
            for (place, _) in &scale.ticks {
                let x = layout.left + layout.plot * scale.place(*place);
                svg.line("grid", (x, top), (x, top + layout.high));
            }
        }
        draw_panel(&mut svg, panel, &scale, &layout, top, size);
        top += layout.high;
    }
    if let Across::Time { events: Some(events), .. } = &plot.across {
        draw_events(&mut svg, events, &scale, &layout, top, size);
    }
    draw_across(&mut svg, &scale, &layout, top);
    let id = format!("{}-{}", frame.id, size.class());
    svg.finish(&id, (layout.width, top + 26.0), frame.title, &described(frame.about, &plot.panels))
}

/// The points of a curve, at most one per pixel.
fn thinned(curve: &Curve, pixels: f64) -> Vec<(f64, Option<f64>)> {
    let size = curve.points.len().div_ceil((pixels as usize / 2).max(1));
    if size < 2 {
        return curve.points.clone();
    }
    let thinned = curve.points.chunks(size).map(|chunk| {
        let values: Vec<f64> = chunk.iter().filter_map(|(_, value)| *value).collect();
        let value = match curve.thin {
            Thin::Mean => values.iter().sum::<f64>() / values.len() as f64,
            Thin::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        (chunk[chunk.len() - 1].0, (!values.is_empty()).then_some(value))
    });
    thinned.collect()
}

fn scale_of(panel: &Panel) -> Scale {
    let values = panel.curves.iter().flat_map(|curve| &curve.points).filter_map(|(_, value)| *value);
    let values = values.chain(panel.mark.as_ref().map(|(value, _)| *value).filter(|_| !panel.logarithmic));
    let lowest = panel.heat.iter().map(|heat| heat.map.bound_ns(0)).filter(|_| panel.logarithmic);
    let (low, high) =
        values.chain(lowest).fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if panel.logarithmic { Scale::logarithmic(panel.unit, low, high, 5) } else { Scale::linear(panel.unit, high, 4.0) }
}

fn draw_phases(svg: &mut Svg, phases: &[Phase], time: &Scale, layout: &Layout, top: f64, named: bool) {
    let x = |seconds: f64| layout.left + layout.plot * time.place(seconds);
    for phase in phases {
        let (from, to) = (x(phase.from_s), x(phase.to_s));
        let name = phase_name(phase.kind);
        if phase.kind == PhaseKind::Measurement {
            svg.line("bound", (from, top), (from, top + layout.high));
            svg.line("bound", (to, top), (to, top + layout.high));
        } else {
            svg.rect("apart", (from, top), (to - from, layout.high));
        }
        // A name wider than its phase would overlap its neighbour's.
        if named && to - from > name.len() as f64 * 6.5 {
            svg.text("phase", ((from + to) / 2.0, top - 4.0), Anchor::Middle, name);
        }
    }
}

/// A phase in a word.
pub(super) const fn phase_name(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::WarmUp => "warm-up",
        PhaseKind::Measurement => "measured",
        PhaseKind::Drain => "drain",
    }
}

fn draw_panel(svg: &mut Svg, panel: &Panel, time: &Scale, layout: &Layout, top: f64, size: Size) {
    let scale = scale_of(panel);
    let x = |seconds: f64| layout.left + layout.plot * time.place(seconds);
    let y = |value: f64| top + layout.high * (1.0 - scale.place(value));
    if let Some(heat) = &panel.heat {
        draw_heat(svg, &heat.map, time, &scale, layout, top);
    }
    for (value, label) in &scale.ticks {
        svg.line("grid", (layout.left, y(*value)), (layout.left + layout.plot, y(*value)));
        svg.text("tick", (layout.left - 6.0, y(*value) + 4.0), Anchor::End, label);
    }
    if let Some((value, name)) = panel.mark.as_ref().filter(|(value, _)| *value <= scale.ends().1) {
        svg.line("mark", (layout.left, y(*value)), (layout.left + layout.plot, y(*value)));
        // No room above a line at the top.
        let below = if y(*value) < top + 14.0 { 13.0 } else { -4.0 };
        svg.text("mark-name", (layout.left + 4.0, y(*value) + below), Anchor::Start, name);
    }
    for (at, curve) in panel.curves.iter().enumerate() {
        draw_curve(svg, &thinned(curve, layout.plot), at, &x, &y);
    }
    if size == Size::Wide {
        let mut labels: Vec<(f64, usize)> = Vec::new();
        for (at, curve) in panel.curves.iter().enumerate() {
            let last = curve.points.iter().rev().find_map(|(_, value)| *value);
            labels.extend(last.map(|value| (y(value), at)));
        }
        for (place, at) in apart(labels, top, top + layout.high) {
            let class = format!("label c{}", style(at));
            svg.text(&class, (layout.left + layout.plot + 8.0, place + 4.0), Anchor::Start, &panel.curves[at].label);
        }
    }
}

/// Shades of a heat map.
const SHADES: u32 = 6;

/// Draws cells, darker with the logarithm of their counts; cells of one shade are one path.
fn draw_heat(svg: &mut Svg, map: &ResponseMap, time: &Scale, scale: &Scale, layout: &Layout, top: f64) {
    let most = map.counts.iter().flatten().copied().max().unwrap_or(0) as f64;
    if most == 0.0 {
        return;
    }
    let y = |value: f64| top + layout.high * (1.0 - scale.place(value));
    // Narrower columns are indistinguishable.
    let narrowest = layout.plot / 160.0;
    let mut paths = vec![String::new(); SHADES as usize];
    let (mut from, mut sum): (f64, Vec<u64>) = (layout.left, Vec::new());
    let mut columns = map.time_s.iter().zip(&map.counts).peekable();
    while let Some((time_s, counts)) = columns.next() {
        sum.resize(sum.len().max(counts.len()), 0);
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
        let to = layout.left + layout.plot * time.place(*time_s);
        if to - from < narrowest && columns.peek().is_some() {
            continue;
        }
        for (row, count) in sum.iter().enumerate().filter(|(_, count)| **count > 0) {
            let part = ((1.0 + *count as f64).ln() / (1.0 + most).ln()).min(1.0);
            let shade = ((part * f64::from(SHADES)).ceil() as usize).clamp(1, SHADES as usize);
            let (low, high) = (y(map.bound_ns(row)), y(map.bound_ns(row + 1)));
            write!(paths[shade - 1], "M{from:.1} {low:.1}H{to:.1}V{high:.1}H{from:.1}Z").expect("a string takes all");
        }
        (from, sum) = (to, Vec::new());
    }
    for (shade, path) in paths.iter().enumerate() {
        svg.path(&format!("heat h{}", shade + 1), path);
    }
}

/// Moves labels apart so that none overlaps another, in their order, between `top` and `bottom` as far as they fit.
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

/// Draws a line through the values; a gap stays a gap, and a single value becomes a dot.
fn draw_curve(
    svg: &mut Svg,
    points: &[(f64, Option<f64>)],
    at: usize,
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
) {
    let class = style(at);
    let mut data = String::new();
    for stretch in points.split(|(_, value)| value.is_none()) {
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

/// Draws the names of the curves above the panel; returns the height it took.
fn legend(svg: &mut Svg, panel: &Panel, layout: &Layout, top: f64) -> f64 {
    let (mut x, mut row) = (layout.left, 0.0);
    for (at, curve) in panel.curves.iter().enumerate() {
        let wide = 24.0 + 6.3 * curve.label.chars().count() as f64 + 10.0;
        if x > layout.left && x + wide > layout.width {
            x = layout.left;
            row += LEGEND;
        }
        let y = top + row;
        svg.line(&format!("curve s{}", style(at)), (x, y - 4.0), (x + 18.0, y - 4.0));
        svg.text("label", (x + 23.0, y), Anchor::Start, &curve.label);
        x += wide;
    }
    row + LEGEND
}

fn draw_across(svg: &mut Svg, scale: &Scale, layout: &Layout, top: f64) {
    svg.line("axis", (layout.left, top), (layout.left + layout.plot, top));
    for (place, label) in &scale.ticks {
        let x = layout.left + layout.plot * scale.place(*place);
        svg.line("axis", (x, top), (x, top + 4.0));
        svg.text("tick", (x, top + 18.0), Anchor::Middle, label);
    }
}

/// Draws a stroke at the foot for each event, and their name next to the axis.
fn draw_events(svg: &mut Svg, events: &Events, scale: &Scale, layout: &Layout, foot: f64, size: Size) {
    let x = |at: f64| layout.left + layout.plot * scale.place(at);
    let happened = events.curve.points.iter().filter(|(_, value)| value.is_some_and(|value| value > 0.0));
    // Events closer together than pixels are one stroke.
    let mut last = f64::NEG_INFINITY;
    for (at, _) in happened {
        if x(*at) - last >= 1.5 {
            last = x(*at);
            svg.line("event", (last, foot - 7.0), (last, foot));
        }
    }
    if last.is_finite() && size == Size::Wide {
        // After the ticks, half of the last of which hangs over: the positions above are those of curves.
        svg.text("event-name", (layout.left + layout.plot + 28.0, foot + 18.0), Anchor::Start, events.name);
    }
}

/// Description of the drawing for readers without it: mean and peak of each curve.
fn described(about: &str, panels: &[Panel]) -> String {
    let mut words = about.to_owned();
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
