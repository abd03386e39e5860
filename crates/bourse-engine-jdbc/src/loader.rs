//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::connection::Connection;
use crate::database::{Database, Driver, files_at, parts};
use crate::engine::OpenDatabase;
use crate::machine::Method;
use crate::wire::put_params;
use bourse_engine::{Batch, EachRow, EngineError, ErrorKind, FolderParts, Loader, remove_folder, sync_folder};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of parameters after which a batch of rows is sent.
const ENOUGH: usize = 1 << 18;

/// Rows being loaded.
struct Rows {
    /// Numbers of the INSERT statements, by their tables' names.
    inserts: HashMap<&'static str, usize>,
    /// Statements that add the foreign keys of the new tables; run at the end, so that rows may come in any order.
    foreign_keys: Vec<String>,
    connection: Connection,
}

impl Rows {
    fn new(database: &Database) -> Result<Self, EngineError> {
        Ok(Self { inserts: HashMap::new(), foreign_keys: Vec::new(), connection: database.connect()? })
    }

    /// Runs a statement on the connection that is open as long as the database is: H2 cannot evaluate a check once the session
    /// that made it is closed (2.4.240, `IN` with constants).
    fn run(&mut self, database: &Database, sql: &str) -> Result<(), EngineError> {
        let (made, mut keys) = bourse_schema::without_foreign_keys(sql);
        self.foreign_keys.append(&mut keys);
        database.keeper().execute_text(&made).map(|_| ())
    }

    /// Adds the foreign keys, which checks the rows, and gathers statistics.
    fn complete(&mut self, database: &Database) -> Result<(), EngineError> {
        let mut keeper = database.keeper();
        let keys = std::mem::take(&mut self.foreign_keys);
        let statistics = self.inserts.keys().filter_map(|table| (database.product().statistics)(table));
        keys.into_iter().chain(statistics).try_for_each(|sql| keeper.execute_text(&sql).map(|_| ()))
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
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
            while at < batch.len() && message.len() < ENOUGH {
                batch.with_row(at, &mut |values| put_params(message, values.len(), values.iter().copied()));
                at += 1;
            }
            let rows = i32::try_from(at - first).expect("a row has a byte at least");
            bridge.send(Method::Batch, [slot, rows]).map_err(|e| e.with_statement(&sql))?;
        }
        Ok(())
    }
}

/// Loader that builds a database in the folder `loading`, then renames it.
pub(crate) struct FolderLoader {
    driver: Driver,
    parts: FolderParts,
    /// Rows and new database, closed in this order; `None` once finished.
    open: Option<(Rows, Arc<Database>)>,
}

impl FolderLoader {
    pub(crate) fn new(driver: Driver, path: &Path) -> Result<Self, EngineError> {
        files_at(path, driver.product).open_or_make()?;
        let parts = parts(path, driver.product);
        parts.make_room()?;
        let database = Database::in_folder(&driver, &parts.loading())?;
        let open = Some((Rows::new(&database)?, database));
        Ok(Self { driver, parts, open })
    }

    fn open(&mut self) -> (&mut Rows, &Database) {
        let (rows, database) = self.open.as_mut().expect("a finished loader is gone");
        (rows, database)
    }
}

impl Loader for FolderLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        let (rows, database) = self.open();
        rows.run(database, sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        self.open().0.insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.open().0.connection.query_text(sql, each)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        let (rows, database) = self.open();
        rows.complete(database)?;
        self.open = None;
        let (loading, database) = (self.parts.loading(), self.parts.database());
        sync_folder(&loading)?;
        self.parts.refuse_use()?;
        if database.exists() {
            // Opened for its lock. A damaged one may be replaced, one that another process uses not.
            match Database::in_folder(&self.driver, &database) {
                Err(e) if e.kind() == ErrorKind::Conflict => return Err(e),
                opened => drop(opened),
            }
        }
        self.parts.replace(&loading)
    }
}

impl Drop for FolderLoader {
    fn drop(&mut self) {
        self.open = None;
        // A folder that stays is reported as a leftover, and removed by the next load.
        let _ = remove_folder(&self.parts.loading());
    }
}

/// Loader that builds a database in memory, then gives it to new sessions.
pub(crate) struct MemoryLoader {
    opened: Arc<Mutex<OpenDatabase>>,
    rows: Rows,
    database: Arc<Database>,
}

impl MemoryLoader {
    pub(crate) fn new(driver: &Driver, opened: Arc<Mutex<OpenDatabase>>) -> Result<Self, EngineError> {
        let database = Database::in_memory(driver)?;
        Ok(Self { opened, rows: Rows::new(&database)?, database })
    }
}

impl Loader for MemoryLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        self.rows.run(&self.database, sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        self.rows.insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.rows.connection.query_text(sql, each)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.rows.complete(&self.database)?;
        let Self { opened, database, .. } = *self;
        let old = opened.lock().unwrap_or_else(PoisonError::into_inner).memory.replace(database);
        drop(old);
        Ok(())
    }
}
