//! Drivers on nodes of one machine: the table of docs/distributed.md. Drives Galera clusters of 1, 2 and 3 nodes, which
//! drivers reach by their sockets like a user's own, with 1, 2 and 3 coordinated drivers each.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest wait for a cluster that is loaded, and for a command that runs.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(600);
const MAX_NODES: usize = 3;

/// Measures and prints the table. Arguments: seconds of each run's interval, default 20; customers, default 3,000; and a
/// number of nodes, default each. `BOURSE_PROGRAM` names the program; otherwise a release build with Galera is made.
pub(crate) fn print(root: &Path, arguments: &[String]) -> Result<(), String> {
    let number = |at: usize, default: u32| match arguments.get(at) {
        None => Ok(default),
        Some(typed) => typed.parse().map_err(|_| format!("expected a number, found '{typed}'")),
    };
    let (seconds, customers, only) = (number(0, 20)?, number(1, 3_000)?.to_string(), number(2, 0)? as usize);
    let program = program(root, &[])?;
    let folder = Folder::new("scaling")?;
    println!(
        "| nodes | drivers | transactions/s | Trade-Results/s | driver's CPU per transaction | retried | failed | checks failed |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|");
    for nodes in (1..=MAX_NODES).filter(|nodes| only == 0 || only == *nodes) {
        let cluster = Cluster::start(&program, &folder.0, nodes, &customers)?;
        for drivers in 1..=MAX_NODES {
            let row = row(&program, &folder.0, &cluster.target, (nodes, drivers), seconds)?;
            println!("| {nodes} | {drivers} | {row} |");
        }
    }
    Ok(())
}

/// The program, built with these further arguments unless `BOURSE_PROGRAM` names another.
pub(crate) fn program(root: &Path, with: &[&str]) -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("BOURSE_PROGRAM") {
        return fs::canonicalize(&named).map_err(|error| format!("{}: {error}", Path::new(&named).display()));
    }
    super::cargo_with(&[&["build", "--release", "-p", "bourse"], with].concat(), &[])?;
    Ok(root.join("target/release/bourse"))
}

/// A folder that is removed at the end: in memory, if there is room for files.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Folder of that purpose.
    pub(crate) fn new(purpose: &str) -> Result<Self, String> {
        let memory = Path::new("/dev/shm");
        let below = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = below.join(format!("bourse-{purpose}-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed has this process's number in its name.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Cluster of a server of Bourse, which has loaded its database and which no driver calls.
struct Cluster {
    server: StartedRun,
    /// The nodes by their sockets.
    target: String,
}

impl Cluster {
    fn start(program: &Path, folder: &Path, nodes: usize, customers: &str) -> Result<Self, String> {
        let data = folder.join(format!("cluster-{nodes}"));
        fs::create_dir(&data).map_err(|error| format!("{}: {error}", data.display()))?;
        let ready = folder.join(format!("ready-{nodes}"));
        let private = format!("mariadb+galera:{}?nodes={nodes}&flush_log=2&innodb_buffer_pool=512MiB", data.display());
        let listen = format!("unix:{}", ready.display());
        let loaded = ["tpce", "serve", &private, "--customers", customers, "--days", "1", "--workers", "1"];
        let server = bourse(program, folder, &[&loaded[..], &["--listen", &listen]].concat())?;
        let mut this = Self { server, target: String::new() };
        let begun = Instant::now();
        while !ready.exists() {
            let is_over = this.server.child.try_wait().is_ok_and(|status| status.is_some());
            if is_over || begun.elapsed() > COMMAND_TIMEOUT {
                let said = fs::read_to_string(&this.server.said).unwrap_or_default();
                return Err(format!("the cluster does not start:\n{}", said.trim_end()));
            }
            sleep(Duration::from_millis(100));
        }
        let folders = fs::read_dir(&data).map_err(|error| format!("{}: {error}", data.display()))?;
        let sockets = folders.flatten().map(|it| it.path().join("s")).filter(|it| it.exists());
        let sockets: Vec<String> = sockets.map(|it| it.display().to_string().replace('/', "%2F")).collect();
        this.target = format!("galera://root@{}/bourse", sockets.join(","));
        Ok(this)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The nodes end with their server, also if that is killed.
        let asked = Command::new("kill").arg(self.server.child.id().to_string()).status();
        if !asked.is_ok_and(|status| status.success()) {
            let _ = self.server.child.kill();
        }
        let _ = self.server.child.wait();
    }
}

/// A run of Bourse, and the file with its output.
struct StartedRun {
    child: Child,
    said: PathBuf,
}

fn bourse(program: &Path, folder: &Path, arguments: &[&str]) -> Result<StartedRun, String> {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let said = folder.join(format!("said-{}.log", STARTED.fetch_add(1, Ordering::Relaxed)));
    let log = fs::File::create(&said).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("BOURSE_CHECK", "quick").stdin(Stdio::null());
    let child = command.stdout(Stdio::null()).stderr(log).spawn();
    let child = child.map_err(|error| format!("{}: {error}", program.display()))?;
    Ok(StartedRun { child, said })
}

fn ended(started: StartedRun) -> Result<(), String> {
    let StartedRun { mut child, said } = started;
    let begun = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            // Exit code 5 and the like are reported by the checks of the row.
            Some(status) => {
                let said = fs::read_to_string(&said).unwrap_or_default();
                return Err(format!("bourse ended with {status}:\n{}", said.trim_end()));
            }
            None if begun.elapsed() > COMMAND_TIMEOUT => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("bourse did not end within {} s", COMMAND_TIMEOUT.as_secs()));
            }
            None => sleep(Duration::from_millis(50)),
        }
    }
}

