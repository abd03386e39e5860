//! The page of the documentation, and the line of a terminal.

use crate::detectors::{Detector, Found, Length};
use crate::matrix::{Cell, name};
use bourse_tpce::planted::Bug;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A line for a terminal.
pub fn in_words(cell: &Cell) -> String {
    let found = match &cell.found {
        Found::Caught(why) => format!("caught  {why}"),
        Found::Shown(why) => format!("shown   {why}"),
        Found::Silent => "-".to_owned(),
    };
    format!("{:<24} {:<7} {:>5.1} s  {found}", name(cell.bug), cell.detector.name(), cell.took.as_secs_f64())
}

/// What stands in a cell of the page, without its time.
fn mark(found: &Found) -> String {
    match found {
        Found::Caught(why) => format!("**{why}**"),
        Found::Shown(why) => format!("shown: {why}"),
        Found::Silent => "-".to_owned(),
    }
}

/// A bug's row as far as it does not depend on the run: its name and what it does.
pub fn row_begins(bug: Option<Bug>) -> String {
    let (breaks, words) = bug.map_or(("", "nothing: the control"), |bug| (bug.breaks().name(), bug.words()));
    format!("| `{}` | {words} | {breaks} |", name(bug))
}

/// The page of the documentation.
pub fn page(cells: &[Cell], length: Length) -> String {
    let Length { transactions, requests_per_second, .. } = length;
    let detectors: BTreeSet<Detector> = cells.iter().map(|cell| cell.detector).collect();
    let acid = if detectors.contains(&Detector::Acid) { ", and `acid` without crashes" } else { "" };
    let mut page = format!(
        "# Planted bugs\n\n\
         Written by the program `planted` of `bourse-planted` (`cargo xtask planted` runs it at full length); do not edit.\n\n\
         Each bug is planted in turn in a build with the feature `planted-bug`, on a copy of one loaded database (SQLite, 1,000 \
         customers, 1 day), and each detector is asked: `run`, `check` of the database which that run leaves, `verify` against \
         the model{acid}. Runs are of {transactions} transactions in simulated time, {requests_per_second} customers' requests \
         a second. **Bold** is what fails first: the exit code is not 0. \"shown\" stands in the report of a run that passes. \
         Seconds are wall-clock time on the machine that wrote this page, copying the database included. No other build \
         contains any of these bugs; a test shows it.\n\n\
         The test `planted` of `bourse-planted` asks the first three for {} transactions, and fails where one finds anything \
         else than is expected of it (`crates/bourse-planted/src/expected.rs`).\n\n\
         | bug | what is wrong | breaks |",
        Length::SHORT.transactions,
    );
    for detector in &detectors {
        write!(page, " {} |", detector.name()).expect("a String takes all");
    }
    page.push_str("\n|---|---|---|");
    page.push_str(&"---|".repeat(detectors.len()));
    page.push('\n');
    let bugs: BTreeSet<Option<Bug>> = cells.iter().map(|cell| cell.bug).collect();
    for bug in bugs {
        page.push_str(&row_begins(bug));
        for cell in cells.iter().filter(|cell| cell.bug == bug) {
            write!(page, " {} ({:.1} s) |", mark(&cell.found), cell.took.as_secs_f64()).expect("a String takes all");
        }
        page.push('\n');
    }
    page
}
