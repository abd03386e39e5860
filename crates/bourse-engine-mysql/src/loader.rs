//! Loading: a side database, whose tables replace the visible ones when it is complete. If the account has rights on
//! the one database alone, or the product moves no tables, the database is loaded in place.

use crate::connect::{MysqlConnector, facts};
use crate::error::error;
use crate::link::Link;
use crate::local::LocalRows;
use crate::options::StorageEngine;
use crate::ownership;
use crate::products::MysqlFacts;
use crate::session::through;
use crate::value::write_literal;
use bourse_engine::{Batch, EachRow, EngineError, ErrorKind, Loader, Result};
use mysql::prelude::Queryable as _;
use std::borrow::Cow;

/// Length at which an INSERT is sent, in bytes.
const INSERT_BYTES: usize = 1 << 20;

/// Loader through one server.
pub(crate) struct MysqlLoader {
    connection: Link,
    database: String,
    facts: &'static MysqlFacts,
    /// Database that is loaded into.
    loading: String,
    /// Database for the replaced tables.
    old: String,
    /// Rows as text, if the server accepts them.
    local: Option<LocalRows>,
    is_done: bool,
}

/// Names of a database's side databases: for its new tables, and for those that they replace.
pub(crate) fn side_databases(database: &str) -> [String; 2] {
    [format!("{database}_bourse_loading"), format!("{database}_bourse_old")]
}

impl MysqlLoader {
    /// Begins a load of a database.
    ///
    /// # Errors
    /// The server's, or the refusal of a database that Bourse must not replace.
    pub(crate) fn new(connector: &MysqlConnector, database: &str) -> Result<Self> {
        let mut connection = connector.connect(None)?;
        take_lock(&mut connection, database)?;
        // From here on the lock is given back by whatever ends the loader; there is nothing else to undo yet.
        let [loading, old] = side_databases(database);
        let facts = facts(&mut connection);
        let mut this =
            Self { connection, database: database.to_owned(), facts, loading, old, local: None, is_done: true };
        if facts.shards {
            ownership::refuse_sharded(&mut this.connection, database)?;
        }
        if !facts.moves_tables && !ownership::is_there(&mut this.connection, database)? {
            let made = this.run(&format!("CREATE DATABASE `{database}`"));
            made.map_err(|e| EngineError::unsupported(format!("`{database}` cannot be made: {}", e.message())))?;
        }
        ownership::refuse_foreign(&mut this.connection, database)?;
        if facts.moves_tables {
            this.make_side()?;
        } else {
            this.load_in_place()?;
        }
        this.is_done = false;
        this.run(&format!("USE `{}`", this.loading))?;
        // Parents may come after children that are made beside them; orphans are looked for after the load.
        // Without unique checks MyRocks writes a row over another with the same key.
        let unique = u8::from(connector.options.storage == StorageEngine::Rocksdb);
        this.run(&format!("SET SESSION foreign_key_checks = 0, SESSION unique_checks = {unique}"))?;
        this.local = LocalRows::of(&mut this.connection)?;
        Ok(this)
    }

    /// Creates the side database; without the right to do so, loads in place.
    fn make_side(&mut self) -> Result<()> {
        // What a load that was killed has left; a database of that name which is somebody's is refused.
        ownership::drop_side(&mut self.connection, &self.old)?;
        ownership::drop_side(&mut self.connection, &self.loading)?;
        match ownership::create_side(&mut self.connection, &self.loading) {
            Err(e) if e.kind() == ErrorKind::Denied => {
                if !ownership::is_there(&mut self.connection, &self.database)? {
                    return Err(self.lacking(&e));
                }
                self.load_in_place()
            }
            made => {
                made?;
                self.try_rights()
            }
        }
    }

