//! Users in several processes: their figures are merged, and none of them outlives the program.

use crate::waiting::wait_for;
use crate::{bourse, load, output, text};
use bourse_record::{CheckStatus, Document as _, RunFile, UsersOfProcess};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const TARGET: &str = "sqlite:a.db?sync=off";

fn run_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(runs) = fs::read_dir(folder.join("bourse-runs")) else { return Vec::new() };
    runs.map(|entry| entry.expect("it can be read").path().join("run.json")).collect()
}

#[test]
fn processes_share_a_database_and_their_figures_add_up() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    load(folder.path(), TARGET);
    let sizes = ["--users", "4", "--market-users", "3", "--processes", "2"];
    let times = ["--days", "1", "--for", "3s", "--warmup", "1s", "--seed", "7"];
    let ended = output(folder.path(), &[&["tpce", "run", TARGET][..], &sizes, &times].concat());
    let report = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{report}\n{}", text(&ended.stderr));
    assert!(report.contains("2, with 2 + 2 users and 1 + 2 market users"), "{report}");
    let run = RunFile::read(&run_files(folder.path())[0]).expect("a run file can be read back");
    let case = &run.cases[0];
    let of = |users, further_users| UsersOfProcess { users, further_users };
    assert_eq!(case.conditions.processes, [of(2, 1), of(2, 2)]);
    assert_eq!((case.conditions.users, case.conditions.further_users), (Some(4), Some(3)));
    let round = &case.rounds[0];
    assert_eq!(round.void, None);
    for check in &round.checks {
        assert_eq!(check.status, CheckStatus::Passed, "{check:#?}");
    }
    for name in ["operations of the interval", "response times", "acknowledgements", "mix of requests"] {
        let found = round.checks.iter().filter(|check| check.name == name).count();
        assert_eq!(found, 1, "{name}: once, for all processes");
    }
    // A number given to two trades would be a failure.
    assert_eq!((round.failed(), &round.shared), (0, &None));
    for number in 1..=2 {
        let own = format!("orders of driver {number}/2");
        assert!(round.checks.iter().any(|check| check.name == own), "{own} is checked");
    }
    assert!((2.9..3.5).contains(&round.measured_s), "{}", round.measured_s);
    let count = |name: &str| {
        let operation = round.operations.iter().find(|it| it.name == name).expect("it is listed");
        (operation.valid(), operation.response.summary.count)
    };
    let rate = count("Trade-Result").0 as f64 / round.measured_s;
    assert!((round.headline - rate).abs() < 0.01 * rate, "{} {rate}", round.headline);
    assert_eq!(count("Trade-Cleanup").0, 1);
    assert_eq!(count("Data-Maintenance"), (1, 1), "one for all");
    // Timed are also those that were under way at the end of the interval, one of a user at most.
    let (valid, timed) = count("Trade-Order");
    assert!(valid > 20 && (valid..=valid + 7).contains(&timed), "{valid} {timed}");
    // Each outcome has its times, and one in 101 is rolled back as designed.
    for operation in &round.operations {
        let timed: u64 = operation.by_outcome.iter().map(|it| it.response.count).sum();
        assert_eq!(timed, operation.response.summary.count, "{}", operation.name);
    }
    let threads = |role: &str| {
        let roles = round.time_split.as_ref().expect("it is there").roles();
        roles.iter().find(|it| it.role == role).map(|it| it.threads)
    };
    if round.time_split.as_ref().is_some_and(|split| !split.roles().is_empty()) {
        assert_eq!((threads("customers"), threads("market users")), (Some(4), Some(3)));
    }
    // The sums of the series' rows are the counts, except at the edges of the interval.
    let measured = round.phases.iter().find(|it| it.kind == bourse_record::PhaseKind::Measurement).expect("one");
    let (mut from, mut done) = (0.0_f64, 0.0);
    let rates = round.throughput_series.column("throughput.Trade-Result").expect("it is kept");
    for (&to, rate) in round.throughput_series.time_s.iter().zip(rates) {
        let inside = (to.min(measured.to_s) - from.max(measured.from_s)).max(0.0);
        done += rate.unwrap_or(0.0) * inside;
        from = to;
    }
    let counted = count("Trade-Result").0 as f64;
    assert!((done - counted).abs() < 0.2 * counted + 10.0, "{done} in the series, {counted} counted");

    // The next round continues on the same database, and the number of processes can be swept.
    // Its size is the database's, which each process once took to be the default.
    let swept = ["--users", "2", "--sweep", "processes=1,2", "--for", "1s", "--warmup", "1s"];
    let ended = output(folder.path(), &[&["tpce", "run", TARGET][..], &swept].concat());
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let shown = text(&ended.stdout);
    assert!(shown.contains("processes=1") && shown.contains("processes=2"), "{shown}");
}

