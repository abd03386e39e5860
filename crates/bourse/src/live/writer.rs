//! The file with a run's progress, written by the run; and the messages of a round's process to its parent, which writes the
//! file for both: writes of a round's process would count as part of the measurement.

use super::line::{EventLine, FILE, RoundBegun, RunBegun, RunEvent, RunOutcome, Second, VERSION};
use crate::failure::{Failure, Result};
use crate::output::print;
use crate::plan::{Plan, about};
use crate::progress::note;
use bourse_driver::RoundProgress;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Destination of this process's events.
enum Sink {
    /// The file.
    File {
        /// Locked for as long as it is written: a process that can lock it knows that the writer is gone.
        file: File,
        path: PathBuf,
        begun: Instant,
        /// Time at which the share of a step was last reported.
        shared: Option<Instant>,
    },
    /// The process that started this one.
    Parent,
}

/// Line of a round's process, once a second: it has not been stopped.
const ALIVE: &str = "{\"alive\":true}";
/// Begin of a line with progress.
const PROGRESS: &str = "{\"progress\":";

static SINK: Mutex<Option<Sink>> = Mutex::new(None);

fn sink() -> MutexGuard<'static, Option<Sink>> {
    SINK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An event in the output of a round's process, next to its answer.
#[derive(Serialize, Deserialize)]
struct ForwardedEvent<E> {
    live: E,
}

/// Progress of a round in the output of its process.
#[derive(Serialize, Deserialize)]
struct ForwardedProgress<P> {
    progress: P,
    is_latency: bool,
}

/// A line for the user, from the process of a round.
#[derive(Serialize, Deserialize)]
struct UserNote {
    note: String,
}

/// Prints a note to the user immediately, through the parent process if there is one.
pub(crate) fn print_note(words: &str) {
    if !matches!(*sink(), Some(Sink::Parent)) {
        return note(words);
    }
    if let Ok(text) = serde_json::to_string(&UserNote { note: words.to_owned() }) {
        let _ = print(&format!("{text}\n"));
    }
}

/// Creates the file of a run. It gets its name once it is locked.
pub(crate) fn begin(plan: &Plan, folder: &Path) -> Result<()> {
    let path = folder.join(FILE);
    let made = || -> io::Result<File> {
        let unlocked = folder.join(format!("{FILE}.unfinished"));
        let file = OpenOptions::new().append(true).create_new(true).open(&unlocked)?;
        // If files cannot be locked, readers use the process's id to see whether it is alive.
        let _ = file.lock();
        std::fs::rename(&unlocked, &path)?;
        Ok(file)
    };
    let file = made().map_err(|error| {
        Failure::usage("cannot begin the file that tells of this run")
            .detail("file", path.display().to_string())
            .detail("cause", error.to_string())
    })?;
    *sink() = Some(Sink::File { file, path, begun: Instant::now(), shared: None });
    write_event(RunEvent::Run(RunBegun {
        version: VERSION,
        name: plan.name.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: jiff::Timestamp::now().to_string(),
        process: std::process::id(),
        rounds: plan.rounds(),
        about_s: about::about_ns(plan) as f64 / 1e9,
    }));
    Ok(())
}

/// Sends this process's events to its parent.
pub(crate) fn send_to_parent() {
    *sink() = Some(Sink::Parent);
}

/// Gives this process's parent a sign of life every second, as long as this process has not been stopped.
pub(crate) fn give_signs_of_life() {
    let alive = || loop {
        std::thread::sleep(Duration::from_secs(1));
        let _ = print(&format!("{ALIVE}\n"));
    };
    // Without the thread a round's progress is a sign of life.
    let _ = std::thread::Builder::new().name("alive".to_owned()).spawn(alive);
}

/// Ends the file: its content is in the run's documents. A reader has it open and learns how the run ended.
pub(crate) fn end(outcome: RunOutcome) {
    write_event(RunEvent::Ended { outcome });
    if let Some(Sink::File { path, .. }) = sink().take() {
        // A file that cannot be removed does no harm.
        let _ = std::fs::remove_file(path);
    }
}

