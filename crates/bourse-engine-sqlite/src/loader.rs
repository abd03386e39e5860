//! Loading: a new database beside the old one, seen only when it is whole.

use crate::connection::{Connection, Source};
use crate::engine::{beside, io_error};
use crate::error::error;
use crate::ffi;
use crate::files;
use crate::lease::Lease;
use crate::options::{Journal, MemoryKind, Options};
use crate::queue::Place;
use crate::ram;
use crate::session::Shared;
use crate::statement::Statement;
use bourse_engine::{Batch, EachRow, EngineError, ErrorKind, Loader, Row};
use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Page cache while loading, unless the target asks for more: index pages that do not fit are written twice.
const CACHE_BYTES: u64 = 256 << 20;

/// What a file that is a SQLite database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Rows on their way in through one connection, in one transaction.
struct Rows {
    /// Dropped before the connection.
    inserts: HashMap<&'static str, (Statement, String)>,
    connection: Lease,
}

impl Rows {
    /// Opens a new database that nobody else sees, as fast to fill as can be.
    fn alone(source: &Source, options: &Options, shared: &Shared) -> Result<Self, EngineError> {
        let connection = Connection::open(source, options, &shared.waits)?;
        // A load that fails starts anew, so nothing is kept for undoing it and the disk is
        // waited for once, at the end.
        for pragma in ["journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"] {
            connection.run(&format!("PRAGMA {pragma}"))?;
        }
        connection.run(&format!("PRAGMA page_size = {}", options.page_size))?;
        connection.run(&format!("PRAGMA cache_size = -{}", options.cache_bytes.max(CACHE_BYTES) / 1_024))?;
        connection.run(&format!("PRAGMA ignore_check_constraints = {}", if options.checks { "OFF" } else { "ON" }))?;
        Self::begin(connection.into())
    }

    /// Opens the transaction that the whole load is.
    fn begin(connection: Lease) -> Result<Self, EngineError> {
        // Parents may come after children that are generated beside them; orphans are looked for after the load.
        connection.run("PRAGMA foreign_keys = OFF")?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        connection.run(&format!("PRAGMA threads = {threads}"))?;
        connection.run("BEGIN IMMEDIATE")?;
        Ok(Self { inserts: HashMap::new(), connection })
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        let table = batch.table();
        if !self.inserts.contains_key(table.name) {
            let sql = bourse_schema::insert(table, &bourse_schema::SQLITE);
            let (statement, _) =
                Statement::prepare(&self.connection, &sql, true).map_err(|e| e.with_statement(&sql))?;
            self.inserts.insert(table.name, (statement.expect("an INSERT is not blank"), sql));
        }
        let (statement, sql) = &self.inserts[table.name];
        for index in 0..batch.len() {
            let mut done = Ok(());
            batch.with_row(index, &mut |values| {
                done = statement.bind(&self.connection, values, &[]).and_then(|bound| match bound.step() {
                    ffi::SQLITE_DONE => Ok(()),
                    code => Err(self.connection.error(code)),
                });
            });
            done.map_err(|e| e.with_statement(sql))?;
        }
        Ok(())
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        let (statement, _) = Statement::prepare(&self.connection, sql, false).map_err(|e| e.with_statement(sql))?;
        let Some(statement) = statement else { return Ok(()) };
        statement.run_through(&self.connection, |row| each(row as &dyn Row)).map_err(|e| e.with_statement(sql))
    }

    /// Commits and closes.
    fn finish(self) -> Result<(), EngineError> {
        self.connection.run("COMMIT")
    }
}

/// Builds `PATH-loading`, then renames it over PATH.
pub(crate) struct FileLoader {
    path: PathBuf,
    /// `None` once finished.
    rows: Option<Rows>,
    work: WorkFile,
    options: Options,
    shared: Shared,
}

/// `PATH-loading`, ours by a lock as long as this lives; removed with what lies beside it unless it was renamed.
struct WorkFile {
    path: PathBuf,
    file: File,
    is_done: bool,
}

