//! Unfinished runs that are followed: by a scraper, by `bourse watch`, by the view of `--live`; and the known state of a
//! killed one.

use crate::waiting::{measuring, run_folder, wait_for};
use crate::{bourse, one_line, output, start, text};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The samples of operations served at an address.
fn scraped(address: &str) -> Option<BTreeMap<String, f64>> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("text/plain; version=0.0.4"), "{head}");
    assert!(body.contains("# TYPE bourse_operations_total counter\n"), "{body}");
    let samples = body.lines().filter(|line| line.starts_with("bourse_operations_total{"));
    Some(
        samples
            .filter_map(|line| Some((line.rsplit_once(' ')?.0.to_owned(), line.rsplit_once(' ')?.1.parse().ok()?)))
            .collect(),
    )
}

/// Point reads at a rate that leaves the processors to other tests.
const POINT_READ: [&str; 8] = ["micro", "run", "point-read", "sqlite::memory:", "-s", "rows=1000", "--rate", "500"];

fn long_run(folder: &Path) -> Child {
    start(folder, &[&POINT_READ[..], &["--rounds", "20", "-T", "2s"]].concat())
}

#[test]
fn figures_of_each_second_are_served_and_counts_grow() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let arguments = [&POINT_READ[..], &["--rounds", "1", "-T", "6s", "--metrics", "127.0.0.1:0"]].concat();
    let mut child = bourse(folder.path(), &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut said = BufReader::new(child.stderr.take().expect("it was asked for")).lines();
    let address = said.find_map(|line| {
        let line = line.expect("it says text");
        Some(line.strip_prefix("metrics: http://")?.strip_suffix("/metrics")?.to_owned())
    });
    let address = address.expect("it says where");
    let reader = std::thread::spawn(move || said.map_while(Result::ok).collect::<Vec<_>>());
    let counted = |least: f64| {
        wait_for("counts that grow", || {
            let samples = scraped(&address)?;
            let (labels, count) = samples.into_iter().find(|(labels, _)| labels.contains("outcome=\"valid\""))?;
            (count > least).then_some((labels, count))
        })
    };
    let (labels, first) = counted(0.0);
    assert_eq!(
        labels,
        "bourse_operations_total{run=\"micro-point-read\",case=\"sqlite::memory:\",workload=\"point-read\",operation=\"read\",\
         outcome=\"valid\"}"
    );
    let (_, second) = counted(first);
    assert!(second > first && first > 0.0, "{first} {second}");
    assert!(child.wait().expect("it ends").success(), "{:?}", reader.join());
    let run = run_folder(folder.path()).expect("its folder is there");
    assert!(run.join("run.json").is_file() && !run.join("live.ndjson").exists(), "what was told of is in its document");
    assert!(TcpStream::connect(&address).is_err(), "nobody listens any more");
}

#[test]
fn an_address_that_is_taken_is_refused_before_anything_is_run() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = taken.local_addr().expect("it has an address").port().to_string();
    let refused = output(folder.path(), &["tpce", "run", "sqlite:a.db", "--days", "1", "--metrics", &port]);
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(said.contains(&format!("error: cannot serve --metrics at 127.0.0.1:{port}\n")), "{said}");
    assert_eq!(folder.path().read_dir().expect("it can be read").count(), 0, "nothing was made: {said}");
    let elsewhere = output(folder.path(), &["watch", "--page", "0.0.0.0:0"]);
    let said = text(&elsewhere.stderr);
    assert!(elsewhere.status.code() == Some(1) && said.contains("expected an address of this machine alone"), "{said}");
}

#[test]
fn a_view_that_nobody_would_see_is_refused() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let refused = output(folder.path(), &[&POINT_READ[..], &["--live"]].concat());
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    let why = if cfg!(feature = "live") { "--live needs a terminal" } else { "--live is not in this build" };
    assert!(said.starts_with(&format!("error: {why}")) && said.contains("hint: `bourse watch`"), "{said}");
    assert_eq!(folder.path().read_dir().expect("it can be read").count(), 0, "nothing was made");
    let planned = output(folder.path(), &[&POINT_READ[..], &["--live", "--dry-run"]].concat());
    assert!(planned.status.success(), "a plan is no run: {}", text(&planned.stderr));
}

#[test]
fn a_run_is_watched_until_it_ends() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut child = start(folder.path(), &[&POINT_READ[..], &["--rounds", "2", "-T", "3s"]].concat());
    let run = measuring(folder.path());
    let watched = output(folder.path(), &["watch"]);
    let said = text(&watched.stdout);
    assert_eq!(watched.status.code(), Some(0), "{said}{}", text(&watched.stderr));
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() >= 3 && lines.iter().all(|line| line.starts_with("micro-point-read")), "{said}");
    let second = lines.iter().find(|line| line.contains("measuring, ")).expect("it was measuring");
    let parts = ["  round ", " of 2  ", " a second  p50 ", ", p99 ", "  0 failed  ", " since the start"];
    assert!(parts.iter().all(|part| second.contains(part)), "{second}");
    assert!(lines.last().expect("there are lines").contains("  finished  "), "{said}");
    assert!(child.wait().expect("it ends").success());
    let later = output(folder.path(), &["watch", &run.display().to_string()]);
    assert!(later.status.success() && text(&later.stdout).contains("has ended: `bourse runs show"), "{later:?}");
}

