//! Session of a user: statements prepared at first use and found by number.

use crate::connect::KnownServer;
use crate::describe;
use crate::dialect::DIALECT;
use crate::error::error;
use crate::link::Link;
use crate::products::{MysqlFacts, OWN};
use crate::routines;
use crate::statement::{RenderedStatement, Scales};
use crate::value::MysqlRow;
use bourse_engine::{
    Access, Dialect, EachFound, EachRow, EngineError, ErrorKind, Isolation, Params, Result, Routine, Session, Setting,
    Slots, Sql, TransactionState, Value,
};
use bourse_server::client::given;
use mysql::prelude::{Protocol, Queryable as _};
use mysql::{Binary, QueryResult, Statement};
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

/// A prepared statement, and the arrangement of its values.
struct PreparedStatement {
    statement: Statement,
    rendered: RenderedStatement,
    scales: Scales,
    /// Whether a commit after it has shown, or will, that it does not end transactions.
    is_known: bool,
}

/// Code of the refusal to change the characteristics of an open transaction.
const IN_TRANSACTION: &str = "1568";

/// Largest number of texts that a session knows not to end transactions.
const KNOWN_TEXTS: usize = 1_024;

/// A session of one server.
pub struct MysqlSession {
    connection: Link,
    statements: Slots<PreparedStatement>,
    /// Isolation level last set at the server; `None` before the first.
    isolation: Option<Isolation>,
    /// State of its transaction, which has failed and is rolled back if it met a conflict.
    state: TransactionState,
    /// Whether the transaction has run a statement of which it is not known whether it ends transactions.
    has_unknown: bool,
    /// Hashes of the texts that are known not to end transactions.
    known_texts: HashSet<u64>,
    round_trips: u64,
    /// Whether routines are called.
    procedures: bool,
    /// Differences of the server from MySQL.
    facts: &'static MysqlFacts,
    dialect: &'static Dialect,
    /// Whether the server is a node of Galera.
    is_galera: bool,
    /// Statements that were run as text in a transaction of such a node: they are prepared before the next one begins.
    unprepared: Vec<(usize, RenderedStatement, Scales)>,
    /// Routines known to be installed at the server.
    routines: Option<&'static [&'static Routine]>,
}

impl MysqlSession {
    /// Session on a connection that uses a database; `procedures` is whether it calls routines.
    pub(crate) fn new(connection: Link, procedures: bool) -> Self {
        Self {
            connection,
            statements: Slots::default(),
            isolation: None,
            state: TransactionState::Idle,
            has_unknown: false,
            known_texts: HashSet::new(),
            round_trips: 0,
            procedures,
            facts: &OWN,
            dialect: &DIALECT,
            is_galera: false,
            unprepared: Vec::new(),
            routines: None,
        }
    }

    /// Sets the differences and the dialect that were read from the server.
    pub(crate) fn of(self, KnownServer { facts, dialect, is_galera, .. }: KnownServer) -> Self {
        Self { facts, dialect, is_galera, ..self }
    }

    /// Prepares a statement for values of these scales.
    #[cold]
    fn prepare_anew(&mut self, slot: usize, rendered: RenderedStatement, scales: Scales) -> Result<()> {
        if let Some(old) = self.statements.place(slot).take() {
            self.connection.close(old.statement).map_err(|e| error(&e))?;
        }
        self.round_trips += 1;
        let statement = self.connection.prep(rendered.sql(&scales)).map_err(|e| error(&e))?;
        *self.statements.place(slot) = Some(PreparedStatement { statement, rendered, scales, is_known: false });
        Ok(())
    }

    /// Whether a statement may be prepared now.
    ///
    /// A node of Galera that undoes a transaction for another node's commit while it prepares a statement does not report it
    /// (MariaDB 10.11.19): what follows would be committed without what came before.
    fn may_prepare(&self) -> bool {
        !self.is_galera || self.state != TransactionState::Open
    }

