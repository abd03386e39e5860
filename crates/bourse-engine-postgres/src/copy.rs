//! Copies of a database, by the server itself: `CREATE DATABASE … TEMPLATE`.

use crate::connect::Connector;
use crate::ownership::{self, quoted};
use crate::wire::Connection;
use bourse_engine::{EngineError, Snapshot};

/// Since this version a copy can go by way of the log; going by files, as before, costs less for all but small databases.
const STRATEGIES_SINCE: i32 = 150_000;

/// A copy of a database on the same server.
pub(crate) struct DatabaseCopy {
    connector: Connector,
    database: String,
    copy: String,
}

/// The database that holds the copy of another.
pub(crate) fn copy_of(database: &str) -> String {
    format!("{database}_bourse_copy")
}

impl DatabaseCopy {
    /// Keeps a copy of a database that Bourse made.
    pub(crate) fn take(connector: Connector, database: &str) -> Result<Self, EngineError> {
        let mut connection = connector.maintenance()?;
        if ownership::is_marked(&mut connection, database)? != Some(true) {
            return Err(EngineError::unsupported(format!(
                "database \"{database}\" was not made by bourse, so it is not dropped to be made again from a copy"
            )));
        }
        let this = Self { connector, database: database.to_owned(), copy: copy_of(database) };
        drop_copy(&mut connection, &this.copy)?;
        create(&mut connection, &this.copy, database)?;
        Ok(this)
    }
}

fn create(connection: &mut Connection, new: &str, from: &str) -> Result<(), EngineError> {
    let version = connection.names("SHOW server_version_num")?;
    let version: i32 = version.first().and_then(|number| number.parse().ok()).unwrap_or(0);
    let strategy = if version >= STRATEGIES_SINCE { " STRATEGY file_copy" } else { "" };
    connection.run(&format!("CREATE DATABASE {} TEMPLATE {}{strategy}", quoted(new), quoted(from)))?;
    ownership::mark_database(connection, new)
}

/// Drops a copy, if there is one; a database of that name without the mark is refused.
pub(crate) fn drop_copy(connection: &mut Connection, copy: &str) -> Result<(), EngineError> {
    match ownership::is_marked(connection, copy)? {
        None => Ok(()),
        Some(true) => connection.run(&format!("DROP DATABASE {}", quoted(copy))),
        Some(false) => Err(EngineError::refused(format!(
            "database \"{copy}\" is there, and does not have the comment '{}' that a copy of ours has; it is left as it is: drop \
             or rename it if nobody needs it, or use another database",
            ownership::MARK
        ))),
    }
}

impl Snapshot for DatabaseCopy {
    fn how(&self) -> &str {
        "database copied by the server"
    }

    fn restore(&self) -> Result<(), EngineError> {
        // What somebody has put into it since then stays.
        if let Some(mut connection) = self.connector.connect_if_there(&self.database)? {
            ownership::refuse_foreign(&mut connection, &self.database)?;
        }
        let mut connection = self.connector.maintenance()?;
        match ownership::is_marked(&mut connection, &self.database)? {
            Some(true) => connection.run(&format!("DROP DATABASE {}", quoted(&self.database)))?,
            Some(false) => {
                return Err(EngineError::refused(format!(
                    "database \"{}\" does not have the comment '{}' any more; it is left as it is",
                    self.database,
                    ownership::MARK
                )));
            }
            None => {}
        }
        create(&mut connection, &self.database, &self.copy)
    }
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        // Best effort: the next copy takes its place.
        if let Ok(mut connection) = self.connector.maintenance() {
            let _ = drop_copy(&mut connection, &self.copy);
        }
    }
}
