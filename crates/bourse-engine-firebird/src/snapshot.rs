//! Snapshots of a database, from which rounds begin alike without loading again.
//!
//! A file is cloned if the file system shares blocks between files, else copied.

use crate::database::{in_use, is_open};
use crate::loader::{RESTORED, SNAPSHOT};
use bourse_engine::{EngineError, ErrorKind, SideFile, Snapshot};
use std::path::{Path, PathBuf};

/// Snapshot as a file next to the database.
pub(crate) struct FileCopy {
    path: PathBuf,
    copy: SideFile,
    /// Digest of the copy's bytes when it was made.
    digest: u128,
    how: &'static str,
}

impl FileCopy {
    /// Copies a closed database.
    pub(crate) fn take(path: &Path) -> Result<Self, EngineError> {
        if is_open(path) {
            return Err(in_use(path));
        }
        let copy = SideFile::create(path, &SNAPSHOT)?;
        let how = if copy.fill_from(path)? { "cloned: it shares its blocks with the database" } else { "copied" };
        Ok(Self { path: path.to_owned(), digest: copy.digest()?, copy, how })
    }
}

impl Snapshot for FileCopy {
    fn how(&self) -> &str {
        self.how
    }

    fn restore(&self) -> Result<(), EngineError> {
        if is_open(&self.path) {
            return Err(in_use(&self.path));
        }
        let restored = SideFile::create(&self.path, &RESTORED)?;
        restored.fill_from(self.copy.path())?;
        if restored.digest()? != self.digest {
            return Err(EngineError::new(
                ErrorKind::Other,
                format!(
                    "{} is not what it was when it was made: its bytes have changed, or are read differently",
                    self.copy.path().display()
                ),
            ));
        }
        // Synced before it is renamed: what a copy leaves to be written later would be written while a round is measured.
        restored.rename(&self.path)
    }
}