    /// Text with the values of a statement that is not to be prepared now; `None` if it is prepared, or may be.
    fn instead_of_preparing(
        &mut self,
        slot: usize,
        text: impl FnOnce() -> Cow<'static, str>,
        params: &[Value<'_>],
    ) -> Result<Option<String>> {
        if self.may_prepare() || self.is_ready(slot, params) {
            return Ok(None);
        }
        let rendered = RenderedStatement::of(&text(), &DIALECT);
        let (literal, scales) = (rendered.literal(params)?, rendered.scales(params));
        self.unprepared.retain(|(other, _, _)| *other != slot);
        self.unprepared.push((slot, rendered, scales));
        self.has_unknown = true;
        self.round_trips += 1;
        Ok(Some(literal))
    }

    fn run(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<u64> {
        params.with_one_list(|params| self.run_list(sql, params, each))
    }

    fn run_list(&mut self, sql: &'static Sql, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<u64> {
        let text = || Cow::Borrowed(sql.text());
        match self.instead_of_preparing(sql.slot(), text, params)? {
            Some(literal) => through(self.connection.query_iter(literal).map_err(|e| error(&e))?, each),
            None => through(self.start(sql.slot(), text, params)?, each),
        }
    }

    /// Prepares a statement as `text` unless it is prepared for such values.
    #[inline]
    fn make_ready(
        &mut self,
        slot: usize,
        text: impl FnOnce() -> Cow<'static, str>,
        params: &[Value<'_>],
    ) -> Result<()> {
        if self.is_ready(slot, params) {
            return Ok(());
        }
        let rendered = RenderedStatement::of(&text(), &DIALECT);
        let scales = rendered.scales(params);
        self.prepare_anew(slot, rendered, scales)
    }

    #[inline]
    fn is_ready(&self, slot: usize, params: &[Value<'_>]) -> bool {
        matches!(self.statements.get(slot), Some(it) if it.rendered.is_exact(&it.scales, params))
    }

    /// Runs a statement up to its first result; prepares it as `text` unless it is prepared for such values.
    fn start(
        &mut self,
        slot: usize,
        text: impl FnOnce() -> Cow<'static, str>,
        params: &[Value<'_>],
    ) -> Result<QueryResult<'_, '_, '_, Binary>> {
        self.make_ready(slot, text, params)?;
        let prepared = self.statements.place(slot).as_mut().expect("prepared just before");
        if self.state == TransactionState::Open {
            self.has_unknown |= !std::mem::replace(&mut prepared.is_known, true);
        }
        let values = prepared.rendered.arrange(params)?;
        self.round_trips += 1;
        self.connection.exec_iter(&prepared.statement, positional(values)).map_err(|e| error(&e))
    }

    /// Runs a text that contains the values: one round trip, and not every statement can be prepared.
    fn run_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<u64> {
        self.state.refuse_failed()?;
        if self.state == TransactionState::Open && self.known_texts.len() < KNOWN_TEXTS {
            self.has_unknown |= self.known_texts.insert(BuildHasherDefault::<DefaultHasher>::default().hash_one(sql));
        }
        self.round_trips += 1;
        let done = RenderedStatement::of(sql, &DIALECT).literal(params).and_then(|text| {
            self.connection.query_iter(text).map_err(|e| error(&e)).and_then(|result| through(result, each))
        });
        self.settled(done, sql)
    }

    /// Records the outcome of the transaction, and adds the statement to an error.
    fn settled<T>(&mut self, done: Result<T>, sql: &str) -> Result<T> {
        done.map_err(|e| {
            if self.state == TransactionState::Open && e.kind() == ErrorKind::Conflict {
                // After a deadlock the server has rolled back already; after waiting in vain it has not, and whoever it
                // waited for may be waiting for it.
                let _ = self.bare("ROLLBACK");
                self.state = TransactionState::Failed(e.kind());
            }
            e.with_statement(sql)
        })
    }

    /// Fails where a statement has ended the transaction that is to be committed, of which the client's library says nothing: a
    /// server refuses to change the characteristics of one that is open.
    fn refuse_ended(&mut self) -> Result<()> {
        match self.bare("SET TRANSACTION READ WRITE") {
            Ok(()) => Err(EngineError::already_ended()),
            Err(e) if e.code() == Some(IN_TRANSACTION) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Runs several statements in one text: an error of a later one is in its own result.
    fn both(&mut self, sql: &str) -> Result<()> {
        self.round_trips += 1;
        let result = self.connection.query_iter(sql).map_err(|e| error(&e).with_statement(sql))?;
        through(result, &mut |_| Ok(())).map(drop).map_err(|e| e.with_statement(sql))
    }

    fn bare(&mut self, sql: &str) -> Result<()> {
        self.round_trips += 1;
        self.connection.query_drop(sql).map_err(|e| error(&e).with_statement(sql))
    }
}

fn positional(values: Vec<mysql::Value>) -> mysql::Params {
    if values.is_empty() { mysql::Params::Empty } else { mysql::Params::Positional(values) }
}

/// Passes the rows of a result to a callback and returns the number of changed rows.
///
/// If the callback stops, the rest of the result is read and discarded when it is dropped.
pub(crate) fn through<P: Protocol>(mut result: QueryResult<'_, '_, '_, P>, each: &mut EachRow<'_>) -> Result<u64> {
    let changed = result.affected_rows();
    each_set(&mut result, &mut |_, row| each(row))?;
    Ok(changed)
}

/// Passes the rows of each result to a callback, with the number of the result.
fn each_set<P: Protocol>(result: &mut QueryResult<'_, '_, '_, P>, each: &mut EachFound<'_>) -> Result<()> {
    let mut number = 0;
    while let Some(mut rows) = result.iter() {
        for row in rows.by_ref() {
            each(number, &MysqlRow(row.map_err(|e| error(&e))?))?;
        }
        drop(rows);
        number += 1;
    }
    Ok(())
}

const fn words(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

impl Session for MysqlSession {
    fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Begins a transaction in one round trip, also if the level changes, unless the server accepts one statement at a
    /// time.
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        self.state.refuse_open()?;
        for (slot, rendered, scales) in std::mem::take(&mut self.unprepared) {
            // One that cannot be prepared is run as text again.
            let _ = self.prepare_anew(slot, rendered, scales);
        }
        let isolation = given(isolation, self.facts.strictest);
        let start = match access {
            Access::Read if self.facts.read_only => "START TRANSACTION READ ONLY",
            Access::Read | Access::Write => "START TRANSACTION READ WRITE",
        };
        if self.isolation == Some(isolation) {
            self.bare(start)?;
        } else {
            // Were it set for one transaction only, every transaction would have to tell it.
            self.isolation = None;
            let set = format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", words(isolation));
            if self.facts.several_statements {
                self.both(&format!("{set}; {start}"))?;
            } else {
                self.bare(&set)?;
                self.bare(start)?;
            }
            self.isolation = Some(isolation);
        }
        self.state = TransactionState::Open;
        Ok(())
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        self.round_trips += 1;
        describe::settings_of(&mut self.connection)
    }

    fn prepare(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<()> {
        if !self.may_prepare() {
            return Ok(());
        }
        let prepared = params.with_one_list(|params| self.make_ready(sql.slot(), || Cow::Borrowed(sql.text()), params));
        self.settled(prepared, sql.text())
    }

    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.state.refuse_failed()?;
        let done = self.run(sql, params, each);
        self.settled(done, sql.text()).map(|_| ())
    }

    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.state.refuse_failed()?;
        let done = self.run(sql, params, &mut |_| Ok(()));
        self.settled(done, sql.text())
    }

    fn round_trips(&self) -> Option<u64> {
        Some(self.round_trips)
    }

    fn install(&mut self, routines: &'static [&'static Routine]) -> Result<()> {
        let is_known = self.routines.is_some_and(|known| std::ptr::eq(known, routines));
        if !self.procedures || is_known || self.state != TransactionState::Idle {
            return Ok(());
        }
        routines::install(&mut self.connection, routines)?;
        self.routines = Some(routines);
        Ok(())
    }

    fn has_routines(&self) -> bool {
        self.routines.is_some()
    }

    fn call(&mut self, routine: &'static Routine, params: Params<'_>, each: &mut EachFound<'_>) -> Result<()> {
        self.state.refuse_failed()?;
        let slot = routine.sql().slot();
        let done = params.with_one_list(|params| {
            let text = || Cow::Owned(routines::call(routine));
            match self.instead_of_preparing(slot, text, params)? {
                Some(literal) => each_set(&mut self.connection.query_iter(literal).map_err(|e| error(&e))?, each),
                None => each_set(&mut self.start(slot, text, params)?, each),
            }
        });
        self.settled(done, routine.name())
    }

    fn commit(&mut self) -> Result<()> {
        if let Err(e) = self.state.refuse_failed() {
            self.state = TransactionState::Idle;
            return Err(e);
        }
        if self.state == TransactionState::Idle {
            return Ok(());
        }
        let is_asked = std::mem::take(&mut self.has_unknown) && std::ptr::eq(self.facts, &OWN);
        let is_open = if is_asked { self.refuse_ended() } else { Ok(()) };
        let done = is_open.and_then(|()| self.bare("COMMIT"));
        self.state = TransactionState::Idle;
        if done.is_err() {
            // The seam says that a commit which failed is rolled back; the first error is the one to report.
            let _ = self.bare("ROLLBACK");
        }
        done
    }

    fn rollback(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.state, TransactionState::Idle) {
            TransactionState::Idle | TransactionState::Failed(_) => Ok(()),
            TransactionState::Open => self.bare("ROLLBACK"),
        }
    }

    /// Explains a statement with a constant for each parameter that is valid as number, day and text. If the server
    /// looks the constant up by a unique key and finds no row, it reports that instead of a plan.
    fn plan(&mut self, sql: &str) -> Result<Vec<String>> {
        let explained = RenderedStatement::of(&format!("EXPLAIN {sql}"), &DIALECT).inlined(|before, _| {
            let is_count = before.trim_end().to_ascii_uppercase().ends_with("LIMIT");
            before.push_str(if is_count { "20" } else { "'20050103'" });
        });
        let mut lines = Vec::new();
        let result = self.connection.query_iter(explained).map_err(|e| error(&e).with_statement(sql))?;
        let names: Vec<String> =
            result.columns().as_ref().iter().map(|column| column.name_str().into_owned()).collect();
        through(result, &mut |row| {
            let field = |(at, name): (usize, &String)| match row.value(at) {
                Value::Null => None,
                Value::Text("") => None,
                Value::Text(text) => Some(format!("{name}={text}")),
                Value::Int(number) => Some(format!("{name}={number}")),
                Value::Real(number) => Some(format!("{name}={number}")),
                _ => None,
            };
            lines.push(names.iter().enumerate().filter_map(field).collect::<Vec<_>>().join(" "));
            Ok(())
        })
        .map_err(|e| e.with_statement(sql))?;
        Ok(lines)
    }

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.run_text(sql, params, each).map(|_| ())
    }

    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.run_text(sql, params, &mut |_| Ok(()))
    }
}
