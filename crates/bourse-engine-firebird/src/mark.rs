//! The mark of a database that Bourse made: some bytes of its first page, behind Firebird's own data.
//!
//! It is read from the file without Firebird, which writes into each database that it merely opens. Firebird reads and writes
//! the page as a whole and has no checksum of it; its own data are some hundred bytes at the start.

use bourse_engine::{EngineError, ErrorKind, FileOwner, FileUse, SideFileKind, TargetFile};
use std::path::Path;

/// Mark, and its offset in the file: behind the header of a page of any size, and before the end of the smallest one.
const MARK: &[u8; 16] = b"made by bourse\n\0";
const MARK_AT: usize = START - 96;

/// Length of the smallest page.
const START: usize = 4_096;

/// Type of the first page: a header.
const HEADER: u8 = 1;
/// Offsets in the header of the page size and of the format's version, and the version's bit for Firebird.
const PAGE_SIZE_AT: usize = 16;
const VERSION_AT: usize = 18;
const FIREBIRD: u8 = 0x80;

/// Suffix of a database that is made for its bytes.
pub(crate) const TEMPLATE: &str = ".new";

/// Kind of side file that is a Firebird database of Bourse's itself.
pub(crate) const fn side_file_kind(suffix: &'static str, of: &'static str) -> SideFileKind {
    SideFileKind { suffix, of, companions: &[TEMPLATE], start: START, has_mark }
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
    let start = file.start(START)?;
    let (found, shown) = (file.path().to_owned(), path.display());
    Ok(if start.is_empty() {
        FileOwner::Nobody(found)
    } else if has_mark(&start) {
        FileOwner::Ours(found)
    } else if is_firebird(&start) {
        FileOwner::Foreign(format!("{shown} is a Firebird database without Bourse's mark in its first page"))
    } else {
        FileOwner::Foreign(format!("{shown} is no Firebird database, or it is damaged"))
    })
}

/// Whether the start of a file is that of a Firebird database.
fn is_firebird(start: &[u8]) -> bool {
    let [low, high] = [PAGE_SIZE_AT, PAGE_SIZE_AT + 1].map(|at| start.get(at).copied().unwrap_or_default());
    let size = u16::from_le_bytes([low, high]);
    let is_firebirds = start.get(VERSION_AT + 1).is_some_and(|version| version & FIREBIRD != 0);
    start.first() == Some(&HEADER) && size >= 4_096 && size.is_power_of_two() && is_firebirds
}

/// Whether the start of a file is that of a Firebird database with Bourse's mark.
fn has_mark(start: &[u8]) -> bool {
    is_firebird(start) && start.get(MARK_AT..MARK_AT + MARK.len()) == Some(MARK)
}

/// Puts the mark into the bytes of a database that was just made.
///
/// # Errors
/// A first page in an unknown format.
pub(crate) fn put(bytes: &mut [u8]) -> Result<(), EngineError> {
    let unknown = |what: &str| {
        let words =
            format!("this version of Firebird makes files whose first page {what}: Bourse cannot mark them as its own");
        EngineError::new(ErrorKind::Unsupported, words)
    };
    if !is_firebird(bytes) {
        return Err(unknown("is not the header that is known"));
    }
    match bytes.get_mut(MARK_AT..START) {
        None => Err(unknown("is shorter than 4096 bytes")),
        Some(end) if end.iter().any(|byte| *byte != 0) => Err(unknown("is full")),
        Some(end) => {
            end[..MARK.len()].copy_from_slice(MARK);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First page of a database, as Firebird 3.0 makes it, as far as it is read here.
    fn page() -> Vec<u8> {
        let mut page = vec![0; 8_192];
        page[0] = HEADER;
        page[16..20].copy_from_slice(&[0, 0x20, 12, 0x80]);
        page
    }

    #[test]
    fn a_page_that_is_known_is_marked_and_no_other() {
        let mut marked = page();
        put(&mut marked).unwrap();
        assert!(has_mark(&marked) && !has_mark(&page()));
        assert!(put(&mut marked).unwrap_err().message().contains("is full"));
        assert!(put(&mut page()[..4_000]).unwrap_err().message().contains("shorter"));
        assert!(put(&mut [0; 8_192]).unwrap_err().message().contains("not the header"));
    }

    #[test]
    fn a_file_tells_whose_it_is() {
        let path = std::env::temp_dir().join(format!("bourse-firebird-page-{}", std::process::id()));
        let check = |content: &[u8], expected: Result<FileOwner, &str>| {
            std::fs::write(&path, content).unwrap();
            match (examine(&path).unwrap(), expected) {
                (FileOwner::Foreign(why), Err(words)) => assert!(why.contains(words), "{why}"),
                (found, expected) => assert_eq!(Ok(found), expected),
            }
        };
        let mut marked = page();
        put(&mut marked).unwrap();
        check(b"", Ok(FileOwner::Nobody(path.clone())));
        check(&marked, Ok(FileOwner::Ours(path.clone())));
        check(&page(), Err("without Bourse's mark"));
        check(&marked[..100], Err("without Bourse's mark"));
        check(b"dear diary", Err("no Firebird database"));
        std::fs::remove_file(&path).unwrap();
    }
}
