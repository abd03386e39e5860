//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::database::{Connection, Database, in_use, is_open};
use crate::describe;
use crate::dialect::DIALECT;
use crate::files::Counts;
use crate::loader::{FileLoader, MemoryLoader, create, leftovers, resolved};
use crate::mark::{COMPANIONS, look};
use crate::options::{GRAMMAR, Journal, Options};
use crate::session::TursoSession;
use crate::snapshot::{ClosedFile, MemoryCopy};
use bourse_engine::target::{Parsed, TargetError};
use bourse_engine::{
    Capabilities, Description, Dialect, Engine, EngineError, FileOwner, Footprint, ForReading, Hosting, Interface,
    IoCounts, Isolation, Loader, Location, RecordCapabilities, Session, Snapshot, SqlCapabilities, SqlEngine,
    TargetFile, beside,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use turso_core::MemoryIO;

/// Turso database under test.
pub struct TursoEngine {
    target: Parsed<Options>,
    /// Path of the file; `None` in memory.
    path: Option<PathBuf>,
    for_reading: bool,
    kept: Arc<Mutex<Kept>>,
    counts: Counts,
}

/// Database that an engine has open.
#[derive(Default)]
pub(crate) struct Kept {
    /// Database in a file; closed with its last session, so that another process can open it between rounds.
    file: Weak<Database>,
    /// Database in memory, held here since its contents would otherwise be lost with its last session.
    pub(crate) memory: Option<Arc<Database>>,
}

impl Kept {
    fn database(&self) -> Option<Arc<Database>> {
        self.memory.clone().or_else(|| self.file.upgrade())
    }
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
    let target = GRAMMAR.parse(target, Options::DEFAULT)?;
    let path = (target.place != ":memory:").then(|| PathBuf::from(&target.place));
    Ok(TursoEngine { target, path, for_reading: false, kept: Arc::default(), counts: Counts::default() })
}

impl TursoEngine {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Database, opened at first use, and made if it does not exist.
    fn database(&self) -> Result<Arc<Database>, EngineError> {
        let mut kept = self.kept();
        if let Some(database) = kept.database() {
            return Ok(database);
        }
        let options = self.target.options;
        match self.path() {
            None => {
                let database = Database::in_memory(Arc::new(MemoryIO::new()), options)?;
                database.set_journal()?;
                kept.memory = Some(Arc::clone(&database));
                Ok(database)
            }
            Some(path) => {
                let (path, is_new) = look(path)?.to_open()?;
                if is_new {
                    create(&path, &self.counts)?;
                }
                let database = match self.for_reading {
                    true => Database::for_reading(&path, options, &self.counts)?,
                    false => Database::in_file(&path, options, &self.counts)?,
                };
                kept.file = Arc::downgrade(&database);
                Ok(database)
            }
        }
    }

    fn connection(&self) -> Result<Connection, EngineError> {
        Connection::open(&self.database()?)
    }
}

impl Engine for TursoEngine {
    fn description(&self) -> Result<Description, EngineError> {
        describe::describe(&self.target, self.path(), &self.connection()?)
    }

    fn capabilities(&self) -> Capabilities {
        let Options { journal, foreign_keys, checks, .. } = self.target.options;
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation: &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable],
                foreign_keys,
                checks,
                row_conflicts: true,
            }),
            concurrent_writers: journal == Journal::Mvcc,
            snapshots: true,
            checkpoints: true,
            one_session: false,
            processes: false,
            records: Some(RecordCapabilities::OVER_SQL),
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn hosting(&self) -> Hosting<'_> {
        Hosting::InProcess
    }

    fn location(&self) -> Location {
        resolved(self.path()).map_or(Location::Memory, |path| Location::files(path, &COMPANIONS))
    }

    fn foreign(&self) -> Result<Option<String>, EngineError> {
        match self.path() {
            Some(path) => Ok(look(path)?.foreign()),
            None => Ok(None),
        }
    }

    fn for_reading(&self) -> Result<Option<ForReading>, EngineError> {
        let Some(path) = self.path() else { return Ok(None) };
        // A database that this process has open is read as it is; a missing one is not made.
        let is_there = matches!(look(path)?, FileOwner::Ours(_));
        if !is_there || is_open(&TargetFile::resolved(path)) {
            return Ok(None);
        }
        let engine = Self {
            target: self.target.clone(),
            path: self.path.clone(),
            for_reading: true,
            kept: Arc::default(),
            counts: Counts::default(),
        };
        // Turso's lock on the file prevents writes meanwhile.
        Ok(Some(ForReading { engine: Box::new(engine), copied: None, unchanged: Box::new(|| Ok(())) }))
    }

    fn exists(&self) -> Result<bool, EngineError> {
        if let Some(path) = self.path()
            && let (_, true) = look(path)?.to_open()?
        {
            return Ok(false);
        }
        // Names of Turso's own tables begin with two underscores.
        let tables = "SELECT count(*) FROM sqlite_master
                       WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' AND substr(name, 1, 2) <> '__'";
        Ok(self.connection()?.text(tables)? != "0")
    }

    fn leftovers(&self) -> Result<Option<String>, EngineError> {
        let left = self.path().map(leftovers).unwrap_or_default();
        if left.is_empty() {
            return Ok(None);
        }
        let names: Vec<_> = left.iter().map(|path| path.display().to_string()).collect();
        Ok(Some(format!("left by a process that did not end, and removed: {}", names.join(", "))))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, EngineError> {
        let Some(path) = self.path() else {
            return Ok(Box::new(MemoryCopy::take(&self.database()?, Arc::clone(&self.kept))?));
        };
        let (path, _) = look(path)?.to_open()?;
        if is_open(&path) {
            return Err(in_use(&path));
        }
        // The log goes into the database first.
        self.connection()?.write_log()?;
        Ok(Box::new(ClosedFile::take(&path)?))
    }

    fn integrity_check(&self) -> Result<Option<Vec<String>>, EngineError> {
        let mut found = Vec::new();
        self.connection()?.query("PRAGMA integrity_check", &mut |row| {
            found.push(row.value(0).to_string());
            Ok(())
        })?;
        found.retain(|line| line != "ok");
        Ok(Some(found))
    }

    fn io_counts(&self) -> Result<Option<IoCounts>, EngineError> {
        Ok(self.path.is_some().then(|| self.counts.now()))
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let Some(path) = resolved(self.path()) else {
            let memory_bytes = self.kept().database().map_or(0, |database| database.memory_bytes());
            return Ok(Footprint { data_bytes: memory_bytes, memory_bytes, ..Footprint::default() });
        };
        let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        let log_bytes = COMPANIONS.iter().map(|suffix| length(&beside(&path, suffix))).sum();
        Ok(Footprint { data_bytes: length(&path), log_bytes, ..Footprint::default() })
    }
}

impl SqlEngine for TursoEngine {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn new_session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(TursoSession::new(self.connection()?)?))
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>, EngineError> {
        let options = self.target.options;
        Ok(match self.path() {
            Some(path) => Box::new(FileLoader::new(path, options, &self.counts)?),
            None => Box::new(MemoryLoader::new(Arc::clone(&self.kept), options)?),
        })
    }
}
