//! An SQL engine as a subject: one session, whose statements are recorded until the next transaction.

use super::{Cell, Performance, RowKey, Statement, Subject};
use bourse_engine::{EachFound, EachRow, Params, Result, Routine, RowExt as _, Session, Sql, Value, forward_session};
use bourse_schema::{Table, Timestamp};

/// Rows of a result that the trace records.
const ROWS_KEPT: usize = 100;
/// An engine's session that performs transactions in lockstep with others.
pub struct SqlSubject<P> {
    name: String,
    session: TracingSession,
    transactions: P,
}

/// Transactions of a workload on a session, one at a time.
pub trait Perform<R> {
    /// Performs a transaction, at a moment that does not pass during it.
    fn perform(&mut self, session: &mut dyn Session, request: &R, now: Timestamp) -> Performance;
}

impl<P> SqlSubject<P> {
    /// Creates a subject that performs `transactions` on a session.
    pub fn new(name: impl Into<String>, session: Box<dyn Session>, transactions: P) -> Self {
        let session = TracingSession { inner: session, statements: Vec::new() };
        Self { name: name.into(), session, transactions }
    }
}

impl<R, P: Perform<R>> Subject<R> for SqlSubject<P> {
    fn name(&self) -> &str {
        &self.name
    }

    fn perform(&mut self, request: &R, now: Timestamp) -> Performance {
        self.session.statements.clear();
        self.transactions.perform(&mut self.session, request, now)
    }

