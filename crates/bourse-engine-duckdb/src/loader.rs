//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::append::Appender;
use crate::database::{DuckDbConnection, DuckDbDatabase};
use crate::dialect::DIALECT;
use crate::library::DuckDbLibrary;
use crate::options::DuckDbOptions;
use bourse_engine::{
    Batch, DatabaseFiles, EachRow, EngineError, IncomingRows, Loader, Result, rows_loader, unless_in_use,
};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Makes an empty database for [`DatabaseFiles`], since DuckDB refuses an empty file.
pub(crate) fn template(library: &'static DuckDbLibrary) -> impl FnOnce(&Path) -> Result<()> {
    move |path| DuckDbDatabase::alone(library, path, &DuckDbOptions::DEFAULT).map(drop)
}

/// Rows being loaded: consecutive batches of rows are one transaction.
struct DuckDbRows {
    appenders: HashMap<&'static str, Appender>,
    is_in_transaction: bool,
    /// Catalog that is loaded into; `None` for a file.
    catalog: Option<String>,
    /// Dropped after the appenders.
    connection: DuckDbConnection,
}

impl DuckDbRows {
    fn new(connection: DuckDbConnection, catalog: Option<String>) -> Self {
        Self { appenders: HashMap::new(), is_in_transaction: false, catalog, connection }
    }

    /// Commits the inserted rows, so that DDL and checks see them.
    fn settle(&mut self) -> Result<&DuckDbConnection> {
        self.appenders.clear();
        if std::mem::take(&mut self.is_in_transaction) {
            self.connection.run("COMMIT")?;
        }
        Ok(&self.connection)
    }
}

impl IncomingRows for DuckDbRows {
    fn run(&mut self, sql: &str) -> Result<()> {
        self.settle()?.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        let table = batch.table();
        let named = |e: EngineError| e.with_statement(&bourse_schema::insert(table, &DIALECT));
        if !std::mem::replace(&mut self.is_in_transaction, true) {
            self.connection.run("BEGIN")?;
        }
        if !self.appenders.contains_key(table.name) {
            let appender = Appender::new(&self.connection, self.catalog.as_deref(), table.name).map_err(named)?;
            self.appenders.insert(table.name, appender);
        }
        self.appenders.get_mut(table.name).expect("made just before").append(batch).map_err(named)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.settle()?.query(sql, each)
    }
}

/// Loader that builds `PATH.bourse-loading`, then renames it to PATH.
pub(crate) fn file_loader(
    library: &'static DuckDbLibrary,
    files: &DatabaseFiles,
    options: DuckDbOptions,
) -> Result<Box<dyn Loader>> {
    let load = files.begin_load_with(template(library))?;
    let database = DuckDbDatabase::alone(library, load.path(), &options)?;
    let rows = DuckDbRows::new(DuckDbConnection::open(&database)?, None);
    drop(database);
    Ok(rows_loader(rows, move |mut rows| {
        rows.settle()?.run("CHECKPOINT")?;
        // The last connection, and so the database: what is still in its log goes into it.
        drop(rows);
        // Opened for its log, which goes into it, and for its lock.
        load.publish(|old| unless_in_use(DuckDbDatabase::in_file(library, old, &options, false)))
    }))
}

/// Catalog in memory that is dropped with this. It cannot be seen any more; what of it stays is memory, until the database is
/// closed.
struct ScratchCatalog {
    database: Arc<DuckDbDatabase>,
    number: u64,
}

impl ScratchCatalog {
    /// Makes it the current one; the old one is dropped in its place.
    fn publish(&mut self) {
        self.number = self.database.set_current(self.number);
    }
}

impl Drop for ScratchCatalog {
    fn drop(&mut self) {
        let _ = self.database.drop_catalog(self.number);
    }
}

/// Loader that builds a catalog of its own in memory, then gives it to new sessions.
pub(crate) fn memory_loader(database: Arc<DuckDbDatabase>) -> Result<Box<dyn Loader>> {
    let mut catalog = ScratchCatalog { number: database.new_catalog()?, database };
    let connection = DuckDbConnection::open(&catalog.database)?;
    let name = DuckDbDatabase::catalog(catalog.number);
    connection.run(&format!("USE {name}"))?;
    Ok(rows_loader(DuckDbRows::new(connection, Some(name)), move |mut rows| {
        rows.settle()?;
        drop(rows);
        catalog.publish();
        Ok(())
    }))
}
