//! An open environment, and the engine that it makes.

use crate::berkeley::library::{BerkeleyApi, LIBRARY, Object};
use crate::berkeley::options::{BerkeleyOptions, GRAMMAR};
use crate::berkeley::view::{BerkeleyView, Table};
use bourse_engine::records::{KeySession, KeyView as _};
use bourse_engine::target::{Grammar, TargetError};
use bourse_engine::{
    Capabilities, DatabaseFiles, Durability, EngineError, ErrorKind, FileFormat, KeyDatabase, KeyedEngine, MayLose,
    RecordTable, Records, Result, locked, memory_file_system,
};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Berkeley DB database under test.
pub type BerkeleyEngine = KeyedEngine<BerkeleyDatabase>;

/// Table with the names of all others, which have a colon.
const TABLES: &str = "tables";

/// Sizes of the tables for locks, objects and lockers, and of that for transactions: enough for pages of any transaction here.
const LOCKS: u32 = 200_000;
const TRANSACTIONS: u32 = 10_000;

/// Longest wait for a lock, in microseconds.
const LOCK_TIMEOUT_US: u32 = 10_000_000;

/// Log since the last checkpoint at which the next is made, in KiB, and the commits between two looks at it.
const CHECKPOINT_KIB: u32 = 32 << 10;
const LOOK_EVERY: u64 = 256;

/// Parses a target; neither the library nor the disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
///
/// ```
/// use bourse_engine::Engine as _;
/// let engine = bourse_engine_rocksdb::berkeley::open("berkeleydb:x.bdb?sync=off").unwrap();
/// assert!(!engine.exists().unwrap());
/// ```
pub fn open(target: &str) -> Result<BerkeleyEngine, TargetError> {
    BerkeleyEngine::open(target)
}

/// Database in an open folder: an environment of the library, in the memory of this process, with its tables.
pub struct BerkeleyDatabase {
    pub(super) api: &'static BerkeleyApi,
    pub(super) env: Object,
    tables: Mutex<BTreeMap<String, Table>>,
    commits: AtomicU64,
    cache_bytes: u64,
    pub(super) sync: bool,
    /// Whether commits wait for a disk.
    pub(super) syncs: bool,
    library: PathBuf,
    /// File that is locked for as long as the database is open.
    lock: File,
}

// SAFETY: an environment and tables that are opened with DB_THREAD are made to be shared by threads.
unsafe impl Send for BerkeleyDatabase {}
// SAFETY: as above.
unsafe impl Sync for BerkeleyDatabase {}

impl Drop for BerkeleyDatabase {
    fn drop(&mut self) {
        // SAFETY: sessions keep this alive, so no transaction and no cursor is left; each object is closed once. What an error here
        // would tell, the recovery at the next opening puts right.
        unsafe {
            let _ = self.api.env_checkpoint(self.env, 0, 0, 0);
            for table in std::mem::take(&mut *locked(&self.tables)).into_values() {
                let _ = self.api.table_close(table.0, 0);
            }
            let _ = self.api.env_close(self.env, 0);
        }
        // A process that was started meanwhile shares the open file until it runs its program.
        let _ = self.lock.unlock();
    }
}

