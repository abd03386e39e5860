//! A comparison as a page of its own.

use super::{Compared, Comparison, Verdict, beside, percent, sentence};
use crate::html::{Grid, document_head, render};
use crate::tables::{Cell, Head, Table, Tone};
use crate::units::{command_line, printable};
use bourse_record::Provenance;
use minijinja::context;
use minijinja::value::{Serde, Value};

/// The metrics of one comparison.
fn table(it: &Comparison) -> Table {
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
            let text = format!("{low:.3} to {high:.3} ({})", percent(interval.level));
            Cell { text, value: low.to_string(), ..Cell::default() }
        });
        let verdict = metric.verdict.map(|verdict| Cell::text(verdict.name()).tone(tone(verdict)));
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

const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster | Verdict::Less => Tone::Good,
        Verdict::Slower | Verdict::More => Tone::Bad,
        Verdict::TooNoisy | Verdict::TooFewRounds | Verdict::NotAttributable | Verdict::Withheld => Tone::Doubtful,
        _ => Tone::Plain,
    }
}

/// One self-contained page: the verdict, the metrics with their intervals, what speaks against them, and how each side came
/// about. `runs` are the runs that were compared, by name: the two that were stored, or the one in which both took turns.
pub(super) fn html(compared: &Compared, runs: &[(&str, &Provenance)]) -> String {
    let Some((_, head)) = runs.last() else { return String::new() };
    let comparisons: Vec<_> = compared
        .comparisons
        .iter()
        .map(|it| {
            let verdict = it.result().and_then(|result| result.verdict);
            context! {
                a => printable(&it.base),
                b => printable(&it.head),
                sentence => sentence(it, compared.tolerance),
                beside => beside(it),
                class => verdict.map_or("doubtful", |verdict| tone(verdict).class()),
                table => Value::from(Serde(Grid::from(table(it)))),
            }
        })
        .collect();
    let origins: Vec<_> = runs
        .iter()
        .map(|(name, of)| {
            let (machine, build) = (&of.machine, &of.build);
            let on = format!(
                "{}; {}, {} cores, {}; {} build of Bourse {}",
                of.started_at, machine.processor, machine.cores, machine.system, build.profile, build.version
            );
            context! { name => *name, command => command_line(&of.command), on => printable(&on) }
        })
        .collect();
    let notes: Vec<_> = compared.notes.iter().map(|note| printable(note)).collect();
    let page = context! {
        head => document_head("Comparison", "comparison", head, false),
        tolerance => percent(compared.tolerance),
        comparisons,
        notes,
        origins,
    };
    render("comparison.html", page)
}
