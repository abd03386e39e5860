//! The recording of traces: a case's settings at work in a directory of their own.

use super::case::{Activity, Case};
use super::check::{DATABASE, History, SqliteCheck};
use super::work::{Work, load_with};
use crate::test_bed::AcidError;
use bourse_crash::{Directory, Operation, Trace};
use bourse_engine::Engine as _;
use bourse_engine_sqlite::power::{Recording, Scope};
use bourse_engine_sqlite::{Journal, SqliteEngine, open};
use std::path::Path;
use tempfile::TempDir;

/// Recorded trace of a case, with the history that its states are checked against.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) trace: Trace,
    history: History,
    may_be_missing: bool,
}

impl Recorded {
    /// New check for its states.
    pub(super) fn check(&self) -> SqliteCheck {
        SqliteCheck::new(self.history.clone(), self.may_be_missing)
    }
}

/// Directory for a recording: in memory if the system has such a place, since a real sync would only cost time.
fn directory() -> Result<TempDir, AcidError> {
    let shared = Path::new("/dev/shm");
    let made = if shared.is_dir() {
        tempfile::tempdir_in(shared).or_else(|_| tempfile::tempdir())
    } else {
        tempfile::tempdir()
    };
    made.map_err(|error| AcidError::Machinery(format!("no directory for a recording: {error}")))
}

/// Target with a case's settings. Small pages and a small cache give many states of few bytes; a log is checkpointed often.
fn target(case: &Case, directory: &Path) -> String {
    let checkpoint = if case.journal == Journal::Wal { "&autocheckpoint=64" } else { "" };
    format!(
        "sqlite:{}/{DATABASE}?journal={}&sync={}&page_size=1024&cache=64KiB&foreign_keys=off{checkpoint}",
        directory.display(),
        case.journal.word(),
        case.sync.word()
    )
}

fn engine(target: &str) -> Result<SqliteEngine, AcidError> {
    open(target).map_err(|error| AcidError::Machinery(format!("{target}: {error}")))
}

/// Makes a database, runs some commits, and closes it.
fn database(target: &str, seed: u64, commits: u64) -> Result<(), AcidError> {
    let engine = engine(target)?;
    load_with(engine.loader()?)?;
    let mut session = engine.session()?;
    let mut work = Work::new(seed);
    for _ in 0..commits {
        work.commit(&mut *session)?;
    }
    Ok(())
}

/// Records a case.
pub(super) fn record(case: &Case, seed: u64) -> Result<Recorded, AcidError> {
    let directory = directory()?;
    let target = target(case, directory.path());
    let commits = case.commits();
    match case.activity {
        Activity::Work => database(&target, seed, 0)?,
        Activity::Reload => database(&target, seed, commits)?,
        Activity::Load => {}
    }
    // A persistent journal is removed first, so that its creation is recorded too. No session has the database open.
    match std::fs::remove_file(directory.path().join(format!("{DATABASE}-journal"))) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(AcidError::Machinery(format!("an old journal cannot be removed: {error}")));
        }
        _ => {}
    }
    let recording = Recording::begin(directory.path(), case.device, Scope::Thread)?;
    let acknowledge = recording.acknowledge();
    let engine = engine(&target)?;
    let history = if case.activity == Activity::Work {
        let mut session = engine.session()?;
        let mut work = Work::new(seed);
        for number in 1..=commits {
            work.commit(&mut *session)?;
            acknowledge(number);
        }
        drop(session);
        History::of(seed, commits)?
    } else {
        load_with(engine.loader()?)?;
        acknowledge(1);
        History::of_load(seed, commits)?
    };
    drop(engine);
    Ok(Recorded { trace: recording.finish(), history, may_be_missing: case.activity == Activity::Load })
}

/// Records how SQLite recovers a state, as a trace with `acknowledged` commits from the start.
pub(super) fn record_recovery(case: &Case, state: &Directory, acknowledged: u64) -> Result<Trace, AcidError> {
    let directory = directory()?;
    for (name, file) in &state.files {
        std::fs::write(directory.path().join(name), file.to_bytes())
            .map_err(|error| AcidError::Machinery(format!("a state cannot be written: {error}")))?;
    }
    let recording = Recording::begin(directory.path(), case.device, Scope::Thread)?;
    let engine = engine(&target(case, directory.path()))?;
    // A failed recovery is noticed when the state itself is checked.
    let recovered = engine.session().map(drop);
    drop(engine);
    let mut trace = recording.finish();
    recovered?;
    trace.operations.insert(0, Operation::Acknowledged(acknowledged));
    Ok(trace)
}
