//! Child processes, so that a round's memory and its engine are its own: the program itself, which reads a request as a line of
//! JSON on stdin and writes the answer as one on stdout, after lines about the round's progress.

use super::databases::Databases;
use super::instructions::RoundCount;
use super::{RoundOutcome, RoundRequest, RunContext, keeper, parts, round};
use crate::args::{ALL_GIVEN, DatabaseArgs};
use crate::failure::{Exit, Failure, Result};
use crate::memory_group::MemoryGroup;
use crate::oltp::serve::serve_here;
use crate::plan::Job;
use crate::progress::{self, note};
use crate::tpce::database::TpceDatabase;
use crate::{engines, hold, interrupt, live, output, spent};
use bourse_engine::{instructions, server_wait};
use bourse_micro::ProcessPart;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Request to a child process of Bourse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChildRequest {
    /// Run a round and answer with its outcome.
    Round(Box<RoundRequest>),
    /// Run a process's part of a round of a classic workload, and answer with its figures.
    Part(Box<RoundRequest>, ProcessPart),
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
        /// The job whose transactions they are.
        job: Box<Job>,
    },
    /// Serve a database to drivers of this machine, and answer with the address.
    Serve {
        /// The target, as a URL.
        target: String,
        /// Options of the database.
        database: DatabaseArgs,
    },
}

impl ChildRequest {
    /// The target, as a URL.
    fn target(&self) -> &str {
        match self {
            Self::Round(request) | Self::Part(request, _) => &request.target,
            Self::Keep { target, .. } | Self::Sample { target, .. } | Self::Serve { target, .. } => target,
        }
    }

    /// Counting of instructions, of a round that is counted.
    fn count(&self) -> Option<&RoundCount> {
        if let Self::Round(request) = self { request.count.as_ref() } else { None }
    }

    /// Limit of calls of a round, in nanoseconds.
    fn call_limit_ns(&self) -> u64 {
        match self {
            Self::Round(request) | Self::Part(request, _) => request.call_limit_ns,
            Self::Keep { .. } | Self::Sample { .. } | Self::Serve { .. } => u64::MAX,
        }
    }
}

/// `bourse round`: reads a request, performs it, answers. A failure is an answer too.
pub(crate) fn answer() -> Result<()> {
    let mut line = String::new();
    let request: ChildRequest = std::io::stdin()
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
    live::give_signs_of_life();
    let _held = match hold::join(request.target()) {
        Ok(held) => held,
        Err(failure) => return reply::<()>(&Err(failure)),
    };
    match request {
        // This process reports its own progress.
        ChildRequest::Keep { target, job } => keeper::keep(&target, &job),
        ChildRequest::Round(request) => {
            silent()?;
            reply(&crate::panics::catch_panic(|| {
                live::send_to_parent();
                let context = RunContext::of_round(&request.target, request.call_limit_ns)?;
                if let Some(count) = &request.count {
                    instructions::count_next(count.source);
                }
                let ran = round::round(&request, &mut Databases::default(), &context, "");
                let instructions = instructions::counted();
                ran.map(|outcome| RoundOutcome { spent: spent::parts(), instructions, ..outcome })
            }))
        }
        ChildRequest::Part(request, part) => {
            silent()?;
            reply(&crate::panics::catch_panic(|| {
                live::send_to_parent();
                parts::run_part(&request, &part, &RunContext::of_round(&request.target, request.call_limit_ns)?)
            }))
        }
        ChildRequest::Sample { target, job } => {
            silent()?;
            reply(&crate::panics::catch_panic(|| {
                let context = RunContext::of_round(&target, u64::MAX)?;
                job.rounds().sample(&target, &context)
            }))
        }
        ChildRequest::Serve { target, database } => {
            silent()?;
            let database = TpceDatabase::of(&database, &ALL_GIVEN);
            let ended = serve_here(&target, &database, |address| reply(&Ok(address)));
            // The address was the answer; a second answer would have no reader.
            ended.or_else(|failure| reply::<String>(&Err(failure)))
        }
    }
}

/// Writes the answer for the process that started this one.
pub(super) fn reply<T: Serialize>(answer: &Result<T>) -> Result<()> {
    let text = serde_json::to_string(answer)
        .map_err(|error| Failure::new(Exit::Target, format!("cannot pass on the outcome: {error}")))?;
    output::print(&format!("{text}\n"))
}

/// Runs a round in a process of its own, in a group with limited memory if there is a limit.
pub(super) fn run(request: &RoundRequest, interrupted: &AtomicBool) -> Result<RoundOutcome> {
    let what = format!("a round of {} on {}", request.job.workload(), request.target);
    let group = request.memory.limit.map(MemoryGroup::new).transpose()?;
    let round = ChildRequest::Round(Box::new(request.clone()));
    let ran = ask(&round, &request.target, &what, group.as_ref(), interrupted);
    group.and_then(|group| group.exceeded(&what)).map_or(ran, Err)
}

