//! Ownership of databases on a server: the mark that loaders leave, and objects without it.
//!
//! Every table that a loader creates has [`MARK`] with the table's name as its comment, which every user can read in
//! `information_schema.tables`; a copy of it or a renamed table has the comment too, with a name that is not its own. A
//! database is replaced only if it contains nothing but such tables. Objects that the account may not see cannot be checked;
//! but no database is ever dropped except the side databases, which a loader created itself ([`create_side`],
//! [`prepare_side`]).

use crate::connect::facts;
use crate::error::error;
use crate::link::Link;
use crate::loader::side_databases;
use bourse_engine::{EngineError, Result, listed};
use mysql::prelude::Queryable as _;
use std::borrow::Cow;

/// First words of the comment of every table and routine that Bourse creates.
pub(crate) const MARK: &str = "made by bourse";

/// Condition for a table's comment to be the mark of that table, compared as bytes, since the server's columns have different
/// collations.
const MARKED: &str =
    "CAST(lower(table_comment) AS BINARY) = CAST(lower(concat('made by bourse as ', table_name)) AS BINARY)";

/// Table that marks a side database, created by a loader.
const SIDE_TABLE: &str = "bourse_side_database";

/// Kinds of objects that a database can contain, each with the query for those without the mark. Only tables can have
/// it, and procedures that a session has [installed](crate::routines).
const UNMARKED: &[(&str, &str)] = &[
    (
        "table",
        "SELECT table_name FROM information_schema.tables
          WHERE table_schema = ? AND table_type = 'BASE TABLE' AND NOT ({marked})",
    ),
    ("view", "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_type LIKE '%VIEW'"),
    (
        "sequence or versioned table",
        "SELECT table_name FROM information_schema.tables
          WHERE table_schema = ? AND table_type <> 'BASE TABLE' AND table_type NOT LIKE '%VIEW'",
    ),
    (
        "routine",
        "SELECT routine_name FROM information_schema.routines
          WHERE routine_schema = ? AND routine_comment NOT LIKE 'made by bourse, version %'",
    ),
    ("event", "SELECT event_name FROM information_schema.events WHERE event_schema = ?"),
    ("trigger", "SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = ?"),
];

/// Query of tables in other databases whose foreign keys refer to tables of this one. Vitess reports a keyspace by the name of its
/// database below, so that the two are compared as reported.
const REFERRERS: &str = "SELECT DISTINCT concat(constraint_schema, '`.`', table_name)
    FROM information_schema.referential_constraints
    WHERE unique_constraint_schema = ? AND constraint_schema <> unique_constraint_schema";

fn names(connection: &mut Link, sql: &str, parameters: impl Into<mysql::Params>) -> Result<Vec<String>> {
    let sql = sql.replace("{marked}", MARKED);
    let mut names: Vec<String> = connection.exec(&*sql, parameters).map_err(|e| error(&e).with_statement(&sql))?;
    names.sort();
    Ok(names)
}

/// Objects of a database without the mark, each with its kind and name; empty for a database that is empty or does not
/// exist.
fn unmarked(connection: &mut Link, database: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (kind, sql) in UNMARKED {
        found.extend(names(connection, sql, (database,))?.into_iter().map(|name| format!("{kind} `{name}`")));
    }
    Ok(found)
}

/// Description of the objects of a database that no loader made; `None` if there are none, or the database does not
/// exist.
///
/// # Errors
/// The server's.
pub(crate) fn foreign(connection: &mut Link, database: &str) -> Result<Option<String>> {
    let found = unmarked(connection, database)?;
    Ok((!found.is_empty()).then(|| format!("database `{database}` holds what bourse did not make: {}", listed(&found))))
}

/// Refusal to replace an object; the server itself is in order.
fn refusal(message: String) -> EngineError {
    EngineError::refused(message)
}

