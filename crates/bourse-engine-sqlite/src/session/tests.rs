//! Statements that a session caches.
#![cfg(test)]

use crate::library::SCHEME;
use crate::open;
use crate::session::SqliteSession;
use bourse_engine::{Access, Engine as _, Isolation, RowExt as _, Runs, Session as _, SessionExt as _, Sql, Value};

#[test]
fn statements_stay_prepared_unless_the_cache_is_off() {
    static ONE: Sql = Sql::new("SELECT 1");
    for (query, is_kept) in [("", true), ("?statement_cache=on", true), ("?statement_cache=off", false)] {
        let engine = open(&format!("{SCHEME}::memory:{query}")).unwrap();
        let mut session = SqliteSession::new(engine.connection().unwrap(), engine.shared(), None).unwrap();
        for _ in 0..2 {
            assert_eq!(session.all(&ONE, &[], |row| row.get::<i64>(0)).unwrap(), [1]);
            assert_eq!(session.statement(ONE.slot()).is_some(), is_kept, "{query}");
        }
    }
}

#[test]
fn a_row_of_the_wrong_width_is_refused_and_those_before_it_are_there() {
    static INSERT: Sql = Sql::new("INSERT INTO pair (a, b) VALUES (?1, ?2)");
    static COUNT: Sql = Sql::new("SELECT count(*) FROM pair");
    for is_writing in [false, true] {
        let engine = open(&format!("{SCHEME}::memory:")).unwrap();
        let mut loader = engine.loader().unwrap();
        loader.run("CREATE TABLE pair (a INTEGER, b INTEGER)").unwrap();
        loader.finish().unwrap();
        let mut session = SqliteSession::new(engine.connection().unwrap(), engine.shared(), None).unwrap();
        if is_writing {
            session.begin(Isolation::Serializable, Access::Write).unwrap();
        }
        let refused =
            session.run_each(&INSERT, Runs { params: &[1, 2, 3, 4, 5].map(Value::Int), width: 2 }, None).unwrap_err();
        assert_eq!(refused.message(), "the statement has 2 parameters, 1 value was given");
        assert_eq!(session.all(&COUNT, &[], |row| row.get::<i64>(0)).unwrap(), [2]);
        session.run_each(&INSERT, Runs { params: &[], width: 2 }, None).unwrap();
    }
}

/// Regression: with the samples that `ANALYZE` stores in this build, SQLite by itself prepares a statement anew for
/// each value bound to an indexed column's comparison. Measured: 8.3 µs instead of 0.8 µs for a look-up.
#[test]
fn statistics_do_not_make_statements_be_prepared_again() {
    static BY_KIND: Sql = Sql::new("SELECT id FROM thing WHERE kind = ?1 AND size = ?2");
    let engine = open(&format!("{SCHEME}::memory:")).unwrap();
    let mut loader = engine.loader().unwrap();
    for sql in [
        "CREATE TABLE thing (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, size INTEGER NOT NULL)",
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO thing SELECT i, i / 3, i % 7 FROM n",
        "CREATE INDEX thing_by_kind ON thing (kind)",
        "CREATE INDEX thing_by_size ON thing (size)",
        "ANALYZE",
    ] {
        loader.run(sql).unwrap();
    }
    loader.finish().unwrap();
    let connection = engine.connection().unwrap();
    assert_ne!(connection.text_of("SELECT count(*) FROM sqlite_stat4").unwrap(), "0", "no samples, no test");
    let mut session = SqliteSession::new(connection, engine.shared(), None).unwrap();
    for kind in 0..100 {
        session.all(&BY_KIND, &[kind.into(), (kind % 7).into()], |_| Ok(())).unwrap();
    }
    assert_eq!(session.statement(BY_KIND.slot()).unwrap().times_prepared_again(), 0);
}
