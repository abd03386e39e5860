//! A user's connection: statements prepared at first use and found by number.

use crate::append::Appender;
use crate::database::{DuckDbConnection, DuckDbDatabase};
use crate::describe;
use crate::dialect::DIALECT;
use crate::options::{DuckDbOptions, DuckDbWriters};
use crate::row::ResultColumns;
use crate::statement::{DuckDbStatement, ResultRows, StatementError};
use bourse_engine::{
    Access, Checkpoint, Dialect, EachRow, EachToLoad, EngineError, ErrorKind, Isolation, Params, Result, RowExt as _,
    Session, Setting, Slots, Sql, TransactionState, Value,
};
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct DuckSession {
    /// Prepared statements by slot; dropped before the connection.
    statements: Slots<DuckDbStatement>,
    begin_read: DuckDbStatement,
    begin_write: DuckDbStatement,
    commit: DuckDbStatement,
    rollback: DuckDbStatement,
    columns: ResultColumns,
    /// State of its transaction. DuckDB undoes one in which a statement fails, and silently treats its COMMIT as a ROLLBACK.
    state: TransactionState,
    /// Access of the open transaction.
    access: Access,
    /// Number of commits that the transaction sees.
    seen: u64,
    /// Whether this session has the lock of the one writer.
    has_place: bool,
    /// Patience for the lock of the one writer; `None` if writers are concurrent.
    queue: Option<Duration>,
    connection: DuckDbConnection,
}

impl DuckSession {
    pub(crate) fn new(connection: DuckDbConnection, options: &DuckDbOptions) -> Result<Self> {
        Ok(Self {
            statements: Slots::default(),
            begin_read: connection.prepare("BEGIN TRANSACTION READ ONLY")?,
            begin_write: connection.prepare("BEGIN TRANSACTION")?,
            commit: connection.prepare("COMMIT")?,
            rollback: connection.prepare("ROLLBACK")?,
            columns: ResultColumns::default(),
            state: TransactionState::Idle,
            access: Access::Read,
            seen: 0,
            has_place: false,
            queue: (options.writers == DuckDbWriters::One).then_some(options.lock_timeout),
            connection,
        })
    }

    fn database(&self) -> &Arc<DuckDbDatabase> {
        self.connection.database()
    }

    /// Takes the lock of the one writer, if the target has one.
    fn take_place(&mut self) -> Result<()> {
        if let (Some(patience), false) = (self.queue, self.has_place) {
            self.database().writers.take(patience)?;
            self.has_place = true;
        }
        Ok(())
    }

    fn give_place_back(&mut self) {
        if std::mem::take(&mut self.has_place) {
            self.database().writers.give_back();
        }
    }

    /// Statement, prepared at first use.
    #[inline]
    fn ready(&mut self, sql: &'static Sql) -> Result<&mut DuckDbStatement> {
        self.statements.get_or_make(sql.slot(), || self.connection.prepare(&sql.render(&DIALECT)))
    }

    fn rows_of(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<ResultRows, StatementError> {
        let statement = self.ready(sql).map_err(StatementError::BeforeItRan)?;
        params.with_one_list(|params| statement.run(params))
    }

    /// Runs a change in the open transaction, or in one of its own.
    fn change(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<ResultRows, StatementError>,
    ) -> Result<ResultRows, StatementError> {
        if self.state != TransactionState::Idle {
            return change(self);
        }
        self.take_place().map_err(StatementError::BeforeItRan)?;
        let database = Arc::clone(self.database());
        let done = database.commits.run(|| change(self));
        self.give_place_back();
        done
    }

    /// Applies the effect of a failure on the transaction, and adds the statement to the error.
    #[cold]
    fn settle(&mut self, failure: StatementError, sql: &str) -> EngineError {
        let ran = matches!(failure, StatementError::WhileItRan(_));
        let mut error = failure.error();
        if ran && self.state == TransactionState::Open {
            // A key that another transaction has added since is refused as one that was there before, though it cannot be seen.
            if error.kind() == ErrorKind::Duplicate && self.database().commits.has_others_since(self.seen) {
                error = error.with_kind(ErrorKind::Conflict);
            }
            self.state = TransactionState::Failed(error.kind());
        }
        error.with_statement(sql)
    }

    /// Ends the transaction with a COMMIT or a ROLLBACK.
    fn end(&mut self, how: fn(&mut Self) -> &mut DuckDbStatement) -> Result<()> {
        self.state = TransactionState::Idle;
        let ended = how(self).run(&[]);
        self.give_place_back();
        ended.map(drop).map_err(StatementError::error)
    }

    /// Runs a text that is parsed for this run only.
    fn rows_of_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<ResultRows, StatementError> {
        self.connection.prepare(sql).map_err(StatementError::BeforeItRan)?.run(params)
    }
}

impl Drop for DuckSession {
    fn drop(&mut self) {
        if self.state != TransactionState::Idle {
            // The connection undoes what is open when it closes; others should not wait for that.
            let _ = self.end(|session| &mut session.rollback);
        }
        self.give_place_back();
    }
}

impl Session for DuckSession {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    /// Begins a transaction. Whatever the level, it sees a snapshot; transactions are serializable only if there is one writer
    /// at a time.
    fn begin(&mut self, _: Isolation, access: Access) -> Result<()> {
        self.state.refuse_open()?;
        let begin = match access {
            Access::Read => &mut self.begin_read,
            Access::Write => {
                self.take_place()?;
                &mut self.begin_write
            }
        };
        let begun = begin.run(&[]).map(drop);
        match begun {
            Ok(()) => {
                (self.state, self.access, self.seen) =
                    (TransactionState::Open, access, self.database().commits.count());
                Ok(())
            }
            Err(failure) => {
                self.give_place_back();
                Err(failure.error())
            }
        }
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        describe::settings_of(&self.connection)
    }

