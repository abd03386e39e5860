//! Faults from outside: a full disk, a server or a round's process that is killed. The exit code reports the fault, results
//! until then are stored, unmeasured values are no figures, and no process or half-written file is left.
#![cfg(target_os = "linux")]

use crate::waiting::{measuring, wait_for};
use crate::{bourse, text};
use bourse_engine_mysql::Flavour;
use bourse_record::{Document as _, RunFile};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A running process: its number, its parent's, its arguments.
struct Process {
    id: u32,
    parent: u32,
    arguments: Vec<String>,
}

fn processes() -> Vec<Process> {
    let all = fs::read_dir("/proc").expect("there is a list of processes").flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let read = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let behind_name: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        let line = fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?;
        // One that has ended and is yet to be waited for does nothing any more.
        let runs = behind_name.first() != Some(&"Z");
        let arguments = line.split('\0').map(str::to_owned).collect();
        runs.then_some(Process { id, parent: behind_name.get(1)?.parse().ok()?, arguments })
    };
    ids.filter_map(read).collect()
}

/// The processes that work in a folder, or name it in their arguments.
fn at_work_in(folder: &Path) -> Vec<u32> {
    let name = folder.display().to_string();
    let is_there = |process: &Process| {
        fs::read_link(format!("/proc/{}/cwd", process.id)).is_ok_and(|place| place.starts_with(folder))
            || process.arguments.iter().any(|argument| argument.contains(&name))
    };
    processes().iter().filter(|process| is_there(process)).map(|process| process.id).collect()
}

/// Kills that one process.
fn kill(id: u32) {
    let sent = Command::new("kill").args(["-KILL", &id.to_string()]).status().expect("kill can be run");
    assert!(sent.success(), "{id} is gone already");
}

fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = bourse(folder, arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program can be started")
}

/// The process of a round, once there is one not among `seen`.
fn round_of(program: &Child, seen: &[u32]) -> u32 {
    wait_for("a round's process", || {
        let is_round = |it: &Process| it.parent == program.id() && it.arguments.iter().any(|word| word == "round");
        processes().into_iter().find(|it| is_round(it) && !seen.contains(&it.id)).map(|it| it.id)
    })
}

fn ended(program: Child) -> Output {
    program.wait_with_output().expect("it ends")
}

/// The only run's file; every other file in the folder is complete.
fn run_file(folder: &Path) -> (RunFile, PathBuf) {
    let mut runs = fs::read_dir(folder.join("bourse-runs")).expect("a run leaves a folder");
    let run = runs.next().expect("there is one").expect("it can be read").path();
    assert!(runs.next().is_none(), "there is one run");
    let mut names: Vec<_> = fs::read_dir(&run).expect("it is a folder").flatten().map(|it| it.file_name()).collect();
    names.sort();
    assert_eq!(names, ["report.html", "run.json"], "nothing half-written");
    (RunFile::read(&run.join("run.json")).expect("a run file can be read back"), run)
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
}

/// Runs the program with `small` as a disk of that size that no other process sees; then a command of the shell. `None` if
/// the system does not permit one.
fn on_small_disk(folder: &Path, size: &str, then: &str, arguments: &[&str]) -> Option<Output> {
    fs::create_dir(folder.join("small")).expect("a folder can be made");
    let mount = format!("mount -t tmpfs -o size={size} none small");
    let alone = [&["--mount"][..], &["--mount", "--map-root-user"]].into_iter().find(|how| {
        let tried = Command::new("unshare").args(*how).args(["sh", "-c", &mount]).current_dir(folder).output();
        tried.is_ok_and(|tried| tried.status.success())
    })?;
    let program = bourse(folder, &[]);
    let mut command = Command::new("unshare");
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let script = format!("{mount} || exit 99; \"$0\" \"$@\"; code=$?; {then}; exit $code");
    command.args(alone).args(["sh", "-c", &script]).arg(program.get_program()).args(arguments);
    Some(command.current_dir(folder).stdin(Stdio::null()).output().expect("unshare was run before"))
}

#[test]
fn a_load_that_fills_the_disk_has_no_figure() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = ["micro", "run", "bulk-load", "sqlite:small/x.db?journal=wal", "-s", "rows=50000", "--rounds", "2"];
    let Some(ended) = on_small_disk(folder.path(), "4m", ":", &arguments) else {
        return bourse_testkit::skipped(
            "faults::a_load_that_fills_the_disk_has_no_figure",
            "no disk of our own can be mounted",
        );
    };
    let (report, said) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(2), "{report}{said}");
    says(&said, &["error: the run on sqlite:small/x.db?journal=wal failed", "database or disk is full (SQLITE_FULL)"]);
    says(&report, &["VOID: no rows/s", "no figure: bulk-load failed: loader cannot go on after insert failed"]);
    let (file, run) = run_file(folder.path());
    let round = &file.cases[0].rounds[0];
    assert!(file.cases[0].rounds.len() == 1 && round.headline.is_nan() && round.operations[0].valid() > 0);
    says(round.void.as_deref().expect("it has no figure"), &["disk is full"]);
    let json = fs::read_to_string(run.join("run.json")).expect("it is there");
    says(&json, &["\"headline\": null", "\"void\": \"bulk-load failed"]);
    says(&fs::read_to_string(run.join("report.html")).expect("it is there"), &["VOID", "no figure: bulk-load failed"]);
    for name in ["x.csv", "x.md"] {
        let drawn = crate::output(folder.path(), &["report", &run.display().to_string(), "-o", name]);
        assert!(drawn.status.success(), "{}", text(&drawn.stderr));
        says(&fs::read_to_string(folder.path().join(name)).expect("it is written").to_lowercase(), &["void"]);
    }
    assert_eq!(at_work_in(folder.path()), [0; 0]);
}

