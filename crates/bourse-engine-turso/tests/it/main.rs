//! Turso through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
mod files;
mod targets;
mod tpce;
mod transactions;

/// A folder for databases, in memory where there is one.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
