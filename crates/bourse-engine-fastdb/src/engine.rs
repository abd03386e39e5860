//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::database::{Context, Database};
use crate::library::load;
use crate::mark::look;
use crate::options::{Commit, GRAMMAR, Options, parse};
use crate::session::FastDbSession;
use bourse_engine::target::{Parsed, TargetError};
use bourse_engine::{
    Capabilities, Description, Durability, Engine, EngineError, FileOwner, Footprint, Hosting, IndexKind, Interface,
    KeyEngine, Location, RecordCapabilities, Records, Setting, TargetFile, WriterWait, bytes_on_disk,
    lost_with_machine, memory_file_system,
};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// FastDB database under test.
pub struct FastDbEngine {
    target: Parsed<Options>,
    path: PathBuf,
    opened: Mutex<Option<Arc<Database>>>,
}

/// Parses a target; neither the library nor the disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_fastdb::open("fastdb:x.fdb?index=hash").unwrap();
/// assert!(!engine.capabilities().records.unwrap().ordered_scans);
/// assert!(bourse_engine_fastdb::open("fastdb:x.fdb?idx=hash").err().unwrap().to_string().contains("known options"));
/// ```
pub fn open(target: &str) -> Result<FastDbEngine, TargetError> {
    let target = parse(target)?;
    let path = PathBuf::from(&target.place);
    Ok(FastDbEngine { target, path, opened: Mutex::new(None) })
}

impl FastDbEngine {
    /// Database, opened at first use.
    fn database(&self) -> Result<Arc<Database>, EngineError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = &*opened {
            return Ok(Arc::clone(database));
        }
        let (path, is_new) = look(&self.path)?.to_open()?;
        let (_, api) =
            load(self.target.options.library.as_deref()).map_err(|e| EngineError::unsupported(e.to_string()))?;
        let database = Database::open(api, &path, is_new, &self.target.options)?;
        *opened = Some(Arc::clone(&database));
        Ok(database)
    }

    fn durability(&self, is_diskless: bool) -> (Durability, String) {
        if is_diskless {
            return (Durability::Volatile, "the library is a diskless build: the database is in memory".to_owned());
        }
        if let Some(name) = memory_file_system(&self.path) {
            return (Durability::Volatile, format!("the file is on {name}, which is memory"));
        }
        match self.target.options.commit {
            Commit::Full => (
                Durability::Durable,
                "commit=full: each commit makes the whole file durable, the changes first and then the root that shows them"
                    .to_owned(),
            ),
            Commit::Precommit => (
                Durability::Volatile,
                "commit=precommit: there is no full commit until the database is closed, and a crash undoes everything since the last"
                    .to_owned(),
            ),
        }
    }

    fn warnings(&self, is_diskless: bool) -> Vec<String> {
        let options = &self.target.options;
        let mut warnings = Vec::new();
        if let (false, Some(name)) = (is_diskless, memory_file_system(&self.path)) {
            warnings.push(lost_with_machine("the database", name));
        }
        if options.commit == Commit::Precommit {
            warnings.push(
                "commit=precommit: a transaction is seen by others when it ends but cannot be rolled back".to_owned(),
            );
        } else if !is_diskless {
            warnings.push(
                "FastDB does not tell whether it was built with NO_FLUSH_ON_COMMIT, which would make commits survive a crash of the process only: look at the syncs per commit"
                    .to_owned(),
            );
        }
        if !options.unique {
            warnings.push("unique=off: a key that is inserted twice is there twice".to_owned());
        }
        warnings
    }
}

impl Engine for FastDbEngine {
    fn description(&self) -> Result<Description, EngineError> {
        let database = self.database()?;
        let (library, _) =
            load(self.target.options.library.as_deref()).map_err(|e| EngineError::unsupported(e.to_string()))?;
        let mut settings: Vec<_> = GRAMMAR
            .options
            .iter()
            .filter(|option| option.name != "library")
            .map(|option| Setting { name: option.name.to_owned(), value: (option.show)(&self.target.options) })
            .collect();
        let mut add = |name: &str, value: String| settings.push(Setting { name: name.to_owned(), value });
        add("library", library.display().to_string());
        add("diskless", if database.is_diskless { "on" } else { "off" }.to_owned());
        add("extent", database.extent()?.to_string());
        let (durability, durability_reason) = self.durability(database.is_diskless);
        Ok(Description {
            engine: if database.is_diskless { "fastdb diskless" } else { "fastdb" }.to_owned(),
            // The C interface has no function that says.
            version: "unknown: its library does not report it".to_owned(),
            target: self.target.text.clone(),
            durability,
            may_lose: None,
            durability_reason,
            writer_wait: Some(WriterWait::EngineLocks),
            memory_store: None,
            settings,
            compile_options: Vec::new(),
            warnings: self.warnings(database.is_diskless),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sql: None,
            // One lock for the whole database: readers share it, a writer has it alone.
            concurrent_writers: false,
            snapshots: false,
            checkpoints: false,
            one_session: false,
            processes: false,
            records: Some(RecordCapabilities {
                text_keys: true,
                ordered_scans: self.target.options.index == IndexKind::Tree,
                indexed_fields: true,
                hash_index: true,
                assigned_keys: false,
                rollback: self.target.options.commit == Commit::Full,
            }),
        }
    }

    fn interface(&self) -> Interface<'_> {
        Interface::Keys(self)
    }

    fn hosting(&self) -> Hosting<'_> {
        Hosting::InProcess
    }

    fn foreign(&self) -> Result<Option<String>, EngineError> {
        // An open database was examined before.
        if self.opened.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Ok(None);
        }
        Ok(look(&self.path)?.foreign())
    }

    fn exists(&self) -> Result<bool, EngineError> {
        let is_open = self.opened.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if !is_open && matches!(look(&self.path)?, FileOwner::Nobody(_)) {
            return Ok(false);
        }
        Ok(!self.database()?.tables()?.is_empty())
    }

    fn location(&self) -> Location {
        Location::files(TargetFile::resolved(&self.path), &[])
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(database) = opened else {
            // Blocks of 512 bytes that are really taken: the file has holes where nothing was ever written.
            let data_bytes = bytes_on_disk(&self.path);
            return Ok(Footprint { data_bytes, ..Footprint::default() });
        };
        let extent = database.extent()?;
        Ok(if database.is_diskless {
            Footprint { data_bytes: extent, memory_bytes: extent, ..Footprint::default() }
        } else {
            let data_bytes = bytes_on_disk(&self.path);
            Footprint { data_bytes, memory_bytes: extent, ..Footprint::default() }
        })
    }
}

impl KeyEngine for FastDbEngine {
    fn new_records(&self) -> Result<Box<dyn Records>, EngineError> {
        let context = Context::new(self.database()?);
        Ok(Box::new(FastDbSession::new(context, &self.target.options)))
    }
}
