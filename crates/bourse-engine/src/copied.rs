//! Copies of a database's files, written in pages as its engine would write them.
//!
//! The system caches a file in large pages if it was written in large pieces or read ahead. An engine that then changes
//! 4 KiB of such a page makes all of it dirty. On ext4 of Linux 6.18 a run of the brokerage workload on a database
//! copied so was charged with 813 KiB written per Trade-Result and had 6,400 transactions/s; on the file as SQLite
//! wrote it, page by page, the same run was charged with 207 KiB and had 7,150.

use crate::server_wait::Interruption;
use crate::{DatabaseFiles, EngineError, ErrorKind, Result, SideFile, SideFileKind};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

/// Bytes of one write: a page of the system, and the smallest page of the engines' files.
const PAGE: usize = 4096;

/// Copies the rest of a file to another one, a page at a time.
///
/// # Errors
/// The system's.
pub(crate) fn copy_by_pages(source: &mut impl Read, mut to: &File) -> io::Result<()> {
    let mut bytes = vec![0; 1 << 20];
    loop {
        // Full, so that only the last page of the file may be a part of one.
        let mut length = 0;
        while let Some(rest) = bytes.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match source.read(rest) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        if length == 0 {
            return Ok(());
        }
        for page in bytes[..length].chunks(PAGE) {
            to.write_all(page)?;
        }
    }
}

/// Copies the rest of a file to another one, whose path is given, until that interruption.
///
/// # Errors
/// The system's; [`Interrupted`](ErrorKind::Interrupted) if the interruption comes meanwhile.
pub(crate) fn copy_until(interruption: Interruption, source: &mut File, to: &File, path: &Path) -> Result<()> {
    struct Pieces<'f>(&'f mut File, Interruption);
    impl Read for Pieces<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.1.check("").map_err(io::Error::other)?;
            self.0.read(bytes)
        }
    }
    copy_by_pages(&mut Pieces(source, interruption), to).or_else(|error| {
        interruption.check("the copy of the database was not finished")?;
        Err(EngineError::io("copy to", path, &error))
    })
}

/// Copies a file with its permissions to a path that does not exist yet.
///
/// # Errors
/// The system's; [`Interrupted`](ErrorKind::Interrupted) if the program is interrupted meanwhile.
pub fn copy_file(from: &Path, to: &Path) -> Result<()> {
    copy_file_until(Interruption::from_now(), from, to)
}

/// Copies a file like [`copy_file`], until that interruption.
///
/// # Errors
/// Those of [`copy_file`].
pub(crate) fn copy_file_until(interruption: Interruption, from: &Path, to: &Path) -> Result<()> {
    let mut source = File::open(from).map_err(|e| EngineError::io("read", from, &e))?;
    let failed = |e: io::Error| EngineError::io("copy to", to, &e);
    let about = source.metadata().map_err(failed)?;
    let copy = File::create_new(to).map_err(failed)?;
    copy_until(interruption, &mut source, &copy, to)?;
    copy.set_permissions(about.permissions()).map_err(failed)
}

/// Copy of a single-file database, in the same folder, that rounds are restored from.
#[derive(Debug)]
pub(crate) struct FileCopy {
    copy: SideFile,
    /// Digest of the copy's bytes when it was made.
    digest: u128,
    how: &'static str,
}

impl FileCopy {
    /// Copies the file of a database that no process has open and whose logs are written into it. The file is cloned
    /// where the file system shares blocks between files, and copied where it does not.
    ///
    /// # Errors
    /// Those of [`SideFile::create`]; the system's.
    pub(crate) fn take(database: &DatabaseFiles, kind: &'static SideFileKind) -> Result<Self> {
        let copy = SideFile::create(database, kind)?;
        let how =
            if copy.fill_from(database.path())? { "cloned: it shares its blocks with the database" } else { "copied" };
        Ok(Self { digest: copy.digest()?, copy, how })
    }

    /// Method by which the copy was made, for a person.
    pub(crate) const fn method(&self) -> &'static str {
        self.how
    }

    /// Replaces the database by the copy, durably. The database's logs must have been removed before.
    ///
    /// # Errors
    /// The copy's bytes are not those of the database that was copied; those of [`SideFile::create`]; the system's.
    pub(crate) fn restore(&self, database: &DatabaseFiles, kind: &'static SideFileKind) -> Result<()> {
        let restored = SideFile::create(database, kind)?;
        restored.fill_from(self.copy.path())?;
        if restored.digest()? != self.digest {
            let copy = self.copy.path().display();
            let words =
                format!("{copy} is not what it was when it was made: its bytes have changed, or are read differently");
            return Err(EngineError::new(ErrorKind::Other, words));
        }
        // Synced before it is renamed: what a copy leaves to be written later would be written while a round is measured.
        restored.rename(database.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Gives bytes in uneven pieces, as a pipe may.
    struct Uneven<'a>(&'a [u8], usize);

    impl Read for Uneven<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 5000 + 777;
            let length = self.1.min(to.len()).min(self.0.len());
            to[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn a_copy_has_the_bytes_whatever_their_number() {
        let folder = std::env::temp_dir().join(format!("bourse-copied-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        for length in [0, 1, PAGE - 1, PAGE, PAGE + 1, (1 << 20) - 1, 1 << 20, (1 << 20) + PAGE + 3] {
            let bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let to = folder.join(format!("uneven-{length}"));
            copy_by_pages(&mut Uneven(&bytes, 0), &File::create_new(&to).unwrap()).unwrap();
            assert_eq!(fs::read(&to).unwrap(), bytes);
            let copy = folder.join(format!("copy-{length}"));
            copy_file(&to, &copy).unwrap();
            assert_eq!(fs::read(&copy).unwrap(), bytes);
            assert!(copy_file(&to, &copy).is_err(), "what is there stays");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
