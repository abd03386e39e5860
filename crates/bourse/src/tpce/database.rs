//! The database of a target: found fit, loaded, or refused with a reason.

use super::{threads, whole};
use crate::args::{self, Database};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::progress::{Step, note};
use bourse_egen::Inputs;
use bourse_engine::{Engine, EngineError, ErrorKind};
use bourse_tpce::load::{
    Constraints, Existing, Fingerprint, Found, LoadError, LoadOptions, Phase, Progress, examine, identify, load,
};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a database came to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ready {
    /// What it is made of.
    pub(crate) fingerprint: Fingerprint,
    /// In words: fresh, or how many trades earlier runs added.
    pub(crate) history: String,
}

/// Makes sure that a target holds the database that is wanted: takes the one that is there, or loads it.
pub(crate) fn ready(
    target: &str,
    engine: &dyn Engine,
    wanted: &Database,
    inputs: &Inputs,
    interrupted: &AtomicBool,
) -> Result<Ready, Failure> {
    let part = whole(wanted)?;
    let constraints = match wanted.constraints {
        args::Constraints::Full => Constraints::Full,
        args::Constraints::Keys => Constraints::KeysOnly,
    };
    let options = LoadOptions { constraints, threads: threads(wanted.threads) };
    let fingerprint = Fingerprint::of(engine, inputs, part, constraints);
    let existing = examine(engine, &fingerprint).map_err(|error| engine_failure(target, &error))?;
    let words = existing.to_string();
    match existing {
        Existing::Matches(_) if !wanted.reload => {
            note(&format!("{target}: {words}"));
            return Ok(Ready { fingerprint, history: words });
        }
        Existing::Foreign(why) => return Err(refused(target, &why)),
        Existing::Unfinished | Existing::Differs { .. } if !wanted.reload => {
            return Err(Failure::usage(format!("{target} is {words}"))
                .hint("ask for the database that is there, name another place, or replace it with --reload"));
        }
        _ => {}
    }
    if let Some(remains) = engine.remains().map_err(|error| engine_failure(target, &error))? {
        note(&format!("{target}: {remains}"));
    }
    fill(target, engine, inputs, &fingerprint, &options, interrupted)?;
    Ok(Ready { fingerprint, history: "loaded for this run".to_owned() })
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
    let step = Step::counting(format!("loading {} customers, {days}", part.customers()), 1, "rows");
    let mut told = None;
    let mut progress = |progress: Progress| {
        match progress.phase {
            Phase::Rows => step.of(progress.rows, progress.rows_expected),
            Phase::Indexes => step.say(format!("indexing {}", progress.table)),
            Phase::Counts => step.say(format!("counting {}", progress.table)),
            Phase::Finish => step.say("making it last"),
        }
        told = Some(progress.rows);
        if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match load(engine, inputs, part, options, &mut progress) {
        Ok(report) => {
            step.of(report.total(), report.total());
            step.done();
            Ok(())
        }
        Err(error) => {
            step.abandon();
            Err(match error {
                LoadError::Stopped => interrupt::interrupted("nothing is left of the load"),
                LoadError::Engine(error) => engine_failure(target, &error),
                LoadError::Rows { .. } => Failure::new(Exit::Check, format!("{target}: {error}"))
                    .hint("the engine lost rows, or our generator made others than it should: please tell us"),
            })
        }
    }
}

/// The database of ours that a target holds, whatever it is made of.
pub(crate) fn found(target: &str, engine: &dyn Engine) -> Result<Found, Failure> {
    match identify(engine).map_err(|error| engine_failure(target, &error))? {
        Existing::Matches(found) => Ok(found),
        Existing::Foreign(why) => Err(refused(target, &why)),
        other => Err(Failure::usage(format!("{target}: {other}"))
            .hint(format!("`bourse tpce load {target}` makes a database there"))),
    }
}

/// The failure of a target whose place is taken by something that is not ours.
pub(crate) fn refused(target: &str, why: &str) -> Failure {
    Failure::usage(format!("{target} is not used"))
        .detail("cause", why)
        .hint("it is left as it is; name another place, or remove it yourself")
}

/// An engine's error as it is told: with the engine's words, and what to try.
pub(crate) fn engine_failure(target: &str, error: &EngineError) -> Failure {
    if error.kind() == ErrorKind::Refused {
        return refused(target, error.message());
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
        ErrorKind::Full => failure.hint("make room, name another place, or ask for fewer --customers or --days"),
        ErrorKind::Conflict => failure.hint("is another program using the database?"),
        _ => failure,
    }
}
