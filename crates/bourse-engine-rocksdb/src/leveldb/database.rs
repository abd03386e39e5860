//! An open database, and the engine that it makes.

use crate::leveldb::library::{LIBRARY, LevelDbApi};
use crate::leveldb::options::{GRAMMAR, LevelDbOptions};
use crate::leveldb::view::LevelDbView;
use crate::library::{Cache, Db, DbOptions, Filter, WriteOptions};
use bourse_engine::records::KeySession;
use bourse_engine::target::{Grammar, TargetError};
use bourse_engine::{
    Capabilities, DatabaseFiles, Durability, EngineError, FileFormat, KeyDatabase, KeyedEngine, MayLose, Records,
    Result, WriterLock, WriterWait, memory_file_system,
};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// LevelDB database under test.
pub type LevelDbEngine = KeyedEngine<LevelDbDatabase>;

/// Parses a target; neither the library nor the disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_rocksdb::leveldb::open("leveldb:x.leveldb?sync=off").unwrap();
/// assert!(!engine.exists().unwrap());
/// ```
pub fn open(target: &str) -> Result<LevelDbEngine, TargetError> {
    LevelDbEngine::open(target)
}

/// Database in an open folder.
pub struct LevelDbDatabase {
    pub(super) api: &'static LevelDbApi,
    pub(super) raw: *mut Db,
    pub(super) write_options: *mut WriteOptions,
    options: *mut DbOptions,
    cache: *mut Cache,
    filter: *mut Filter,
    /// Lock of the one session that writes.
    pub(super) writer: WriterLock,
    /// Number that changes when a table is made anew.
    pub(super) generation: AtomicU64,
    /// Whether commits wait for a disk.
    pub(super) syncs: bool,
    library: PathBuf,
}

// SAFETY: a database, a cache and a filter of LevelDB are made to be shared by threads; options are not changed once made.
unsafe impl Send for LevelDbDatabase {}
// SAFETY: as above.
unsafe impl Sync for LevelDbDatabase {}

impl Drop for LevelDbDatabase {
    fn drop(&mut self) {
        let api = self.api;
        // SAFETY: each was made by the function that belongs to it, or is null where there is none; sessions keep this alive, so none is
        // left.
        unsafe {
            if !self.raw.is_null() {
                (api.close)(self.raw);
            }
            (api.write_options_destroy)(self.write_options);
            (api.options_destroy)(self.options);
            (api.cache_destroy)(self.cache);
            if !self.filter.is_null() {
                (api.filter_destroy)(self.filter);
            }
        }
    }
}

impl LevelDbDatabase {
    fn at(folder: &Path, asked: &LevelDbOptions) -> Result<Self> {
        let library = LIBRARY.load(asked.library.as_deref())?;
        let api = &library.api;
        let path = CString::new(folder.as_os_str().as_bytes())
            .map_err(|_| EngineError::unsupported("a name with a zero byte"))?;
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: each is given what was made for it just now.
        let mut made = unsafe {
            let (options, cache) = ((api.options_create)(), (api.cache_create)(bytes(asked.cache_bytes)));
            let filter = asked.bloom_bits.map_or(ptr::null_mut(), |bits| (api.bloom_create)(i32::from(bits)));
            (api.set_create_if_missing)(options, 1);
            (api.set_cache)(options, cache);
            (api.set_write_buffer_size)(options, bytes(asked.write_buffer_bytes));
            (api.set_compression)(options, i32::from(asked.compression));
            (api.set_filter)(options, filter);
            let write_options = (api.write_options_create)();
            (api.set_sync)(write_options, u8::from(asked.sync));
            Self {
                api,
                raw: ptr::null_mut(),
                write_options,
                options,
                cache,
                filter,
                writer: WriterLock::default(),
                generation: AtomicU64::new(0),
                syncs: asked.sync && memory_file_system(folder).is_none(),
                library: library.path.clone(),
            }
        };
        // SAFETY: the options are good, and the path ends with a zero.
        let opened = api.checked(|status| unsafe { (api.open_database)(made.options, path.as_ptr(), status) });
        made.raw = opened.map_err(|e| e.during(format_args!("cannot open {}", folder.display())))?;
        Ok(made)
    }

    /// Property of the database, as the library writes it.
    fn property(&self, name: &CStr) -> Option<String> {
        // SAFETY: the database is open; the text is copied before it is freed.
        unsafe {
            let text = (self.api.property)(self.raw, name.as_ptr());
            if text.is_null() {
                return None;
            }
            let copied = CStr::from_ptr(text).to_string_lossy().into_owned();
            (self.api.free)(text.cast());
            Some(copied)
        }
    }
}

impl KeyDatabase for LevelDbDatabase {
    type Options = LevelDbOptions;
    const NAME: &'static str = "leveldb";
    const FORMAT: &'static FileFormat = &FileFormat {
        name: "LevelDB",
        own: &["CURRENT", "LOCK", "LOG", "LOG.old", "MANIFEST-#", "#.ldb", "#.sst", "#.log", "#.dbtmp"],
        ..FileFormat::FOLDER
    };
    const GRAMMAR: &'static Grammar<LevelDbOptions> = &GRAMMAR;
    const WRITER_WAIT: WriterWait = WriterWait::BourseQueue;

    const DEFAULTS: LevelDbOptions = LevelDbOptions::DEFAULT;
    const NO_MEMORY: Option<&'static str> =
        Some("its C interface has no database in memory; a folder below /dev/shm is one");
    const LOADS_LIBRARY: bool = true;

    fn found(options: &LevelDbOptions) -> Result<String, String> {
        let (path, version) = super::info(options.library.as_deref()).map_err(|error| error.to_string())?;
        Ok(format!("{version}, library {}", path.display()))
    }

    fn open(options: &LevelDbOptions, files: &DatabaseFiles) -> Result<Arc<Self>> {
        Self::at(&files.open_or_make()?, options).map(Arc::new)
    }

    fn library(&self) -> Option<&Path> {
        Some(&self.library)
    }

    fn version(&self) -> String {
        super::info(Some(&self.library)).map_or_else(|e| e.to_string(), |(_, version)| version)
    }

    fn durability(&self, options: &LevelDbOptions) -> (Durability, String) {
        let (class, why) = match options.sync {
            true => (Durability::Durable, "sync=on: each commit makes the log durable"),
            false => (
                Durability::Consistent,
                "sync=off: a commit is handed to the operating system; what is in the log has checksums",
            ),
        };
        (class, why.to_owned())
    }

    fn may_lose(&self) -> MayLose {
        MayLose::NotWrittenBack
    }

    fn capabilities(_: &LevelDbOptions) -> Capabilities {
        Capabilities::OF_KEYS
    }

    fn records(self: Arc<Self>, _: &LevelDbOptions) -> Box<dyn Records> {
        Box::new(KeySession::new(LevelDbView::new(self)))
    }

    fn tables(&self) -> Result<Vec<String>> {
        Ok(self.names())
    }

    fn memory_bytes(&self) -> (u64, bool) {
        let used = self.property(c"leveldb.approximate-memory-usage").and_then(|text| text.parse().ok());
        (used.unwrap_or(0), false)
    }

    fn is_log(name: &str) -> bool {
        name.ends_with(".log")
    }
}
