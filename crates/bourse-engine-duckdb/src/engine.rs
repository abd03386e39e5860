//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::database::{Connection, Database, Place};
use crate::describe;
use crate::dialect::DIALECT;
use crate::library::{Library, load};
use crate::loader::{FileLoader, MemoryLoader, template};
use crate::options::{GRAMMAR, Options, Writers};
use crate::session::DuckSession;
use crate::snapshot::MemoryCopy;
use bourse_engine::target::{Parsed, TargetError};
use bourse_engine::{
    Capabilities, DatabaseFiles, Description, Dialect, Engine, EngineError, FileFormat, FileOwner, FileUse, Footprint,
    ForReading, Hosting, Interface, Isolation, Loader, Location, RecordCapabilities, Session, Snapshot,
    SqlCapabilities, SqlEngine, beside,
};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Suffixes of DuckDB's files next to a database: its log, and the folder of data that exceeds memory.
const LOG: &str = ".wal";
static FORMAT: FileFormat =
    FileFormat { name: "DuckDB", companions: &[LOG, ".tmp"], exclusive: &[LOG], logs: &[LOG], ..FileFormat::FILE };

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
struct Opened(Mutex<OpenDatabase>);

#[derive(Default)]
struct OpenDatabase {
    /// Database in a file; closed with its last session, so that another process can open it between rounds.
    file: Weak<Database>,
    /// Database in memory, held here since its contents would otherwise be lost with its last session.
    memory: Option<Arc<Database>>,
}

impl OpenDatabase {
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
    fn lock(&self) -> MutexGuard<'_, OpenDatabase> {
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
                let files = DatabaseFiles::at(path, &FORMAT);
                files.exists()?;
                let library = self.library()?;
                let path = files.open_or_make_with(template(library))?;
                let database = Database::in_file(library, &path, options, self.for_reading)?;
                opened.file = Arc::downgrade(&database);
                Ok(database)
            }
        }
    }

    fn connection(&self) -> Result<Connection, EngineError> {
        Connection::open(&self.database()?)
    }

    /// Files of the database; `None` in memory.
    fn files(&self) -> Option<DatabaseFiles> {
        match &self.place {
            Place::File(path) => Some(DatabaseFiles::at(path, &FORMAT)),
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

    fn for_reading(&self) -> Result<Option<ForReading>, EngineError> {
        let Some(files) = self.files() else { return Ok(None) };
        // A database that this process has open is read as it is; a missing one is not made.
        if files.owner()? != FileOwner::Bourse || FileUse::is_used(files.path()) {
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
        if let Some(files) = self.files()
            && !files.exists()?
        {
            return Ok(false);
        }
        let tables = "SELECT count(*) FROM duckdb_tables() WHERE NOT internal AND database_name = current_database()";
        Ok(self.connection()?.number(tables)? > 0)
    }

    fn location(&self) -> Location {
        self.files().map_or(Location::Memory, Location::Files)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, EngineError> {
        let Some(files) = self.files() else { return Ok(Box::new(MemoryCopy::take(self.database()?)?)) };
        // A log that a crash has left goes into the database first.
        FileUse::refuse(files.path())?;
        drop(self.database()?);
        files.snapshot()
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let memory_bytes = self.memory_bytes()?;
        let Some(files) = self.files() else {
            return Ok(Footprint { data_bytes: memory_bytes, memory_bytes, ..Footprint::default() });
        };
        let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        Ok(Footprint {
            data_bytes: length(files.path()),
            log_bytes: length(&beside(files.path(), LOG)),
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
        Ok(match self.files() {
            Some(files) => Box::new(FileLoader::new(self.library()?, &files, &self.target.options)?),
            None => Box::new(MemoryLoader::new(self.database()?)?),
        })
    }
}
