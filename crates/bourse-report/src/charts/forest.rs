//! Differences with their intervals, a row for each metric, around the line of no difference.

use super::svg::{Anchor, Svg, fitted, width_of_names};
use super::{ChartFrame, ChartSize};
use crate::tables::Tone;
use crate::units;

/// A metric.
pub(crate) struct ForestRow<'a> {
    pub(crate) name: &'a str,
    /// Second by first.
    pub(crate) ratio: f64,
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) higher_is_better: bool,
    pub(crate) tone: Tone,
    /// The verdict; `None` for a metric without one.
    pub(crate) verdict: Option<&'static str>,
}

const ROW: f64 = 34.0;
/// Space between the names and the axis, and largest width of the names, in CSS pixels.
const NAMES: (f64, f64) = (12.0, 340.0);
/// Largest ratio drawn in its place; larger ones are drawn at the edge.
const FARTHEST: f64 = 100.0;

/// A change as a place along the axis: halves and doubles are equally far from no change.
fn place(ratio: f64) -> f64 {
    ratio.clamp(1.0 / FARTHEST, FARTHEST).log2()
}

/// Notation of the changes in one drawing: in percent, or as ratios if one of them is half or double or more. Never both,
/// which no reader could compare.
#[derive(Clone, Copy)]
enum Notation {
    Percent,
    Ratio,
}

impl Notation {
    fn for_reach(far: f64) -> Self {
        if far < 1.0 { Self::Percent } else { Self::Ratio }
    }

    fn change(self, ratio: f64) -> String {
        match self {
            Self::Percent => format!("{:+.1} %", 100.0 * (ratio - 1.0)),
            Self::Ratio => format!("× {}", units::significant(ratio, 3)),
        }
    }

    /// Label of the line of no change.
    const fn none(self) -> &'static str {
        match self {
            Self::Percent => "0",
            Self::Ratio => "× 1",
        }
    }
}

/// Ratios for the axis's ticks, above no change.
const TICKS: [f64; 14] = [1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];

/// A few ticks on one side up to `far`, always including the farthest.
fn ticks(far: f64, most: usize) -> Vec<f64> {
    let within: Vec<f64> = TICKS.into_iter().filter(|ratio| place(*ratio) <= far * 1.001).collect();
    // Only ticks far enough from one another to be read.
    let mut kept: Vec<f64> = Vec::new();
    for ratio in within.into_iter().rev() {
        let apart = kept.last().is_none_or(|last| place(*last) - place(ratio) >= far / most as f64);
        if apart && place(ratio) >= far / most as f64 {
            kept.push(ratio);
        }
    }
    kept
}

