//! Statements of a round: each call of a session is timed, and counted for the operation that made it.

use crate::{Clock as _, Nanos, RealClock};
use bourse_engine::{
    Access, Checkpoint, Connection, EachFound, EachRow, EachToLoad, Engine, Isolation, Params, Result, Routine, Row,
    Runs, Session, Setting, Sql, StatementWork, Value, forward_session, locked, one_line,
};
use bourse_record::{Counts, OperationSpec, StatementFigures};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Statements whose plans are read after a round: those with the most time.
const PLANNED: usize = 20;

/// One call of a session.
#[derive(Debug)]
struct Call {
    statement: Cow<'static, str>,
    /// Runs of the statement in this call.
    runs: u64,
    ns: Nanos,
    rows: u64,
    failed: bool,
    work: Option<StatementWork>,
}

/// Calls of the operation that a session performs now.
type Calls = Arc<Mutex<Vec<Call>>>;

/// Calls of one statement in one operation.
#[derive(Debug, Default)]
struct StatementCalls {
    times: Counts,
    failed: u64,
    rows: u64,
    work: Option<StatementWork>,
}

impl StatementCalls {
    fn add_work(&mut self, work: Option<StatementWork>) {
        if let Some(work) = work {
            self.work = Some(self.work.unwrap_or_default().plus(work));
        }
    }
}

/// Figures of the statements of a user's session, or of all together.
#[derive(Debug, Default)]
pub(crate) struct StatementMeter {
    calls: Calls,
    counted: HashMap<(usize, Cow<'static, str>), StatementCalls>,
}

impl StatementMeter {
    /// A meter of a connection's statements; the connection is replaced by one whose calls are timed. `None` for a key engine,
    /// which has no statements.
    pub(crate) fn of(connection: Connection) -> (Connection, Option<Self>) {
        let Connection::Sql(_) = connection else { return (connection, None) };
        let meter = Self::default();
        (meter.metered(connection), Some(meter))
    }

    /// A connection whose calls are timed, of a SQL engine.
    pub(crate) fn metered(&self, connection: Connection) -> Connection {
        let Connection::Sql(inner) = connection else { return connection };
        Connection::Sql(Box::new(MeteredSession { inner, clock: RealClock::start(), calls: Arc::clone(&self.calls) }))
    }

    /// Counts the calls since the last operation for this one, or drops them if it is not counted.
    pub(crate) fn ended(&mut self, operation: usize, is_counted: bool) {
        for call in locked(&self.calls).drain(..).filter(|_| is_counted) {
            let of = self.counted.entry((operation, call.statement)).or_default();
            of.times.record_many(call.ns / call.runs.max(1), call.runs);
            of.failed += u64::from(call.failed);
            of.rows += call.rows;
            of.add_work(call.work);
        }
    }

    /// Adds the statements of another user.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, calls) in other.counted {
            let of = self.counted.entry(key).or_default();
            of.times.add(&calls.times);
            of.failed += calls.failed;
            of.rows += calls.rows;
            of.add_work(calls.work);
        }
    }

    /// Figures of all statements, the most time first, with the plans of the first.
    pub(crate) fn figures(self, operations: &[OperationSpec], engine: &dyn Engine) -> Vec<StatementFigures> {
        let figures = self.counted.into_iter().map(|((operation, statement), calls)| StatementFigures {
            operation: operations.get(operation).map_or_else(String::new, |spec| spec.name.to_string()),
            statement: statement.into_owned(),
            failed: calls.failed,
            rows: calls.rows,
            service: calls.times.distribution(),
            plan: Vec::new(),
            work: calls.work,
        });
        let mut figures: Vec<_> = figures.collect();
        figures.sort_by(|a, b| b.total_ns().total_cmp(&a.total_ns()).then_with(|| a.statement.cmp(&b.statement)));
        if let Ok(mut session) = engine.session() {
            let planned = figures.iter_mut().filter(|of| ![BEGIN, COMMIT, ROLLBACK].contains(&of.statement.as_str()));
            for of in planned.take(PLANNED) {
                // Without a plan where the engine shows none of this statement.
                of.plan = session.plan(&of.statement).unwrap_or_default();
            }
        }
        for of in &mut figures {
            of.statement = one_line(&of.statement);
        }
        figures
    }
}

