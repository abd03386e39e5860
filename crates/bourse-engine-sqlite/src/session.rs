//! A user's connection: statements prepared at first use and found by number.

use crate::connection::SqliteConnection;
use crate::describe;
use crate::error::error;
use crate::ffi::{self, SqliteLibrary};
use crate::one_writer::OneWriter;
use crate::options::Begin;
use crate::prepared::PreparedConnection;
use crate::queue::{SqliteWriterLock, WriterLock};
use crate::shared_connection::LentConnection;
use crate::statement::{BoundStatement, CurrentRow, SqliteStatement};
use crate::waits::LockWaits;
use bourse_engine::server_wait::AwaitedConnection;
use bourse_engine::{
    Access, Checkpoint, Dialect, EachFound, EachRow, EngineError, Isolation, Params, Result, Row as _, RowExt as _,
    Runs, Session, Setting, Sql, StatementWork, Value, run_one_by_one,
};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Time that a read-only transaction waits for a table lock of a shared cache. It may hold the lock that the writer
/// waits for, and of the two the reader gives way.
const READER_GIVES_WAY: Duration = Duration::from_millis(10);

/// Parts of its engine that a session uses.
#[derive(Debug, Clone)]
pub(crate) struct SharedEngine {
    pub(crate) library: SqliteLibrary,
    pub(crate) waits: Arc<LockWaits>,
    /// Queue of writers; `None` if writers wait inside SQLite.
    pub(crate) queue: Option<Arc<SqliteWriterLock>>,
    pub(crate) busy_timeout: Duration,
    /// Whether SQLite's own busy timeout is used.
    pub(crate) waits_by_itself: bool,
    pub(crate) begin: Begin,
    /// Whether statements stay prepared.
    pub(crate) keeps_statements: bool,
    /// Registration of the calls of connections that reach no file but the database's own; set if those that run statements do.
    pub(crate) confined: Arc<OnceLock<AwaitedConnection>>,
}

impl SharedEngine {
    /// Confines a connection, if connections are to be confined: of a loader, or of the engine itself.
    pub(crate) fn confine(&self, connection: &SqliteConnection) -> Result<()> {
        if self.confined.get().is_none() {
            return Ok(());
        }
        self.waits.add_interruptible(connection.raw());
        connection.confine(true)
    }

    /// Confines the connection of a session, which is set up, if connections are to be confined.
    pub(crate) fn confine_session(&self, connection: &SqliteConnection) -> Result<()> {
        if self.confined.get().is_none() {
            return Ok(());
        }
        self.waits.add_interruptible(connection.raw());
        connection.confine(false)
    }
}

/// Number of rows requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestedRows {
    All,
    First,
}

/// Effect of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatementEffect {
    /// No change of the database.
    Read,
    /// Possibly changed rows; the active connection has their number.
    Changed,
    /// This many rows possibly changed, on a connection that another session may have by now.
    ChangedElsewhere(u64),
}

pub(crate) struct SqliteSession {
    /// Active connection: the session's own, or the one writer while this session has it.
    active: PreparedConnection,
    /// The session's own connection while it has the one writer.
    own: Option<PreparedConnection>,
    /// Whether the open transaction holds SQLite's writer lock.
    writes: bool,
    /// Bourse's writer lock while a transaction of this session writes; released after the connection is closed.
    place: Option<WriterLock>,
    /// The one writer, with `writers=one`.
    one_writer: Option<Arc<OneWriter>>,
    shared: SharedEngine,
    /// Released last.
    #[cfg(loaded)]
    _in_session: crate::loaded::InSession,
}

impl SqliteSession {
    pub(crate) fn new(
        connection: LentConnection,
        shared: SharedEngine,
        one_writer: Option<Arc<OneWriter>>,
    ) -> Result<Self> {
        #[cfg(loaded)]
        let in_session = shared.library.begin_session().ok_or_else(|| {
            bourse_engine::EngineError::unsupported(format!(
                "{} was compiled with THREADSAFE=0: it bears one session, and another one is open",
                shared.library.description()
            ))
        })?;
        let active = PreparedConnection::new(connection, shared.begin)?;
        Ok(Self {
            #[cfg(loaded)]
            _in_session: in_session,
            active,
            own: None,
            writes: false,
            place: None,
            one_writer,
            shared,
        })
    }

