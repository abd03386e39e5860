//! Checks before a run, so that no run measures another database than the declared one.

use super::{CheckResult, Depth, after_schema, collected, contents, counts, in_snapshot, schema};
use crate::load::Fingerprint;
use crate::workload::Workload;
use bourse_engine::{Engine, Result};

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
    progress: &mut dyn FnMut(&CheckResult),
) -> Result<Vec<CheckResult>> {
    let mut session = engine.session()?;
    collected(progress, &mut |note| {
        in_snapshot(&mut *session, |db| {
            after_schema(schema::check(db, workload, fingerprint.constraints)?, note, &mut |note| {
                for table in workload.tables() {
                    note(counts::check(db, workload, table, &fingerprint.size)?)?;
                }
                contents::check(db, workload, &fingerprint.size, depth, note)
            })
        })
    })
}