/// Refuses a database with objects that no loader made.
pub(crate) fn refuse_foreign(connection: &mut Link, database: &str) -> Result<()> {
    if let Some(why) = foreign(connection, database)? {
        return Err(refusal(format!("{why}; it is left as it is: name another database, which need not exist")));
    }
    let referrers = names(connection, REFERRERS, (database,))?;
    if referrers.is_empty() {
        return Ok(());
    }
    let referrers: Vec<String> = referrers.iter().map(|name| format!("`{name}`")).collect();
    Err(refusal(format!(
        "foreign keys of {} refer to tables of database `{database}`, which is left as it is: drop those keys, or name \
         another database",
        listed(&referrers)
    )))
}

/// Whether a database of that name exists.
pub(crate) fn is_there(connection: &mut Link, database: &str) -> Result<bool> {
    const SQL: &str = "SELECT schema_name FROM information_schema.schemata WHERE schema_name = ?";
    const ALL: &str = "SHOW DATABASES";
    if facts(connection).shards {
        // The name of a schema says where the query goes.
        let all: Vec<String> = connection.query(ALL).map_err(|e| error(&e).with_statement(ALL))?;
        return Ok(all.iter().any(|there| there == database));
    }
    Ok(!names(connection, SQL, (database,))?.is_empty())
}

/// Refuses a database that is spread over shards: no table is given a sharding, so that no row would have a place.
pub(crate) fn refuse_sharded(connection: &mut Link, database: &str) -> Result<()> {
    let sql = format!("SHOW VITESS_SHARDS LIKE '{database}/%'");
    let shards: Vec<String> = connection.query(&sql).map_err(|e| error(&e).with_statement(&sql))?;
    if shards.len() < 2 {
        return Ok(());
    }
    Err(EngineError::unsupported(format!(
        "keyspace `{database}` has {} shards, and the loader declares no sharding: name a keyspace that is not sharded",
        shards.len()
    )))
}

/// Tables of a database with the mark, except the one that marks a side database.
pub(crate) fn marked_tables(connection: &mut Link, database: &str) -> Result<Vec<String>> {
    const SQL: &str = "SELECT table_name FROM information_schema.tables
        WHERE table_schema = ? AND table_type = 'BASE TABLE' AND {marked}";
    let mut tables = names(connection, SQL, (database,))?;
    tables.retain(|table| table != SIDE_TABLE);
    Ok(tables)
}

/// Creates a side database. The same message to the server marks it, so that a killed loader leaves none without the
/// mark.
pub(crate) fn create_side(connection: &mut Link, side: &str) -> Result<()> {
    let table = format!("CREATE TABLE `{side}`.{SIDE_TABLE} (id INT PRIMARY KEY) COMMENT = {}", mark(SIDE_TABLE));
    let run = |connection: &mut Link, sql: &str| connection.query_drop(sql).map_err(|e| error(&e).with_statement(sql));
    run(connection, &format!("CREATE DATABASE `{side}`; {table}"))?;
    if is_side(connection, side)? {
        return Ok(());
    }
    // The client drops the error of a second statement: made by itself, the table says why it cannot be.
    run(connection, &table).inspect_err(|_| {
        // Made just before, it would be taken for somebody's without its table.
        if unmarked(connection, side).is_ok_and(|found| found.is_empty()) {
            let _ = run(connection, &format!("DROP DATABASE `{side}`"));
        }
    })
}

fn is_side(connection: &mut Link, side: &str) -> Result<bool> {
    const SQL: &str = "SELECT table_name FROM information_schema.tables
        WHERE table_schema = ? AND table_name = ? AND {marked}";
    Ok(!names(connection, SQL, (side, SIDE_TABLE))?.is_empty())
}

/// Drops a side database, if it exists; refuses one that no loader created.
pub(crate) fn drop_side(connection: &mut Link, side: &str) -> Result<()> {
    if !is_there(connection, side)? {
        return Ok(());
    }
    let why = match foreign(connection, side)? {
        Some(why) => why,
        None if is_side(connection, side)? => {
            let sql = format!("DROP DATABASE `{side}`");
            return connection.query_drop(&sql).map_err(|e| error(&e).with_statement(&sql));
        }
        None => format!(
            "database `{side}` is there, and does not have the table {SIDE_TABLE} that a loader would have made"
        ),
    };
    Err(refusal(format!(
        "{why}; loading needs that name and leaves the database as it is: drop or rename it if nobody needs it, or load \
         into another database"
    )))
}

