//! Loading: a new database next to the old one, visible only when it is complete.

use crate::connection::SqliteConnection;
use crate::error::error;
use crate::ffi;
use crate::memvfs;
use crate::options::{MemoryKind, SqliteJournal, SqliteOptions};
use crate::queue::WriterLock;
use crate::session::SharedEngine;
use crate::shared_connection::LentConnection;
use crate::source::SqliteSource;
use crate::statement::SqliteStatement;
use bourse_engine::{
    Batch, DatabaseFiles, EachRow, EngineError, ErrorKind, IncomingRows, Loader, Params, Result, rows_loader,
};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// Minimal page cache while loading: index pages that do not fit are written twice.
pub(crate) const CACHE_BYTES: u64 = 256 << 20;

/// Insertion of rows through one connection, in one transaction.
pub(crate) struct RowInsertion {
    /// Prepared inserts; dropped before the connection.
    inserts: HashMap<&'static str, (SqliteStatement, String)>,
    connection: LentConnection,
    /// Previous value of the pragma `foreign_keys`: a session may get this connection.
    foreign_keys: String,
}

impl RowInsertion {
    /// Opens a new database that is invisible to others, with the fastest settings for filling it.
    pub(crate) fn alone(source: &SqliteSource, options: &SqliteOptions, shared: &SharedEngine) -> Result<Self> {
        let connection = SqliteConnection::open(source, options, &shared.waits)?;
        // A load that fails starts anew, so nothing is kept for undoing it and the disk is
        // waited for once, at the end.
        for pragma in ["journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"] {
            connection.run(&format!("PRAGMA {pragma}"))?;
        }
        connection.set_page_size(options)?;
        connection.set_cache(options.cache_bytes.max(CACHE_BYTES), options)?;
        connection.run(&format!("PRAGMA ignore_check_constraints = {}", if options.checks { "OFF" } else { "ON" }))?;
        shared.confine(&connection)?;
        Self::begin(connection.into())
    }

    /// Begins the one transaction of the load.
    fn begin(connection: LentConnection) -> Result<Self> {
        // Parents may come after children that are generated beside them; orphans are looked for after the load.
        let foreign_keys = connection.text_of("PRAGMA foreign_keys")?;
        connection.run("PRAGMA foreign_keys = OFF")?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        connection.run(&format!("PRAGMA threads = {threads}"))?;
        connection.run("BEGIN IMMEDIATE")?;
        Ok(Self { inserts: HashMap::new(), connection, foreign_keys })
    }

    /// Commits and closes the connection.
    pub(crate) fn finish(self) -> Result<()> {
        self.connection.run("COMMIT")?;
        // A library that was compiled without foreign keys tells nothing.
        match self.foreign_keys.as_str() {
            "" => Ok(()),
            before => self.connection.run(&format!("PRAGMA foreign_keys = {before}")),
        }
    }
}

impl IncomingRows for RowInsertion {
    fn run(&mut self, sql: &str) -> Result<()> {
        self.connection.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        let table = batch.table();
        if !self.inserts.contains_key(table.name) {
            let sql = bourse_schema::insert(table, &bourse_schema::SQLITE);
            let (statement, _) =
                SqliteStatement::prepare(&self.connection, &sql, true).map_err(|e| e.with_statement(&sql))?;
            self.inserts.insert(table.name, (statement.expect("an INSERT is not blank"), sql));
        }
        let (statement, sql) = &self.inserts[table.name];
        for index in 0..batch.len() {
            let mut done = Ok(());
            batch.with_row(index, &mut |values| {
                done = statement.bind(&self.connection, Params::of(values)).and_then(|mut bound| match bound.step() {
                    ffi::SQLITE_DONE => Ok(()),
                    code => Err(self.connection.error(code)),
                });
            });
            done.map_err(|e| e.with_statement(sql))?;
        }
        Ok(())
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.connection.query(sql, |row| each(row))
    }
}

/// Loader that builds `PATH.bourse-loading`, then renames it over PATH.
pub(crate) fn file_loader(
    files: &DatabaseFiles,
    options: SqliteOptions,
    shared: SharedEngine,
) -> Result<Box<dyn Loader>> {
    let load = files.begin_load()?;
    let rows = RowInsertion::alone(&SqliteSource::file(shared.library, load.path(), true)?, &options, &shared)?;
    Ok(rows_loader(rows, move |rows| {
        rows.finish()?;
        if options.journal == SqliteJournal::Wal {
            // The one mode that is kept in the file; closing checkpoints the log and removes it.
            let source = SqliteSource::file(shared.library, load.path(), false)?;
            let connection = SqliteConnection::open(&source, &options, &shared.waits)?;
            connection.run("PRAGMA synchronous = OFF")?;
            connection.set_journal(options.journal.word())?;
        }
        load.publish(|old| retire(old, &options, &shared))
    }))
}