/// One row: all drivers of a round, with their figures added.
fn row(program: &Path, folder: &Path, target: &str, size: (usize, usize), seconds: u32) -> Result<String, String> {
    let (nodes, drivers) = size;
    let (place, interval) = (format!("unix:{}/c", folder.display()), format!("{seconds}s"));
    let outs: Vec<String> = (1..=drivers).map(|number| format!("out-{nodes}-{drivers}-{number}")).collect();
    let mut children = Vec::new();
    for (number, out) in (1..).zip(&outs) {
        let part = format!("{number}/{drivers}");
        let own = ["--part", &part, "--coordinate", &place, "--users", "2", "--market-users", "1", "-o", out];
        let same = ["tpce", "run", target, "--for", &interval, "--warmup", "5s"];
        children.push(bourse(program, folder, &[&same[..], &own].concat())?);
    }
    let results: Vec<Result<(), String>> = children.into_iter().map(ended).collect();
    results.into_iter().collect::<Result<Vec<()>, _>>()?;
    let mut sum = Sum::default();
    let mut runs = Vec::new();
    for out in &outs {
        let found = fs::read_dir(folder.join(out)).map_err(|error| format!("{out}: {error}"))?.next();
        let run = found.ok_or("a driver left no run")?.map_err(|error| error.to_string())?.path();
        let text = fs::read_to_string(run.join("run.json")).map_err(|error| error.to_string())?;
        sum.add(&serde_json::from_str(&text).map_err(|error| error.to_string())?);
        runs.push(run.display().to_string());
    }
    let report: Vec<&str> = std::iter::once("report").chain(runs.iter().map(String::as_str)).collect();
    bourse(program, folder, &report).map(ended)??;
    Ok(sum.words())
}

/// Figures of all drivers.
#[derive(Default)]
struct Sum {
    transactions: f64,
    per_second: f64,
    results: f64,
    cpu_s: f64,
    retries: f64,
    failed: f64,
    checks_failed: usize,
}

impl Sum {
    fn add(&mut self, run: &Value) {
        let round = &run["cases"][0]["rounds"][0];
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut ended = 0.0;
        for operation in list(&round["operations"]) {
            self.retries += number(&operation["retries"]);
            for outcome in list(&operation["outcomes"]) {
                match outcome["outcome"].as_str() {
                    Some("failed") => self.failed += number(&outcome["count"]),
                    _ => ended += number(&outcome["count"]),
                }
            }
        }
        self.transactions += ended;
        self.per_second += ended / number(&round["measured_s"]);
        self.results += number(&round["headline"]);
        self.cpu_s += number(&round["cpu_user_s"]) + number(&round["cpu_system_s"]);
        self.checks_failed += list(&round["checks"]).iter().filter(|check| check["status"] == "failed").count();
    }

    fn words(&self) -> String {
        let Self { per_second, results, retries, failed, checks_failed, .. } = self;
        let cpu_us = 1e6 * self.cpu_s / self.transactions;
        format!("{per_second:.0} | {results:.0} | {cpu_us:.0} µs | {retries} | {failed} | {checks_failed}")
    }
}