/// Prepares a name for a side database: refuses it if a database of that name exists that no loader created. A server on
/// which a load is made in place gets the database with its mark here, so that a killed load leaves none without it.
///
/// # Errors
/// The refusal, the lack of the right to make one, or the server's.
pub(crate) fn prepare_side(connection: &mut Link, side: &str) -> Result<()> {
    if is_there(connection, side)? {
        let is_made = is_side(connection, side)? || !marked_tables(connection, side)?.is_empty();
        if is_made && foreign(connection, side)?.is_none() {
            return Ok(());
        }
        return Err(refusal(format!("a database `{side}` is there that Bourse did not make")));
    }
    if facts(connection).moves_tables {
        return Ok(());
    }
    create_side(connection, side)
        .map_err(|e| EngineError::unsupported(format!("`{side}` cannot be made: {}", e.message())))
}

/// Drops a database that a loader created, or that contained only a loader's tables; refuses one that contains others
/// by now.
///
/// # Errors
/// The refusal, or the server's.
pub(crate) fn drop_made(connection: &mut Link, side: &str) -> Result<()> {
    if !is_there(connection, side)? {
        return Ok(());
    }
    refuse_foreign(connection, side)?;
    let sql = format!("DROP DATABASE `{side}`");
    connection.query_drop(&sql).map_err(|e| error(&e).with_statement(&sql))
}

/// Description of the side databases that a killed loader has left; `None` if there are none.
///
/// # Errors
/// The server's.
pub(crate) fn leftovers(connection: &mut Link, database: &str) -> Result<Option<String>> {
    let mut found = Vec::new();
    if !facts(connection).moves_tables {
        return Ok(None);
    }
    for side in side_databases(database) {
        if is_side(connection, &side)? {
            found.push(format!("`{side}`"));
        }
    }
    Ok((!found.is_empty())
        .then(|| format!("{} was left by a load that did not end, and is replaced", found.join(" and "))))
}

/// Whether a database contains any object, of Bourse or not.
///
/// # Errors
/// The server's.
pub(crate) fn exists(connection: &mut Link, database: &str) -> Result<bool> {
    Ok(!marked_tables(connection, database)?.is_empty() || foreign(connection, database)?.is_some())
}

/// Adds the mark to a statement if it is a `CREATE TABLE` with columns alone, so that the table is never without it.
/// Other statements are unchanged; [`mark_new`] marks their tables.
pub(crate) fn with_mark(sql: &str) -> Cow<'_, str> {
    match plainly_created(sql) {
        Some(table) => Cow::Owned(format!("{sql} COMMENT = {}", mark(table))),
        None => Cow::Borrowed(sql),
    }
}

/// Comment of a table that a loader creates, as an SQL literal.
fn mark(table: &str) -> String {
    format!("'{MARK} as {}'", table.replace('\'', "''"))
}

/// Whether a statement creates an object.
pub(crate) fn creates(sql: &str) -> bool {
    sql.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("CREATE"))
}

/// Table of a statement `CREATE TABLE name (columns)`, followed by a character set at most.
fn plainly_created(sql: &str) -> Option<&str> {
    let (head, body) = sql.split_once('(')?;
    let head: Vec<&str> = head.split_whitespace().collect();
    let [create, table, name] = head.as_slice() else { return None };
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_plain || !create.eq_ignore_ascii_case("CREATE") || !table.eq_ignore_ascii_case("TABLE") {
        return None;
    }
    // `CREATE TABLE t (SELECT …)` and `CREATE TABLE t (LIKE …)` take no options behind them.
    let first = body.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    if ["SELECT", "LIKE", "WITH", "VALUES", "TABLE"].iter().any(|word| first.starts_with(word)) {
        return None;
    }
    let tail: Vec<String> = text_after_parenthesis(body)?.split_whitespace().map(str::to_ascii_uppercase).collect();
    let has_no_more = matches!(tail.as_slice(), [])
        || matches!(tail.as_slice(), [character, set, _] if character == "CHARACTER" && set == "SET");
    has_no_more.then_some(*name)
}