/// Reduces a database that is replaced to one file, so that none of its logs or journals can be mistaken for the new one's;
/// fails if it is in use.
fn retire(path: &Path, options: &SqliteOptions, shared: &SharedEngine) -> Result<()> {
    let options = SqliteOptions { busy_timeout: options.busy_timeout.min(Duration::from_secs(1)), ..*options };
    let source = SqliteSource::file(shared.library, path, false)?;
    let retired = SqliteConnection::open(&source, &options, &shared.waits).and_then(|old| {
        old.set_journal("delete")?;
        // Of a database whose journal is deleted already, this takes the locks that show its users.
        old.run("BEGIN EXCLUSIVE; ROLLBACK")
    });
    match retired {
        // A corrupted database may be replaced, and what is left of it goes with it.
        Err(e) if e.kind() != ErrorKind::ConnectionLost => {
            Err(e.during(format_args!("cannot replace {}, which may be in use", path.display())))
        }
        _ => Ok(()),
    }
}

/// Rows that are loaded directly into the database that sessions see, in one transaction, of which they see nothing before its
/// end.
struct VisibleLoad {
    rows: RowInsertion,
    kind: MemoryKind,
    /// Writer lock, released after the connection is closed; writing sessions wait for it.
    _place: Option<WriterLock>,
}

impl VisibleLoad {
    /// Adds advice to the error of a full image.
    fn hint(&self, e: EngineError) -> EngineError {
        if e.kind() != ErrorKind::Full || self.kind != MemoryKind::MemDb {
            return e;
        }
        let hint = error(ffi::SQLITE_FULL, "memory=memdb holds at most 2 GiB; memory=ram, the default, holds more");
        hint.with_statement(e.statement().unwrap_or_default())
    }
}

impl IncomingRows for VisibleLoad {
    fn run(&mut self, sql: &str) -> Result<()> {
        self.rows.run(sql).map_err(|e| self.hint(e))
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        self.rows.insert(batch).map_err(|e| self.hint(e))
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.rows.query(sql, each)
    }
}

/// Loader into the database in memory that sessions see, through a connection to it.
pub(crate) fn memory_loader(
    connection: LentConnection,
    kind: MemoryKind,
    shared: &SharedEngine,
) -> Result<Box<dyn Loader>> {
    let place = match &shared.queue {
        None => None,
        Some(queue) => Some(queue.take(shared.busy_timeout, &shared.waits).ok_or_else(|| {
            error(ffi::SQLITE_BUSY, format!("a session has been writing for {:?}", shared.busy_timeout))
        })?),
    };
    let mut rows = RowInsertion::begin(connection)?;
    let mut tables = Vec::new();
    rows.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", &mut |row| {
        if let bourse_engine::Value::Text(name) = row.value(0) {
            tables.push(name.replace('"', "\"\""));
        }
        Ok(())
    })?;
    for table in tables {
        rows.run(&format!("DROP TABLE \"{table}\""))?;
    }
    Ok(rows_loader(VisibleLoad { rows, kind, _place: place }, |visible| visible.rows.finish()))
}

/// Database being built in Bourse's file system in memory, which is removed with this.
struct BuildingDatabase(String);

impl Drop for BuildingDatabase {
    fn drop(&mut self) {
        memvfs::forget(&self.0);
    }
}

/// Loader that builds a separate database in Bourse's file system in memory, then gives it the other's name.
pub(crate) fn ram_loader(name: String, options: SqliteOptions, shared: SharedEngine) -> Result<Box<dyn Loader>> {
    memvfs::register(shared.library);
    let building = BuildingDatabase(format!("{name}-loading"));
    memvfs::forget(&building.0);
    let source = SqliteSource::uri(shared.library, &format!("file:{}?vfs=bourse-ram", building.0), false);
    let rows = RowInsertion::alone(&source, &options, &shared)?;
    Ok(rows_loader(rows, move |rows| {
        rows.finish()?;
        SqliteConnection::open(&source, &options, &shared.waits)?.set_journal(options.journal.word())?;
        memvfs::rename(&building.0, &name);
        Ok(())
    }))
}
