//! The program as a person meets it: what it prints, where it refuses, how it ends.
#![allow(missing_docs, reason = "tests")]

mod absurd;
mod acid;
mod checked;
mod compared;
mod faults;
mod foreign;
mod foreign_server;
mod injected;
mod interrupted;
mod measured;
mod micro;
mod panics;
mod planned;
#[cfg(not(feature = "planted-bug"))]
mod planted;
mod refused;
mod run;
mod serve;
mod shown;
mod suite;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// The program in a folder of its own, without settings from the environment.
fn bourse(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bourse"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BOURSE_")) {
        command.env_remove(name);
    }
    // A sample takes longer than most of these runs: whoever is about it asks for it.
    command.env("BOURSE_CHECK", "quick");
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("COLUMNS", "120").stdin(Stdio::null());
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    bourse(folder, arguments).output().expect("the program can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program prints UTF-8")
}

/// Starts the program with its output thrown away.
fn start(folder: &Path, arguments: &[&str]) -> Child {
    bourse(folder, arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program can be started")
}

/// Loads the smallest database.
fn load(folder: &Path, target: &str) {
    let loaded = output(folder, &["tpce", "load", target, "--days", "1"]);
    assert!(loaded.status.success(), "{}", text(&loaded.stderr));
}
