//! Several drivers on one database, each with statements of its own: a round of SQLite's file, and of a PostgreSQL server.

use crate::{bourse, load, output, text};
use bourse_engine::Engine as _;
use bourse_record::{CheckStatus, Document as _, RunFile};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

const TARGET: &str = "sqlite:a.db?sync=off";

/// Starts a driver that writes its run into a folder named after its number.
fn drive(folder: &Path, target: &str, part: &str, more: &[&str]) -> Child {
    drive_workload(folder, "tpce", target, part, &[&["--market-users", "1"], more].concat())
}

fn drive_workload(folder: &Path, workload: &str, target: &str, part: &str, more: &[&str]) -> Child {
    let out = format!("out-{}", part.split('/').next().expect("a number"));
    let own = [workload, "run", target, "--part", part, "--coordinate", "unix:c", "-u", "1", "-o", &out];
    let arguments = [&own[..], more].concat();
    let mut command = bourse(folder, &arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started")
}

/// The exit code of a driver, its report and its stderr.
fn ended(driver: Child) -> (Option<i32>, String, String) {
    let ended = driver.wait_with_output().expect("it ends");
    (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
}

fn run_file(folder: &Path, number: u32) -> (PathBuf, RunFile) {
    let runs = fs::read_dir(folder.join(format!("out-{number}"))).expect("a run leaves a folder");
    let paths = runs.map(|run| run.expect("it can be read").path());
    // Their names begin with the time.
    let path = paths.max().expect("one run");
    let run = RunFile::read(&path.join("run.json")).expect("a run file can be read back");
    (path, run)
}

/// The journal's size and the time of its last change.
fn journal(folder: &Path) -> Option<(u64, SystemTime)> {
    let found = folder.join("a.db-wal").metadata().ok()?;
    Some((found.len(), found.modified().ok()?))
}

/// Waits until users have written since the journal had the state `before`.
fn begun(folder: &Path, before: Option<(u64, SystemTime)>) {
    let begun = (0..1_200).any(|_| {
        sleep(Duration::from_millis(50));
        let now = journal(folder);
        now != before && now.is_some_and(|(bytes, _)| bytes > 1 << 20)
    });
    assert!(begun, "the users write");
    sleep(Duration::from_secs(1));
}

#[test]
fn drivers_share_a_database_and_one_goes_on_when_the_other_is_killed() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    load(folder, TARGET);
    let short = ["--for", "2s", "--warmup", "1s"];
    // Drivers that come first wait for driver 1.
    let drivers = ["2/2", "1/2"].map(|part| drive(folder, TARGET, part, &short));
    for driver in drivers {
        let (code, report, said) = ended(driver);
        assert_eq!(code, Some(0), "{report}\n{said}");
        assert!(!report.contains("network, mean"), "no server stands between: {report}");
    }
    let runs = [1, 2].map(|number| run_file(folder, number));
    for (path, run) in &runs {
        let round = &run.cases[0].rounds[0];
        let failed: Vec<_> = round.checks.iter().filter(|check| check.status == CheckStatus::Failed).collect();
        assert!(failed.is_empty() && round.checks.len() > 90, "{}: {failed:#?}", path.display());
        assert_eq!((round.failed(), round.void.as_ref()), (0, None));
    }
    let clock = |at: usize| runs[at].1.cases[0].rounds[0].facts.iter().find(|fact| fact.name == "clock");
    assert!(
        clock(0).is_none() && clock(1).is_some_and(|fact| fact.value.contains("rows have driver 1's")),
        "{:?}",
        clock(1)
    );
    let paths = runs.each_ref().map(|(path, _)| path.display().to_string());
    let joined = output(folder, &["report", &paths[0], &paths[1]]);
    let report = text(&joined.stdout);
    assert_eq!(joined.status.code(), Some(0), "{}", text(&joined.stderr));
    assert!(report.contains("passed") && !report.contains("FAILED"), "{report}");
    let merged = output(folder, &["report", "merge", &paths[0], &paths[1], "-o", "merged"]);
    assert_eq!(merged.status.code(), Some(0), "{}", text(&merged.stderr));
    assert_eq!(text(&output(folder, &["report", "merged"]).stdout), report, "it is one run from then on");
    let alone = output(folder, &["report", "merge", &paths[0]]);
    assert!(text(&alone.stderr).contains("driver 2/2 of round"), "{}", text(&alone.stderr));

    let long = ["--for", "4s", "--warmup", "1s"];
    let before = journal(folder);
    let (stays, mut goes) = (drive(folder, TARGET, "1/2", &long), drive(folder, TARGET, "2/2", &long));
    begun(folder, before);
    goes.kill().expect("it can be killed");
    goes.wait().expect("it has ended");
    let (code, report, said) = ended(stays);
    assert_eq!(code, Some(0), "{report}\n{said}");
    assert!(report.contains("vanished before the end: driver 2/2"), "{report}");
    assert!(said.contains("lost driver 2/2 at "), "{said}");

    // Without driver 1 the gain of the database is unknown: figures are stored, but void.
    let before = journal(folder);
    let (mut first, second) = (drive(folder, TARGET, "1/2", &long), drive(folder, TARGET, "2/2", &long));
    begun(folder, before);
    first.kill().expect("it can be killed");
    first.wait().expect("it has ended");
    let (code, _, said) = ended(second);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("driver 1, which coordinates the round, was lost"), "{said}");
    let (_, run) = run_file(folder, 2);
    assert!(run.cases[0].rounds[0].void.is_some());
}

