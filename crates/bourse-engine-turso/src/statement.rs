//! A prepared statement: bound, stepped, its rows read in place.

use crate::error::error;
use bourse_engine::{EngineError, ErrorKind, Params, Result, Row, Value, Wait, blocked_on};
use std::borrow::Cow;
use std::num::NonZero;
use std::sync::Arc;
use turso_core::{IO, LimboError, Numeric, StepResult};

/// Prepared statement.
pub(crate) struct TursoStatement {
    core: turso_core::Statement,
    io: Arc<dyn IO>,
    parameters: usize,
}

/// Part of a result that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedRows {
    All,
    First,
}

impl TursoStatement {
    pub(crate) fn new(core: turso_core::Statement, io: Arc<dyn IO>) -> Self {
        let parameters = core.parameters_count();
        Self { core, io, parameters }
    }

    /// Runs the statement to its end or past its first row and passes each row to `each`; returns the number of rows changed.
    ///
    /// # Errors
    /// Turso's, or that of `each`.
    #[inline]
    pub(crate) fn run(
        &mut self,
        params: Params<'_>,
        rows: WantedRows,
        mut each: impl FnMut(&dyn Row) -> Result<()>,
    ) -> Result<u64> {
        self.takes(params.len())?;
        for (at, value) in (1..).zip(params.iter()) {
            let at = NonZero::new(at).expect("counted from 1");
            self.core.bind_at(at, owned(value)?).map_err(|e| error(&e))?;
        }
        let ran = self.step_through(rows, &mut each);
        // At rest again: what it read is not held any more.
        let reset = self.core.reset().map_err(|e| error(&e));
        let changed = ran?;
        reset.map(|()| changed)
    }

    fn step_through(&mut self, rows: WantedRows, each: &mut impl FnMut(&dyn Row) -> Result<()>) -> Result<u64> {
        loop {
            match self.core.step() {
                Ok(StepResult::Row) => {
                    let row = self.core.row().expect("the statement has come to a row");
                    each(&TursoRow { row, statement: &self.core })?;
                    if rows == WantedRows::First {
                        return Ok(0);
                    }
                }
                Ok(StepResult::Done) => return Ok(u64::try_from(self.core.n_change()).unwrap_or(0)),
                Ok(other) => self.wait(other)?,
                Err(e) => return Err(error(&e)),
            }
        }
    }

    /// Waits as a step requests before the next one.
    #[cold]
    fn wait(&self, step: StepResult) -> Result<()> {
        match step {
            StepResult::Sleep { duration } => blocked_on(Wait::Lock, || std::thread::sleep(duration)),
            // Another session must proceed before this one can.
            StepResult::Yield => std::thread::yield_now(),
            StepResult::Busy => return Err(error(&LimboError::Busy)),
            StepResult::Interrupt => return Err(error(&LimboError::Interrupt)),
            StepResult::IO | StepResult::Row | StepResult::Done => {}
        }
        self.io.step().map_err(|e| error(&e))
    }

    /// Refuses any number of values but that of its parameters, however these are written.
    #[inline]
    pub(crate) fn takes(&self, given: usize) -> Result<()> {
        if given == self.parameters { Ok(()) } else { Err(self.wrong_number(given)) }
    }

    #[cold]
    fn wrong_number(&self, given: usize) -> EngineError {
        let (s, were) = (if self.parameters == 1 { "" } else { "s" }, if given == 1 { " was" } else { "s were" });
        let words = format!("the statement has {} parameter{s}, {given} value{were} given", self.parameters);
        EngineError::new(ErrorKind::Other, words)
    }
}

/// Value in Turso's type: texts and bytes are copied, since it stores its parameters.
#[inline]
fn owned(value: Value<'_>) -> Result<turso_core::Value> {
    use turso_core::Value as Turso;
    Ok(match value {
        Value::Null => Turso::Null,
        Value::Int(units) | Value::Decimal { units, .. } => Turso::from_i64(units),
        Value::Bool(flag) => Turso::from_i64(i64::from(flag)),
        Value::Real(number) => Turso::from_f64(number),
        Value::Date(date) => Turso::from_i64(i64::from(date.days())),
        Value::Timestamp(moment) => Turso::from_i64(moment.millis()),
        Value::Text(text) => Turso::from_text(text.to_owned()),
        Value::Blob(bytes) => {
            Turso::from_slice(bytes).map_err(|_| EngineError::new(ErrorKind::Full, "no memory for a parameter"))?
        }
    })
}

/// Row of a running statement.
struct TursoRow<'r> {
    row: &'r turso_core::Row,
    statement: &'r turso_core::Statement,
}

impl Row for TursoRow<'_> {
    #[inline]
    fn value(&self, index: usize) -> Value<'_> {
        // Turso looks whether there is such a column nowhere.
        assert!(index < self.row.len(), "the row has no column {index}");
        match self.row.get_value(index) {
            turso_core::Value::Null => Value::Null,
            turso_core::Value::Numeric(Numeric::Integer(number)) => Value::Int(*number),
            turso_core::Value::Numeric(Numeric::Float(number)) => Value::Real(f64::from(*number)),
            turso_core::Value::Text(text) => Value::Text(text.as_str()),
            turso_core::Value::Blob(bytes) => Value::Blob(bytes),
        }
    }

    fn column_name(&self, index: usize) -> Option<Cow<'_, str>> {
        (index < self.row.len()).then(|| self.statement.get_column_name(index))
    }
}
