//! A round in a process of its own, so that its memory and its engine are its own: the program itself, which reads a request
//! as a line of JSON on stdin and writes the answer as one on stdout, after lines about the round's progress.

use super::databases::Databases;
use super::{RoundOutcome, RoundRequest, RunContext, keeper, processes, round, sample};
use crate::args::Database;
use crate::failure::{Exit, Failure};
use crate::plan::Job;
use crate::{engines, hold, interrupt, live, output, progress, spent, tpce};
use bourse_engine::server_wait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Request to a child process of Bourse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// Run a round and answer with its outcome.
    Round(Box<RoundRequest>),
    /// Run some of the users of a round.
    Users(Box<processes::Request>),
    /// Make a database ready for the rounds of other processes.
    Keep {
        /// The database, as a URL.
        target: String,
        /// The job of its rounds.
        job: Box<Job>,
    },
    /// Sample the transactions on a target.
    Sample {
        /// The target, as a URL.
        target: String,
        /// Folder of the official input files.
        flat_in: Option<PathBuf>,
    },
    /// Serve a database to drivers of this machine, and answer with the address.
    Serve {
        /// The target, as a URL.
        target: String,
        /// Options of the database.
        database: Database,
    },
}

impl Request {
    /// The target, as a URL.
    fn target(&self) -> &str {
        match self {
            Self::Round(request) => &request.target,
            Self::Users(request) => request.target(),
            Self::Keep { target, .. } | Self::Sample { target, .. } | Self::Serve { target, .. } => target,
        }
    }
}

/// `bourse round`: reads a request, performs it, answers. A failure is an answer too.
pub(crate) fn answer() -> Result<(), Failure> {
    let mut line = String::new();
    let request: Request = std::io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str(&line).map_err(|error| error.to_string()))
        .map_err(|error| Failure::usage(format!("this command is for the program itself alone: {error}")))?;
    let silent = || {
        // The parent reports the progress.
        progress::silence();
        interrupt::end_with_parent()
    };
    let _held = match hold::join(request.target()) {
        Ok(held) => held,
        Err(failure) => return reply::<()>(&Err(failure)),
    };
    match request {
        Request::Users(request) => processes::users(*request),
        // This process reports its own progress.
        Request::Keep { target, job } => keeper::keep(&target, &job),
        Request::Round(request) => {
            silent()?;
            reply(&crate::panics::caught(|| {
                live::tell_parent();
                let context = RunContext::of_round(request.call_limit_ns)?;
                let ran = round::round(&request, &mut Databases::default(), &context, "");
                ran.map(|outcome| RoundOutcome { spent: spent::parts(), ..outcome })
            }))
        }
        Request::Sample { target, flat_in } => {
            silent()?;
            reply(&crate::panics::caught(|| {
                let context = RunContext::of_round(u64::MAX)?;
                let inputs = context.inputs(flat_in.as_deref())?;
                sample::of_target(&target, &inputs, &context)
            }))
        }
        Request::Serve { target, database } => {
            silent()?;
            let ended = tpce::serve::serve_here(&target, &database, |address| reply(&Ok(address)));
            // The address was the answer; a second answer would have no reader.
            ended.or_else(|failure| reply::<String>(&Err(failure)))
        }
    }
}

/// Writes the answer for the process that started this one.
pub(super) fn reply<T: Serialize>(answer: &Result<T, Failure>) -> Result<(), Failure> {
    let text = serde_json::to_string(answer)
        .map_err(|error| Failure::new(Exit::Target, format!("cannot pass on the outcome: {error}")))?;
    output::print(&format!("{text}\n"))
}

/// Runs a round in a process of its own.
pub(super) fn run(request: &RoundRequest, interrupted: &AtomicBool) -> Result<RoundOutcome, Failure> {
    let what = format!("a round of {} on {}", request.job.workload(), request.target);
    ask(&Request::Round(Box::new(request.clone())), &request.target, &what, interrupted)
}

