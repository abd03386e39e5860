//! Several engines on several workloads, as `quick` measures them: the answer in a sentence, and a row for each engine.

use super::sheet::SheetPart;
use crate::charts::{self, ChartFrame, DrawnChart};
use crate::html::Drawing;
use crate::tables::{ColumnHead, SheetTable, TableCell, Tone, UnitGroup, by_unit};
use crate::units;
use crate::view::{CaseView, FigureValidity};
use bourse_record::{Durability, Interval};
use std::cmp::Reverse;

/// The cases of a run as a grid.
pub(crate) struct Overview<'v, 'a> {
    /// Workloads with their cases, those of most engines first.
    pub(crate) workloads: Vec<UnitGroup<'v, 'a>>,
    /// Durability class and engine, the strongest class first.
    pub(crate) rows: Vec<OverviewRow<'v, 'a>>,
}

/// An engine in one durability class.
pub(crate) struct OverviewRow<'v, 'a> {
    pub(crate) durability: Durability,
    pub(crate) engine: &'a str,
    /// Its case of each workload, if there is one.
    pub(crate) cells: Vec<Option<&'v CaseView<'a>>>,
}

/// Figure of a case with its interval; `None` unless the figure counts.
pub(crate) fn estimate(view: &CaseView<'_>) -> Option<(f64, Option<Interval>)> {
    Some((view.valid_figure()?, view.estimate()?.interval))
}

/// Name of a durability class for somebody who does not know it.
pub(crate) fn class_words(class: Durability) -> String {
    match class {
        Durability::Durable => "durable, on disk".to_owned(),
        Durability::Volatile => "volatile, in memory".to_owned(),
        other => other.to_string(),
    }
}

