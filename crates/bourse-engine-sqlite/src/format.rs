//! The files of a database.

use crate::options::SqliteOptions;
use bourse_engine::{DatabaseFiles, FileFormat, FileUse, Result, TargetFile};
use std::path::Path;

/// Suffix of a write-ahead log, and of all companions that SQLite creates, overwrites and removes.
const LOG: &str = "-wal";
pub(crate) const COMPANIONS: [&str; 3] = ["-journal", LOG, "-shm"];

/// First bytes of a rollback journal (`https://sqlite.org/fileformat2.html`, section 3) and of a log: the fourth of the latter says
/// how its checksums are computed (section 4.1).
const STARTS: &[(&str, &[u8])] =
    &[("-journal", &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]), (LOG, &[0x37, 0x7f, 0x06])];

/// Form of a database in a file, the same for all builds of the library.
pub(crate) static FORMAT: FileFormat = FileFormat {
    name: "SQLite",
    companions: &COMPANIONS,
    exclusive: &COMPANIONS,
    starts: STARTS,
    logs: &[LOG],
    ..FileFormat::FILE
};

/// The files of a database at a path.
pub(crate) fn files_at(path: &Path) -> DatabaseFiles {
    DatabaseFiles::at(path, &FORMAT)
}

/// Whether a database has a write-ahead log. It is read from the file's header, without SQLite: merely opening a database with
/// the library can roll a journal back, write a log into it or change its journal mode.
///
/// # Errors
/// The system's.
pub(crate) fn has_log(path: &Path, options: &SqliteOptions) -> Result<bool> {
    /// First bytes of a database, and the offset of the version needed for reading, which is 2 with a write-ahead log
    /// (`https://sqlite.org/fileformat2.html`, section 1.3).
    const MAGIC: &[u8] = b"SQLite format 3\0";
    const READ_VERSION: usize = 19;
    #[cfg(loaded)]
    if options.key.is_some() {
        return Ok(true);
    }
    let _ = options;
    let start = FileUse::unless_used(path, || TargetFile::at(path)?.start(READ_VERSION + 1)).transpose()?;
    Ok(start.is_none_or(|start| start.starts_with(MAGIC) && start.get(READ_VERSION) == Some(&2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_declares_a_log() {
        let path = std::env::temp_dir().join(format!("bourse-header-{}", std::process::id()));
        let header = |version: u8| [b"SQLite format 3\0\x10\0\x02".as_slice(), &[version, 0, 0]].concat();
        for (content, expected) in [(header(2), true), (header(1), false), (b"dear diary".to_vec(), false)] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(has_log(&path, &SqliteOptions::FILE).unwrap(), expected);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