/// Text after the parenthesis that closes one opened before `body`.
fn text_after_parenthesis(body: &str) -> Option<&str> {
    let (mut depth, mut quote) = (1_u32, None);
    for (at, byte) in body.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return body.get(at + 1..);
        }
    }
    None
}

/// Tables of a database without the mark.
pub(crate) fn unmarked_tables(connection: &mut Link, database: &str) -> Result<Vec<String>> {
    names(connection, UNMARKED[0].1, (database,))
}

/// Marks the tables that a loader's statement created without the mark in the database that is loaded into: all
/// unmarked ones except `before`.
pub(crate) fn mark_new(connection: &mut Link, loading: &str, before: &[String]) -> Result<()> {
    let new = unmarked_tables(connection, loading)?.into_iter().filter(|table| !before.contains(table));
    for table in new {
        let sql = format!("ALTER TABLE `{loading}`.`{}` COMMENT = {}", table.replace('`', "``"), mark(&table));
        connection.query_drop(&sql).map_err(|e| error(&e).with_statement(&sql))?;
    }
    Ok(())
}

/// Refuses a side database that contains more than tables: other objects cannot have a mark, so that the next load
/// would refuse to replace it.
pub(crate) fn refuse_more_than_tables(connection: &mut Link, side: &str) -> Result<()> {
    let found = unmarked(connection, side)?;
    if found.is_empty() {
        return Ok(());
    }
    Err(EngineError::unsupported(format!(
        "a loaded database holds tables and indexes alone on this engine; this one was to have {}",
        listed(&found)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_create_bears_the_mark_from_the_start() {
        for sql in [
            "CREATE TABLE t (\n  a INT,\n  CHECK (a IN (0, 1))\n)",
            "create table t (a VARCHAR(3) DEFAULT ')')",
            "CREATE TABLE t (a INT) CHARACTER SET utf8mb4",
        ] {
            assert_eq!(with_mark(sql), format!("{sql} COMMENT = 'made by bourse as t'"));
        }
        for sql in [
            "CREATE TABLE t (a INT) AS SELECT (1)",
            "CREATE TABLE t (SELECT 1)",
            "CREATE TABLE t (LIKE u)",
            "CREATE TABLE t LIKE u",
            "CREATE TABLE IF NOT EXISTS t (a INT)",
            "CREATE TABLE t (a INT) COMMENT 'mine'",
            "CREATE TABLE t (a INT",
            "CREATE TABLE `it's` (a INT)",
            "CREATE INDEX i ON t (a)",
            "INSERT INTO t VALUES (1)",
        ] {
            assert_eq!(with_mark(sql), sql);
        }
        assert_eq!(mark("it's"), "'made by bourse as it''s'");
        assert!(creates(" create view v AS SELECT 1") && !creates("INSERT INTO created VALUES (1)"));
    }

    #[test]
    fn queries_look_for_the_mark_itself() {
        // Statements are constants, so the mark is written out in them.
        assert!(MARKED.contains(&format!("'{MARK} as '")));
        assert!(UNMARKED[3].1.contains(&format!("'{MARK}, version %'")));
    }

    #[test]
    fn a_refusal_lists_a_few_names() {
        let found: Vec<String> = ["table `a`", "view `b`", "event `c`", "trigger `d`"].map(str::to_owned).to_vec();
        assert_eq!(listed(&found), "table `a`, view `b`, event `c` and 1 more");
        assert_eq!(listed(&found[..1]), "table `a`");
    }
}