    fn prepare(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<()> {
        let takes = self.ready(sql).and_then(|statement| statement.takes(params.len()));
        takes.map_err(|error| error.with_statement(sql.text()))
    }

    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.state.refuse_failed()?;
        let mut rows = match self.rows_of(sql, params) {
            Ok(rows) => rows,
            Err(failure) => return Err(self.settle(failure, sql.text())),
        };
        rows.each(&mut self.columns, each)
    }

    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.state.refuse_failed()?;
        match self.change(|session| session.rows_of(sql, params)) {
            Ok(mut rows) => Ok(rows.changed()),
            Err(failure) => Err(self.settle(failure, sql.text())),
        }
    }

    /// Loads rows through the appender, in the open transaction.
    fn load(&mut self, table: &str, insert: &'static Sql, rows: &mut EachToLoad<'_>) -> Result<()> {
        self.state.refuse_failed()?;
        if self.state == TransactionState::Idle {
            return rows(&mut |values| self.execute(insert, Params::of(values)).map(drop));
        }
        let loaded = Appender::new(&self.connection, None, table).and_then(|mut appender| appender.append_each(rows));
        loaded.map_err(|error| {
            self.state = TransactionState::Failed(error.kind());
            error.with_statement(insert.text())
        })
    }

    fn commit(&mut self) -> Result<()> {
        match self.state {
            TransactionState::Idle => Ok(()),
            TransactionState::Failed(kind) => {
                self.end(|session| &mut session.rollback)?;
                Err(EngineError::failed_transaction(kind, true))
            }
            TransactionState::Open if self.access == Access::Read => self.end(|session| &mut session.commit),
            TransactionState::Open => {
                let database = Arc::clone(self.database());
                database.commits.run(|| self.end(|session| &mut session.commit)).map_err(|e| match e.kind() {
                    // The transaction's own view was checked when its statements ran: a violation at commit is caused by
                    // others' changes.
                    ErrorKind::Constraint | ErrorKind::Duplicate => e.with_kind(ErrorKind::Conflict),
                    _ => e,
                })
            }
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match self.state {
            TransactionState::Idle => Ok(()),
            TransactionState::Open | TransactionState::Failed(_) => self.end(|session| &mut session.rollback),
        }
    }

    /// Runs DuckDB's only kind of checkpoint: of the whole log, and only if no other transaction prevents it.
    fn checkpoint(&mut self, _: Checkpoint) -> Result<bool> {
        match self.connection.run("CHECKPOINT") {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::Conflict => Ok(false),
            Err(e) => Err(e),
        }
    }

    fn plan(&mut self, sql: &str) -> Result<Vec<String>> {
        self.state.refuse_failed()?;
        let text = DIALECT.fill(sql);
        let parameters = (1..).take_while(|number| text.contains(&format!("${number}"))).count();
        let mut lines = Vec::new();
        let mut statement = self.connection.prepare(&format!("EXPLAIN {text}")).map_err(|e| e.with_statement(sql))?;
        let mut rows = statement.run(&vec![Value::Null; parameters]).map_err(|e| e.error().with_statement(sql))?;
        rows.each(&mut self.columns, &mut |row| {
            let plan: String = row.get(1)?;
            lines.extend(plan.lines().map(|line| line.trim_end().to_owned()));
            Ok(())
        })?;
        Ok(lines)
    }

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.state.refuse_failed()?;
        let ran = match self.state {
            // It may be a change all the same, as DDL is.
            TransactionState::Idle => Arc::clone(self.database()).commits.run(|| self.rows_of_text(sql, params)),
            TransactionState::Open | TransactionState::Failed(_) => self.rows_of_text(sql, params),
        };
        match ran {
            Ok(mut rows) => rows.each(&mut self.columns, each),
            Err(failure) => Err(self.settle(failure, sql)),
        }
    }

    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.state.refuse_failed()?;
        match self.change(|session| session.rows_of_text(sql, params)) {
            Ok(mut rows) => Ok(rows.changed()),
            Err(failure) => Err(self.settle(failure, sql)),
        }
    }
}
