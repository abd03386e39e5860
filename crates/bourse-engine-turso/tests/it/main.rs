//! Turso through the seam.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
mod files;
mod targets;
mod tpce;
mod transactions;

/// Folder for databases, in memory if the system has such a place.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
