//! The engine: a target, its environment, opened once for all sessions, and its guarantees.

use crate::environment::{Environment, version};
use crate::mark::{LOCK_SUFFIX, look};
use crate::options::{GRAMMAR, Options, Sync};
use crate::session::LmdbSession;
use bourse_engine::target::{OptionSpec, Parsed, TargetError};
use bourse_engine::{
    Capabilities, Description, Durability, Engine, EngineError, FileOwner, Footprint, Hosting, Interface, KeyEngine,
    Location, MayLose, RecordCapabilities, Records, Setting, TargetFile, WriterWait, bytes_on_disk, lost_with_machine,
    memory_file_system,
};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// LMDB database under test.
#[derive(Debug)]
pub struct LmdbEngine {
    target: Parsed<Options>,
    path: PathBuf,
    opened: Mutex<Option<Arc<Environment>>>,
}

/// Parses a target; nothing on disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_lmdb::open("lmdb:x.mdb?sync=meta").unwrap();
/// assert!(!engine.exists().unwrap());
/// assert!(bourse_engine_lmdb::open("lmdb:x.mdb?sink=off").unwrap_err().to_string().contains("known options"));
/// ```
pub fn open(target: &str) -> Result<LmdbEngine, TargetError> {
    let target = GRAMMAR.parse(target, Options::DEFAULT)?;
    let path = PathBuf::from(&target.place);
    Ok(LmdbEngine { target, path, opened: Mutex::new(None) })
}

impl LmdbEngine {
    /// Environment, opened at first use.
    fn environment(&self) -> Result<Arc<Environment>, EngineError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(environment) = &*opened {
            return Ok(Arc::clone(environment));
        }
        let environment = Environment::open(&self.path, &self.target.options)?;
        *opened = Some(Arc::clone(&environment));
        Ok(environment)
    }

    fn durability(&self) -> (Durability, String) {
        if let Some(name) = memory_file_system(&self.path) {
            return (Durability::Volatile, format!("the file is on {name}, which is memory"));
        }
        let (class, why) = match self.target.options.sync {
            Sync::Full => (Durability::Durable, "sync=full: changes and root are made durable at each commit"),
            Sync::Meta => (
                Durability::Consistent,
                "sync=meta: the root is not waited for, so that power loss may undo the last commit",
            ),
            Sync::Off => (
                Durability::Process,
                "sync=off: the disk is never waited for, and power loss may leave a corrupted file",
            ),
        };
        (class, why.to_owned())
    }
}

impl Engine for LmdbEngine {
    fn description(&self) -> Result<Description, EngineError> {
        self.environment()?;
        let (durability, durability_reason) = self.durability();
        let setting = |option: &OptionSpec<Options>| Setting {
            name: option.name.to_owned(),
            value: (option.show)(&self.target.options),
        };
        let warning = |name| lost_with_machine("the database", name);
        Ok(Description {
            engine: "lmdb".to_owned(),
            version: version(),
            target: self.target.text.clone(),
            durability,
            may_lose: (durability == Durability::Consistent).then_some(MayLose::LastCommit),
            durability_reason,
            writer_wait: Some(WriterWait::EngineLocks),
            memory_store: None,
            settings: GRAMMAR.options.iter().map(setting).collect(),
            compile_options: Vec::new(),
            warnings: memory_file_system(&self.path).map(warning).into_iter().collect(),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sql: None,
            // Readers see one snapshot, and there is one writer at a time.
            concurrent_writers: false,
            snapshots: true,
            checkpoints: false,
            one_session: false,
            processes: true,
            records: Some(RecordCapabilities {
                text_keys: true,
                ordered_scans: true,
                indexed_fields: false,
                hash_index: false,
                assigned_keys: false,
                rollback: true,
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
        Ok(!self.environment()?.tables().is_empty())
    }

    fn location(&self) -> Location {
        Location::files(TargetFile::resolved(&self.path), &[LOCK_SUFFIX])
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        // Blocks of 512 bytes that are really taken: with writemap=on the file is as long as its map, with holes.
        let data_bytes = bytes_on_disk(&self.path);
        Ok(Footprint { data_bytes, ..Footprint::default() })
    }
}

impl KeyEngine for LmdbEngine {
    fn new_records(&self) -> Result<Box<dyn Records>, EngineError> {
        Ok(Box::new(LmdbSession::new(self.environment()?)))
    }

    fn tables(&self) -> Result<Vec<String>, EngineError> {
        Ok(self.environment()?.tables())
    }
}
