//! The engine: what redb's database is to the seam.

use crate::error::error;
use crate::options::{Durable, GRAMMAR, RedbOptions};
use crate::session::RedbSession;
use bourse_engine::target::{Grammar, ParsedTarget, TargetError};
use bourse_engine::{
    Capabilities, DatabaseFiles, Durability, FileFormat, KeyDatabase, KeyedEngine, Records, Result, memory_file_system,
};
use redb::backends::InMemoryBackend;
use redb::{Builder, ReadableDatabase as _, StorageBackend, TableHandle as _};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The redb database under test.
pub type RedbEngine = KeyedEngine<RedbDatabase>;

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
    RedbEngine::open(target)
}

/// Version of redb that is compiled in, as `build.rs` reads it from the lock file.
pub fn version() -> &'static str {
    env!("ENGINE_VERSION")
}

/// Open database.
#[derive(Debug)]
pub struct RedbDatabase {
    inner: Arc<redb::Database>,
    /// Whether it is on a disk, which commits wait for.
    has_disk: bool,
    /// Size in bytes of a database in memory; `None` in a file.
    memory_bytes: Option<Arc<AtomicU64>>,
}

/// redb's storage in memory, with its size visible.
#[derive(Debug)]
struct MemoryBackend {
    inner: InMemoryBackend,
    bytes: Arc<AtomicU64>,
}

impl StorageBackend for MemoryBackend {
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

fn builder(options: &RedbOptions) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(usize::try_from(options.cache_bytes).unwrap_or(usize::MAX));
    builder
}

impl KeyDatabase for RedbDatabase {
    type Options = RedbOptions;
    const NAME: &'static str = "redb";
    const FORMAT: &'static FileFormat = &FileFormat { name: "redb", ..FileFormat::FILE };
    const GRAMMAR: &'static Grammar<RedbOptions> = &GRAMMAR;

    const DEFAULTS: RedbOptions = RedbOptions::DEFAULT;

    fn check(target: &mut ParsedTarget<RedbOptions>) -> Result<(), TargetError> {
        match target.given.iter().find(|name| **name != "cache" && target.place == ":memory:") {
            None => Ok(()),
            Some(name) => {
                let what = GRAMMAR.written(name, &target.options);
                Err(TargetError::Impossible { what, with: "a database in memory", why: "it is about files" })
            }
        }
    }

    fn found(_: &RedbOptions) -> Result<String, String> {
        Ok(version().to_owned())
    }

    fn open(options: &RedbOptions, files: &DatabaseFiles) -> Result<Arc<Self>> {
        let opened = |path: &Path| {
            let opened = builder(options).create(path);
            opened.map_err(|e| error(e).during(format_args!("cannot open {}", path.display())))
        };
        // A process that is killed while redb makes a file leaves one that redb refuses.
        let path = files.open_or_make_with(|path| opened(path).map(drop))?;
        let inner = opened(&path)?;
        let has_disk = memory_file_system(&path).is_none();
        Ok(Arc::new(Self { inner: Arc::new(inner), has_disk, memory_bytes: None }))
    }

    fn open_in_memory(options: &RedbOptions) -> Result<Arc<Self>> {
        let bytes = Arc::<AtomicU64>::default();
        let backend = MemoryBackend { inner: InMemoryBackend::new(), bytes: Arc::clone(&bytes) };
        let inner = builder(options).create_with_backend(backend).map_err(error)?;
        Ok(Arc::new(Self { inner: Arc::new(inner), has_disk: false, memory_bytes: Some(bytes) }))
    }

    fn durability(&self, options: &RedbOptions) -> (Durability, String) {
        match options.durability {
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

    fn capabilities(_: &RedbOptions) -> Capabilities {
        Capabilities::OF_KEYS
    }

    fn records(self: Arc<Self>, options: &RedbOptions) -> Box<dyn Records> {
        Box::new(RedbSession::new(Arc::clone(&self.inner), *options, self.has_disk))
    }

    fn tables(&self) -> Result<Vec<String>> {
        let reading = self.inner.begin_read().map_err(error)?;
        Ok(reading.list_tables().map_err(error)?.map(|table| table.name().to_owned()).collect())
    }

    fn memory_bytes(&self) -> (u64, bool) {
        self.memory_bytes.as_ref().map_or((0, false), |bytes| (bytes.load(Ordering::Relaxed), true))
    }
}
