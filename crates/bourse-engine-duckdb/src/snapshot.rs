//! Snapshots of a database in memory: it is copied into another catalog in memory.

use crate::database::{DuckDbConnection, DuckDbDatabase};
use bourse_engine::{Result, Snapshot};
use std::sync::Arc;

/// Snapshot as a second catalog in memory.
pub(crate) struct CatalogCopy {
    database: Arc<DuckDbDatabase>,
    number: u64,
}

impl CatalogCopy {
    pub(crate) fn take(database: Arc<DuckDbDatabase>) -> Result<Self> {
        let number = copy(&database, database.current())?;
        Ok(Self { database, number })
    }
}

/// Copies a catalog into a new one.
fn copy(database: &Arc<DuckDbDatabase>, from: u64) -> Result<u64> {
    let number = database.new_catalog()?;
    let sql = format!("COPY FROM DATABASE {} TO {}", DuckDbDatabase::catalog(from), DuckDbDatabase::catalog(number));
    match DuckDbConnection::open(database)?.run(&sql) {
        Ok(()) => Ok(number),
        Err(error) => {
            database.drop_catalog(number)?;
            Err(error)
        }
    }
}

impl Snapshot for CatalogCopy {
    fn method(&self) -> &str {
        "copied in memory"
    }

    fn restore(&self) -> Result<()> {
        let restored = copy(&self.database, self.number)?;
        let old = self.database.set_current(restored);
        self.database.drop_catalog(old)
    }
}

impl Drop for CatalogCopy {
    fn drop(&mut self) {
        // A catalog that cannot be dropped only occupies memory until the database is closed.
        let _ = self.database.drop_catalog(self.number);
    }
}