impl BerkeleyDatabase {
    fn at(folder: &Path, asked: &BerkeleyOptions) -> Result<Arc<Self>> {
        /// `DB_CREATE`, `DB_RECOVER`, `DB_INIT_LOCK`, `_LOG`, `_MPOOL`, `_TXN`, `DB_THREAD`, `DB_PRIVATE`.
        const OPEN: u32 = 0x1 | 0x2 | 0x100 | 0x200 | 0x400 | 0x2000 | 0x20 | 0x1_0000;
        let library = LIBRARY.load(asked.library.as_deref())?;
        let api = &library.api;
        let path = CString::new(folder.as_os_str().as_bytes())
            .map_err(|_| EngineError::unsupported("a name with a zero byte"))?;
        let failed = |e: EngineError| e.during(format_args!("cannot open {}", folder.display()));
        let place = folder.join("LOCK");
        let lock = File::options().create(true).truncate(false).write(true).open(&place);
        let lock = lock.map_err(|e| EngineError::io("open", &place, &e))?;
        // The environment is in this process's memory alone, and the library would not notice another one's.
        lock.try_lock().map_err(|_| failed(EngineError::new(ErrorKind::Other, "another process has it open")))?;
        let mut env = ptr::null_mut();
        // SAFETY: a place for the environment.
        match unsafe { (api.env_create)(&raw mut env, 0) } {
            0 => {}
            code => return Err(api.error(code)),
        }
        let (gigabytes, bytes) = (asked.cache_bytes >> 30, asked.cache_bytes & ((1 << 30) - 1));
        // SAFETY: the environment is there and not open yet; the path ends with a zero.
        let opened = unsafe {
            api.env_set_cache(env, gigabytes as u32, bytes as u32, 1)
                .and_then(|()| api.env_set_locks(env, LOCKS))
                .and_then(|()| api.env_set_objects(env, LOCKS))
                .and_then(|()| api.env_set_lockers(env, TRANSACTIONS))
                .and_then(|()| api.env_set_transactions(env, TRANSACTIONS))
                .and_then(|()| api.env_detect_deadlocks(env, 1))
                .and_then(|()| api.env_set_timeout(env, LOCK_TIMEOUT_US, 1))
                .and_then(|()| api.env_configure_log(env, 1, 1))
                .and_then(|()| api.env_open(env, path.as_ptr(), OPEN, 0))
        };
        if let Err(error) = opened {
            // SAFETY: an environment that could not be opened is closed once.
            let _ = unsafe { api.env_close(env, 0) };
            return Err(failed(error));
        }
        let this = Self {
            api,
            env,
            tables: Mutex::default(),
            commits: AtomicU64::new(0),
            cache_bytes: asked.cache_bytes,
            sync: asked.sync,
            syncs: asked.sync && memory_file_system(folder).is_none(),
            library: library.path.clone(),
            lock,
        };
        let this = Arc::new(this);
        this.open_table(TABLES)?;
        for name in this.names()? {
            this.open_table(&name)?;
        }
        Ok(this)
    }

    /// Opens a table, which is made if there is none.
    fn open_table(&self, name: &str) -> Result<Table> {
        /// `DB_BTREE`.
        const TREE: i32 = 1;
        /// `DB_CREATE`, `DB_AUTO_COMMIT`, `DB_THREAD`, `DB_MULTIVERSION`.
        const OPEN: u32 = 0x1 | 0x100 | 0x20 | 0x8;
        let c_name = CString::new(name).map_err(|_| EngineError::unsupported("a name with a zero byte"))?;
        let mut table = ptr::null_mut();
        // SAFETY: the environment is open; a place for the table, whose names end with a zero.
        unsafe {
            match (self.api.db_create)(&raw mut table, self.env, 0) {
                0 => {}
                code => return Err(self.api.error(code)),
            }
            let opened =
                self.api.table_open(table, ptr::null_mut(), c"tables.db".as_ptr(), c_name.as_ptr(), TREE, OPEN, 0);
            if let Err(error) = opened {
                let _ = self.api.table_close(table, 0);
                return Err(error);
            }
        }
        locked(&self.tables).insert(name.to_owned(), Table(table));
        Ok(Table(table))
    }

    /// Table of that name, if it is there.
    pub(super) fn table(&self, name: &str) -> Option<Table> {
        locked(&self.tables).get(name).copied()
    }

