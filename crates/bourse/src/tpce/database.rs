//! The database of a target: found fit, loaded, or refused with a reason.

use super::{threads, whole};
use crate::args::{self, Database, ExplicitlySet};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::progress::{Step, note};
use crate::spent::{self, Part};
use bourse_driver::RealClock;
use bourse_egen::Inputs;
use bourse_engine::{Engine, EngineError, ErrorKind, Location, server_wait};
use bourse_record::{Check, CheckStatus};
use bourse_tpce::check::Depth;
use bourse_tpce::load::{
    Constraints, Existing, Fingerprint, Found, LoadError, LoadOptions, Phase, Progress, identify, load,
};
use bourse_tpce::users::before_run;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// A database found fit for use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ready {
    /// Fingerprint of the database.
    pub(crate) fingerprint: Fingerprint,
    /// History of the database: fresh, or how many trades earlier runs added.
    pub(crate) history: String,
    /// Checks before the first run; all of them passed.
    pub(crate) checks: Vec<Check>,
}

/// Makes sure that a target holds the requested database: takes the existing one, or loads it; then checks that it is as it
/// is declared. Options that are not `set` are taken from an existing database.
pub(crate) fn ready(
    target: &str,
    engine: &dyn Engine,
    wanted: &Database,
    set: ExplicitlySet,
    inputs: &Inputs,
    depth: Depth,
    interrupted: &AtomicBool,
) -> Result<Ready, Failure> {
    let ready = present(target, engine, wanted, set, inputs, interrupted)?;
    let checks = checked(target, engine, &ready.fingerprint, depth)?;
    Ok(Ready { checks, ..ready })
}

