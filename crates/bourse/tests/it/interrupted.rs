//! Interrupted programs: Ctrl-C leaves a report, `kill -9` never a database that could be taken for a good one.

use crate::waiting::{measuring, wait_for};
use crate::{bourse, load, output, start, text};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |found| found.len())
}

#[test]
fn a_load_that_is_killed_is_never_taken_for_a_database() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (target, work) = ("sqlite:a.db?sync=off", folder.path().join("a.db.bourse-loading"));
    let mut child = start(folder.path(), &["tpce", "load", target, "--days", "1"]);
    wait_for("the load to be under way", || (size(&work) > 4 << 20).then_some(()));
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");
    assert!(!folder.path().join("a.db").exists(), "the database comes to be at the very end");
    assert!(work.exists());

    let checked = output(folder.path(), &["tpce", "check", target]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stderr).contains("there is no database"), "{}", text(&checked.stderr));

    let again = output(folder.path(), &["tpce", "load", target, "--days", "1"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("left by a process that did not end"), "{}", text(&again.stderr));
    assert!(!work.exists());
    let checked = output(folder.path(), &["tpce", "check", target]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
}

#[test]
fn a_run_that_is_killed_leaves_a_database_the_next_run_can_trust() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = "sqlite:a.db?sync=normal";
    load(folder.path(), target);
    let mut child = start(folder.path(), &["tpce", "run", target, "--days", "1", "--for", "50s", "--warmup", "1s"]);
    wait_for("the run to write", || (size(&folder.path().join("a.db-wal")) > 1 << 20).then_some(()));
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");

    let checked = output(folder.path(), &["tpce", "check", target]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    let again = output(folder.path(), &["tpce", "run", target, "--days", "1", "--for", "1s", "--warmup", "1s"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("used by earlier runs: "), "{}", text(&again.stderr));
    assert!(text(&again.stdout).contains("before the warm-up: "), "{}", text(&again.stdout));
}

/// A transaction that another program holds the lock of was tried again for minutes.
#[test]
fn an_interruption_ends_the_wait_for_a_lock_of_another_program() {
    use bourse_engine::{Access, Engine as _, Isolation};
    let folder = tempfile::tempdir().expect("there is room for a folder");
    load(folder.path(), "sqlite:a.db?sync=off");
    let target = "sqlite:a.db?sync=off&busy_timeout=2s";
    let mut run = bourse(folder.path(), &["tpce", "run", target, "--days", "1", "--for", "50s", "--warmup", "1s"]);
    let child = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started");
    measuring(folder.path());
    let other = format!("sqlite:{}?sync=off", folder.path().join("a.db").display());
    let other = bourse_engine_sqlite::open(&other).expect("a target");
    let mut session = other.session().expect("the database can be opened twice");
    session.begin(Isolation::Serializable, Access::Write).expect("the lock is free now and then");
    let begun = Instant::now();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("it ends");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}: {said}", begun.elapsed());
    session.rollback().expect("nothing was written");
}

#[test]
fn a_run_that_is_interrupted_reports_what_it_measured() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = "sqlite:a.db?sync=off";
    load(folder.path(), target);
    let mut run = bourse(folder.path(), &["tpce", "run", target, "--days", "1", "--for", "50s", "--warmup", "1s"]);
    let child = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started");
    measuring(folder.path());
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("it has ended");
    assert_eq!(ended.status.code(), Some(130));
    let said = text(&ended.stderr);
    assert_eq!(said.matches("interrupted: finishing what was begun; Ctrl-C again").count(), 1, "{said}");
    let run = std::fs::read_dir(folder.path().join("bourse-runs")).expect("a run leaves a folder").next();
    let run = run.expect("there is one").expect("it can be read").path();
    let report = output(folder.path(), &["report", &run.display().to_string()]);
    assert!(text(&report.stdout).contains("interrupted"), "{}", text(&report.stdout));
    assert!(text(&report.stdout).contains("Trade-Result"));
}

#[test]
fn acid_tests_that_are_interrupted_leave_no_process_and_no_copy() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    load(folder.path(), "sqlite:a.db");
    let arguments = ["tpce", "acid", "sqlite:a.db?sync=off", "--only", "D", "--demand", "process"];
    let child = start(folder.path(), &arguments);
    let copies = || {
        let entries = std::fs::read_dir(folder.path()).expect("the folder is there").flatten();
        entries.map(|entry| entry.path()).find(|path| path.display().to_string().contains("/bourse-crash-"))
    };
    let log = || copies().is_some_and(|copies| size(&copies.join("files/a.db-wal")) > 1 << 20);
    wait_for("the load on the copy", || log().then_some(()));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("it has ended");
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(copies(), None, "the copy is removed, so its process has ended");
    let run = std::fs::read_dir(folder.path().join("bourse-runs")).expect("a run leaves a folder").next();
    let written = run.expect("there is one").expect("it can be read").path().join("acid.json");
    let written = std::fs::read_to_string(written).expect("it is written");
    assert!(written.contains("\"interrupted\": true"), "{written}");
    assert!(!written.contains("\"failed\""), "a crash that was cut short shows nothing: {written}");
}

/// Each state is recovered by a process of its own engine, which an interruption once waited for.
#[test]
fn enumerated_states_that_are_interrupted_end_within_seconds_with_their_processes() {
    if let Err(why) = bourse_crash::preload::library() {
        return bourse_testkit::skipped("interrupted::enumerated_states", why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["crash", "redb:?durability=immediate", "--only", "states", "--states", "1000000", "--faults", "0"];
    let child = start(folder.path(), &arguments);
    let children = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
        let of_task = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).ok();
        let ids: Vec<String> = tasks.filter_map(of_task).collect();
        ids.join(" ").split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let looks = |id: &String| {
        std::fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|command| command.contains("\"Look\""))
    };
    let recovering = wait_for("the recovery of states", || {
        let found: Vec<String> = children().into_iter().filter(looks).collect();
        (!found.is_empty()).then_some(found)
    });
    let begun = Instant::now();
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("it has ended");
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(!recovering.iter().any(looks), "{recovering:?}");
}

#[test]
fn files_of_a_generation_that_is_killed_do_not_look_complete() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let out = folder.path().join("out");
    let mut child = start(folder.path(), &["tpce", "gen", "-o", "out", "-w", "20"]);
    wait_for("a file to be begun", || out.read_dir().ok()?.next().map(drop));
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");
    for entry in out.read_dir().expect("the folder is there") {
        let name = entry.expect("it can be read").file_name().into_string().expect("our names are text");
        assert!(name.starts_with(".bourse-gen-"), "{name} looks complete");
    }
}
