//! A user's connection: statements prepared at first use and found by number.

use crate::attachment::{Attachment, FirebirdTransaction, TransactionParameters, Visibility};
use crate::database::{FirebirdDatabase, PreparedStatements};
use crate::dialect::DIALECT;
use crate::options::{FirebirdOptions, Serializable};
use crate::statement::{FirebirdStatement, StatementClass};
use bourse_engine::{Access, Dialect, EachRow, EngineError, ErrorKind, Isolation, Params, Result, Session, Sql, Value};
use std::sync::Arc;

/// Parameters of transactions by isolation, each for reading and for writing.
struct BeginParameters {
    committed: [TransactionParameters; 2],
    snapshot: [TransactionParameters; 2],
    alone: [TransactionParameters; 2],
}

impl BeginParameters {
    fn new(options: &FirebirdOptions) -> Self {
        let both = |sees| [false, true].map(|writes| TransactionParameters::new(sees, writes, options.lock_timeout));
        Self {
            committed: both(Visibility::Committed),
            snapshot: both(Visibility::Snapshot),
            alone: both(Visibility::Alone),
        }
    }
}

pub(crate) struct FirebirdSession {
    /// Prepared statements; dropped before the connection.
    prepared: Arc<PreparedStatements>,
    transaction: Option<FirebirdTransaction>,
    /// Whether the open transaction may write, and the number of commits that it sees.
    writes: bool,
    seen: u64,
    /// Whether the transaction met a conflict. It was undone immediately, so that it blocks no other, and is yet to be ended by
    /// its user.
    has_conflict: bool,
    begins: BeginParameters,
    serializable: Serializable,
    /// Connection; dropped before the database.
    attachment: Attachment,
    database: Arc<FirebirdDatabase>,
}

impl FirebirdSession {
    pub(crate) fn new(database: Arc<FirebirdDatabase>) -> Result<Self> {
        let options = database.options();
        let attachment = database.connect()?;
        database.add_session(&attachment);
        Ok(Self {
            prepared: database.new_prepared(),
            transaction: None,
            writes: false,
            seen: 0,
            has_conflict: false,
            begins: BeginParameters::new(options),
            serializable: options.serializable,
            attachment,
            database,
        })
    }

    #[inline]
    fn refuse_failed(&self) -> Result<()> {
        if self.has_conflict { Err(EngineError::failed_transaction(ErrorKind::Conflict, false)) } else { Ok(()) }
    }

