//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::database::{TursoConnection, TursoDatabase};
use crate::describe;
use crate::dialect::DIALECT;
use crate::files::{FileCounts, PAGES_LOG, ROWS_LOG};
use crate::loader::{file_loader, memory_loader};
use crate::options::{GRAMMAR, TursoJournal, TursoOptions};
use crate::session::TursoSession;
use crate::snapshot::DatabaseBytes;
use bourse_engine::target::{ParsedTarget, TargetError};
use bourse_engine::{
    Capabilities, DatabaseFiles, Description, Dialect, Engine, FileFormat, FileOwner, FileUse, Footprint, ForReading,
    Guarantee, Interface, IoCounts, Loader, Location, Result, Session, SharedDatabase, Snapshot, SqlCapabilities,
    SqlEngine,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use turso_core::MemoryIO;

static FORMAT: FileFormat = FileFormat {
    name: "Turso",
    companions: &[PAGES_LOG, ROWS_LOG],
    exclusive: &[PAGES_LOG, ROWS_LOG],
    logs: &[PAGES_LOG, ROWS_LOG],
    ..FileFormat::FILE
};

/// Turso database under test.
pub struct TursoEngine {
    target: ParsedTarget<TursoOptions>,
    /// Path of the file; `None` in memory.
    path: Option<PathBuf>,
    for_reading: bool,
    opened: SharedDatabase<TursoDatabase>,
    counts: FileCounts,
}

impl std::fmt::Debug for TursoEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TursoEngine").field("target", &self.target.text).finish_non_exhaustive()
    }
}

/// Parses a target; the disk is not touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_turso::open("turso:x.turso?journal=mvcc").unwrap();
/// assert!(engine.capabilities().concurrent_writers);
/// let refused = bourse_engine_turso::open("turso:x.turso?journal=delete").unwrap_err().to_string();
/// assert!(refused.contains("expected wal, mvcc"), "{refused}");
/// ```
pub fn open(target: &str) -> Result<TursoEngine, TargetError> {
    let target = GRAMMAR.parse(target, TursoOptions::DEFAULT)?;
    Ok(TursoEngine::of(target, false))
}

impl TursoEngine {
    fn of(target: ParsedTarget<TursoOptions>, for_reading: bool) -> Self {
        let path = (target.place != ":memory:").then(|| PathBuf::from(&target.place));
        Self { target, path, for_reading, opened: SharedDatabase::default(), counts: FileCounts::default() }
    }

    fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Database, opened at first use, and made if it does not exist.
    fn database(&self) -> Result<Arc<TursoDatabase>> {
        let options = self.target.options;
        self.opened.get_or_open(self.path.is_none(), || {
            let Some(files) = self.files() else {
                let database = TursoDatabase::in_memory(Arc::new(MemoryIO::new()), options)?;
                return database.set_journal().map(|()| database);
            };
            let path = files.open_or_make()?;
            match self.for_reading {
                true => TursoDatabase::for_reading(&path, options, &self.counts),
                false => TursoDatabase::in_file(&path, options, &self.counts),
            }
        })
    }

    /// Files of the database; `None` in memory.
    fn files(&self) -> Option<DatabaseFiles> {
        self.path().map(|path| DatabaseFiles::at(path, &FORMAT))
    }

    fn connection(&self) -> Result<TursoConnection> {
        TursoConnection::open(&self.database()?)
    }
}

impl Engine for TursoEngine {
    fn description(&self) -> Result<Description> {
        describe::describe(&self.target, self.path(), &self.connection()?)
    }

    fn capabilities(&self) -> Capabilities {
        let TursoOptions { journal, foreign_keys, checks, .. } = self.target.options;
        Capabilities {
            sql: Some(SqlCapabilities { foreign_keys, checks, ..SqlCapabilities::ALL }),
            concurrent_writers: journal == TursoJournal::Mvcc,
            checkpoints: true,
            guarantees: match journal {
                // Serializable by refusing everyone who commits meanwhile.
                TursoJournal::Mvcc => [Guarantee::Snapshot, Guarantee::Snapshot, Guarantee::Serializable],
                _ => Guarantee::ALWAYS_SERIALIZABLE,
            },
            ..Capabilities::OF_SQL
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn location(&self) -> Location {
        self.files().map_or(Location::Memory, Location::Files)
    }

    fn for_reading(&self) -> Result<Option<ForReading>> {
        let Some(files) = self.files() else { return Ok(None) };
        // A database that this process has open is read as it is; a missing one is not made.
        if files.owner()? != FileOwner::Bourse || FileUse::is_used(files.path()) {
            return Ok(None);
        }
        // Turso's lock on the file prevents writes meanwhile.
        Ok(Some(ForReading::of(Self::of(self.target.clone(), true))))
    }

    fn foreign(&self) -> Result<Option<String>> {
        self.files().map_or(Ok(None), |files| files.foreign_in_sqlite())
    }

    fn exists(&self) -> Result<bool> {
        if let Some(files) = self.files()
            && !files.exists()?
        {
            return Ok(false);
        }
        let tables = "SELECT count(*) FROM sqlite_master
                       WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'
                         AND substr(name, 1, 17) <> '__turso_internal_'";
        Ok(self.connection()?.text(tables)? != "0")
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let Some(files) = self.files() else {
            return Ok(Box::new(DatabaseBytes::take(&self.database()?, self.opened.clone())?));
        };
        FileUse::refuse(files.path())?;
        // The log goes into the database first.
        self.connection()?.write_log()?;
        files.snapshot()
    }

    fn integrity_check(&self) -> Result<Option<Vec<String>>> {
        let mut found = Vec::new();
        self.connection()?.query("PRAGMA integrity_check", &mut |row| {
            found.push(row.value(0).to_string());
            Ok(())
        })?;
        found.retain(|line| line != "ok");
        Ok(Some(found))
    }

    fn io_counts(&self) -> Result<Option<IoCounts>> {
        Ok(self.path.is_some().then(|| self.counts.now()))
    }

    fn footprint(&self) -> Result<Footprint> {
        let memory_bytes = || self.opened.get().map_or(0, |database| database.memory_bytes());
        let files = self.files();
        Ok(Footprint::of_file(files.as_ref(), if files.is_some() { 0 } else { memory_bytes() }))
    }
}

impl SqlEngine for TursoEngine {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn new_session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(TursoSession::new(self.connection()?)?))
    }

    fn confine(&self) {
        self.opened.confine();
    }

    fn interrupt_statements(&self) {
        self.opened.interrupt_statements();
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        let options = self.target.options;
        match self.files() {
            Some(files) => file_loader(&files, options, self.counts.clone()),
            None => memory_loader(self.opened.clone(), options),
        }
    }
}
