//! User that performs a file's operations.

use super::draw::{Literal, ParameterStream};
use super::script::{MOST_PARAMETERS, ScriptOperation, SqlScript};
use super::{located, run};
use crate::batching::Batching;
use crate::usual::by_weight;
use crate::workload::{RemainingOperations, RoundSettings, RoundTally};
use bourse_driver::{Clock, Draw, OperationCx, OperationResult, RoundControl, User};
use bourse_engine::{Access, Connection, EngineError, ErrorKind, Isolation, Params, Result, Sql, StatementForm, Value};
use bourse_record::SplitMix;
use std::sync::Arc;

/// Calls `f` with the values of these parameters; on the stack, since the timed part must not allocate.
pub(super) fn with_values<T>(parameters: &[usize], values: &[Literal], f: impl FnOnce(&[Value<'_>]) -> T) -> T {
    let mut places = [Value::Null; MOST_PARAMETERS];
    for (place, &parameter) in places.iter_mut().zip(parameters) {
        *place = values[parameter].value();
    }
    f(&places[..parameters.len()])
}

/// A user that performs operations in proportion to their weights.
pub(super) struct Performer<'s> {
    script: &'s SqlScript,
    sqls: Arc<[Vec<&'static Sql>]>,
    streams: Vec<ParameterStream>,
    statements: StatementForm,
    random: SplitMix,
    /// Operation drawn, and the values of all parameters for each repetition.
    operation: usize,
    times: usize,
    drawn: Vec<Vec<Literal>>,
    /// Error of a value that could not be computed.
    fault: Option<EngineError>,
    batching: Batching,
    left: RemainingOperations,
    is_real: bool,
    tally: Arc<RoundTally>,
}

impl<'s> Performer<'s> {
    pub(super) fn new(
        script: &'s SqlScript,
        sqls: Arc<[Vec<&'static Sql>]>,
        streams: Vec<ParameterStream>,
        statements: StatementForm,
        batch: Option<u64>,
        setting: &RoundSettings<'s>,
        thread: usize,
    ) -> Self {
        // With operations of several kinds a batch that follows their length would shift their shares.
        let mixed = script.operations.len() > 1;
        let batch = setting.batch.or(batch).or(mixed.then_some(1));
        Self {
            script,
            sqls,
            streams,
            statements,
            random: SplitMix::new(setting.seed.wrapping_add(77 + thread as u64)),
            operation: 0,
            times: 0,
            drawn: Vec::new(),
            fault: None,
            batching: if mixed { Batching::new(batch) } else { setting.batching(batch) },
            left: RemainingOperations::of(setting.count),
            is_real: setting.is_real,
            tally: setting.tally.clone(),
        }
    }

    fn choose(&mut self) -> usize {
        by_weight(&mut self.random, self.script.operations.iter().map(|operation| operation.weight))
    }
}

impl User for Performer<'_> {
    fn prepare(&mut self, connection: &mut Connection) -> Result<()> {
        // The null engine parses nothing.
        if !self.is_real {
            return Ok(());
        }
        let session = connection.sql()?;
        self.script.refuse_settings(&session.settings()?)?;
        // A table that an operation creates does not exist yet.
        if self.script.changes_schema() {
            return Ok(());
        }
        let values: Vec<Literal> = self.streams.iter().map(ParameterStream::example).collect();
        let statements = self.script.operations.iter().map(|operation| &operation.statements);
        for (statements, sqls) in statements.zip(self.sqls.iter()) {
            for (statement, sql) in statements.iter().zip(sqls) {
                with_values(&statement.parameters, &values, |values| session.prepare(sql, Params::of(values)))
                    .map_err(|error| located(error, &statement.place()))?;
            }
        }
        Ok(())
    }

    fn may_change_settings(&self) -> bool {
        true
    }

    fn draw(&mut self, clock: &dyn Clock, _: &RoundControl) -> Draw {
        let batch = self.batching.next(clock, self.left.now());
        if batch == 0 {
            return Draw::Finished;
        }
        self.left.draw(batch);
        self.operation = self.choose();
        self.times = usize::try_from(batch).unwrap_or(usize::MAX);
        let parameters = self.streams.len();
        self.drawn.resize_with(self.times.max(self.drawn.len()), || vec![Literal::Int(0); parameters]);
        let operation = &self.script.operations[self.operation];
        for values in &mut self.drawn[..self.times] {
            // Each parameter is drawn once, however often the operation uses it.
            for &number in &operation.drawn {
                if let Err(fault) = self.streams[number].draw(number, values) {
                    self.fault.get_or_insert_with(|| self.script.undefined(number, &fault));
                }
            }
        }
        self.batching.begins(clock);
        Draw::Ready
    }

    fn skip(&mut self) -> Option<usize> {
        Some(self.choose())
    }

    fn is_timed(&self) -> bool {
        self.batching.is_timed()
    }

    fn drawn(&self) -> Option<usize> {
        Some(self.operation)
    }

    fn ended(&mut self, counts: bool) {
        self.left.ended(counts);
    }

    fn perform(&mut self, cx: &mut OperationCx<'_>) -> OperationResult {
        let (at, is_real, statements) = (self.operation, self.is_real, self.statements);
        if let Some(fault) = self.fault.take() {
            let failed = OperationResult::error(at, &fault).times(self.times as u32);
            return OperationResult { fatal: Some(ErrorKind::Other), ..failed };
        }
        let (operation, sqls) = (&self.script.operations[at], &self.sqls[at]);
        for values in &self.drawn[..self.times] {
            let mut statement = 0;
            let attempt = |connection: &mut Connection| {
                perform(connection, operation, sqls, statements, values, is_real, &mut statement)
            };
            let changed = cx.retrying(attempt);
            if matches!(changed, Ok(true)) {
                RoundTally::add(&self.tally.changes, 1);
            }
            if let Err(error) = changed {
                use ErrorKind::{Constraint, Duplicate, Other, Refused, Unsupported};
                // A statement that cannot be run ends the round: without it another work would be measured.
                let fatal = matches!(error.kind(), Duplicate | Constraint | Other | Refused | Unsupported)
                    .then_some(error.kind());
                let error = located(error, &operation.statements[statement].place());
                let failed = OperationResult::error(at, &error).times(self.times as u32);
                return OperationResult { fatal: failed.fatal.or(fatal), ..failed };
            }
        }
        OperationResult::completed(at).times(self.times as u32)
    }
}

/// Performs an operation once, and returns whether a statement reported changed rows, or may have changed some and reported
/// others; `at` is set to the statement in progress.
fn perform(
    connection: &mut Connection,
    operation: &ScriptOperation,
    sqls: &[&'static Sql],
    statements: StatementForm,
    values: &[Literal],
    is_real: bool,
    at: &mut usize,
) -> Result<bool> {
    *at = 0;
    let session = connection.sql()?;
    if operation.is_transaction {
        let writes = operation.statements.iter().any(|it| !it.is_query || it.is_changing_query);
        let access = if writes { Access::Write } else { Access::Read };
        session.begin(Isolation::RepeatableRead, access)?;
    }
    let (mut rows, mut changed) = (0, 0);
    for (number, (statement, &sql)) in operation.statements.iter().zip(sqls).enumerate() {
        *at = number;
        let ran = run(session, statement, sql, statements, values)?;
        rows += ran;
        changed += if statement.is_query { u64::from(statement.is_changing_query) as _ } else { ran };
    }
    if let Some(wanted) = operation.rows.filter(|wanted| *wanted != rows && is_real) {
        let noun = if rows == 1 { "row" } else { "rows" };
        let words = format!("{rows} {noun} where the file says {wanted}");
        return Err(EngineError::new(ErrorKind::Other, words).with_statement(sqls[0].text()));
    }
    if operation.is_transaction {
        session.commit()?;
    }
    Ok(changed > 0)
}
