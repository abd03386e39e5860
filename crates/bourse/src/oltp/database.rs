//! The database of a target: found fit, loaded, or refused with a reason.

use super::served::ServedWorkload;
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::progress::{ProgressStep, note};
use crate::spent::{self, SpentPart};
use bourse_driver::RealClock;
use bourse_engine::{Capabilities, Engine, EngineError, ErrorKind, Hosting, Location, server_wait};
use bourse_oltp::check::Depth;
use bourse_oltp::check::recorded::before_run;
use bourse_oltp::load::{
    Constraints, ExistingDatabase, Fingerprint, FoundDatabase, LoadError, LoadOptions, LoadPhase, LoadProgress,
    identify, load,
};
use bourse_oltp::{Generator, Size, Workload};
use bourse_record::{Check, CheckStatus};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// A database found fit for use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadyDatabase {
    /// Fingerprint of the database.
    pub(crate) fingerprint: Fingerprint,
    /// History of the database: fresh, or how many trades earlier runs added.
    pub(crate) history: String,
    /// Checks before the first run; all of them passed.
    pub(crate) checks: Vec<Check>,
}

/// Database that a command wants.
pub(crate) struct WantedDatabase<'w> {
    /// Declaration of the workload.
    pub(crate) workload: &'w dyn Workload,
    /// The generator of its rows.
    pub(crate) generator: &'w dyn Generator,
    /// Size and constraints as requested.
    pub(crate) size: Size,
    /// Constraints to declare.
    pub(crate) constraints: Constraints,
    /// Size and constraints in place of the requested ones if a database with that fingerprint exists: its own where options
    /// were not set explicitly.
    pub(crate) adopt: &'w dyn Fn(&Fingerprint) -> (Size, Constraints),
    /// Options that make a smaller database, as a hint where there is no room.
    pub(crate) smaller: &'static str,
    /// Whether an existing database is replaced.
    pub(crate) reload: bool,
    /// Threads that generate rows.
    pub(crate) threads: usize,
}

/// Database of a transactional workload, as the options of a command describe it.
pub(crate) trait DatabaseOptions {
    /// The workload.
    fn served(&self) -> &'static dyn ServedWorkload;

    /// Reasons why an engine cannot run the workload; empty if it can.
    fn needs(&self) -> fn(&Capabilities) -> Vec<String>;

    /// Size of the database as a person reads it, and its approximate number of rows.
    ///
    /// # Errors
    /// A usage error if there is no database of that size.
    fn size(&self) -> Result<(String, u64)>;

    /// Whether the database replaces an existing one.
    fn reloads(&self) -> bool;