impl WorkFile {
    /// Takes the file, emptying what an earlier load left.
    fn take(path: PathBuf) -> Result<Self, EngineError> {
        let file = files::open_or_create(&path).map_err(|e| io_error("cannot create", &path, &e))?;
        let busy = || {
            error(ffi::SQLITE_BUSY, format!("{} is being written by another load of the same target", path.display()))
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy()),
            Err(TryLockError::Error(e)) => return Err(io_error("cannot lock", &path, &e)),
        }
        if !is_same_file(&file, &path) {
            // The other load finished between our open and our lock, and renamed the file that we now hold.
            return Err(busy());
        }
        files::set_len(&file, &path, 0).map_err(|e| io_error("cannot empty", &path, &e))?;
        let this = Self { path, file, is_done: false };
        this.remove_companions();
        Ok(this)
    }

    fn remove_companions(&self) {
        for suffix in ["-journal", "-wal", "-shm"] {
            // Usually there is none.
            let _ = files::remove(&beside(&self.path, suffix));
        }
    }
}

#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(named)) => (ours.dev(), ours.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_file(_: &File, path: &Path) -> bool {
    path.exists()
}

impl Drop for WorkFile {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = files::remove(&self.path);
            self.remove_companions();
        }
    }
}

impl FileLoader {
    pub(crate) fn new(path: &Path, options: Options, shared: &Shared) -> Result<Self, EngineError> {
        refuse_foreign(path)?;
        let work = WorkFile::take(beside(path, "-loading"))?;
        let rows = Some(Rows::alone(&Source::file(&work.path, true)?, &options, shared)?);
        Ok(Self { path: path.to_owned(), rows, work, options, shared: shared.clone() })
    }

    fn rows(&mut self) -> &mut Rows {
        self.rows.as_mut().expect("a finished loader is gone")
    }

    /// Brings the database that is replaced into one file, so that no log or journal of it is left to be taken for the
    /// new one's; refuses if somebody is using it.
    fn retire_old(&self) -> Result<(), EngineError> {
        match fs::metadata(&self.path) {
            Ok(found) if found.len() > 0 => {
                let options =
                    Options { busy_timeout: self.options.busy_timeout.min(Duration::from_secs(1)), ..self.options };
                let retired = Connection::open(&Source::file(&self.path, false)?, &options, &self.shared.waits)
                    .and_then(|old| {
                        old.set_journal("delete")?;
                        // Of a database whose journal is deleted already, this takes the locks that tell of its users.
                        old.run("BEGIN EXCLUSIVE; ROLLBACK")
                    });
                match retired {
                    // A ruined database may be replaced, and its remains go with it.
                    Err(e) if e.kind() != ErrorKind::ConnectionLost => Err(EngineError::new(
                        e.kind(),
                        format!("cannot replace {}, is it in use? {}", self.path.display(), e.message()),
                    )
                    .with_code(e.code().unwrap_or_default())),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

impl Loader for FileLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        self.rows().connection.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        self.rows().insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.rows().query(sql, each)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.rows.take().expect("a finished loader is gone").finish()?;
        if self.options.journal == Journal::Wal {
            // The one mode that is kept in the file; closing checkpoints the log and removes it.
            let connection =
                Connection::open(&Source::file(&self.work.path, false)?, &self.options, &self.shared.waits)?;
            connection.run("PRAGMA synchronous = OFF")?;
            connection.set_journal(self.options.journal.word())?;
        }
        files::sync(&self.work.file, &self.work.path)
            .map_err(|e| io_error("cannot make durable", &self.work.path, &e))?;
        self.retire_old()?;
        for suffix in ["-journal", "-wal", "-shm"] {
            remove_if_there(&beside(&self.path, suffix))?;
        }
        files::rename(&self.work.path, &self.path).map_err(|e| io_error("cannot replace", &self.path, &e))?;
        self.work.is_done = true;
        files::sync_directory_of(&self.path)
            .map_err(|e| io_error("cannot make durable the directory of", &self.path, &e))
    }
}

/// A file that is there and is no database is somebody's; it is not for us to replace.
fn refuse_foreign(path: &Path) -> Result<(), EngineError> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    match read {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(io_error("cannot read", path, &e)),
        Ok(_) if start.is_empty() || start == MAGIC => Ok(()),
        Ok(_) => Err(error(
            ffi::SQLITE_NOTADB,
            format!("{} is there and is no SQLite database: it will not be replaced", path.display()),
        )),
    }
}

fn remove_if_there(path: &Path) -> Result<(), EngineError> {
    match files::remove(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(io_error("cannot remove", path, &e)),
        _ => Ok(()),
    }
}

/// Loads straight into the database that sessions see, in one transaction of which they see nothing before its end.
pub(crate) struct MemoryLoader {
    rows: Rows,
    kind: MemoryKind,
    /// Sessions that write wait; given back after the connection is closed.
    _place: Option<Place>,
}

impl MemoryLoader {
    pub(crate) fn new(connection: Lease, kind: MemoryKind, shared: &Shared) -> Result<Self, EngineError> {
        let place = match &shared.queue {
            None => None,
            Some(queue) => Some(queue.take(shared.busy_timeout, &shared.waits).ok_or_else(|| {
                error(ffi::SQLITE_BUSY, format!("a session has been writing for {:?}", shared.busy_timeout))
            })?),
        };
        let mut rows = Rows::begin(connection)?;
        let mut tables = Vec::new();
        rows.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", &mut |row| {
            if let bourse_engine::Value::Text(name) = row.value(0) {
                tables.push(name.replace('"', "\"\""));
            }
            Ok(())
        })?;
        for table in tables {
            rows.connection.run(&format!("DROP TABLE \"{table}\""))?;
        }
        Ok(Self { rows, kind, _place: place })
    }