    /// Fails before anything is loaded if the account may not make the database, which is not there.
    fn try_rights(&mut self) -> Result<()> {
        if ownership::is_there(&mut self.connection, &self.database)? {
            return Ok(());
        }
        // It is made once its tables are loaded: an interrupted load leaves no empty database.
        let made = self.run(&format!("CREATE DATABASE `{0}`", self.database));
        let removed = made.and_then(|()| self.run(&format!("DROP DATABASE `{0}`", self.database)));
        removed.map_err(|e| {
            // Best effort: the next load removes it too, and this error is the one to report.
            let _ = ownership::drop_side(&mut self.connection, &self.loading);
            if e.kind() == ErrorKind::Denied { self.lacking(&e) } else { e }
        })
    }

    fn load_in_place(&mut self) -> Result<()> {
        self.loading.clone_from(&self.database);
        self.drop_loaded()
    }

    /// Whether it is loaded in place.
    fn is_in_place(&self) -> bool {
        self.loading == self.database
    }

    /// Drops the tables that loaders made in the database that is loaded into.
    fn drop_loaded(&mut self) -> Result<()> {
        let tables = ownership::marked_tables(&mut self.connection, &self.loading)?;
        if tables.is_empty() {
            return Ok(());
        }
        self.run("SET SESSION foreign_key_checks = 0")?;
        let names: Vec<_> = tables.iter().map(|table| format!("`{}`.`{table}`", self.loading)).collect();
        self.run(&format!("DROP TABLE {}", names.join(", ")))
    }

    /// Error for a right that the account lacks, naming that right.
    fn lacking(&mut self, e: &EngineError) -> EngineError {
        let account: Option<String> = self.connection.query_first("SELECT current_user()").ok().flatten();
        let login: Option<String> = self.connection.query_first("SELECT user()").ok().flatten();
        let remedy = remedy(&account.unwrap_or_default(), &login.unwrap_or_default(), &self.database);
        EngineError::new(ErrorKind::Denied, format!("{}; {remedy}", e.message()))
            .with_code(e.code().unwrap_or_default())
    }

    /// Updates statistics, so that plans do not depend on the time at which the server would.
    fn analyze(&mut self, tables: &[String]) -> Result<()> {
        let at_once = if self.facts.analyzes_several { tables.len().max(1) } else { 1 };
        tables.chunks(at_once).try_for_each(|tables| {
            let names: Vec<_> = tables.iter().map(|table| format!("`{table}`")).collect();
            self.run(&format!("ANALYZE TABLE {}", names.join(", ")))
        })
    }

    /// Replaces the visible tables by the loaded ones, by one statement.
    fn exchange(&mut self, tables: &[String]) -> Result<()> {
        let Self { database, loading, old, .. } = self;
        let (database, loading, old) = (database.clone(), loading.clone(), old.clone());
        // Loading took a while: what has come into the database since then is somebody's too.
        ownership::refuse_foreign(&mut self.connection, &database)?;
        let there = ownership::marked_tables(&mut self.connection, &database)?;
        self.run(&format!("CREATE DATABASE IF NOT EXISTS `{database}`"))?;
        ownership::drop_side(&mut self.connection, &old)?;
        ownership::create_side(&mut self.connection, &old)?;
        // What refers to a renamed table has to go on referring to it.
        self.run("SET SESSION foreign_key_checks = 1")?;
        let away = there.iter().map(|table| format!("`{database}`.`{table}` TO `{old}`.`{table}`"));
        let into = tables.iter().map(|table| format!("`{loading}`.`{table}` TO `{database}`.`{table}`"));
        let renames: Vec<_> = away.chain(into).collect();
        if !renames.is_empty()
            && let Err(e) = self.run(&format!("RENAME TABLE {}", renames.join(", ")))
        {
            // Best effort: what has just been made is empty, and the first error is the one to report.
            let _ = ownership::drop_side(&mut self.connection, &old);
            return Err(match e.kind() {
                ErrorKind::Conflict => e.during(format_args!("cannot replace `{database}`, which may be in use")),
                _ => e,
            });
        }
        self.run("SET SESSION foreign_key_checks = 0")?;
        ownership::drop_side(&mut self.connection, &old)?;
        ownership::drop_side(&mut self.connection, &loading)
    }
}

