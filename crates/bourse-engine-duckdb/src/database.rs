//! An open database, and connections to it.
//!
//! DuckDB opens a file once in a process, and has locks only against other processes: opening a file again in this process
//! returns the same database.

use crate::error::words;
use crate::library::{DuckDbLibrary, LibraryHandle, SUCCESS};
use crate::options::DuckDbOptions;
use crate::row::ResultColumns;
use crate::statement::{DuckDbStatement, ResultRows, text_of};
use bourse_engine::{
    Commits, EachRow, EngineError, ErrorKind, FileUse, Interruptible, OpenFiles, Result, RowExt as _, WriterLock,
    locked,
};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Open database. It is closed when its last user drops it, which writes its log into it.
pub(crate) struct DuckDbDatabase {
    library: &'static DuckDbLibrary,
    raw: LibraryHandle,
    /// Number of the catalog that new connections use, and the last number given out; for a database in memory.
    current: Mutex<u64>,
    numbers: AtomicU64,
    /// Commits of changes.
    pub(crate) commits: Commits,
    pub(crate) writers: WriterLock,
    /// Open connections.
    connections: Mutex<Vec<LibraryHandle>>,
    is_memory: bool,
    _use: Option<FileUse>,
}

// SAFETY: the library lets any thread connect to a database, also concurrently.
unsafe impl Send for DuckDbDatabase {}
// SAFETY: as above.
unsafe impl Sync for DuckDbDatabase {}

/// Databases in files that this process has open, with their settings and whether they are read-only.
static OPEN: OpenFiles<(DuckDbOptions, bool), DuckDbDatabase> = OpenFiles::new();

impl DuckDbDatabase {
    /// Opens a database in memory.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn in_memory(library: &'static DuckDbLibrary, options: &DuckDbOptions) -> Result<Arc<Self>> {
        let database = Arc::new(Self::open(library, None, options, false)?);
        let first = database.new_catalog()?;
        database.set_current(first);
        Ok(database)
    }

    /// Opens the database in an existing file, read-only or for reading and writing.
    ///
    /// # Errors
    /// The library's; [`ErrorKind::Conflict`] if the file is open with other settings, or in another process.
    pub(crate) fn in_file(
        library: &'static DuckDbLibrary,
        path: &Path,
        options: &DuckDbOptions,
        for_reading: bool,
    ) -> Result<Arc<Self>> {
        OPEN.get(path, &(options.clone(), for_reading), || match locked_by(path).filter(|_| !for_reading) {
            Some(process) => {
                let path = path.display();
                let words = format!("{path} is open in process {process}, and DuckDB lets no other process in");
                Err(EngineError::new(ErrorKind::Conflict, words))
            }
            None => Self::open(library, Some(path), options, for_reading).map(Arc::new),
        })
    }

    /// Opens a file that no other session knows, such as one that is being loaded; makes it if it does not exist.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn alone(library: &'static DuckDbLibrary, path: &Path, options: &DuckDbOptions) -> Result<Arc<Self>> {
        Self::open(library, Some(path), options, false).map(Arc::new)
    }

    fn open(
        library: &'static DuckDbLibrary,
        path: Option<&Path>,
        options: &DuckDbOptions,
        for_reading: bool,
    ) -> Result<Self> {
        let api = &library.api;
        let mut settings = vec![
            // Nothing is fetched from elsewhere while it is measured.
            ("autoinstall_known_extensions", "false".to_owned()),
            ("autoload_known_extensions", "false".to_owned()),
        ];
        if path.is_none() {
            // Else it would make a folder where the program was started.
            settings.push(("temp_directory", String::new()));
        }
        if for_reading {
            settings.push(("access_mode", "READ_ONLY".to_owned()));
        }
        settings.extend(options.threads.map(|threads| ("threads", threads.to_string())));
        settings.extend(options.memory_bytes.map(|bytes| ("memory_limit", format!("{bytes}B"))));
        settings.extend(options.checkpoint_bytes.map(|bytes| ("checkpoint_threshold", format!("{bytes}B"))));
        let path_text = path.map(|path| text_of(&path.to_string_lossy())).transpose()?;
        let used = path.map(|path| FileUse::begin(path, "duckdb")).transpose()?;
        let settings: Vec<_> =
            settings.iter().map(|(name, value)| Ok((*name, text_of(name)?, text_of(value)?))).collect::<Result<_>>()?;
        let mut config = std::ptr::null_mut();
        let (mut raw, mut told) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: texts end in zero and live until this returns; the settings are destroyed once, and the library's error text
        // is freed after it was copied.
        unsafe {
            if (api.create_config)(&mut config) != SUCCESS {
                return Err(EngineError::new(ErrorKind::Other, "DuckDB cannot make its list of settings"));
            }
            let refused = settings
                .iter()
                .find(|(_, name, value)| (api.set_config)(config, name.as_ptr(), value.as_ptr()) != SUCCESS);
            let opened = match refused {
                Some((name, _, value)) => {
                    let words = format!("DuckDB refuses the setting {name} = {}", value.to_string_lossy());
                    Err(EngineError::new(ErrorKind::Other, words))
                }
                None => {
                    let path = path_text.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
                    match (api.open)(path, &mut raw, config, &mut told) {
                        SUCCESS => Ok(()),
                        _ => {
                            let words = words(told).lines().next().unwrap_or_default().to_owned();
                            // Something else was written over a file of Bourse's.
                            let is_other = words.contains("not a valid DuckDB database");
                            let kind = if is_other { ErrorKind::Refused } else { ErrorKind::Other };
                            Err(EngineError::new(kind, words))
                        }
                    }
                }
            };
            if !told.is_null() {
                (api.free)(told.cast());
            }
            (api.destroy_config)(&mut config);
            opened?;
        }
        Ok(Self {
            library,
            raw,
            current: Mutex::new(0),
            numbers: AtomicU64::new(0),
            commits: Commits::default(),
            writers: WriterLock::default(),
            connections: Mutex::default(),
            is_memory: path.is_none(),
            _use: used,
        })
    }

    pub(crate) fn library(&self) -> &'static DuckDbLibrary {
        self.library
    }

    /// Name of a catalog in memory, by its number.
    pub(crate) fn catalog(number: u64) -> String {
        format!("bourse_memory_{number}")
    }

    /// Makes an empty catalog in memory, and returns its number.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn new_catalog(self: &Arc<Self>) -> Result<u64> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let connection = DuckDbConnection::plain(self)?;
        connection.run(&format!("ATTACH ':memory:' AS {}", Self::catalog(number)))?;
        Ok(number)
    }

    /// Removes a catalog in memory.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn drop_catalog(self: &Arc<Self>, number: u64) -> Result<()> {
        DuckDbConnection::plain(self)?.run(&format!("DETACH {}", Self::catalog(number)))
    }

    /// Number of the catalog in memory that new connections use.
    pub(crate) fn current(&self) -> u64 {
        *locked(&self.current)
    }

    /// Makes new connections use another catalog; returns the previous one.
    pub(crate) fn set_current(&self, number: u64) -> u64 {
        std::mem::replace(&mut *locked(&self.current), number)
    }
}

