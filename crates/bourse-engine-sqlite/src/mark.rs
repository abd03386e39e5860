//! Bourse's mark of a database: `application_id` in the file's header, written when a database is created.
//!
//! It is read from the file's first bytes, without SQLite: merely opening a database with the library can roll a journal
//! back, write a log into it or change its journal mode.

use crate::ffi::Library;
use crate::options::Options;
use bourse_engine::{EngineError, FileUse, SideFileKind, TargetFile};
use std::path::Path;

/// Value of `PRAGMA application_id` in Bourse's databases: "Bour".
pub(crate) const APPLICATION_ID: u32 = 0x426f_7572;

/// First bytes of a SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Length of the header in bytes. The next constants are the offsets of the version needed for reading, which is 2 with
/// a write-ahead log, and of the application's number (`https://sqlite.org/fileformat2.html`, section 1.3).
const HEADER: usize = 100;
const READ_VERSION: usize = 19;
const APPLICATION_ID_AT: usize = 68;

/// Suffixes of a database's companions that SQLite creates, overwrites and removes.
pub(crate) const COMPANIONS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// A kind of side file that is a SQLite database with Bourse's mark too.
pub(crate) const fn side_file_kind(suffix: &'static str, of: &'static str) -> SideFileKind {
    SideFileKind { suffix, of, companions: &COMPANIONS, start: HEADER, has_mark }
}

/// Whether a file with these first bytes is a SQLite database with Bourse's mark.
fn has_mark(start: &[u8]) -> bool {
    application_id(start) == Some(APPLICATION_ID)
}

/// Whether a file with these first bytes is an unencrypted SQLite database.
#[cfg(loaded)]
pub(crate) fn is_plain(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Application's number in a SQLite database's header; `None` for any other header.
fn application_id(start: &[u8]) -> Option<u32> {
    let bytes = start.get(APPLICATION_ID_AT..APPLICATION_ID_AT + 4).filter(|_| start.starts_with(MAGIC))?;
    bytes.try_into().ok().map(u32::from_be_bytes)
}

/// Owner of the file at a database's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// None: no file, or an empty one. A database may be created there.
    Nothing,
    /// Bourse: a database that it made; `has_log` is whether its header declares a write-ahead log.
    Ours { has_log: bool },
    /// Anything else: the reason for a person.
    Foreign(String),
}

/// Finds the owner of the file at a path. A file that this process has open was checked before, and is Bourse's.
///
/// # Errors
/// The system's.
pub(crate) fn look(library: Library, path: &Path, options: &Options) -> Result<Found, EngineError> {
    #[cfg(loaded)]
    if library.is_berkeley_db() {
        return crate::berkeley::look(path);
    }
    #[cfg(loaded)]
    if options.key.is_some() {
        return crate::encrypted::look(library, path, options);
    }
    let _ = (library, options);
    FileUse::unless_used(path, || examine(path)).unwrap_or(Ok(Found::Ours { has_log: true }))
}

/// Checks that the file at a path is Bourse's or absent; returns whether a database exists.
///
/// # Errors
/// [`Refused`](bourse_engine::ErrorKind::Refused); the system's.
pub(crate) fn look_for_ours(library: Library, path: &Path, options: &Options) -> Result<bool, EngineError> {
    match look(library, path, options)? {
        Found::Nothing => Ok(false),
        Found::Ours { .. } => Ok(true),
        Found::Foreign(why) => Err(EngineError::refused(why)),
    }
}

fn examine(path: &Path) -> Result<Found, EngineError> {
    let refused = |e: EngineError| match e.kind() {
        bourse_engine::ErrorKind::Refused => Ok(Found::Foreign(e.message().to_owned())),
        _ => Err(e),
    };
    let file = match TargetFile::at(path) {
        Ok(file) => file,
        Err(e) => return refused(e),
    };
    let start = file.start(HEADER)?;
    if start.is_empty() {
        return file.refuse_neighbours(&COMPANIONS).map_or_else(refused, |()| Ok(Found::Nothing));
    }
    let shown = path.display();
    Ok(match application_id(&start) {
        Some(APPLICATION_ID) => Found::Ours { has_log: start.get(READ_VERSION) == Some(&2) },
        Some(other) => Found::Foreign(format!(
            "{shown} is a SQLite database without Bourse's mark (application_id {APPLICATION_ID:#010x} in its header, \
             where {other:#010x} stands); if it was made by a version that left no mark yet, delete it and load it again"
        )),
        None => Found::Foreign(format!("{shown} is no SQLite database, or its header is damaged")),
    })
}

/// Header of a database with these values.
#[cfg(test)]
fn header(read_version: u8, application_id: u32) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    bytes[..MAGIC.len()].copy_from_slice(MAGIC);
    bytes[READ_VERSION] = read_version;
    bytes[APPLICATION_ID_AT..APPLICATION_ID_AT + 4].copy_from_slice(&application_id.to_be_bytes());
    bytes
}

/// Header of a database with Bourse's mark.
#[cfg(test)]
pub(crate) fn marked_header() -> Vec<u8> {
    header(1, APPLICATION_ID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_tells_whose_a_database_is() {
        let path = std::env::temp_dir().join(format!("bourse-header-{}", std::process::id()));
        let check = |content: &[u8], expected: Result<Found, &str>| {
            std::fs::write(&path, content).unwrap();
            match (examine(&path).unwrap(), expected) {
                (Found::Foreign(why), Err(words)) => assert!(why.contains(words), "{why}"),
                (found, expected) => assert_eq!(Ok(found), expected),
            }
        };
        check(b"", Ok(Found::Nothing));
        check(&header(1, APPLICATION_ID), Ok(Found::Ours { has_log: false }));
        check(&header(2, APPLICATION_ID), Ok(Found::Ours { has_log: true }));
        check(&header(1, 0), Err("where 0x00000000 stands"));
        check(&header(1, 0x4750_4b47), Err("where 0x47504b47 stands"));
        check(&header(1, APPLICATION_ID)[..70], Err("is no SQLite database"));
        check(b"SQLite format 3\0", Err("is no SQLite database"));
        check(b"dear diary", Err("is no SQLite database"));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(examine(&path).unwrap(), Found::Nothing);
    }

    #[test]
    fn the_mark_is_a_word() {
        assert_eq!(&APPLICATION_ID.to_be_bytes(), b"Bour");
    }
}
