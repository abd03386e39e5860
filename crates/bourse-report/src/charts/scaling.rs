//! Results by an option that was swept over numbers, or by versions.

use super::axis::{AxisScale, AxisUnit};
use super::svg::{Anchor, Svg, style};
use super::{ChartFrame, ChartSize};
use crate::units;
use crate::view::{CaseView, OperationView, Quantile};
use bourse_stats::grouped;

/// Names of the options that cases differ in by at least two numbers or versions, in order.
pub(crate) fn swept<'a>(views: &[&CaseView<'a>]) -> Vec<&'a str> {
    let varied = views.iter().flat_map(|view| &view.case.varied);
    let is_placed = |text: &str| number(text).is_some() || version(text).is_some();
    let placed = varied.filter(|it| is_placed(&it.value)).map(|it| (it.name.as_str(), it.value.as_str()));
    let several = |values: &[&str]| {
        values.iter().any(|value| number(value).map_or(*value != values[0], |it| Some(it) != number(values[0])))
    };
    grouped(placed).into_iter().filter(|(_, values)| several(values)).map(|(name, _)| name).collect()
}

/// The three numbers of a version, as of 3.17.0.
fn version(text: &str) -> Option<[u32; 3]> {
    let numbers: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// The versions that cases differ in, in order; empty for an option with other values.
fn versions(views: &[&CaseView<'_>], option: &str) -> Vec<String> {
    let values = views.iter().flat_map(|view| &view.case.varied).filter(|it| it.name == option);
    let mut found: Vec<([u32; 3], String)> =
        values.filter_map(|it| Some((version(&it.value)?, it.value.clone()))).collect();
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, text)| text).collect()
}

/// A value as a position on an axis; sizes may have a unit, and counts may be thousands or millions.
fn number(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 5] =
        [("KiB", 1024.0), ("MiB", 1024.0 * 1024.0), ("GiB", 1024.0 * 1024.0 * 1024.0), ("k", 1e3), ("M", 1e6)];
    let (digits, factor) =
        UNITS.into_iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor))).unwrap_or((text, 1.0));
    digits.trim().parse::<f64>().ok().map(|value| value * factor).filter(|value| value.is_finite() && *value >= 0.0)
}

/// The 90th percentile of a case's response times.
#[derive(Clone, Copy)]
struct P90 {
    ns: f64,
    /// Whether the percentile is larger than `ns`: it falls on an operation without a time.
    is_beyond: bool,
}

impl P90 {
    /// The percentile; `None` if too few operations are beyond it.
    fn of(operation: &OperationView) -> Option<Self> {
        match operation.response.quantile(0.9)? {
            Quantile::At(ns) => Some(Self { ns: ns as f64, is_beyond: false }),
            Quantile::Beyond(ns) => Some(Self { ns: ns as f64, is_beyond: true }),
            Quantile::TooFew => None,
        }
    }
}

/// A case along the axis.
struct CasePoint {
    x: f64,
    low: f64,
    figure: f64,
    high: f64,
    p90: Option<P90>,
    /// Instructions of an operation, if they were counted.
    instructions: Option<f64>,
    /// Bytes that an operation reads from storage, and pages that it finds to be missing; unless memory was set, `None`.
    reads: [Option<f64>; 2],
}

/// Name of an axis, in place of an option by which databases outgrow their memory.
const TIMES_MEMORY: &str = "size of the database / memory";