#[test]
fn results_that_find_no_room_are_not_left_in_part() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments =
        ["micro", "run", "point-read", "-s", "rows=100", "--count", "100", "--rounds", "1", "-o", "small/runs"];
    let Some(ended) = on_small_disk(folder.path(), "48k", "find small -type f", &arguments) else {
        return bourse_testkit::skipped(
            "faults::results_that_find_no_room_are_not_left_in_part",
            "no disk of our own can be mounted",
        );
    };
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    says(&said, &["No space left on device"]);
    let left = text(&ended.stdout);
    let files: Vec<&str> = left.lines().filter(|line| line.starts_with("small/")).collect();
    assert!(files.iter().all(|name| name.ends_with("/run.json")), "only what is whole is left: {files:?}");
}

#[test]
fn a_comparison_whose_results_cannot_be_written_is_printed() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let targets = ["compare", "sqlite:a.db", "sqlite:b.db", "--workload", "point-read", "--no-wait"];
    let short = ["-s", "rows=100", "--for", "500ms", "--warmup", "0s", "--rounds", "2", "-o", "runs"];
    let program = spawn(folder.path(), &[&targets[..], &short[..]].concat());
    round_of(&program, &[]);
    fs::remove_dir_all(folder.path().join("runs")).expect("the folder of results was made and tried before");
    let ended = ended(program);
    let (report, said) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(1), "{report}{said}");
    says(&said, &["runs/", "No such file or directory"]);
    says(&report, &["A: sqlite:a.db", "B: sqlite:b.db", "verdict: "]);
}

#[test]
fn a_cell_that_fills_the_disk_fails_alone() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let suite = ["suite", "run", "sqlite-wal", "--scale", "0.01", "--rounds", "1", "--cap", "2s", "--only", "2d"];
    let arguments = [&suite[..], &["--data", "small/data"]].concat();
    let Some(ended) = on_small_disk(folder.path(), "64k", "find small -type f", &arguments) else {
        return bourse_testkit::skipped(
            "faults::a_cell_that_fills_the_disk_fails_alone",
            "no disk of our own can be mounted",
        );
    };
    let (report, said) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(2), "{report}{said}");
    says(&said, &["some cells failed", "2d/wal/load, 2d/delete/load", "published findings are judged by intervals"]);
    says(&report, &["failed: ", "SQLITE_FULL"]);
    assert!(!report.lines().any(|line| line.starts_with("small/")), "its databases are removed: {report}");
    assert_eq!(at_work_in(folder.path()), [0; 0]);
}

#[test]
fn a_round_whose_process_is_killed_leaves_those_before_it() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let rounds = ["--rounds", "3", "--for", "1s", "--warmup", "0s", "-s", "rows=1000"];
    let program = spawn(folder.path(), &[&["micro", "run", "point-read", "sqlite:x.db"], &rounds[..]].concat());
    let first = round_of(&program, &[]);
    let second = round_of(&program, &[first]);
    kill(second);
    let ended = ended(program);
    let (report, said) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(2), "{report}{said}");
    says(&said, &["error: a round of point-read on sqlite:x.db was lost", "ended from outside: signal: 9"]);
    let (file, _) = run_file(folder.path());
    let [round] = file.cases[0].rounds.as_slice() else { panic!("the first round alone is whole") };
    assert!(round.headline > 0.0 && round.void.is_none());
    says(&report, &["reads/s", "round 2 was lost, those before it are reported"]);
    assert_eq!(at_work_in(folder.path()), [0; 0]);
}

/// Ctrl-C at a terminal and `timeout` reach the program and its round alike, and the program signals its round once more:
/// taken for a second Ctrl-C, that lost the results and left servers running.
#[test]
fn an_interruption_that_reaches_everybody_is_one() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program =
        spawn(folder.path(), &["micro", "run", "update", "sqlite:x.db?sync=off", "--for", "60s", "--warmup", "0s"]);
    let round = round_of(&program, &[]);
    measuring(folder.path());
    let ids = [program.id(), round, program.id()].map(|id| id.to_string());
    assert!(Command::new("kill").arg("-TERM").args(&ids).status().expect("kill can be run").success());
    let ended = ended(program);
    assert_eq!(ended.status.code(), Some(130), "{}{}", text(&ended.stdout), text(&ended.stderr));
    let (file, _) = run_file(folder.path());
    assert!(file.interrupted && file.cases[0].rounds.len() == 1);
    assert_eq!(at_work_in(folder.path()), [0; 0]);
}

