//! A comparison as a document.

use crate::charts::{self, ChartFrame, DrawnChart, ForestRow};
use crate::data::{DataTable, comparison_tables};
use crate::documents::{LinePlace, RepeatCommand, Sheet, SheetPart, ShownForms};
use crate::html::Drawing;
use crate::tables::{self, SheetTable, TableCell, Tone, heads, row};
use crate::text::markdown_parts;
use crate::units;
use bourse_record::{Better, Provenance, Verdict};
use bourse_verdict::comparison::words::{context_lines, sentence};
use bourse_verdict::comparison::{CaseComparison, ComparedCases, MetricDifference};
use bourse_verdict::view::ComparedPlans;

/// The metrics of one comparison.
fn table(it: &CaseComparison) -> SheetTable {
    let heads = heads![left "metric", right "A", right "B", right "difference", left "interval", left "verdict"];
    let mut table = SheetTable::new("", heads);
    for metric in &it.metrics {
        let interval = metric.interval.map(|it| format!("{} ({})", metric.ends(&it), units::level(it.level)));
        let verdict = TableCell::text(metric.verdict_words()).tone(metric.verdict.map_or(Tone::Faint, tone));
        table.push(row![
            &metric.name,
            TableCell::figure(metric.base, metric.text),
            TableCell::figure(metric.head, metric.text),
            metric.change(),
            interval.as_deref().unwrap_or("too few rounds"),
            verdict
        ]);
    }
    table
}

const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster => Tone::Good,
        Verdict::SlowerWithin | Verdict::SlowerUnclear | Verdict::SlowerBeyond => Tone::Bad,
        Verdict::NotSlower | Verdict::Equivalent => Tone::Plain,
        _ => Tone::Doubtful,
    }
}

fn row(metric: &MetricDifference) -> ForestRow<'_> {
    ForestRow {
        name: &metric.name,
        ratio: metric.ratio,
        interval: metric.interval.map(|it| (it.low, it.high)),
        higher_is_better: metric.better == Better::Higher,
        tone: metric.verdict.map_or(Tone::Plain, tone),
        verdict: metric.verdict_name(),
    }
}

/// The metrics around the line of no difference.
fn chart(it: &CaseComparison, at: usize, tolerance: f64) -> Option<Drawing> {
    let rows: Vec<ForestRow<'_>> = it.metrics.iter().map(row).collect();
    let frame = ChartFrame {
        id: &format!("difference-{}", at + 1),
        title: "B against A",
        about: "The difference of each metric with its interval, on a scale on which half and double are equally far from no \
                difference. What lies in the band counts as alike.",
    };
    let drawn = DrawnChart::still(|size| charts::forest(&frame, &rows, tolerance, size));
    Drawing::if_any("difference", &frame, drawn)
}

/// Plans that differ between two cases, named so, with the times of both; nothing unless statements were timed.
pub(crate) fn plans(it: &ComparedPlans, names: [&str; 2]) -> Vec<SheetPart> {
    let of = units::counted(it.compared as u64, "statement", "statements");
    let [one, other] = names;
    match (it.compared, it.changed.as_slice()) {
        (0, _) => Vec::new(),
        (_, []) => vec![SheetPart::toned(Tone::Good, format!("no plan differs ({of} compared)"))],
        (_, changed) => {
            let lines = changed.iter().flat_map(|[base, head]| {
                let side = |name: &str, plan: &[String]| {
                    plan.iter().map(|step| format!("    {name}: {step}")).collect::<Vec<_>>()
                };
                let title = format!("{}: {}", head.operation, head.statement);
                [vec![title], side(one, &base.plan), side(other, &head.plan)].concat()
            });
            vec![
                SheetPart::toned(Tone::Doubtful, format!("another plan in {other}: {} of {of}", changed.len())),
                SheetPart::Table(tables::changed_plans(changed, names)),
                SheetPart::Pre(lines.collect()),
            ]
        }
    }
}

/// Verdict and sides of a comparison.
fn sides(it: &CaseComparison, tolerance: f64) -> Vec<SheetPart> {
    vec![
        SheetPart::at(LinePlace::Sentence, tone(it.verdict), sentence(it, tolerance)),
        SheetPart::at(LinePlace::Target, Tone::Plain, format!("A: {}", it.base)),
        SheetPart::at(LinePlace::Target, Tone::Plain, format!("B: {}", it.head)),
    ]
}

