//! A user's connection: statements prepared at first use and found by number.

use crate::error::{ends_transaction, error};
use crate::statement::{Rendered, Scales};
use crate::value::ServerRow;
use bourse_engine::{Access, Dialect, EachRow, EngineError, ErrorKind, Isolation, Session, Sql, Value};
use mysql::prelude::{Protocol, Queryable as _};
use mysql::{Conn, Params, QueryResult, Statement};

/// A statement in the server, and how values are put into it.
struct Prepared {
    statement: Statement,
    rendered: Rendered,
    scales: Scales,
}

/// Where a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside a transaction.
    Idle,
    /// In one.
    Open,
    /// In one that met a conflict: the server may have rolled it back already, and what follows would not be in any.
    Doomed,
}

pub(crate) struct MysqlSession {
    connection: Conn,
    statements: Vec<Option<Prepared>>,
    /// What the server was last told; `None` before that.
    isolation: Option<Isolation>,
    state: State,
}

impl MysqlSession {
    pub(crate) fn new(connection: Conn) -> Self {
        Self { connection, statements: Vec::new(), isolation: None, state: State::Idle }
    }

    /// Prepares a statement for values like these.
    #[cold]
    fn prepare(&mut self, sql: &'static Sql, params: &[Value<'_>]) -> Result<(), EngineError> {
        let slot = sql.slot();
        if self.statements.len() <= slot {
            self.statements.resize_with(slot + 1, || None);
        }
        if let Some(old) = self.statements[slot].take() {
            self.connection.close(old.statement).map_err(|e| error(&e))?;
        }
        let rendered = Rendered::of(sql.text(), &bourse_schema::MYSQL);
        let scales = rendered.scales(params);
        let statement = self.connection.prep(rendered.sql(&scales)).map_err(|e| error(&e))?;
        self.statements[slot] = Some(Prepared { statement, rendered, scales });
        Ok(())
    }

    fn run(&mut self, sql: &'static Sql, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<u64, EngineError> {
        let slot = sql.slot();
        let is_ready = matches!(self.statements.get(slot), Some(Some(it)) if it.rendered.is_exact(&it.scales, params));
        if !is_ready {
            self.prepare(sql, params)?;
        }
        let prepared = self.statements[slot].as_ref().expect("prepared just before");
        let values = prepared.rendered.arrange(params)?;
        let result = self.connection.exec_iter(&prepared.statement, positional(values)).map_err(|e| error(&e))?;
        through(result, each)
    }

    /// Notes what became of the transaction, and names the statement.
    fn settled<T>(&mut self, done: Result<T, EngineError>, sql: &str) -> Result<T, EngineError> {
        done.map_err(|e| {
            if self.state == State::Open && ends_transaction(&e) {
                self.state = State::Doomed;
            }
            e.with_statement(sql)
        })
    }

    fn refuse_doomed(&self) -> Result<(), EngineError> {
        if self.state != State::Doomed {
            return Ok(());
        }
        Err(EngineError::new(ErrorKind::Conflict, "the transaction met a conflict and has to be rolled back"))
    }

    fn bare(&mut self, sql: &str) -> Result<(), EngineError> {
        self.connection.query_drop(sql).map_err(|e| error(&e).with_statement(sql))
    }
}

fn positional(values: Vec<mysql::Value>) -> Params {
    if values.is_empty() { Params::Empty } else { Params::Positional(values) }
}