/// Rows of TATP do not show which driver wrote them: their growth cannot be judged.
#[test]
fn a_lost_driver_of_tatp_voids_the_round() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    assert!(output(folder, &["tatp", "load", TARGET, "--size", "2k"]).status.success());
    let long = ["--for", "4s", "--warmup", "1s", "--no-wait"];
    let before = journal(folder);
    let start = |part| drive_workload(folder, "tatp", TARGET, part, &long);
    let (stays, mut goes) = (start("1/2"), start("2/2"));
    begun(folder, before);
    goes.kill().expect("it can be killed");
    goes.wait().expect("it has ended");
    let (code, report, said) = ended(stays);
    assert_eq!(code, Some(2), "{report}\n{said}");
    let why = "driver 2/2 was lost, and what it has committed is unknown";
    assert!(said.contains("growth of the database could not be judged") && said.contains(why), "{said}");
    let (path, run) = run_file(folder, 1);
    let round = &run.cases[0].rounds[0];
    assert!(round.void.as_ref().is_some_and(|void| void.contains(why)), "{:?}", round.void);
    assert!(round.checks.iter().all(|check| check.status != CheckStatus::Failed), "{:#?}", round.checks);
    let again = text(&output(folder, &["report", &path.display().to_string()]).stdout);
    assert!(again.contains("vanished before the end: driver 2/2") && again.contains(why), "{again}");
}

#[test]
fn a_coordinator_that_is_lost_before_the_round_is_named() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    load(folder, TARGET);
    let short = ["--for", "1s", "--warmup", "0s"];
    let (mut first, mut second) = (drive(folder, TARGET, "1/3", &short), drive(folder, TARGET, "2/3", &short));
    let mut said = BufReader::new(second.stderr.take().expect("it is a pipe"));
    let mut words = String::new();
    while !words.contains("2 of 3 drivers are there") {
        assert!(said.read_line(&mut words).expect("it says UTF-8") > 0, "{words}");
    }
    first.kill().expect("it can be killed");
    first.wait().expect("it has ended");
    said.read_to_string(&mut words).expect("it says UTF-8");
    assert_eq!(second.wait().expect("it ends").code(), Some(2), "{words}");
    assert!(words.contains("did not begin\n  cause: the coordinator of the drivers was lost: "), "{words}");
}

