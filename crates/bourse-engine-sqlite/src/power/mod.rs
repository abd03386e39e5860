//! Databases opened from the states that a power loss may have left.
//!
//! [`recover`] opens a state in memory as the next user of the database would, which makes SQLite recover it, and returns
//! the files afterwards. [`ImageDatabase`] reads such a database.
//!
//! File `images`: directories in memory, and the file system over them.

mod images;

use crate::connection::SqliteConnection;
use crate::ffi::SqliteLibrary;
use crate::options::SqliteOptions;
use crate::source::SqliteSource;
use bourse_crash::Directory;
use bourse_engine::{EachRow, Result};
use images::MountedImages;
use std::sync::Arc;

/// A database in a directory of files in memory; its changes affect nothing else.
pub struct ImageDatabase {
    /// Dropped before its files.
    connection: SqliteConnection,
    mount: MountedImages,
}

impl ImageDatabase {
    /// Opens the database of that name; reads nothing before the first query.
    ///
    /// # Errors
    /// SQLite's.
    pub fn open(directory: &Directory, name: &str) -> Result<Self> {
        let mount = MountedImages::new(directory)?;
        let source = SqliteSource::uri(SqliteLibrary, &mount.uri(name), false);
        let connection = SqliteConnection::open(&source, &SqliteOptions::FILE, &Arc::default())?;
        Ok(Self { connection, mount })
    }

    /// Runs a query.
    ///
    /// # Errors
    /// SQLite's, or those of `each`.
    pub fn query(&self, sql: &str, each: &mut EachRow<'_>) -> Result<()> {
        self.connection.query(sql, |row| each(row))
    }

    /// Damage that SQLite's integrity check finds; empty for an intact database.
    ///
    /// # Errors
    /// SQLite's.
    pub fn damage(&self) -> Result<Vec<String>> {
        let mut lines = self.connection.lines_of("PRAGMA integrity_check(20)")?;
        lines.retain(|line| line != "ok");
        Ok(lines)
    }

    /// Closes the database, which moves a log into it, and returns its files.
    pub fn close(self) -> Directory {
        let Self { connection, mount } = self;
        drop(connection);
        mount.directory()
    }
}

/// Opens a state as the next user of the database would, reads it, and closes it again.
///
/// # Errors
/// SQLite's, if it cannot be opened and read.
pub fn recover(state: &Directory, name: &str) -> Result<Directory> {
    let database = ImageDatabase::open(state, name)?;
    database.query("SELECT count(*) FROM sqlite_master", &mut |_| Ok(()))?;
    Ok(database.close())
}
