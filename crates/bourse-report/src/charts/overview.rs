//! Several engines on several workloads: a panel for each workload, a lane for each engine, a mark for each durability class.

use super::axis::{AxisScale, AxisUnit};
use super::svg::{Anchor, Svg, fitted, width_of_names};
use super::{ChartFrame, ChartSize};
use crate::documents::{Overview, class_words, estimate};
use crate::units;
use bourse_record::Durability;

const LANE: f64 = 17.0;
const HEAD: f64 = 20.0;
/// Height of an axis with its labels, and of the legend.
const AXIS: f64 = 24.0;
const LEGEND: f64 = 22.0;
const GAP: f64 = 18.0;
/// Half the width of a mark: small, so that intervals are seen beyond it.
const MARK: f64 = 3.5;
/// Widest column of names, in CSS pixels.
const NAMES: f64 = 120.0;

/// The drawing; `None` if no workload has two figures.
pub(crate) fn overview(frame: &ChartFrame<'_>, of: &Overview<'_, '_>, size: ChartSize) -> Option<String> {
    let mut engines: Vec<&str> = Vec::new();
    for row in &of.rows {
        if !engines.contains(&row.engine) {
            engines.push(row.engine);
        }
    }
    let classes = of.classes();
    // A pixel more than the longest name, which rounding must not cut.
    let room = (width_of_names(engines.iter().copied()) + 1.0).min(NAMES);
    let names = room + 10.0;
    let lanes = LANE * engines.len() as f64;
    // A workload on which a single engine has a figure compares nothing.
    let has_several = |at: &usize| of.rows.iter().filter(|row| row.cells[*at].and_then(estimate).is_some()).count() > 1;
    let workloads: Vec<usize> = (0..of.workloads.len()).filter(has_several).collect();
    let panels = workloads.len();
    if panels == 0 {
        return None;
    }
    // Panels are next to one another where there is room, and share the names.
    let width = match size {
        ChartSize::Wide => (size.width() - names - GAP * panels as f64) / panels as f64,
        ChartSize::Narrow => size.width() - names - 12.0,
    };
    let place = |panel: usize| match size {
        ChartSize::Wide => (names + panel as f64 * (width + GAP), LEGEND),
        ChartSize::Narrow => (names, LEGEND + panel as f64 * (HEAD + lanes + AXIS + GAP)),
    };
    let mut svg = Svg::new();
    let mut x = 4.0;
    for class in &classes {
        let words = class_words(*class);
        mark(&mut svg, *class, (x + 6.0, 9.0));
        svg.text("label", (x + 16.0, 13.0), Anchor::Start, &words);
        x += 34.0 + 6.6 * words.chars().count() as f64;
    }
    let mut about = frame.about.to_owned();
    for (panel, at) in workloads.into_iter().enumerate() {
        let workload = &of.workloads[at];
        let (left, top) = place(panel);
        let foot = top + HEAD + lanes;
        let figures = of.rows.iter().filter_map(|row| estimate(row.cells[at]?));
        let ends = figures.flat_map(|(figure, interval)| {
            [Some(figure), interval.map(|it| it.low), interval.map(|it| it.high)].into_iter().flatten()
        });
        let (low, high) =
            ends.filter(|end| *end > 0.0).fold((f64::MAX, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        let unit = workload.members.first().map_or("", |(_, view)| view.unit());
        svg.text(
            "panel-title",
            (left, top + 11.0),
            Anchor::Start,
            &fitted(&format!("{}, {unit}", workload.name), width + GAP),
        );
        let lane = |engine: &str| {
            let at = engines.iter().position(|it| *it == engine).unwrap_or(0);
            top + HEAD + LANE * (at as f64 + 0.5)
        };
        for engine in &engines {
            svg.line("grid", (left, lane(engine)), (left + width, lane(engine)));
            if panel == 0 || size == ChartSize::Narrow {
                let name = fitted(engine, room);
                svg.text("row-note", (names - 8.0, lane(engine) + 4.0), Anchor::End, &name);
            }
        }
        let scale = AxisScale::close(AxisUnit::Short, low, high, 5);
        let x = |value: f64| left + width * scale.place(value);
        for (value, _) in &scale.ticks {
            svg.line("grid", (x(*value), top + HEAD), (x(*value), foot));
        }
        for row in &of.rows {
            let Some((figure, interval)) = row.cells[at].and_then(estimate) else { continue };
            // Marks of one lane next to one another, so that none covers another.
            let class = classes.iter().position(|class| *class == row.durability).unwrap_or(0);
            let y = lane(row.engine) + 5.0 * (class as f64 - (classes.len() as f64 - 1.0) / 2.0);
            if let Some(interval) = interval {
                svg.line("whisker", (x(interval.low), y), (x(interval.high), y));
            }
            mark(&mut svg, row.durability, (x(figure), y));
            let figure = units::short(figure);
            about.push_str(&format!(" {}, {} ({}): {figure} {unit}.", workload.name, row.engine, row.durability));
        }
        svg.axis(&scale, (left, foot), width);
    }
    let (_, top) = place(panels.saturating_sub(1));
    let height = top + HEAD + lanes + AXIS;
    let id = format!("{}-{}", frame.id, size.class());
    Some(svg.finish(&id, (size.width(), height), frame.title, &about))
}

/// The mark of a class: a dot on disk, a diamond in memory.
fn mark(svg: &mut Svg, class: Durability, (x, y): (f64, f64)) {
    match class {
        Durability::Volatile => svg.path("then", &super::marks::diamond((x, y), MARK)),
        Durability::Durable => svg.circle("estimate plain", (x, y), MARK),
        _ => svg.circle(&format!("bar class-{class}"), (x, y), MARK),
    }
}
