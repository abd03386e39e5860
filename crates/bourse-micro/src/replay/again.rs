//! A recording executed again by SQLite, on its own data: a trace has digests of rows, this has the rows.

use super::compared::{Found, in_parentheses};
use super::recording::Recording;
use super::steps::{Action, goes_on, steps_before};
use super::user::{perform, stored_digest, value_digest};
use crate::workload::MicroError;
use bourse_engine::{Access, Engine as _, Isolation, Row, RowExt as _};
use bourse_engine_sqlite::StoredValue;
use bourse_trace::digest::RowsDigest;

/// A row: its digest as rows are compared, and its text.
pub(super) type ShownRow = (u64, String);

/// Function that makes a digest of a row with so many columns.
pub(super) type MakeDigest = fn(&dyn Row, usize) -> u64;

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

/// Text of a row.
pub(super) fn shown(row: &dyn Row) -> String {
    in_parentheses((0..row.columns()).map(|column| row.value(column)))
}

/// Executes transactions one after another in the recorded order of their ends; up to step number `until`, whose rows have
/// such digests.
pub(super) fn execute(recording: &Recording, until: Option<(usize, MakeDigest)>) -> Result<RowsAgain, MicroError> {
    let doing = || MicroError::engine("executing the recording again, for the values of its rows");
    // The target is a constant that the crate's tests parse too.
    let Ok(engine) = bourse_engine_sqlite::open("sqlite::memory:?defaults=sqlite&memory=ram") else {
        return Ok(RowsAgain::default());
    };
    engine.sql().map_err(doing())?.confine();
    super::data::load(&engine, recording.copy.as_deref(), recording.encoding.as_deref())?;
    let session = || engine.session().map_err(doing());
    let mut sessions = recording.users.iter().map(|_| session()).collect::<Result<Vec<_>, _>>()?;
    let of_users = recording.users.iter().enumerate();
    let mut steps: Vec<_> =
        of_users.flat_map(|(user, steps)| (0..steps.len()).map(move |at| (user, steps, at))).collect();
    let mut again = RowsAgain { by_value: vec![None; steps.len()], last: None };
    steps.sort_by_key(|(_, steps, at)| recording.units[steps[*at].unit].rank);
    for (user, steps, at) in steps {
        let step = &steps[at];
        if step.opens {
            sessions[user] = session()?;
        }
        if step.cause_elsewhere.is_some() {
            continue;
        }
        let values: Vec<_> = step.values.iter().map(StoredValue::borrowed).collect();
        let (mut by_value, mut rows) = (RowsDigest::default(), Vec::new());
        let found = perform(recording, step, &values, sessions[user].as_mut(), &mut |row, columns| {
            by_value.add(value_digest(row, columns));
            if let Some((_, digest)) = until.filter(|(until, _)| *until == step.number && rows.len() < MOST_ROWS) {
                rows.push((digest(row, columns), shown(row)));
            }
            stored_digest(row, columns)
        });
        let is_same = matches!(&found, Ok(Found::Rows(found)) if found.unordered == step.rows.unordered
            && found.rows == step.rows.rows && !recording.is_masked);
        again.by_value[step.number] = is_same.then_some(by_value);
        if goes_on(steps, at) {
            match &found {
                Ok(_) => sessions[user].begin(Isolation::Serializable, Access::Write).map_err(doing())?,
                Err(_) => {
                    for step in steps_before(steps, at) {
                        let values: Vec<_> = step.values.iter().map(StoredValue::borrowed).collect();
                        // What fails now leaves other rows than the recorded ones.
                        let _ = perform(recording, step, &values, sessions[user].as_mut(), &mut stored_digest);
                    }
                }
            }
        }
        // What a transaction without an end would leave open.
        if found.is_err() && step.ends_unit && matches!(step.action, Action::Commit { .. } | Action::Rollback) {
            sessions[user].rollback().map_err(doing())?;
        }
        if until.is_some_and(|(until, _)| until == step.number) {
            again.last = is_same.then_some(rows);
            break;
        }
    }
    Ok(again)
}