/// Removes the file of a run that is aborted, and its folder if that is empty. Called while any thread may be writing: it
/// waits for none.
pub(crate) fn abandon() {
    let held = match SINK.try_lock() {
        Ok(held) => Some(held),
        Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    };
    if let Some(Sink::File { path, .. }) = held.as_deref().and_then(Option::as_ref) {
        let _ = std::fs::remove_file(path);
        let _ = path.parent().map(std::fs::remove_dir);
    }
}

fn write_event(event: RunEvent) {
    if let Some(sink) = sink().as_mut() {
        sink.write_event(event);
    }
}

impl Sink {
    /// Writes an event. A failed write does not end the run.
    fn write_event(&mut self, event: RunEvent) {
        match self {
            Self::File { file, begun, .. } => {
                let at_s = (begun.elapsed().as_secs_f64() * 1e3).round() / 1e3;
                if let Ok(mut text) = serde_json::to_string(&EventLine { at_s, event }) {
                    text.push('\n');
                    // In one call, so that no reader ever sees two lines mixed.
                    let _ = file.write_all(text.as_bytes());
                }
            }
            Self::Parent => {
                if let Ok(text) = serde_json::to_string(&ForwardedEvent { live: event }) {
                    let _ = print(&format!("{text}\n"));
                }
            }
        }
    }
}

/// Progress of a round, if a line of its process reports it.
pub(crate) fn progress_of(line: &str) -> Option<RoundProgress> {
    let passed: ForwardedProgress<RoundProgress> =
        serde_json::from_str(Some(line).filter(|it| it.starts_with(PROGRESS))?).ok()?;
    Some(passed.progress)
}

/// Handles a line of a round's process, unless it is the answer; returns whether it was handled.
pub(crate) fn passed_on(line: &str) -> bool {
    if line == ALIVE {
        return true;
    }
    if line.starts_with(PROGRESS) {
        if let Ok(ForwardedProgress { progress, is_latency }) = serde_json::from_str(line) {
            second(&progress, is_latency);
        }
        return true;
    }
    if line.starts_with("{\"note\":") {
        if let Ok(UserNote { note: words }) = serde_json::from_str(line) {
            print_note(&words);
        }
        return true;
    }
    if !line.starts_with("{\"live\":") {
        return false;
    }
    if let Ok(ForwardedEvent { live }) = serde_json::from_str(line) {
        write_event(live);
    }
    true
}

/// A step begins.
pub(crate) fn step(what: &str) {
    write_event(RunEvent::Step { what: what.to_owned() });
}

/// Reports the part of a step that is done; once a second at most.
pub(crate) fn share(share: f64) {
    let mut sink = sink();
    let Some(Sink::File { shared, .. }) = sink.as_mut() else { return };
    if shared.is_some_and(|last| last.elapsed() < Duration::from_secs(1)) {
        return;
    }
    *shared = Some(Instant::now());
    if let Some(sink) = sink.as_mut() {
        sink.write_event(RunEvent::Share { share: (share * 1e3).round() / 1e3 });
    }
}

/// A step has ended.
pub(crate) fn step_ended(what: &str) {
    write_event(RunEvent::StepEnded { what: what.to_owned() });
}

/// A round begins.
pub(crate) fn round(case: &str, workload: &str, is_probe: bool) {
    write_event(RunEvent::Round(RoundBegun { case: case.to_owned(), workload: workload.to_owned(), is_probe }));
}

/// Reports that a second of a round is over.
pub(crate) fn second(progress: &RoundProgress, is_latency: bool) {
    if matches!(*sink(), Some(Sink::Parent)) {
        if let Ok(text) = serde_json::to_string(&ForwardedProgress { progress, is_latency }) {
            let _ = print(&format!("{text}\n"));
        }
        return;
    }
    write_event(RunEvent::Second(Second {
        phase: progress.phase,
        is_latency,
        elapsed_s: progress.elapsed_s,
        planned_s: progress.planned_s,
        warm_up_s: progress.warm_up_s,
        operations: progress.operations.clone(),
        row: progress.row.clone(),
    }));
}

/// Reports that a round is done, with its expected duration.
pub(crate) fn round_done(expected_ns: u64) {
    write_event(RunEvent::RoundDone { expected_s: expected_ns as f64 / 1e9 });
}
