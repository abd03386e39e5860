//! Defects of Bourse, and a terminal that is gone: exit codes are reliable, and results until then are stored.

use crate::{bourse, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SHORT: [&str; 7] = ["micro", "run", "point-read", "null:", "--for=100ms", "--warmup=0s", "--seed=1"];

/// Command of the program with a panic planted at a place; only in debug builds.
fn with_panic(folder: &Path, place: &str, arguments: &[&str]) -> Command {
    let mut command = bourse(folder, arguments);
    command.env("BOURSE_TEST_PANIC", place).env_remove("RUST_BACKTRACE");
    command
}

fn runs(folder: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder.join("bourse-runs")).map(|it| it.map(|it| it.expect("it can be read").path()));
    folders.map_or_else(|_| Vec::new(), Iterator::collect)
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_ends_in_words_and_exit_code_2() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = with_panic(folder.path(), "start", &["engines"]).output().expect("the program can be started");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: internal error: asked for at start\n  place: "), "{said}");
    assert!(said.contains("panics.rs:") && said.contains("please report it") && !said.contains("panicked"), "{said}");
}

#[test]
#[cfg(debug_assertions)]
fn what_was_measured_before_a_panic_is_written() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = [&SHORT[..], &["--rounds=3"]].concat();
    let ended = with_panic(folder.path(), "round 2", &arguments).output().expect("the program can be started");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("error: internal error: asked for at round 2"), "{said}");
    let [run] = &runs(folder.path())[..] else { panic!("one run is written: {said}") };
    let file = fs::read(run.join("run.json")).expect("the run file is there");
    let file: serde_json::Value = serde_json::from_slice(&file).expect("it is whole");
    assert_eq!(file["cases"][0]["rounds"].as_array().map(Vec::len), Some(1), "the round before the panic");
    assert!(run.join("report.html").exists());
}

#[test]
fn a_terminal_that_is_gone_is_no_panic() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let rounds = [&SHORT[..], &["--rounds=1"]].concat();
    for (arguments, code) in [(&rounds[..], 0), (&["micro", "run", "none"], 1), (&["--help"], 0), (&["engines"], 0)] {
        for closed in ["stdout", "stderr", "both"] {
            let (stdout, stderr) = (gone(), gone());
            let mut command = bourse(folder.path(), arguments);
            command.stdout(if closed == "stderr" { Stdio::null() } else { stdout });
            command.stderr(if closed == "stdout" { Stdio::null() } else { stderr });
            let status = command.status().expect("the program can be started");
            assert_eq!(status.code(), Some(code), "{arguments:?} with {closed} closed");
        }
    }
    assert_eq!(runs(folder.path()).len(), 3, "the run is written whoever listens");
}

/// The writing end of a pipe without a reader.
fn gone() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe can be made");
    drop(reader);
    writer.into()
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_terminal_is_no_panic() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").expect("Linux has it"));
    let mut command = bourse(folder.path(), &["micro", "run", "none"]);
    assert_eq!(command.stderr(full()).status().expect("the program can be started").code(), Some(1));
    // Results that cannot be printed are an error, unlike progress.
    let mut command = bourse(folder.path(), &["engines"]);
    assert_eq!(command.stdout(full()).stderr(Stdio::null()).status().expect("it can be started").code(), Some(1));
    // They are in their folder nevertheless.
    let measured = ["tpce", "acid", "sqlite::memory:", "--days", "1", "--only", "A1", "--repeats", "1"];
    let mut command = bourse(folder.path(), &measured);
    assert_eq!(command.stdout(full()).stderr(Stdio::null()).status().expect("it can be started").code(), Some(1));
    let [run] = &runs(folder.path())[..] else { panic!("one folder") };
    assert!(run.join("acid.json").exists() && run.join("acid.html").exists());
}
