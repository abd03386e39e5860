//! Users in several processes that have the same database open. This process opens the round and checks the database after
//! it; it starts a process for each part of the users, all at the same reading of a shared clock, and merges their figures.
//!
//! They share one count of trades: a file whose position the operating system moves forward, inherited by each as its standard
//! output, which is how a process gets a descriptor without unsafe code. Each talks with this one over a socket, its standard
//! input. Each has a market exchange of its own for the orders of its users; prices follow from the time since the common
//! beginning, so all show the same.

use super::brokerage::run_failure;
use super::lost::{Ending, lost};
use super::{RunContext, child};
use crate::failure::{Exit, Failure};
use crate::plan::Brokerage;
use crate::{engines, interrupt, panics, progress};
use bourse_driver::{Clock, MS, Nanos, Progress, RealClock, SharedClock};
use bourse_engine::Engine;
use bourse_record::{NameValue, SeriesRow};
use bourse_schema::TradeId;
use bourse_tpce::sut::{BrokerageHouse, Joined, OpenError, Opened};
use bourse_tpce::transactions::TradeIds;
use bourse_tpce::users::{self, Ran, RunOptions};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between the announcement of the begin and the begin.
const LEAD: Nanos = 50 * MS;

/// Request to a process of users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Request {
    target: String,
    job: Brokerage,
    /// Seed of the round.
    seed: u64,
    /// Number of the process, from 1.
    number: u32,
    opened: Opened,
    /// The first number of a trade of this round.
    first_trade: i64,
    clock: SharedClock,
}

impl Request {
    /// The database, as a URL.
    pub(super) fn target(&self) -> &str {
        &self.target
    }
}

/// The common begin of all processes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Begin {
    at: Nanos,
}

/// Message of a process of users.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum News {
    /// All its users wait for the beginning.
    Ready,
    /// Once a second.
    Progress(Progress),
    /// The end of the process's part of the round.
    Ended(Box<Result<Ran, Failure>>),
}

