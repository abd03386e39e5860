//! Every planted bug by every detector.
#![allow(missing_docs, reason = "tests")]
#![allow(clippy::print_stderr, reason = "the matrix is printed")]

use bourse_planted::{
    Detector, Expected, Length, chosen, expected, in_words, is_asked, misses, name, row_begins, run_shared,
};
use bourse_tpce::planted::{ALL, Breaks};
use std::path::Path;

#[test]
fn each_bug_is_found_by_those_who_should() {
    let bugs = chosen(&[]).expect("all bugs");
    let program = Path::new(env!("CARGO_BIN_EXE_planted"));
    let cells = run_shared(program, &bugs, Length::SHORT, &mut |cell| eprintln!("{}", in_words(cell)));
    let asked = |bug: &Option<_>| Detector::ALL.into_iter().filter(|it| is_asked(*bug, *it, Length::SHORT)).count();
    assert_eq!(cells.len(), bugs.iter().map(asked).sum::<usize>(), "run, check and verify");
    let missed = misses(&cells, Length::SHORT);
    assert!(missed.is_empty(), "not as expected:\n{}", missed.join("\n"));
}

/// Checks that `run` detects every bug that changes work or data.
#[test]
fn a_run_catches_each_bug_that_changes_work_or_data() {
    let passed = ALL.iter().filter(|bug| {
        matches!(bug.breaks(), Breaks::Data | Breaks::Work)
            && !matches!(expected(Some(**bug), Detector::Run), Some(Expected::Caught(_)))
    });
    assert_eq!(passed.map(|bug| bug.name()).collect::<Vec<_>>(), [""; 0]);
}

/// Compares the page with the table; it was written at full length, so another check may have been the first to fail
/// there.
#[test]
fn the_page_is_in_step() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/planted-bugs.md");
    let page = std::fs::read_to_string(path).expect("there is a page");
    let bugs = chosen(&[]).expect("all bugs");
    assert_eq!(page.lines().filter(|line| line.starts_with("| `")).count(), bugs.len(), "rows");
    let header = page.lines().find_map(|line| line.strip_prefix("| bug | what is wrong | breaks |")).expect("a table");
    let shown: Vec<Detector> =
        Detector::ALL.into_iter().filter(|detector| header.contains(&format!(" {} |", detector.name()))).collect();
    assert!(shown.len() >= 3, "{header}");
    for bug in bugs {
        let begin = row_begins(bug);
        let row = page.lines().find_map(|line| line.strip_prefix(begin.as_str()));
        let row = row.unwrap_or_else(|| panic!("no row {begin}; run: cargo xtask planted"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for (&detector, cell) in shown.iter().zip(cells) {
            let agrees = match expected(bug, detector) {
                Some(Expected::Caught(_)) => cell.starts_with("**"),
                Some(Expected::Shown(_)) => !cell.starts_with("- "),
                // More may be caught at full length.
                Some(Expected::Silent) => cell.starts_with("- ") || bug.is_some(),
                None => false,
            };
            assert!(agrees, "{} {}: {cell}; run: cargo xtask planted", name(bug), detector.name());
        }
    }
}