/// Sends a process of its own a request that is answered once.
pub(super) fn ask<T: DeserializeOwned>(
    request: &Request,
    target: &str,
    what: &str,
    interrupted: &AtomicBool,
) -> Result<T, Failure> {
    let lost = |cause: String| Failure::new(Exit::Target, format!("{what} was lost")).detail("cause", cause);
    let (mut child, mut stdin) = start().map_err(lost)?;
    // The answer is read while the child runs: it may be longer than a pipe holds.
    let (stdout, stderr) = (line_reader(child.stdout.take()), reader(child.stderr.take()));
    let told = tell(&mut stdin, request);
    drop(stdin);
    let status = wait(&mut child, interrupted, &stdout).map_err(|error| lost(error.to_string()))?;
    let text = |reader: JoinHandle<String>| reader.join().expect("reading does not panic");
    let (answer, words) = (text(stdout), text(stderr));
    if !status.success() {
        // A killed process leaves its private server running.
        engines::cleanup(target);
    }
    if let Ok(answer) = serde_json::from_str::<Result<T, Failure>>(&answer) {
        return answer;
    }
    let mut cause = no_answer(status);
    if let Err(error) = told {
        cause.push_str(&format!("; it did not receive its request: {error}"));
    }
    let failure = lost(cause);
    Err(if words.trim().is_empty() { failure } else { failure.detail("its words", words.trim()) })
}

/// Reason why a child process that has ended gave no answer.
pub(super) fn no_answer(status: ExitStatus) -> String {
    match status.code() {
        None => format!("its process was ended from outside: {status}"),
        Some(_) => format!("its process gave no answer: {status}"),
    }
}

/// Starts a child process of this program, which waits for its request.
pub(super) fn start() -> Result<(Child, ChildStdin), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .arg("round")
        .env("BOURSE_CONNECT_LIMIT", format!("{}ms", server_wait::connect_limit().as_millis()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let stdin = child.stdin.take().expect("it was asked for");
    Ok((child, stdin))
}

/// Sends a child process its request.
pub(super) fn tell(stdin: &mut ChildStdin, request: &Request) -> Result<(), String> {
    let line = serde_json::to_string(request).map_err(|error| error.to_string())?;
    stdin.write_all(format!("{line}\n").as_bytes()).map_err(|error| error.to_string())
}

/// Reads all output, so that no pipe is ever full.
pub(super) fn reader(from: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // Partial output is better than none.
            let _ = from.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Reads the line that is the answer; the lines before it report the round's progress.
fn line_reader(from: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let Some(from) = from else { return String::new() };
        let mut from = BufReader::new(from);
        loop {
            let mut bytes = Vec::new();
            // A partial answer counts as none.
            let _ = from.read_until(b'\n', &mut bytes);
            let line = String::from_utf8_lossy(&bytes).into_owned();
            if !live::passed_on(&line) {
                return line;
            }
        }
    })
}

/// Longest time that a child process may take to end after its answer.
pub(super) const END: Duration = Duration::from_secs(10);

/// Waits for the child; an interruption of this process alone is passed on to it. A child that has answered and does not
/// end, since a call of it never returns, is killed.
fn wait(child: &mut Child, interrupted: &AtomicBool, answer: &JoinHandle<String>) -> std::io::Result<ExitStatus> {
    let mut told = false;
    let mut answered = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if answer.is_finished() && answered.get_or_insert_with(Instant::now).elapsed() > END {
            child.kill()?;
        }
        if interrupted.load(Ordering::Relaxed) && !told {
            told = true;
            let id = rustix::process::Pid::from_child(child);
            // A signal to a process that has just ended does no harm.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Classic, Job};

    #[test]
    fn requests_and_failures_are_data() {
        let job = Classic {
            workload: "point-read".to_owned(),
            options: vec![("rows".to_owned(), "5".to_owned())],
            warm_up_ns: 1,
            measure_ns: None,
            count: Some(7),
            timed: crate::args::Timed::default(),
            open_loop: None,
            search: None,
        };
        let request = Request::Round(Box::new(RoundRequest {
            target: "null:".to_owned(),
            job: Job::Classic(job),
            seed: 1,
            round: 2,
            begins_alike: true,
            is_first: false,
            is_probe: false,
            history: None,
            wait_quiet_ns: Some(5),
            call_limit_ns: 7,
        }));
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
        let failure = Failure::new(Exit::Check, "lost").detail("cause", "a\nb").hint("look");
        let text = serde_json::to_string(&Err::<RoundOutcome, _>(failure.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Result<RoundOutcome, Failure>>(&text).unwrap(), Err(failure));
    }
}