    /// Prepares a statement that is not prepared yet.
    #[cold]
    fn prepare_anew(&mut self, sql: &'static Sql) -> Result<()> {
        let slot = sql.slot();
        let text = sql.render(self.shared.library.dialect());
        let patience = self.patience();
        let mut attempt = 0;
        let (statement, tail) = loop {
            match SqliteStatement::prepare(&self.active.connection, &text, true) {
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
        if self.one_writer.is_some() && makes_temporary(&text) {
            let why = "with writers=one another connection makes it than reads it: writers=queue has temporary tables";
            return Err(EngineError::unsupported(why).with_statement(&text));
        }
        *self.active.statements.place(slot) = Some(statement);
        Ok(())
    }

    /// The prepared statement, if it exists.
    #[inline]
    fn statement(&self, slot: usize) -> Option<&SqliteStatement> {
        self.active.statements.get(slot)
    }

    /// Runs a prepared statement and returns whether it may have changed something.
    #[inline(always)]
    fn run_prepared(
        &mut self,
        sql: &'static Sql,
        params: Params<'_>,
        rows: RequestedRows,
        mut each: impl FnMut(&CurrentRow<'_>) -> Result<()>,
    ) -> Result<StatementEffect> {
        match self.statement(sql.slot()) {
            Some(statement) if statement.is_readonly() || self.has_place() => {
                match self.run(statement, params, rows, each) {
                    Ok(()) => {
                        Ok(if statement.is_readonly() { StatementEffect::Read } else { StatementEffect::Changed })
                    }
                    Err(e) => Err(e.with_statement(sql.text())),
                }
            }
            _ => self.prepare_and_run(sql, params, rows, &mut each),
        }
    }

    /// Runs a statement that may need preparation, and may be a transaction of its own.
    #[cold]
    fn prepare_and_run(
        &mut self,
        sql: &'static Sql,
        params: Params<'_>,
        rows: RequestedRows,
        each: &mut dyn FnMut(&CurrentRow<'_>) -> Result<()>,
    ) -> Result<StatementEffect> {
        let slot = sql.slot();
        if self.statement(slot).is_none() {
            self.prepare_anew(sql)?;
        }
        let is_change = !self.statement(slot).expect("prepared just before").is_readonly();
        let is_alone = is_change && !self.has_place() && self.needs_place();
        if is_alone {
            self.take_place()?;
            // The one writer is another connection, which has statements of its own.
            if self.statement(slot).is_none()
                && let Err(refused) = self.prepare_anew(sql)
            {
                self.transaction_over();
                return Err(refused);
            }
        }
        let statement = self.statement(slot).expect("prepared just before");
        let done = self.run(statement, params, rows, each);
        if !self.shared.keeps_statements {
            *self.active.statements.place(slot) = None;
        }
        let ran = self.ran(is_change);
        if is_alone {
            self.transaction_over();
        }
        done.map(|()| ran).map_err(|e| e.with_statement(sql.text()))
    }

    /// Prepares and runs a text once, and returns its effect.
    fn run_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<StatementEffect> {
        let (statement, tail) =
            SqliteStatement::prepare(&self.active.connection, sql, false).map_err(|e| e.with_statement(sql))?;
        let Some(statement) = statement else { return Ok(StatementEffect::Read) };
        if !tail.trim().is_empty() {
            return Err(error(ffi::SQLITE_MISUSE, "more than one statement in one text").with_statement(sql));
        }
        let is_change = !statement.is_readonly();
        if is_change && self.needs_place() {
            self.take_place()?;
        }
        let done = if is_change && self.own.is_some() && self.one_writer.is_some() {
            drop(statement);
            self.run_on_active(sql, params, each)
        } else {
            let done = self.run(&statement, Params::of(params), RequestedRows::All, |row| each(row));
            drop(statement);
            done
        };
        let ran = self.ran(is_change);
        self.transaction_over();
        done.map(|()| ran).map_err(|e| e.with_statement(sql))
    }

    /// Effect of the statement that was run just now, before the active connection may be returned.
    fn ran(&self, is_change: bool) -> StatementEffect {
        match (is_change, &self.own) {
            (false, _) => StatementEffect::Read,
            (true, None) => StatementEffect::Changed,
            (true, Some(_)) => StatementEffect::ChangedElsewhere(self.active.connection.changes()),
        }
    }

    /// Number of rows that a statement changed.
    #[inline]
    fn changes(&self, ran: StatementEffect) -> u64 {
        match ran {
            StatementEffect::Read => 0,
            StatementEffect::Changed => self.active.connection.changes(),
            StatementEffect::ChangedElsewhere(rows) => rows,
        }
    }

    /// Prepares and runs a text on the active connection, which is not the one that it was prepared on before.
    fn run_on_active(&self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        match SqliteStatement::prepare(&self.active.connection, sql, false)? {
            (Some(statement), _) => self.run(&statement, Params::of(params), RequestedRows::All, |row| each(row)),
            (None, _) => Ok(()),
        }
    }

    /// Deadline of a wait for a shared cache's lock.
    fn patience(&self) -> Instant {
        let gives_way = !self.writes && !self.active.connection.is_autocommit();
        let patience =
            if gives_way { self.shared.busy_timeout.min(READER_GIVES_WAY) } else { self.shared.busy_timeout };
        Instant::now() + patience
    }

    fn wait(&self, attempt: u32, until: Instant) -> bool {
        // SQLite by itself does not wait for a shared cache's locks.
        !self.shared.waits_by_itself && Instant::now() < until && self.active.connection.patience().wait(attempt)
    }

    /// Makes the first step of a run, which takes the locks; in a shared cache SQLite does not wait for them by itself.
    #[inline]
    fn first_step(&self, bound: &mut BoundStatement<'_>) -> i32 {
        match bound.step() {
            ffi::SQLITE_ROW => ffi::SQLITE_ROW,
            ffi::SQLITE_LOCKED_SHAREDCACHE => self.step_again(bound),
            code => code,
        }
    }

    #[cold]
    fn step_again(&self, bound: &mut BoundStatement<'_>) -> i32 {
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
                ffi::SQLITE_LOCKED_SHAREDCACHE => {}
                code => return code,
            }
        }
    }

    /// Steps to the end or past the first row, passing rows to `each`.
    #[inline(always)]
    fn run(
        &self,
        statement: &SqliteStatement,
        params: Params<'_>,
        rows: RequestedRows,
        mut each: impl FnMut(&CurrentRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut bound = statement.bind(&self.active.connection, params)?;
        let mut code = self.first_step(&mut bound);
        loop {
            match code {
                ffi::SQLITE_ROW => each(&bound.columns())?,
                ffi::SQLITE_DONE => return Ok(()),
                code => return Err(self.active.connection.error(code)),
            }
            if rows == RequestedRows::First {
                return Ok(());
            }
            code = bound.step();
        }
    }

    fn change_each(&mut self, sql: &'static Sql, Runs { params, width }: Runs<'_>) -> Result<()> {
        // The first run prepares the statement and meets the locks; outside a transaction every run does.
        let (first, rest) = params.split_at(width.min(params.len()));
        if first.is_empty() {
            return Ok(());
        }
        self.run_prepared(sql, Params::of(first), RequestedRows::All, |_| Ok(()))?;
        match self.statement(sql.slot()) {
            Some(statement) if self.writes => statement
                .run_with_each(&self.active.connection, rest, width)
                .map_err(|error| error.with_statement(sql.text())),
            _ => rest.chunks(width).try_for_each(|row| {
                self.run_prepared(sql, Params::of(row), RequestedRows::All, |_| Ok(())).map(|_| ())
            }),
        }
    }

    fn run_bare(&self, statement: &SqliteStatement) -> Result<()> {
        self.run(statement, Params::NONE, RequestedRows::All, |_| Ok(()))
    }

    /// Takes Bourse's writer lock, if the session needs one and does not hold it yet.
    fn take_place(&mut self) -> Result<()> {
        let Some(queue) = &self.shared.queue else { return Ok(()) };
        if self.place.is_none() {
            let place = queue.take(self.shared.busy_timeout, &self.shared.waits);
            self.place = Some(place.ok_or_else(|| {
                let waited = self.shared.busy_timeout;
                self.shared.waits.conflict(ffi::SQLITE_BUSY);
                error(ffi::SQLITE_BUSY, format!("another session of this process has been writing for {waited:?}"))
            })?);
            if let Some(writer) = self.one_writer.as_ref().and_then(|it| it.take()) {
                self.own = Some(std::mem::replace(&mut self.active, writer));
            }
        }
        Ok(())
    }

    /// Releases the transaction's resources once SQLite has none open.
    fn transaction_over(&mut self) {
        if self.active.connection.is_autocommit() {
            self.writes = false;
            self.give_writer_back();
            self.place = None;
        }
    }

    /// Returns the one writer and continues with the session's own connection.
    #[inline]
    fn give_writer_back(&mut self) {
        if let Some(own) = self.own.take() {
            let writer = std::mem::replace(&mut self.active, own);
            self.one_writer.as_ref().expect("it was taken from there").give_back(writer);
        }
    }

    /// Whether this session holds Bourse's writer lock, or needs none.
    #[inline]
    fn has_place(&self) -> bool {
        self.place.is_some() || self.shared.queue.is_none()
    }

    /// Whether a change made now is a transaction of its own, which needs the writer lock.
    fn needs_place(&self) -> bool {
        self.shared.queue.is_some() && self.active.connection.is_autocommit()
    }
}

/// Whether a statement makes a temporary object, which is its connection's alone.
fn makes_temporary(sql: &str) -> bool {
    let mut words = sql.split_whitespace().map(str::to_ascii_lowercase);
    let is_temporary = |word: String| word == "temp" || word == "temporary" || word.starts_with("temp.");
    // `CREATE TABLE IF NOT EXISTS temp.name`
    words.next().is_some_and(|word| word == "create") && words.take(5).any(is_temporary)
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        if self.own.is_some() {
            // The connection outlives this session, and its transaction must not. Should this fail, the next writer's first
            // statement says so.
            let _ = self.rollback();
            self.give_writer_back();
        }
    }
}

impl Session for SqliteSession {
    fn dialect(&self) -> &'static Dialect {
        self.shared.library.dialect()
    }

    /// Begins a serializable transaction at every level: SQLite has no weaker one, and readers have a snapshot.
    fn begin(&mut self, _: Isolation, access: Access) -> Result<()> {
        match access {
            Access::Read => self.run_bare(&self.active.begin_read),
            Access::Write => {
                if self.active.connection.is_autocommit() {
                    self.take_place()?;
                }
                let begun = self.run_bare(&self.active.begin_write);
                if begun.is_ok() {
                    self.writes = self.shared.begin == Begin::Immediate;
                } else {
                    self.transaction_over();
                }
                begun
            }
        }
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        describe::settings_of(&self.active.connection)
    }

    fn prepare(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<()> {
        if self.shared.keeps_statements && self.statement(sql.slot()).is_none() {
            self.prepare_anew(sql)?;
        }
        let text = sql.render(self.shared.library.dialect());
        let takes = match self.statement(sql.slot()) {
            Some(statement) => statement.takes(params.len()),
            // For once, to know whether it can be.
            None => SqliteStatement::prepare(&self.active.connection, &text, false)
                .and_then(|(statement, _)| statement.map_or(Ok(()), |statement| statement.takes(params.len()))),
        };
        takes.map_err(|e| e.with_statement(&text))
    }

    #[inline]
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.run_prepared(sql, params, RequestedRows::All, |row| each(row)).map(|_| ())
    }

    #[inline]
    fn query_first(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        let mut found = false;
        self.run_prepared(sql, params, RequestedRows::First, |row| {
            found = true;
            each(row)
        })?;
        Ok(found)
    }

    #[inline]
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        let ran = self.run_prepared(sql, params, RequestedRows::All, |_| Ok(()))?;
        Ok(self.changes(ran))
    }

