//! Checks and reconciliation of the database after a run, in the form of the run file.

use crate::check::CheckResult;
use crate::check::reconciliation::{GROWTHS, cleaned};
use crate::workload::{Tpce, size_of};
use bourse_driver::Clock;
use bourse_egen::Part;
use bourse_engine::{Engine, Result, Session};
use bourse_oltp::check::ledger::{Ledger, Totals};
use bourse_oltp::check::recorded::entry;
use bourse_oltp::sut::{RunResult, SharedWorkload as _};
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
    Tpce::check(engine, &size_of(part), ran.map(|ran| (&ran.before, &ran.acknowledged)), clock, progress)
}

/// Reconciles the database with a run, and checks nothing else: cheap, so that another round may follow on it.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn reconcile(engine: &dyn Engine, ran: &RunResult) -> Result<Vec<Check>> {
    let checks = reconciled(&mut *engine.session()?, &ran.before, &ran.acknowledged)?;
    Ok(checks.iter().map(|checked| entry(checked, 0.0)).collect())
}

pub(crate) fn reconciled(db: &mut dyn Session, before: &Totals, acknowledged: &Ledger) -> Result<Vec<CheckResult>> {
    let mut checks = GROWTHS.compare(db, before, acknowledged)?;
    checks.push(cleaned(db, before)?);
    Ok(checks)
}