/// The drawing; `None` without metrics. `tolerance` is the part of one within which figures count as alike.
pub(crate) fn forest(
    frame: &ChartFrame<'_>,
    rows: &[ForestRow<'_>],
    tolerance: f64,
    size: ChartSize,
) -> Option<String> {
    let rows: Vec<&ForestRow<'_>> = rows.iter().filter(|row| row.ratio.is_finite() && row.ratio > 0.0).collect();
    if rows.is_empty() {
        return None;
    }
    let (left, right) = match size {
        ChartSize::Wide => (NAMES.0 + width_of_names(rows.iter().map(|row| row.name)).clamp(158.0, NAMES.1), 250.0),
        ChartSize::Narrow => (8.0, 8.0),
    };
    let row_height = if size == ChartSize::Wide { ROW } else { ROW + 22.0 };
    let (middle, half) = ((left + size.width() - right) / 2.0, (size.width() - left - right) / 2.0);
    let ends = rows.iter().flat_map(|row| {
        let (low, high) = row.interval.unwrap_or((row.ratio, row.ratio));
        [low, high, row.ratio]
    });
    let far = ends.filter(|end| *end > 0.0).map(|end| place(end).abs()).fold(place(1.0 + 2.0 * tolerance), f64::max);
    let notation = Notation::for_reach(far);
    let change = |ratio| notation.change(ratio);
    let x = |ratio: f64| middle + half * (place(ratio) / far).clamp(-1.0, 1.0);
    let (top, bottom) = (22.0, 22.0 + row_height * rows.len() as f64);
    let mut svg = Svg::new();
    svg.rect("apart", (x(1.0 - tolerance), top), (x(1.0 + tolerance) - x(1.0 - tolerance), bottom - top));
    let most = if size == ChartSize::Wide { 4 } else { 2 };
    let sides = ticks(far, most).into_iter().flat_map(|ratio| [1.0 / ratio, ratio]);
    for ratio in sides.chain([1.0]) {
        svg.line(if ratio == 1.0 { "axis" } else { "grid" }, (x(ratio), top), (x(ratio), bottom));
        let label = if ratio == 1.0 { notation.none().to_owned() } else { change(ratio) };
        let anchor = match (x(ratio) - left, left + 2.0 * half - x(ratio)) {
            (near, _) if near < 20.0 => Anchor::Start,
            (_, near) if near < 20.0 => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.text("tick", (x(ratio), bottom + 16.0), anchor, &label);
    }
    svg.text("tick", (middle - 8.0, top - 8.0), Anchor::End, "B has less");
    svg.text("tick", (middle + 8.0, top - 8.0), Anchor::Start, "B has more");
    let mut about = frame.about.to_owned();
    for (nth, row) in rows.iter().enumerate() {
        let foot = top + row_height * (nth + 1) as f64;
        let y = foot - ROW / 2.0;
        let class = match row.tone {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Doubtful => "doubtful",
            Tone::Plain | Tone::Faint => "plain",
        };
        if let Some((low, high)) = row.interval.filter(|(low, _)| *low > 0.0) {
            svg.line(&format!("whisker {class}"), (x(low), y), (x(high), y));
            for end in [low, high] {
                svg.line(&format!("whisker {class}"), (x(end), y - 5.0), (x(end), y + 5.0));
            }
        }
        svg.circle(&format!("estimate {class}"), (x(row.ratio), y), if nth == 0 { 6.0 } else { 4.5 });
        let interval = row.interval.map(|(low, high)| format!(" ({} to {})", change(low), change(high)));
        let words = format!("{}{}", change(row.ratio), interval.unwrap_or_default());
        let better = if row.higher_is_better { "more is better" } else { "less is better" };
        let verdict = row.verdict.map(|verdict| format!(": {verdict}")).unwrap_or_default();
        about.push_str(&format!(" {}, {better}: {words}{verdict}.", row.name));
        match size {
            ChartSize::Wide => {
                svg.text("row-name", (left - NAMES.0, y), Anchor::End, &fitted(row.name, NAMES.1));
                svg.text("row-note", (left - NAMES.0, y + 13.0), Anchor::End, better);
                let beside = left + 2.0 * half + 14.0;
                svg.text("row-value", (beside, y), Anchor::Start, &words);
                svg.text(
                    &format!("row-note {class}"),
                    (beside, y + 13.0),
                    Anchor::Start,
                    row.verdict.unwrap_or_default(),
                );
            }
            ChartSize::Narrow => {
                let name = format!("{}{verdict}", row.name);
                svg.text("row-name", (left, foot - ROW - 4.0), Anchor::Start, &name);
                svg.text("row-note", (left + 2.0 * half, foot - 2.0), Anchor::End, &words);
            }
        }
    }
    Some(svg.finish(&format!("{}-{}", frame.id, size.class()), (size.width(), bottom + 24.0), frame.title, &about))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_names_a_few_changes_and_ends_within_itself() {
        for far in [1.06_f64, 1.3, 2.5, 40.0, 1e6] {
            let named = ticks(place(far), 4);
            assert!((1..=4).contains(&named.len()), "{far}: {named:?}");
            assert!(named.iter().all(|ratio| place(*ratio) <= place(far) * 1.001), "{far}: {named:?}");
        }
    }

    #[test]
    fn a_row_says_its_difference_its_interval_and_its_verdict() {
        let row = |name, ratio, interval, verdict| ForestRow {
            name,
            ratio,
            interval,
            higher_is_better: true,
            tone: Tone::Good,
            verdict,
        };
        let rows = [row("reads/s", 1.1, Some((1.05, 1.16)), Some("faster")), row("p99", f64::INFINITY, None, None)];
        let frame = ChartFrame { id: "f", title: "Differences", about: "About." };
        for size in ChartSize::ALL {
            let drawing = forest(&frame, &rows, 0.05, size).expect("a metric is finite");
            assert!(drawing.contains("reads/s, more is better: +10.0 % (+5.0 % to +16.0 %): faster."), "{drawing}");
            assert!(!drawing.contains("p99") && !drawing.contains("NaN"), "{drawing}");
        }
        assert_eq!(forest(&frame, &rows[1..], 0.05, ChartSize::Wide), None);
        // A long name has room, and one longer than that is cut.
        let [long, longer] = [40, 60].map(|length| "response p99 with driver's queue".repeat(2)[..length].to_owned());
        for name in [&long, &longer] {
            let rows = [row(name, 1.1, Some((1.05, 1.16)), None)];
            let drawing = forest(&frame, &rows, 0.05, ChartSize::Wide).unwrap();
            assert_eq!(
                drawing.contains(&format!(">{}</text>", name.replace('\'', "&#39;"))),
                *name == long,
                "{drawing}"
            );
        }
        // A doubled metric makes all ratios: ends of an interval in two notations could not be compared.
        let rows = [row("reads/s", 0.2, Some((0.1, 0.7)), None), row("p50", 1.1, None, None)];
        let drawing = forest(&frame, &rows, 0.05, ChartSize::Wide).expect("a metric is finite");
        assert!(drawing.contains("× 0.200 (× 0.100 to × 0.700)") && drawing.contains("× 1.10"), "{drawing}");
        assert!(!drawing.contains(" %"), "{drawing}");
    }
}
