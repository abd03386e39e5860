//! Calls that never return: the round is lost, and the results before it are written.

use crate::{bourse, load_tatp, output, text};
use bourse_engine::{Access, Engine as _, Isolation};
use bourse_record::{Document as _, RunFile, Warning};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The only run file below `bourse-runs`.
fn run_file(folder: &Path) -> RunFile {
    let run = fs::read_dir(folder.join("bourse-runs")).expect("a run leaves a folder").next();
    RunFile::read(&run.expect("there is one").expect("it can be read").path().join("run.json")).expect("it can be read")
}

#[test]
fn a_round_of_its_own_process_is_lost_with_its_call() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let forever = "[[operation]]\nname = \"count\"\nsql = \"WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a FROM n) \
                   SELECT count(*) FROM n\"\n";
    fs::write(folder.path().join("forever.toml"), forever).expect("a file can be written");
    let arguments = ["micro", "run", "sql", "forever.toml", "sqlite::memory:", "--rounds", "2"];
    let begun = Instant::now();
    let short = ["--for", "200ms", "--warmup", "0s", "--call-limit", "500ms"];
    let ended = output(folder.path(), &[&arguments[..], &short].concat());
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("sqlite::memory: was lost: a call does not return"), "{said}");
    assert!(said.contains("sessions: user 1: count has not returned for "), "{said}");
    assert!(said.contains("waited: 0.5 s after the end of the measurement interval"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(60), "it was not waited for long");
}

#[test]
fn rounds_before_a_lost_one_are_written() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = "sqlite:a.db?busy_timeout=3600s";
    load_tatp(folder.path(), target);
    let arguments = ["tatp", "run", target, "--size", "1k", "--rounds", "2", "--check", "quick", "--users", "1"];
    let short = ["--for", "3s", "--warmup", "1s", "--call-limit", "1s", "--seed", "5"];
    let mut command = bourse(folder.path(), &[&arguments[..], &short].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
    let mut said = String::new();
    let mut locked = None;
    for line in BufReader::new(child.stderr.take().expect("it was asked for")).lines() {
        let line = line.expect("it says text");
        said.push_str(&format!("{line}\n"));
        if line.starts_with("running on") && line.contains("round 2 of 2") && locked.is_none() {
            std::thread::sleep(Duration::from_secs(1));
            // No other session can write while this transaction is open.
            let place = folder.path().join("a.db");
            let engine = bourse_engine_sqlite::open(&format!("sqlite:{}", place.display())).expect("a target");
            let mut session = engine.session().expect("the database is there");
            session.begin(Isolation::Serializable, Access::Write).expect("the others wait for the lock");
            locked = Some(session);
        }
    }
    let ended = child.wait().expect("it has ended");
    assert!(locked.is_some(), "there was a second round: {said}");
    assert_eq!(ended.code(), Some(2), "{said}");
    assert!(said.contains("was lost: a call does not return") && said.contains(" has not returned for "), "{said}");
    let run = run_file(folder.path());
    assert_eq!(run.cases[0].rounds.len(), 1);
    assert!(run.warnings.iter().any(|it| matches!(it, Warning::RoundLost { round: 2, .. })), "{:?}", run.warnings);
}

/// Regression: the thread that looks for lost calls asked a silent server for its sizes, and waited with the users.
#[cfg(unix)]
#[test]
fn a_server_that_falls_silent_in_a_round_is_lost_at_the_limit() {
    use bourse_engine_redis::{Product, installed};
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;
    use std::process::Command;
    if let Err(why) = installed(Product::Redis, None) {
        return bourse_testkit::skipped("lost::a_server_that_falls_silent_in_a_round_is_lost_at_the_limit", why);
    }
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let socket = folder.path().join("redis.sock");
    let mut server = Command::new("redis-server");
    server.args(["--port", "0", "--save", "", "--unixsocket"]).arg(&socket).current_dir(folder.path());
    let mut server = server.stdout(Stdio::null()).spawn().expect("it can be started");
    crate::waiting::wait_for("the server to listen", || UnixStream::connect(&socket).ok());
    let target = format!("redis:///0?socket={}", socket.display());
    let arguments = ["micro", "run", "update", &target, "-s", "rows=1000", "--rounds", "1", "--warmup", "0s"];
    let mut command = bourse(folder.path(), &[&arguments[..], &["--for", "4s", "--call-limit", "1s"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
    let mut said = BufReader::new(child.stderr.take().expect("it was asked for"));
    let mut line = String::new();
    while !line.starts_with(&target) {
        line.clear();
        assert_ne!(said.read_line(&mut line).expect("it says text"), 0, "it begins a round");
    }
    std::thread::sleep(Duration::from_secs(2));
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &server.id().to_string()]).status().expect("kill can be run");
        assert!(sent.success());
    };
    signal("-STOP");
    let begun = Instant::now();
    let ended = child.wait().expect("it ends");
    signal("-CONT");
    server.kill().expect("it runs");
    server.wait().expect("it ends");
    let mut words = String::new();
    said.read_to_string(&mut words).expect("it says text");
    assert_eq!(ended.code(), Some(2), "{words}");
    assert!(words.contains("was lost: a call does not return"), "{words}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}: {words}", begun.elapsed());
}