impl<'v, 'a> Overview<'v, 'a> {
    /// The grid of a run; `None` unless it has several workloads and engines, and an engine has one case of a workload in
    /// each durability class at most.
    pub(crate) fn of(views: &'v [CaseView<'a>]) -> Option<Self> {
        let mut workloads = by_unit(views);
        // A workload of few engines is the last, and the first to be left out on a narrow terminal.
        workloads.sort_by_key(|of| Reverse(of.members.len()));
        let mut rows: Vec<OverviewRow<'v, 'a>> = Vec::new();
        for (column, of) in workloads.iter().enumerate() {
            for (_, view) in &of.members {
                let (durability, engine) = (view.case.engine.durability, view.case.engine.name.as_str());
                let known = rows.iter().position(|row| (row.durability, row.engine) == (durability, engine));
                let at = known.unwrap_or_else(|| {
                    rows.push(OverviewRow { durability, engine, cells: vec![None; workloads.len()] });
                    rows.len() - 1
                });
                if rows[at].cells[column].replace(view).is_some() {
                    return None;
                }
            }
        }
        rows.sort_by_key(|row| Reverse(row.durability));
        (workloads.len() > 1 && rows.len() > 1).then_some(Self { workloads, rows })
    }

    /// The durability classes, the strongest first.
    pub(crate) fn classes(&self) -> Vec<Durability> {
        let mut classes: Vec<Durability> = self.rows.iter().map(|row| row.durability).collect();
        classes.dedup();
        classes
    }

    /// The answer: a sentence for each durability class.
    pub(crate) fn answer(&self) -> Vec<SheetPart> {
        let of_class = |class: Durability| {
            let clauses: Vec<String> = (0..self.workloads.len()).filter_map(|at| self.clause(class, at)).collect();
            (!clauses.is_empty()).then(|| SheetPart::class(class_words(class), &format!("{}.", clauses.join("; "))))
        };
        self.classes().into_iter().filter_map(of_class).collect()
    }

    /// The fastest engine of a class on a workload; `None` unless there are two with a figure.
    ///
    /// An engine is called fastest only if its interval is above those of all others. Intervals of seven rounds that do not
    /// overlap lie so far apart that this holds for a dozen engines together.
    fn clause(&self, class: Durability, workload: usize) -> Option<String> {
        let of_class = self.rows.iter().filter(|row| row.durability == class);
        let measured = of_class.filter_map(|row| {
            let (figure, interval) = estimate(row.cells[workload]?)?;
            Some((row.engine, figure, interval))
        });
        let measured: Vec<(&str, f64, Option<Interval>)> = measured.collect();
        let mut best_first = measured.clone();
        best_first.sort_by(|one, other| other.1.total_cmp(&one.1));
        let [(best, figure, interval), next, ..] = best_first[..] else { return None };
        let name = &self.workloads[workload].name;
        let Some(interval) = interval.filter(|_| best_first.iter().all(|it| it.2.is_some())) else {
            return Some(format!("{name}: not ranked, too few rounds for intervals"));
        };
        let close = |(_, _, other): &&(&str, f64, Option<Interval>)| other.is_some_and(|it| it.high >= interval.low);
        let alike: Vec<&str> = best_first.iter().filter(close).map(|it| it.0).collect();
        if let [one, others @ ..] = &alike[..]
            && let Some(last) = others.last()
        {
            return Some(match others.len() {
                1 => format!("{name}: no difference shown between {one} and {last}"),
                more => format!("{name}: no difference shown between {one} and {more} others"),
            });
        }
        // Ratios are to the first engine of the run, or to the next one if that is the fastest.
        let to = *measured.first().filter(|first| first.0 != best).unwrap_or(&next);
        let ratio = (to.1 > 0.0).then(|| format!(" ({} × {})", units::significant(figure / to.1, 2), to.0));
        Some(format!("{name}: {best} is fastest{}", ratio.unwrap_or_default()))
    }

    /// The figures with their intervals: a row for each engine, a column for each workload.
    pub(crate) fn table(&self) -> SheetTable {
        let workload = |(at, of): (usize, &UnitGroup<'_, '_>)| {
            let unit = of.members.first().map_or("", |(_, view)| view.unit());
            ColumnHead::right(units::printable(&format!("{} {unit}", of.name)))
                .rank(u8::try_from(at).unwrap_or(u8::MAX))
        };
        let heads = [ColumnHead::left("engine"), ColumnHead::left("durability")].into_iter();
        let heads = heads.chain(self.workloads.iter().enumerate().map(workload)).collect();
        let row = |row: &OverviewRow<'_, '_>| {
            let names = [row.engine, row.durability.name()].map(TableCell::text);
            names.into_iter().chain(row.cells.iter().map(|view| cell(*view))).collect()
        };
        SheetTable { rows: self.rows.iter().map(row).collect(), ..SheetTable::new("", heads) }
    }

    /// The chart: a panel for each workload, with a mark for each engine and class.
    pub(crate) fn chart(&self) -> Option<Drawing> {
        let frame = ChartFrame {
            id: "overview",
            title: "Each engine on each workload",
            about: "Further right is faster, on a logarithmic scale. The line through a mark is its interval.",
        };
        Drawing::if_any("overview", &frame, DrawnChart::still(|size| charts::overview(&frame, self, size)))
    }
}

/// A figure with half the width of its interval, or with the ends of one that is wider than that on both sides.
fn cell(view: Option<&CaseView<'_>>) -> TableCell {
    let Some(view) = view else { return TableCell::missing() };
    match (estimate(view), view.validity()) {
        (Some((figure, interval)), _) => {
            let sure = interval.filter(|_| figure > 0.0).map(|it| match 100.0 * it.half_width() / figure {
                percent if percent < 99.5 => format!(" ±{percent:.0} %"),
                _ => format!(" ({} to {})", units::short(it.low), units::short(it.high)),
            });
            let sure = sure.unwrap_or_default();
            TableCell::figure(figure, |figure| format!("{}{sure}", units::short(figure)))
        }
        (None, FigureValidity::Void) => TableCell::text("VOID").tone(Tone::Bad),
        (None, validity) => TableCell::text(validity.name()).tone(Tone::Bad),
    }
}
