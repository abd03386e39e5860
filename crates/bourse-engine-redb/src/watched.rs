//! redb's storage as a file whose calls are counted and made to fail on purpose.

use bourse_crash::preload::Watched;
use redb::{DatabaseError, StorageBackend};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// File whose calls are made to fail.
#[derive(Debug)]
pub(crate) struct WatchedFile {
    file: File,
    watched: Watched,
}

impl WatchedFile {
    /// Opens a file with the fault that the environment defines.
    pub(crate) fn open(path: &Path) -> Result<Self, DatabaseError> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no fault is named in the environment");
        let watched = Watched::of_this_process(path).and_then(|watched| watched.ok_or_else(missing));
        let failed = |error: io::Error| DatabaseError::Storage(error.into());
        Ok(Self { file: file.map_err(failed)?, watched: watched.map_err(failed)? })
    }
}

impl StorageBackend for WatchedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.watched.reads(offset, out.len())?;
        self.file.read_exact_at(out, offset)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        if len > before {
            self.watched.grows(len)?;
        }
        self.file.set_len(len)?;
        self.watched.wrote(before.min(len), before.abs_diff(len));
        Ok(())
    }
    fn sync_data(&self) -> io::Result<()> {
        self.watched.syncs(&self.file)
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.watched.writes(offset, data.len())?;
        self.file.write_all_at(data, offset)?;
        self.watched.wrote(offset, data.len() as u64);
        Ok(())
    }
}
