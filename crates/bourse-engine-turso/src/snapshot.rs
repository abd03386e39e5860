//! Snapshots of a database in memory: its bytes are copied.

use crate::database::{MEMORY, TursoConnection, TursoDatabase};
use crate::error::error;
use crate::options::TursoOptions;
use bourse_engine::{Result, SharedDatabase, Snapshot};
use std::sync::Arc;
use turso_core::{Buffer, Completion, File, IO, MemoryIO, OpenFlags};

/// Bytes of a database in memory, with the engine that it belongs to.
pub(crate) struct DatabaseBytes {
    options: TursoOptions,
    bytes: Vec<Arc<Buffer>>,
    opened: SharedDatabase<TursoDatabase>,
}

/// Size in bytes of the pieces that are copied: the unit of Turso's files in memory.
const CHUNK_BYTES: usize = 1 << 20;

impl DatabaseBytes {
    pub(crate) fn take(database: &Arc<TursoDatabase>, opened: SharedDatabase<TursoDatabase>) -> Result<Self> {
        TursoConnection::open(database)?.write_log()?;
        let bytes = read(&**database.io()).map_err(|e| error(&e))?;
        Ok(Self { options: *database.options(), bytes, opened })
    }
}

/// Bytes of the database in these files.
fn read(io: &dyn IO) -> turso_core::Result<Vec<Arc<Buffer>>> {
    let file = io.open_file(MEMORY[0], OpenFlags::None, false)?;
    let size = usize::try_from(file.size()?).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    for at in (0..size).step_by(CHUNK_BYTES) {
        let buffer = Arc::new(Buffer::new(vec![0; CHUNK_BYTES.min(size - at)]));
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

impl Snapshot for DatabaseBytes {
    fn method(&self) -> &str {
        "copied in memory"
    }

    fn restore(&self) -> Result<()> {
        let files = Arc::new(MemoryIO::new());
        let made =
            files.open_file(MEMORY[0], OpenFlags::Create, false).and_then(|file| write(&*files, &*file, &self.bytes));
        made.map_err(|e| error(&e))?;
        let database = TursoDatabase::in_memory(files, self.options)?;
        database.set_journal()?;
        self.opened.replace(database);
        Ok(())
    }
}
