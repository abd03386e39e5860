//! Storage of a database's files in the form of documents, and raw syncs to judge its speed.

use crate::{Clock, Nanos};
use bourse_engine::{Durability, Location};
use bourse_record::{Medium, RawSyncs, Storage};
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// Number of raw syncs before a run: enough for a median, and half a second on a slow disk.
const SYNCS: usize = 50;

/// Storage of a database's files; `None` without files on this machine.
pub fn storage(location: &Location) -> Option<Storage> {
    let found = bourse_engine::Storage::of(&location.folder()?)?;
    Some(Storage {
        file_system: found.file_system,
        mount_options: found.mount_options,
        device: found.device,
        volatile_write_cache: found.write_cache.map(|cache| cache == bourse_engine::WriteCache::Back),
        fua: found.fua,
        medium: match found.medium {
            bourse_engine::Medium::Device => Medium::Device,
            bourse_engine::Medium::Memory(_) => Medium::Memory,
            bourse_engine::Medium::Network => Medium::Network,
            bourse_engine::Medium::Program => Medium::Program,
            bourse_engine::Medium::Unknown => Medium::Unknown,
        },
    })
}

/// Times of raw syncs to the database's folder, if its commits or checkpoints wait for syncs. `None` if that folder
/// accepts no file: the run will report why.
pub fn raw_syncs(location: &Location, class: Durability, clock: &dyn Clock) -> Option<RawSyncs> {
    if !matches!(class, Durability::Consistent | Durability::Durable) {
        return None;
    }
    RawSyncs::of(times(&location.folder()?, clock).ok()?)
}

/// Times of repeatedly writing and syncing a page.
fn times(folder: &Path, clock: &dyn Clock) -> io::Result<Vec<Nanos>> {
    let mut file = SyncedFile::new(folder)?;
    (0..SYNCS).map(|_| file.sync(clock)).collect()
}

/// A file whose pages are written over and synced, one after the other. It has no name, so that no trace of it remains.
#[derive(Debug)]
pub struct SyncedFile {
    file: File,
    /// Syncs that were made.
    done: u64,
}

impl SyncedFile {
    const PAGE_BYTES: usize = 4_096;
    const PAGES: u64 = 256;

    /// Makes the file in a folder.
    ///
    /// # Errors
    /// If it cannot be made or written.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let mut file: File = tempfile::tempfile_in(folder)?;
        // The file has its length before it is timed, as a log that is written again has.
        for _ in 0..Self::PAGES {
            file.write_all(&[1; Self::PAGE_BYTES])?;
        }
        file.sync_all()?;
        Ok(Self { file, done: 0 })
    }

    /// Writes the next page and syncs it, and returns the time that both took.
    ///
    /// # Errors
    /// If the page cannot be written or synced.
    pub fn sync(&mut self, clock: &dyn Clock) -> io::Result<Nanos> {
        let from = clock.now();
        self.done += 1;
        self.file.seek(SeekFrom::Start(self.done % Self::PAGES * Self::PAGE_BYTES as u64))?;
        self.file.write_all(&[self.done as u8; Self::PAGE_BYTES])?;
        self.file.sync_data()?;
        Ok(clock.now() - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RealClock;

    #[test]
    fn raw_syncs_are_timed_where_commits_wait_for_them_and_leave_no_file() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let location = Location::files(folder.path().join("x.db"), &bourse_engine::FileFormat::FILE);
        let clock = RealClock::start();
        let found = raw_syncs(&location, Durability::Durable, &clock).expect("the folder takes a file");
        assert!(found.count == 50 && found.p50_ns > 0 && found.p50_ns <= found.p90_ns, "{found:?}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder is there").count(), 0);
        assert_eq!(raw_syncs(&location, Durability::Process, &clock), None);
        assert_eq!(raw_syncs(&Location::Memory, Durability::Durable, &clock), None);
        assert_eq!(storage(&Location::Memory), None);
    }
}
