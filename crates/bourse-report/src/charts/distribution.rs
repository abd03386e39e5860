//! Response times of each transaction, a curve each, on one logarithmic axis.

use super::axis::{AxisScale, AxisUnit};
use super::svg::{Anchor, Svg, fitted};
use super::{Chart, ChartSize, ChartSubject};
use crate::units;
use crate::view::OperationView;
use hdrhistogram::Histogram;
use std::fmt::Write;

/// Places of a drawing.
struct Layout {
    left: f64,
    plot: f64,
    /// Distance between the feet of two curves.
    row: f64,
    /// Height of a curve.
    high: f64,
}

impl Layout {
    const fn of(size: ChartSize) -> Self {
        match size {
            ChartSize::Wide => Self { left: 140.0, plot: 700.0, row: 44.0, high: 34.0 },
            // Phones have no room next to the curves for their names, which are placed above.
            ChartSize::Narrow => Self { left: 8.0, plot: 334.0, row: 58.0, high: 32.0 },
        }
    }
}

/// Bars per decade: as fine as three significant figures permit a smooth curve.
const BINS_PER_DECADE: f64 = 24.0;

pub(super) fn distribution(subject: &ChartSubject<'_>, chart: &Chart, size: ChartSize) -> Option<String> {
    let filled =
        |operation: &&OperationView| operation.response.histogram.as_ref().is_some_and(|each| !each.is_empty());
    let operations: Vec<&OperationView> = subject.view.operations.iter().filter(filled).collect();
    if operations.is_empty() {
        return None;
    }
    let layout = Layout::of(size);
    let scale = scale(&operations, size);
    let x = |ns: f64| layout.left + layout.plot * scale.place(ns);
    let height = 22.0 + layout.row * operations.len() as f64;
    let mut svg = Svg::new();
    for (value, _) in &scale.ticks {
        svg.line("grid", (x(*value), 10.0), (x(*value), height));
    }
    let mut about = chart.about.to_owned();
    for (nth, operation) in operations.iter().enumerate() {
        let foot = 16.0 + layout.row * (nth + 1) as f64;
        let histogram = operation.response.histogram.as_ref().expect("only filled ones are drawn");
        let said = draw(&mut svg, operation, histogram, &scale, &layout, foot, size);
        write!(about, " {said}.").expect("a string takes all");
    }
    svg.axis(&scale, (layout.left, height), layout.plot);
    let id = format!("{}-{}-{}", subject.id, chart.key, size.class());
    Some(svg.finish(&id, (size.width(), height + 26.0), chart.title, &about))
}

fn scale(operations: &[&OperationView], size: ChartSize) -> AxisScale {
    let histograms = || operations.iter().filter_map(|operation| operation.response.histogram.as_ref());
    let low = histograms().map(|histogram| histogram.min().max(1)).min().unwrap_or(1) as f64;
    let high = histograms().map(Histogram::max).max().unwrap_or(1).max(1) as f64;
    let limits = operations.iter().filter_map(|operation| operation.limit_ns).max().unwrap_or(0) as f64;
    AxisScale::logarithmic(AxisUnit::Nanoseconds, low, high.max(limits), if size == ChartSize::Wide { 9 } else { 5 })
}

/// Draws one curve with its quantiles and its limit; returns its description.
fn draw(
    svg: &mut Svg,
    operation: &OperationView,
    histogram: &Histogram<u64>,
    scale: &AxisScale,
    layout: &Layout,
    foot: f64,
    size: ChartSize,
) -> String {
    let x = |ns: f64| layout.left + layout.plot * scale.place(ns);
    svg.line("foot", (layout.left, foot), (layout.left + layout.plot, foot));
    svg.path("ridge", &ridge(histogram, scale, layout, foot));
    let p90 = histogram.value_at_quantile(0.9);
    for (quantile, class) in [(0.5, "p50"), (0.99, "p99")] {
        let at = x(histogram.value_at_quantile(quantile) as f64);
        svg.line(&format!("quantile {class}"), (at, foot - 8.0), (at, foot));
    }
    let kept = operation.limit_kept();
    let class = if kept == Some(false) { "p90 bad" } else { "p90" };
    svg.line(class, (x(p90 as f64), foot - layout.high), (x(p90 as f64), foot));
    if let Some(limit) = operation.limit_ns {
        svg.line("limit", (x(limit as f64), foot - layout.high), (x(limit as f64), foot + 3.0));
        svg.text("limit-name", (x(limit as f64) - 4.0, foot - layout.high + 9.0), Anchor::End, "limit");
    }
    let p90_text = format!("90 % in {}", units::duration_ns(p90 as f64));
    let verdict = match kept {
        Some(false) => ", LIMIT MISSED",
        _ => "",
    };
    match size {
        ChartSize::Wide => {
            let name = fitted(&operation.name, layout.left - 10.0);
            svg.text("row-name", (layout.left - 10.0, foot - 14.0), Anchor::End, &name);
            svg.text("row-note", (layout.left - 10.0, foot), Anchor::End, &format!("{p90_text}{verdict}"));
        }
        ChartSize::Narrow => {
            let name = format!("{}: {p90_text}{verdict}", operation.name);
            svg.text("row-name", (layout.left, foot - layout.high - 8.0), Anchor::Start, &name);
        }
    }
    let limit = operation.limit_ns.map(|limit| format!(", limit {}", units::duration_ns(limit as f64)));
    format!("{}: {p90_text}{}{verdict}", operation.name, limit.unwrap_or_default())
}

/// Draws a filled curve of the counts in bins, the fullest as high as the row.
fn ridge(histogram: &Histogram<u64>, scale: &AxisScale, layout: &Layout, foot: f64) -> String {
    let (low, high) = scale.ends();
    let bins = ((high.log10() - low.log10()) * BINS_PER_DECADE).round().max(1.0) as usize;
    let mut counts = vec![0_u64; bins];
    for step in histogram.iter_recorded() {
        let place = scale.place(step.value_iterated_to() as f64);
        counts[((place * bins as f64) as usize).min(bins - 1)] += step.count_since_last_iteration();
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let wide = layout.plot / bins as f64;
    let mut data = String::new();
    let mut open = false;
    for (at, count) in counts.iter().enumerate() {
        let left = layout.left + wide * at as f64;
        if *count == 0 {
            if open {
                write!(data, "V{foot:.1}Z").expect("a string takes all");
            }
            open = false;
            continue;
        }
        // A single sample among thousands is still visible.
        let high = (layout.high * *count as f64 / most).max(1.2);
        if !open {
            write!(data, "M{left:.1} {foot:.1}").expect("a string takes all");
        }
        write!(data, "V{:.1}H{:.1}", foot - high, left + wide).expect("a string takes all");
        open = true;
    }
    if open {
        write!(data, "V{foot:.1}Z").expect("a string takes all");
    }
    data
}
