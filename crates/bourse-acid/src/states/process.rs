//! A process that recovers states with an engine, one after another. A state that ends it is a finding; the next one gets a
//! new process.

use super::case::StateCase;
use super::record::{ChildWork, RecordedWork, Recordings, directory, recording_error, write};
use crate::known_work::{WorkEvent, look};
use crate::test_bed::AcidError;
use bourse_crash::Directory;
use bourse_crash::preload::remove_others;
use std::fs::FileType;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time after which the recovery of a state counts as hung.
const PATIENCE: Duration = Duration::from_secs(30);
/// Interval between looks for an interruption.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// File with the standard error of the process.
const SAID: &str = "said";
/// Beginning of a line with a value; engines write to the standard output too.
pub(super) const MARK: &str = "bourse-reports ";

/// Process that recovers states.
pub(super) struct RecoveryProcess<'r> {
    recordings: &'r Recordings<'r>,
    work: RecordedWork,
    folder: TempDir,
    number: u64,
    /// Whether nothing uses a state's files once it is read: the server that did so has ended.
    frees_files: bool,
    running: Option<RunningProcess>,
}

struct RunningProcess {
    child: Child,
    orders: ChildStdin,
    events: Receiver<String>,
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl<'r> RecoveryProcess<'r> {
    pub(super) fn new(recordings: &'r Recordings<'r>, case: &StateCase, seed: u64) -> Result<Self, AcidError> {
        let folder = directory(case)?;
        let place = folder.path().canonicalize().map_err(recording_error)?;
        let work = RecordedWork { case: case.to_string(), seed, folder: place, work: ChildWork::Look };
        Ok(Self { recordings, work, folder, number: 0, frees_files: case.is_server(), running: None })
    }

    fn start(&self) -> io::Result<RunningProcess> {
        let mut command = self.recordings.command(&self.work)?;
        let said = std::fs::File::create(self.folder.path().join(SAID))?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said).spawn()?;
        let (orders, output) = (child.stdin.take(), child.stdout.take());
        let (Some(orders), Some(output)) = (orders, output) else { return Err(io::Error::other("it has no pipes")) };
        let (send, events) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            let events = lines.filter_map(|line| line.split_once(MARK).map(|(_, event)| event.to_owned()));
            events.take_while(|event| send.send(event.clone()).is_ok()).for_each(drop);
        });
        Ok(RunningProcess { child, orders, events })
    }

    /// Recovers a state and reads it.
    pub(super) fn look(&mut self, state: &Directory) -> Result<WorkEvent, AcidError> {
        let failed = |error: io::Error| AcidError::Machinery(format!("a state cannot be recovered: {error}"));
        let interrupted = || failed(io::ErrorKind::Interrupted.into());
        if !self.recordings.go_on() {
            return Err(interrupted());
        }
        let last = self.folder.path().join(self.number.to_string());
        self.number += 1;
        let name = self.number.to_string();
        let folder = self.folder.path().join(&name);
        // Its files are overwritten: a file system looks long for new ones where many were removed just before.
        match std::fs::rename(last, &folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => {
                renamed.and_then(|()| remove_others(&folder, &|below, kind| has(state, below, kind))).map_err(failed)?
            }
        }
        write(state, &folder)?;
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start().map_err(failed)?,
        };
        let begun = Instant::now();
        let event = match writeln!(running.orders, "{name}") {
            Ok(()) => loop {
                match running.events.recv_timeout(LOOK_INTERVAL) {
                    Err(RecvTimeoutError::Timeout) if !self.recordings.go_on() => return Err(interrupted()),
                    Err(RecvTimeoutError::Timeout) if begun.elapsed() < PATIENCE => {}
                    event => break event,
                }
            },
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        let event = match event {
            Ok(event) => {
                self.running = Some(running);
                let event = serde_json::from_str(&event).map_err(|error| failed(error.into()))?;
                if self.frees_files {
                    return Ok(event);
                }
                event
            }
            Err(RecvTimeoutError::Timeout) => WorkEvent::Unreadable("opening it does not end".to_owned()),
            Err(RecvTimeoutError::Disconnected) => {
                let status = running.child.wait().map_err(failed)?;
                let how = match (status.signal(), status.code()) {
                    (Some(signal), _) => format!("by signal {signal}"),
                    (None, code) => format!("with exit code {}", code.unwrap_or_default()),
                };
                let said = std::fs::read_to_string(self.folder.path().join(SAID)).map_err(failed)?;
                let said =
                    said.lines().find(|line| line.contains("panic") || line.contains("error")).unwrap_or_default();
                WorkEvent::Unreadable(format!("opening it ends the process {how} {said}").trim_end().to_owned())
            }
        };
        std::fs::remove_dir_all(&folder).map_err(failed)?;
        Ok(event)
    }
}

/// Whether a state has a file of that name, or files in a folder of that name.
fn has(state: &Directory, below: &Path, kind: FileType) -> bool {
    let name = below.to_string_lossy().into_owned();
    if !kind.is_dir() {
        return state.files.contains_key(&name);
    }
    let name = name + "/";
    state.files.range(name.clone()..).next().is_some_and(|(file, _)| file.starts_with(&name))
}

/// Body of the process: recovers the states that its standard input names.
pub(super) fn recover_states(open: &dyn Fn(&Path) -> Result<WorkEvent, AcidError>) -> Result<(), AcidError> {
    for name in io::stdin().lines() {
        let name = name.map_err(recording_error)?;
        let event = open(Path::new(&name))?;
        tell(&event)?;
    }
    Ok(())
}

/// Reports a value on the standard output.
pub(super) fn tell(value: &impl serde::Serialize) -> Result<(), AcidError> {
    let value = serde_json::to_string(value).map_err(|error| recording_error(error.into()))?;
    let mut output = io::stdout().lock();
    writeln!(output, "{MARK}{value}").and_then(|()| output.flush()).map_err(recording_error)
}

/// Result of opening a database by an opener of engines.
pub(super) fn looked(engine: &Result<Box<dyn bourse_engine::Engine>, AcidError>, seed: u64) -> WorkEvent {
    match engine {
        Ok(engine) => look(&**engine, seed),
        Err(error) => WorkEvent::Unreadable(error.to_string()),
    }
}
