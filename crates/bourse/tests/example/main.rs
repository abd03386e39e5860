//! The program with the engine of `docs/adding-an-engine.md`: one line and a feature are all that the program has of it.
#![allow(missing_docs, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in a folder of its own, without settings from the environment.
fn output(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bourse"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BOURSE_")) {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("BOURSE_NO_REPEAT", "true");
    command.output().expect("the program can be started")
}

/// Standard output of a command, which must succeed.
#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = output(folder.path(), arguments);
    let [out, errors] = [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {out}{errors}");
    out
}

#[track_caller]
fn document(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(arguments)).expect("the document is JSON")
}

#[test]
fn it_is_listed_as_its_crate_describes_it() {
    let listed = document(&["engines", "--json"]);
    let example = listed.as_array().into_iter().flatten().find(|engine| engine["engine"] == "example");
    let [kind] = bourse_testkit::example_engine::KINDS else { panic!("the crate has one engine") };
    assert_eq!(example.expect("it is listed")["summary"], kind.summary);
    assert_eq!(document(&["engines", "example", "--json"])["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn it_runs_and_is_checked() {
    let size = ["--rounds", "2", "--count", "50", "-s", "rows=100", "--warmup", "0s", "--json"];
    for workload in ["update", "point-read", "scan"] {
        let run = document(&[&["micro", "run", workload, "example::memory:"][..], &size].concat());
        let case = &run["cases"][0];
        assert_eq!(case["engine"]["name"], "example", "{workload}: {run}");
        assert_eq!(case["rounds"].as_array().map(Vec::len), Some(2), "{workload}: {run}");
    }
}

#[test]
fn a_look_at_all_engines_has_it() {
    let plan = printed(&["quick", "--dry-run", "--all", "--workloads", "point-read"]);
    assert!(plan.contains("point-read, example::memory:"), "{plan}");
}

/// An engine that this build leaves out is named with the feature that includes it.
#[cfg(not(feature = "redb"))]
#[test]
fn what_is_left_out_is_said() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let ended = output(folder.path(), &["micro", "run", "point-read", "redb::memory:"]);
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{errors}");
    assert!(errors.contains("redb is left out of this build: `cargo install --path crates/bourse --features redb`"));
    let listed = document(&["engines", "--json"]);
    let redb = listed.as_array().into_iter().flatten().find(|engine| engine["engine"] == "redb").expect("it is listed");
    assert!(redb["unavailable"].as_str().is_some_and(|why| why.contains("--features redb")), "{redb}");
}
