//! A user's connection: statements prepared at first use and found by number.

use crate::connection::{JdbcConnection, TEXT};
use crate::database::JdbcDatabase;
use crate::describe;
use crate::machine::BridgeMethod;
use bourse_engine::{
    Access, Checkpoint, Dialect, EachFound, EachRow, EngineError, ErrorKind, Isolation, Params, Result, RowExt as _,
    Runs, Session, Setting, Sql, TransactionState, Value,
};
use std::sync::Arc;

pub(crate) struct JdbcSession {
    connection: JdbcConnection,
    /// State of its transaction, which has failed if it met a conflict, and may have been undone in part.
    state: TransactionState,
    /// Database; dropped after the connection.
    database: Arc<JdbcDatabase>,
}

impl JdbcSession {
    pub(crate) fn new(database: Arc<JdbcDatabase>) -> Result<Self> {
        let connection = database.connect()?;
        database.add_session(&connection);
        Ok(Self { connection, state: TransactionState::Idle, database })
    }

    /// Number of the statement, which is prepared at first use.
    #[inline]
    fn ready(&mut self, sql: &'static Sql) -> Result<usize> {
        let number = sql.slot() + 1;
        if !self.connection.has(number) {
            let text = self.dialect().fill(sql.text());
            self.connection.prepare(number, &text)?;
        }
        Ok(number)
    }

    /// Applies the effect of a failure on the transaction, and adds the statement to the error.
    #[cold]
    fn settle(&mut self, error: EngineError, sql: &str) -> EngineError {
        let error = if self.is_of_unseen_row(&error) {
            let words = format!("another transaction was first: {}", error.message());
            EngineError::new(ErrorKind::Conflict, words)
        } else {
            error
        };
        if self.state == TransactionState::Open && error.kind() == ErrorKind::Conflict {
            self.state = TransactionState::Failed(error.kind());
        }
        if self.state == TransactionState::Idle {
            // The statement was a transaction of its own.
            self.rolled_back();
        }
        error.with_statement(sql)
    }

    /// Whether the error is a duplicate key of a row that this transaction does not see.
    fn is_of_unseen_row(&mut self, error: &EngineError) -> bool {
        let is_violation = self.state == TransactionState::Open && error.kind() == ErrorKind::Duplicate;
        let query = self.database.product().first_of_key.filter(|_| is_violation).and_then(|of| of(error.message()));
        query.is_some_and(|query| self.connection.number(&query).is_ok_and(|rows| rows == 0))
    }

    fn roll_back(&mut self) -> Result<()> {
        let rolled_back = self.connection.bridge().call(BridgeMethod::Rollback, [0; 2]).map(|_| ());
        self.rolled_back();
        rolled_back
    }

    /// Drops prepared statements if they do not survive a rollback, by the user or by the database.
    fn rolled_back(&mut self) {
        if !self.database.product().keeps_statements {
            self.connection.forget();
        }
    }

    fn text_reply(&mut self, sql: &str, params: &[Value<'_>]) -> Result<crate::bridge::CallReply> {
        self.state.refuse_failed()?;
        let ran = self
            .connection
            .prepare(TEXT, &self.database.product().dialect.fill(sql))
            .and_then(|()| self.connection.run(TEXT, Params::of(params), false));
        ran.map_err(|e| self.settle(e, sql))
    }
}

impl Drop for JdbcSession {
    fn drop(&mut self) {
        self.database.remove_session(&self.connection);
    }
}

impl Session for JdbcSession {
    fn dialect(&self) -> &'static Dialect {
        self.database.product().dialect
    }

    fn begin(&mut self, isolation: Isolation, _: Access) -> Result<()> {
        self.state.refuse_open()?;
        let level = self.database.product().level(isolation);
        self.connection.bridge().call(BridgeMethod::Begin, [level, 0])?;
        self.state = TransactionState::Open;
        Ok(())
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        describe::settings_of(self.database.product(), &mut self.connection)
    }

    fn prepare(&mut self, sql: &'static Sql, _: Params<'_>) -> Result<()> {
        self.ready(sql).map(|_| ()).map_err(|e| e.with_statement(sql.text()))
    }

    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.state.refuse_failed()?;
        let ran = self.ready(sql).and_then(|number| Ok((number, self.connection.run(number, params, false)?)));
        match ran {
            Ok((number, reply)) => self.connection.each(number, reply, each).map(|_| ()),
            Err(error) => Err(self.settle(error, sql.text())),
        }
    }

    fn query_first(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        self.state.refuse_failed()?;
        let ran = self.ready(sql).and_then(|number| Ok((number, self.connection.run(number, params, true)?)));
        match ran {
            Ok((number, reply)) => self.connection.each(number, reply, each).map(|found| found > 0),
            Err(error) => Err(self.settle(error, sql.text())),
        }
    }

    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.state.refuse_failed()?;
        let ran = self.ready(sql).and_then(|number| self.connection.run(number, params, false));
        ran.map(|reply| reply.count().into()).map_err(|e| self.settle(e, sql.text()))
    }

    fn run_each(&mut self, sql: &'static Sql, runs: Runs<'_>, each: Option<&mut EachFound<'_>>) -> Result<()> {
        self.state.refuse_failed()?;
        let ran = self.ready(sql).and_then(|number| self.connection.run_each(number, runs, each));
        ran.map_err(|e| self.settle(e, sql.text()))
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, TransactionState::Idle) {
            TransactionState::Idle => Ok(()),
            TransactionState::Open => {
                let committed = self.connection.bridge().call(BridgeMethod::Commit, [0; 2]).map(|_| ());
                if committed.is_err() {
                    self.rolled_back();
                }
                committed
            }
            TransactionState::Failed(kind) => {
                self.roll_back()?;
                Err(EngineError::failed_transaction(kind, true))
            }
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, TransactionState::Idle) {
            TransactionState::Idle => Ok(()),
            TransactionState::Open | TransactionState::Failed(_) => self.roll_back(),
        }
    }

    fn checkpoint(&mut self, _: Checkpoint) -> Result<bool> {
        match self.database.product().checkpoint {
            Some(sql) => self.connection.execute_text(sql).map(|_| true),
            None => Err(EngineError::unsupported("this engine has no log to be moved into the database")),
        }
    }

    fn plan(&mut self, sql: &str) -> Result<Vec<String>> {
        let Some(explain) = self.database.product().explain else {
            return Err(EngineError::unsupported("this engine shows no plans by a statement"));
        };
        let text = format!("{explain}{}", self.dialect().fill(sql));
        let (_, order) = bourse_engine::split_parameters(&text);
        let values = vec![Value::Null; order.iter().max().map_or(0, |most| most + 1)];
        let reply = self.text_reply(&text, &values)?;
        let mut lines = Vec::new();
        self.connection.each(TEXT, reply, &mut |row| {
            let plan: String = row.get(0)?;
            lines.extend(plan.lines().map(|line| line.trim_end().to_owned()));
            Ok(())
        })?;
        Ok(lines)
    }

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        let reply = self.text_reply(sql, params)?;
        self.connection.each(TEXT, reply, each).map(|_| ())
    }

    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.text_reply(sql, params).map(|reply| reply.count().into())
    }
}
