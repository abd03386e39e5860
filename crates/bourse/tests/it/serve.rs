//! Driver and server apart: two drivers against one server, one killed in the middle; refusals; the end.

use crate::waiting::measuring;
use crate::{bourse, load, output, text};
use bourse_record::{CheckStatus, Document as _, RunFile};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A server in a process of its own, killed at the latest with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    fn start(folder: &Path, more: &[&str]) -> Self {
        Self::start_at(folder, "127.0.0.1:0", more)
    }

    fn start_at(folder: &Path, listen: &str, more: &[&str]) -> Self {
        let target = "sqlite:a.db?sync=off";
        Self::start_with(folder, &[&["tpce", "serve", target, "--days", "1", "--listen", listen][..], more].concat())
    }

    /// Starts a server by its command.
    pub(crate) fn start_with(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = bourse(folder, arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
        let mut url = String::new();
        let stdout = child.stdout.as_mut().expect("its output is a pipe");
        BufReader::new(stdout).read_line(&mut url).expect("it says where it listens");
        Self { child, url: url.trim().to_owned() }
    }

    /// Interrupts it; returns its exit code and its output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().expect("kill can be run");
        assert!(sent.success());
        let status = self.child.wait().expect("it ends");
        let mut said = String::new();
        let stderr = self.child.stderr.as_mut().expect("its errors are a pipe");
        stderr.read_to_string(&mut said).expect("it says UTF-8");
        (status.code(), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // If it has ended there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a driver that writes its run into `out`.
fn drive(folder: &Path, url: &str, part: &str, out: &str) -> Child {
    let arguments = ["tpce", "run", url, "--part", part, "--for", "5s", "--warmup", "1s", "-u", "1", "-o", out];
    let mut command = bourse(folder, &arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started")
}

fn run_file(folder: &Path, out: &str) -> (PathBuf, RunFile) {
    let path = fs::read_dir(folder.join(out)).expect("a run leaves a folder").next().expect("one run");
    let path = path.expect("it can be read").path();
    let run = RunFile::read(&path.join("run.json")).expect("a run file can be read back");
    (path, run)
}

#[test]
fn two_drivers_share_a_server_and_one_goes_on_when_the_other_is_killed() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    load(folder, "sqlite:a.db?sync=off");
    let server = Server::start(folder, &[]);

    let (one, other) = (drive(folder, &server.url, "1/2", "one"), drive(folder, &server.url, "2/2", "other"));
    for child in [one, other] {
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
        assert!(text(&ended.stdout).contains("network, mean"), "{}", text(&ended.stdout));
    }
    let (one, other) = (run_file(folder, "one"), run_file(folder, "other"));
    let paths = [&one.0, &other.0].map(|path| path.display().to_string());
    let joined = output(folder, &["report", &paths[0], &paths[1]]);
    let report = text(&joined.stdout);
    assert_eq!(joined.status.code(), Some(0), "{}", text(&joined.stderr));
    let sum: f64 = [&one.1, &other.1].map(|run| run.cases[0].rounds[0].headline).iter().sum();
    let headline = report.lines().find(|line| line.contains("TR/s")).expect("a headline");
    let results = headline.split_once(" TR/s").and_then(|(it, _)| it.split_whitespace().last());
    let shown: f64 = results.and_then(|word| word.replace(',', "").parse().ok()).expect("a figure");
    assert!((shown - sum).abs() < 0.01 * sum + 0.1, "{headline}: {sum}");
    assert!(report.contains(" transactions/s "), "{report}");
    assert!(report.contains("% of 2 TR/s: "), "{report}");
    assert!(report.contains("passed") && !report.contains("FAILED"), "{report}");
    let twice = output(folder, &["report", &paths[0], &paths[0]]);
    assert_eq!(twice.status.code(), Some(1));
    assert!(text(&twice.stderr).contains("driver 1/2 of round"), "{}", text(&twice.stderr));
    assert!(text(&twice.stderr).contains("given twice"), "{}", text(&twice.stderr));

    let (stays, mut goes) = (drive(folder, &server.url, "1/2", "stays"), drive(folder, &server.url, "2/2", "goes"));
    sleep(Duration::from_secs(4));
    goes.kill().expect("it can be killed");
    goes.wait().expect("it has ended");
    let ended = stays.wait_with_output().expect("it ends");
    let report = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{report}\n{}", text(&ended.stderr));
    assert!(report.contains("vanished before the end: driver 2/2"), "{report}");
    assert!(report.contains(" · driver 1 of 2, driver 2 of 2 is missing"), "{report}");
    let (path, run) = run_file(folder, "stays");
    let round = &run.cases[0].rounds[0];
    assert!(round.checks.len() > 90 && round.checks.iter().all(|check| check.status == CheckStatus::Passed));
    assert_eq!(round.shared.as_ref().expect("it is a part").vanished, [2]);
    // Runs of two rounds do not belong together.
    let mixed = output(folder, &["report", &path.display().to_string(), &paths[1]]);
    assert_eq!(mixed.status.code(), Some(1));
    assert!(text(&mixed.stderr).contains("drivers of different rounds"), "{}", text(&mixed.stderr));

    let (code, said) = server.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("lost driver 2/2 at "), "{said}");
    let checked = output(folder, &["tpce", "check", "sqlite:a.db?sync=off"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
}

#[test]
fn a_driver_takes_the_database_from_the_server_and_refuses_another() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    load(folder, "sqlite:a.db?sync=off");
    fs::write(folder.join("token"), "a secret of ours\n").expect("a file can be written");
    let server = Server::start(folder, &["--token-file", "token"]);
    let run = |more: &[&str]| {
        let arguments = [&["tpce", "run", &server.url, "--for", "1s", "--warmup", "1s"][..], more].concat();
        let ended = output(folder, &arguments);
        (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
    };
    let (code, _, said) = run(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("a token is required, and none was sent") && said.contains("BOURSE_TOKEN"), "{said}");
    let (code, _, said) = run(&["--token-file", "token", "--customers", "5000"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("serves a different database: customers: 5000 wanted, 1000 found"), "{said}");
    let (code, report, said) = run(&["--token-file", "token", "--days", "1", "--rounds", "2"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(report.contains("initial trade days: 1"), "{report}");
    let (_, run) = run_file(folder, "bourse-runs");
    let document = serde_json::to_string(&run).expect("a run file is JSON");
    assert!(!document.contains("a secret of ours"), "the token is nobody's business");
    assert!(run.cases[0].engine.settings.iter().any(|it| it.name == "served target" && it.value.contains("a.db")));

    let found = |round: usize| {
        let facts = &run.cases[0].rounds[round].facts;
        facts.iter().find(|fact| fact.name == "database").expect("it is told").value.clone()
    };
    assert!(found(0).contains("snapshot for further rounds taken in "), "{}", found(0));
    assert!(found(1).contains("to the state before the first round"), "{}", found(1));

    // A server that is interrupted in a round says so, and so does its driver.
    let arguments =
        ["tpce", "run", &server.url, "--token-file", "token", "--for", "60s", "--warmup", "1s", "-o", "cut"];
    let mut command = bourse(folder, &arguments);
    let driver = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
    sleep(Duration::from_secs(4));
    let (code, said) = server.end();
    assert_eq!(code, Some(130), "{said}");
    let ended = driver.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(2), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("the server was stopped"), "{}", text(&ended.stderr));
    assert!(said.contains("checks not run: the server was stopped") && !said.contains("lost driver"), "{said}");
    let (_, cut) = run_file(folder, "cut");
    assert!(cut.cases[0].rounds[0].measured_s > 0.5, "what was measured is kept");
}

/// A stopped server closes no connection. Its client noticed it after five minutes, whatever `--call-limit` and Ctrl-C said.
#[test]
fn a_server_that_is_stopped_is_noticed() {
    let signal = |name: &str, id: u32| {
        let sent = Command::new("kill").args([name, &id.to_string()]).status().expect("kill can be run");
        assert!(sent.success());
    };
    let stopped = |times: &[&str], interrupts: bool| {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let folder = folder.path();
        load(folder, "sqlite:a.db?sync=off");
        let server = Server::start(folder, &[]);
        let run = ["tpce", "run", &server.url, "-u", "2", "--warmup", "1s"];
        let mut command = bourse(folder, &[&run[..], times].concat());
        let driver = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
        measuring(folder);
        signal("-STOP", server.child.id());
        let begun = Instant::now();
        if interrupts {
            signal("-INT", driver.id());
        }
        let ended = driver.wait_with_output().expect("it ends");
        let said = text(&ended.stderr);
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}: {said}", begun.elapsed());
        let run = run_file(folder, "bourse-runs").1;
        assert_eq!(run.interrupted, interrupts);
        assert!(run.cases[0].rounds[0].void.is_some(), "it has no figure");
        (ended.status.code(), said)
    };
    let (code, said) = stopped(&["--for", "60s", "--call-limit", "3s"], false);
    assert!(code == Some(2) && said.contains("the server no longer answers"), "{code:?}: {said}");
    let (code, said) = stopped(&["--for", "60s"], true);
    assert_eq!(code, Some(130), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_socket_of_this_machine_is_driven_like_a_port() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let folder = folder.path();
    load(folder, "sqlite:a.db?sync=off");
    fs::write(folder.join("diary"), "dear diary").expect("a file can be written");
    let refused = output(folder, &["tpce", "serve", "sqlite:a.db?sync=off", "--days", "1", "--listen", "unix:diary"]);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
    let said = text(&refused.stderr);
    assert!(said.contains("cannot listen on diary") && said.contains("it is left as it is"), "{said}");
    assert_eq!(fs::read(folder.join("diary")).expect("it is still there"), b"dear diary");

    let server = Server::start_at(folder, "unix:s", &[]);
    assert!(server.url.starts_with("bourse+unix:/") && server.url.ends_with("/s"), "{}", server.url);
    let ended = output(folder, &["tpce", "run", &server.url, "--for", "1s", "--warmup", "1s", "-u", "1"]);
    let report = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{report}\n{}", text(&ended.stderr));
    assert!(report.contains("network, mean") && report.contains("bourse+unix:"), "{report}");
    let refused = output(folder, &["tpce", "check", &server.url]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("only `bourse tpce run` and `bourse tatp run` can use it"),
        "{}",
        text(&refused.stderr)
    );
    let (code, said) = server.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("this user's programs, and root's, may drive it"), "{said}");
    assert!(!folder.join("s").exists(), "the socket goes with its server");
}