    fn row(&mut self, key: &RowKey) -> Result<Option<Vec<Cell>>> {
        let dialect = self.session.dialect();
        let condition: Vec<_> = key
            .table
            .key
            .iter()
            .enumerate()
            .map(|(at, name)| format!("{name} = {}", (dialect.parameter)(at + 1)))
            .collect();
        let sql = format!("{} WHERE {}", select(key.table), condition.join(" AND "));
        let domains = key.table.key.iter().filter_map(|name| key.table.column(name));
        let params: Vec<_> = key.key.iter().zip(domains).map(|(cell, column)| cell.value(column.column_type)).collect();
        let mut found = None;
        self.session.inner.query_text(&sql, &params, &mut |row| {
            found = Some(cells(key.table, row)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn each_row(&mut self, table: &'static Table, each: &mut dyn FnMut(&[Cell])) -> Result<()> {
        self.session.inner.query_text(&select(table), &[], &mut |row| {
            each(&cells(table, row)?);
            Ok(())
        })
    }

    fn trace(&self) -> &[Statement] {
        &self.session.statements
    }
}

fn select(table: &Table) -> String {
    let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    format!("SELECT {} FROM {}", columns.join(", "), table.name)
}

fn cells(table: &Table, row: &dyn bourse_engine::Row) -> Result<Vec<Cell>> {
    let cell = |(at, column): (usize, &bourse_schema::Column)| {
        Cell::of(column.column_type, row.value(at)).map_err(|wrong| wrong.in_column(at))
    };
    table.columns.iter().enumerate().map(cell).collect()
}

/// A session that records its statements and their results.
struct TracingSession {
    inner: Box<dyn Session>,
    statements: Vec<Statement>,
}

impl TracingSession {
    fn note(&mut self, sql: &'static Sql, params: Params<'_>, SeenRows { rows, count }: SeenRows) {
        let params = params.iter().map(shown).collect();
        self.statements.push(Statement { sql: sql.text(), params, rows, count });
    }
}

/// Rows that a statement returned: their number, and the first of them in readable form.
#[derive(Default)]
struct SeenRows {
    rows: Vec<Vec<String>>,
    count: u64,
}

impl SeenRows {
    fn row(&mut self, row: &dyn bourse_engine::Row) {
        self.count += 1;
        if self.rows.len() < ROWS_KEPT {
            self.rows.push((0..row.columns()).map(|at| shown(row.value(at))).collect());
        }
    }
}

/// A value in readable form, without its column.
fn shown(value: Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Decimal { units, .. } => units.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Date(date) => date.days().to_string(),
        Value::Timestamp(moment) => moment.millis().to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

impl Session for TracingSession {
    forward_session!(inner: dialect, install, has_routines, begin, commit, rollback, query_text, execute_text);
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        let mut seen = SeenRows::default();
        let outcome = self.inner.query(sql, params, &mut |row| {
            seen.row(row);
            each(row)
        });
        self.note(sql, params, seen);
        outcome
    }
    fn query_first(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<bool> {
        let mut seen = SeenRows::default();
        let outcome = self.inner.query_first(sql, params, &mut |row| {
            seen.row(row);
            each(row)
        });
        self.note(sql, params, seen);
        outcome
    }
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        let outcome = self.inner.execute(sql, params);
        self.note(sql, params, SeenRows { rows: Vec::new(), count: *outcome.as_ref().unwrap_or(&0) });
        outcome
    }
    fn change_one(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        let outcome = self.inner.change_one(sql, params);
        self.note(sql, params, SeenRows { rows: Vec::new(), count: *outcome.as_ref().unwrap_or(&0) });
        outcome
    }
    fn call(&mut self, routine: &'static Routine, params: Params<'_>, each: &mut EachFound<'_>) -> Result<()> {
        let mut seen = SeenRows::default();
        let outcome = self.inner.call(routine, params, &mut |set, row| {
            seen.row(row);
            each(set, row)
        });
        self.note(routine.sql(), params, seen);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::{Engine as _, NullEngine};
    use std::sync::{Arc, Mutex};

    static READ: Sql = Sql::new("SELECT a FROM t WHERE k = ?1");
    static CHANGE: Sql = Sql::new("UPDATE t SET a = 1 WHERE k = ?1");

    /// A session that lists the methods by which statements come.
    struct ListingSession {
        inner: Box<dyn Session>,
        calls: Arc<Mutex<Vec<&'static str>>>,
    }

    impl ListingSession {
        fn list(&self, method: &'static str) {
            self.calls.lock().unwrap().push(method);
        }
    }

    impl Session for ListingSession {
        forward_session!(inner: dialect, begin, commit, rollback, query_text, execute_text);
        fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
            self.list("query");
            self.inner.query(sql, params, each)
        }
        fn query_first(&mut self, _: &'static Sql, _: Params<'_>, _: &mut EachRow<'_>) -> Result<bool> {
            self.list("query_first");
            Ok(false)
        }
        fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
            self.list("execute");
            self.inner.execute(sql, params)
        }
        fn change_one(&mut self, _: &'static Sql, _: Params<'_>) -> Result<u64> {
            self.list("change_one");
            Ok(1)
        }
    }

    /// An engine may send a change together with later statements, and stop at a query's first row: only if requested.
    #[test]
    fn a_traced_session_makes_the_calls_of_one_that_is_not() {
        let perform = |session: &mut dyn Session| -> Result<()> {
            let key = [Value::Int(7)];
            session.query(&READ, Params::of(&key), &mut |_| Ok(()))?;
            session.query_first(&READ, Params::of(&key), &mut |_| Ok(()))?;
            session.execute(&CHANGE, Params::of(&key))?;
            session.change_one(&CHANGE, Params::of(&key)).map(drop)
        };
        let calls = Arc::new(Mutex::new(Vec::new()));
        let listing = || ListingSession { inner: NullEngine.session().unwrap(), calls: Arc::clone(&calls) };
        perform(&mut listing()).unwrap();
        let plain = std::mem::take(&mut *calls.lock().unwrap());
        assert_eq!(plain, ["query", "query_first", "execute", "change_one"]);
        let mut traced = TracingSession { inner: Box::new(listing()), statements: Vec::new() };
        perform(&mut traced).unwrap();
        assert_eq!(*calls.lock().unwrap(), plain);
        let noted: Vec<_> = traced.statements.iter().map(|it| (it.sql, it.count)).collect();
        assert_eq!(noted[1..], [(READ.text(), 0), (CHANGE.text(), noted[2].1), (CHANGE.text(), 1)]);
    }
}
