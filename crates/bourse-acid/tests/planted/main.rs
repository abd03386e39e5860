//! Bugs planted on purpose, and the checks that detect each.
//!
//! Each bug of each workload is planted in turn, on a copy of a loaded database, and each detector runs. The expected findings are
//! listed by bug; another one is a failure.
//!
//! ```text
//! planted                                         a short matrix, and the page compared with the expected findings
//! planted [--full | --acid] [--page FILE] [BUG…]  the matrix at some length
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `databases` | a workload's loaded database, and a copy of it for each bug |
//! | `detectors` | commands that run, check and compare |
//! | `expected` | expected findings of each detector for each bug |
//! | `isolation` | engines that break their isolation |
//! | `matrix` | all bugs by all detectors, on all processors: each process is this one again |
//! | `mixed` | workloads whose users draw transactions by their shares |
//! | `page` | the page of the documentation |
//! | `tpce` | what TPC-E has of its own |
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers")]

mod databases;
mod detectors;
mod expected;
mod isolation;
mod matrix;
mod mixed;
mod page;
mod tpce;

use bourse_oltp::planted::BrokenPart;
use detectors::{Detector, Length};
use expected::{Expected, expected, is_asked, misses};
use matrix::{Bugs, ISOLATION, WORKLOADS, chosen, is_control, run, run_shared};
use page::{in_words, page, row_begins};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    if std::env::args().len() == 1 {
        a_run_catches_each_bug_that_changes_work_or_data();
        the_page_is_in_step();
        each_bug_is_found_by_those_who_should();
        return ExitCode::SUCCESS;
    }
    match planted() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("planted: {why}");
            ExitCode::FAILURE
        }
    }
}

fn planted() -> Result<(), String> {
    let (mut length, mut share, mut written, mut names) = (Length::SHORT, None, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut path = || arguments.next().map(PathBuf::from).ok_or(format!("{argument} needs a path"));
        match argument.as_str() {
            "--full" => length = Length::FULL,
            "--acid" => length.acid = true,
            "--share" => share = Some(path()?),
            "--page" => written = Some(path()?),
            _ => names.push(argument),
        }
    }
    let bugs = chosen(&names).map_err(|name| format!("there is no bug {name}"))?;
    if let Some(folder) = share {
        run(&folder, &bugs, length, &mut |cell| println!("{}", cell.line()));
        return Ok(());
    }
    let began = Instant::now();
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let cells = run_shared(&program, &bugs, length, &mut |cell| println!("{}", in_words(cell)));
    println!("{} bugs, {:.0} s", bugs.len(), began.elapsed().as_secs_f64());
    if let Some(path) = written {
        std::fs::write(&path, page(&cells, length)).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let missed = misses(&cells, length);
    if missed.is_empty() { Ok(()) } else { Err(format!("not as expected:\n{}", missed.join("\n"))) }
}

fn each_bug_is_found_by_those_who_should() {
    let bugs = chosen(&[]).expect("all bugs");
    let program = std::env::current_exe().expect("it is running");
    let cells = run_shared(&program, &bugs, Length::SHORT, &mut |cell| eprintln!("{}", in_words(cell)));
    let asked = |bug: &&str| Detector::ALL.into_iter().filter(|it| is_asked(bug, *it, Length::SHORT)).count();
    assert_eq!(cells.len(), bugs.iter().map(asked).sum::<usize>(), "run, check and verify");
    let missed = misses(&cells, Length::SHORT);
    assert!(missed.is_empty(), "not as expected:\n{}", missed.join("\n"));
}

/// Checks that `run` detects every bug that changes work or data, and that names are unique.
fn a_run_catches_each_bug_that_changes_work_or_data() {
    let passed = WORKLOADS.iter().flat_map(Bugs::all).filter(|bug| {
        matches!(bug.breaks, BrokenPart::Data | BrokenPart::Work)
            && !matches!(expected(bug.name, Detector::Run), Some(Expected::Caught(_)))
    });
    assert_eq!(passed.map(|bug| bug.name).collect::<Vec<_>>(), [""; 0]);
    let mut names = chosen(&[]).expect("all bugs");
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "two bugs have one name");
}

/// Compares the page with the tables; it was written at full length, so another check may have been the first to fail
/// there.
fn the_page_is_in_step() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/planted-bugs.md");
    let page = std::fs::read_to_string(path).expect("there is a page");
    let rows = page.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, chosen(&[]).expect("all bugs").len(), "rows; run: cargo xtask planted");
    for bugs in WORKLOADS {
        let section = page.split("\n## ").find(|section| section.starts_with(bugs.workload)).expect("a section");
        let header = section.lines().find_map(|line| line.strip_prefix("| bug | what is wrong | breaks |"));
        let header = header.expect("a table");
        let shown = Detector::ALL.into_iter().filter(|detector| header.contains(&format!(" {} |", detector.name())));
        let shown: Vec<Detector> = shown.collect();
        assert!(shown.len() >= if bugs.workload == ISOLATION { 1 } else { 3 }, "{header}");
        for name in bugs.names() {
            let begin = row_begins(name);
            let row = section.lines().find_map(|line| line.strip_prefix(begin.as_str()));
            let row = row.unwrap_or_else(|| panic!("no row {begin}; run: cargo xtask planted"));
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            for (&detector, cell) in shown.iter().zip(cells) {
                let agrees = match expected(name, detector) {
                    Some(Expected::Caught(_)) => cell.starts_with("**"),
                    Some(Expected::Shown(_)) => !cell.starts_with("- "),
                    // More may be caught at full length.
                    Some(Expected::Silent) => cell.starts_with("- ") || !is_control(name),
                    Some(Expected::NotRun) | None => false,
                };
                assert!(agrees, "{name} {}: {cell}; run: cargo xtask planted", detector.name());
            }
        }
    }
}
