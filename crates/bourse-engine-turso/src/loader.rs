//! Loading: a new database is built next to the old one and becomes visible only when it is complete.

use crate::database::{Connection, Database, in_use, is_open, is_whole};
use crate::dialect::DIALECT;
use crate::engine::Kept;
use crate::files::Counts;
use crate::mark::{COMPANIONS, look, side_file_kind};
use crate::options::{Journal, Options, Sync};
use crate::statement::{Rows, Statement};
use bourse_engine::{
    Batch, EachRow, EngineError, ErrorKind, Loader, Params, SideFile, SideFileKind, TargetFile, beside, folder_of,
    sync_names,
};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use turso_core::MemoryIO;

/// Bourse's files next to a database, which a killed process leaves behind.
pub(crate) static LOADING: SideFileKind = side_file_kind(".bourse-loading", "a load");
pub(crate) static SNAPSHOT: SideFileKind = side_file_kind(".bourse-snapshot", "a snapshot");
pub(crate) static RESTORED: SideFileKind = side_file_kind(".bourse-restored", "restoring a snapshot");

static SIDE_FILES: [&SideFileKind; 3] = [&LOADING, &SNAPSHOT, &RESTORED];

/// Rows per transaction of a load: all rows in one would be in the log before any is in the database.
const ROWS_AT_ONCE: usize = 50_000;

/// Page cache while loading, unless the target asks for more.
const CACHE_BYTES: u64 = 256 << 20;

/// Files that killed processes have left next to a database.
pub(crate) fn leftovers(path: &Path) -> Vec<PathBuf> {
    SIDE_FILES.iter().filter_map(|kind| SideFile::leftover(path, kind)).collect()
}

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

/// Makes an empty database with Bourse's mark at a free path or in place of an empty file.
///
/// # Errors
/// Turso's, the system's.
pub(crate) fn create(path: &Path, counts: &Counts) -> Result<(), EngineError> {
    let side = SideFile::create(path, &LOADING)?;
    Connection::plain(&Database::alone(side.path(), Options::DEFAULT, counts)?)?.mark()?;
    finish(&side)?;
    side.rename(path)
}

/// Checks that a database which was just closed is completely in its file, and removes its empty logs.
fn finish(side: &SideFile) -> Result<(), EngineError> {
    if !is_whole(side.path()) {
        let words = format!("Turso has closed {} and left a part of it in its log", side.path().display());
        return Err(EngineError::new(ErrorKind::Other, words));
    }
    side.remove_companions();
    Ok(())
}

pub(crate) fn remove_if_there(path: &Path) -> Result<(), EngineError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(EngineError::io("remove", path, &e)),
        _ => Ok(()),
    }
}

/// Removes the logs of a database whose file is about to be replaced.
pub(crate) fn remove_logs(path: &Path) -> Result<(), EngineError> {
    COMPANIONS.iter().try_for_each(|suffix| remove_if_there(&beside(path, suffix)))
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
    path: PathBuf,
    options: Options,
    counts: Counts,
    /// `None` once finished.
    incoming: Option<Incoming>,
    side: SideFile,
}

impl FileLoader {
    pub(crate) fn new(path: &Path, options: Options, counts: &Counts) -> Result<Self, EngineError> {
        let (path, _) = look(path)?.to_open()?;
        for kind in SIDE_FILES {
            SideFile::remove_leftover(&path, kind);
        }
        let side = SideFile::create(&path, &LOADING)?;
        let database = Database::alone(side.path(), settings(options), counts)?;
        let incoming = Incoming::new(&database)?;
        // Written first, so that a load that is killed leaves a file known as Bourse's.
        incoming.connection.mark()?;
        Ok(Self { path, options, counts: counts.clone(), incoming: Some(incoming), side })
    }

    fn incoming(&mut self) -> &mut Incoming {
        self.incoming.as_mut().expect("a finished loader is gone")
    }

    /// Checks that no session has the old database open, and removes its log, which would be taken for the new one's.
    fn retire_old(&self) -> Result<(), EngineError> {
        if is_open(&self.path) {
            return Err(in_use(&self.path));
        }
        if let (_, false) = look(&self.path)?.to_open()? {
            // Opened for its lock. A damaged one may be replaced, one in use not.
            match Database::in_file(&self.path, self.options, &self.counts) {
                Err(e) if e.kind() == ErrorKind::Conflict => return Err(e),
                retired => drop(retired),
            }
        }
        remove_logs(&self.path)
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
        finish(&self.side)?;
        // The slow sync happens before the old database is touched.
        self.side.file().sync_all().map_err(|e| EngineError::io("sync", self.side.path(), &e))?;
        self.retire_old()?;
        let folder = folder_of(&self.path).unwrap_or_else(|| PathBuf::from("."));
        sync_names(&folder)?;
        let Self { path, side, .. } = *self;
        side.rename(&path)?;
        sync_names(&folder)
    }
}

/// Loader that builds a database of its own in memory, then gives it to new sessions.
pub(crate) struct MemoryLoader {
    kept: Arc<Mutex<Kept>>,
    options: Options,
    incoming: Incoming,
    files: Arc<MemoryIO>,
}

impl MemoryLoader {
    pub(crate) fn new(kept: Arc<Mutex<Kept>>, options: Options) -> Result<Self, EngineError> {
        let files = Arc::new(MemoryIO::new());
        let database = Database::in_memory(Arc::clone(&files), settings(options))?;
        Ok(Self { kept, options, incoming: Incoming::new(&database)?, files })
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
        let Self { kept, options, mut incoming, files } = *self;
        incoming.settle()?.write_log()?;
        drop(incoming);
        let database = Database::in_memory(files, options)?;
        database.set_journal()?;
        let old = kept.lock().unwrap_or_else(PoisonError::into_inner).memory.replace(database);
        drop(old);
        Ok(())
    }
}

/// Path with links followed.
pub(crate) fn resolved(path: Option<&Path>) -> Option<PathBuf> {
    path.map(TargetFile::resolved)
}
