//! Checks and reconciliation of the database after a run, in the form of the run file.

use super::Ran;
use crate::check::reconciliation::{Acknowledged, DriverLedger, Snapshot};
use crate::check::{self, Checked, Depth};
use crate::load::Fingerprint;
use bourse_driver::Clock;
use bourse_egen::Part;
use bourse_engine::{Engine, EngineError};
use bourse_record::{Check, CheckStatus};

/// Checks the database, and reconciles it with the run if one is given. `progress` is called with each check.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn verify(
    engine: &dyn Engine,
    part: Part,
    ran: Option<&Ran>,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(&Check),
) -> Result<Vec<Check>, EngineError> {
    verify_and_reconcile(engine, part, ran.map(|ran| (&ran.before, &ran.acknowledged)), clock, progress)
}

/// Reconciles the database with a run, and checks nothing else: cheap, so that another round may follow on it.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn reconcile(engine: &dyn Engine, ran: &Ran) -> Result<Vec<Check>, EngineError> {
    let mut session = engine.session()?;
    let mut checks: Vec<Check> =
        ran.before.compare(&mut *session, &ran.acknowledged)?.iter().map(|checked| entry(checked, 0.0)).collect();
    checks.push(entry(&ran.before.cleaned(&mut *session)?, 0.0));
    Ok(checks)
}

/// Checks the database once for several drivers, and reconciles it with the ledgers of all together and of each.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn verify_drivers(
    engine: &dyn Engine,
    part: Part,
    before: &Snapshot,
    drivers: &[DriverLedger],
    clock: &dyn Clock,
) -> Result<Vec<Check>, EngineError> {
    let mut session = engine.session()?;
    let mut checks: Vec<Check> =
        before.compare_drivers(&mut *session, drivers)?.iter().map(|checked| entry(checked, 0.0)).collect();
    checks.push(entry(&before.cleaned(&mut *session)?, 0.0));
    drop(session);
    checks.extend(verify_and_reconcile(engine, part, None, clock, &mut |_| {})?);
    Ok(checks)
}

/// [`verify`] with parts of a run: the database's totals before it, and the commits acknowledged to its users.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn verify_and_reconcile(
    engine: &dyn Engine,
    part: Part,
    run: Option<(&Snapshot, &Acknowledged)>,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(&Check),
) -> Result<Vec<Check>, EngineError> {
    let mut session = engine.session()?;
    let mut done = Vec::new();
    let mut last = clock.now();
    let mut note = |checked: &Checked| {
        let now = clock.now();
        let took_s = (now - std::mem::replace(&mut last, now)) as f64 / 1e9;
        let check = entry(checked, took_s);
        progress(&check);
        done.push(check);
    };
    if let Some((before, acknowledged)) = run {
        before.compare(&mut *session, acknowledged)?.iter().for_each(&mut note);
        note(&before.cleaned(&mut *session)?);
    }
    check::check(&mut *session, part, &mut note)?;
    drop(session);
    note(&check::integrity(engine)?);
    Ok(done)
}

/// Checks before a run ([`check::before_run`]), in the form of the run file.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn before_run(
    engine: &dyn Engine,
    fingerprint: &Fingerprint,
    depth: Depth,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(&Check),
) -> Result<Vec<Check>, EngineError> {
    let mut done = Vec::new();
    let mut last = clock.now();
    check::before_run(engine, fingerprint, depth, &mut |checked| {
        let now = clock.now();
        let took_s = (now - std::mem::replace(&mut last, now)) as f64 / 1e9;
        let mut check = entry(checked, took_s);
        check.name.push_str(", before the run");
        progress(&check);
        done.push(check);
    })?;
    Ok(done)
}

fn entry(checked: &Checked, took_s: f64) -> Check {
    let evidence = match (checked.offences, checked.sql.is_empty()) {
        (_, true) => checked.evidence.join("; "),
        (0, false) => "no offending row".to_owned(),
        (offences, false) => format!("{offences} offending rows: {}", checked.evidence.join("; ")),
    };
    Check {
        name: checked.name.clone(),
        condition: checked.words.clone(),
        source: checked.source.clone(),
        status: match (&checked.not_run, checked.passed()) {
            (Some(_), _) => CheckStatus::NotApplicable,
            (None, true) => CheckStatus::Passed,
            (None, false) => CheckStatus::Failed,
        },
        evidence,
        took_s,
    }
}
