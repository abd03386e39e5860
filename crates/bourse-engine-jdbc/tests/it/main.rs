//! Databases of the Java virtual machine through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

mod bridge;
mod conforms;
mod targets;
mod tpce;

use bourse_engine_jdbc::{JdbcEngine, info, open};

/// Whether jars and a virtual machine are available; prints the name of the test that is skipped if not.
fn has(scheme: &str, test: &str) -> bool {
    match info(&format!("{scheme}:x")) {
        Ok(_) => true,
        Err(why) => {
            bourse_testkit::skipped(&format!("{test} on {scheme}"), why);
            false
        }
    }
}

/// Database in memory; `None` if its jars are missing.
fn in_memory(scheme: &str, test: &str, query: &str) -> Option<JdbcEngine> {
    has(scheme, test).then(|| open(&format!("{scheme}::memory:?{query}")).unwrap())
}

/// Folder for databases, in memory if the system has such a place.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