    /// Empties a table, which is made if there is none.
    pub(super) fn remake(self: &Arc<Self>, name: &str) -> Result<()> {
        if let Some(table) = self.table(name) {
            let mut count = 0;
            // SAFETY: the table is open; a place for a number.
            return unsafe { self.api.truncate(table.0, ptr::null_mut(), &raw mut count, 0) };
        }
        self.open_table(name)?;
        let mut view = BerkeleyView::new(Arc::clone(self));
        let Some(tables) = self.table(TABLES) else { return Ok(()) };
        view.begin(bourse_engine::Access::Write)?;
        view.put(&tables, name.as_bytes(), &[])?;
        view.commit()
    }

    /// Names of all tables, with the types of their keys.
    fn names(self: &Arc<Self>) -> Result<Vec<String>> {
        let (mut view, mut names) = (BerkeleyView::new(Arc::clone(self)), Vec::new());
        if let Some(tables) = self.table(TABLES) {
            view.scan(&tables, &[], u64::MAX, |name, _| {
                names.push(String::from_utf8_lossy(name).into_owned());
                Ok(())
            })?;
        }
        Ok(names)
    }

    /// Notes a commit: now and then the log is looked at, and a checkpoint made where it has grown.
    pub(super) fn committed(&self) -> Result<()> {
        if !self.commits.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOK_EVERY) {
            return Ok(());
        }
        // SAFETY: the environment is open.
        unsafe { self.api.env_checkpoint(self.env, CHECKPOINT_KIB, 0, 0) }
    }
}

impl KeyDatabase for BerkeleyDatabase {
    type Options = BerkeleyOptions;
    const NAME: &'static str = "berkeleydb";
    const FORMAT: &'static FileFormat =
        &FileFormat { name: "Berkeley DB", own: &["LOCK", "tables.db", "log.#", "__db.#"], ..FileFormat::FOLDER };
    const GRAMMAR: &'static Grammar<BerkeleyOptions> = &GRAMMAR;

    const DEFAULTS: BerkeleyOptions = BerkeleyOptions::DEFAULT;
    const NO_MEMORY: Option<&'static str> =
        Some("its databases here are in folders; a folder below /dev/shm is in memory");
    const LOADS_LIBRARY: bool = true;

    fn found(options: &BerkeleyOptions) -> Result<String, String> {
        let (path, version) = super::info(options.library.as_deref()).map_err(|error| error.to_string())?;
        Ok(format!("{version}, library {}", path.display()))
    }

    fn open(options: &BerkeleyOptions, files: &DatabaseFiles) -> Result<Arc<Self>> {
        Self::at(&files.open_or_make()?, options)
    }

    fn library(&self) -> Option<&Path> {
        Some(&self.library)
    }

    fn version(&self) -> String {
        super::info(Some(&self.library)).map_or_else(|e| e.to_string(), |(_, version)| version)
    }

    fn durability(&self, options: &BerkeleyOptions) -> (Durability, String) {
        let (class, why) = match options.sync {
            true => (Durability::Durable, "sync=on: each commit makes the log durable"),
            false => (
                Durability::Consistent,
                "sync=off: a commit is handed to the operating system (DB_TXN_WRITE_NOSYNC); what is in the log has checksums",
            ),
        };
        (class, why.to_owned())
    }

    fn may_lose(&self) -> MayLose {
        MayLose::NotWrittenBack
    }

    fn capabilities(_: &BerkeleyOptions) -> Capabilities {
        // Writers lock the pages that they read and change.
        Capabilities { concurrent_writers: true, ..Capabilities::OF_KEYS }
    }

    fn records(self: Arc<Self>, _: &BerkeleyOptions) -> Box<dyn Records> {
        Box::new(KeySession::new(BerkeleyView::new(self)))
    }

    fn tables(&self) -> Result<Vec<String>> {
        let tables = locked(&self.tables);
        Ok(tables.keys().filter(|name| *name != TABLES).map(|name| RecordTable::name_in(name)).collect())
    }

    fn memory_bytes(&self) -> (u64, bool) {
        (self.cache_bytes, false)
    }

    fn is_log(name: &str) -> bool {
        name.starts_with("log.")
    }
}
