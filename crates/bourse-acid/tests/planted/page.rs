//! Page of the documentation, and line of the terminal.

use crate::detectors::{Detector, Found, Length};
use crate::matrix::{self, name};
use bourse_report::{Sheet, TableCell};
use bourse_tpce::planted::Bug;
use std::collections::BTreeSet;

/// Line of a cell for a terminal.
pub(crate) fn in_words(cell: &matrix::Cell) -> String {
    let found = match &cell.found {
        Found::Caught(why) => format!("caught  {why}"),
        Found::Shown(why) => format!("shown   {why}"),
        Found::Silent => "-".to_owned(),
    };
    format!("{:<24} {:<7} {:>5.1} s  {found}", name(cell.bug), cell.detector.name(), cell.took.as_secs_f64())
}

/// Content of a cell of the page.
fn mark(cell: &matrix::Cell) -> TableCell {
    let took = format!(" ({:.1} s)", cell.took.as_secs_f64());
    match &cell.found {
        Found::Caught(why) => TableCell::strong(why, &took),
        Found::Shown(why) => TableCell::text(&format!("shown: {why}{took}")),
        Found::Silent => TableCell::text(&format!("-{took}")),
    }
}

/// Cells of a bug's row that do not depend on the run: its name and its effect.
fn bug_cells(bug: Option<Bug>) -> [TableCell; 3] {
    let (breaks, words) = bug.map_or(("", "nothing: the control"), |bug| (bug.breaks().name(), bug.words()));
    [TableCell::code(name(bug)), TableCell::text(words), TableCell::text(breaks)]
}

/// Row of a bug in Markdown, up to the part that depends on the run.
pub(crate) fn row_begins(bug: Option<Bug>) -> String {
    let table = Sheet::default().table(&[""; 3], vec![bug_cells(bug).to_vec()]).markdown();
    table.lines().last().unwrap_or_default().to_owned()
}

/// Page of the documentation, in Markdown.
pub(crate) fn page(cells: &[matrix::Cell], length: Length) -> String {
    let Length { transactions, requests_per_second, .. } = length;
    let detectors: BTreeSet<Detector> = cells.iter().map(|cell| cell.detector).collect();
    let acid = if detectors.contains(&Detector::Acid) { ", and `acid` without crashes" } else { "" };
    let paragraphs = [
        "Written by the test `planted` of `bourse-acid` (`cargo xtask planted` runs it at full length); do not edit."
            .to_owned(),
        format!(
            "Each bug is planted in turn in a build with the feature `planted-bug`, on a copy of one loaded database (SQLite, 1,000 \
             customers, 1 day), and each detector is asked: `run`, `check` of the database which that run leaves, `verify` against \
             the model{acid}. Runs are of {transactions} transactions in simulated time, {requests_per_second} customers' requests \
             a second. **Bold** is what fails first: the exit code is not 0. \"shown\" stands in the report of a run that passes. \
             Seconds are wall-clock time on the machine that wrote this page, copying the database included. No other build \
             contains any of these bugs; a test shows it."
        ),
        format!(
            "Without arguments it asks the first three for {} transactions, of some bugs `run` alone, and fails where one \
             finds anything else than is expected of it (`crates/bourse-acid/tests/planted/expected.rs`).",
            Length::SHORT.transactions
        ),
    ];
    let heads = ["bug", "what is wrong", "breaks"].into_iter().chain(detectors.iter().map(|detector| detector.name()));
    let heads: Vec<&str> = heads.collect();
    let bugs: BTreeSet<Option<Bug>> = cells.iter().map(|cell| cell.bug).collect();
    let of = |bug| cells.iter().filter(move |cell| cell.bug == bug).map(mark);
    let rows = bugs.into_iter().map(|bug| bug_cells(bug).into_iter().chain(of(bug)).collect()).collect();
    let sheet = paragraphs.into_iter().fold(Sheet::new("Planted bugs", ""), Sheet::paragraph);
    sheet.table(&heads, rows).markdown()
}