#[test]
fn a_page_follows_a_run() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut child = long_run(folder.path());
    let run = measuring(folder.path());
    let mut watch = bourse(folder.path(), &["watch", &run.display().to_string(), "--page"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut line = String::new();
    BufReader::new(watch.stderr.take().expect("it was asked for")).read_line(&mut line).expect("it says text");
    let address = line.trim().strip_prefix("page: http://").and_then(|it| it.strip_suffix('/')).expect("it says where");
    let get = |path: &str| {
        let mut stream = TcpStream::connect(address).expect("somebody listens");
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    let page = get("/");
    assert!(
        page.contains("Content-Security-Policy: default-src 'none';") && page.contains("sqlite::memory:"),
        "{page}"
    );
    assert!(
        wait_for("a curve", || Some(get("/now")).filter(|now| now.contains("class=\"plot\""))).contains("a second")
    );
    assert!(get("/live.js").contains("fetch(") && get("/metrics").contains("bourse_phase{"));
    watch.kill().expect("it can be killed");
    watch.wait().expect("it has ended");
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");
}

#[test]
fn a_run_that_was_killed_is_told_from_one_that_goes_on() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut child = long_run(folder.path());
    let run = measuring(folder.path());
    let name = run.file_name().expect("it has a name").to_str().expect("our names are text").to_owned();
    let listed = || one_line(&text(&output(folder.path(), &["runs", "ls"]).stdout));
    assert!(listed().contains(&format!("running: {name} micro-point-read")), "{}", listed());
    let refused = output(folder.path(), &["runs", "rm", &name]);
    assert!(refused.status.code() == Some(1) && text(&refused.stderr).contains("it goes on"), "{refused:?}");
    let watch = bourse(folder.path(), &["watch", &name])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    sleep(Duration::from_millis(500));
    child.kill().expect("it can be killed");
    child.wait().expect("it has ended");
    let begin = Instant::now();
    let watched = watch.wait_with_output().expect("it ends");
    let said = text(&watched.stderr);
    assert!(begin.elapsed() < Duration::from_secs(10), "it hung for {:?}", begin.elapsed());
    assert_eq!(watched.status.code(), Some(2), "{said}");
    assert!(
        said.contains("error: the run was ended from outside") && said.contains("last known: micro-point-read"),
        "{said}"
    );
    assert!(listed().contains(&format!("ended from outside: {name} (`bourse runs rm {name}`")), "{}", listed());
    let none = output(folder.path(), &["watch"]);
    assert!(
        none.status.code() == Some(1) && text(&none.stderr).contains("no unfinished run in bourse-runs"),
        "{none:?}"
    );
    let removed = output(folder.path(), &["runs", "rm", &name]);
    assert!(removed.status.success() && !run.exists(), "{removed:?}");
    assert!(!listed().contains(&name), "{}", listed());
}

/// A terminal that is closed amid a run: results until then are written, and nothing hangs. With the view and without it.
#[test]
#[cfg(target_os = "linux")]
fn a_run_ends_with_its_terminal() {
    if crate::waiting::ignores_hangups() {
        return bourse_testkit::skipped(
            "live::a_run_ends_with_its_terminal",
            "hangups are ignored here, as by `nohup`",
        );
    }
    for view in ["", "--live"].into_iter().filter(|view| cfg!(feature = "live") || view.is_empty()) {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let program = env!("CARGO_BIN_EXE_bourse");
        let command = format!("'{program}' {} --rounds 1000 -T 1s --no-repeat {view}", POINT_READ.join(" "));
        // Makes a terminal of its own, which goes when it is killed.
        let terminal = Command::new("script")
            .args(["-q", "-c", &command, "/dev/null"])
            .env("TERM", "xterm")
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut terminal) = terminal else {
            return bourse_testkit::skipped(
                "live::a_run_ends_with_its_terminal",
                "there is no `script`, which makes a terminal",
            );
        };
        let run = measuring(folder.path());
        let told = std::fs::read_to_string(run.join("live.ndjson")).expect("it can be read");
        let (_, process) = told.split_once("\"process\":").expect("the first line has it");
        let process: u32 = process.split(',').next().and_then(|id| id.parse().ok()).expect("it is a number");
        wait_for("the second round", || {
            std::fs::read_to_string(run.join("live.ndjson")).ok()?.contains("\"round_done\"").then_some(())
        });
        terminal.kill().expect("it can be killed");
        terminal.wait().expect("it has ended");
        wait_for("the end of the program", || {
            let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // A zombie has ended too.
            (status.is_empty() || status.contains(") Z ")).then_some(())
        });
        let file = std::fs::read_to_string(run.join("run.json")).expect("what was measured is written");
        assert!(file.contains("\"interrupted\": true"), "with {view:?}: {file}");
        assert!(!run.join("live.ndjson").exists());
    }
}