#[test]
fn a_round_ends_with_the_program_that_asked_for_it() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let program =
        spawn(folder.path(), &["micro", "run", "point-read", "sqlite:x.db", "--for", "60s", "-s", "rows=1000"]);
    measuring(folder.path());
    kill(program.id());
    assert!(!ended(program).status.success());
    wait_for("the round to end", || at_work_in(folder.path()).is_empty().then_some(()));
    let runs = std::fs::read_dir(folder.path().join("bourse-runs")).expect("its folder was made before the round");
    for run in runs.map(|entry| entry.expect("can be read").path()) {
        let left = std::fs::read_dir(&run).expect("can be read").map(|entry| entry.expect("can be read").file_name());
        // Only its progress file is left.
        assert_eq!(left.collect::<Vec<_>>(), ["live.ndjson"], "nothing half-written in {}", run.display());
    }
}

/// The process of the private server in a folder.
fn server_below(folder: &Path) -> u32 {
    let data = format!("--datadir={}", folder.display());
    let is_it = |it: &Process| it.arguments.iter().any(|argument| argument.starts_with(&data));
    processes().into_iter().find(is_it).expect("a server is there").id
}

#[test]
fn a_server_or_its_owner_that_is_killed_leaves_nothing_behind() {
    let name = "faults::a_server_or_its_owner_that_is_killed_leaves_nothing_behind";
    if let Err(why) = bourse_engine_mysql::installed(Flavour::Mariadb, None) {
        return bourse_testkit::skipped(name, why);
    }
    for kills_owner in [false, true] {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let servers = tempfile::tempdir().expect("there is room for a folder");
        // The server runs as user mysql, which must be able to enter the folder.
        fs::set_permissions(servers.path(), fs::Permissions::from_mode(0o755)).expect("the folder is ours");
        let target = format!("mariadb+private:{}?innodb_buffer_pool=64MiB&log_file=64MiB", servers.path().display());
        let rounds = ["--rounds", "2", "--for", "60s", "--warmup", "0s", "-s", "rows=1000"];
        let program = spawn(folder.path(), &[&["micro", "run", "update", &target], &rounds[..]].concat());
        let round = round_of(&program, &[]);
        measuring(folder.path());
        let server = server_below(servers.path());
        kill(if kills_owner { round } else { server });
        let ended = ended(program);
        let (report, said) = (text(&ended.stdout), text(&ended.stderr));
        assert_eq!(ended.status.code(), Some(2), "{report}{said}");
        if kills_owner {
            says(&said, &["error: a round of update on mariadb+private:", "was lost", "ended from outside: signal: 9"]);
        } else {
            says(&said, &["error: the run on mariadb+private:", " failed", "cannot go on after update failed"]);
            says(&report, &["VOID: no updates/s", "no figure: update failed"]);
            let (file, _) = run_file(folder.path());
            let round = &file.cases[0].rounds[0];
            assert!(round.void.is_some() && round.operations[0].valid() > 0, "{round:?}");
        }
        assert_eq!(fs::read_dir(servers.path()).expect("the folder is there").count(), 0, "its data is removed");
        assert_eq!(at_work_in(servers.path()), [0; 0], "it is ended");
        assert_eq!(at_work_in(folder.path()), [0; 0]);
    }
}

/// A stand-in for MySQL's server that counts the requests for a data directory, and makes none.
const NO_SERVER: &str = r#"case "$*" in
*--version*) echo "mysqld  Ver 8.0.0 for Linux" ;;
*) echo asked >> "$0.asked"; echo "no room for tables today" >&2; exit 7 ;;
esac"#;

/// The program once made one more try than configured: a start that failed by chance went unseen, and one that failed by
/// timeout took twice as long.
#[test]
fn a_server_that_does_not_come_up_is_started_once() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    // Written by another process: a child of this one, started meanwhile by another test, would hold it open and prevent its
    // execution.
    let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > server && chmod 755 server && mkdir servers";
    let written = Command::new("sh").args(["-c", write, "sh", NO_SERVER]).current_dir(folder.path()).status();
    assert!(written.expect("a shell can be run").success());
    let path = folder.path().display();
    let target = format!("mysql+private:{path}/servers?server={path}/server");
    let ended = crate::output(folder.path(), &["micro", "run", "update", &target, "--rounds", "2", "--for", "1s"]);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{}{said}", text(&ended.stdout));
    if said.contains("useradd") {
        return bourse_testkit::skipped(
            "faults::a_server_that_does_not_come_up_is_started_once",
            "there is no user `mysql`",
        );
    }
    says(&said, &["a new data directory could not be made", "exit status: 7", "no room for tables today"]);
    let asked = fs::read_to_string(folder.path().join("server.asked")).expect("it was asked");
    assert_eq!(asked.lines().count(), 1, "{asked}");
    assert_eq!(fs::read_dir(folder.path().join("servers")).expect("the folder is there").count(), 0, "nothing is left");
    assert_eq!(at_work_in(folder.path()), [0; 0]);
}
