//! The file with a run's progress, read as it grows.

use super::line::{EventLine, FILE, RunEvent, VERSION};
use super::state::RunState;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use bourse_report::LiveRun;
use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::path::Path;

/// Whether a folder has the file of an unfinished run, or of one that was ended from outside.
pub(crate) fn is_unfinished(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

/// Whether the folder's file is that of a run.
pub(crate) fn is_of_run(folder: &Path) -> bool {
    Follower::open(folder).is_ok_and(|mut follower| follower.poll().is_ok() && follower.started.is_some())
}

/// Whether the run of that folder is unfinished and its process alive.
pub(crate) fn is_running(folder: &Path) -> bool {
    Follower::open(folder).is_ok_and(|mut follower| {
        // If files cannot be locked, the first line has the id of the process.
        let _ = follower.poll();
        follower.is_written()
    })
}

/// Reads the file of a run, and derives the run's state from it.
#[derive(Debug)]
pub(crate) struct Follower {
    file: File,
    /// Bytes read of an incomplete line.
    rest: Vec<u8>,
    pub(crate) state: RunState,
    /// Time at which the run began.
    started: Option<jiff::Timestamp>,
    /// Lines were read that another version wrote.
    other_version: Option<u32>,
}

impl Follower {
    /// Opens the file of a run's folder.
    pub(crate) fn open(folder: &Path) -> std::io::Result<Self> {
        let file = File::open(folder.join(FILE))?;
        Ok(Self { file, rest: Vec::new(), state: RunState::default(), started: None, other_version: None })
    }

    /// Reads new lines; returns whether there were any.
    pub(crate) fn poll(&mut self) -> std::io::Result<bool> {
        if self.file.read_to_end(&mut self.rest)? == 0 {
            return Ok(false);
        }
        let Some(last) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Ok(false) };
        let whole: Vec<u8> = self.rest.drain(..=last).collect();
        for line in whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            // Fields of later versions are ignored.
            if let Ok(line) = serde_json::from_slice::<EventLine>(line) {
                self.take(line);
            }
        }
        Ok(true)
    }

    fn take(&mut self, line: EventLine) {
        if let RunEvent::Run(run) = &line.event {
            self.started = run.started_at.parse().ok();
            self.other_version = Some(run.version).filter(|version| *version != VERSION);
        }
        if self.other_version.is_none() {
            self.state.take(line);
        }
    }

    /// Failure of a file that cannot be followed, because of its version.
    pub(crate) fn refused(&self) -> Option<Failure> {
        let version = self.other_version?;
        let message = format!("{FILE} has version {version} of its format; this program reads version {VERSION}");
        Some(Failure::new(Exit::Usage, message).hint("follow it with the version of bourse that runs it"))
    }

    /// Whether the process that writes the file is alive.
    pub(crate) fn is_written(&self) -> bool {
        match self.file.try_lock_shared() {
            Ok(()) => {
                // No process waits for this lock; it goes with the file if it cannot be released.
                let _ = self.file.unlock();
                false
            }
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(_)) => {
                let process = self.state.run.as_ref().and_then(|run| i32::try_from(run.process).ok());
                process.is_some_and(interrupt::is_alive)
            }
        }
    }

    /// The view of the run now.
    pub(crate) fn view(&self) -> LiveRun {
        let since = |started| jiff::Timestamp::now().duration_since(started).as_secs_f64();
        // The duration of a run that has ended is fixed; a clock that was set back is ignored.
        let running_s = self.started.filter(|_| self.state.outcome.is_none()).map_or(0.0, since);
        self.state.view(running_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::line::RunOutcome;
    use crate::live::state::tests::{round, run};
    use std::io::Write as _;

    fn text(event: RunEvent) -> String {
        format!("{}\n", serde_json::to_string(&EventLine { at_s: 1.0, event }).unwrap())
    }

    #[test]
    fn lines_are_taken_once_they_are_whole_and_what_is_no_line_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = File::create(folder.path().join(FILE)).unwrap();
        file.lock().unwrap();
        let mut follower = Follower::open(folder.path()).unwrap();
        assert!(!follower.poll().unwrap() && follower.is_written());
        let (begun, of_round) = (text(run()), text(round("a")));
        let (one, other) = begun.split_at(20);
        file.write_all(one.as_bytes()).unwrap();
        assert!(!follower.poll().unwrap() && follower.state.run.is_none());
        file.write_all(format!("{other}no line\n{{\"at_s\":1,\"new\":{{}}}}\n{of_round}").as_bytes()).unwrap();
        assert!(follower.poll().unwrap());
        assert_eq!(follower.state.rounds(), Some([1, 6]));
        assert!(follower.view().running_s > 1_000.0 || jiff::Timestamp::now() < follower.started.unwrap());
        // The end is read although the file was removed.
        file.write_all(text(RunEvent::Ended { outcome: RunOutcome::Finished }).as_bytes()).unwrap();
        std::fs::remove_file(folder.path().join(FILE)).unwrap();
        assert!(follower.poll().unwrap());
        assert_eq!(follower.view().ended.as_deref(), Some("finished"));
        drop(file);
        assert!(!follower.is_written());
        assert!(follower.refused().is_none());
    }

    #[test]
    fn another_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let other = text(run()).replace("\"version\":1", "\"version\":2");
        std::fs::write(folder.path().join(FILE), other + &text(round("a"))).unwrap();
        let mut follower = Follower::open(folder.path()).unwrap();
        assert!(follower.poll().unwrap());
        let refused = follower.refused().expect("it is another");
        assert!(refused.line().contains("live.ndjson has version 2"), "{}", refused.line());
        assert_eq!(follower.state, RunState::default());
    }
}
