//! User that executes its part of a recording.

use super::again::{MOST_ROWS, ShownRow, shown};
use super::compared::{Comparison, Found, RoundState};
use super::recording::Recording;
use super::steps::{Action, Step, goes_on, steps_before};
use crate::workload::{RoundSettings, RoundTally};
use bourse_driver::{Clock, Draw, Nanos, OperationCx, OperationResult, RoundControl, User};
use bourse_engine::{
    Access, Connection, Engine, EngineError, ErrorKind, Isolation, Params, Result, Row, RowExt as _, Session, Value,
};
use bourse_engine_sqlite::StoredValue;
use bourse_trace::digest::{self, RowValue, RowsDigest};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Longest wait of a draw for other users' transactions.
const PATIENCE: Duration = Duration::from_millis(20);

/// A user with its steps.
pub(super) struct Replayer<'s> {
    engine: &'s dyn Engine,
    recording: &'s Recording,
    steps: &'s [Step],
    next: usize,
    /// Whether the recording opened a connection before the next step.
    opens: bool,
    values: Vec<Value<'s>>,
    /// Speed relative to the recording; `None` as fast as possible.
    pace: Option<f64>,
    state: Arc<RoundState>,
    tally: Arc<RoundTally>,
    /// Whether the engine is not the null engine.
    is_real: bool,
}

impl<'s> Replayer<'s> {
    pub(super) fn new(
        setting: &RoundSettings<'s>,
        recording: &'s Recording,
        steps: &'s [Step],
        pace: Option<f64>,
        state: Arc<RoundState>,
    ) -> Self {
        state.users.fetch_add(1, Ordering::Relaxed);
        let (engine, tally, is_real) = (setting.engine, Arc::clone(&setting.tally), setting.is_real);
        Self { engine, recording, steps, next: 0, opens: false, values: Vec::new(), pace, state, tally, is_real }
    }

    /// Undoes the open transaction, and executes its steps before the present one again.
    fn transaction_again(&self, connection: &mut Connection) -> Result<()> {
        connection.rollback()?;
        for step in steps_before(self.steps, self.next).filter(|step| !self.state.is_refused(step)) {
            let values: Vec<_> = step.values.iter().map(StoredValue::borrowed).collect();
            self.execute(step, &values, connection.sql()?, &mut stored_digest)?;
        }
        Ok(())
    }

    /// Executes a step, in the engine's own words if it has others.
    fn execute(
        &self,
        step: &Step,
        values: &[Value<'_>],
        session: &mut dyn Session,
        digest: &mut RowDigest<'_>,
    ) -> Result<Found> {
        match self.state.translated.get(&step.statement) {
            Some(parts) => {
                parts.iter().try_for_each(|sql| session.execute(sql, Params::NONE).map(drop)).map(|()| Found::Nothing)
            }
            None => perform(self.recording, step, values, session, digest),
        }
    }

    fn end_unit(&self, step: &Step) {
        if step.ends_unit {
            let unit = &self.recording.units[step.unit];
            self.state.order.ended(unit);
            if unit.writes {
                RoundTally::add(&self.tally.changes, 1);
            }
        }
    }
}

impl Drop for Replayer<'_> {
    fn drop(&mut self) {
        self.state.users.fetch_sub(1, Ordering::Relaxed);
    }
}