/// Verdict, first difference of the sides and metrics of a comparison.
pub(crate) fn answer(it: &CaseComparison, tolerance: f64) -> Vec<SheetPart> {
    let unlike = SheetPart::list(Tone::Doubtful, unlike(it).take(1));
    sides(it, tolerance).into_iter().chain([unlike, SheetPart::Table(table(it))]).collect()
}

/// Functions and plans that differ in a comparison.
pub(crate) fn details(it: &CaseComparison) -> Vec<SheetPart> {
    [SheetPart::Table(tables::changed_functions(&it.functions))]
        .into_iter()
        .chain(plans(&it.plans, ["A", "B"]))
        .collect()
}

/// Remarks that [`answer`] leaves, each with its tone: on further differences of the sides, the rounds, and the notes.
pub(crate) fn remarks(compared: &ComparedCases) -> Vec<(Tone, String)> {
    let all = compared.comparisons.iter();
    let unlike = all.clone().flat_map(|it| unlike(it).skip(1)).map(|it| (Tone::Doubtful, it));
    unlike.chain(all.flat_map(context_lines).chain(notes(compared)).map(|it| (Tone::Plain, it))).collect()
}

fn unlike(it: &CaseComparison) -> impl Iterator<Item = String> {
    it.unlike.iter().map(|why| format!("not alike: {why}"))
}

fn notes(compared: &ComparedCases) -> impl Iterator<Item = String> {
    compared.notes.iter().chain(&compared.missing).map(|note| format!("note: {note}"))
}

/// Verdict, metrics and remarks of each comparison, then the notes; with its charts or without.
pub(crate) fn parts(compared: &ComparedCases, with_charts: bool) -> Vec<SheetPart> {
    let mut parts = Vec::new();
    for (at, it) in compared.comparisons.iter().enumerate() {
        parts.extend(sides(it, compared.tolerance));
        parts.push(SheetPart::list(Tone::Doubtful, unlike(it)));
        if with_charts {
            parts.push(SheetPart::Charts(chart(it, at, compared.tolerance).into_iter().collect()));
        }
        parts.push(SheetPart::Table(table(it)));
        parts.push(SheetPart::list(Tone::Plain, context_lines(it)));
        parts.extend(details(it));
        let about = format!(
            "A and B have the figures of their reports. The difference is the estimate over pairs of rounds, which need not be \
             that of the two; of instructions it is that of the counts. Figures within {} of one another count as alike. A metric that is not judged is shown for \
             information.",
            units::share(compared.tolerance)
        );
        parts.push(SheetPart::Only(ShownForms::Html, vec![SheetPart::faint(about)]));
    }
    parts.push(SheetPart::list(Tone::Plain, notes(compared)));
    parts
}

/// Commands of the runs, each with its name if there are several.
pub(crate) fn again(runs: &[(&str, &Provenance)]) -> Vec<SheetPart> {
    let repeat = |(name, of): &(&str, &Provenance)| match SheetPart::again(of) {
        SheetPart::Again(it) => SheetPart::Again(RepeatCommand {
            name: if runs.len() > 1 { (*name).to_owned() } else { String::new() },
            on: format!("{}; {}", of.started_at, it.on),
            ..it
        }),
        other => other,
    };
    runs.iter().map(repeat).collect()
}

/// A comparison in each of its forms.
pub trait DrawComparison {
    /// One self-contained page. `runs` are the runs that were compared, by name: two stored runs, or the one in which
    /// both sides took turns.
    fn html(&self, runs: &[(&str, &Provenance)]) -> String;

    /// Table of the metrics, for programs.
    fn tables(&self) -> Vec<DataTable>;

    /// Text for a terminal of `width` columns, with the commands of those runs.
    fn text(&self, runs: &[(&str, &Provenance)], width: usize) -> String;

    /// Markdown for a comment on a change.
    fn markdown(&self) -> String;
}

impl DrawComparison for ComparedCases {
    fn html(&self, runs: &[(&str, &Provenance)]) -> String {
        let Some((_, head)) = runs.last() else { return String::new() };
        let parts = parts(self, true).into_iter().chain(again(runs)).collect();
        let sheet = Sheet::of_run("Comparison", "comparison", head, false);
        Sheet { parts, answer: Some(self.markdown()), ..sheet }.html()
    }

    fn tables(&self) -> Vec<DataTable> {
        comparison_tables(self)
    }

    fn text(&self, runs: &[(&str, &Provenance)], width: usize) -> String {
        let parts = parts(self, false).into_iter().chain(again(runs)).collect();
        Sheet { parts, ..Sheet::default() }.terminal(width, false, false)
    }

    fn markdown(&self) -> String {
        markdown_parts(&parts(self, false))
    }
}