/// Remedy for a right that an account lacks to make a database and those beside it, by the account that the server uses and the user that
/// logged in.
fn remedy(account: &str, login: &str, database: &str) -> String {
    let (name, host) = account.rsplit_once('@').unwrap_or((account, "%"));
    if name.is_empty() && !login.starts_with('@') {
        let user = login.rsplit_once('@').map_or(login, |(user, _)| user);
        return format!(
            "the login of {user} fell to the server's anonymous account ''@'{host}', as it does if no password of {user} is given: \
             the variable MYSQL_PWD, the group `client` of ~/.my.cnf, or a file that `password_file` names, gives one"
        );
    }
    // Of a database beside another, that one's name is before Bourse's. In a grant `_` stands for any character.
    let first = database.split("_bourse_").next().unwrap_or_default();
    let pattern = first.replace('_', "\\_");
    let grant = |databases: &str| format!("GRANT ALL ON `{pattern}{databases}`.* TO '{name}'@'{host}'");
    format!("{}; and {} give the rights", grant(""), grant("\\_bourse\\_%"))
}

fn lock_name(database: &str) -> String {
    format!("bourse-load-{database}")
}

/// Takes the load lock: two concurrent loads of one database would mix.
fn take_lock(connection: &mut Link, database: &str) -> Result<()> {
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

impl Loader for MysqlLoader {
    fn run(&mut self, sql: &str) -> Result<()> {
        let marked = ownership::with_mark(sql);
        let is_unmarked = matches!(marked, Cow::Borrowed(_)) && ownership::creates(sql);
        let before =
            if is_unmarked { ownership::unmarked_tables(&mut self.connection, &self.loading)? } else { vec![] };
        self.connection.query_drop(&*marked).map_err(|e| error(&e).with_statement(sql))?;
        if is_unmarked { ownership::mark_new(&mut self.connection, &self.loading, &before) } else { Ok(()) }
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let table = batch.table();
        if let Some(local) = &mut self.local {
            for index in 0..batch.len() {
                let mut is_full = false;
                batch.with_row(index, &mut |values| is_full = local.add(values));
                if is_full || index + 1 == batch.len() {
                    local.send(&mut self.connection, table)?;
                }
            }
            return Ok(());
        }
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

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        let result = self.connection.query_iter(sql).map_err(|e| error(&e).with_statement(sql))?;
        through(result, each).map(|_| ()).map_err(|e| e.with_statement(sql))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        ownership::refuse_more_than_tables(&mut self.connection, &self.loading)?;
        let tables = ownership::marked_tables(&mut self.connection, &self.loading)?;
        self.analyze(&tables)?;
        if !self.is_in_place() {
            self.exchange(&tables)?;
        }
        self.is_done = true;
        Ok(())
    }
}

impl Drop for MysqlLoader {
    fn drop(&mut self) {
        // Best effort: the next load removes what is left, and nobody takes it for a database.
        if !self.is_done {
            let _ = match self.is_in_place() {
                true => self.drop_loaded(),
                false => self
                    .run("SET SESSION foreign_key_checks = 0")
                    .and_then(|()| ownership::drop_side(&mut self.connection, &self.loading)),
            };
        }
        // The server would give it back some time after the connection is closed; the next load may come sooner.
        let _ = self.connection.exec_drop("DO release_lock(?)", (lock_name(&self.database),));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A login without a password once led to the advice to grant everything to anyone.
    #[test]
    fn rights_are_advised_for_an_account_with_a_name() {
        let told = remedy("ann@localhost", "ann@localhost", "my_db_bourse_loading");
        assert_eq!(
            told,
            r"GRANT ALL ON `my\_db`.* TO 'ann'@'localhost'; and GRANT ALL ON `my\_db\_bourse\_%`.* TO 'ann'@'localhost' give the rights"
        );
        let anonymous = remedy("@localhost", "ann@localhost", "tpce");
        assert!(
            anonymous.contains("the login of ann fell to the server's anonymous account ''@'localhost'"),
            "{anonymous}"
        );
        assert!(!anonymous.contains("GRANT") && anonymous.contains("no password of ann"), "{anonymous}");
    }
}
