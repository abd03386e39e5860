//! Databases of engines whose library stays in a process: loaded, checked, copied and put back by a process of their own. A
//! keeper that dies is a lost target, like a round that dies.

use super::RunContext;
use super::child::{self, Request, reply};
use super::databases::Databases;
use crate::failure::{Exit, Failure};
use crate::oltp::database::engine_failure;
use crate::plan::Job;
use crate::progress::note;
use crate::{interrupt, panics, progress, spent};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Command to a keeper whose database is ready.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Command {
    /// Take a copy; the answer is how it is made, or the reason why there can be none.
    Copy,
    /// Put the database back as it was copied.
    Restore,
}

/// Answer of a keeper whose database is ready.
#[derive(Debug, Serialize, Deserialize)]
struct Prepared {
    /// Description of the database's history.
    history: String,
    /// Time that it spent, by part.
    spent: spent::Parts,
}

/// A process with a database in its care.
pub(super) struct Keeper {
    target: String,
    process: Mutex<Process>,
    /// Description of the database's history.
    pub(super) history: String,
}

struct Process {
    child: Child,
    /// Closed for its end.
    commands: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Thread that passes on the process's stderr.
    words: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts the process, which loads the database if necessary; waits until it is ready.
    pub(super) fn start(target: &str, job: &Job, interrupted: &AtomicBool) -> Result<Self, Failure> {
        let lost = |cause: String| lost(target, cause);
        let (mut child, mut commands) = child::start().map_err(lost)?;
        let lines = lines(child.stdout.take());
        let words = child.stderr.take().map(|stderr| {
            std::thread::spawn(move || {
                BufReader::new(stderr).lines().map_while(Result::ok).for_each(|line| note(&line))
            })
        });
        let request = Request::Keep { target: target.to_owned(), job: Box::new(job.clone()) };
        let told = child::tell(&mut commands, &request);
        let mut process = Process { child, commands: Some(commands), lines, words };
        if let Err(error) = told {
            return Err(lost(format!("its process did not receive its request: {error}")));
        }
        let Prepared { history, spent } = process.answer(target, Some(interrupted))?;
        spent::of_process(&spent);
        Ok(Self { target: target.to_owned(), process: Mutex::new(process), history })
    }

    /// Takes a copy; returns how it is made, or the reason why there can be none.
    pub(super) fn copy(&self) -> Result<Result<String, String>, Failure> {
        self.tell(Command::Copy)
    }

    /// Puts the database back as it was when the copy was taken.
    pub(super) fn restore(&self) -> Result<(), Failure> {
        self.tell(Command::Restore)
    }

    fn tell<T: DeserializeOwned>(&self, command: Command) -> Result<T, Failure> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        // A write to a keeper that has ended fails; the missing answer is reported.
        if let (Some(commands), Ok(line)) = (&mut process.commands, serde_json::to_string(&command)) {
            let _ = commands.write_all(format!("{line}\n").as_bytes());
        }
        process.answer(&self.target, None)
    }
}

impl Process {
    /// Its next answer. An interruption of this process alone is passed on, if `interrupted` is given.
    fn answer<T: DeserializeOwned>(&mut self, target: &str, interrupted: Option<&AtomicBool>) -> Result<T, Failure> {
        let mut told = false;
        loop {
            match self.lines.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => match serde_json::from_str::<Result<T, Failure>>(&line) {
                    Ok(answer) => return answer,
                    // Output of a library is not an answer.
                    Err(_) => note(line.trim_end()),
                },
                Err(RecvTimeoutError::Timeout) => {
                    if interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)) && !told {
                        told = true;
                        let id = rustix::process::Pid::from_child(&self.child);
                        // A signal to a process that has just ended does no harm.
                        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let ended = self.child.wait().map_err(|error| lost(target, error.to_string()))?;
                    // First its remaining output on stderr.
                    self.words.take().map(JoinHandle::join);
                    return Err(lost(target, child::no_answer(ended)));
                }
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It ends, and removes its copy, at the end of its input.
        drop(self.commands.take());
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if begun.elapsed() > child::END {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.words.take().map(JoinHandle::join);
    }
}

fn lost(target: &str, cause: String) -> Failure {
    Failure::new(Exit::Target, format!("{target} was lost while its database was prepared")).detail("cause", cause)
}

/// The lines that a process prints, until it ends.
fn lines(from: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = from.map(BufReader::new).into_iter().flat_map(|from| from.lines().map_while(Result::ok));
        // The receiver is gone when no answer is awaited any more.
        lines.map(|line| sender.send(line)).all(|sent| sent.is_ok())
    });
    lines
}

/// Runs the process: makes the database ready, then follows commands until there are no more.
pub(super) fn keep(target: &str, job: &Job) -> Result<(), Failure> {
    progress::tell_every(Duration::ZERO);
    interrupt::end_with_parent()?;
    let context = RunContext::of_round(u64::MAX)?;
    let mut databases = Databases::default();
    let ready = panics::caught(|| {
        panics::asked_for("keeper");
        databases.ready(target, job, &context)
    });
    let database = match ready {
        Ok(at) => databases.at(at),
        Err(failure) => return reply::<Prepared>(&Err(failure)),
    };
    reply(&Ok(Prepared { history: database.ready.history.clone(), spent: spent::parts() }))?;
    let mut kept = None;
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let Ok(command) = serde_json::from_str(&line) else { break };
        match command {
            Command::Copy => reply(&panics::caught(|| {
                let taken = database.copy(true)?;
                Ok(taken.map(|copy| kept.insert(copy).how().to_owned()))
            }))?,
            Command::Restore => reply(&panics::caught(|| {
                let restored = kept.as_ref().map_or(Ok(()), |copy| copy.restore());
                restored.map_err(|error| engine_failure(target, &error))
            }))?,
        }
    }
    Ok(())
}
