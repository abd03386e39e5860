//! Checks as the run file has them, with the time that each took.

use super::{CheckResult, Depth, INTERRUPTED, check_all};
use crate::load::{Fingerprint, read_fingerprints};
use crate::workload::{Size, Workload};
use bourse_driver::Clock;
use bourse_engine::server_wait::Interruption;
use bourse_engine::{Engine, EngineError, ErrorKind, Result, Session};
use bourse_record::{Check, CheckStatus};

/// Checks that are being made, each timed from the end of the one before.
pub struct RecordedChecks<'r> {
    clock: &'r dyn Clock,
    last: u64,
    /// Added to each check's name.
    suffix: &'static str,
    progress: &'r mut dyn FnMut(&Check),
    done: Vec<Check>,
}

impl<'r> RecordedChecks<'r> {
    /// Begins; `progress` is called with each check as it is done.
    pub fn begin(clock: &'r dyn Clock, progress: &'r mut dyn FnMut(&Check)) -> Self {
        Self { clock, last: clock.now(), suffix: "", progress, done: Vec::new() }
    }

    /// Adds a check that has just been made.
    pub fn note(&mut self, checked: &CheckResult) {
        let now = self.clock.now();
        let took_s = (now - std::mem::replace(&mut self.last, now)) as f64 / 1e9;
        let mut check = entry(checked, took_s);
        check.name.push_str(self.suffix);
        (self.progress)(&check);
        self.done.push(check);
    }

    /// All checks that were made.
    pub fn done(self) -> Vec<Check> {
        self.done
    }
}

/// Makes the checks of a run on a session.
pub type Reconcile<'r> = dyn FnMut(&mut dyn Session) -> Result<Vec<CheckResult>> + 'r;

/// Checks a database after a run: first those of the run that `reconcile` makes, then [all others](check_all). The rows that a run
/// adds to are compared with the generated ones [before it](before_run) alone.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn after_run(
    engine: &dyn Engine,
    workload: &dyn Workload,
    size: &Size,
    reconcile: &mut Reconcile<'_>,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(&Check),
) -> Result<Vec<Check>> {
    let mut session = engine.session()?;
    let mut recorded = RecordedChecks::begin(clock, progress);
    let interruption = Interruption::from_now();
    let reconciled = reconcile(&mut *session);
    interruption.check(INTERRUPTED)?;
    reconciled.iter().flatten().for_each(|checked| recorded.note(checked));
    let mut found = read_fingerprints(&mut *session, workload)?.into_iter().flatten();
    let Some(fingerprint) = found.find(|found| found.size == *size) else {
        let why = format!("the database no longer says that it has {}", workload.size_text(size));
        return Err(EngineError::new(ErrorKind::Other, why));
    };
    drop(session);
    let checked = check_all(engine, workload, &fingerprint, Depth::Quick, &mut |checked| recorded.note(checked))?;
    // A table that is missing fails the check of the schema.
    reconciled.map(drop).or_else(|error| if checked.iter().all(CheckResult::passed) { Err(error) } else { Ok(()) })?;
    Ok(recorded.done())
}

/// [`before_run`](super::before_run), as the run file has it.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn before_run(
    engine: &dyn Engine,
    workload: &dyn Workload,
    fingerprint: &Fingerprint,
    depth: Depth,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(&Check),
) -> Result<Vec<Check>> {
    let mut recorded = RecordedChecks { suffix: ", before the run", ..RecordedChecks::begin(clock, progress) };
    super::before_run(engine, workload, fingerprint, depth, &mut |checked| recorded.note(checked))?;
    Ok(recorded.done())
}

/// A check as the run file has it.
pub fn entry(checked: &CheckResult, took_s: f64) -> Check {
    let evidence = match (checked.offences, checked.sql.is_empty()) {
        (_, true) => checked.evidence.join("; "),
        (0, false) => "no offending row".to_owned(),
        (offences, false) => format!("{offences} offending rows: {}", checked.evidence.join("; ")),
    };
    let status = if checked.not_run.is_some() { CheckStatus::NotApplicable } else { checked.passed().into() };
    Check { took_s, ..Check::new(&checked.name, &checked.words, &checked.source, status, evidence) }
}
