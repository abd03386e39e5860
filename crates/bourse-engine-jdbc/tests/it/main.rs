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

/// Regression: the first Ctrl-C interrupted no statement of a person's file.
#[test]
fn statements_of_confined_sessions_are_interrupted() {
    // HSQLDB looks for an interruption at rows of tables, and not at those of functions.
    for (scheme, numbers) in
        [("jdbc+h2", "system_range(1, 30000)"), ("jdbc+hsqldb", "UNNEST(SEQUENCE_ARRAY(1, 30000, 1))")]
    {
        let Some(engine) = in_memory(scheme, "statements_of_confined_sessions_are_interrupted", "") else { continue };
        let prepared = ["CREATE TABLE t (x BIGINT)", &*format!("INSERT INTO t SELECT * FROM {numbers}")];
        let endless = "SELECT count(*) FROM t a, t b, t c WHERE a.x * b.x + c.x = -7";
        bourse_testkit::interrupts_statements(&engine, &prepared, endless, "SELECT count(*) FROM t");
    }
}