/// Whether cases that differ in an option alone differ in the size of the database relative to their memory.
fn outgrow_memory(views: &[&CaseView<'_>], option: &str) -> bool {
    let sizes = grouped(views.iter().map(|view| (rest(view, option), view.times_memory())));
    sizes.iter().all(|(_, sizes)| {
        let known: Vec<f64> = sizes.iter().flatten().copied().collect();
        let differ = known.iter().any(|size| (size / known[0] - 1.0).abs() > 0.05);
        known.len() == sizes.len() && differ
    })
}

/// Results by an option, a curve for each combination of the other options; `None` if fewer than two cases have a figure.
pub(crate) fn scaling(
    frame: &ChartFrame<'_>,
    views: &[&CaseView<'_>],
    option: &str,
    size: ChartSize,
) -> Option<String> {
    let mut points = Vec::new();
    // Results of different units have no common axis.
    if views.windows(2).any(|pair| pair[0].unit() != pair[1].unit()) {
        return None;
    }
    let by_memory = outgrow_memory(views, option);
    let versions = versions(views, option);
    for view in views {
        let of_option = || {
            let value = &view.case.varied.iter().find(|it| it.name == option)?.value;
            let place = versions.iter().position(|it| it == value);
            place.map(|place| place as f64).or_else(|| number(value))
        };
        let Some(x) = (if by_memory { view.times_memory() } else { of_option() }) else { continue };
        let (Some(figure), figures) = (view.valid_figure(), view.figures()) else { continue };
        let p90 = view.headline_operation().and_then(P90::of);
        let interval = view.estimate().and_then(|it| it.interval).map(|it| (it.low, it.high));
        let (low, high) = interval.or(figures.first().copied().zip(figures.last().copied()))?;
        let cost = view.cost().filter(|_| view.memory().is_some());
        let reads = [cost.and_then(|it| it.read_bytes), cost.and_then(|it| it.misses)];
        points.push((
            rest(view, option),
            CasePoint { x, low, figure, high, p90, instructions: view.instructions(), reads },
        ));
    }
    if points.len() < 2 {
        return None;
    }
    let mut curves = grouped(points);
    for (_, points) in &mut curves {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let mut response = "90th percentile of the response times".to_owned();
    if views.iter().filter_map(|view| view.headline_operation()).any(|it| it.batches().is_some()) {
        response.push_str(" of batches");
    }
    let mut queues =
        views.iter().filter_map(|view| view.driver_queue(view.case.workload.headline_operation.as_deref()?));
    if let Some(queue) = queues.next() {
        response.push_str(&format!(", which include the {queue}"));
    }
    if curves.iter().flat_map(|(_, points)| points).any(|point| point.p90.is_some_and(|it| it.is_beyond)) {
        response.push_str("; more than the dot where a line goes up");
    }
    let option = if by_memory { TIMES_MEMORY } else { option };
    Some(draw(frame, &curves, (option, &versions), [views[0].unit(), &response], size))
}

/// Key of a case without the swept option: its target and the other swept options.
fn rest(view: &CaseView<'_>, option: &str) -> String {
    let mut target = view.case.engine.target.clone();
    for varied in &view.case.varied {
        // Databases of other sizes have names of their own, which are no difference here.
        for part in [format!("{}={}", varied.name, varied.value), format!("-{}{}", &varied.name[..1], varied.value)] {
            target = target.replace(&part, "");
        }
    }
    let target = target.replace("?&", "?").replace("&&", "&");
    let others = view.case.varied.iter().filter(|varied| varied.name != option);
    let others: Vec<String> = others.map(|varied| format!("{}={}", varied.name, varied.value)).collect();
    let target = target.trim_end_matches(['?', '&']);
    if others.is_empty() { target.to_owned() } else { format!("{target} {}", others.join(" ")) }
}

fn draw(
    frame: &ChartFrame<'_>,
    curves: &[(String, Vec<CasePoint>)],
    (option, versions): (&str, &[String]),
    [unit, response]: [&str; 2],
    size: ChartSize,
) -> String {
    const HIGH: f64 = 200.0;
    const GAP: f64 = 44.0;
    let (left, plot) = match size {
        ChartSize::Wide => (66.0, 740.0),
        ChartSize::Narrow => (58.0, 280.0),
    };
    let all = || curves.iter().flat_map(|(_, points)| points);
    let most = |of: fn(&CasePoint) -> f64| all().map(of).fold(0.0, f64::max);
    let count = if size == ChartSize::Wide { 8.0 } else { 4.0_f64 };
    // Counts of users are integers.
    let count =
        if all().all(|point| point.x.fract() == 0.0) { count.min(most(|point| point.x)).max(1.0) } else { count };
    let across = match versions {
        [] => AxisScale::linear(AxisUnit::Count, most(|point| point.x), count),
        _ => AxisScale::named(versions, if size == ChartSize::Wide { 1 } else { 3 }),
    };
    let place = |point: &CasePoint| versions.get(point.x as usize).cloned().unwrap_or_else(|| units::plain(point.x));
    let x = |point: &CasePoint| left + plot * across.place(point.x);
    let mut svg = Svg::new();
    // Names are at the top: labels at the ends of curves would overlap.
    let mut top = 4.0;
    for (at, (name, _)) in curves.iter().enumerate() {
        top += 18.0;
        svg.line(&format!("curve s{}", style(at)), (left, top - 4.0), (left + 18.0, top - 4.0));
        svg.text("label", (left + 24.0, top), Anchor::Start, name);
    }
    type Panel = (String, AxisUnit, fn(&CasePoint) -> Option<f64>, bool);
    let mut panels: Vec<Panel> = vec![
        (unit.to_owned(), AxisUnit::Count, |point| Some(point.figure), true),
        (response.to_owned(), AxisUnit::Nanoseconds, |point| Some(point.p90?.ns), false),
    ];
    if all().any(|point| point.instructions.is_some()) {
        panels.push(("instructions of an operation".to_owned(), AxisUnit::Count, |point| point.instructions, false));
    }
    if all().any(|point| point.reads[0].is_some()) {
        panels.push(("read from storage by an operation".to_owned(), AxisUnit::Bytes, |point| point.reads[0], false));
        panels.push(("misses of an operation".to_owned(), AxisUnit::Count, |point| point.reads[1], false));
    }
    let mut about = format!("Results by {option}.");
    for (title, unit_of_panel, of, spread) in &panels {
        let highest = all().filter_map(|point| if *spread { Some(point.high) } else { of(point) }).fold(0.0, f64::max);
        let scale = AxisScale::linear(*unit_of_panel, highest, 4.0);
        top += GAP;
        svg.text("panel-title", (left, top - 10.0), Anchor::Start, title);
        let y = |value: f64| top + HIGH * (1.0 - scale.place(value));
        for (value, label) in &scale.ticks {
            svg.line("grid", (left, y(*value)), (left + plot, y(*value)));
            svg.text("tick", (left - 6.0, y(*value) + 4.0), Anchor::End, label);
        }
        for (at, (name, points)) in curves.iter().enumerate() {
            let class = style(at);
            let mut path = String::new();
            let mut is_gap = true;
            for point in points {
                let Some(value) = of(point) else {
                    is_gap = true;
                    continue;
                };
                let command = if is_gap { 'M' } else { 'L' };
                is_gap = false;
                path.push_str(&format!("{command}{:.1} {:.1}", x(point), y(value)));
                let is_beyond = *unit_of_panel == AxisUnit::Nanoseconds && point.p90.is_some_and(|it| it.is_beyond);
                if is_beyond {
                    svg.line(&format!("curve s{class}"), (x(point), y(value)), (x(point), top));
                }
                if *spread && point.high > point.low {
                    svg.line(&format!("curve s{class}"), (x(point), y(point.low)), (x(point), y(point.high)));
                }
                svg.circle(&format!("dot f{class}"), (x(point), y(value)), 3.5);
                let more = if is_beyond { "> " } else { "" };
                let words = format!("{name}\n{option} {}: {more}{}", place(point), unit_of_panel.text(value));
                svg.tip((x(point) - 8.0, y(value) - 8.0), (16.0, 16.0), &words);
                if *spread {
                    about.push_str(&format!(" {name}, {}: {}.", place(point), units::number(value)));
                }
            }
            svg.path(&format!("curve s{class}"), &path);
        }
        top += HIGH;
        svg.line("axis", (left, top), (left + plot, top));
        for (value, label) in &across.ticks {
            svg.text("tick", (left + plot * across.place(*value), top + 16.0), Anchor::Middle, label);
        }
    }
    svg.text("tick", (left + plot, top + 34.0), Anchor::End, option);
    svg.finish(&format!("{}-{}", frame.id, size.class()), (size.width(), top + 42.0), frame.title, &about)
}
