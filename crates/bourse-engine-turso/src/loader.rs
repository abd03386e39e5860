//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::database::{Connection, Database};
use crate::dialect::DIALECT;
use crate::engine::OpenDatabase;
use crate::files::Counts;
use crate::options::{Journal, Options, Sync};
use crate::statement::{Rows, Statement};
use bourse_engine::{Batch, DatabaseFiles, EachRow, EngineError, Loader, Params, StagedLoad, unless_in_use};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use turso_core::MemoryIO;

/// Rows per transaction of a load: all rows in one would be in the log before any is in the database.
const ROWS_AT_ONCE: usize = 50_000;

/// Page cache while loading, unless the target asks for more.
const CACHE_BYTES: u64 = 256 << 20;

/// Settings of a load: one that fails is repeated from the start, so it syncs only once, at the end.
fn settings(options: Options) -> Options {
    Options {
        journal: Journal::Wal,
        sync: Sync::Off,
        // Parents may come after children that are generated with them; orphans are checked after the load.
        foreign_keys: false,
        cache_bytes: options.cache_bytes.max(CACHE_BYTES),
        ..options
    }
}

/// Rows being loaded.
struct Incoming {
    /// INSERT statements by their tables' names, with their texts; dropped before the connection.
    inserts: HashMap<&'static str, (Statement, String)>,
    /// Rows since the last commit.
    rows: usize,
    connection: Connection,
}

impl Incoming {
    fn new(database: &Arc<Database>) -> Result<Self, EngineError> {
        Ok(Self { inserts: HashMap::new(), rows: 0, connection: Connection::open(database)? })
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
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
            batch.with_row(index, &mut |values| done = statement.run(Params::of(values), Rows::All, |_| Ok(())));
            done.map_err(|e| e.with_statement(sql))?;
            self.rows += 1;
            if self.rows >= ROWS_AT_ONCE {
                self.settle()?;
            }
        }
        Ok(())
    }

    /// Commits the inserted rows: DDL and checks are transactions of their own.
    fn settle(&mut self) -> Result<&Connection, EngineError> {
        if std::mem::take(&mut self.rows) > 0 {
            self.connection.run("COMMIT")?;
        }
        Ok(&self.connection)
    }
}

/// Loader that builds `PATH.bourse-loading`, then renames it to PATH.
pub(crate) struct FileLoader {
    options: Options,
    counts: Counts,
    /// `None` once finished.
    incoming: Option<Incoming>,
    load: StagedLoad,
}

impl FileLoader {
    pub(crate) fn new(files: &DatabaseFiles, options: Options, counts: &Counts) -> Result<Self, EngineError> {
        let load = files.begin_load()?;
        let database = Database::alone(load.path(), settings(options), counts)?;
        let incoming = Some(Incoming::new(&database)?);
        Ok(Self { options, counts: counts.clone(), incoming, load })
    }

    fn incoming(&mut self) -> &mut Incoming {
        self.incoming.as_mut().expect("a finished loader is gone")
    }
}

impl Loader for FileLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        self.incoming().settle()?.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        self.incoming().insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.incoming().settle()?.query(sql, each)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        let mut incoming = self.incoming.take().expect("a finished loader is gone");
        incoming.settle()?.write_log()?;
        drop(incoming);
        let Self { options, counts, load, .. } = *self;
        // Opened for its lock.
        load.publish(|old| unless_in_use(Database::in_file(old, options, &counts)))
    }
}

/// Loader that builds a database of its own in memory, then gives it to new sessions.
pub(crate) struct MemoryLoader {
    opened: Arc<Mutex<OpenDatabase>>,
    options: Options,
    incoming: Incoming,
    files: Arc<MemoryIO>,
}

impl MemoryLoader {
    pub(crate) fn new(opened: Arc<Mutex<OpenDatabase>>, options: Options) -> Result<Self, EngineError> {
        let files = Arc::new(MemoryIO::new());
        let database = Database::in_memory(Arc::clone(&files), settings(options))?;
        Ok(Self { opened, options, incoming: Incoming::new(&database)?, files })
    }
}

impl Loader for MemoryLoader {
    fn run(&mut self, sql: &str) -> Result<(), EngineError> {
        self.incoming.settle()?.run(sql)
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<(), EngineError> {
        self.incoming.insert(batch)
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.incoming.settle()?.query(sql, each)
    }

    fn finish(self: Box<Self>) -> Result<(), EngineError> {
        let Self { opened, options, mut incoming, files } = *self;
        incoming.settle()?.write_log()?;
        drop(incoming);
        let database = Database::in_memory(files, options)?;
        database.set_journal()?;
        let old = opened.lock().unwrap_or_else(PoisonError::into_inner).memory.replace(database);
        drop(old);
        Ok(())
    }
}
