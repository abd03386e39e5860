//! `files:`: records as files of a file system, the storage that databases are compared with.
//!
//! A table is a folder, a record a file named for its key. Transactions of several records are carried out one after another
//! under a lock of this process, since files have none; they cannot be undone.

mod session;

use crate::database_files::refuse_links;
use crate::records::codec::BYTES;
use crate::target::{Grammar, Scheme, TargetError};
use crate::{
    Access, Capabilities, DatabaseFiles, Durability, EngineError, EngineKind, ErrorKind, FileFormat, FolderBytes,
    InProcessPlaces, KeyDatabase, KeyedEngine, RecordCapabilities, Records, Result, Wait, blocked_on, folder_bytes,
    locked, option_words, options,
};
use session::FilesSession;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

option_words! {
    /// Arrangement of a table's files.
    pub enum FilesLayout {
        /// All in the table's folder.
        Flat = "flat",
        /// Folders of folders, at most 100 files in each if the keys are numbers. The first hundred are in the table's folder, so
        /// that the list of tables is found with either layout.
        Tree = "tree",
    }
}

options! {
    /// Options of a target.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct FilesOptions;

    /// `layout`.
    layout: FilesLayout = FilesLayout::Flat => ["layout": word(FilesLayout), "flat, tree",
        "a table's files in one folder, or in folders of folders with 100 files each"];

    /// `sync`.
    sync: bool = true => ["sync": switch, "whether each written file is synced, and the folder of a new one"];
}

/// Grammar of the targets.
pub static GRAMMAR: Grammar<FilesOptions> =
    Grammar { engine: "files", schemes: &[Scheme::plain("files")], forms: "files:PATH, a folder", options: OPTIONS };

/// Name of the file that is locked.
const LOCK: &str = "lock";

/// Engine whose records are files.
pub type FilesEngine = KeyedEngine<FilesDatabase>;

/// Registration of the engine.
pub(crate) const KIND: EngineKind = EngineKind {
    in_process: Some(InProcessPlaces { is_asked_for: true, ..InProcessPlaces::new(Some("files"), false) }),
    prepares_ms: 15_000,
    tunes: &["sync=off", "layout=tree"],
    faults_by_preload: true,
    ..FilesEngine::kind(
        ["files", "records as files of the file system, which databases are compared with", "files:PATH?layout=tree"],
        Some("files"),
    )
};

/// Parses a target; nothing on disk is touched yet.
///
/// # Errors
/// [`TargetError`]: the part of the target that is wrong, and the known options.
pub fn open(target: &str) -> Result<FilesEngine, TargetError> {
    FilesEngine::open(target)
}

/// Sessions inside transactions.
#[derive(Debug, Default)]
struct Inside {
    readers: usize,
    writer: bool,
}

/// Folder of the tables, with the lock of its transactions.
#[derive(Debug)]
pub struct FilesDatabase {
    folder: PathBuf,
    inside: Mutex<Inside>,
    left: Condvar,
    /// File whose lock keeps other processes out as long as it is open.
    _lock: File,
    /// Size of the files, as counted last; `None` after a file was made or removed.
    bytes: Mutex<Option<FolderBytes>>,
}

/// A session's transaction: others wait as long as it lives, unless both only read.
#[derive(Debug)]
struct FilesTransaction {
    database: Arc<FilesDatabase>,
    access: Access,
}

impl FilesTransaction {
    /// Waits until transactions of other sessions permit one with that access.
    fn begin(database: &Arc<FilesDatabase>, access: Access) -> Self {
        let must_wait = |inside: &mut Inside| inside.writer || (access == Access::Write && inside.readers > 0);
        let mut inside = locked(&database.inside);
        if must_wait(&mut inside) {
            inside = blocked_on(Wait::Lock, || database.left.wait_while(inside, must_wait))
                .unwrap_or_else(PoisonError::into_inner);
        }
        match access {
            Access::Read => inside.readers += 1,
            Access::Write => inside.writer = true,
        }
        drop(inside);
        Self { database: Arc::clone(database), access }
    }
}

impl Drop for FilesTransaction {
    fn drop(&mut self) {
        let mut inside = locked(&self.database.inside);
        match self.access {
            Access::Read => inside.readers -= 1,
            Access::Write => inside.writer = false,
        }
        self.database.left.notify_all();
    }
}

impl FilesDatabase {
    /// Notes that a file was made or removed.
    fn resized(&self) {
        *locked(&self.bytes) = None;
    }
}

impl KeyDatabase for FilesDatabase {
    type Options = FilesOptions;
    const NAME: &'static str = "files";
    const FORMAT: &'static FileFormat = &FileFormat {
        name: "files",
        own: &[LOCK, "%/######", "%/-#####", "%/##/##/##", "%/-#/##/##", "%/%=", "%/%+/%+/%="],
        first_byte: Some(BYTES),
        ..FileFormat::FOLDER
    };
    const GRAMMAR: &'static Grammar<FilesOptions> = &GRAMMAR;

    const DEFAULTS: FilesOptions = FilesOptions::DEFAULT;
    const NO_MEMORY: Option<&'static str> = Some("files are in a folder; one below /dev/shm is in memory");

    fn found(_: &FilesOptions) -> Result<String, String> {
        Ok(env!("CARGO_PKG_VERSION").to_owned())
    }

    fn open(_: &FilesOptions, files: &DatabaseFiles) -> Result<Arc<Self>> {
        let folder = files.open_or_make()?;
        files.refuse_others(|_| true)?;
        let path = folder.join(LOCK);
        if let Ok(found) = path.symlink_metadata() {
            refuse_links(&path, &found)?;
        }
        let lock = OpenOptions::new().create(true).truncate(true).write(true).open(&path);
        let mut lock = lock.map_err(|e| EngineError::io("open", &path, &e))?;
        if lock.try_lock().is_err() {
            let text = format!("cannot lock {}: it is in use", path.display());
            return Err(EngineError::new(ErrorKind::Conflict, text));
        }
        lock.write_all(b"records as files\n").map_err(|e| EngineError::io("write", &path, &e))?;
        let (inside, left, bytes) = (Mutex::default(), Condvar::new(), Mutex::default());
        Ok(Arc::new(Self { folder, inside, left, _lock: lock, bytes }))
    }

    fn durability(&self, options: &FilesOptions) -> (Durability, String) {
        // No file is replaced whole, so a power loss may take an old value with the new one.
        let why = match options.sync {
            true => {
                "sync=on: each file is synced, but overwritten in place: a power loss meanwhile takes its old value too"
            }
            false => "sync=off: the disk is never waited for",
        };
        (Durability::Process, why.to_owned())
    }

    fn capabilities(_: &FilesOptions) -> Capabilities {
        let records = RecordCapabilities {
            ordered_scans: false,
            indexed_fields: false,
            assigned_keys: false,
            rollback: false,
            ..RecordCapabilities::OVER_SQL
        };
        Capabilities { snapshots: false, records: Some(records), ..Capabilities::OF_KEYS }
    }

    fn records(self: Arc<Self>, options: &FilesOptions) -> Box<dyn Records> {
        Box::new(FilesSession::new(self, *options))
    }

    fn tables(&self) -> Result<Vec<String>> {
        let found = fs::read_dir(&self.folder).map_err(|e| EngineError::io("read", &self.folder, &e))?;
        let folders = found.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        Ok(folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    }

    fn sizes(&self, files: &DatabaseFiles) -> FolderBytes {
        *locked(&self.bytes).get_or_insert_with(|| folder_bytes(files.path(), &Self::is_log))
    }
}
