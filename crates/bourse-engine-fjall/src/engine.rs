//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::database::Database;
use crate::options::{GRAMMAR, Options, Persist};
use crate::session::FjallSession;
use bourse_engine::target::{OptionSpec, Parsed, TargetError};
use bourse_engine::{
    Capabilities, Description, Durability, Engine, EngineError, FolderDatabase, Footprint, Hosting, Interface,
    KeyEngine, Location, MayLose, RecordCapabilities, Records, Setting, TargetFolder, WriterWait, lost_with_machine,
};
use std::sync::Arc;

/// The fjall database under test.
pub struct FjallEngine {
    target: Parsed<Options>,
    folder: FolderDatabase<Database>,
}

/// Parses a target; nothing on disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_fjall::open("fjall:x.fjall?persist=buffer").unwrap();
/// assert!(!engine.exists().unwrap());
/// let refused = bourse_engine_fjall::open("fjall::memory:").err().unwrap();
/// assert!(refused.to_string().contains("no database in memory"));
/// ```
pub fn open(target: &str) -> Result<FjallEngine, TargetError> {
    let target = GRAMMAR.parse(target, Options::DEFAULT)?;
    if target.place == ":memory:" {
        return Err(TargetError::Place {
            engine: "fjall",
            why: "fjall has no database in memory; a folder below /dev/shm is one",
            forms: GRAMMAR.forms,
        });
    }
    let folder = FolderDatabase::at(&target.place);
    Ok(FjallEngine { target, folder })
}

/// Version of fjall that is compiled in, as `build.rs` reads it from the lock file.
pub fn version() -> &'static str {
    env!("ENGINE_VERSION")
}

impl FjallEngine {
    /// Database, opened at first use.
    fn database(&self) -> Result<Arc<Database>, EngineError> {
        self.folder.get(|path| Database::open(&TargetFolder::open(path)?, &self.target.options))
    }

    fn durability(&self) -> (Durability, String) {
        if let Some(name) = self.folder.memory_file_system() {
            return (Durability::Volatile, format!("the folder is on {name}, which is memory"));
        }
        let persist = self.target.options.persist;
        match persist {
            Persist::SyncAll | Persist::SyncData => {
                (Durability::Durable, format!("persist={}: each commit makes the journal durable", persist.word()))
            }
            Persist::Buffer => (
                Durability::Consistent,
                "persist=buffer: a commit is handed to the operating system; a commit in the journal has a checksum"
                    .to_owned(),
            ),
        }
    }
}

impl Engine for FjallEngine {
    fn description(&self) -> Result<Description, EngineError> {
        self.database()?;
        let (durability, durability_reason) = self.durability();
        let setting = |option: &OptionSpec<Options>| Setting {
            name: option.name.to_owned(),
            value: (option.show)(&self.target.options),
        };
        let mut settings: Vec<_> = GRAMMAR.options.iter().map(setting).collect();
        settings.push(Setting { name: "transactions".to_owned(), value: "optimistic".to_owned() });
        let warning = |name| lost_with_machine("the database", name);
        Ok(Description {
            engine: "fjall".to_owned(),
            version: version().to_owned(),
            target: self.target.text.clone(),
            durability,
            may_lose: (durability == Durability::Consistent).then_some(MayLose::NotWrittenBack),
            durability_reason,
            writer_wait: Some(WriterWait::EngineLocks),
            memory_store: None,
            settings,
            compile_options: Vec::new(),
            warnings: self.folder.memory_file_system().map(warning).into_iter().collect(),
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sql: None,
            // Writers work on snapshots; of two that got in each other's way, the second to commit fails.
            concurrent_writers: true,
            snapshots: true,
            checkpoints: false,
            one_session: false,
            processes: false,
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
        self.folder.foreign()
    }

    fn exists(&self) -> Result<bool, EngineError> {
        Ok(self.folder.is_there()? && !self.database()?.tables().is_empty())
    }

    fn location(&self) -> Location {
        self.folder.location(&[
            "version",
            "lock",
            "#.jnl",
            "keyspaces/#/current",
            "keyspaces/#/v#",
            "keyspaces/#/tables/#",
            "keyspaces/#/blobs/#",
        ])
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        Ok(self.folder.footprint(&|name| name.ends_with(".jnl"), Database::memory_bytes))
    }
}

impl KeyEngine for FjallEngine {
    fn new_records(&self) -> Result<Box<dyn Records>, EngineError> {
        Ok(Box::new(FjallSession::new(self.database()?)))
    }

    fn tables(&self) -> Result<Vec<String>, EngineError> {
        Ok(self.database()?.tables())
    }
}