    /// Says what to do about an image that is full.
    fn hint<T>(&self, result: Result<T, EngineError>) -> Result<T, EngineError> {
        result.map_err(|e| {
            if e.kind() != ErrorKind::Full || self.kind != MemoryKind::MemDb {
                return e;
            }
            let hint = error(ffi::SQLITE_FULL, "memory=memdb holds at most 2 GiB; memory=ram, the default, holds more");
            hint.with_statement(e.statement().unwrap_or_default())
        })
    }
}

impl Loader for MemoryLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        let done = self.rows.connection.run(sql);
        self.hint(done)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        let done = self.rows.insert(batch);
        self.hint(done)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.rows.query(sql, each)
    }

    fn finish(self: Box<Self>) -> Result<(), EngineError> {
        self.rows.finish()
    }
}

/// Builds a database of its own in our file system in memory, then gives it the other's name.
pub(crate) struct RamLoader {
    rows: Option<Rows>,
    name: String,
    building: String,
    options: Options,
    shared: Shared,
}

impl RamLoader {
    pub(crate) fn new(name: &str, options: Options, shared: &Shared) -> Result<Self, EngineError> {
        ram::register();
        let building = format!("{name}-loading");
        ram::forget(&building);
        let source = Source::uri(&format!("file:{building}?vfs=bourse-ram"), false);
        let rows = Some(Rows::alone(&source, &options, shared)?);
        Ok(Self { rows, name: name.to_owned(), building, options, shared: shared.clone() })
    }

    fn rows(&mut self) -> &mut Rows {
        self.rows.as_mut().expect("a finished loader is gone")
    }
}

impl Loader for RamLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        self.rows().connection.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        self.rows().insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.rows().query(sql, each)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.rows.take().expect("a loader is finished once").finish()?;
        let source = Source::uri(&format!("file:{}?vfs=bourse-ram", self.building), false);
        Connection::open(&source, &self.options, &self.shared.waits)?.set_journal(self.options.journal.word())?;
        ram::rename(&self.building, &self.name);
        Ok(())
    }
}

impl Drop for RamLoader {
    fn drop(&mut self) {
        self.rows = None;
        ram::forget(&self.building);
    }
}