impl User for Replayer<'_> {
    fn may_change_settings(&self) -> bool {
        true
    }

    fn draw(&mut self, clock: &dyn Clock, _: &RoundControl) -> Draw {
        loop {
            let Some(step) = self.steps.get(self.next) else { return Draw::Finished };
            let unit = &self.recording.units[step.unit];
            self.opens |= step.opens && self.is_real;
            if step.begins_unit && !self.state.order.may_begin(unit, PATIENCE) {
                return Draw::Wait(clock.now());
            }
            if self.state.is_left_out(self.recording, step) {
                self.end_unit(step);
                self.next += 1;
                continue;
            }
            self.values.clear();
            self.values.extend(step.values.iter().map(StoredValue::borrowed));
            let Some(pace) = self.pace else { return Draw::Ready };
            let begun = *self.state.begun.get_or_init(|| clock.now());
            return Draw::Due(begun.saturating_add((step.due_ns as f64 / pace) as Nanos));
        }
    }

    fn reconnects(&mut self) -> Option<&dyn Engine> {
        std::mem::take(&mut self.opens).then_some(self.engine)
    }

    fn drawn(&self) -> Option<usize> {
        self.steps.get(self.next).map(|step| self.recording.statements[step.statement].operation)
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let step = &self.steps[self.next];
        let at = self.recording.statements[step.statement].operation;
        let digest = self.state.digest();
        let (writes, recorded) = (!self.recording.statements[step.statement].reads, self.state.recorded(step));
        let mut seen = SeenRows::default();
        let mut attempt = |connection: &mut Connection| {
            seen = SeenRows::default();
            self.execute(step, &self.values, connection.sql()?, &mut |row, columns| {
                let digest = digest(row, columns);
                // What writes is not executed again to show its rows.
                if writes {
                    seen.see(row, digest, recorded.is_some_and(|it| it.rows == 1 && it.unordered == digest));
                }
                digest
            })
        };
        // A statement of a transaction cannot be tried again alone.
        let is_alone = step.begins_unit && (step.ends_unit || step.action != Action::Execute);
        let mut found = if is_alone { cx.retrying(&mut attempt) } else { attempt(cx.connection) };
        // A conflict that the recording had not takes another attempt at the transaction; other engines undo one because of any
        // error. What came before it is executed again.
        let is_conflict = matches!(&found, Err(error) if error.kind() == ErrorKind::Conflict);
        let may_be_undone = found.is_err() && self.state.expected.is_some() && step.action == Action::Execute;
        let stays_open = goes_on(self.steps, self.next);
        if stays_open && found.is_ok() {
            found = cx
                .connection
                .sql()
                .and_then(|it| it.begin(Isolation::Serializable, Access::Write))
                .map(|()| Found::Nothing);
        } else if !step.begins_unit && (is_conflict || may_be_undone || stays_open) {
            let again = cx.retrying(|connection| {
                self.transaction_again(connection)?;
                if is_conflict { attempt(connection).map(Some) } else { Ok(None) }
            });
            found = again.transpose().unwrap_or(found);
        }
        if !self.is_real {
            return OperationResult::completed(at);
        }
        match self.state.compare(self.recording, step, &found) {
            Comparison::Same => OperationResult::completed(at),
            Comparison::Different => {
                let may_be_of_digits = self.state.may_be_of_digits(self.recording, step, &found);
                let wants_rows = matches!(found, Ok(Found::Rows(_))) && !self.state.has_differed(step);
                if !writes && (may_be_of_digits || wants_rows) {
                    let sql = self.recording.statements[step.statement].sql;
                    let mut see = |row: &dyn Row| {
                        seen.see(row, digest(row, row.columns()), false);
                        Ok(())
                    };
                    // Without its rows, a difference is one still.
                    let _ =
                        cx.connection.sql().and_then(|session| session.query(sql, Params::of(&self.values), &mut see));
                }
                match may_be_of_digits && seen.has_doubles {
                    true => self.state.differs_in_digits(self.recording, step),
                    false => self.state.differs(self.recording, step, &found, seen.rows),
                }
                OperationResult::completed(at)
            }
            Comparison::Lost => {
                let error = found.err().unwrap_or_else(|| EngineError::new(ErrorKind::Other, "lost"));
                let error = match error.code() {
                    Some("SQLITE_BUSY") => error.with_advice(self.recording.patience_words()),
                    _ => error,
                };
                OperationResult::error(at, &error)
            }
        }
    }

    fn ended(&mut self, _: bool) {
        self.end_unit(&self.steps[self.next]);
        self.next += 1;
    }
}

/// Digest of a row with so many columns.
pub(super) type RowDigest<'d> = dyn FnMut(&dyn Row, usize) -> u64 + 'd;