/// Sends a process of its own a request that is answered once.
pub(super) fn ask<T: DeserializeOwned>(
    request: &ChildRequest,
    target: &str,
    what: &str,
    group: Option<&MemoryGroup>,
    interrupted: &AtomicBool,
) -> Result<T> {
    let mut process = ChildProcess::start_in(group, request, what, StderrTarget::Collected)?;
    let answer = process.answer(Some(interrupted));
    if !process.end() {
        // A killed process leaves its private server running.
        engines::cleanup(target);
    }
    answer
}

/// A child process of this program, which performs a request. It is ended when this is dropped.
pub(super) struct ChildProcess {
    /// Description for messages.
    what: String,
    process: Child,
    /// Closed for its end.
    stdin: Option<ChildStdin>,
    /// The lines that it prints, until it ends.
    lines: Receiver<String>,
    /// Thread that reads its stderr.
    words: Option<JoinHandle<String>>,
    /// Longest time without a line: it gives a sign of life every second.
    longest_silence: Duration,
    /// Time since its last line while one was awaited.
    silent_for: Duration,
    looked: Instant,
    is_interrupted: bool,
}

/// Destination of a child's stderr.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StderrTarget {
    /// Part of the failure if the child gives no answer.
    Collected,
    /// The user, line by line.
    Shown,
}

/// Message of a child process.
pub(super) enum ChildMessage<T> {
    /// Its answer.
    Answer(Result<T>),
    /// Another line: progress, or output of a library.
    Line(String),
    /// Nothing within the given time.
    Nothing,
    /// End of the output.
    End,
}

/// Longest time that a child process may take to end after its answer.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time without a sign of life of a process that was interrupted.
const SILENCE_AT_END: Duration = Duration::from_secs(5);
/// Most that one look adds to a silence: this process may have been stopped itself meanwhile.
const LONGEST_LOOK: Duration = Duration::from_millis(500);

/// Longest time without a sign of life of another process, which gives one a second: half a minute, or the limit of calls if
/// that is less, and never less than three seconds.
pub(super) fn longest_silence(call_limit_ns: u64) -> Duration {
    Duration::from_nanos(call_limit_ns).clamp(Duration::from_secs(3), Duration::from_secs(30))
}

impl ChildProcess {
    /// Starts the process and sends it its request.
    pub(super) fn start(request: &ChildRequest, what: &str, words: StderrTarget) -> Result<Self> {
        Self::start_in(None, request, what, words)
    }

    /// [`start`](Self::start), in a group of processes. The process waits for its request meanwhile.
    fn start_in(group: Option<&MemoryGroup>, request: &ChildRequest, what: &str, words: StderrTarget) -> Result<Self> {
        let started = std::env::current_exe().and_then(|program| {
            request
                .count()
                .map_or_else(|| Command::new(&program), |count| count.command(&program))
                .arg("round")
                .env("BOURSE_CONNECT_LIMIT", format!("{}ms", server_wait::connect_limit().as_millis()))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        });
        let lost = |error: std::io::Error| lost(what).detail("cause", error.to_string());
        let mut process = started.map_err(lost)?;
        let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (sender, lines) = mpsc::channel();
        // All output is read, so that no pipe is ever full.
        std::thread::spawn(move || {
            // The receiver is gone when no answer is awaited any more.
            text_lines(stdout).for_each(|line| drop(sender.send(line)));
        });
        let read = move || -> String {
            let told = |line: String| {
                if words == StderrTarget::Shown {
                    note(&line);
                    return String::new();
                }
                line + "\n"
            };
            text_lines(stderr).map(told).collect()
        };
        let words = Some(std::thread::spawn(read));
        let mut child = Self {
            what: what.to_owned(),
            process,
            stdin,
            lines,
            words,
            longest_silence: longest_silence(request.call_limit_ns()),
            silent_for: Duration::ZERO,
            looked: Instant::now(),
            is_interrupted: false,
        };
        group.map_or(Ok(()), |group| group.add(child.process.id()))?;
        child.send(request);
        Ok(child)
    }

