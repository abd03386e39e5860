//! A dump of a MariaDB or MySQL server: definitions and rows of every database except the server's own.

use bourse_engine::{Session, SessionExt as _, Value};
use std::collections::BTreeMap;

/// Definitions and rows, by database. Two dumps are equal if nothing was changed in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerDump {
    databases: BTreeMap<String, Vec<String>>,
}

/// Kinds of objects in a database: the name of the kind, the query that lists its objects, and the column of `SHOW CREATE` that
/// defines one.
const KINDS: &[(&str, &str, usize)] = &[
    ("TABLE", "SELECT table_name FROM information_schema.tables WHERE table_schema = '{}'", 1),
    (
        "PROCEDURE",
        "SELECT routine_name FROM information_schema.routines WHERE routine_schema = '{}' AND routine_type = 'PROCEDURE'",
        2,
    ),
    (
        "FUNCTION",
        "SELECT routine_name FROM information_schema.routines WHERE routine_schema = '{}' AND routine_type = 'FUNCTION'",
        2,
    ),
    ("EVENT", "SELECT event_name FROM information_schema.events WHERE event_schema = '{}'", 3),
    ("TRIGGER", "SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = '{}'", 2),
];

impl ServerDump {
    /// Reads a whole server through a session.
    ///
    /// # Panics
    /// If the server refuses to show something.
    pub fn of(session: &mut dyn Session) -> Self {
        let own = "'mysql', 'information_schema', 'performance_schema', 'sys'";
        let sql = format!("SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ({own})");
        let names = column(session, &sql, 0);
        let databases = names.into_iter().map(|name| {
            let contents = database(session, &name);
            (name, contents)
        });
        Self { databases: databases.collect() }
    }

    /// Dump without one database.
    #[must_use]
    pub fn without(mut self, database: &str) -> Self {
        self.databases.remove(database);
        self
    }

    /// Names of the databases.
    pub fn names(&self) -> Vec<&str> {
        self.databases.keys().map(String::as_str).collect()
    }
}

fn database(session: &mut dyn Session, name: &str) -> Vec<String> {
    let mut lines = column(session, &format!("SHOW CREATE DATABASE `{name}`"), 1);
    for (kind, list, definition) in KINDS {
        let mut found = column(session, &list.replace("{}", name), 0);
        found.sort();
        for object in found {
            lines.push(format!("{kind} {object}"));
            lines.extend(column(session, &format!("SHOW CREATE {kind} `{name}`.`{object}`"), *definition));
            if *kind == "TABLE" {
                lines.extend(rows(session, name, &object));
            }
        }
    }
    lines
}

/// Rows of a table, sorted, preceded by its creation and change times: a table that was dropped and made again has other times.
fn rows(session: &mut dyn Session, database: &str, table: &str) -> Vec<String> {
    let of = format!("table_schema = '{database}' AND table_name = '{table}'");
    let times = format!("SELECT concat_ws(' ', create_time, update_time) FROM information_schema.tables WHERE {of}");
    let columns = format!("SELECT column_name FROM information_schema.columns WHERE {of} ORDER BY ordinal_position");
    let quoted: Vec<_> = column(session, &columns, 0).iter().map(|name| format!("quote(`{name}`)")).collect();
    let mut rows =
        column(session, &format!("SELECT concat_ws(',', {}) FROM `{database}`.`{table}`", quoted.join(", ")), 0);
    rows.sort();
    [column(session, &times, 0), rows].concat()
}

/// One column of a query's rows, as text.
fn column(session: &mut dyn Session, sql: &str, at: usize) -> Vec<String> {
    let found = session.text_rows(sql, |row| {
        Ok(match row.value(at) {
            Value::Text(text) => text.to_owned(),
            Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => format!("{other:?}"),
        })
    });
    found.unwrap_or_else(|error| panic!("{sql}: {error}"))
}
