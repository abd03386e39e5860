//! Copies of a database, so that every round can begin with the same data without loading again.
//!
//! A file is cloned where the file system shares blocks between files, and copied where it does not. A database in
//! memory is copied page by page into another one in memory.

use crate::connection::SqliteConnection;
use crate::engine::SqliteEngine;
use crate::ffi;
use crate::memvfs;
use crate::options::MemoryKind;
use crate::shared_connection::{LentConnection, SharedConnection};
use crate::source::SqliteSource;
use bourse_engine::{EngineError, ErrorKind, Result, Snapshot};
use std::sync::Arc;

/// Copies the present content of a target.
pub(crate) fn take(engine: &SqliteEngine) -> Result<Box<dyn Snapshot>> {
    let Some(files) = engine.files() else { return Ok(Box::new(MemoryCopy::take(engine)?)) };
    let connection = engine.connection()?;
    // Answers whether another session was in the way; then the log would still hold what the copy lacks.
    if connection.text_of("PRAGMA wal_checkpoint(TRUNCATE)")? != "0" {
        return Err(EngineError::new(ErrorKind::Conflict, "the log cannot be written back: a session is open"));
    }
    drop(connection);
    files.snapshot()
}

/// Copy of a database in memory, in memory.
struct MemoryCopy {
    /// Name of the copy in Bourse's file system.
    name: String,
    copy: SqliteConnection,
    /// Database that it is restored to.
    to: Destination,
}

enum Destination {
    /// Database in Bourse's file system: it is replaced by another of that name.
    Named { name: String, open: OpenMemoryDatabase },
    /// Database that lives as long as a connection to it, such as this one.
    Kept(LentConnection),
    /// Database in a session's connection, which no session may have meanwhile.
    Private(Arc<SharedConnection>),
}

/// Opens a database of Bourse's file system in memory by name.
type OpenMemoryDatabase = Box<dyn Fn(&str) -> Result<SqliteConnection> + Send>;

impl MemoryCopy {
    fn take(engine: &SqliteEngine) -> Result<Self> {
        let library = engine.library();
        memvfs::register(library);
        let (options, waits) = (engine.target().options, Arc::default());
        let open = move |name: &str| {
            SqliteConnection::open(
                &SqliteSource::uri(library, &format!("file:{name}?vfs=bourse-ram"), false),
                &options,
                &waits,
            )
        };
        let name = format!("{}-snapshot", engine.ram_name());
        memvfs::forget(&name);
        let (source, copy) = (engine.connection()?, open(&name)?);
        copy_pages(&source, &copy)?;
        let to = match engine.target().memory_kind() {
            MemoryKind::Ram => Destination::Named { name: engine.ram_name(), open: Box::new(open) },
            MemoryKind::MemDb | MemoryKind::SharedCache => Destination::Kept(source),
            MemoryKind::Private => Destination::Private(engine.shared_connection()),
        };
        Ok(Self { name, copy, to })
    }
}

impl Snapshot for MemoryCopy {
    fn method(&self) -> &str {
        "copied in memory"
    }

    fn restore(&self) -> Result<()> {
        match &self.to {
            Destination::Kept(connection) => copy_pages(&self.copy, connection),
            Destination::Private(shared) => {
                let gone = || Err(EngineError::new(ErrorKind::Other, "the database was never opened"));
                copy_pages(&self.copy, &*shared.lend(gone)?)
            }
            Destination::Named { name, open } => {
                let restored = format!("{name}-restored");
                memvfs::forget(&restored);
                copy_pages(&self.copy, &open(&restored)?)?;
                memvfs::rename(&restored, name);
                Ok(())
            }
        }
    }
}

impl Drop for MemoryCopy {
    fn drop(&mut self) {
        memvfs::forget(&self.name);
    }
}

/// Makes `to` equal to `from`, page by page.
pub(crate) fn copy_pages(from: &SqliteConnection, to: &SqliteConnection) -> Result<()> {
    let library = to.library();
    // SAFETY: both connections are of one library, open and used by this thread alone; the backup is finished before either can close.
    let code = unsafe {
        let backup = library.sqlite3_backup_init(to.raw(), c"main".as_ptr(), from.raw(), c"main".as_ptr());
        if backup.is_null() {
            return Err(to.error(library.sqlite3_errcode(to.raw())));
        }
        let stepped = library.sqlite3_backup_step(backup, -1);
        let finished = library.sqlite3_backup_finish(backup);
        // What could not be copied now, because somebody writes, finishing does not tell.
        if finished == ffi::SQLITE_OK && stepped != ffi::SQLITE_DONE { stepped } else { finished }
    };
    to.check(code)
}
