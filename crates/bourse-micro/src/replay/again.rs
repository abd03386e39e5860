//! A recording executed again by SQLite, on its own data: a trace has digests of rows, this has the rows.

use super::compared::{Found, in_parentheses};
use super::recording::{Action, Recording};
use super::user::{perform, stored_digest, value_digest};
use crate::workload::MicroError;
use bourse_engine::{Engine as _, Row, RowExt as _};
use bourse_engine_sqlite::StoredValue;
use bourse_trace::digest::RowsDigest;

/// A row: its digest by value, and its text.
pub(super) type ShownRow = (u64, String);

/// Number of rows of a result that are compared one by one.
pub(super) const MOST_ROWS: usize = 10_000;

/// Rows that SQLite returned again, of executions whose digests are the recorded ones.
#[derive(Debug, Default)]
pub(super) struct RowsAgain {
    /// Digests of the rows by value, for each step by its number; `None` if its rows are not the recorded ones.
    pub(super) by_value: Vec<Option<RowsDigest>>,
    /// Rows of the last step.
    pub(super) last: Option<Vec<ShownRow>>,
}

/// A row to be shown.
pub(super) fn shown(row: &dyn Row) -> ShownRow {
    let columns = row.columns();
    (value_digest(row, columns), in_parentheses((0..columns).map(|column| row.value(column))))
}

/// Executes transactions one after another in the recorded order of their ends; up to step number `until`.
pub(super) fn execute(recording: &Recording, until: Option<usize>) -> Result<RowsAgain, MicroError> {
    let doing = || MicroError::engine("executing the recording again, for the values of its rows");
    // The target is a constant that the crate's tests parse too.
    let Ok(engine) = bourse_engine_sqlite::open("sqlite::memory:?defaults=sqlite") else {
        return Ok(RowsAgain::default());
    };
    engine.sql().map_err(doing())?.confine();
    super::data::load(&engine, recording.copy.as_deref())?;
    let mut session = engine.session().map_err(doing())?;
    let mut steps: Vec<_> = recording.users.iter().flatten().collect();
    let mut again = RowsAgain { by_value: vec![None; steps.len()], last: None };
    steps.sort_by_key(|step| recording.units[step.unit].rank);
    for step in steps {
        let values: Vec<_> = step.values.iter().map(StoredValue::borrowed).collect();
        let (mut by_value, mut rows) = (RowsDigest::default(), Vec::new());
        let found = perform(recording, step, &values, session.as_mut(), &mut |row, columns| {
            by_value.add(value_digest(row, columns));
            if until == Some(step.number) && rows.len() < MOST_ROWS {
                rows.push(shown(row));
            }
            stored_digest(row, columns)
        });
        let is_same = matches!(&found, Ok(Found::Rows(found)) if found.unordered == step.rows.unordered
            && found.rows == step.rows.rows && !recording.is_masked);
        again.by_value[step.number] = is_same.then_some(by_value);
        // What a transaction without an end would leave open.
        if found.is_err() && matches!(step.action, Action::Commit { .. } | Action::Rollback) {
            session.rollback().map_err(doing())?;
        }
        if until == Some(step.number) {
            again.last = is_same.then_some(rows);
            break;
        }
    }
    Ok(again)
}
