//! A user's connection: statements prepared at first use and found by number.

use crate::error::error;
use crate::ffi;
use crate::queue::{Place, WriterQueue};
use crate::shared_connection::LentConnection;
use crate::statement::{Bound, Columns, Statement};
use crate::waits::LockWaits;
use bourse_engine::{
    Access, Checkpoint, Dialect, EachFound, EachRow, EngineError, Isolation, Params, Row as _, RowExt as _, Session,
    Sql, Value, run_one_by_one,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a transaction that only reads waits for a table's lock of a shared cache: it may hold what the writer
/// waits for, and of the two the reader gives way.
const READER_GIVES_WAY: Duration = Duration::from_millis(10);

/// What a session has from its engine.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) waits: Arc<LockWaits>,
    /// `None` where writers are to meet inside SQLite.
    pub(crate) queue: Option<Arc<WriterQueue>>,
    pub(crate) busy_timeout: Duration,
    /// Whether statements stay prepared.
    pub(crate) keeps_statements: bool,
}

/// How much of a result is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    All,
    First,
}

pub(crate) struct SqliteSession {
    statements: Vec<Option<Statement>>,
    begin_read: Statement,
    begin_write: Statement,
    commit: Statement,
    rollback: Statement,
    /// Whether the open transaction has SQLite's place of the writer.
    writes: bool,
    connection: LentConnection,
    /// The place in front of SQLite, while a transaction of ours writes; given back after the connection is closed.
    place: Option<Place>,
    shared: Shared,
}

impl SqliteSession {
    pub(crate) fn new(connection: LentConnection, shared: Shared) -> Result<Self, EngineError> {
        let prepare = |sql| {
            let (statement, _) = Statement::prepare(&connection, sql, true)?;
            Ok::<_, EngineError>(statement.expect("the text is not blank"))
        };
        Ok(Self {
            statements: Vec::new(),
            begin_read: prepare("BEGIN")?,
            begin_write: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            writes: false,
            place: None,
            connection,
            shared,
        })
    }

    /// Prepares a statement that is not yet.
    #[cold]
    fn prepare(&mut self, sql: &'static Sql) -> Result<(), EngineError> {
        let slot = sql.slot();
        let text = sql.render(&bourse_schema::SQLITE);
        let patience = self.patience();
        let mut attempt = 0;
        let (statement, tail) = loop {
            match Statement::prepare(&self.connection, &text, true) {
                // The schema's own table can be locked in a shared cache, where SQLite does not wait.
                Err(e) if e.code() == Some("SQLITE_LOCKED_SHAREDCACHE") && self.wait(attempt, patience) => attempt += 1,
                other => break other.map_err(|e| e.with_statement(&text))?,
            }
        };
        let refuse = |why: &str| Err(error(ffi::SQLITE_MISUSE, why).with_statement(&text));
        let Some(statement) = statement else { return refuse("the statement is empty") };
        if !tail.trim().is_empty() {
            return refuse("more than one statement in one text");
        }
        if self.statements.len() <= slot {
            self.statements.resize_with(slot + 1, || None);
        }
        self.statements[slot] = Some(statement);
        Ok(())
    }

    /// The prepared statement, if it was.
    #[inline]
    fn statement(&self, slot: usize) -> Option<&Statement> {
        self.statements.get(slot)?.as_ref()
    }

