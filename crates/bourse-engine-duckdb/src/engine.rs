//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::database::{DuckDbConnection, DuckDbDatabase};
use crate::describe;
use crate::dialect::DIALECT;
use crate::library::{DuckDbLibrary, LIBRARY};
use crate::loader::{file_loader, memory_loader, template};
use crate::options::{DuckDbOptions, DuckDbWriters, GRAMMAR};
use crate::session::DuckSession;
use crate::snapshot::CatalogCopy;
use bourse_engine::target::{ParsedTarget, TargetError};
use bourse_engine::{
    Capabilities, DatabaseFiles, Description, Dialect, Engine, FileFormat, FileOwner, FileUse, Footprint, ForReading,
    Guarantee, Interface, Isolation, Loader, Location, RecordCapabilities, Result, Session, SharedDatabase, Snapshot,
    SqlCapabilities, SqlEngine,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Suffixes of DuckDB's files next to a database: its log, and the folder of data that exceeds memory.
const LOG: &str = ".wal";
static FORMAT: FileFormat =
    FileFormat { name: "DuckDB", companions: &[LOG, ".tmp"], exclusive: &[LOG], logs: &[LOG], ..FileFormat::FILE };

/// DuckDB database under test.
#[derive(Debug)]
pub struct DuckDbEngine {
    target: ParsedTarget<DuckDbOptions>,
    /// Path of the file; `None` in memory.
    path: Option<PathBuf>,
    for_reading: bool,
    opened: SharedDatabase<DuckDbDatabase>,
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
    let target = GRAMMAR.parse(target, DuckDbOptions::DEFAULT)?;
    Ok(DuckDbEngine::of(target, false))
}

impl DuckDbEngine {
    fn of(target: ParsedTarget<DuckDbOptions>, for_reading: bool) -> Self {
        let path = (target.place != ":memory:").then(|| PathBuf::from(&target.place));
        Self { target, path, for_reading, opened: SharedDatabase::default() }
    }

    fn library(&self) -> Result<&'static DuckDbLibrary> {
        LIBRARY.load(self.target.options.library.as_deref())
    }

    /// Database, opened at first use, and made if it does not exist.
    fn database(&self) -> Result<Arc<DuckDbDatabase>> {
        let options = &self.target.options;
        self.opened.get_or_open(self.path.is_none(), || {
            let Some(files) = self.files() else { return DuckDbDatabase::in_memory(self.library()?, options) };
            files.exists()?;
            let library = self.library()?;
            let path = files.open_or_make_with(template(library))?;
            DuckDbDatabase::in_file(library, &path, options, self.for_reading)
        })
    }

    fn connection(&self) -> Result<DuckDbConnection> {
        DuckDbConnection::open(&self.database()?)
    }

    /// Files of the database; `None` in memory.
    fn files(&self) -> Option<DatabaseFiles> {
        self.path.as_ref().map(|path| DatabaseFiles::at(path, &FORMAT))
    }

    /// Memory of an open database as the library counts it, in bytes.
    fn memory_bytes(&self) -> Result<u64> {
        let Some(database) = self.opened.get() else { return Ok(0) };
        let sql = "SELECT CAST(sum(memory_usage_bytes) AS BIGINT) FROM duckdb_memory()";
        let bytes = DuckDbConnection::open(&database)?.number(sql)?;
        Ok(u64::try_from(bytes).unwrap_or(0))
    }
}

impl Engine for DuckDbEngine {
    fn description(&self) -> Result<Description> {
        describe::describe(&self.target, self.path.as_deref(), &self.connection()?)
    }

    fn capabilities(&self) -> Capabilities {
        let has_queue = self.target.options.writers == DuckDbWriters::One;
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation: match has_queue {
                    true => SqlCapabilities::ALL.isolation,
                    // A snapshot is no more than that: two transactions may each miss what the other writes.
                    false => &[Isolation::ReadCommitted, Isolation::RepeatableRead],
                },
                // It has them, and refuses to change an indexed column of a row that another one refers to.
                foreign_keys: false,
                ..SqlCapabilities::ALL
            }),
            concurrent_writers: !has_queue,
            checkpoints: self.path.is_some(),
            records: Some(RecordCapabilities { assigned_keys: false, ..RecordCapabilities::OVER_SQL }),
            // Writers that wait for one another have no write skew.
            guarantees: if has_queue { Guarantee::ALWAYS_SERIALIZABLE } else { Guarantee::ALWAYS_SNAPSHOT },
            ..Capabilities::OF_SQL
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn for_reading(&self) -> Result<Option<ForReading>> {
        let Some(files) = self.files() else { return Ok(None) };
        // A database that this process has open is read as it is; a missing one is not made.
        if files.owner()? != FileOwner::Bourse || FileUse::is_used(files.path()) {
            return Ok(None);
        }
        // DuckDB's lock prevents writes meanwhile.
        Ok(Some(ForReading::of(Self::of(self.target.clone(), true))))
    }

    fn exists(&self) -> Result<bool> {
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

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let Some(files) = self.files() else { return Ok(Box::new(CatalogCopy::take(self.database()?)?)) };
        // A log that a crash has left goes into the database first.
        FileUse::refuse(files.path())?;
        drop(self.database()?);
        files.snapshot()
    }

    fn footprint(&self) -> Result<Footprint> {
        Ok(Footprint::of_file(self.files().as_ref(), self.memory_bytes()?))
    }
}

impl SqlEngine for DuckDbEngine {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn new_session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(DuckSession::new(self.connection()?, &self.target.options)?))
    }

    fn confine(&self) {
        self.opened.confine();
    }

    fn interrupt_statements(&self) {
        self.opened.interrupt_statements();
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        match self.files() {
            Some(files) => file_loader(self.library()?, &files, self.target.options.clone()),
            None => memory_loader(self.database()?),
        }
    }
}
