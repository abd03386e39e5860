//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::database::{JdbcDatabase, JdbcDriver, files_at, parts};
use crate::describe;
use crate::loader::{folder_loader, memory_loader};
use crate::options::{GRAMMAR, JdbcOptions};
use crate::product::{JdbcProduct, of_scheme};
use crate::session::JdbcSession;
use bourse_engine::target::{ParsedTarget, TargetError};
use bourse_engine::{
    Capabilities, Description, Dialect, Engine, EngineError, Footprint, Interface, Loader, Location, OwnThreads,
    Result, Session, SharedDatabase, Snapshot, SqlCapabilities, SqlEngine, folder_bytes,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Database of the Java virtual machine under test.
pub struct JdbcEngine {
    product: &'static JdbcProduct,
    target: ParsedTarget<JdbcOptions>,
    /// Folder of the database; `None` in memory.
    path: Option<PathBuf>,
    opened: SharedDatabase<JdbcDatabase>,
}

impl std::fmt::Debug for JdbcEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JdbcEngine").field("target", &self.target.text).finish_non_exhaustive()
    }
}

/// Parses a target; neither the virtual machine nor the disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_jdbc::open("jdbc+h2:x.h2?heap=1GiB").unwrap();
/// assert!(engine.capabilities().concurrent_writers);
/// let refused = bourse_engine_jdbc::open("jdbc+derby:x.derby?write_delay=0ms").unwrap_err().to_string();
/// assert!(refused.contains("syncs its log at each commit"), "{refused}");
/// ```
pub fn open(target: &str) -> Result<JdbcEngine, TargetError> {
    let split = GRAMMAR.split(target)?;
    let target = GRAMMAR.parse(target, JdbcOptions::DEFAULT)?;
    let product = of_scheme(split.scheme.name).expect("each scheme has its database");
    // In the URLs of drivers settings follow behind a semicolon, which no path can quote.
    if target.place.contains(';') {
        return Err(TargetError::Place {
            engine: product.name,
            why: "the path of a database cannot hold a semicolon",
            forms: GRAMMAR.forms,
        });
    }
    let path = (target.place != ":memory:").then(|| PathBuf::from(&target.place));
    Ok(JdbcEngine { product, target, path, opened: SharedDatabase::default() })
}

impl JdbcEngine {
    fn driver(&self) -> Result<JdbcDriver> {
        JdbcDriver::find(self.product, &self.target.options)
    }

    /// Database, opened at first use, and made if it does not exist.
    fn database(&self) -> Result<Arc<JdbcDatabase>> {
        self.opened.get_or_open(self.path.is_none(), || {
            let Some(path) = &self.path else { return JdbcDatabase::in_memory(&self.driver()?) };
            let files = files_at(path, self.product);
            files.exists()?;
            let driver = self.driver()?;
            files.open_or_make()?;
            JdbcDatabase::in_folder(&driver, &parts(path, self.product).database())
        })
    }

    fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

impl Engine for JdbcEngine {
    fn description(&self) -> Result<Description> {
        describe::describe(&self.target, self.path(), &*self.database()?)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sql: Some(SqlCapabilities {
                isolation: self.product.isolation,
                foreign_keys: true,
                checks: self.product.checks,
                row_conflicts: self.product.row_conflicts,
            }),
            snapshots: self.product.snapshots,
            guarantees: self.product.guarantees,
            checkpoints: self.path.is_some() && self.product.checkpoint.is_some(),
            ..Capabilities::OF_SQL
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Sql(self)
    }

    fn location(&self) -> Location {
        self.path().map_or(Location::Memory, |path| Location::Files(files_at(path, self.product)))
    }

    fn exists(&self) -> Result<bool> {
        if let Some(path) = self.path()
            && !(files_at(path, self.product).exists()? && parts(path, self.product).database().exists())
        {
            return Ok(false);
        }
        Ok(self.database()?.keeper().number(self.product.tables)? > 0)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let Some(path) = self.path() else {
            return Err(EngineError::unsupported(
                "no copy is kept of a database in the memory of a Java virtual machine",
            ));
        };
        files_at(path, self.product).open_or_make()?;
        let parts = parts(path, self.product);
        // Leftovers of a crash are repaired first.
        if parts.refuse_use().is_ok() {
            drop(self.database()?);
        }
        parts.copy()
    }

    fn own_threads(&self) -> Vec<OwnThreads> {
        crate::threads::own_threads()
    }

    fn footprint(&self) -> Result<Footprint> {
        let memory_bytes = match self.opened.get() {
            Some(database) => database.heap_bytes()?,
            None => 0,
        };
        let Some(path) = self.path() else {
            return Ok(Footprint::of_file(None, memory_bytes));
        };
        let bytes = folder_bytes(&parts(path, self.product).database(), &self.product.is_log);
        Ok(Footprint { data_bytes: bytes.data, log_bytes: bytes.log, memory_bytes, ..Footprint::default() })
    }
}

impl SqlEngine for JdbcEngine {
    fn dialect(&self) -> &'static Dialect {
        self.product.dialect
    }

    fn new_session(&self) -> Result<Box<dyn Session>> {
        Ok(Box::new(JdbcSession::new(self.database()?)?))
    }

    fn confine(&self) {
        self.opened.confine();
    }

    fn interrupt_statements(&self) {
        self.opened.interrupt_statements();
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        match self.path() {
            Some(path) => {
                files_at(path, self.product).exists()?;
                folder_loader(self.driver()?, path)
            }
            None => memory_loader(&self.driver()?, self.opened.clone()),
        }
    }
}