    /// Runs a prepared statement and says whether it may have changed something.
    #[inline(always)]
    fn run_prepared(
        &mut self,
        sql: &'static Sql,
        params: Params<'_>,
        rows: Rows,
        mut each: impl FnMut(&Columns<'_>) -> Result<(), EngineError>,
    ) -> Result<bool, EngineError> {
        match self.statement(sql.slot()) {
            Some(statement) if statement.is_readonly() || self.has_place() => {
                match self.run(statement, params, rows, each) {
                    Ok(()) => Ok(!statement.is_readonly()),
                    Err(e) => Err(e.with_statement(sql.text())),
                }
            }
            _ => self.prepare_and_run(sql, params, rows, &mut each),
        }
    }

    /// Runs a statement that may have to be prepared first, and may be a transaction of its own.
    #[cold]
    fn prepare_and_run(
        &mut self,
        sql: &'static Sql,
        params: Params<'_>,
        rows: Rows,
        each: &mut dyn FnMut(&Columns<'_>) -> Result<(), EngineError>,
    ) -> Result<bool, EngineError> {
        let slot = sql.slot();
        if self.statement(slot).is_none() {
            self.prepare(sql)?;
        }
        let is_change = !self.statement(slot).expect("prepared just before").is_readonly();
        let is_alone = is_change && !self.has_place() && self.needs_place();
        if is_alone {
            self.take_place()?;
        }
        let statement = self.statement(slot).expect("prepared just before");
        let done = self.run(statement, params, rows, each);
        if is_alone {
            self.transaction_over();
        }
        if !self.shared.keeps_statements {
            self.statements[slot] = None;
        }
        done.map(|()| is_change).map_err(|e| e.with_statement(sql.text()))
    }

    /// Prepares and runs a text for once, and says whether it may have changed something.
    fn run_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<bool, EngineError> {
        let (statement, tail) = Statement::prepare(&self.connection, sql, false).map_err(|e| e.with_statement(sql))?;
        let Some(statement) = statement else { return Ok(false) };
        if !tail.trim().is_empty() {
            return Err(error(ffi::SQLITE_MISUSE, "more than one statement in one text").with_statement(sql));
        }
        let is_change = !statement.is_readonly();
        if is_change && self.needs_place() {
            self.take_place()?;
        }
        let done = self.run(&statement, Params::of(params), Rows::All, |row| each(row));
        drop(statement);
        self.transaction_over();
        done.map(|()| is_change).map_err(|e| e.with_statement(sql))
    }

    /// When waiting for a shared cache's lock has to end.
    fn patience(&self) -> Instant {
        let gives_way = !self.writes && !self.connection.is_autocommit();
        let patience =
            if gives_way { self.shared.busy_timeout.min(READER_GIVES_WAY) } else { self.shared.busy_timeout };
        Instant::now() + patience
    }

    fn wait(&self, attempt: u32, until: Instant) -> bool {
        Instant::now() < until && self.connection.patience().wait(attempt)
    }

    /// The first step of a run, which meets the locks; in a shared cache SQLite does not wait for them by itself.
    #[inline]
    fn first_step(&self, bound: &mut Bound<'_>) -> i32 {
        match bound.step() {
            ffi::SQLITE_ROW => ffi::SQLITE_ROW,
            ffi::SQLITE_LOCKED_SHAREDCACHE | ffi::SQLITE_LOCKED => self.step_again(bound),
            code => code,
        }
    }

    #[cold]
    fn step_again(&self, bound: &mut Bound<'_>) -> i32 {
        let until = self.patience();
        let mut attempt = 0;
        loop {
            // A statement that is not at rest keeps its locks.
            bound.reset();
            if !self.wait(attempt, until) {
                return ffi::SQLITE_LOCKED_SHAREDCACHE;
            }
            attempt += 1;
            match bound.step() {
                ffi::SQLITE_LOCKED_SHAREDCACHE | ffi::SQLITE_LOCKED => {}
                code => return code,
            }
        }
    }

    /// Steps to the end or past the first row, handing out rows.
    #[inline(always)]
    fn run(
        &self,
        statement: &Statement,
        params: Params<'_>,
        rows: Rows,
        mut each: impl FnMut(&Columns<'_>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut bound = statement.bind(&self.connection, params)?;
        let mut code = self.first_step(&mut bound);
        loop {
            match code {
                ffi::SQLITE_ROW => each(&bound.columns())?,
                ffi::SQLITE_DONE => return Ok(()),
                code => return Err(self.connection.error(code)),
            }
            if rows == Rows::First {
                return Ok(());
            }
            code = bound.step();
        }
    }

    /// Runs a change with the parameters of run after run.
    fn change_each(&mut self, sql: &'static Sql, params: &[Value<'_>], width: usize) -> Result<(), EngineError> {
        // The first run prepares the statement and meets the locks; outside a transaction every run does.
        let (first, rest) = params.split_at(width.min(params.len()));
        if first.is_empty() {
            return Ok(());
        }
        self.run_prepared(sql, Params::of(first), Rows::All, |_| Ok(()))?;
        match self.statement(sql.slot()) {
            Some(statement) if self.writes => {
                statement.run_with_each(&self.connection, rest, width).map_err(|error| error.with_statement(sql.text()))
            }
            _ => rest
                .chunks(width)
                .try_for_each(|row| self.run_prepared(sql, Params::of(row), Rows::All, |_| Ok(())).map(|_| ())),
        }
    }

    fn run_bare(&self, statement: &Statement) -> Result<(), EngineError> {
        self.run(statement, Params::NONE, Rows::All, |_| Ok(()))
    }

    /// Takes the place in front of SQLite, if there is one and it is not ours already.
    fn take_place(&mut self) -> Result<(), EngineError> {
        let Some(queue) = &self.shared.queue else { return Ok(()) };
        if self.place.is_none() {
            let place = queue.take(self.shared.busy_timeout, &self.shared.waits);
            self.place = Some(place.ok_or_else(|| {
                let waited = self.shared.busy_timeout;
                error(ffi::SQLITE_BUSY, format!("another session of this process has been writing for {waited:?}"))
            })?);
        }
        Ok(())
    }

    /// Forgets the transaction once SQLite has none open.
    fn transaction_over(&mut self) {
        if self.connection.is_autocommit() {
            self.writes = false;
            self.place = None;
        }
    }

    /// Whether the place in front of SQLite is ours, or there is none.
    #[inline]
    fn has_place(&self) -> bool {
        self.place.is_some() || self.shared.queue.is_none()
    }

    /// Whether a change made now is a transaction of its own, which needs the writer's place for itself.
    fn needs_place(&self) -> bool {
        self.shared.queue.is_some() && self.connection.is_autocommit()
    }
}

impl Session for SqliteSession {
    fn dialect(&self) -> &'static Dialect {
        &bourse_schema::SQLITE
    }

    /// Every level is given as serializable: SQLite has no weaker one, and readers have a snapshot.
    fn begin(&mut self, _: Isolation, access: Access) -> Result<(), EngineError> {
        match access {
            Access::Read => self.run_bare(&self.begin_read),
            Access::Write => {
                if self.connection.is_autocommit() {
                    self.take_place()?;
                }
                let begun = self.run_bare(&self.begin_write);
                if begun.is_ok() {
                    self.writes = true;
                } else {
                    self.transaction_over();
                }
                begun
            }
        }
    }

    #[inline]
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.run_prepared(sql, params, Rows::All, |row| each(row)).map(|_| ())
    }

