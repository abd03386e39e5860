//! Databases of the Java virtual machine through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

mod bridge;
mod conforms;
mod targets;
mod tpce;

use bourse_engine_jdbc::{JdbcEngine, info, open};

/// Whether jars and a virtual machine are there; prints the name of the test that is skipped if not.
fn has(scheme: &str, test: &str) -> bool {
    match info(&format!("{scheme}:x")) {
        Ok(_) => true,
        Err(why) => {
            bourse_testkit::skipped(&format!("{test} on {scheme}"), why);
            false
        }
    }
}

/// A database in memory, where its jars are there.
fn in_memory(scheme: &str, test: &str, query: &str) -> Option<JdbcEngine> {
    has(scheme, test).then(|| open(&format!("{scheme}::memory:?{query}")).unwrap())
}

/// A folder for databases, in memory where there is one.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
