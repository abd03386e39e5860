//! Data files of the experiments, compiled in.

use crate::suite::definition::{Suite, SuiteError};

/// Data files in the order of listing.
const FILES: &[&str] = &[
    include_str!("sqlite-basics.toml"),
    include_str!("sqlite-wal.toml"),
    include_str!("fastdb-sqlite.toml"),
    include_str!("mysql-ram.toml"),
    include_str!("tpce-sqlite.toml"),
    include_str!("redb-readme.toml"),
    include_str!("leveldb-2011.toml"),
    include_str!("sqlite-settings.toml"),
    include_str!("wordpress.toml"),
    include_str!("sqlite-speed-2003.toml"),
    include_str!("sqlite-blobs.toml"),
    include_str!("sqlite-vldb2022.toml"),
    include_str!("readwhilewriting.toml"),
    include_str!("turso-writes.toml"),
    include_str!("sqlite-begin.toml"),
];

/// All suites, parsed.
///
/// # Errors
/// A built-in file is invalid: a defect that the tests find.
pub fn all() -> Result<Vec<Suite>, SuiteError> {
    FILES.iter().copied().map(Suite::parse).collect()
}

/// Finds the suite of that name.
///
/// # Errors
/// No suite has that name; the error lists the known ones.
///
/// ```
/// assert_eq!(bourse_verdict::suite::find("sqlite-wal").unwrap().name, "sqlite-wal");
/// assert!(bourse_verdict::suite::find("sqlite-wall").unwrap_err().to_string().contains("suites: sqlite-basics, sqlite-wal"));
/// ```
pub fn find(name: &str) -> Result<Suite, SuiteError> {
    let suites = all()?;
    let known = suites.iter().map(|suite| suite.name.as_str()).collect::<Vec<_>>().join(", ");
    suites
        .into_iter()
        .find(|suite| suite.name == name)
        .ok_or_else(|| SuiteError::Unknown { name: name.to_owned(), known })
}
