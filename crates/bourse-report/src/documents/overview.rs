//! Several engines on several workloads, as `quick` measures them: the answer in a sentence, and a row for each engine.

use super::sheet::SheetPart;
use crate::charts::{self, ChartFrame, DrawnChart};
use crate::html::Drawing;
use crate::tables::{ColumnHead, Lead, SheetTable, TableCell, Tone, UnitGroup, by_unit};
use crate::units;
use crate::view::{CaseView, FigureValidity};
use bourse_record::{Durability, Interval};
use std::cmp::Reverse;

/// The cases of a run as a grid.
pub(crate) struct Overview<'v, 'a> {
    /// Workloads with their cases, those of most engines first.
    pub(crate) workloads: Vec<UnitGroup<'v, 'a>>,
    /// Durability class and engine, the strongest class first; within it first the engines that the answer names, as it names
    /// them.
    pub(crate) rows: Vec<OverviewRow<'v, 'a>>,
}

/// An engine in one durability class.
pub(crate) struct OverviewRow<'v, 'a> {
    pub(crate) durability: Durability,
    pub(crate) engine: &'a str,
    /// Its case of each workload, if there is one.
    pub(crate) cells: Vec<Option<&'v CaseView<'a>>>,
    /// Place in its class: first what the answer names, then the order of the run.
    place: usize,
    /// Rows of the highest rank are left out first: 0 is the first of a class in the answer and in the run, 1 what else the
    /// answer names.
    rank: u8,
}

/// Most engines that a clause of the answer names as alike.
const NAMED: usize = 3;

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
                    rows.push(OverviewRow {
                        durability,
                        engine,
                        cells: vec![None; workloads.len()],
                        place: 0,
                        rank: 2,
                    });
                    rows.len() - 1
                });
                if rows[at].cells[column].replace(view).is_some() {
                    return None;
                }
            }
        }
        rows.sort_by_key(|row| Reverse(row.durability));
        let mut of = (workloads.len() > 1 && rows.len() > 1).then_some(Self { workloads, rows })?;
        of.order();
        Some(of)
    }

    /// Puts the rows of each class in the order of the answer, and ranks them.
    fn order(&mut self) {
        for class in self.classes() {
            let leads: Vec<Lead<'v, 'a>> =
                (0..self.workloads.len()).filter_map(|at| self.lead(class, at)?.ok()).collect();
            let leaders = leads.iter().flat_map(|lead| lead.top.iter().take(NAMED).chain(lead.near.iter().take(NAMED)));
            let compared = leads.iter().filter_map(|lead| lead.ratio.as_ref().map(|(_, to)| to));
            let named: Vec<&str> = leaders.chain(compared).map(|view| engine(view)).collect();
            for (at, row) in self.rows.iter_mut().filter(|row| row.durability == class).enumerate() {
                let place = named.iter().position(|name| *name == row.engine);
                row.place = place.unwrap_or(named.len() + at);
                row.rank = if at == 0 || row.place == 0 { 0 } else { 2 - u8::from(place.is_some()) };
            }
        }
        self.rows.sort_by_key(|row| (Reverse(row.durability), row.place));
    }

    /// Indices of as many rows as have room, one of each class at least: those of the highest rank are left out.
    pub(crate) fn kept(&self, most: usize) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..self.rows.len()).collect();
        kept.sort_by_key(|at| (self.rows[*at].rank, self.rows[*at].place));
        kept.truncate(most.max(self.classes().len()));
        kept.sort_unstable();
        kept
    }

    /// Subject of the answer: the engines and the workloads.
    pub(crate) fn subject(&self) -> String {
        let mut engines: Vec<&str> = self.rows.iter().map(|row| row.engine).collect();
        engines.sort_unstable();
        engines.dedup();
        let workloads: Vec<&str> = self.workloads.iter().map(|of| of.name.as_str()).collect();
        let engines = units::counted(engines.len() as u64, "engine", "engines");
        format!("{engines} compared: {}", workloads.join(", "))
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

    /// The engines at the top of a class on a workload; `None` unless there are two with a figure.
    fn lead(&self, class: Durability, workload: usize) -> Option<Result<Lead<'v, 'a>, String>> {
        let views = self.workloads[workload].members.iter().map(|(_, view)| *view);
        Lead::of(&views.filter(|view| view.case.engine.durability == class).collect::<Vec<_>>())
    }

    /// A workload's part of the answer for a class; `None` unless there are two engines with a figure.
    fn clause(&self, class: Durability, workload: usize) -> Option<String> {
        let lead = self.lead(class, workload)?;
        let named = |views: &[&CaseView<'_>]| {
            let names: Vec<&str> = views.iter().take(NAMED).map(|view| engine(view)).collect();
            let others = views.len() - names.len();
            let others = (others > 0).then(|| format!(" and {}", units::counted(others as u64, "other", "others")));
            format!("{}{}", names.join(", "), others.unwrap_or_default())
        };
        let words = match lead {
            Err(why) => format!("not ranked, {why}"),
            Ok(Lead { top, near, ratio }) => match (&top[..], &near[..]) {
                ([], _) => "not ranked, each is slower than another by pairs of rounds".to_owned(),
                ([best], []) => {
                    let ratio = ratio.map(|(it, to)| format!(" ({} × {})", units::significant(it, 3), engine(to)));
                    format!("{} is fastest{}", engine(best), ratio.unwrap_or_default())
                }
                ([best], near) => format!("{} at the top, no difference shown from {}", engine(best), named(near)),
                (top, _) => format!("at the top, no difference shown: {}", named(top)),
            },
        };
        Some(format!("{}: {words}", self.workloads[workload].name))
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

fn engine<'a>(view: &CaseView<'a>) -> &'a str {
    &view.case.engine.name
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
