//! The brokerage workload as a case of a suite: a run of `bourse tpce run` of its own for each round, on a fresh copy of the
//! loaded database, in process or through `bourse tpce serve`.

use crate::args::Arguments;
use crate::engines;
use crate::failure::{Exit, Failure};
use crate::micro::child::{Answer, said, wait};
use bourse_record::RunFile;
use clap::CommandFactory as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Name of the workload in suites.
pub(super) const WORKLOAD: &str = "tpce";

/// Options of a suite's case, and those of `bourse tpce run`.
const OPTIONS: [(&str, &str); 4] =
    [("customers", "--customers"), ("days", "--days"), ("scale_factor", "--scale-factor"), ("users", "--users")];

/// What a round is to be.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) target: String,
    pub(super) served: bool,
    pub(super) options: Vec<(String, String)>,
    pub(super) seconds: f64,
    pub(super) warm_up_s: f64,
    pub(super) seed: u64,
    /// Folder for databases.
    pub(super) data: PathBuf,
}

/// Options that no brokerage workload has.
pub(super) fn unknown(options: &[(String, String)]) -> Option<&str> {
    let known = |name: &str| OPTIONS.iter().any(|(known, _)| *known == name);
    options.iter().map(|(name, _)| name.as_str()).find(|name| !known(name))
}

/// Whether this program can serve a database to drivers.
pub(super) fn can_serve() -> Result<(), String> {
    let program = Arguments::command();
    let served = program.find_subcommand("tpce").and_then(|tpce| tpce.find_subcommand("serve")).is_some();
    if served { Ok(()) } else { Err("this program has no application server".to_owned()) }
}

/// Runs a round and tells what came of it, as a round of a classic workload does.
pub(super) fn run(order: &Order, interrupted: &AtomicBool) -> Result<Answer, Failure> {
    fresh_copy(order, interrupted)?;
    let mut server = None;
    let mut target = order.target.clone();
    if order.served {
        let started = Server::start(order, interrupted)?;
        target.clone_from(&started.address);
        server = Some(started);
    }
    let mut command = program()?;
    command.args(["tpce", "run", &target, "--json", "--rounds", "1", "--check", "quick"]);
    command.args(["--for", &time(order.seconds), "--warmup", &time(order.warm_up_s)]);
    command.args(["--seed", &order.seed.to_string(), "-o"]).arg(order.data.join("runs"));
    // A server has its database: what it is made of is the server's to say.
    for (name, value) in order.options.iter().filter(|(name, _)| !order.served || name == "users") {
        let (_, flag) = OPTIONS.iter().find(|(known, _)| known == name).expect("options were checked");
        command.args([flag, value.as_str()]);
    }
    let ended = finish(command, interrupted)?;
    drop(server);
    let file = RunFile::parse(ended.stdout.as_bytes(), Path::new("the run's document"));
    let mut file = match (file, ended.code) {
        (Ok(file), _) => file,
        (Err(_), code) if code != Some(0) => {
            return Err(Failure::new(Exit::Target, said(&ended.stderr, "the brokerage workload failed")));
        }
        (Err(error), _) => return Err(Failure::new(Exit::Target, error.to_string())),
    };
    let case = file.cases.pop().filter(|case| !case.rounds.is_empty());
    let Some(mut case) = case else {
        return Err(Failure::new(Exit::Target, said(&ended.stderr, "the brokerage workload measured nothing")));
    };
    let round = case.rounds.swap_remove(0);
    let fault = (ended.code == Some(Exit::Target as i32)).then(|| said(&ended.stderr, "the target failed"));
    Ok(Answer { round, engine: case.engine, warnings: Vec::new(), interrupted: file.interrupted, fault })
}