    /// Runs `work` in the open transaction, or in one of its own, which is read-only if that is known to suffice.
    #[inline]
    fn within<T>(
        &mut self,
        only_reads: bool,
        work: impl FnOnce(&mut Self, &FirebirdTransaction) -> Result<T>,
    ) -> Result<T> {
        self.refuse_failed()?;
        if let Some(transaction) = self.transaction.take() {
            let done = work(self, &transaction).map_err(|error| self.unless_unseen(error));
            match &done {
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    self.has_conflict = true;
                    self.attachment.roll_back(transaction)?;
                }
                _ => self.transaction = Some(transaction),
            }
            return done;
        }
        let transaction = self.attachment.begin(&self.begins.committed[usize::from(!only_reads)])?;
        match work(self, &transaction) {
            Ok(value) => self.commit_it(transaction, !only_reads).map(|()| value),
            Err(error) => {
                // The first error is the one to report.
                let _ = self.attachment.roll_back(transaction);
                Err(error)
            }
        }
    }

    /// Turns a duplicate key into a conflict if another transaction may have added it since: Firebird refuses it as one that
    /// existed before, though it cannot be seen.
    fn unless_unseen(&self, error: EngineError) -> EngineError {
        if error.kind() == ErrorKind::Duplicate && self.database.commits.has_others_since(self.seen) {
            return error.with_kind(ErrorKind::Conflict);
        }
        error
    }

    fn commit_it(&self, transaction: FirebirdTransaction, writes: bool) -> Result<()> {
        if writes {
            self.database.commits.run(|| self.attachment.commit(transaction))
        } else {
            self.attachment.commit(transaction)
        }
    }

    #[inline]
    fn run(
        &mut self,
        sql: &'static Sql,
        params: Params<'_>,
        limit: Option<u64>,
        each: &mut EachRow<'_>,
    ) -> Result<u64> {
        let slot = sql.slot();
        let prepared = Arc::clone(&self.prepared);
        let mut statements = prepared.lock();
        let is_query = statements.get(slot).is_some_and(|statement| statement.kind() == StatementClass::Query);
        let ran = self.within(is_query, |session, transaction| {
            let statement = statements.get_or_make(slot, || {
                FirebirdStatement::prepare(&session.attachment, transaction, &sql.render(&DIALECT))
            })?;
            statement.run(&session.attachment, transaction, params, limit, each)
        });
        ran.map_err(|e| e.with_statement(sql.text()))
    }

    /// Runs a text that is parsed for this run only.
    fn run_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<u64> {
        let ran = self.within(false, |session, transaction| {
            // Texts of the workloads say `LIMIT`, which Firebird calls otherwise.
            let text = DIALECT.fill(sql);
            let mut statement = FirebirdStatement::prepare(&session.attachment, transaction, &text)?;
            if statement.kind() == StatementClass::Schema {
                // A table that a prepared statement knows is in use, and is neither changed nor dropped.
                session.database.forget_prepared();
            }
            statement.run(&session.attachment, transaction, Params::of(params), None, each)
        });
        ran.map_err(|e| e.with_statement(sql))
    }
}

impl Drop for FirebirdSession {
    fn drop(&mut self) {
        // The connection would undo it too when it closes.
        let _ = self.rollback();
        self.database.remove_prepared(&self.prepared);
        self.database.remove_session(&self.attachment);
    }
}

impl Session for FirebirdSession {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        self.refuse_failed()?;
        if self.transaction.is_some() {
            return Err(EngineError::already_open());
        }
        let begins = match (isolation, self.serializable) {
            (Isolation::ReadCommitted, _) => &self.begins.committed,
            (Isolation::RepeatableRead, _) | (Isolation::Serializable, Serializable::Snapshot) => &self.begins.snapshot,
            (Isolation::Serializable, Serializable::Tables) => &self.begins.alone,
        };
        self.writes = access == Access::Write;
        self.seen = self.database.commits.count();
        self.transaction = Some(self.attachment.begin(&begins[usize::from(self.writes)])?);
        Ok(())
    }

    #[inline]
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.run(sql, params, None, each).map(|_| ())
    }

    #[inline]
    fn query_first(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        let mut found = false;
        self.run(sql, params, Some(1), &mut |row| {
            found = true;
            each(row)
        })?;
        Ok(found)
    }

    #[inline]
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.run(sql, params, None, &mut |_| Ok(()))
    }

    fn commit(&mut self) -> Result<()> {
        if self.has_conflict {
            self.has_conflict = false;
            return Err(EngineError::failed_transaction(ErrorKind::Conflict, true));
        }
        match self.transaction.take() {
            Some(transaction) => self.commit_it(transaction, self.writes),
            None => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        self.has_conflict = false;
        match self.transaction.take() {
            Some(transaction) => self.attachment.roll_back(transaction),
            None => Ok(()),
        }
    }

    fn plan(&mut self, sql: &str) -> Result<Vec<String>> {
        let text = DIALECT.fill(sql);
        let planned = self.within(true, |session, transaction| {
            FirebirdStatement::prepare(&session.attachment, transaction, &text)?.plan(&session.attachment)
        });
        planned.map_err(|e| e.with_statement(sql))
    }

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.run_text(sql, params, each).map(|_| ())
    }

    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.run_text(sql, params, &mut |_| Ok(()))
    }
}