/// Hands out the rows of a result and returns how many rows were changed.
///
/// What is left of a result whose callback stopped is read and forgotten when it is dropped.
pub(crate) fn through<P: Protocol>(
    mut result: QueryResult<'_, '_, '_, P>,
    each: &mut EachRow<'_>,
) -> Result<u64, EngineError> {
    let changed = result.affected_rows();
    while let Some(mut rows) = result.iter() {
        for row in rows.by_ref() {
            each(&ServerRow(row.map_err(|e| error(&e))?))?;
        }
    }
    Ok(changed)
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
        &bourse_schema::MYSQL
    }

    /// One round trip, also where the level changes.
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<(), EngineError> {
        if self.state != State::Idle {
            return Err(EngineError::new(ErrorKind::Other, "a transaction is open already"));
        }
        let start = match access {
            Access::Read => "START TRANSACTION READ ONLY",
            Access::Write => "START TRANSACTION READ WRITE",
        };
        if self.isolation == Some(isolation) {
            self.bare(start)?;
        } else {
            // Were it set for one transaction only, every transaction would have to tell it.
            self.isolation = None;
            self.bare(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {}; {start}", words(isolation)))?;
            self.isolation = Some(isolation);
        }
        self.state = State::Open;
        Ok(())
    }

    fn query(&mut self, sql: &'static Sql, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.refuse_doomed()?;
        let done = self.run(sql, params, each);
        self.settled(done, sql.text()).map(|_| ())
    }

    fn execute(&mut self, sql: &'static Sql, params: &[Value<'_>]) -> Result<u64, EngineError> {
        self.refuse_doomed()?;
        let done = self.run(sql, params, &mut |_| Ok(()));
        self.settled(done, sql.text())
    }

    fn commit(&mut self) -> Result<(), EngineError> {
        if let Err(e) = self.refuse_doomed() {
            self.rollback()?;
            return Err(e);
        }
        if self.state == State::Idle {
            return Ok(());
        }
        let done = self.bare("COMMIT");
        self.state = State::Idle;
        if done.is_err() {
            // The seam says that a commit which failed is rolled back; the first error is the one to report.
            let _ = self.bare("ROLLBACK");
        }
        done
    }

    fn rollback(&mut self) -> Result<(), EngineError> {
        if self.state == State::Idle {
            return Ok(());
        }
        self.state = State::Idle;
        self.bare("ROLLBACK")
    }

    /// With a constant at each parameter that is a number, a day and a text at once; where the server looks for it by a
    /// unique key and finds nothing, it says so instead of showing a plan.
    fn plan(&mut self, sql: &str) -> Result<Vec<String>, EngineError> {
        let stand_in = |before: &str| {
            let is_count = before.trim_end().to_ascii_uppercase().ends_with("LIMIT");
            if is_count { "20" } else { "'2005-01-03'" }
        };
        let explained = Rendered::of(&format!("EXPLAIN {sql}"), &bourse_schema::MYSQL).with(stand_in);
        let mut lines = Vec::new();
        let result = self.connection.query_iter(explained).map_err(|e| error(&e).with_statement(sql))?;
        let names: Vec<String> = result.columns().as_ref().iter().map(|column| column.name_str().into_owned()).collect();
        through(result, &mut |row| {
            let field = |(at, name): (usize, &String)| match row.value(at) {
                Value::Null => None,
                Value::Text(text) if text.is_empty() => None,
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

    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.refuse_doomed()?;
        let done = if params.is_empty() {
            // Not every statement can be prepared.
            let text = Rendered::of(sql, &bourse_schema::MYSQL).sql(&[]);
            self.connection.query_iter(text).map_err(|e| error(&e)).and_then(|result| through(result, each))
        } else {
            run_once(&mut self.connection, sql, params, each)
        };
        self.settled(done, sql).map(|_| ())
    }
}

/// Prepares, runs and forgets a statement.
fn run_once(
    connection: &mut Conn,
    sql: &str,
    params: &[Value<'_>],
    each: &mut EachRow<'_>,
) -> Result<u64, EngineError> {
    let rendered = Rendered::of(sql, &bourse_schema::MYSQL);
    let values = rendered.arrange(params)?;
    let statement = connection.prep(rendered.sql(&rendered.scales(params))).map_err(|e| error(&e))?;
    let done = match connection.exec_iter(&statement, positional(values)) {
        Ok(result) => through(result, each),
        Err(e) => Err(error(&e)),
    };
    let closed = connection.close(statement).map_err(|e| error(&e));
    let changed = done?;
    closed.map(|()| changed)
}