const BEGIN: &str = "BEGIN";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// A session that times each call.
struct MeteredSession {
    inner: Box<dyn Session>,
    clock: RealClock,
    calls: Calls,
}

impl MeteredSession {
    /// Times a call, which adds the rows that it returns to its argument.
    fn timed<T>(
        &mut self,
        statement: impl Into<Cow<'static, str>>,
        sql: Option<&'static Sql>,
        runs: u64,
        call: impl FnOnce(&mut dyn Session, &mut u64) -> Result<T>,
    ) -> Result<T> {
        let (mut rows, from) = (0, self.clock.now());
        let done = call(&mut *self.inner, &mut rows);
        let ns = self.clock.now() - from;
        let work = sql.and_then(|sql| self.inner.statement_work(sql));
        let failed = done.is_err();
        locked(&self.calls).push(Call { statement: statement.into(), runs, ns, rows, failed, work });
        done
    }

    /// Times a statement, whose result is its number of rows.
    fn changed(
        &mut self,
        statement: impl Into<Cow<'static, str>>,
        sql: Option<&'static Sql>,
        call: impl FnOnce(&mut dyn Session) -> Result<u64>,
    ) -> Result<u64> {
        self.timed(statement, sql, 1, |inner, rows| call(inner).inspect(|changed| *rows += changed))
    }
}

impl Session for MeteredSession {
    forward_session!(inner: dialect, install, has_routines, plan);

    fn settings(&mut self) -> Result<Vec<Setting>> {
        self.inner.settings()
    }
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        self.timed(BEGIN, None, 1, |inner, _| inner.begin(isolation, access))
    }
    fn prepare(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<()> {
        self.inner.prepare(sql, params)
    }
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.timed(sql.text(), Some(sql), 1, |inner, rows| {
            inner.query(sql, params, &mut |row| {
                *rows += 1;
                each(row)
            })
        })
    }
    fn query_first(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        self.timed(sql.text(), Some(sql), 1, |inner, rows| {
            inner.query_first(sql, params, each).inspect(|found| *rows += u64::from(*found))
        })
    }
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.changed(sql.text(), Some(sql), |inner| inner.execute(sql, params))
    }
    fn change_one(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.changed(sql.text(), Some(sql), |inner| inner.change_one(sql, params))
    }
    fn round_trips(&self) -> Option<u64> {
        self.inner.round_trips()
    }
    fn run_each(&mut self, sql: &'static Sql, runs: Runs<'_>, each: Option<&mut EachFound<'_>>) -> Result<()> {
        let count = (runs.params.len() / runs.width) as u64;
        self.timed(sql.text(), Some(sql), count, |inner, rows| match each {
            None => inner.run_each(sql, runs, None),
            Some(each) => {
                let mut counted = |at, row: &dyn Row| {
                    *rows += 1;
                    each(at, row)
                };
                inner.run_each(sql, runs, Some(&mut counted))
            }
        })
    }
    fn load(&mut self, table: &str, insert: &'static Sql, rows: &mut EachToLoad<'_>) -> Result<()> {
        self.inner.load(table, insert, rows)
    }
    fn call(&mut self, routine: &'static Routine, params: Params<'_>, each: &mut EachFound<'_>) -> Result<()> {
        self.timed(format!("CALL {}", routine.name()), None, 1, |inner, rows| {
            inner.call(routine, params, &mut |set, row| {
                *rows += 1;
                each(set, row)
            })
        })
    }
    fn commit(&mut self) -> Result<()> {
        self.timed(COMMIT, None, 1, |inner, _| inner.commit())
    }
    fn rollback(&mut self) -> Result<()> {
        self.timed(ROLLBACK, None, 1, |inner, _| inner.rollback())
    }
    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<bool> {
        self.inner.checkpoint(checkpoint)
    }
    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.timed(sql.to_owned(), None, 1, |inner, rows| {
            inner.query_text(sql, params, &mut |row| {
                *rows += 1;
                each(row)
            })
        })
    }
    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.changed(sql.to_owned(), None, |inner| inner.execute_text(sql, params))
    }
}
