//! User that executes its part of a recording.

use super::compared::{Comparison, Found, RoundState, in_parentheses};
use super::recording::{Action, Recording, Step};
use crate::workload::RoundTally;
use bourse_driver::{Clock, Draw, Nanos, OperationCx, OperationResult, RoundControl, User};
use bourse_engine::{Access, Connection, EngineError, ErrorKind, Isolation, Params, Row, RowExt as _, Session, Value};
use bourse_trace::digest::{self, RowValue, RowsDigest};
use std::sync::Arc;
use std::time::Duration;

/// Longest wait of a draw for other users' transactions.
const PATIENCE: Duration = Duration::from_millis(20);

/// A user with its steps.
pub(super) struct Replayer<'s> {
    recording: &'s Recording,
    steps: &'s [Step],
    next: usize,
    values: Vec<Value<'s>>,
    /// Speed relative to the recording; `None` as fast as possible.
    pace: Option<f64>,
    state: Arc<RoundState>,
    tally: Arc<RoundTally>,
    is_real: bool,
}

impl<'s> Replayer<'s> {
    pub(super) fn new(
        recording: &'s Recording,
        steps: &'s [Step],
        pace: Option<f64>,
        state: Arc<RoundState>,
        tally: Arc<RoundTally>,
        is_real: bool,
    ) -> Self {
        Self { recording, steps, next: 0, values: Vec::new(), pace, state, tally, is_real }
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

impl User for Replayer<'_> {
    fn may_change_settings(&self) -> bool {
        true
    }

    fn draw(&mut self, clock: &dyn Clock, _: &RoundControl) -> Draw {
        loop {
            let Some(step) = self.steps.get(self.next) else { return Draw::Finished };
            let unit = &self.recording.units[step.unit];
            if step.begins_unit && !self.state.order.may_begin(unit, PATIENCE) {
                return Draw::Wait(clock.now());
            }
            if self.state.is_left_out(step) {
                self.end_unit(step);
                self.next += 1;
                continue;
            }
            self.values.clear();
            self.values.extend(step.values.iter().map(bourse_engine_sqlite::StoredValue::borrowed));
            let Some(pace) = self.pace else { return Draw::Ready };
            let begun = *self.state.begun.get_or_init(|| clock.now());
            return Draw::Due(begun.saturating_add((step.due_ns as f64 / pace) as Nanos));
        }
    }

    fn drawn(&self) -> Option<usize> {
        self.steps.get(self.next).map(|step| self.recording.statements[step.statement].operation)
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let step = &self.steps[self.next];
        let at = self.recording.statements[step.statement].operation;
        let attempt = |connection: &mut Connection| perform(self.recording, step, &self.values, connection.sql()?);
        // A statement of a transaction cannot be tried again alone.
        let is_alone = step.begins_unit && (step.ends_unit || step.action != Action::Execute);
        let found = if is_alone { cx.retrying(attempt) } else { attempt(cx.connection) };
        if !self.is_real {
            return OperationResult::completed(at);
        }
        match self.state.compare(self.recording, step, &found) {
            Comparison::Same => OperationResult::completed(at),
            Comparison::Different => {
                let read_again =
                    |connection: &mut Connection| first_rows(self.recording, step, &self.values, connection.sql()?);
                let wants_rows = matches!(found, Ok(Found::Rows(_)));
                let rows = if wants_rows { read_again(cx.connection).unwrap_or_default() } else { String::new() };
                self.state.differs(self.recording, step, &found, &rows);
                OperationResult::completed(at)
            }
            Comparison::Lost => {
                let error = found.err().unwrap_or_else(|| EngineError::new(ErrorKind::Other, "lost"));
                OperationResult::error(at, &error)
            }
        }
    }

    fn ended(&mut self, _: bool) {
        self.end_unit(&self.steps[self.next]);
        self.next += 1;
    }
}

/// Executes a step.
fn perform(
    recording: &Recording,
    step: &Step,
    values: &[Value<'_>],
    session: &mut dyn Session,
) -> Result<Found, EngineError> {
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
            let limit =
                if step.is_complete || step.code != 0 || step.rows.rows == 0 { u64::MAX } else { step.rows.rows };
            let mut each = |row: &dyn Row| {
                if found.rows == 0 {
                    columns = row.columns();
                }
                found.add(digest::row(columns, (0..columns).map(|column| row_value(row, column))));
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

/// The first rows of a query, as text.
fn first_rows(
    recording: &Recording,
    step: &Step,
    values: &[Value<'_>],
    session: &mut dyn Session,
) -> Result<String, EngineError> {
    const SHOWN: usize = 3;
    let mut rows = Vec::new();
    session.query(recording.statements[step.statement].sql, Params::of(values), &mut |row| {
        if rows.len() < SHOWN {
            rows.push(in_parentheses((0..row.columns()).map(|column| row.value(column))));
        }
        Ok(())
    })?;
    Ok(rows.join(" "))
}
