//! A comparison as a page of its own.

use super::words::{beside, sentence};
use super::{Compared, Comparison, Difference};
use crate::charts::{self, Drawn, ForestRow, Frame};
use crate::html::{Carried, Drawing, Grid, Head as PageHead, render};
use crate::tables::{Cell, Head, Table, Tone};
use crate::units::{self, command_line, printable};
use bourse_record::{Better, Provenance, Verdict};
use minijinja::context;
use minijinja::value::{Serde, Value};

/// The metrics of one comparison.
pub(crate) fn table(it: &Comparison) -> Table {
    let heads = vec![
        Head::left("metric", "metric"),
        Head::right("A", "a"),
        Head::right("B", "b"),
        Head::right("B / A", "ratio"),
        Head::left("interval of the ratio", "ratio_low"),
        Head::left("verdict", "verdict"),
    ];
    let mut table = Table::new("comparison", format!("{} and {}", printable(&it.base), printable(&it.head)), heads);
    for metric in &it.metrics {
        let interval = metric.interval.map(|interval| {
            let (low, high) = (interval.low, interval.high);
            let text = format!("{low:.3} to {high:.3} ({})", units::level(interval.level));
            Cell { text, value: low.to_string(), ..Cell::default() }
        });
        let verdict = metric.verdict.map(|verdict| Cell::text(verdict.name(metric.better)).tone(tone(verdict)));
        table.push(vec![
            Cell::text(&metric.name),
            Cell::figure(metric.base, metric.text),
            Cell::figure(metric.head, metric.text),
            Cell::figure(metric.ratio, |ratio| format!("{ratio:.3}")),
            Cell::or_nothing(interval),
            Cell::or_nothing(verdict),
        ]);
    }
    table
}

pub(crate) const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster => Tone::Good,
        Verdict::SlowerWithin | Verdict::SlowerUnclear | Verdict::SlowerBeyond => Tone::Bad,
        Verdict::NotSlower | Verdict::Equivalent => Tone::Plain,
        _ => Tone::Doubtful,
    }
}

fn row(metric: &Difference) -> ForestRow<'_> {
    ForestRow {
        name: &metric.name,
        ratio: metric.ratio,
        interval: metric.interval.map(|it| (it.low, it.high)),
        higher_is_better: metric.better == Better::Higher,
        tone: metric.verdict.map_or(Tone::Plain, tone),
        verdict: metric.verdict.map(|verdict| verdict.name(metric.better)),
    }
}

/// The metrics around the line of no difference.
fn chart(it: &Comparison, at: usize, tolerance: f64) -> Option<Drawing> {
    let rows: Vec<ForestRow<'_>> = it.metrics.iter().map(row).collect();
    let frame = Frame {
        id: &format!("difference-{}", at + 1),
        title: "B against A",
        about: "The difference of each metric with its interval, on a scale on which half and double are equally far from no \
                difference. What lies in the band counts as alike.",
    };
    let drawn = Drawn::still(|size| charts::forest(&frame, &rows, tolerance, size));
    Drawing::if_any("difference", &frame, drawn)
}

/// The parts of a page that `verdict.html` draws, one for each comparison: the verdict, the metrics with their intervals.
pub(crate) fn sections(compared: &Compared) -> Vec<Value> {
    let section = |(at, it): (usize, &Comparison)| {
        context! {
            a => printable(&it.base),
            b => printable(&it.head),
            sentence => sentence(it, compared.tolerance),
            beside => beside(it),
            class => tone(it.verdict).class(),
            chart => chart(it, at, compared.tolerance).map(|chart| Value::from(Serde(chart))),
            table => Value::from(Serde(Grid::from(table(it)))),
            tolerance => units::share(compared.tolerance),
        }
    };
    compared.comparisons.iter().enumerate().map(section).collect()
}

/// One self-contained page: the verdict, the metrics with their intervals, the reasons against them, and the provenance of
/// each side. `runs` are the runs that were compared, by name: two stored runs, or the one in which both sides took turns.
pub(super) fn html(compared: &Compared, runs: &[(&str, &Provenance)]) -> String {
    let Some((_, head)) = runs.last() else { return String::new() };
    let comparisons = sections(compared);
    let origins: Vec<_> = runs
        .iter()
        .map(|(name, of)| {
            let (machine, build) = (&of.machine, &of.build);
            let on = format!(
                "{}; {}, {} cores, {}; {} build of Bourse {}",
                of.started_at,
                machine.processor,
                machine.cores,
                machine.system,
                build.profile,
                build.words()
            );
            context! { name => *name, command => command_line(&of.command), on => printable(&on) }
        })
        .collect();
    let notes: Vec<_> = compared.notes.iter().map(|note| printable(note)).collect();
    let carried = Carried::script().markdown(&compared.markdown());
    let page = context! {
        head => Value::from(Serde(PageHead::new("Comparison", "comparison", head, false, "").carrying(carried))),
        comparisons,
        notes,
        origins,
    };
    render("comparison.html", page)
}