/// Executes a step.
pub(super) fn perform(
    recording: &Recording,
    step: &Step,
    values: &[Value<'_>],
    session: &mut dyn Session,
    digest: &mut RowDigest<'_>,
) -> Result<Found> {
    let statement = &recording.statements[step.statement];
    match step.action {
        Action::Begin { writes, with_statement } => {
            session.begin(Isolation::Serializable, if writes { Access::Write } else { Access::Read })?;
            if with_statement {
                session.execute(statement.sql, Params::NONE)?;
            }
        }
        Action::Commit { with_statement } => {
            if with_statement {
                session.execute(statement.sql, Params::NONE)?;
            }
            session.commit()?;
        }
        Action::Rollback => session.rollback()?,
        Action::Execute if statement.is_query => {
            let (mut found, mut columns) = (RowsDigest::default(), 0);
            // The program may have read some of the rows only.
            let limit = match step.rows.rows {
                // An error that is not known may have ended it, however many more there are.
                rows if recording.lacks_errors && step.is_complete => rows + 1,
                0 => u64::MAX,
                _ if step.is_complete || step.code != 0 => u64::MAX,
                rows => rows,
            };
            let mut each = |row: &dyn Row| {
                if found.rows == 0 {
                    columns = row.columns();
                }
                found.add(digest(row, columns));
                if found.rows == limit { Err(EngineError::new(ErrorKind::Interrupted, "")) } else { Ok(()) }
            };
            match session.query(statement.sql, Params::of(values), &mut each) {
                Err(_) if found.rows == limit => {}
                other => other?,
            }
            return Ok(Found::Rows(found));
        }
        Action::Execute => return session.execute(statement.sql, Params::of(values)).map(Found::Changes),
    }
    Ok(Found::Nothing)
}

/// Digest of a row as SQLite would store it: that of traces.
pub(super) fn stored_digest(row: &dyn Row, columns: usize) -> u64 {
    digest::row(columns, (0..columns).map(|column| row_value(row, column)))
}

/// Digest of a row by value, which is the same on each engine: numbers of any type by their first twelve digits.
pub(super) fn value_digest(row: &dyn Row, columns: usize) -> u64 {
    const EXACT: u64 = 1_000_000_000_000;
    digest::row(
        columns,
        (0..columns).map(|column| match row_value(row, column) {
            RowValue::Int(number) if number.unsigned_abs() < EXACT => RowValue::Real(number as f64),
            // The sum makes one of both zeros.
            RowValue::Real(number) => RowValue::Real(format!("{number:.11e}").parse().unwrap_or(number) + 0.0),
            other => other,
        }),
    )
}

/// A column as SQLite would store it.
fn row_value(row: &dyn Row, column: usize) -> RowValue<'_> {
    match row.value(column) {
        Value::Null => RowValue::Null,
        Value::Int(number) | Value::Decimal { units: number, scale: 0 } => RowValue::Int(number),
        Value::Bool(flag) => RowValue::Int(i64::from(flag)),
        Value::Decimal { units, scale } => RowValue::Real(units as f64 / 10f64.powi(i32::from(scale))),
        Value::Real(number) => RowValue::Real(number),
        Value::Date(date) => RowValue::Int(i64::from(date.days())),
        Value::Timestamp(moment) => RowValue::Int(moment.millis()),
        Value::Text(text) => RowValue::Text(text.as_bytes()),
        // A text that is not UTF-8 comes as bytes.
        Value::Blob(bytes) => row.text_bytes(column).map_or(RowValue::Blob(bytes), RowValue::Text),
    }
}

/// Rows of a query that differs.
#[derive(Default)]
struct SeenRows {
    rows: Vec<ShownRow>,
    /// Whether a double is among them.
    has_doubles: bool,
}

impl SeenRows {
    /// Adds a row with its digest, without its text if it is the recorded one.
    fn see(&mut self, row: &dyn Row, digest: u64, is_recorded: bool) {
        self.has_doubles |= (0..row.columns()).any(|column| matches!(row.value(column), Value::Real(_)));
        if self.rows.len() < MOST_ROWS {
            self.rows.push((digest, if is_recorded { "(as recorded)".to_owned() } else { shown(row) }));
        }
    }
}