impl Interruptible for DuckDbDatabase {
    fn interrupt_statements(&self) {
        for connection in locked(&self.connections).iter() {
            // SAFETY: a connection is taken out, which the lock forbids now, before it is closed.
            unsafe { (self.library.api.interrupt)(*connection) };
        }
    }
}

impl Drop for DuckDbDatabase {
    fn drop(&mut self) {
        // SAFETY: no connection is open any more, for each holds the database.
        unsafe { (self.library.api.close)(&mut self.raw) }
    }
}

/// Id of another process that has a file locked; `None` if no process has.
#[cfg(unix)]
fn locked_by(path: &Path) -> Option<i32> {
    use rustix::process::{Flock, FlockType, fcntl_getlk};
    let file = File::options().read(true).write(true).open(path).ok()?;
    let found = fcntl_getlk(&file, &Flock::from(FlockType::WriteLock)).ok()??;
    found.pid.map(|process| process.as_raw_nonzero().get())
}

#[cfg(not(unix))]
fn locked_by(_: &Path) -> Option<i32> {
    None
}

/// Connection, which holds its database open.
pub(crate) struct DuckDbConnection {
    database: Arc<DuckDbDatabase>,
    raw: LibraryHandle,
}

// SAFETY: the library lets any thread use a connection, and locks it while it is used.
unsafe impl Send for DuckDbConnection {}

impl DuckDbConnection {
    /// Opens a connection to the current catalog of the database.
    ///
    /// # Errors
    /// The library's.
    pub(crate) fn open(database: &Arc<DuckDbDatabase>) -> Result<Self> {
        let this = Self::plain(database)?;
        if database.is_memory {
            this.run(&format!("USE {}", DuckDbDatabase::catalog(database.current())))?;
        }
        Ok(this)
    }

    /// Opens a connection without choosing a catalog.
    fn plain(database: &Arc<DuckDbDatabase>) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the database is open, and there is a place for the connection.
        match unsafe { (database.library.api.connect)(database.raw, &mut raw) } {
            SUCCESS => {
                locked(&database.connections).push(raw);
                Ok(Self { database: Arc::clone(database), raw })
            }
            _ => Err(EngineError::new(ErrorKind::ConnectionLost, "DuckDB opens no connection to the database")),
        }
    }

    pub(crate) fn database(&self) -> &Arc<DuckDbDatabase> {
        &self.database
    }

    pub(crate) fn raw(&self) -> LibraryHandle {
        self.raw
    }

    /// Prepares a statement, which must be dropped before the connection.
    pub(crate) fn prepare(&self, sql: &str) -> Result<DuckDbStatement> {
        // SAFETY: the connection is open; those who keep statements keep them in front of it.
        unsafe { DuckDbStatement::prepare(&self.database.library.api, self.raw, sql) }
    }

    /// Runs statements without results.
    ///
    /// # Errors
    /// The library's, with the statements.
    pub(crate) fn run(&self, sql: &str) -> Result<()> {
        // SAFETY: the connection is open.
        let done = unsafe { ResultRows::of_text(&self.database.library.api, self.raw, sql) };
        done.map(drop).map_err(|e| e.with_statement(sql))
    }

    /// Runs a query.
    ///
    /// # Errors
    /// The library's, with the statement.
    pub(crate) fn query(&self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        // SAFETY: the connection is open.
        let rows = unsafe { ResultRows::of_text(&self.database.library.api, self.raw, sql) };
        rows.and_then(|mut rows| rows.each(&mut ResultColumns::default(), each)).map_err(|e| e.with_statement(sql))
    }

    /// Integer that a query returns.
    ///
    /// # Errors
    /// Those of [`DuckDbConnection::query`].
    pub(crate) fn number(&self, sql: &str) -> Result<i64> {
        let mut number = 0;
        self.query(sql, &mut |row| {
            number = row.get(0)?;
            Ok(())
        })?;
        Ok(number)
    }
}

impl Drop for DuckDbConnection {
    fn drop(&mut self) {
        locked(&self.database.connections).retain(|it| *it != self.raw);
        // SAFETY: the connection is this one's alone; what it has open is rolled back.
        unsafe { (self.database.library.api.disconnect)(&mut self.raw) }
    }
}