/// Starts a run with its users in two processes, which work when this returns.
fn started(folder: &Path) -> (Child, Vec<u32>) {
    started_with(folder, "5m")
}

fn started_with(folder: &Path, call_limit: &str) -> (Child, Vec<u32>) {
    load(folder, TARGET);
    let arguments = ["tpce", "run", TARGET, "--users", "2", "--processes", "2", "--days", "1", "--for", "50s"];
    let mut command = bourse(folder, &[&arguments[..], &["--warmup", "1s", "--call-limit", call_limit]].concat());
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
    let wal = folder.join("a.db-wal");
    wait_for("the users to write", || wal.metadata().ok().filter(|found| found.len() > 1 << 20));
    let children = format!("/proc/{0}/task/{0}/children", run.id());
    let children = fs::read_to_string(children).expect("the system lists children");
    let children: Vec<u32> = children.split_whitespace().map(|id| id.parse().expect("a number")).collect();
    assert_eq!(children.len(), 2);
    (run, children)
}

/// Waits until none of these processes runs.
fn gone(ids: &[u32]) {
    for id in ids {
        let stat = format!("/proc/{id}/stat");
        // A process that was not waited for is listed as a zombie.
        wait_for("a process to end", || {
            fs::read_to_string(&stat).map_or(true, |line| line.contains(") Z ")).then_some(())
        });
    }
}

fn signal(name: &str, id: u32) {
    let sent = Command::new("kill").args([name, &id.to_string()]).status().expect("kill can be run");
    assert!(sent.success());
}

fn is_whole(folder: &Path) {
    // Children of a killed command may hold the database for a moment.
    let checked = output(folder, &["tpce", "check", TARGET, "--wait=60s"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_that_is_killed_is_a_lost_target() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (run, children) = started(folder.path());
    signal("-KILL", children[1]);
    let ended = run.wait_with_output().expect("it ends");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("process 2 of 2 with users on sqlite:a.db?sync=off was lost"), "{said}");
    assert!(said.contains("signal: 9"), "{said}");
    gone(&children);
    is_void(folder.path(), "process 2 of 2 with users on sqlite:a.db?sync=off was lost");
    is_whole(folder.path());
}

/// The figures of the processes that were left are stored, without a headline.
fn is_void(folder: &Path, why: &str) {
    let run = RunFile::read(&run_files(folder)[0]).expect("a run file can be read back");
    let round = &run.cases[0].rounds[0];
    assert!(round.void.as_ref().is_some_and(|void| void.contains(why)), "{:?}", round.void);
    assert!(round.operations.iter().map(bourse_record::Operation::ended).sum::<u64>() > 0);
    assert!(round.checks.iter().all(|check| check.status != CheckStatus::Failed), "{:#?}", round.checks);
}

/// Process that no signal reached, so that the run waited without end.
#[test]
#[cfg(target_os = "linux")]
fn a_process_that_is_stopped_is_a_lost_target() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (run, children) = started_with(folder.path(), "10s");
    signal("-STOP", children[1]);
    let ended = run.wait_with_output().expect("it ends");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    let lost = "process 2 of 2 with users on sqlite:a.db?sync=off was lost";
    assert!(said.contains(lost) && said.contains("it gave no sign of life for 10 s, and was killed"), "{said}");
    gone(&children);
    is_void(folder.path(), lost);
    is_whole(folder.path());
}

#[test]
#[cfg(target_os = "linux")]
fn an_interruption_ends_a_process_that_is_stopped() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (run, children) = started(folder.path());
    signal("-STOP", children[1]);
    signal("-INT", run.id());
    let ended = run.wait_with_output().expect("it ends");
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    let words = "interrupted: process 2 of 2 with users on sqlite:a.db?sync=off gave no sign of life for 5 s";
    assert!(said.contains(words), "{said}");
    gone(&children);
    is_whole(folder.path());
}

#[test]
#[cfg(target_os = "linux")]
fn no_process_outlives_the_one_that_started_it() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (mut run, children) = started(folder.path());
    run.kill().expect("it can be killed");
    run.wait().expect("it has ended");
    gone(&children);
    is_whole(folder.path());
}

#[test]
#[cfg(target_os = "linux")]
fn an_interruption_ends_all_processes_and_keeps_what_was_measured() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let (run, children) = started(folder.path());
    sleep(Duration::from_secs(3));
    signal("-INT", run.id());
    let ended = run.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    gone(&children);
    let run = RunFile::read(&run_files(folder.path())[0]).expect("a run file can be read back");
    assert!(run.interrupted);
    let round = &run.cases[0].rounds[0];
    assert!(round.headline > 0.0 && round.measured_s < 40.0, "{} in {} s", round.headline, round.measured_s);
    assert!(round.checks.iter().all(|check| check.status != CheckStatus::Failed), "{:#?}", round.checks);
}
