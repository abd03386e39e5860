//! The mark of a database that Bourse made: some bytes in the first page of the file, behind DuckDB's own data.
//!
//! It is read from the file without DuckDB: merely opening a database can write its log into it. DuckDB writes the page once,
//! when it makes the file, and protects all of it by a checksum, which is computed again for the mark.

use bourse_engine::{EngineError, ErrorKind, FileOwner, FileUse, SideFileKind, TargetFile};
use std::path::Path;

/// Mark, and its offset in the file.
const MARK: &[u8; 16] = b"made by bourse\n\0";
const MARK_AT: usize = PAGE - 96;

/// Length of the first page: a checksum of the rest, then DuckDB's own mark, its format's version and zeros.
const PAGE: usize = 4_096;
const CHECKSUM: usize = 8;
const MAGIC: &[u8; 4] = b"DUCK";

/// Suffixes of DuckDB's files next to a database: its log, and the folder of data that exceeds memory.
pub(crate) const COMPANIONS: [&str; 2] = [".wal", ".tmp"];

/// Suffix of a database that is made for its bytes.
pub(crate) const TEMPLATE: &str = ".new";

/// Kind of side file that is a DuckDB database of Bourse's itself.
pub(crate) const fn side_file_kind(suffix: &'static str, of: &'static str) -> SideFileKind {
    SideFileKind { suffix, of, companions: &[".wal", TEMPLATE, ".new.wal"], start: PAGE, has_mark }
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
    let start = file.start(PAGE)?;
    let (found, shown) = (file.path().to_owned(), path.display());
    if start.is_empty() {
        return match file.refuse_neighbours(&COMPANIONS[..1]) {
            Ok(()) => Ok(FileOwner::Nobody(found)),
            Err(e) => FileOwner::refused(e),
        };
    }
    Ok(if has_mark(&start) {
        FileOwner::Ours(found)
    } else if start.get(CHECKSUM..CHECKSUM + MAGIC.len()) == Some(MAGIC) {
        FileOwner::Foreign(format!("{shown} is a DuckDB database without Bourse's mark in its first page"))
    } else {
        FileOwner::Foreign(format!("{shown} is no DuckDB database, or it is damaged"))
    })
}

/// Whether the start of a file is that of a DuckDB database with Bourse's mark.
fn has_mark(start: &[u8]) -> bool {
    start.get(CHECKSUM..CHECKSUM + MAGIC.len()) == Some(MAGIC) && start.get(MARK_AT..MARK_AT + MARK.len()) == Some(MARK)
}

/// Puts the mark into the bytes of a database that was just made.
///
/// # Errors
/// A first page in an unknown format.
pub(crate) fn put(bytes: &mut [u8]) -> Result<(), EngineError> {
    let unknown = |what: &str| {
        EngineError::new(
            ErrorKind::Unsupported,
            format!("this version of DuckDB makes files whose first page {what}: Bourse cannot mark them as its own"),
        )
    };
    let Some(page) = bytes.get_mut(..PAGE) else { return Err(unknown("is shorter than 4096 bytes")) };
    if page[CHECKSUM..CHECKSUM + MAGIC.len()] != *MAGIC || page[..CHECKSUM] != checksum(&page[CHECKSUM..]) {
        return Err(unknown("has another checksum"));
    }
    if page[MARK_AT..].iter().any(|byte| *byte != 0) {
        return Err(unknown("is full"));
    }
    page[MARK_AT..MARK_AT + MARK.len()].copy_from_slice(MARK);
    let sum = checksum(&page[CHECKSUM..]);
    page[..CHECKSUM].copy_from_slice(&sum);
    Ok(())
}

/// DuckDB's checksum of a block: its words, each multiplied, and combined by exclusive or.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let (words, _) = bytes.as_chunks::<8>();
    let multiplied = words.iter().map(|word| u64::from_le_bytes(*word).wrapping_mul(0xbf58_476d_1ce4_e5b9));
    multiplied.fold(5_381, |sum, word| sum ^ word).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First page of a database, as DuckDB 1.5.6 makes it.
    fn page() -> Vec<u8> {
        let mut page = vec![0; PAGE];
        page[8..13].copy_from_slice(b"DUCK\x40");
        page[52..58].copy_from_slice(b"v1.5.6");
        page[84..94].copy_from_slice(b"069cc9f9b5");
        page[..8].copy_from_slice(&0x0f8f_6e81_5a89_2d94_u64.to_le_bytes());
        page
    }

    #[test]
    fn a_page_that_is_known_is_marked_and_no_other() {
        let mut marked = page();
        put(&mut marked).unwrap();
        assert!(has_mark(&marked) && !has_mark(&page()));
        assert_eq!(marked[..CHECKSUM], checksum(&marked[CHECKSUM..]));
        assert!(put(&mut marked).unwrap_err().message().contains("is full"));
        let mut other = page();
        other[100] = 1;
        assert!(put(&mut other).unwrap_err().message().contains("another checksum"));
        assert!(put(&mut page()[..100]).unwrap_err().message().contains("shorter"));
    }

    #[test]
    fn a_file_tells_whose_it_is() {
        let path = std::env::temp_dir().join(format!("bourse-duckdb-page-{}", std::process::id()));
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
        check(b"dear diary", Err("no DuckDB database"));
        std::fs::remove_file(&path).unwrap();
    }
}
