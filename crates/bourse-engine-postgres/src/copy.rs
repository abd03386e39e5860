//! Copies of a database, made by the server: `CREATE DATABASE … TEMPLATE`.

use crate::connect::PostgresConnector;
use crate::ownership::{self, quoted};
use crate::wire::WireConnection;
use bourse_engine::{EngineError, Result, Snapshot, locked};
use std::sync::{Arc, Mutex};

/// First version in which a copy can use the log; copying files, as before, costs less for all but small databases.
const STRATEGIES_SINCE: i32 = 150_000;

/// A copy of a database on the same server.
pub(crate) struct DatabaseCopy {
    connector: PostgresConnector,
    database: String,
    copy: String,
    /// A connection that may use the database.
    watcher: Arc<Mutex<Option<WireConnection>>>,
}

/// Name of the database that holds the copy of another.
pub(crate) fn copy_of(database: &str) -> String {
    format!("{database}_bourse_copy")
}

impl DatabaseCopy {
    /// Copies a database that Bourse made.
    pub(crate) fn take(
        connector: PostgresConnector,
        database: &str,
        watcher: Arc<Mutex<Option<WireConnection>>>,
    ) -> Result<Self> {
        *locked(&watcher) = None;
        let mut connection = connector.maintenance(database)?;
        if ownership::is_marked(&mut connection, database)? != Some(true) {
            return Err(EngineError::unsupported(format!(
                "database \"{database}\" was not made by bourse, so it is not dropped to be made again from a copy"
            )));
        }
        let this = Self { connector, database: database.to_owned(), copy: copy_of(database), watcher };
        ownership::drop_marked(&mut connection, &this.copy)?;
        create(&mut connection, &this.copy, database)?;
        Ok(this)
    }
}

fn create(connection: &mut WireConnection, new: &str, from: &str) -> Result<()> {
    let version = connection.names("SHOW server_version_num")?;
    let version: i32 = version.first().and_then(|number| number.parse().ok()).unwrap_or(0);
    let strategy = if version >= STRATEGIES_SINCE { " STRATEGY file_copy" } else { "" };
    connection.run(&format!("CREATE DATABASE {} TEMPLATE {}{strategy}", quoted(new), quoted(from)))?;
    ownership::mark_database(connection, new)
}

impl Snapshot for DatabaseCopy {
    fn method(&self) -> &str {
        "database copied by the server"
    }

    fn restore(&self) -> Result<()> {
        // What somebody has put into it since then stays.
        if let Some(mut connection) = self.connector.connect_if_there(&self.database)? {
            ownership::refuse_foreign(&mut connection, &self.database)?;
        }
        *locked(&self.watcher) = None;
        let mut connection = self.connector.maintenance(&self.copy)?.patient();
        // A person's settings of it, and rights to it, are no contents: the copy lacks them.
        let properties = ownership::properties(&mut connection, &self.database)?;
        ownership::drop_marked(&mut connection, &self.database)?;
        create(&mut connection, &self.database, &self.copy)?;
        properties.iter().try_for_each(|statement| connection.run(statement))
    }
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        // Best effort: the next copy takes its place.
        if let Ok(mut connection) = self.connector.maintenance(&self.database) {
            let _ = ownership::drop_marked(&mut connection, &self.copy);
        }
    }
}