    /// Runs a statement repeatedly; the look-up and the preparation are done once.
    fn run_each(&mut self, sql: &'static Sql, runs: Runs<'_>, each: Option<&mut EachFound<'_>>) -> Result<()> {
        match (each, self.statement(sql.slot())) {
            (Some(each), Some(statement)) if statement.is_readonly() => statement
                .first_of_each(&self.active.connection, runs, |bound| self.first_step(bound), |at, row| each(at, row))
                .map_err(|error| error.with_statement(sql.text())),
            (None, _) => self.change_each(sql, runs),
            // Whoever comes first prepares it.
            (each, _) => run_one_by_one(self, sql, runs, each),
        }
    }

    fn commit(&mut self) -> Result<()> {
        let done = self.run_bare(&self.active.commit);
        if done.is_err() && !self.active.connection.is_autocommit() {
            // The seam says that a commit which failed is rolled back; the first error is the one to report.
            let _ = self.run_bare(&self.active.rollback);
        }
        self.transaction_over();
        done
    }

    fn rollback(&mut self) -> Result<()> {
        // Some errors (disk full, corruption) end the transaction by themselves.
        let done = if self.active.connection.is_autocommit() { Ok(()) } else { self.run_bare(&self.active.rollback) };
        self.transaction_over();
        done
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<bool> {
        let mut whole = false;
        self.query_text(&format!("PRAGMA wal_checkpoint({})", checkpoint.name()), &[], &mut |row| {
            let (busy, in_log, moved) = (row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<i64>(2)?);
            whole = busy == 0 && in_log == moved;
            Ok(())
        })?;
        Ok(whole)
    }

    fn plan(&mut self, sql: &str) -> Result<Vec<String>> {
        let explained = format!("EXPLAIN QUERY PLAN {sql}");
        let (statement, _) =
            SqliteStatement::prepare(&self.active.connection, &explained, false).map_err(|e| e.with_statement(sql))?;
        let mut lines = Vec::new();
        if let Some(statement) = statement {
            const DETAIL: usize = 3;
            statement
                .run_through(&self.active.connection, |row| {
                    lines.push(row.value(DETAIL).to_string());
                    Ok(())
                })
                .map_err(|e| e.with_statement(sql))?;
        }
        Ok(lines)
    }

    fn statement_work(&mut self, sql: &'static Sql) -> Option<StatementWork> {
        self.statement(sql.slot()).filter(|_| self.shared.library.counts_work()).map(SqliteStatement::work)
    }

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.run_text(sql, params, each).map(|_| ())
    }

    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        let ran = self.run_text(sql, params, &mut |_| Ok(()))?;
        Ok(self.changes(ran))
    }
}

mod tests;
