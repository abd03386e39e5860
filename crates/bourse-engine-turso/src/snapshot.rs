//! Snapshots of a database, from which rounds begin alike without loading again.
//!
//! A file is cloned if the file system shares blocks between files, else copied. The bytes of a database in memory are copied.

use crate::database::{Connection, Database, MEMORY, in_use, is_open, is_whole};
use crate::engine::Kept;
use crate::error::error;
use crate::loader::{RESTORED, SNAPSHOT, remove_logs};
use crate::options::Options;
use bourse_engine::{EngineError, ErrorKind, FileCopy, Snapshot};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use turso_core::{Buffer, Completion, File, IO, MemoryIO, OpenFlags};

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
        if !is_whole(path) {
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
        remove_logs(&self.path)?;
        self.copy.restore(&self.path, &RESTORED)
    }
}

/// Bytes of a database in memory, with the engine that it belongs to.
pub(crate) struct MemoryCopy {
    options: Options,
    bytes: Vec<Arc<Buffer>>,
    kept: Arc<Mutex<Kept>>,
}

/// Size in bytes of the pieces that are copied: the unit of Turso's files in memory.
const CHUNK: usize = 1 << 20;

impl MemoryCopy {
    pub(crate) fn take(database: &Arc<Database>, kept: Arc<Mutex<Kept>>) -> Result<Self, EngineError> {
        Connection::open(database)?.write_log()?;
        let bytes = read(&**database.io()).map_err(|e| error(&e))?;
        Ok(Self { options: *database.options(), bytes, kept })
    }
}

/// Bytes of the database in these files.
fn read(io: &dyn IO) -> turso_core::Result<Vec<Arc<Buffer>>> {
    let file = io.open_file(MEMORY[0], OpenFlags::None, false)?;
    let size = usize::try_from(file.size()?).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    for at in (0..size).step_by(CHUNK) {
        let buffer = Arc::new(Buffer::new(vec![0; CHUNK.min(size - at)]));
        let done = file.pread(at as u64, Completion::new_read(Arc::clone(&buffer), |_| None))?;
        io.wait_for_completion(done)?;
        bytes.push(buffer);
    }
    Ok(bytes)
}

/// Writes those bytes to a file.
fn write(io: &dyn IO, file: &dyn File, bytes: &[Arc<Buffer>]) -> turso_core::Result<()> {
    let mut at = 0;
    for buffer in bytes {
        io.wait_for_completion(file.pwrite(at, Arc::clone(buffer), Completion::new_write(|_| {}))?)?;
        at += buffer.len() as u64;
    }
    Ok(())
}

impl Snapshot for MemoryCopy {
    fn how(&self) -> &str {
        "copied in memory"
    }

    fn restore(&self) -> Result<(), EngineError> {
        let files = Arc::new(MemoryIO::new());
        let made =
            files.open_file(MEMORY[0], OpenFlags::Create, false).and_then(|file| write(&*files, &*file, &self.bytes));
        made.map_err(|e| error(&e))?;
        let database = Database::in_memory(files, self.options)?;
        database.set_journal()?;
        let old = self.kept.lock().unwrap_or_else(PoisonError::into_inner).memory.replace(database);
        drop(old);
        Ok(())
    }
}
