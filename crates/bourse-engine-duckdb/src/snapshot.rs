//! Snapshots of a database, from which rounds begin alike without loading again.
//!
//! A file is cloned if the file system shares blocks between files, else copied. A database in memory is copied into another
//! catalog in memory.

use crate::database::{Connection, Database, in_use, is_open};
use crate::loader::{RESTORED, SNAPSHOT, remove_if_there};
use crate::mark::COMPANIONS;
use bourse_engine::{EngineError, ErrorKind, FileCopy, Snapshot, beside};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Snapshot as a file next to the database.
pub(crate) struct ClosedFile {
    path: PathBuf,
    copy: FileCopy,
}

impl ClosedFile {
    /// Copies a closed database, whose log has been merged into it.
    pub(crate) fn take(path: &Path) -> Result<Self, EngineError> {
        if is_open(path) {
            return Err(in_use(path));
        }
        if beside(path, COMPANIONS[0]).exists() {
            let words = format!("{} has a log that was not written into it", path.display());
            return Err(EngineError::new(ErrorKind::Conflict, words));
        }
        Ok(Self { path: path.to_owned(), copy: FileCopy::take(path, &SNAPSHOT)? })
    }
}

impl Snapshot for ClosedFile {
    fn how(&self) -> &str {
        self.copy.how()
    }

    fn restore(&self) -> Result<(), EngineError> {
        if is_open(&self.path) {
            return Err(in_use(&self.path));
        }
        remove_if_there(&beside(&self.path, COMPANIONS[0]))?;
        self.copy.restore(&self.path, &RESTORED)
    }
}

/// Snapshot as a second catalog in memory.
pub(crate) struct MemoryCopy {
    database: Arc<Database>,
    number: u64,
}

impl MemoryCopy {
    pub(crate) fn take(database: Arc<Database>) -> Result<Self, EngineError> {
        let number = copy(&database, database.current())?;
        Ok(Self { database, number })
    }
}

/// Copies a catalog into a new one.
fn copy(database: &Arc<Database>, from: u64) -> Result<u64, EngineError> {
    let number = database.new_catalog()?;
    let sql = format!("COPY FROM DATABASE {} TO {}", Database::catalog(from), Database::catalog(number));
    match Connection::open(database)?.run(&sql) {
        Ok(()) => Ok(number),
        Err(error) => {
            database.drop_catalog(number)?;
            Err(error)
        }
    }
}

impl Snapshot for MemoryCopy {
    fn how(&self) -> &str {
        "copied in memory"
    }

    fn restore(&self) -> Result<(), EngineError> {
        let restored = copy(&self.database, self.number)?;
        let old = self.database.set_current(restored);
        self.database.drop_catalog(old)
    }
}

impl Drop for MemoryCopy {
    fn drop(&mut self) {
        // A catalog that cannot be dropped only occupies memory until the database is closed.
        let _ = self.database.drop_catalog(self.number);
    }
}
