//! The mark of a database that Bourse made: `application_id` in the file's header, written when a database is made. It is read
//! from the file's first bytes, without Turso.

use bourse_engine::{EngineError, FileOwner, FileUse, SideFileKind, TargetFile};
use std::path::Path;

/// `PRAGMA application_id` of Bourse's databases: "BouT".
pub(crate) const APPLICATION_ID: u32 = 0x426f_7554;

/// First bytes of a database of SQLite's format, length of its header, and offset of the application id.
const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: usize = 100;
const APPLICATION_ID_AT: usize = 68;

/// Suffixes of files next to a database: the log of pages, and that of rows with MVCC.
pub(crate) const PAGES_LOG: &str = "-wal";
pub(crate) const ROWS_LOG: &str = "-log";
pub(crate) const COMPANIONS: [&str; 2] = [PAGES_LOG, ROWS_LOG];

/// Kind of side file that is a Turso database of Bourse's itself.
pub(crate) const fn side_file_kind(suffix: &'static str, of: &'static str) -> SideFileKind {
    SideFileKind { suffix, of, companions: &COMPANIONS, start: HEADER, has_mark }
}

fn has_mark(start: &[u8]) -> bool {
    application_id(start) == Some(APPLICATION_ID)
}

/// Application id in a header; `None` if it is not the header of a database.
fn application_id(start: &[u8]) -> Option<u32> {
    let bytes = start.get(APPLICATION_ID_AT..APPLICATION_ID_AT + 4).filter(|_| start.starts_with(MAGIC))?;
    bytes.try_into().ok().map(u32::from_be_bytes)
}

/// Finds out the owner of the file at a path. A file that this process has open was examined before, and is Bourse's.
///
/// # Errors
/// The system's.
pub(crate) fn look(path: &Path) -> Result<FileOwner, EngineError> {
    FileUse::unless_used(path, || examine(path)).unwrap_or_else(|| Ok(FileOwner::Ours(TargetFile::resolved(path))))
}

fn examine(path: &Path) -> Result<FileOwner, EngineError> {
    let file = match TargetFile::at(path) {
        Ok(file) => file,
        Err(e) => return FileOwner::refused(e),
    };
    let start = file.start(HEADER)?;
    let (found, shown) = (file.path().to_owned(), path.display());
    if start.is_empty() {
        return match file.refuse_neighbours(&COMPANIONS) {
            Ok(()) => Ok(FileOwner::Nobody(found)),
            Err(e) => FileOwner::refused(e),
        };
    }
    Ok(match application_id(&start) {
        Some(APPLICATION_ID) => FileOwner::Ours(found),
        Some(other) => FileOwner::Foreign(format!(
            "{shown} is a database of SQLite's format without Bourse's mark for Turso (application_id {APPLICATION_ID:#010x} in \
             its header, where {other:#010x} stands)"
        )),
        None => FileOwner::Foreign(format!("{shown} is no database of SQLite's format, or its header is damaged")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_tells_whose_it_is() {
        let path = std::env::temp_dir().join(format!("bourse-turso-header-{}", std::process::id()));
        let header = |id: u32| {
            let mut bytes = vec![0; HEADER];
            bytes[..MAGIC.len()].copy_from_slice(MAGIC);
            bytes[APPLICATION_ID_AT..APPLICATION_ID_AT + 4].copy_from_slice(&id.to_be_bytes());
            bytes
        };
        let check = |content: &[u8], expected: Result<FileOwner, &str>| {
            std::fs::write(&path, content).unwrap();
            match (examine(&path).unwrap(), expected) {
                (FileOwner::Foreign(why), Err(words)) => assert!(why.contains(words), "{why}"),
                (found, expected) => assert_eq!(Ok(found), expected),
            }
        };
        check(b"", Ok(FileOwner::Nobody(path.clone())));
        check(&header(APPLICATION_ID), Ok(FileOwner::Ours(path.clone())));
        check(&header(0x426f_7572), Err("where 0x426f7572 stands"));
        check(&header(APPLICATION_ID)[..60], Err("no database of SQLite's format"));
        check(b"dear diary", Err("no database of SQLite's format"));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(&APPLICATION_ID.to_be_bytes(), b"BouT");
    }
}