/// The database in a file as it was loaded. It is loaded once, beside the copies.
fn fresh_copy(order: &Order, interrupted: &AtomicBool) -> Result<(), Failure> {
    let Some(file) = file_of(order) else { return Ok(()) };
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let loaded = file.with_file_name(format!("loaded-{name}"));
    if !loaded.exists() {
        let mut command = program()?;
        let target = order.target.replace(&name, &format!("loaded-{name}"));
        command.args(["tpce", "load", &target]);
        for (name, value) in order.options.iter().filter(|(name, _)| name != "users") {
            let (_, flag) = OPTIONS.iter().find(|(known, _)| known == name).expect("options were checked");
            command.args([flag, value.as_str()]);
        }
        let ended = finish(command, interrupted)?;
        if ended.code != Some(0) {
            return Err(Failure::new(Exit::Target, said(&ended.stderr, "the database could not be loaded")));
        }
    }
    let beside = |path: &Path, ending: &str| PathBuf::from(format!("{}{ending}", path.display()));
    let copied = || {
        for ending in ["-wal", "-shm", "-journal"] {
            let old = beside(&file, ending);
            if old.exists() {
                std::fs::remove_file(old)?;
            }
        }
        let log = beside(&loaded, "-wal");
        if log.exists() {
            std::fs::copy(log, beside(&file, "-wal"))?;
        }
        std::fs::copy(&loaded, &file)
    };
    copied().map(|_| ()).map_err(|error| {
        Failure::new(Exit::Target, "the loaded database cannot be copied")
            .detail("to", file.display().to_string())
            .detail("cause", error.to_string())
    })
}

/// The file a target's database lies in, if it lies in our folder.
fn file_of(order: &Order) -> Option<PathBuf> {
    Some(order.data.join(Path::new(engines::sqlite_file(&order.target)?).file_name()?))
}

fn time(seconds: f64) -> String {
    format!("{}ms", (seconds * 1e3).round() as u64)
}

/// This program, to end with us whatever becomes of us.
fn program() -> Result<Command, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(Exit::Target, format!("this program cannot be found: {error}")))?;
    let mut command = Command::new(program);
    command.env(crate::interrupt::END_WITH_PARENT, "1").stdin(Stdio::null());
    Ok(command)
}

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn finish(mut command: Command, interrupted: &AtomicBool) -> Result<Ended, Failure> {
    let lost = |error: std::io::Error| Failure::new(Exit::Target, format!("a round was lost: {error}"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(lost)?;
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let status = wait(&mut child, interrupted).map_err(lost)?;
    let text = |reader: std::thread::JoinHandle<String>| reader.join().expect("reading does not panic");
    Ok(Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) })
}

/// Reads all that comes, so that no pipe is ever full.
fn reader(from: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut from) = from {
            // What it said as far as it can be read is better than nothing.
            let _ = from.read_to_string(&mut text);
        }
        text
    })
}

/// An application server of our own, ended with the round.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(order: &Order, interrupted: &AtomicBool) -> Result<Self, Failure> {
        let lost = |why: String| Failure::new(Exit::Target, format!("the application server did not start: {why}"));
        let mut command = program()?;
        command.args(["tpce", "serve", &order.target, "--listen", "127.0.0.1:0"]);
        for (name, value) in order.options.iter().filter(|(name, _)| name != "users") {
            let (_, flag) = OPTIONS.iter().find(|(known, _)| known == name).expect("options were checked");
            command.args([flag, value.as_str()]);
        }
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| lost(error.to_string()))?;
        let (stdout, stderr) = (child.stdout.take(), reader(child.stderr.take()));
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stdout.expect("it was asked for")).lines();
            while let Some(Ok(line)) = lines.next() {
                // Nobody listens any more once the address is known.
                let _ = sender.send(line);
            }
        });
        let mut server = Self { child, address: String::new() };
        // It says its address when it has loaded its database, which may take minutes.
        loop {
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok(line) if line.starts_with("bourse://") => {
                    server.address = line.trim().to_owned();
                    return Ok(server);
                }
                Ok(_) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                    if interrupted.load(Ordering::Relaxed) {
                        return Err(lost("interrupted".to_owned()));
                    }
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    server.end();
                    let words = stderr.join().expect("reading does not panic");
                    return Err(lost(said(&words, "it ended without a word")));
                }
            }
        }
    }

    /// Asks it to end, and makes it end if it does not.
    fn end(&mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        // One that has ended already needs no telling.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        for _ in 0..100 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
