//! Loading: a database beside the one that is seen, whose tables take the others' places when it is whole.

use crate::connect::Connector;
use crate::error::error;
use crate::session::through;
use crate::value::write_literal;
use bourse_engine::{Batch, EachRow, EngineError, ErrorKind, Loader};
use mysql::Conn;
use mysql::prelude::Queryable as _;

/// The comment of every table that a loader made: nothing else is ever replaced.
const MADE_BY_US: &str = "made by bourse";

/// An INSERT is sent when it has become this long, in bytes.
const INSERT_BYTES: usize = 1 << 20;

pub(crate) struct DatabaseLoader {
    connection: Conn,
    database: String,
    is_done: bool,
}

impl DatabaseLoader {
    pub(crate) fn new(connector: &Connector, database: &str) -> Result<Self, EngineError> {
        let mut connection = connector.connect(None)?;
        take_lock(&mut connection, database)?;
        refuse_foreign(&mut connection, database)?;
        let mut this = Self { connection, database: database.to_owned(), is_done: false };
        let loading = this.loading();
        // What a load that was killed has left.
        this.run(&format!("DROP DATABASE IF EXISTS `{loading}`"))?;
        this.run(&format!("CREATE DATABASE `{loading}`"))?;
        this.run(&format!("USE `{loading}`"))?;
        // Parents may come after children that are made beside them; orphans are looked for after the load.
        this.run("SET SESSION foreign_key_checks = 0, SESSION unique_checks = 0")?;
        Ok(this)
    }

    fn loading(&self) -> String {
        format!("{}_bourse_loading", self.database)
    }

    fn old(&self) -> String {
        format!("{}_bourse_old", self.database)
    }

    fn tables(&mut self, database: &str) -> Result<Vec<String>, EngineError> {
        self.connection
            .exec("SELECT table_name FROM information_schema.tables WHERE table_schema = ?", (database,))
            .map_err(|e| error(&e))
    }

    /// Statistics as they are now, so that plans do not depend on when the server would have gathered them.
    fn analyze(&mut self, tables: &[String]) -> Result<(), EngineError> {
        let names: Vec<_> = tables.iter().map(|table| format!("`{table}`")).collect();
        self.run(&format!("ANALYZE TABLE {}", names.join(", ")))
    }

    /// Puts the loaded tables into the places of those that were there, by one statement.
    fn exchange(&mut self, tables: &[String]) -> Result<(), EngineError> {
        let (database, loading, old) = (self.database.clone(), self.loading(), self.old());
        self.run(&format!("CREATE DATABASE IF NOT EXISTS `{database}`"))?;
        self.run(&format!("DROP DATABASE IF EXISTS `{old}`"))?;
        self.run(&format!("CREATE DATABASE `{old}`"))?;
        // What refers to a renamed table has to go on referring to it.
        self.run("SET SESSION foreign_key_checks = 1")?;
        let there = self.tables(&database)?;
        let away = there.iter().map(|table| format!("`{database}`.`{table}` TO `{old}`.`{table}`"));
        let into = tables.iter().map(|table| format!("`{loading}`.`{table}` TO `{database}`.`{table}`"));
        let renames: Vec<_> = away.chain(into).collect();
        if !renames.is_empty() {
            self.run(&format!("RENAME TABLE {}", renames.join(", "))).map_err(|e| match e.kind() {
                ErrorKind::Conflict => {
                    EngineError::new(e.kind(), format!("cannot replace `{database}`, is it in use? {}", e.message()))
                        .with_code(e.code().unwrap_or_default())
                }
                _ => e,
            })?;
        }
        self.run("SET SESSION foreign_key_checks = 0")?;
        self.run(&format!("DROP DATABASE `{old}`"))?;
        self.run(&format!("DROP DATABASE `{loading}`"))
    }
}

fn lock_name(database: &str) -> String {
    format!("bourse-load-{database}")
}

/// Two loads of one database at once would mix.
fn take_lock(connection: &mut Conn, database: &str) -> Result<(), EngineError> {
    let got: Option<Option<i64>> =
        connection.exec_first("SELECT get_lock(?, 0)", (lock_name(database),)).map_err(|e| error(&e))?;
    match got {
        Some(Some(1)) => Ok(()),
        _ => Err(EngineError::new(
            ErrorKind::Conflict,
            format!("database `{database}` is being loaded by somebody else"),
        )),
    }
}

/// Tables that are not ours are somebody's; they are not for us to replace.
fn refuse_foreign(connection: &mut Conn, database: &str) -> Result<(), EngineError> {
    let foreign: Vec<String> = connection
        .exec(
            "SELECT table_name FROM information_schema.tables
              WHERE table_schema = ? AND (table_type <> 'BASE TABLE' OR table_comment <> ?) ORDER BY table_name LIMIT 3",
            (database, MADE_BY_US),
        )
        .map_err(|e| error(&e))?;
    if foreign.is_empty() {
        return Ok(());
    }
    Err(EngineError::new(
        ErrorKind::Other,
        format!(
            "database `{database}` has tables that were not loaded by bourse ({}): it will not be replaced; name another \
             one, which need not exist",
            foreign.join(", ")
        ),
    ))
}

impl Loader for DatabaseLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        self.connection.query_drop(sql).map_err(|e| error(&e).with_statement(sql))
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        if batch.is_empty() {
            return Ok(());
        }
        let table = batch.table();
        let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
        let start = format!("INSERT INTO {} ({}) VALUES ", table.name, names.join(", "));
        let mut sql = start.clone();
        for index in 0..batch.len() {
            batch.with_row(index, &mut |values| {
                sql.push(if sql.len() == start.len() { '(' } else { ',' });
                if sql.ends_with(',') {
                    sql.push('(');
                }
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        sql.push(',');
                    }
                    write_literal(&mut sql, *value);
                }
                sql.push(')');
            });
            if sql.len() >= INSERT_BYTES || index + 1 == batch.len() {
                self.connection.query_drop(&sql).map_err(|e| error(&e).with_statement(&format!("{start}(…)")))?;
                sql.truncate(start.len());
            }
        }
        Ok(())
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        let result = self.connection.query_iter(sql).map_err(|e| error(&e).with_statement(sql))?;
        through(result, each).map(|_| ()).map_err(|e| e.with_statement(sql))
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        let loading = self.loading();
        let tables = self.tables(&loading)?;
        for table in &tables {
            self.run(&format!("ALTER TABLE `{table}` COMMENT = '{MADE_BY_US}'"))?;
        }
        if !tables.is_empty() {
            self.analyze(&tables)?;
        }
        self.exchange(&tables)?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for DatabaseLoader {
    fn drop(&mut self) {
        // Best effort: the next load removes what is left, and nobody takes it for a database.
        if !self.is_done {
            let _ = self.run("SET SESSION foreign_key_checks = 0");
            let _ = self.run(&format!("DROP DATABASE IF EXISTS `{}`", self.loading()));
        }
        // The server would give it back some time after the connection is closed; the next load may come sooner.
        let _ = self.connection.exec_drop("DO release_lock(?)", (lock_name(&self.database),));
    }
}