    #[inline]
    fn query_first(
        &mut self,
        sql: &'static Sql,
        params: Params<'_>,
        each: &mut EachRow<'_>,
    ) -> Result<bool, EngineError> {
        let mut found = false;
        self.run_prepared(sql, params, Rows::First, |row| {
            found = true;
            each(row)
        })?;
        Ok(found)
    }

    #[inline]
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64, EngineError> {
        if !self.run_prepared(sql, params, Rows::All, |_| Ok(()))? {
            return Ok(0);
        }
        Ok(self.connection.changes())
    }

    /// What a single run looks up and asks is looked up and asked once.
    fn run_each(
        &mut self,
        sql: &'static Sql,
        params: &[Value<'_>],
        width: usize,
        each: Option<&mut EachFound<'_>>,
    ) -> Result<(), EngineError> {
        match (each, self.statement(sql.slot())) {
            (Some(each), Some(statement)) if statement.is_readonly() => statement
                .first_of_each(&self.connection, params, width, |bound| self.first_step(bound), |at, row| each(at, row))
                .map_err(|error| error.with_statement(sql.text())),
            (None, _) => self.change_each(sql, params, width),
            // Whoever comes first prepares it.
            (each, _) => run_one_by_one(self, sql, params, width, each),
        }
    }

    fn commit(&mut self) -> Result<(), EngineError> {
        let done = self.run_bare(&self.commit);
        if done.is_err() && !self.connection.is_autocommit() {
            // The seam says that a commit which failed is rolled back; the first error is the one to report.
            let _ = self.run_bare(&self.rollback);
        }
        self.transaction_over();
        done
    }

    fn rollback(&mut self) -> Result<(), EngineError> {
        // Some errors (disk full, corruption) end the transaction by themselves.
        let done = if self.connection.is_autocommit() { Ok(()) } else { self.run_bare(&self.rollback) };
        self.transaction_over();
        done
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<bool, EngineError> {
        let mut whole = false;
        self.query_text(&format!("PRAGMA wal_checkpoint({})", checkpoint.name()), &[], &mut |row| {
            let (busy, in_log, moved) = (row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<i64>(2)?);
            whole = busy == 0 && in_log == moved;
            Ok(())
        })?;
        Ok(whole)
    }

    fn plan(&mut self, sql: &str) -> Result<Vec<String>, EngineError> {
        let explained = format!("EXPLAIN QUERY PLAN {sql}");
        let (statement, _) =
            Statement::prepare(&self.connection, &explained, false).map_err(|e| e.with_statement(sql))?;
        let mut lines = Vec::new();
        if let Some(statement) = statement {
            const DETAIL: usize = 3;
            statement
                .run_through(&self.connection, |row| {
                    lines.push(row.value(DETAIL).to_string());
                    Ok(())
                })
                .map_err(|e| e.with_statement(sql))?;
        }
        Ok(lines)
    }

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.run_text(sql, params, each).map(|_| ())
    }

    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, EngineError> {
        let is_change = self.run_text(sql, params, &mut |_| Ok(()))?;
        Ok(if is_change { self.connection.changes() } else { 0 })
    }
}

#[cfg(test)]
mod tests;
