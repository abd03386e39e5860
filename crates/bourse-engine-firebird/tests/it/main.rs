//! Firebird through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
mod files;
mod targets;
mod tpce;
mod transactions;
mod values;

use bourse_engine::{EngineError, RowExt as _, Session};
use bourse_engine_firebird::{FirebirdEngine, info, open};
use std::path::Path;

/// Whether library and engine are available; prints the name of the test that is skipped if not.
fn is_there(test: &str) -> bool {
    match info(None) {
        Ok(_) => true,
        Err(why) => {
            bourse_testkit::skipped(test, why);
            false
        }
    }
}

/// Folder for databases, in memory if the system has such a place.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn at(path: &Path, query: &str) -> FirebirdEngine {
    open(&format!("firebird:{}?{query}", path.display())).unwrap()
}

fn run(session: &mut dyn Session, sql: &str) -> Result<u64, EngineError> {
    session.execute_text(sql, &[])
}

/// Integer in the last row of a query.
fn number(session: &mut dyn Session, sql: &str) -> Option<i64> {
    let mut number = None;
    let each = &mut |row: &dyn bourse_engine::Row| {
        number = row.get(0)?;
        Ok(())
    };
    session.query_text(sql, &[], each).unwrap();
    number
}
