//! A user's connection: statements prepared at first use and found by number.

use crate::database::TursoConnection;
use crate::describe;
use crate::dialect::DIALECT;
use crate::error::error;
use crate::options::TursoJournal;
use crate::statement::{TursoStatement, WantedRows};
use bourse_engine::{
    Access, Checkpoint, Dialect, EachRow, EngineError, ErrorKind, Isolation, Params, Result, Row, RowExt as _, Session,
    Setting, Slots, Sql, TransactionState, Value,
};
use turso_core::LimboError;

pub(crate) struct TursoSession {
    /// Prepared statements by slot; dropped before the connection.
    statements: Slots<TursoStatement>,
    begin_read: TursoStatement,
    begin_write: TursoStatement,
    /// Begin of a serializable transaction.
    begin_alone: TursoStatement,
    commit: TursoStatement,
    rollback: TursoStatement,
    state: TransactionState,
    connection: TursoConnection,
}

impl TursoSession {
    pub(crate) fn new(connection: TursoConnection) -> Result<Self> {
        let begin_write = match connection.database().options().journal {
            TursoJournal::Wal => "BEGIN IMMEDIATE",
            TursoJournal::Mvcc => "BEGIN CONCURRENT",
        };
        Ok(Self {
            statements: Slots::default(),
            begin_read: connection.prepare("BEGIN")?,
            begin_write: connection.prepare(begin_write)?,
            begin_alone: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            rollback: connection.prepare("ROLLBACK")?,
            state: TransactionState::Idle,
            connection,
        })
    }

    /// Statement, prepared at its first use.
    #[inline]
    fn prepared(&mut self, sql: &'static Sql) -> Result<&mut TursoStatement> {
        self.statements.get_or_make(sql.slot(), || self.connection.prepare(&sql.render(&DIALECT)))
    }

    #[inline]
    fn run(
        &mut self,
        sql: &'static Sql,
        params: Params<'_>,
        rows: WantedRows,
        each: impl FnMut(&dyn Row) -> Result<()>,
    ) -> Result<u64> {
        self.state.refuse_failed()?;
        let done = self.prepared(sql)?.run(params, rows, each);
        done.map_err(|e| self.settle(e, sql.text()))
    }

    /// Runs a text that is parsed for this run only.
    fn run_text(&mut self, sql: &str, params: &[Value<'_>], each: impl FnMut(&dyn Row) -> Result<()>) -> Result<u64> {
        self.state.refuse_failed()?;
        let ran = self.connection.prepare(sql)?.run(Params::of(params), WantedRows::All, each);
        ran.map_err(|e| self.settle(e, sql))
    }

    /// Applies the effect of an error on the transaction, and adds the statement to it.
    #[cold]
    fn settle(&mut self, error: EngineError, sql: &str) -> EngineError {
        let has_ended = self.connection.is_autocommit();
        if self.state == TransactionState::Open && (has_ended || error.kind() == ErrorKind::Conflict) {
            self.state = TransactionState::Failed(error.kind());
        }
        error.with_statement(sql)
    }

    /// Rolls back the open transaction, unless Turso has done so already.
    fn undo(&mut self) -> Result<()> {
        self.state = TransactionState::Idle;
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.rollback.run(Params::NONE, WantedRows::All, |_| Ok(())).map(|_| ())
    }
}

impl Session for TursoSession {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    /// Begins a transaction. With one writer at a time every level is serializable. With MVCC a transaction sees a snapshot; a
    /// serializable one writes alone.
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        self.state.refuse_open()?;
        let begin = match (access, isolation) {
            (Access::Read, _) => &mut self.begin_read,
            (Access::Write, Isolation::Serializable) => &mut self.begin_alone,
            (Access::Write, _) => &mut self.begin_write,
        };
        begin.run(Params::NONE, WantedRows::All, |_| Ok(()))?;
        self.state = TransactionState::Open;
        Ok(())
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        describe::settings_of(&self.connection)
    }

    fn prepare(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<()> {
        self.prepared(sql)?.takes(params.len()).map_err(|e| e.with_statement(sql.text()))
    }

    #[inline]
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.run(sql, params, WantedRows::All, each).map(|_| ())
    }

    #[inline]
    fn query_first(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        let mut found = false;
        self.run(sql, params, WantedRows::First, |row| {
            found = true;
            each(row)
        })?;
        Ok(found)
    }

    #[inline]
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.run(sql, params, WantedRows::All, |_| Ok(()))
    }

    fn commit(&mut self) -> Result<()> {
        match self.state {
            TransactionState::Idle => Ok(()),
            TransactionState::Failed(kind) => {
                self.undo()?;
                Err(EngineError::failed_transaction(kind, true))
            }
            TransactionState::Open => {
                let done = self.commit.run(Params::NONE, WantedRows::All, |_| Ok(()));
                self.state = TransactionState::Idle;
                if done.is_err() {
                    // The seam says that a commit which failed is rolled back; the first error is the one to report.
                    let _ = self.undo();
                }
                done.map(|_| ())
            }
        }
    }

    fn rollback(&mut self) -> Result<()> {
        self.undo()
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Result<bool> {
        if self.state != TransactionState::Idle {
            return Err(error(&LimboError::TableLocked));
        }
        let mut is_whole = false;
        let done = self.connection.query(&format!("PRAGMA wal_checkpoint({})", checkpoint.name()), &mut |row| {
            let (busy, in_log, moved) = (row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<i64>(2)?);
            is_whole = busy == 0 && in_log == moved;
            Ok(())
        });
        match done {
            Ok(()) => Ok(is_whole),
            Err(e) if e.kind() == ErrorKind::Conflict => Ok(false),
            Err(e) => Err(e),
        }
    }

    fn plan(&mut self, sql: &str) -> Result<Vec<String>> {
        const DETAIL: usize = 3;
        let mut lines = Vec::new();
        let explained = format!("EXPLAIN QUERY PLAN {}", DIALECT.fill(sql));
        let parameters = (1..).take_while(|number| sql.contains(&format!("?{number}"))).count();
        self.run_text(&explained, &vec![Value::Null; parameters], |row| {
            lines.push(row.value(DETAIL).to_string());
            Ok(())
        })?;
        Ok(lines)
    }

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.run_text(sql, params, each).map(|_| ())
    }

    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.run_text(sql, params, |_| Ok(()))
    }
}
