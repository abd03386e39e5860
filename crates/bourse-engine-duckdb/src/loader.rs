//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::append::Appender;
use crate::database::{Connection, Database};
use crate::dialect::DIALECT;
use crate::library::Library;
use crate::options::Options;
use bourse_engine::{Batch, DatabaseFiles, EachRow, EngineError, Loader, StagedLoad, unless_in_use};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Makes an empty database for [`DatabaseFiles`], since DuckDB refuses an empty file.
pub(crate) fn template(library: &'static Library) -> impl FnOnce(&Path) -> Result<(), EngineError> {
    move |path| Database::alone(library, path, &Options::DEFAULT).map(drop)
}

/// Rows being loaded: consecutive batches of rows are one transaction.
struct Rows {
    appenders: HashMap<&'static str, Appender>,
    is_in_transaction: bool,
    /// Catalog that is loaded into; `None` for a file.
    catalog: Option<String>,
    /// Dropped after the appenders.
    connection: Connection,
}

impl Rows {
    fn new(connection: Connection, catalog: Option<String>) -> Self {
        Self { appenders: HashMap::new(), is_in_transaction: false, catalog, connection }
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
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

    /// Commits the inserted rows, so that DDL and checks see them.
    fn settle(&mut self) -> Result<&Connection, EngineError> {
        self.appenders.clear();
        if std::mem::take(&mut self.is_in_transaction) {
            self.connection.run("COMMIT")?;
        }
        Ok(&self.connection)
    }
}

/// Loader that builds `PATH.bourse-loading`, then renames it to PATH.
pub(crate) struct FileLoader {
    library: &'static Library,
    options: Options,
    /// `None` once finished.
    rows: Option<Rows>,
    load: StagedLoad,
}

impl FileLoader {
    pub(crate) fn new(
        library: &'static Library,
        files: &DatabaseFiles,
        options: &Options,
    ) -> Result<Self, EngineError> {
        let load = files.begin_load_with(template(library))?;
        let database = Database::alone(library, load.path(), options)?;
        let rows = Some(Rows::new(Connection::open(&database)?, None));
        Ok(Self { library, options: options.clone(), rows, load })
    }

    fn rows(&mut self) -> &mut Rows {
        self.rows.as_mut().expect("a finished loader is gone")
    }
}

impl Loader for FileLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        self.rows().settle()?.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        self.rows().insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.rows().settle()?.query(sql, each)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        let mut rows = self.rows.take().expect("a finished loader is gone");
        rows.settle()?.run("CHECKPOINT")?;
        // The last connection, and so the database: what is still in its log goes into it.
        drop(rows);
        let Self { library, options, load, .. } = *self;
        // Opened for its log, which goes into it, and for its lock.
        load.publish(|old| unless_in_use(Database::in_file(library, old, &options, false)))
    }
}

/// Loader that builds a catalog of its own in memory, then gives it to new sessions.
pub(crate) struct MemoryLoader {
    database: Arc<Database>,
    number: u64,
    /// `None` once finished.
    rows: Option<Rows>,
}

impl MemoryLoader {
    pub(crate) fn new(database: Arc<Database>) -> Result<Self, EngineError> {
        let number = database.new_catalog()?;
        let mut this = Self { database, number, rows: None };
        let connection = Connection::open(&this.database)?;
        let catalog = Database::catalog(number);
        connection.run(&format!("USE {catalog}"))?;
        this.rows = Some(Rows::new(connection, Some(catalog)));
        Ok(this)
    }

    fn rows(&mut self) -> &mut Rows {
        self.rows.as_mut().expect("a finished loader is gone")
    }
}

impl Loader for MemoryLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        self.rows().settle()?.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        self.rows().insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.rows().settle()?.query(sql, each)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.rows().settle()?;
        self.rows = None;
        // The catalog dropped with this loader is the old one.
        self.number = self.database.set_current(self.number);
        Ok(())
    }
}

impl Drop for MemoryLoader {
    fn drop(&mut self) {
        self.rows = None;
        // It cannot be seen any more; what of it stays is memory, until the database is closed.
        let _ = self.database.drop_catalog(self.number);
    }
}