/// Runs a round with its users in several processes.
pub(super) fn run(
    engine: &dyn Engine,
    target: &str,
    job: &Brokerage,
    options: &RunOptions,
    context: &RunContext,
    say: &mut dyn FnMut(&Progress),
) -> Result<Ran, Failure> {
    let open = BrokerageHouse::open(engine, options.part, &context.clock);
    let (house, opened) = open.map_err(|error| run_failure(target, &error.into()))?;
    let (sender, news) = mpsc::channel();
    let mut processes = Processes::default();
    let position = tempfile::tempfile().map_err(|error| cannot_start(target, &error))?;
    let first_trade = house.next_trade().0;
    for number in 1..=options.processes {
        let request = Request {
            target: target.to_owned(),
            // The database may have another size than the options name.
            job: Brokerage { database: job.database.of_size(options.part), ..job.clone() },
            seed: options.seed,
            number,
            opened: opened.clone(),
            first_trade,
            clock: context.clock.shared(),
        };
        processes.start(request, &position, sender.clone()).map_err(|error| cannot_start(target, &error))?;
    }
    drop(sender);
    let mut latest = vec![None; processes.all.len()];
    let mut failure = None;
    while processes.all.iter().any(|process| process.ended.is_none()) {
        match news.recv_timeout(Duration::from_millis(20)) {
            Ok((at, Some(News::Ready))) => {
                processes.all[at].is_ready = true;
                if processes.all.iter().all(|process| process.is_ready) {
                    processes.begin(context.clock.now() + LEAD);
                }
            }
            Ok((at, Some(News::Progress(progress)))) => {
                if let Some(lost) = lost(target, &progress, context.call_limit_ns) {
                    // A lost call cannot be ended: all processes are killed.
                    return Err(lost.detail("process", format!("{} of {}", at + 1, options.processes)));
                }
                latest[at] = Some(progress);
                merged(&latest).iter().for_each(&mut *say);
            }
            Ok((at, Some(News::Ended(ended)))) => {
                let is_whole = ended.as_ref().as_ref().is_ok_and(|ran| ran.fault.is_none());
                if let Err(first) = ended.as_ref() {
                    failure.get_or_insert_with(|| first.clone());
                }
                processes.all[at].ended = Some(*ended);
                if !is_whole {
                    processes.stop();
                }
            }
            Ok((at, None)) if processes.all[at].ended.is_none() => {
                return Err(match context.is_interrupted() {
                    true => interrupt::interrupted("a process of users ended before it could tell what it measured"),
                    false => processes.lost(at, target),
                });
            }
            Ok((_, None)) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if context.is_interrupted() {
            processes.stop();
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let parts = processes.all.iter_mut().filter_map(|process| process.ended.take()?.ok()).collect();
    let ran = users::together(parts, &opened, options);
    let mut ran =
        ran.map_err(|error| Failure::new(Exit::Target, format!("cannot merge the processes' figures: {error}")))?;
    pending_orders(engine, &mut ran);
    Ok(ran)
}

/// Records the number of pending limit orders, counted once for all processes.
fn pending_orders(engine: &dyn Engine, ran: &mut Ran) {
    const NAME: &str = "limit orders pending at the end";
    ran.round.facts.retain(|fact| !fact.name.ends_with(NAME));
    if let Ok(pending) = BrokerageHouse::pending_orders(engine) {
        ran.round.facts.push(NameValue { name: NAME.to_owned(), value: pending.to_string() });
    }
}

fn cannot_start(target: &str, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Target, format!("cannot start a process of users on {target}"))
        .detail("cause", error.to_string())
}

/// Progress of all processes together.
fn merged(latest: &[Option<Progress>]) -> Option<Progress> {
    latest.iter().flatten().cloned().reduce(|sum, each| Progress {
        throughput: sum.throughput.iter().zip(&each.throughput).map(|(sum, each)| sum + each).collect(),
        failures: sum.failures + each.failures,
        // Quantiles cannot be added: the worst of them.
        response_ns: match (sum.response_ns, each.response_ns) {
            (Some(one), Some(other)) => Some(std::array::from_fn(|at| one[at].max(other[at]))),
            (one, other) => one.or(other),
        },
        queue_length: sum.queue_length.zip(each.queue_length).map(|(sum, each)| sum + each),
        operations: sum.operations.iter().zip(&each.operations).map(|(sum, each)| sum.with(each)).collect(),
        row: both_rows(&sum.row, &each.row),
        ..sum
    })
}

/// Merges a row of two processes: the processes' own metrics are added, those of the machine or the database are the same
/// for both.
fn both_rows(one: &SeriesRow, other: &SeriesRow) -> SeriesRow {
    const SHARED: [&str; 6] = ["machine_", "cpu_others", "cpu_stolen", "server_", "engine_memory", "response_ns"];
    const SIZES: [&str; 3] = ["data_bytes", "log_bytes", "journal_bytes"];
    let is_shared = |name: &str| SHARED.iter().any(|begin| name.starts_with(begin)) || SIZES.contains(&name);
    let mut sum = one.clone();
    for (name, value) in other {
        let known = sum.entry(name.clone()).or_insert(0.0);
        *known = if is_shared(name) { known.max(*value) } else { *known + value };
    }
    sum
}

/// A process of users.
struct Process {
    child: Child,
    stream: UnixStream,
    /// Thread that collects the process's stderr.
    words: Option<JoinHandle<String>>,
    is_ready: bool,
    ended: Option<Result<Ran, Failure>>,
}

/// All processes of users. Those that have not ended are killed when this is dropped.
#[derive(Default)]
struct Processes {
    all: Vec<Process>,
    is_stopped: bool,
}

impl Processes {
    fn start(
        &mut self,
        request: Request,
        position: &File,
        sender: Sender<(usize, Option<News>)>,
    ) -> std::io::Result<()> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut child = Command::new(std::env::current_exe()?)
            .arg("round")
            .stdin(OwnedFd::from(theirs))
            .stdout(position.try_clone()?)
            .stderr(Stdio::piped())
            .spawn()?;
        let words = Some(child::reader(child.stderr.take()));
        let listened = ours.try_clone();
        let at = self.all.len();
        // From here on it is ended with this process.
        self.all.push(Process { child, stream: ours, words, is_ready: false, ended: None });
        let lines = BufReader::new(listened?).lines();
        std::thread::spawn(move || {
            for line in lines {
                let Some(news) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else { break };
                let _ = sender.send((at, Some(news)));
            }
            let _ = sender.send((at, None));
        });
        let request = serde_json::to_string(&child::Request::Users(Box::new(request)))?;
        (&self.all[at].stream).write_all(format!("{request}\n").as_bytes())
    }

    /// Sends every process the time of the begin. A process that cannot be reached is found to have ended.
    fn begin(&self, at: Nanos) {
        let line = serde_json::to_string(&Begin { at }).expect("a number can be written");
        for process in &self.all {
            let _ = (&process.stream).write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Ends every process as an interruption does: the results until then are collected.
    fn stop(&mut self) {
        if std::mem::replace(&mut self.is_stopped, true) {
            return;
        }
        for process in self.all.iter().filter(|process| process.ended.is_none()) {
            // A process that still waits for the begin sees the end of its input.
            let _ = process.stream.shutdown(Shutdown::Write);
            let id = rustix::process::Pid::from_child(&process.child);
            // A signal to a process that has just ended does no harm.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
    }

    /// The failure of a process that ended without an answer; all others are killed.
    fn lost(&mut self, at: usize, target: &str) -> Failure {
        for process in &mut self.all {
            let _ = process.child.kill();
        }
        let of = self.all.len();
        let process = &mut self.all[at];
        let how = process.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let words = process.words.take().and_then(|words| words.join().ok()).unwrap_or_default();
        let failure = Failure::new(Exit::Target, format!("process {} of {of} with users on {target} was lost", at + 1))
            .detail("cause", format!("it gave no answer: {how}"));
        if words.trim().is_empty() { failure } else { failure.detail("its words", words.trim()) }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.all {
            if process.ended.is_none() {
                let _ = process.child.kill();
            }
            let _ = process.child.wait();
        }
    }
}

/// A process of users: its standard input is a socket to its parent, which it also answers on.
pub(super) fn users(request: Request) -> Result<(), Failure> {
    let broken =
        |error: std::io::Error| Failure::usage(format!("this command is for the program itself alone: {error}"));
    interrupt::die_with_parent()?;
    progress::silence();
    let line = Mutex::new(UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().map_err(broken)?));
    let position = File::from(std::io::stdout().as_fd().try_clone_to_owned().map_err(broken)?);
    let tell = |news: &News| -> std::io::Result<()> {
        let text = serde_json::to_string(news)?;
        line.lock().unwrap_or_else(std::sync::PoisonError::into_inner).write_all(format!("{text}\n").as_bytes())
    };
    let ran = panics::caught(|| {
        panics::asked_for(&format!("process {}", request.number));
        part(request, position, &tell)
    });
    tell(&News::Ended(Box::new(ran))).map_err(broken)
}

fn part(
    request: Request,
    position: File,
    tell: &(dyn Fn(&News) -> std::io::Result<()> + Sync),
) -> Result<Ran, Failure> {
    let Request { target, job, seed, number, opened, first_trade, clock } = request;
    // This process reports its calls, and the parent ends it.
    let context = RunContext::with(RealClock::of(clock), u64::MAX, Ending::Answer)?;
    let whole = job.options(seed)?;
    let options = whole.of_process(number).map_err(|error| Failure::usage(error.to_string()))?;
    let engine = engines::open(&target)?;
    let inputs = context.inputs(job.database.flat_in.as_deref())?;
    let start = |clock: &dyn Clock| {
        tell(&News::Ready).map_err(|error| OpenError::Refused(error.to_string()))?;
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let begin = read.ok().and_then(|_| serde_json::from_str::<Begin>(&line).ok());
        let Begin { at } = begin.ok_or(OpenError::Interrupted)?;
        clock.sleep_until(at);
        Ok(at)
    };
    let trade_ids = TradeIds::shared(TradeId(first_trade), position);
    let elsewhere = whole.sessions() - options.sessions();
    let sut = Joined::new(engine.as_ref(), opened, trade_ids, elsewhere, &start);
    let mut say = |progress: &Progress| {
        if tell(&News::Progress(progress.clone())).is_err() {
            // The parent is gone.
            context.interrupted.store(true, Ordering::Relaxed);
        }
    };
    users::run_on(&sut, &inputs, &options, &context.clock, &context.interrupted, &mut say)
        .map_err(|error| run_failure(&target, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_processes_do_adds_up_and_what_the_machine_does_is_one() {
        let row = |values: &[(&str, f64)]| -> SeriesRow {
            values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let one = row(&[("throughput.read", 5.0), ("cpu_user", 0.5), ("cpu_others", 0.25), ("data_bytes", 100.0)]);
        let other = row(&[("throughput.read", 7.0), ("cpu_user", 0.25), ("cpu_others", 0.5), ("retries", 1.0)]);
        let both = [
            ("throughput.read", 12.0),
            ("cpu_user", 0.75),
            ("cpu_others", 0.5),
            ("data_bytes", 100.0),
            ("retries", 1.0),
        ];
        assert_eq!(both_rows(&one, &other), row(&both));
    }
}
