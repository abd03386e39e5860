//! `bourse tune`: the search for settings, its refusals, and its document.

use crate::{bourse, output, text};
use bourse_record::{Document as _, Durability, RunFile};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const SHORT: [&str; 8] = ["--workload", "point-read", "-s", "rows=1000", "-T", "100ms", "--warmup", "0s"];

fn tune(folder: &Path, target: &str, more: &[&str]) -> (Option<i32>, String) {
    let ended = output(folder, &[&["tune", target], &SHORT[..], more].concat());
    (ended.status.code(), text(&ended.stdout) + &text(&ended.stderr))
}

fn run_file(folder: &Path) -> RunFile {
    let runs = fs::read_dir(folder.join("bourse-runs")).expect("there is a run");
    let run = runs.map(|it| it.expect("an entry").path()).find(|it| it.join("run.json").exists()).expect("a document");
    RunFile::parse(&fs::read(run.join("run.json")).expect("it can be read"), Path::new("run.json")).expect("a run file")
}

#[test]
fn the_plan_of_a_search_names_its_settings_and_opens_nothing() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (code, said) = tune(folder.path(), "sqlite:x.db?journal=wal", &["--dry-run"]);
    assert!(code == Some(0) && said.contains("cache=256MiB") && said.contains("writers=busy&begin=deferred"), "{said}");
    assert!(!said.contains("journal=truncate"), "an option that the target names stays as it is: {said}");
    let raced = |target: &str| tune(folder.path(), target, &["--dry-run"]).1.contains("journal=wal&sync=normal");
    assert!(raced("sqlite:x.db?defaults=sqlite") && !raced("sqlite:x.db?sync=full"), "also not beside another one");
    assert!(said.contains("time     about ") && said.contains("tune/: run.json, report.html"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_promise_that_the_target_does_not_keep_and_too_short_a_time_are_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let refused = |target: &str, more: &[&str], words: &str| {
        let (code, said) = tune(folder.path(), target, more);
        assert!(code == Some(1) && said.contains(words), "{said}");
    };
    refused("sqlite::memory:", &["--promise", "durable"], "does not keep --promise durable: it is volatile");
    refused("sqlite:x.db", &["--budget", "1s"], "--budget 1 s is too short: this search takes ");
    refused("sqlite:x.db", &["--budget", "1s"], "and a shorter --for has shorter rounds");
    refused("sqlite:x.db", &["--promise", "certain"], "invalid value 'certain'");
    refused("null:", &[], "null: has no setting to race");
    refused("sqlite:x.db", &["--find-max"], "cannot be used with tune");
}

/// An interrupted search once left nothing of what it had raced.
#[test]
fn an_interrupted_search_reports_its_race_and_no_answer() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let sweep = ["--sweep", "cache=1MiB,2MiB,3MiB,4MiB,5MiB,6MiB,7MiB", "--states", "100", "--budget", "90s"];
    let mut child = bourse(folder.path(), &[&["tune", "sqlite::memory:"], &SHORT[..], &sweep].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    said.find(|line| line.as_ref().is_ok_and(|line| line.contains("stage 2 of"))).expect("it races").expect("a line");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let rest: Vec<String> = said.map_while(Result::ok).collect();
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("there is no answer")), "{rest:?}");
    let said = text(&ended.stdout);
    assert!(said.contains("no answer: interrupted before the settings were proven"), "{said}");
    assert!(said.contains("its best setting looks better than it is") && !said.contains("difference above"), "{said}");
    let found = run_file(folder.path());
    let raced = &found.tuning.as_ref().expect("a search").race;
    assert!(found.interrupted && raced.iter().all(|it| !it.ratios.is_empty()), "{raced:?}");
}

#[test]
fn a_search_races_settings_proves_the_best_and_names_what_breaks_the_promise() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let sweeps =
        ["--sweep", "cache=64KiB,1MiB", "--sweep", "temp_store=memory", "--sweep", "sync=off", "--sweep", "mmap=0"];
    let (code, said) =
        tune(folder.path(), "sqlite:x.db", &[&sweeps[..], &["--states", "100", "--budget", "50s"]].concat());
    // On a machine that stands still for a whole round the proof has no figures.
    assert!(code == Some(0) || (code == Some(2) && said.contains("no figure of point-read")), "{code:?}: {said}");
    let file = run_file(folder.path());
    let found = file.tuning.as_ref().expect("a search");
    assert_eq!((found.promise, found.race.len()), (Durability::Durable, 5));
    let of = |change: &str| found.race.iter().find(|it| it.change == change).expect("it was raced");
    assert!(of("sync=off").out.as_ref().is_some_and(|why| why.starts_with("process: ")), "{found:?}");
    assert!(of("mmap=0").out.as_ref().is_some_and(|why| why.starts_with("no effect")), "{found:?}");
    assert!(of("cache=64KiB").out.is_none() && !of("cache=64KiB").ratios.is_empty(), "{found:?}");
    let taken: Vec<(&str, u32)> = found.elimination.iter().map(|it| (it.change.as_str(), it.stage)).collect();
    assert!(taken.is_sorted_by_key(|(_, stage)| *stage), "one at a time: {taken:?}");
    assert!(taken.iter().all(|(change, _)| taken.iter().filter(|(it, _)| it == change).count() == 1), "{taken:?}");
    let lines: Vec<&str> = found.lines.iter().map(|it| it.change.as_str()).collect();
    assert!(lines.iter().all(|it| !["sync=off", "mmap=0"].contains(it)), "{lines:?}");
    assert!(
        said.contains("The race") && said.contains("keep the defaults") || said.contains("Lines to paste"),
        "{said}"
    );
    if let Some(compared) = &file.comparison {
        assert_eq!(compared.base, "sqlite:x.db");
        assert!(!lines.is_empty() && compared.interval.is_some() && file.cases[1].label == compared.head);
        assert!(file.cases.iter().all(|case| case.rounds.len() >= 7), "each line has an interval");
        let crash = found.crashes.last().expect("the winner was crashed");
        assert!(crash.broken == 0 && (crash.states > 0 || !crash.not_tried.is_empty()), "{crash:?}");
    }
}
