//! Databases of Berkeley DB SQL: SQLite's SQL over another store, which consists of a file and a folder with the log
//! and the shared memory.
//!
//! Both are in a folder, like databases of other engines that are folders, so that they are marked and removed together: `PATH/db/database` and `PATH/db/database-journal`. The log names the database by its name in
//! the folder, which stays the same when the folder is renamed.

use crate::connection::SqliteConnection;
use crate::ffi::SqliteLibrary;
use crate::loader::{CACHE_BYTES, RowInsertion};
use crate::options::{SqliteOptions, SqliteSync};
use crate::session::SharedEngine;
use crate::source::SqliteSource;
use bourse_engine::{
    Batch, DatabaseFiles, Durability, EachRow, EngineError, FileFormat, FileUse, FolderParts, IncomingRows, Loader,
    MayLose, Result, rows_loader,
};
use std::ffi::CStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Compile option by which the library is recognised.
const COMPILED_WITH: &CStr = c"BERKELEY_DB";
/// The database's file in its folder.
const FILE: &str = "database";
/// Number of rows after which a load commits: all locks of a transaction must fit into memory.
const ROWS_PER_COMMIT: usize = 20_000;

/// Settings that a database of Berkeley DB in a file accepts.
pub(crate) const SETTINGS: [&str; 11] = [
    "sync", "page_size", "cache", "busy_timeout", "foreign_keys", "checks", "temp_store", "threading",
    "statement_cache", "stable_plans", "library",
];

impl SqliteLibrary {
    /// Whether the library is Berkeley DB's.
    pub(crate) fn is_berkeley_db(self) -> bool {
        self.is_compiled_with(COMPILED_WITH)
    }
}

/// Subfolders of a database's folder.
pub(crate) fn parts(root: &Path) -> FolderParts {
    FolderParts::of(DatabaseFiles::at(root, &FORMAT), |folder| FileUse::is_used(&file_in(folder)))
}

/// Form of such a folder.
static FORMAT: FileFormat = FileFormat {
    name: "Berkeley DB SQL",
    own: &[
        "@/database",
        "@/database-journal/DB_CONFIG",
        "@/database-journal/log.#",
        "@/database-journal/__db.*",
        "@/database-journal/*.lck",
    ],
    ..FileFormat::FOLDER
};

/// The database's file in its folder.
pub(crate) fn file_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Whether the name is that of a log file.
pub(crate) fn is_log(name: &str) -> bool {
    name.starts_with("log.")
}

/// Creates and marks the folder, with the subfolders for a database.
pub(crate) fn make(parts: &FolderParts, options: &SqliteOptions) -> Result<()> {
    parts.files().open_or_make()?;
    make_room(&parts.database(), options.cache_bytes)
}

/// Creates the subfolders of a database; the first connection to it creates a page cache of that size.
fn make_room(folder: &Path, cache_bytes: u64) -> Result<()> {
    let journal = journal_in(folder);
    fs::create_dir_all(&journal).map_err(|e| EngineError::io("create", &journal, &e))?;
    // The pragma that sets it opens the database first.
    let config = journal.join("DB_CONFIG");
    let (gib, rest) = (cache_bytes >> 30, cache_bytes & ((1 << 30) - 1));
    fs::write(&config, format!("set_cachesize {gib} {rest} 1\n")).map_err(|e| EngineError::io("write", &config, &e))
}

/// Path of the folder with the log and the shared memory of the database in `folder`.
fn journal_in(folder: &Path) -> PathBuf {
    folder.join(format!("{FILE}-journal"))
}

/// Lets a new connection read what was committed when its transaction began: it waits for no writer, and no writer for
/// it.
pub(crate) fn enable_snapshot_reads(connection: &SqliteConnection) -> Result<()> {
    // All connections of a process have one environment, in which versions of pages are kept or not.
    if connection.text_of("PRAGMA multiversion")? != "1" {
        connection.run("PRAGMA multiversion = ON")?;
    }
    connection.run("PRAGMA snapshot_isolation = ON")
}

/// Removes the shared memory of a database that no process has open: the next connection creates it anew, with the size
/// in its settings.
fn forget_memory(folder: &Path) -> Result<()> {
    let journal = journal_in(folder);
    let Ok(entries) = fs::read_dir(&journal) else { return Ok(()) };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("__db.")) {
        let path = entry.path();
        fs::remove_file(&path).map_err(|e| EngineError::io("remove", &path, &e))?;
    }
    Ok(())
}

/// Durability class of acknowledged commits, the reason, and the commits that power loss may take in the class
/// `consistent`.
pub(crate) fn durability(sync: SqliteSync) -> (Durability, String, MayLose) {
    let (class, why) = match sync {
        SqliteSync::Off => (Durability::Volatile, "the log stays in the memory of the process until that is full"),
        SqliteSync::Normal => {
            (Durability::Consistent, "the log is written at each commit, and made durable at checkpoints")
        }
        SqliteSync::Full | SqliteSync::Extra => (Durability::Durable, "the log is made durable at each commit"),
    };
    (class, format!("sync={}: {why}", sync.word()), MayLose::SinceCheckpoint)
}

/// Rows of a load, in transactions of some thousand each.
struct Portions {
    rows: RowInsertion,
    /// Number of rows since the last commit.
    uncommitted: usize,
}

impl Portions {
    /// Commits the transaction, and begins another one.
    fn commit(&mut self) -> Result<()> {
        self.uncommitted = 0;
        self.rows.run("COMMIT; BEGIN IMMEDIATE")
    }
}

impl IncomingRows for Portions {
    fn run(&mut self, sql: &str) -> Result<()> {
        self.rows.run(sql)?;
        self.commit()
    }

    fn insert(&mut self, batch: &dyn Batch) -> Result<()> {
        self.rows.insert(batch)?;
        self.uncommitted += batch.len();
        if self.uncommitted < ROWS_PER_COMMIT { Ok(()) } else { self.commit() }
    }

    fn query(&mut self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.rows.query(sql, each)
    }
}

/// Loader that builds a database in the folder `loading`, then renames it.
pub(crate) fn folder_loader(
    parts: &FolderParts,
    options: SqliteOptions,
    shared: &SharedEngine,
) -> Result<Box<dyn Loader>> {
    parts.files().open_or_make()?;
    let load = parts.begin_load()?;
    make_room(load.path(), options.cache_bytes.max(CACHE_BYTES))?;
    let rows =
        RowInsertion::alone(&SqliteSource::file(shared.library, &file_in(load.path()), true)?, &options, shared)?;
    Ok(rows_loader(Portions { rows, uncommitted: 0 }, move |portions| {
        // Closing writes everything back.
        portions.rows.finish()?;
        forget_memory(load.path())?;
        make_room(load.path(), options.cache_bytes)?;
        load.publish(|_| Ok(()))
    }))
}
