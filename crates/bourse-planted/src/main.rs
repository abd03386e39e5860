//! Plants bugs and reports which detectors catch them.
//!
//! ```text
//! planted [--full | --acid] [--page FILE] [BUG…]
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers")]

use bourse_planted::{Databases, Length, chosen, in_words, misses, page, run, run_shared};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
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
        run(&Databases::at(&folder), &bugs, length, &mut |cell| println!("{}", cell.line()));
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
