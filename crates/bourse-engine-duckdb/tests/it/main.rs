//! DuckDB through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
mod files;
mod targets;
mod tpce;
mod transactions;

use bourse_engine_duckdb::{DuckDbEngine, info, open};

/// Whether the library is available; prints the name of the test that is skipped if not.
fn has_library(test: &str) -> bool {
    match info(None) {
        Ok(_) => true,
        Err(why) => {
            bourse_testkit::skipped(test, why);
            false
        }
    }
}

/// Database in memory; `None` if the library is unavailable.
fn in_memory(test: &str, query: &str) -> Option<DuckDbEngine> {
    has_library(test).then(|| open(&format!("duckdb::memory:?{query}")).unwrap())
}

/// Folder for databases, in memory if the system has such a place.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
