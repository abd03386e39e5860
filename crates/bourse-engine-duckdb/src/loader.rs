//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::append::Appender;
use crate::database::{Connection, Database, Place, in_use, is_open};
use crate::dialect::DIALECT;
use crate::library::Library;
use crate::mark::{COMPANIONS, TEMPLATE, look, put, side_file_kind};
use crate::options::Options;
use bourse_engine::{Batch, EachRow, EngineError, Loader, SideFile, SideFileKind, TargetFile, beside};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bourse's files next to a database, which a killed process leaves behind.
pub(crate) static LOADING: SideFileKind = side_file_kind(".bourse-loading", "a load");
pub(crate) static SNAPSHOT: SideFileKind = side_file_kind(".bourse-snapshot", "a snapshot");
pub(crate) static RESTORED: SideFileKind = side_file_kind(".bourse-restored", "restoring a snapshot");

static SIDE_FILES: [&SideFileKind; 3] = [&LOADING, &SNAPSHOT, &RESTORED];

/// Files that killed processes have left next to a database.
pub(crate) fn leftovers(path: &Path) -> Vec<PathBuf> {
    SIDE_FILES.iter().filter_map(|kind| SideFile::leftover(path, kind)).collect()
}

/// Makes an empty database with Bourse's mark at a free path or in place of an empty file.
///
/// # Errors
/// The library's, the system's.
pub(crate) fn create(library: &'static Library, path: &Path) -> Result<(), EngineError> {
    let side = SideFile::create(path, &LOADING)?;
    fill(library, &side)?;
    side.rename(path)
}

/// Fills a side file with an empty database that has Bourse's mark. DuckDB refuses an empty file, so the bytes are copied from
/// a database that it makes next to it.
fn fill(library: &'static Library, side: &SideFile) -> Result<(), EngineError> {
    let template = beside(side.path(), TEMPLATE);
    remove_if_there(&template)?;
    drop(Database::alone(library, &template, &Options::DEFAULT)?);
    let mut bytes = fs::read(&template).map_err(|e| EngineError::io("read", &template, &e))?;
    put(&mut bytes)?;
    side.file().write_all(&bytes).map_err(|e| EngineError::io("write", side.path(), &e))?;
    side.remove_companions();
    Ok(())
}

pub(crate) fn remove_if_there(path: &Path) -> Result<(), EngineError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(EngineError::io("remove", path, &e)),
        _ => Ok(()),
    }
}

/// Syncs the directory, so that a rename is durable.
fn sync_directory_of(path: &Path) -> Result<(), EngineError> {
    if cfg!(not(unix)) {
        // Elsewhere a directory cannot be opened as a file.
        return Ok(());
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|e| EngineError::io("sync", directory, &e))
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
    path: PathBuf,
    /// `None` once finished.
    rows: Option<Rows>,
    side: SideFile,
}

impl FileLoader {
    pub(crate) fn new(library: &'static Library, path: &Path, options: &Options) -> Result<Self, EngineError> {
        let (path, _) = look(path)?.to_open()?;
        for kind in SIDE_FILES {
            SideFile::remove_leftover(&path, kind);
        }
        let side = SideFile::create(&path, &LOADING)?;
        fill(library, &side)?;
        let database = Database::alone(library, side.path(), options)?;
        let rows = Some(Rows::new(Connection::open(&database)?, None));
        Ok(Self { library, options: options.clone(), path, rows, side })
    }

    fn rows(&mut self) -> &mut Rows {
        self.rows.as_mut().expect("a finished loader is gone")
    }

    /// Checks that no session has the old database open, and removes its log, which would be taken for the new one's.
    fn retire_old(&self) -> Result<(), EngineError> {
        if is_open(&self.path) {
            return Err(in_use(&self.path));
        }
        let (_, is_new) = look(&self.path)?.to_open()?;
        if !is_new {
            // Opened for its log, which goes into it, and for its lock. A damaged one may be replaced, one in use not.
            match Database::in_file(self.library, &self.path, &self.options, false) {
                Err(e) if e.kind() == bourse_engine::ErrorKind::Conflict => return Err(e),
                retired => drop(retired),
            }
        }
        remove_if_there(&beside(&self.path, COMPANIONS[0]))
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
        // The slow sync happens before the old database is touched.
        self.side.file().sync_all().map_err(|e| EngineError::io("sync", self.side.path(), &e))?;
        self.retire_old()?;
        sync_directory_of(&self.path)?;
        let Self { path, side, .. } = *self;
        side.rename(&path)?;
        sync_directory_of(&path)
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

/// Path of a target's database, with links followed; `None` for one in memory.
pub(crate) fn resolved(place: &Place) -> Option<PathBuf> {
    match place {
        Place::File(path) => Some(TargetFile::resolved(path)),
        Place::Memory => None,
    }
}
