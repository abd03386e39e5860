//! The check of a state: recovered by the engine, then compared with the contents after each commit.

use super::case::{Activity, CaseSettings, StateCase};
use super::document::judged;
use super::process::RecoveryProcess;
use super::record::Recordings;
use crate::known_work::{WorkEvent, compare, contents_queries};
use crate::test_bed::AcidError;
use bourse_crash::{Directory, FailedState, Hash, Promise, RecoveryCheck, RecoveryOutcome, Trace, minimal};
use bourse_engine::{Result, RowExt as _};
use bourse_engine_sqlite::power::{ImageDatabase, recover};
use std::collections::HashMap;

/// Name of the database file, or of its folder.
pub(super) const DATABASE: &str = "db";

/// Recovery of a case's states, and their comparison. Where only the opening differs: SQLite of this build opens them in
/// memory, a hundred times as fast as in files; other engines in a process of their own.
pub(super) struct StateCheck<'c> {
    case: &'c StateCase,
    seed: u64,
    opening: StateOpening<'c>,
    /// First failure of the check itself.
    failed: Option<AcidError>,
}

enum StateOpening<'c> {
    /// Databases in memory by their hash: equal ones are compared once.
    Memory(HashMap<Hash, WorkEvent>),
    Process(Box<RecoveryProcess<'c>>),
}

impl<'c> StateCheck<'c> {
    pub(super) fn new(recordings: &'c Recordings<'c>, case: &'c StateCase, seed: u64) -> Result<Self, AcidError> {
        let opening = match &case.settings {
            CaseSettings::Sqlite { .. } => StateOpening::Memory(HashMap::new()),
            CaseSettings::Target(_) => StateOpening::Process(Box::new(RecoveryProcess::new(recordings, case, seed)?)),
        };
        Ok(Self { case, seed, opening, failed: None })
    }

    /// Reduces a state of a trace that violates the promise, which was explored: the pieces that are left, as words, and the files.
    pub(super) fn reduced(
        &mut self,
        trace: &Trace,
        failure: &FailedState,
        promise: Promise,
    ) -> (Vec<String>, Directory) {
        let (device, seed) = (self.case.device, self.seed);
        let mut fails = |state: &Directory| judged(&self.check(state), failure.acknowledged, promise).1;
        let minimal = minimal(trace, device, seed, failure.id, &mut fails).expect("it was explored");
        let what = if minimal.is_lost { "lost" } else { "arrived alone" };
        let words = match &minimal.words[..] {
            [] if minimal.is_lost => vec!["nothing was lost".to_owned()],
            [] => vec!["nothing arrived".to_owned()],
            words => words.iter().map(|word| format!("{what}: {word}")).collect(),
        };
        (words, minimal.state)
    }

    /// Returns the reason that states could not be checked.
    pub(super) fn finish(&mut self) -> Result<(), AcidError> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

/// Rows and integrity of a database in memory.
fn contents(recovered: &Directory, seed: u64) -> Result<WorkEvent> {
    let database = ImageDatabase::open(recovered, DATABASE)?;
    let damage = database.damage()?;
    let [rows, count] = contents_queries();
    let mut counted = 0;
    database.query(&count, &mut |row| {
        counted = row.get::<i64>(0)?;
        Ok(())
    })?;
    let (progress, differs) = compare(seed, counted as u64, &mut |each| database.query(&rows, each))?;
    Ok(WorkEvent::Found { progress, differs, damage })
}

fn in_memory(state: &Directory, seed: u64, known: &mut HashMap<Hash, WorkEvent>) -> Result<WorkEvent> {
    let mut recovered = recover(state, DATABASE)?;
    // A log that could not be merged into the database belongs to the state; other files do not matter.
    recovered.files.retain(|name, _| name.starts_with(DATABASE) && !name.ends_with("-loading"));
    let hash = recovered.hash();
    if let Some(event) = known.get(&hash) {
        return Ok(event.clone());
    }
    let event = contents(&recovered, seed)?;
    known.insert(hash, event.clone());
    Ok(event)
}

impl RecoveryCheck for StateCheck<'_> {
    fn check(&mut self, state: &Directory) -> RecoveryOutcome {
        let corrupted = |found: String| RecoveryOutcome::Corrupted { found: found.into() };
        let event = match &mut self.opening {
            StateOpening::Memory(known) => match state.files.get(DATABASE) {
                Some(file) if file.size() > 0 => {
                    in_memory(state, self.seed, known).unwrap_or_else(|error| WorkEvent::Unreadable(error.to_string()))
                }
                _ if self.case.activity == Activity::Load => return RecoveryOutcome::Whole { commits: 0 },
                _ => return corrupted("the database file is missing or empty".to_owned()),
            },
            StateOpening::Process(process) => process.look(state).unwrap_or_else(|error| {
                self.failed.get_or_insert(error);
                WorkEvent::Unreadable("it could not be checked".to_owned())
            }),
        };
        match event {
            WorkEvent::Found { damage, .. } if !damage.is_empty() => {
                corrupted(format!("integrity check: {}", damage.first().map_or("", String::as_str)))
            }
            WorkEvent::Found { differs: Some(text), .. } => corrupted(text),
            WorkEvent::Found { progress, .. } => match self.case.commits_of(progress) {
                Some(commits) => RecoveryOutcome::Whole { commits },
                None => corrupted(format!("the state after transaction {progress}, which was not begun")),
            },
            WorkEvent::Unreadable(text) => corrupted(text),
            other => corrupted(format!("{other:?}")),
        }
    }
}
