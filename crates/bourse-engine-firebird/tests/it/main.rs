//! Firebird through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
mod files;
mod targets;
mod tpce;
mod transactions;
mod values;

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
