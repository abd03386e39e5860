//! Drivers on nodes of one machine: the table of docs/distributed.md. Starts Galera clusters of 1, 2 and 3 nodes, which
//! drivers reach by address like a user's own, and drives each with 1, 2 and 3 coordinated drivers.

use serde_json::Value;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest wait for a node, and for a command that loads or runs.
const NODE_TIMEOUT: Duration = Duration::from_secs(60);
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
        let cluster = Cluster::start(&folder.0.join(format!("cluster-{nodes}")), nodes)?;
        let target = cluster.target();
        bourse(&program, &folder.0, &["tpce", "load", &target, "--customers", &customers, "--days", "1"])
            .map(ended)??;
        for drivers in 1..=MAX_NODES {
            let row = row(&program, &folder.0, &target, (nodes, drivers), seconds)?;
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

/// Running nodes, each a child process.
struct Cluster {
    nodes: Vec<(Child, u16)>,
}

impl Cluster {
    fn start(folder: &Path, count: usize) -> Result<Self, String> {
        let io = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir(folder).map_err(io)?;
        // Taken together, so that all differ, and given back before the nodes take them.
        let taken: Vec<TcpListener> =
            (0..4 * count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>().map_err(io)?;
        let ports: Vec<u16> =
            taken.iter().map(|it| it.local_addr().map(|it| it.port())).collect::<Result<_, _>>().map_err(io)?;
        drop(taken);
        let mut cluster = Self { nodes: Vec::new() };
        let user = if fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0) {
            // The nodes of root change to the server's own user, who must own the folder.
            std::os::unix::fs::chown(folder, Some(server_user()?), None).map_err(io)?;
            vec!["--user=mysql"]
        } else {
            vec![]
        };
        // One node is started alone and stopped; all get copies of its data, so that none must send the others all of it.
        let seed = folder.join("node-1");
        let install = Command::new("mariadb-install-db")
            .arg("--no-defaults")
            .args(&user)
            .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
            .arg(format!("--datadir={}", seed.display()))
            .stdin(Stdio::null())
            .output();
        succeeded("mariadb-install-db", install)?;
        cluster.begin(folder, &user, 0, &ports)?;
        cluster.stop()?;
        for at in 1..count {
            let copy = folder.join(format!("node-{}", at + 1));
            succeeded("cp", Command::new("cp").arg("-a").args([&seed, &copy]).output())?;
        }
        for at in 0..count {
            cluster.begin(folder, &user, at, &ports)?;
        }
        Ok(cluster)
    }

    fn begin(&mut self, folder: &Path, user: &[&str], at: usize, ports: &[u16]) -> Result<(), String> {
        let log = folder.join(format!("node-{}.log", at + 1));
        // Output of an earlier start is obsolete; the server makes the file as its own user.
        let _ = fs::remove_file(&log);
        let child = node(folder, user, at, ports).spawn().map_err(|error| format!("mariadbd: {error}"))?;
        self.nodes.push((child, ports[4 * at]));
        self.wait(at, &log)
    }

    /// Shuts the only node down.
    fn stop(&mut self) -> Result<(), String> {
        let Some((mut child, port)) = self.nodes.pop() else { return Ok(()) };
        let port = format!("--port={port}");
        let shutdown = ["--no-defaults", "--user=root", "--host=127.0.0.1", &port, "shutdown"];
        succeeded("mariadb-admin", Command::new("mariadb-admin").args(shutdown).output())?;
        let begun = Instant::now();
        while child.try_wait().is_ok_and(|status| status.is_none()) {
            if begun.elapsed() > NODE_TIMEOUT {
                let _ = child.kill();
                return Err("the first node does not end".to_owned());
            }
            sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Waits until a node accepts clients and has the data of the others.
    fn wait(&mut self, at: usize, log: &Path) -> Result<(), String> {
        let begun = Instant::now();
        let (child, port) = &mut self.nodes[at];
        loop {
            let said = fs::read_to_string(log).unwrap_or_default();
            // A node that has joined says so before it takes clients.
            if said.contains("Synchronized with group")
                && said.contains("Version: '")
                && TcpStream::connect(("127.0.0.1", *port)).is_ok()
            {
                return Ok(());
            }
            let is_over = child.try_wait().is_ok_and(|status| status.is_some());
            if is_over || begun.elapsed() > NODE_TIMEOUT {
                // The first node sends the others what they lack: it may be the one that knows why they do not start.
                let first = log.with_file_name("node-1.log");
                let words = fs::read_to_string(first).unwrap_or_default();
                let end = |text: &str| text.get(text.len().saturating_sub(1_500)..).unwrap_or(text).to_owned();
                return Err(format!("node {} does not start: {}\nnode 1: {}", at + 1, end(&said), end(&words)));
            }
            sleep(Duration::from_millis(100));
        }
    }

    fn target(&self) -> String {
        let nodes: Vec<String> = self.nodes.iter().map(|(_, port)| format!("127.0.0.1:{port}")).collect();
        format!("galera://root@{}/tpce", nodes.join(","))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (child, _) in &mut self.nodes {
            // Its data goes too: nothing is to be saved.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn node(folder: &Path, user: &[&str], at: usize, ports: &[u16]) -> Command {
    let own = |which: usize| ports[4 * at + which];
    // The first node begins the cluster; later ones name the existing ones.
    let others: Vec<String> = (0..at).map(|other| format!("127.0.0.1:{}", ports[4 * other + 1])).collect();
    let mut command = Command::new("mariadbd");
    command.arg("--no-defaults").args(user).args([
        format!("--datadir={}/node-{}", folder.display(), at + 1),
        format!("--socket={}/s{}", folder.display(), at + 1),
        format!("--pid-file={}/pid{}", folder.display(), at + 1),
        format!("--log-error={}/node-{}.log", folder.display(), at + 1),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--port={}", own(0)),
        "--skip-name-resolve".to_owned(),
        "--innodb-buffer-pool-size=512M".to_owned(),
        "--innodb-flush-log-at-trx-commit=2".to_owned(),
        "--innodb-autoinc-lock-mode=2".to_owned(),
        "--binlog-format=ROW".to_owned(),
        "--wsrep-on=ON".to_owned(),
        format!("--wsrep-provider={}", provider()),
        "--wsrep-cluster-name=scaling".to_owned(),
        format!("--wsrep-cluster-address=gcomm://{}", others.join(",")),
        format!("--wsrep-node-address=127.0.0.1:{}", own(1)),
        format!(
            "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{};ist.recv_addr=127.0.0.1:{}",
            own(1),
            own(2)
        ),
        "--wsrep-sst-method=rsync".to_owned(),
        format!("--wsrep-sst-receive-address=127.0.0.1:{}", own(3)),
        "--wsrep-slave-threads=2".to_owned(),
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Number of the user that packages of Debian and Red Hat make for the server.
fn server_user() -> Result<u32, String> {
    let users = fs::read_to_string("/etc/passwd").map_err(|error| format!("/etc/passwd: {error}"))?;
    let line = users.lines().find_map(|line| line.strip_prefix("mysql:"));
    let number = line.and_then(|line| line.split(':').nth(1)?.parse().ok());
    number.ok_or_else(|| "there is no user mysql for the servers to run as".to_owned())
}

fn succeeded(what: &str, output: std::io::Result<std::process::Output>) -> Result<(), String> {
    let output = output.map_err(|error| format!("{what}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(format!("{what}: {}", String::from_utf8_lossy(&output.stderr))) }
}

/// Path of Galera's library on Debian or Red Hat.
fn provider() -> String {
    let known = ["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so"];
    known.iter().find(|path| Path::new(path).exists()).unwrap_or(&known[0]).to_string()
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