    /// Calls `then` with the wanted database.
    fn wanted(&self, then: WithWanted<'_>) -> Result<ReadyDatabase>;

    /// Makes sure that a target has the database, and checks it.
    fn ready(
        &self,
        target: &str,
        engine: &dyn Engine,
        depth: Depth,
        interrupted: &AtomicBool,
    ) -> Result<ReadyDatabase> {
        self.wanted(&mut |wanted| ready(target, engine, wanted, depth, interrupted))
    }
}

/// Use of a wanted database.
pub(crate) type WithWanted<'w> = &'w mut dyn FnMut(&WantedDatabase<'_>) -> Result<ReadyDatabase>;

/// Makes sure that a target holds the database that is wanted: takes the existing one, or loads it; then checks that it is as
/// declared.
pub(crate) fn ready(
    target: &str,
    engine: &dyn Engine,
    wanted: &WantedDatabase<'_>,
    depth: Depth,
    interrupted: &AtomicBool,
) -> Result<ReadyDatabase> {
    let ready = present(target, engine, wanted, interrupted)?;
    let checks = checked(target, engine, wanted.workload, &ready.fingerprint, depth)?;
    Ok(ReadyDatabase { checks, ..ready })
}

/// The checks before a run; a failure if one does not hold.
fn checked(
    target: &str,
    engine: &dyn Engine,
    workload: &dyn Workload,
    fingerprint: &Fingerprint,
    depth: Depth,
) -> Result<Vec<Check>> {
    let clock = RealClock::start();
    let step = ProgressStep::waiting(format!("checking {target} before it is used"));
    let _spending = spent::on(SpentPart::ChecksBefore);
    let checks = before_run(engine, workload, fingerprint, depth, &clock, &mut |check| step.say(check.name.clone()));
    step.done();
    let checks = checks.map_err(|error| engine_failure(target, &error))?;
    let failed: Vec<_> = checks.iter().filter(|check| check.status == CheckStatus::Failed).collect();
    if failed.is_empty() {
        let took_s: f64 = checks.iter().map(|check| check.took_s).sum();
        note(&format!("{target}: {} checks before it is used, {took_s:.1} s", checks.len()));
        return Ok(checks);
    }
    let lines: Vec<_> = failed.iter().map(|check| format!("{}: {}", check.name, check.evidence)).collect();
    Err(Failure::new(Exit::Check, format!("{target} has changed since it was loaded"))
        .detail("failed", lines.join("\n"))
        .hint("--reload loads it anew, without these changes"))
}

fn present(
    target: &str,
    engine: &dyn Engine,
    wanted: &WantedDatabase<'_>,
    interrupted: &AtomicBool,
) -> Result<ReadyDatabase> {
    let failed = |error: EngineError| engine_failure(target, &error);
    let &WantedDatabase { workload, generator, reload, threads, .. } = wanted;
    let existing = identify(engine, workload).map_err(failed)?;
    let (size, constraints) = match &existing {
        ExistingDatabase::Matches(FoundDatabase { fingerprint, .. }) if !reload => (wanted.adopt)(fingerprint),
        _ => (wanted.size.clone(), wanted.constraints),
    };
    workload.check_size(&size).map_err(Failure::usage)?;
    let options = LoadOptions { constraints, threads };
    let fingerprint = Fingerprint::of(engine, workload, generator, &size, constraints).map_err(failed)?;
    let existing = existing.against(workload, &fingerprint);
    let words = existing.to_string();
    match existing {
        ExistingDatabase::Matches(_) if !reload => {
            note(&format!("{target}: {words}"));
            return Ok(ReadyDatabase { fingerprint, history: words, checks: Vec::new() });
        }
        ExistingDatabase::Foreign(why) => return Err(refused(target, &why)),
        ExistingDatabase::Unfinished | ExistingDatabase::Differs { .. } if !reload => {
            return Err(Failure::usage(format!("{target} is {words}"))
                .hint("use these options, name another target, or replace the database with --reload"));
        }
        _ => {}
    }
    if let Some(leftovers) = engine.leftovers().map_err(failed)? {
        note(&format!("{target}: {leftovers}"));
    }
    fill(target, engine, wanted, &size, &options, interrupted)?;
    Ok(ReadyDatabase { fingerprint, history: "loaded for this run".to_owned(), checks: Vec::new() })
}

fn fill(
    target: &str,
    engine: &dyn Engine,
    wanted: &WantedDatabase<'_>,
    size: &Size,
    options: &LoadOptions,
    interrupted: &AtomicBool,
) -> Result<()> {
    let step = ProgressStep::in_parts(format!("loading {}", wanted.workload.size_text(size)), "rows");
    let _spending = spent::on(SpentPart::Loading);
    let mut told = None;
    let mut progress = |progress: LoadProgress| {
        step.part(progress.done, progress.rows);
        match progress.phase {
            LoadPhase::Rows => {}
            LoadPhase::Indexes => step.say(format!("indexing {}", progress.table)),
            LoadPhase::Counts => step.say(format!("counting {}", progress.table)),
            LoadPhase::Contents => step.say(format!("comparing {} with the rows written", progress.table)),
            LoadPhase::Finish => step.say("syncing to disk"),
        }
        told = Some(progress.rows);
        if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match load(engine, wanted.workload, wanted.generator, size, options, &mut progress) {
        Ok(report) => {
            step.part(1.0, report.total());
            step.done();
            Ok(())
        }
        Err(error) => {
            step.abandon();
            Err(match error {
                LoadError::Stopped => interrupt::interrupted("nothing is left of the load"),
                LoadError::Engine(error) if error.kind() == ErrorKind::Full => {
                    engine_failure(target, &error).hint(wanted.smaller)
                }
                LoadError::Engine(error) => engine_failure(target, &error),
                LoadError::Rows { .. } | LoadError::Contents { .. } => {
                    Failure::new(Exit::Check, format!("{target}: {error}"))
                        .hint("the engine lost rows, or the generator made wrong ones: please report this")
                }
            })
        }
    }
}

/// Place of a database that ends with the command that loads it; `None` for one that stays.
pub(crate) fn passing_place(engine: &dyn Engine) -> Option<&'static str> {
    match (engine.hosting(), engine.location()) {
        (Hosting::OwnedServer(_), _) => Some("on a private server"),
        (_, Location::Memory | Location::Nowhere) => Some("in memory"),
        _ => None,
    }
}

/// The database of a workload that a target holds, of any size.
pub(crate) fn find_database(target: &str, engine: &dyn Engine, workload: &dyn Workload) -> Result<FoundDatabase> {
    match identify(engine, workload).map_err(|error| engine_failure(target, &error))? {
        ExistingDatabase::Matches(found) => Ok(found),
        ExistingDatabase::Foreign(why) => Err(refused(target, &why)),
        other => {
            let name = workload.name();
            let hint = match passing_place(engine) {
                Some(place) => format!("`bourse {name} run {target}` loads a database {place}, runs and checks it"),
                None => format!("`bourse {name} load {target}` loads one"),
            };
            Err(Failure::usage(format!("{target}: {other}")).hint(hint))
        }
    }
}

/// Refuses to verify a database that earlier runs, or verifications, have changed.
pub(crate) fn refuse_used(target: &str, found: &FoundDatabase) -> Result<()> {
    let Some(changes) = found.used() else { return Ok(()) };
    Err(Failure::usage(format!("{target}: used by earlier runs: {changes}")).hint(
        "a verification changes what it compares, and needs fresh databases: add --reload, which loads each anew",
    ))
}

/// Refuses a target whose place is taken by something foreign: before anything is loaded, and before it is opened.
pub(crate) fn refuse_foreign(target: &str, engine: &dyn Engine) -> Result<()> {
    match engine.foreign().map_err(|error| engine_failure(target, &error))? {
        None => Ok(()),
        Some(why) => Err(refused(target, &why)),
    }
}

/// Failure of a target whose place is taken by something foreign.
pub(crate) fn refused(target: &str, why: &str) -> Failure {
    Failure::usage(format!("cannot use {target}")).detail("cause", why).hint("it is left as it is; name another target")
}

/// Failure of an engine's error: with the engine's message, and a hint.
pub(crate) fn engine_failure(target: &str, error: &EngineError) -> Failure {
    match error.kind() {
        ErrorKind::Refused => return refused(target, error.message()),
        ErrorKind::Interrupted if server_wait::is_interrupted() => return interrupt::interrupted(error.message()),
        _ => {}
    }
    let mut cause = error.message().to_owned();
    if let Some(code) = error.code() {
        cause.push_str(&format!(" ({code})"));
    }
    let mut failure = Failure::new(Exit::of(error.kind()), format!("{target} failed"));
    if let Some(statement) = error.statement() {
        failure = failure.detail("statement", statement);
    }
    failure = failure.detail("cause", cause);
    match error.kind() {
        ErrorKind::Full => failure.hint("free some space, or name another target"),
        ErrorKind::Conflict => failure.hint("is another program using the database?"),
        _ => failure,
    }
}
