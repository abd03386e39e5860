//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::database::{Connection, Database, Place, in_use, is_open};
use crate::describe;
use crate::dialect::DIALECT;
use crate::library::{Library, load};
use crate::loader::{FileLoader, MemoryLoader, create, leftovers, resolved};
use crate::mark::{COMPANIONS, look};
use crate::options::{GRAMMAR, Options, Writers};
use crate::session::DuckSession;
use crate::snapshot::{ClosedFile, MemoryCopy};
use bourse_engine::target::{Parsed, TargetError};
use bourse_engine::{
    Capabilities, Description, Dialect, Engine, EngineError, FileOwner, Footprint, ForReading, Hosting, Interface,
    Isolation, Loader, Location, RecordCapabilities, Session, Snapshot, SqlCapabilities, SqlEngine, TargetFile, beside,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// DuckDB database under test.
#[derive(Debug)]
pub struct DuckDbEngine {
    target: Parsed<Options>,
    place: Place,
    for_reading: bool,
    opened: Opened,
}

/// Parses a target; neither the library nor the disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_duckdb::open("duckdb:x.duckdb?threads=2").unwrap();
/// assert!(engine.capabilities().concurrent_writers);
/// assert!(bourse_engine_duckdb::open("duckdb:x.duckdb?thread=2").unwrap_err().to_string().contains("known options"));
/// ```
pub fn open(target: &str) -> Result<DuckDbEngine, TargetError> {
    let target = GRAMMAR.parse(target, Options::DEFAULT)?;
    let place = match target.place.as_str() {
        ":memory:" => Place::Memory,
        path => Place::File(path.into()),
    };
    Ok(DuckDbEngine { target, place, for_reading: false, opened: Opened::default() })
}

/// Database that an engine has open.
#[derive(Default)]
struct Opened(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// Database in a file; closed with its last session, so that another process can open it between rounds.
    file: Weak<Database>,
    /// Database in memory, held here since its contents would otherwise be lost with its last session.
    memory: Option<Arc<Database>>,
}

impl Kept {
    fn database(&self) -> Option<Arc<Database>> {
        self.memory.clone().or_else(|| self.file.upgrade())
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Opened").field(&self.lock().database().is_some()).finish()
    }
}

impl Opened {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DuckDbEngine {
    fn library(&self) -> Result<&'static Library, EngineError> {
        load(self.target.options.library.as_deref()).map_err(|e| EngineError::unsupported(e.to_string()))
    }

    /// Database, opened at first use, and made if it does not exist.
    fn database(&self) -> Result<Arc<Database>, EngineError> {
        let mut opened = self.opened.lock();
        if let Some(database) = opened.database() {
            return Ok(database);
        }
        let options = &self.target.options;
        match &self.place {
            Place::Memory => {
                let database = Database::in_memory(self.library()?, options)?;
                opened.memory = Some(Arc::clone(&database));
                Ok(database)
            }
            Place::File(path) => {
                let (path, is_new) = look(path)?.to_open()?;
                let library = self.library()?;
                if is_new {
                    create(library, &path)?;
                }
                let database = Database::in_file(library, &path, options, self.for_reading)?;
                opened.file = Arc::downgrade(&database);
                Ok(database)
            }
        }
    }

    fn connection(&self) -> Result<Connection, EngineError> {
        Connection::open(&self.database()?)
    }

    fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            Place::Memory => None,
        }
    }

    /// Memory of an open database as the library counts it, in bytes.
    fn memory_bytes(&self) -> Result<u64, EngineError> {
        let Some(database) = self.opened.lock().database() else { return Ok(0) };
        let sql = "SELECT CAST(sum(memory_usage_bytes) AS BIGINT) FROM duckdb_memory()";
        let bytes = Connection::open(&database)?.number(sql)?;
        Ok(u64::try_from(bytes).unwrap_or(0))
    }
}

impl Engine for DuckDbEngine {
    fn description(&self) -> Result<Description, EngineError> {
        describe::describe(&self.target, &self.place, &self.connection()?)
    }

    fn capabilities(&self) -> Capabilities {
        let has_queue = self.target.options.writers == Writers::One;
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation: match has_queue {
                    true => &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable],
                    // A snapshot is no more than that: two transactions may each miss what the other writes.
                    false => &[Isolation::ReadCommitted, Isolation::RepeatableRead],
                },
                // It has them, and refuses to change an indexed column of a row that another one refers to.
                foreign_keys: false,
                checks: true,
                row_conflicts: true,
            }),
            concurrent_writers: !has_queue,
            snapshots: true,
            checkpoints: self.place != Place::Memory,
            one_session: false,
            processes: false,
            records: Some(RecordCapabilities { assigned_keys: false, ..RecordCapabilities::OVER_SQL }),
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn hosting(&self) -> Hosting<'_> {
        Hosting::InProcess
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
            place: self.place.clone(),
            for_reading: true,
            opened: Opened::default(),
        };
        // DuckDB's lock prevents writes meanwhile.
        Ok(Some(ForReading { engine: Box::new(engine), copied: None, unchanged: Box::new(|| Ok(())) }))
    }

    fn exists(&self) -> Result<bool, EngineError> {
        if let Some(path) = self.path()
            && let (_, true) = look(path)?.to_open()?
        {
            return Ok(false);
        }
        let tables = "SELECT count(*) FROM duckdb_tables() WHERE NOT internal AND database_name = current_database()";
        Ok(self.connection()?.number(tables)? > 0)
    }

    fn leftovers(&self) -> Result<Option<String>, EngineError> {
        let left = self.path().map(leftovers).unwrap_or_default();
        if left.is_empty() {
            return Ok(None);
        }
        let names: Vec<_> = left.iter().map(|path| path.display().to_string()).collect();
        Ok(Some(format!("left by a process that did not end, and removed: {}", names.join(", "))))
    }

    fn location(&self) -> Location {
        resolved(&self.place).map_or(Location::Memory, |path| Location::files(path, &COMPANIONS))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, EngineError> {
        let Some(path) = self.path() else { return Ok(Box::new(MemoryCopy::take(self.database()?)?)) };
        // A log that a crash has left goes into the database first.
        let path: PathBuf = look(path)?.to_open()?.0;
        if is_open(&path) {
            return Err(in_use(&path));
        }
        drop(self.database()?);
        Ok(Box::new(ClosedFile::take(&path)?))
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let memory_bytes = self.memory_bytes()?;
        let Some(path) = self.path() else {
            return Ok(Footprint { data_bytes: memory_bytes, memory_bytes, ..Footprint::default() });
        };
        let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        Ok(Footprint {
            data_bytes: length(path),
            log_bytes: length(&beside(&TargetFile::resolved(path), COMPANIONS[0])),
            memory_bytes,
            ..Footprint::default()
        })
    }
}

impl SqlEngine for DuckDbEngine {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn new_session(&self) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(DuckSession::new(self.connection()?, &self.target.options)?))
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>, EngineError> {
        Ok(match self.path() {
            Some(path) => Box::new(FileLoader::new(self.library()?, path, &self.target.options)?),
            None => Box::new(MemoryLoader::new(self.database()?)?),
        })
    }
}
