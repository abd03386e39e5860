//! The cases' results side by side, a group for each durability class: figures of different classes are not ranked.

use super::axis::{AxisScale, AxisUnit};
use super::svg::{Anchor, Svg, fitted, width_of_names};
use super::{ChartFrame, ChartSize};
use crate::tables::by_class;
use crate::units;
use crate::view::{CaseView, FigureValidity};

const ROW: f64 = 40.0;
const HEAD: f64 = 26.0;

/// A bar for each case with its interval and a dot for each round, for cases whose results have one unit; `None` for a
/// single case.
pub(crate) fn comparison(frame: &ChartFrame<'_>, views: &[&CaseView<'_>], size: ChartSize) -> Option<String> {
    if views.len() < 2 {
        return None;
    }
    let left = if size == ChartSize::Wide { 10.0 } else { 6.0 };
    // The longest bar leaves room for the longest result, which is written behind its bar.
    let results: Vec<String> = views.iter().map(|view| result(view)).collect();
    let plot = size.width() - left - 8.0 - width_of_names(results.iter().map(String::as_str));
    let highest = |view: &CaseView<'_>| {
        view.valid_figure()?;
        let interval = view.estimate().and_then(|it| it.interval).map(|it| it.high);
        view.figures().last().copied().into_iter().chain(interval).reduce(f64::max)
    };
    let high = views.iter().filter_map(|view| highest(view)).fold(0.0, f64::max);
    let scale = AxisScale::linear(AxisUnit::PerSecond, high, if size == ChartSize::Wide { 6.0 } else { 3.0 });
    let x = |value: f64| left + plot * scale.place(value);
    let classes = by_class(views.iter().copied());
    let height = classes.iter().map(|(_, members)| HEAD + ROW * members.len() as f64).sum::<f64>() + 6.0;
    let mut svg = Svg::new();
    for (value, _) in &scale.ticks {
        svg.line("grid", (x(*value), 4.0), (x(*value), height));
    }
    let mut about = frame.about.to_owned();
    let mut top = 0.0;
    for (class, members) in &classes {
        top += HEAD;
        svg.text("panel-title", (left, top - 6.0), Anchor::Start, &format!("{class}:"));
        for view in members {
            let text = result(view);
            // All cases have one workload, which labels of several workloads begin with.
            let label = view.case.label.strip_prefix(&format!("{}, ", view.case.workload.name));
            let label = fitted(label.unwrap_or(&view.case.label), size.width() - left);
            svg.text("row-name", (left, top + 13.0), Anchor::Start, &label);
            let middle = top + 25.0;
            let bar = view.valid_figure().map_or(0.0, |figure| scale.place(figure) * plot);
            svg.rect(&format!("bar class-{}", view.case.engine.durability), (left, middle - 6.0), (bar, 12.0));
            if view.valid_figure().is_some() {
                if view.figures().len() > 1 {
                    for figure in view.figures() {
                        svg.circle("round", (x(figure), middle), 2.5);
                    }
                }
                if let Some(interval) = view.estimate().and_then(|it| it.interval) {
                    svg.line("whisker", (x(interval.low), middle), (x(interval.high), middle));
                    for end in [interval.low, interval.high] {
                        svg.line("whisker", (x(end), middle - 5.0), (x(end), middle + 5.0));
                    }
                }
            }
            let tone = if view.validity() == FigureValidity::Counts { "row-value" } else { "row-value bad" };
            let end = highest(view).map_or(left, x).max(left + bar);
            svg.text(tone, (end + 8.0, middle + 4.0), Anchor::Start, &text);
            about.push_str(&format!(" {} ({class}): {text}.", view.case.label));
            top += ROW;
        }
    }
    svg.axis(&scale, (left, height), plot);
    let id = format!("{}-{}", frame.id, size.class());
    Some(svg.finish(&id, (size.width(), height + 26.0), frame.title, &about))
}

fn result(view: &CaseView<'_>) -> String {
    match (view.valid_figure(), view.validity()) {
        (Some(figure), _) => {
            let plus_minus = view.plus_minus().map(|it| format!(" {it}")).unwrap_or_default();
            format!("{} {}{plus_minus}", units::number(figure), view.unit())
        }
        (None, FigureValidity::Void) => match view.void_rounds().next() {
            Some(_) => "VOID: a round failed".to_owned(),
            None => "VOID: a check failed".to_owned(),
        },
        (None, validity) => validity.name().to_owned(),
    }
}