    /// Sends a line. If the process has ended, its missing answer is reported.
    pub(super) fn send(&mut self, request: &impl Serialize) {
        if let (Some(stdin), Ok(line)) = (&mut self.stdin, serde_json::to_string(request)) {
            let _ = stdin.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Its next message, waited for at most for that time. A process that gives no sign of life, since it was stopped, is killed.
    pub(super) fn next<T: DeserializeOwned>(&mut self, at_most: Duration) -> ChildMessage<T> {
        let received = self.lines.recv_timeout(at_most);
        let since = std::mem::replace(&mut self.looked, Instant::now()).elapsed().min(LONGEST_LOOK);
        self.silent_for =
            if received == Err(RecvTimeoutError::Timeout) { self.silent_for + since } else { Duration::ZERO };
        let is_ending = self.is_interrupted || server_wait::is_interrupted();
        let longest = if is_ending { SILENCE_AT_END.min(self.longest_silence) } else { self.longest_silence };
        match received {
            Ok(line) => serde_json::from_str(&line).map_or(ChildMessage::Line(line), ChildMessage::Answer),
            Err(RecvTimeoutError::Timeout) if self.silent_for <= longest => ChildMessage::Nothing,
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                ChildMessage::End
            }
            Err(RecvTimeoutError::Disconnected) => ChildMessage::End,
        }
    }

    /// Its next answer; progress is passed on. An interruption of this process alone is passed on to it, if `interrupted` is
    /// given.
    pub(super) fn answer<T: DeserializeOwned>(&mut self, interrupted: Option<&AtomicBool>) -> Result<T> {
        loop {
            match self.next(Duration::from_millis(20)) {
                ChildMessage::Answer(answer) => return answer,
                ChildMessage::Line(line) if live::passed_on(&line) => {}
                ChildMessage::Line(line) => note(&line),
                ChildMessage::Nothing => {}
                ChildMessage::End => return Err(self.lost()),
            }
            if interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                self.interrupt();
            }
        }
    }

    /// Interrupts it, once: what it has until then is its answer.
    pub(super) fn interrupt(&mut self) {
        if !std::mem::replace(&mut self.is_interrupted, true) {
            let id = rustix::process::Pid::from_child(&self.process);
            // A signal to a process that has just ended does no harm.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
    }

    /// Ends it immediately.
    pub(super) fn kill(&mut self) {
        // One that has ended cannot be killed.
        let _ = self.process.kill();
    }

    /// Waits for its end, and returns whether it ended well. One that does not end, since a call of it never returns, is
    /// killed.
    pub(super) fn end(&mut self) -> bool {
        // A process that waits for commands ends at the end of its input.
        drop(self.stdin.take());
        let begun = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(None) if begun.elapsed() > END_TIMEOUT => self.kill(),
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                ended => return ended.is_ok_and(|status| status.is_some_and(|status| status.success())),
            }
        }
    }

    /// Failure of a process that ended without an answer, or was killed since it was silent.
    pub(super) fn lost(&mut self) -> Failure {
        let silent_s = self.silent_for.as_secs_f64();
        let silence = (silent_s > 0.0).then(|| format!("gave no sign of life for {silent_s:.0} s, and was killed"));
        let ended = self.process.wait();
        if server_wait::is_interrupted() {
            let why = silence.unwrap_or_else(|| "ended before it could tell what it had done".to_owned());
            return interrupt::interrupted(&format!("{} {why}", self.what));
        }
        let cause = match (silence, ended) {
            (Some(silence), _) => format!("it {silence}"),
            (None, Err(error)) => error.to_string(),
            (None, Ok(status)) if status.code().is_none() => format!("its process was ended from outside: {status}"),
            (None, Ok(status)) => format!("its process gave no answer: {status}"),
        };
        let words = self.words.take().and_then(|words| words.join().ok()).unwrap_or_default();
        let failure = lost(&self.what).detail("cause", cause);
        if words.trim().is_empty() { failure } else { failure.detail("its words", words.trim()) }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.end();
        // Its remaining output on stderr.
        self.words.take().map(JoinHandle::join);
    }
}

fn lost(what: &str) -> Failure {
    Failure::new(Exit::Target, format!("{what} was lost"))
}

/// The lines of an output.
fn text_lines(from: Option<impl Read>) -> impl Iterator<Item = String> {
    let lines = from.map(BufReader::new).into_iter().flat_map(|from| from.split(b'\n').map_while(Result::ok));
    lines.map(|line| String::from_utf8_lossy(&line).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ClassicRound;

    #[test]
    fn requests_and_failures_are_data() {
        let job = ClassicRound {
            workload: "point-read".to_owned(),
            options: vec![("rows".to_owned(), "5".to_owned())],
            warm_up_ns: 1,
            count: Some(7),
            ..ClassicRound::default()
        };
        let request = ChildRequest::Round(Box::new(RoundRequest {
            target: "null:".to_owned(),
            job: job.into(),
            seed: 1,
            round: 2,
            begins_alike: true,
            is_first: false,
            is_probe: false,
            history: None,
            wait_quiet_ns: Some(5),
            call_limit_ns: 7,
            statements: false,
            count: None,
            memory: crate::args::MemoryArgs::default(),
        }));
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<ChildRequest>(&text).unwrap(), request);
        let failure = Failure::new(Exit::Check, "lost").detail("cause", "a\nb").hint("look");
        let text = serde_json::to_string(&Err::<RoundOutcome, _>(failure.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Result<RoundOutcome>>(&text).unwrap(), Err(failure));
    }
}
