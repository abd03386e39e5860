//! The program from outside: its output, its refusals, its exit codes.
#![allow(missing_docs, reason = "tests")]

mod absurd;
mod acid;
mod bisect;
mod checked;
mod compared;
mod coordinated;
mod default_job;
mod faults;
mod foreign;
mod foreign_server;
mod gate;
mod held;
mod history;
mod injected;
mod instructions;
mod interrupted;
mod isolation;
mod library;
mod live;
mod lost;
mod measured;
mod memory;
mod micro;
mod own_data;
mod owned_databases;
mod owned_files;
mod pages;
mod panics;
mod planned;
#[cfg(not(feature = "planted-bug"))]
mod planted;
mod processes;
mod python;
mod record;
mod refused;
mod replay;
mod results;
mod run;
mod serve;
mod server_use;
mod shown;
mod silent_server;
mod suite;
mod tables;
mod tatp;
mod tpcc;
mod tune;
mod versions;
mod waiting;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

/// Command of the program in a folder of its own, without settings from the environment.
fn bourse(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bourse"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BOURSE_")) {
        command.env_remove(name);
    }
    // A sample takes longer than most of these runs: tests that are about it enable it.
    command.env("BOURSE_CHECK", "quick");
    // Tests read parts below the first screen.
    command.env("BOURSE_VERBOSE", "true");
    // Tests disturb one another.
    command.env("BOURSE_NO_REPEAT", "true");
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("COLUMNS", "120").stdin(Stdio::null());
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    bourse(folder, arguments).output().expect("the program can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program prints UTF-8")
}

/// A text without its line breaks, which depend on the width.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Starts the program with its output discarded.
fn start(folder: &Path, arguments: &[&str]) -> Child {
    bourse(folder, arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program can be started")
}

/// Makes the smallest database in a SQLite file, as `tpce load` does: a copy of one that all tests with its journal mode
/// share, since that mode is stored in the file. Other options are set when it is opened.
fn load(folder: &Path, target: &str) {
    static LOADED: [OnceLock<Vec<u8>>; 2] = [OnceLock::new(), OnceLock::new()];
    let journal = ["wal", "delete"];
    let mode = usize::from(target.contains("journal=delete"));
    let loaded = LOADED[mode].get_or_init(|| {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let source = format!("sqlite:x.db?journal={}&sync=off", journal[mode]);
        let loaded = output(folder.path(), &["tpce", "load", &source, "--days", "1"]);
        assert!(loaded.status.success(), "{}", text(&loaded.stderr));
        std::fs::read(folder.path().join("x.db")).expect("it was loaded there")
    });
    let (scheme, place) = target.split_once(':').expect("a target has an engine");
    assert_eq!(scheme, "sqlite", "a file of another engine is another one");
    let name = place.split('?').next().expect("a text has a first part");
    std::fs::write(folder.join(name), loaded).expect("there is room for a copy");
    mark(&format!("sqlite:{}", folder.join(name).display()));
}

/// Makes a small database of TATP in a SQLite file, which takes a moment: for tests of what is the same for each transactional
/// workload.
fn load_tatp(folder: &Path, target: &str) {
    let loaded = output(folder, &["tatp", "load", target, "--size", "1k"]);
    assert!(loaded.status.success(), "{}", text(&loaded.stderr));
}

/// Marks a SQLite database that was copied.
fn mark(target: &str) {
    use bourse_engine::Engine as _;
    let location = bourse_engine_sqlite::open(target).expect("a target").location();
    location.database_files().expect("a file").mark().expect("it is there");
}
