//! Checks before a run, so that no run measures another database than the declared one.

use super::{Checked, Depth, contents, counts, schema};
use crate::load::Fingerprint;
use crate::workload::Workload;
use bourse_engine::{Access, Engine, EngineError, Isolation, Session};

/// Compares the schema, the row counts and the lasting part of the rows with those of the fingerprint's database. `progress`
/// is called after each check.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn before_run(
    engine: &dyn Engine,
    workload: &dyn Workload,
    fingerprint: &Fingerprint,
    depth: Depth,
    progress: &mut dyn FnMut(&Checked),
) -> Result<Vec<Checked>, EngineError> {
    let mut session = engine.session()?;
    session.begin(Isolation::RepeatableRead, Access::Read)?;
    let done = in_transaction(&mut *session, workload, fingerprint, depth, progress);
    session.rollback()?;
    done
}

fn in_transaction(
    db: &mut dyn Session,
    workload: &dyn Workload,
    fingerprint: &Fingerprint,
    depth: Depth,
    progress: &mut dyn FnMut(&Checked),
) -> Result<Vec<Checked>, EngineError> {
    let mut results = Vec::new();
    let mut note = |checked: Checked| {
        progress(&checked);
        results.push(checked);
    };
    note(schema::check(db, workload, fingerprint.constraints)?);
    for table in workload.tables() {
        note(counts::check(db, workload, table, &fingerprint.size)?);
    }
    contents::check(db, workload, &fingerprint.size, depth, &mut note)?;
    Ok(results)
}
