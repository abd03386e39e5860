//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::database::{TursoConnection, TursoDatabase, as_text};
use crate::dialect::DIALECT;
use crate::files::{FileCounts, rows_log};
use crate::options::{TursoJournal, TursoOptions, TursoSync};
use crate::statement::{self, TursoStatement};
use bourse_engine::{
    Batch, DatabaseFiles, EachRow, IncomingRows, Loader, Params, Result, SharedDatabase, rows_loader, unless_in_use,
};
use std::collections::HashMap;
use std::sync::Arc;
use turso_core::MemoryIO;

/// Rows per transaction of a load: all rows in one would be in the log before any is in the database.
const ROWS_AT_ONCE: usize = 50_000;

/// Page cache while loading, unless the target asks for more.
const CACHE_BYTES: u64 = 256 << 20;

/// Options during a load. A load that fails starts over, so nothing needs to be synced before its end.
fn settings(options: TursoOptions) -> TursoOptions {
    TursoOptions {
        journal: TursoJournal::Wal,
        sync: TursoSync::Off,
        // Parents may come after children that are generated with them; orphans are checked after the load.
        foreign_keys: false,
        cache_bytes: options.cache_bytes.max(CACHE_BYTES),
        ..options
    }
}

/// Rows being loaded.
struct TursoRows {
    /// INSERT statements by their tables' names, with their texts; dropped before the connection.
    inserts: HashMap<&'static str, (TursoStatement, String)>,
    /// Rows since the last commit.
    rows: usize,
    connection: TursoConnection,
}

impl TursoRows {
    fn new(database: &Arc<TursoDatabase>) -> Result<Self> {
        Ok(Self { inserts: HashMap::new(), rows: 0, connection: TursoConnection::open(database)? })
    }

    /// Commits the inserted rows: DDL and checks are transactions of their own.
    fn settle(&mut self) -> Result<&TursoConnection> {
        if std::mem::take(&mut self.rows) > 0 {
            self.connection.run("COMMIT")?;
        }
        Ok(&self.connection)
    }

    /// Commits the inserted rows, writes the log into the database, and closes it.
    fn complete(mut self) -> Result<()> {
        self.settle()?.write_log()
    }
}

impl IncomingRows for TursoRows {
    fn run(&mut self, sql: &str) -> Result<()> {
        self.settle()?.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        let table = batch.table();
        if !self.inserts.contains_key(table.name) {
            let sql = bourse_schema::insert(table, &DIALECT);
            self.inserts.insert(table.name, (self.connection.prepare(&sql)?, sql));
        }
        for index in 0..batch.len() {
            if self.rows == 0 {
                self.connection.run("BEGIN IMMEDIATE")?;
            }
            let (statement, sql) = self.inserts.get_mut(table.name).expect("prepared just before");
            let mut done = Ok(0);
            batch.with_row(index, &mut |values| {
                done = statement.run(Params::of(values), statement::WantedRows::All, |_| Ok(()))
            });
            done.map_err(|e| e.with_statement(sql))?;
            self.rows += 1;
            if self.rows >= ROWS_AT_ONCE {
                self.settle()?;
            }
        }
        Ok(())
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.settle()?.query(sql, each)
    }
}

/// Loader that builds `PATH.bourse-loading`, then renames it to PATH.
pub(crate) fn file_loader(files: &DatabaseFiles, options: TursoOptions, counts: FileCounts) -> Result<Box<dyn Loader>> {
    rows_log(&as_text(files.path())?)?;
    let load = files.begin_load()?;
    let rows = TursoRows::new(&TursoDatabase::alone(load.path(), settings(options), &counts)?)?;
    Ok(rows_loader(rows, move |rows| {
        rows.complete()?;
        // Opened for its lock.
        load.publish(|old| unless_in_use(TursoDatabase::in_file(old, options, &counts)))
    }))
}

/// Loader that builds a database of its own in memory, then gives it to new sessions.
pub(crate) fn memory_loader(opened: SharedDatabase<TursoDatabase>, options: TursoOptions) -> Result<Box<dyn Loader>> {
    let files = Arc::new(MemoryIO::new());
    let rows = TursoRows::new(&TursoDatabase::in_memory(Arc::clone(&files), settings(options))?)?;
    Ok(rows_loader(rows, move |rows| {
        rows.complete()?;
        let database = TursoDatabase::in_memory(files, options)?;
        database.set_journal()?;
        opened.replace(database);
        Ok(())
    }))
}