/// The checks before a run; a failure if one does not hold.
fn checked(target: &str, engine: &dyn Engine, fingerprint: &Fingerprint, depth: Depth) -> Result<Vec<Check>, Failure> {
    let clock = RealClock::start();
    let step = Step::waiting(format!("checking {target} before it is used"));
    let _spending = spent::on(Part::ChecksBefore);
    let checks = before_run(engine, fingerprint, depth, &clock, &mut |check| step.say(check.name.clone()));
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

/// Options of an existing database: those that are `set` as wanted, the others as found.
fn of_its_own_size(existing: &Existing, wanted: &Database, set: ExplicitlySet) -> Database {
    let mut wanted = wanted.clone();
    let Existing::Matches(Found { fingerprint, .. }) = existing else { return wanted };
    let part = fingerprint.part;
    // A part of a larger database cannot be requested by options.
    if wanted.reload || part.customers() != part.total_customers() {
        return wanted;
    }
    if let (false, Ok(customers)) = (set.customers, u64::try_from(part.customers())) {
        wanted.customers = customers;
    }
    if let (false, Ok(days)) = (set.days, u32::try_from(part.days())) {
        wanted.days = days;
    }
    if let (false, Ok(scale_factor)) = (set.scale_factor, u32::try_from(part.scale_factor())) {
        wanted.scale_factor = scale_factor;
    }
    if !set.constraints {
        wanted.constraints = match fingerprint.constraints {
            Constraints::Full => args::Constraints::Full,
            Constraints::KeysOnly => args::Constraints::Keys,
        };
    }
    wanted
}

fn present(
    target: &str,
    engine: &dyn Engine,
    wanted: &Database,
    set: ExplicitlySet,
    inputs: &Inputs,
    interrupted: &AtomicBool,
) -> Result<Ready, Failure> {
    let existing = identify(engine).map_err(|error| engine_failure(target, &error))?;
    let wanted = &of_its_own_size(&existing, wanted, set);
    let part = whole(wanted)?;
    let constraints = match wanted.constraints {
        args::Constraints::Full => Constraints::Full,
        args::Constraints::Keys => Constraints::KeysOnly,
    };
    let options = LoadOptions { constraints, threads: threads(wanted.threads) };
    let fingerprint =
        Fingerprint::of(engine, inputs, part, constraints).map_err(|error| engine_failure(target, &error))?;
    let existing = existing.against(&fingerprint);
    let words = existing.to_string();
    match existing {
        Existing::Matches(_) if !wanted.reload => {
            note(&format!("{target}: {words}"));
            return Ok(Ready { fingerprint, history: words, checks: Vec::new() });
        }
        Existing::Foreign(why) => return Err(refused(target, &why)),
        Existing::Unfinished | Existing::Differs { .. } if !wanted.reload => {
            return Err(Failure::usage(format!("{target} is {words}"))
                .hint("use these options, name another target, or replace the database with --reload"));
        }
        _ => {}
    }
    if let Some(leftovers) = engine.leftovers().map_err(|error| engine_failure(target, &error))? {
        note(&format!("{target}: {leftovers}"));
    }
    fill(target, engine, inputs, &fingerprint, &options, interrupted)?;
    Ok(Ready { fingerprint, history: "loaded for this run".to_owned(), checks: Vec::new() })
}

fn fill(
    target: &str,
    engine: &dyn Engine,
    inputs: &Inputs,
    fingerprint: &Fingerprint,
    options: &LoadOptions,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let part = fingerprint.part;
    let days = if part.days() == 1 { "1 day".to_owned() } else { format!("{} days", part.days()) };
    let step = Step::in_parts(format!("loading {} customers, {days}", part.customers()), "rows");
    let _spending = spent::on(Part::Loading);
    let mut told = None;
    let mut progress = |progress: Progress| {
        step.part(progress.done, progress.rows);
        match progress.phase {
            Phase::Rows => {}
            Phase::Indexes => step.say(format!("indexing {}", progress.table)),
            Phase::Counts => step.say(format!("counting {}", progress.table)),
            Phase::Contents => step.say(format!("comparing {} with the rows written", progress.table)),
            Phase::Finish => step.say("syncing to disk"),
        }
        told = Some(progress.rows);
        if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match load(engine, inputs, part, options, &mut progress) {
        Ok(report) => {
            step.part(1.0, report.total());
            step.done();
            Ok(())
        }
        Err(error) => {
            step.abandon();
            Err(match error {
                LoadError::Stopped => interrupt::interrupted("nothing is left of the load"),
                LoadError::Engine(error) => engine_failure(target, &error),
                LoadError::Rows { .. } | LoadError::Contents { .. } => {
                    Failure::new(Exit::Check, format!("{target}: {error}"))
                        .hint("the engine lost rows, or the generator made wrong ones: please report this")
                }
            })
        }
    }
}

/// The database of Bourse in a target, whatever its size.
pub(crate) fn found(target: &str, engine: &dyn Engine) -> Result<Found, Failure> {
    match identify(engine).map_err(|error| engine_failure(target, &error))? {
        Existing::Matches(found) => Ok(found),
        Existing::Foreign(why) => Err(refused(target, &why)),
        other => {
            let hint = match engine.location() {
                Location::Memory | Location::Nowhere => {
                    format!("`bourse tpce run {target}` loads a database in memory, runs and checks it")
                }
                _ => format!("`bourse tpce load {target}` loads one"),
            };
            Err(Failure::usage(format!("{target}: {other}")).hint(hint))
        }
    }
}

/// Refuses a target whose place is taken by something foreign: before anything is loaded, and before it is opened.
pub(crate) fn refuse_foreign(target: &str, engine: &dyn Engine) -> Result<(), Failure> {
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
    let exit = if error.kind() == ErrorKind::Unsupported { Exit::Usage } else { Exit::Target };
    let mut cause = error.message().to_owned();
    if let Some(code) = error.code() {
        cause.push_str(&format!(" ({code})"));
    }
    let mut failure = Failure::new(exit, format!("{target} failed"));
    if let Some(statement) = error.statement() {
        failure = failure.detail("statement", statement);
    }
    failure = failure.detail("cause", cause);
    match error.kind() {
        ErrorKind::Full => failure.hint("free some space, name another target, or use fewer --customers or --days"),
        ErrorKind::Conflict => failure.hint("is another program using the database?"),
        _ => failure,
    }
}
