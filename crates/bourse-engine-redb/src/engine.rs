//! The engine: a target, its database, opened once for all sessions, and its guarantees.

use crate::error::error;
use crate::mark::{look, mark, tables};
use crate::options::{Durable, GRAMMAR, Options};
use crate::session::RedbSession;
use crate::watched::WatchedFile;
use bourse_engine::target::{Parsed, TargetError};
use bourse_engine::{
    Capabilities, Description, Durability, Engine, EngineError, FileOwner, Footprint, Hosting, Interface, KeyEngine,
    Location, MemoryStore, RecordCapabilities, Records, Setting, TargetFile, WriterWait, bytes_on_disk,
    lost_with_machine, memory_file_system,
};
use redb::backends::InMemoryBackend;
use redb::{Builder, Database, ReadableDatabase as _, StorageBackend};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The redb database under test.
#[derive(Debug)]
pub struct RedbEngine {
    target: Parsed<Options>,
    /// Path of the file; `None` in memory.
    path: Option<PathBuf>,
    /// Whether calls on its file are made to fail.
    is_watched: bool,
    opened: Mutex<Option<Arc<Database>>>,
    memory_bytes: Arc<AtomicU64>,
}

/// Parses a target; nothing on disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_redb::open("redb::memory:").unwrap();
/// assert!(!engine.exists().unwrap());
/// assert!(bourse_engine_redb::open("redb:x?cash=1MiB").unwrap_err().to_string().contains("known options"));
/// ```
pub fn open(target: &str) -> Result<RedbEngine, TargetError> {
    let target = GRAMMAR.parse(target, Options::DEFAULT)?;
    let path = (target.place != ":memory:").then(|| PathBuf::from(&target.place));
    if let (None, Some(name)) = (&path, target.given.iter().find(|name| **name != "cache")) {
        let what = GRAMMAR.written(name, &target.options);
        return Err(TargetError::Impossible { what, with: "a database in memory", why: "it is about files" });
    }
    Ok(RedbEngine { target, path, is_watched: false, opened: Mutex::new(None), memory_bytes: Arc::default() })
}

/// Opens a target whose file's calls fail as the environment says (`bourse_crash::preload`).
///
/// # Errors
/// Those of [`open`].
pub fn open_watched(target: &str) -> Result<RedbEngine, TargetError> {
    open(target).map(|engine| RedbEngine { is_watched: true, ..engine })
}

/// Version of redb that is compiled in, as `build.rs` reads it from the lock file.
pub fn version() -> &'static str {
    env!("ENGINE_VERSION")
}

/// redb's storage in memory, with its size visible.
#[derive(Debug)]
struct Memory {
    inner: InMemoryBackend,
    bytes: Arc<AtomicU64>,
}

impl StorageBackend for Memory {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.bytes.store(len, Ordering::Relaxed);
        self.inner.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.inner.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.inner.write(offset, data)
    }
}

impl RedbEngine {
    /// Database, opened at first use.
    fn database(&self) -> Result<Arc<Database>, EngineError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = &*opened {
            return Ok(Arc::clone(database));
        }
        let (path, is_new) = match self.path.as_deref().map(look).transpose()? {
            None => (None, false),
            Some(owner) => {
                let (path, is_new) = owner.to_open()?;
                (Some(path), is_new)
            }
        };
        let mut builder = Builder::new();
        builder.set_cache_size(usize::try_from(self.target.options.cache_bytes).unwrap_or(usize::MAX));
        let made = match &path {
            Some(path) if self.is_watched => WatchedFile::open(path).and_then(|file| builder.create_with_backend(file)),
            Some(path) => builder.create(path),
            None => {
                let backend = Memory { inner: InMemoryBackend::new(), bytes: Arc::clone(&self.memory_bytes) };
                builder.create_with_backend(backend)
            }
        };
        let database = Arc::new(made.map_err(|e| {
            let e = error(e);
            EngineError::new(e.kind(), format!("cannot open {}: {}", self.target.place, e.message()))
        })?);
        if is_new {
            mark(&database)?;
        }
        *opened = Some(Arc::clone(&database));
        Ok(database)
    }

    fn durability(&self) -> (Durability, String) {
        let Some(path) = &self.path else {
            return (Durability::Volatile, "the database is in memory".to_owned());
        };
        if let Some(name) = memory_file_system(path) {
            return (Durability::Volatile, format!("the file is on {name}, which is memory"));
        }
        match self.target.options.durability {
            Durable::Immediate => {
                (Durability::Durable, "durability=immediate: the file is made durable at each commit".to_owned())
            }
            Durable::None => (
                Durability::Volatile,
                "durability=none: commits are in this process's memory until one of durability=immediate, which none is"
                    .to_owned(),
            ),
        }
    }
}

impl Engine for RedbEngine {
    fn description(&self) -> Result<Description, EngineError> {
        self.database()?;
        let (durability, durability_reason) = self.durability();
        let setting = |option: &bourse_engine::target::OptionSpec<Options>| Setting {
            name: option.name.to_owned(),
            value: (option.show)(&self.target.options),
        };
        let forgets = self.path.as_deref().and_then(memory_file_system);
        Ok(Description {
            engine: "redb".to_owned(),
            version: version().to_owned(),
            target: self.target.text.clone(),
            durability,
            may_lose: None,
            durability_reason,
            writer_wait: Some(WriterWait::EngineLocks),
            memory_store: self.path.is_none().then_some(MemoryStore::Engine),
            settings: GRAMMAR.options.iter().map(setting).collect(),
            compile_options: Vec::new(),
            warnings: forgets.map(|name| lost_with_machine("the database", name)).into_iter().collect(),
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
        // An open database was examined before.
        if self.opened.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Ok(None);
        }
        Ok(self.path.as_deref().map(look).transpose()?.and_then(FileOwner::foreign))
    }

    fn exists(&self) -> Result<bool, EngineError> {
        let is_open = self.opened.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let is_nothing = || match &self.path {
            Some(path) => Ok(matches!(look(path)?, FileOwner::Nobody(_))),
            None => Ok(true),
        };
        if !is_open && is_nothing()? {
            return Ok(false);
        }
        Ok(!self.tables()?.is_empty())
    }

    fn location(&self) -> Location {
        self.path.as_deref().map_or(Location::Memory, |path| Location::files(TargetFile::resolved(path), &[]))
    }

    fn footprint(&self) -> Result<Footprint, EngineError> {
        let data_bytes = match &self.path {
            Some(path) => bytes_on_disk(path),
            None => self.memory_bytes.load(Ordering::Relaxed),
        };
        Ok(Footprint { data_bytes, ..Footprint::default() })
    }
}

impl KeyEngine for RedbEngine {
    fn new_records(&self) -> Result<Box<dyn Records>, EngineError> {
        let has_disk = self.path.as_deref().is_some_and(|path| memory_file_system(path).is_none());
        Ok(Box::new(RedbSession::new(self.database()?, self.target.options, has_disk)))
    }

    fn tables(&self) -> Result<Vec<String>, EngineError> {
        Ok(tables(&self.database()?.begin_read().map_err(error)?)?.0)
    }
}
