//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::connection::JdbcConnection;
use crate::database::{JdbcDatabase, JdbcDriver, files_at, parts};
use crate::machine::BridgeMethod;
use crate::wire::put_params;
use bourse_engine::{Batch, EachRow, IncomingRows, Loader, Result, SharedDatabase, rows_loader, unless_in_use};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Bytes of parameters after which a batch of rows is sent.
const BATCH_BYTES: usize = 1 << 18;

/// Rows being loaded.
struct JdbcRows {
    /// Numbers of the INSERT statements, by their tables' names.
    inserts: HashMap<&'static str, usize>,
    /// Statements that add the foreign keys of the new tables; run at the end, so that rows may come in any order.
    foreign_keys: Vec<String>,
    connection: JdbcConnection,
    /// Closed last.
    database: Arc<JdbcDatabase>,
}

impl JdbcRows {
    fn new(database: Arc<JdbcDatabase>) -> Result<Self> {
        Ok(Self { inserts: HashMap::new(), foreign_keys: Vec::new(), connection: database.connect()?, database })
    }

    /// Adds the foreign keys, which checks the rows, and gathers statistics; returns the complete database.
    fn complete(self) -> Result<Arc<JdbcDatabase>> {
        let Self { inserts, foreign_keys, database, .. } = self;
        let statistics = inserts.keys().filter_map(|table| (database.product().statistics)(table));
        let mut statements = foreign_keys.into_iter().chain(statistics);
        statements.try_for_each(|sql| database.keeper().execute_text(&sql).map(|_| ()))?;
        Ok(database)
    }
}

impl IncomingRows for JdbcRows {
    /// Runs a statement on the connection that is open as long as the database is: H2 cannot evaluate a check once the session
    /// that made it is closed (2.4.240, `IN` with constants).
    fn run(&mut self, sql: &str) -> Result<()> {
        let (made, mut keys) = bourse_schema::without_foreign_keys(sql);
        self.foreign_keys.append(&mut keys);
        self.database.keeper().execute_text(&made).map(|_| ())
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        let table = batch.table();
        let sql = bourse_schema::insert(table, self.connection.bridge().product().dialect);
        let number = match self.inserts.get(table.name) {
            Some(number) => *number,
            None => {
                let number = self.inserts.len() + 1;
                self.connection.prepare(number, &sql).map_err(|e| e.with_statement(&sql))?;
                self.inserts.insert(table.name, number);
                number
            }
        };
        let slot = i32::try_from(number).expect("there are few tables");
        let bridge = self.connection.bridge();
        let mut at = 0;
        while at < batch.len() {
            let (message, first) = (bridge.message(), at);
            while at < batch.len() && message.len() < BATCH_BYTES {
                batch.with_row(at, &mut |values| put_params(message, values.len(), values.iter().copied()));
                at += 1;
            }
            let rows = i32::try_from(at - first).expect("a row has a byte at least");
            bridge.send(BridgeMethod::Batch, [slot, rows]).map_err(|e| e.with_statement(&sql))?;
        }
        Ok(())
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.connection.query_text(sql, each)
    }
}

/// Loader that builds a database in the folder `loading`, then renames it.
pub(crate) fn folder_loader(driver: JdbcDriver, path: &Path) -> Result<Box<dyn Loader>> {
    files_at(path, driver.product).open_or_make()?;
    let load = parts(path, driver.product).begin_load()?;
    let rows = JdbcRows::new(JdbcDatabase::in_folder(&driver, load.path())?)?;
    Ok(rows_loader(rows, move |rows| {
        rows.complete()?;
        // Opened for its lock.
        load.publish(|old| unless_in_use(JdbcDatabase::in_folder(&driver, old)))
    }))
}

/// Loader that builds a database in memory, then gives it to new sessions.
pub(crate) fn memory_loader(driver: &JdbcDriver, opened: SharedDatabase<JdbcDatabase>) -> Result<Box<dyn Loader>> {
    let rows = JdbcRows::new(JdbcDatabase::in_memory(driver)?)?;
    Ok(rows_loader(rows, move |rows| {
        opened.replace(rows.complete()?);
        Ok(())
    }))
}
