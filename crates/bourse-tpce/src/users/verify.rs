//! Checks and reconciliation of the database after a run, in the form of the run file.

use super::RunResult;
use crate::check::reconciliation::{AcknowledgedCommits, TotalsSnapshot};
use crate::workload::{Tpce, size_of};
use bourse_driver::Clock;
use bourse_egen::Part;
use bourse_engine::{Engine, Result, Session};
use bourse_oltp::check::recorded::{after_run, entry};
use bourse_oltp::sut::{DriverCounts, RoundBegin};
use bourse_record::Check;

/// Checks the database, and reconciles it with the run if one is given. `progress` is called with each check.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn verify(
    engine: &dyn Engine,
    part: Part,
    ran: Option<&RunResult>,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(&Check),
) -> Result<Vec<Check>> {
    verify_and_reconcile(engine, part, ran.map(|ran| (&ran.before, &ran.acknowledged)), clock, progress)
}

/// Reconciles the database with a run, and checks nothing else: cheap, so that another round may follow on it.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn reconcile(engine: &dyn Engine, ran: &RunResult) -> Result<Vec<Check>> {
    let mut session = engine.session()?;
    let mut checks: Vec<Check> =
        ran.before.compare(&mut *session, &ran.acknowledged)?.iter().map(|checked| entry(checked, 0.0)).collect();
    checks.push(entry(&ran.before.cleaned(&mut *session)?, 0.0));
    Ok(checks)
}

/// Checks the database once for several drivers, and reconciles it with the counts of all together and of each.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn verify_drivers(
    engine: &dyn Engine,
    part: Part,
    begun: &RoundBegin<Tpce>,
    drivers: &[DriverCounts<AcknowledgedCommits>],
    clock: &dyn Clock,
) -> Result<Vec<Check>> {
    let mut session = engine.session()?;
    let before = &begun.before;
    let compared = before.compare_drivers(&mut *session, begun.opening.first_trade, drivers)?;
    let mut checks: Vec<Check> = compared.iter().map(|checked| entry(checked, 0.0)).collect();
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
    run: Option<(&TotalsSnapshot, &AcknowledgedCommits)>,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(&Check),
) -> Result<Vec<Check>> {
    let mut reconcile = |session: &mut dyn Session| {
        let Some((before, acknowledged)) = run else { return Ok(Vec::new()) };
        let mut checks = before.compare(session, acknowledged)?;
        checks.push(before.cleaned(session)?);
        Ok(checks)
    };
    after_run(engine, &Tpce, &size_of(part), &mut reconcile, clock, progress)
}
