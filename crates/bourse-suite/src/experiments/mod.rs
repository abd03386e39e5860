//! The data files, compiled in.

use crate::definition::{Suite, SuiteError};

/// The files, in the order of listing.
const FILES: &[&str] = &[
    include_str!("sqlite-basics.toml"),
    include_str!("sqlite-wal.toml"),
    include_str!("fastdb-sqlite.toml"),
    include_str!("mysql-ram.toml"),
    include_str!("tpce-sqlite.toml"),
];

/// Every suite.
///
/// # Errors
/// One of our own files is wrong: a mistake that the tests find.
pub fn all() -> Result<Vec<Suite>, SuiteError> {
    FILES.iter().copied().map(Suite::parse).collect()
}

/// The suite of that name.
///
/// # Errors
/// There is none; the error names those there are.
///
/// ```
/// assert_eq!(bourse_suite::find("sqlite-wal").unwrap().name, "sqlite-wal");
/// assert!(bourse_suite::find("sqlite-wall").unwrap_err().to_string().contains("suites: sqlite-basics, sqlite-wal"));
/// ```
pub fn find(name: &str) -> Result<Suite, SuiteError> {
    let suites = all()?;
    let known = suites.iter().map(|suite| suite.name.as_str()).collect::<Vec<_>>().join(", ");
    suites
        .into_iter()
        .find(|suite| suite.name == name)
        .ok_or_else(|| SuiteError::Unknown { name: name.to_owned(), known })
}
