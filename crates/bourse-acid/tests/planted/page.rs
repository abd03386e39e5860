//! Page of the documentation, and line of the terminal.

use crate::detectors::{Detector, Found, Length};
use crate::matrix::{self, WORKLOADS};
use bourse_report::{Sheet, TableCell};
use std::collections::BTreeSet;

/// Line of a cell for a terminal.
pub(crate) fn in_words(cell: &matrix::Cell) -> String {
    let found = match &cell.found {
        Found::Caught(why) => format!("caught  {why}"),
        Found::Shown(why) => format!("shown   {why}"),
        Found::Silent => "-".to_owned(),
    };
    format!("{:<24} {:<7} {:>5.1} s  {found}", cell.bug, cell.detector.name(), cell.took.as_secs_f64())
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
fn bug_cells(name: &str) -> [TableCell; 3] {
    let (breaks, words) = matrix::bug(name).map_or(("", "nothing: the control"), |bug| (bug.breaks.name(), bug.words));
    [TableCell::code(name), TableCell::text(words), TableCell::text(breaks)]
}

/// Row of a bug in Markdown, up to the part that depends on the run.
pub(crate) fn row_begins(name: &str) -> String {
    let table = Sheet::default().table(&[""; 3], vec![bug_cells(name).to_vec()]).markdown();
    table.lines().last().unwrap_or_default().to_owned()
}

/// Page of the documentation, in Markdown.
pub(crate) fn page(cells: &[matrix::Cell], length: Length) -> String {
    let Length { transactions, sampled, seeds, .. } = length;
    let paragraphs = [
        "Written by the test `planted` of `bourse-acid` (`cargo xtask planted` runs it at full length); do not edit."
            .to_owned(),
        format!(
            "Each bug is planted in turn in a build with the feature `planted-bug`, on a copy of its workload's smallest database \
             on SQLite, and each detector is asked: `run`, `check` of the database which that run leaves, `verify` against the \
             model, and `acid` of TPC-E and TPC-C without crashes. Runs of TPC-E are of {transactions} transactions in simulated time, those \
             of TATP and TPC-C of 900; all end with a lockstep sample of {sampled} transactions and the contention sample. **Bold** \
             is what fails first: the exit code is not 0. \"shown\" stands in the report of a run that passes. \
             Seconds are wall-clock time on the machine that wrote this page, copying the database included. No other build \
             contains any of these bugs; a test shows it."
        ),
        format!(
            "Bugs of isolation are in the engine that `isolation` examines by histories of 20,000 transactions in four sessions, with \
             each of {seeds} seeds; `bourse isolation` records more by default, six rounds of three seconds."
        ),
        format!(
            "Without arguments it asks the first three for {} transactions, of some bugs `run` alone, runs no `check` that would \
             fail as `run` did, and fails where one \
             finds anything else than is expected of it (`crates/bourse-acid/tests/planted/expected.rs`).",
            Length::SHORT.transactions
        ),
    ];
    let sheet = paragraphs.into_iter().fold(Sheet::new("Planted bugs", ""), Sheet::paragraph);
    let mut page = sheet.markdown();
    for bugs in WORKLOADS {
        let own: Vec<_> = cells.iter().filter(|cell| bugs.names().any(|name| name == cell.bug)).collect();
        if own.is_empty() {
            continue;
        }
        let detectors: BTreeSet<Detector> = own.iter().map(|cell| cell.detector).collect();
        let heads = ["bug", "what is wrong", "breaks"].into_iter().chain(detectors.iter().map(|it| it.name()));
        let of = |name| own.iter().filter(move |cell| cell.bug == name).map(|cell| mark(cell));
        let run = bugs.names().filter(|name| own.iter().any(|cell| cell.bug == *name));
        let rows = run.map(|name| bug_cells(name).into_iter().chain(of(name)).collect()).collect();
        let section = Sheet::new(bugs.workload, "").table(&heads.collect::<Vec<_>>(), rows).markdown();
        // A heading below that of the page.
        page.push_str(&format!("\n#{section}"));
    }
    page
}