#[test]
fn drivers_that_cannot_share_are_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let refused = |arguments: &[&str]| {
        let ended = output(folder, &[&["tpce", "run"], arguments].concat());
        let said = text(&ended.stderr);
        assert!(matches!(ended.status.code(), Some(1 | 2)), "{said}");
        said
    };
    let shared = ["--part", "1/2", "--coordinate", "127.0.0.1:1"];
    for (arguments, words) in [
        (&["sqlite:a.db", "--coordinate", "127.0.0.1:1"][..], "--part"),
        (&[&["sqlite::memory:"][..], &shared].concat(), "--coordinate cannot be used with sqlite::memory:"),
        (&[&["postgres+private:"][..], &shared].concat(), "its server belongs to one process"),
        (&[&["bourse://127.0.0.1:1"][..], &shared].concat(), "which coordinates its drivers"),
        (&[&["sqlite:a.db", "--find-max"][..], &shared].concat(), "--find-max cannot be used with --coordinate"),
        (
            &[&["sqlite:a.db", "sqlite:b.db"][..], &shared].concat(),
            "more than one target cannot be used with --coordinate",
        ),
        (&["sqlite:a.db", "--part", "1/2"], "--coordinate HOST:PORT"),
        (&["sqlite:a.db", "--part", "3/2", "--coordinate", "127.0.0.1:1"], "expected NUMBER/COUNT"),
        (&["sqlite:a.db", "--part", "1/2", "--coordinate", "nowhere"], "invalid value 'nowhere' for --coordinate"),
        (&["sqlite:a.db", "--part", "1/2", "--coordinate", "0.0.0.0:4781"], "no token is set"),
        (&["sqlite:a.db", "--part", "2/2", "--coordinate", "127.0.0.1:1", "--reload"], "driver 1 does"),
        (
            &["sqlite:a.db", "--part", "2/2", "--coordinate", "unix:none", "--gather", "1s"],
            "error: driver 1 does not answer at bourse+unix:none",
        ),
    ] {
        let said = refused(arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    assert!(!folder.join("a.db").exists(), "nothing is made");
}

/// Three drivers on a server: half a minute, and only if `BOURSE_LONG_TESTS` is set.
#[test]
fn three_drivers_share_a_server() {
    const NAME: &str = "coordinated::three_drivers_share_a_server";
    if std::env::var_os("BOURSE_LONG_TESTS").is_none() {
        return bourse_testkit::skipped(NAME, "BOURSE_LONG_TESTS is not set");
    }
    if let Err(why) = bourse_engine_postgres::installed(None) {
        return bourse_testkit::skipped(NAME, why);
    }
    let memory = if Path::new("/dev/shm").is_dir() { "?ram=on" } else { "" };
    let server = bourse_engine_postgres::open(&format!("postgres+private:{memory}")).expect("a target");
    drop(server.session().expect("the server starts"));
    let data = server.location().folder().expect("its files are here");
    let socket = data.parent().expect("its folder").to_owned();
    let target = format!("postgres://postgres@localhost/bourse?socket={}", socket.display());
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    let times = ["--for", "4s", "--warmup", "2s"];
    let sized = [&times[..], &["--customers", "3000", "--days", "1"]].concat();
    let drivers = [
        drive(folder, &target, "1/3", &sized),
        drive(folder, &target, "2/3", &times),
        drive(folder, &target, "3/3", &times),
    ];
    for driver in drivers {
        let (code, report, said) = ended(driver);
        assert_eq!(code, Some(0), "{report}\n{said}");
    }
    let paths = [1, 2, 3].map(|number| run_file(folder, number).0.display().to_string());
    let joined = output(folder, &["report", &paths[0], &paths[1], &paths[2]]);
    assert_eq!(joined.status.code(), Some(0), "{}", text(&joined.stderr));
    assert!(!text(&joined.stdout).contains("FAILED"), "{}", text(&joined.stdout));
}
