//! Checks before a run, so that no run measures another database than the declared one.

use super::{Checked, Depth, contents, counts, schema};
use crate::load::Fingerprint;
use bourse_engine::{Access, Engine, EngineError, Isolation, Session};
use bourse_schema::tables;

/// Compares the schema, the row counts and the lasting part of the rows with those of the fingerprint's database. `progress`
/// is called after each check.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn before_run(
    engine: &dyn Engine,
    fingerprint: &Fingerprint,
    depth: Depth,
    progress: &mut dyn FnMut(&Checked),
) -> Result<Vec<Checked>, EngineError> {
    let mut session = engine.session()?;
    session.begin(Isolation::RepeatableRead, Access::Read)?;
    let done = in_transaction(&mut *session, fingerprint, depth, progress);
    session.rollback()?;
    done
}

fn in_transaction(
    db: &mut dyn Session,
    fingerprint: &Fingerprint,
    depth: Depth,
    progress: &mut dyn FnMut(&Checked),
) -> Result<Vec<Checked>, EngineError> {
    let mut results = Vec::new();
    let mut note = |checked: Checked| {
        progress(&checked);
        results.push(checked);
    };
    note(schema::check(db, fingerprint.constraints)?);
    for table in tables::all() {
        note(counts::check(db, table, fingerprint.part)?);
    }
    contents::check(db, fingerprint.part, depth, &mut note)?;
    Ok(results)
}
