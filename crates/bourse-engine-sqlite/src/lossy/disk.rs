//! The simulated disk: the durable image, unsynced data in memory, and the names in directories.
//!
//! The durable image consists of real files, so that after this process has ended the next user of the database finds
//! the result of a power loss: everything synced, and of the rest some sectors that the disk happened to write early,
//! in any order.

use crate::vfs::handle::Shared;
use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Size of the unit that a disk writes atomically, in bytes.
const SECTOR: u64 = 512;
/// Number of sectors, or of changes of a file's size or name, of which one is in the durable image before it is synced.
const EARLY: u64 = 8;

type Sector = [u8; SECTOR as usize];

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seed of the disk's random choices.
static SEED: AtomicU64 = AtomicU64::new(1);

/// Sets the seed of this process's simulated disk: with the same seed the same of the n-th pieces are written early.
pub(crate) fn set_seed(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
}

/// Whether the disk writes the next piece early. Any sequence is good that is not in step with the writes.
fn early() -> bool {
    static DRAWS: AtomicU64 = AtomicU64::new(0);
    let place = DRAWS.fetch_add(1, Ordering::Relaxed);
    let mut z = (place ^ SEED.load(Ordering::Relaxed).rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (z ^ (z >> 27)).is_multiple_of(EARLY)
}

/// A file, shared by all its handles.
pub(super) struct DiskFile {
    /// Path; `None` for a temporary file, which cannot be found again.
    path: Option<PathBuf>,
    bytes: Mutex<Bytes>,
    pub(super) shared: Shared,
}

/// Content of a file.
#[derive(Default)]
struct Bytes {
    /// Whether the durable image is never changed by writes and syncs.
    is_only_read: bool,
    /// Durable image; `None` until the file's name is durable.
    image: Option<fs::File>,
    /// Length of the durable image that belongs to the file: bytes after it were cut off, or never written.
    kept: u64,
    size: u64,
    /// Sectors written and not synced.
    unsynced: HashMap<u64, Box<Sector>>,
}

impl Bytes {
    fn read(&self, offset: u64, target: &mut [u8]) -> io::Result<usize> {
        let there = self.size.saturating_sub(offset).min(target.len() as u64) as usize;
        let target = &mut target[..there];
        let from_image = self.kept.saturating_sub(offset).min(there as u64) as usize;
        target[from_image..].fill(0);
        if let (Some(image), 1..) = (&self.image, from_image) {
            image.read_exact_at(&mut target[..from_image], offset)?;
        } else {
            target.fill(0);
        }
        for piece in pieces(offset, there) {
            if let Some(sector) = self.unsynced.get(&piece.sector) {
                target[piece.outside].copy_from_slice(&sector[piece.inside]);
            }
        }
        Ok(there)
    }

    fn write(&mut self, offset: u64, source: &[u8]) -> io::Result<()> {
        for piece in pieces(offset, source.len()) {
            let start = piece.sector * SECTOR;
            if !self.unsynced.contains_key(&piece.sector) {
                let mut sector = Box::new([0; SECTOR as usize]);
                if piece.inside.len() < SECTOR as usize {
                    self.read(start, &mut *sector)?;
                }
                self.unsynced.insert(piece.sector, sector);
            }
            let sector = self.unsynced.get_mut(&piece.sector).expect("it was just put there");
            sector[piece.inside].copy_from_slice(&source[piece.outside]);
            if let (Some(image), true) = (&self.image, !self.is_only_read && early()) {
                image.write_all_at(&**sector, start)?;
            }
        }
        self.size = self.size.max(offset + source.len() as u64);
        Ok(())
    }

    fn truncate(&mut self, size: u64) -> io::Result<()> {
        self.unsynced.retain(|sector, _| sector * SECTOR < size);
        let within = (size % SECTOR) as usize;
        if let (Some(sector), 1..) = (self.unsynced.get_mut(&(size / SECTOR)), within) {
            sector[within..].fill(0);
        }
        self.kept = self.kept.min(size);
        self.size = size;
        match &self.image {
            Some(image) if !self.is_only_read && early() => image.set_len(size),
            _ => Ok(()),
        }
    }

    /// Writes everything to the durable image.
    fn sync(&mut self) -> io::Result<()> {
        let Some(image) = self.image.as_ref().filter(|_| !self.is_only_read) else { return Ok(()) };
        // What lies behind what is kept must read as zeros.
        image.set_len(self.kept)?;
        image.set_len(self.size)?;
        for (number, sector) in self.unsynced.drain() {
            let start = number * SECTOR;
            let length = self.size.saturating_sub(start).min(SECTOR) as usize;
            image.write_all_at(&sector[..length], start)?;
        }
        self.kept = self.size;
        Ok(())
    }
}

/// A part of a sector, and its range in the bytes read or written.
struct Piece {
    sector: u64,
    inside: std::ops::Range<usize>,
    outside: std::ops::Range<usize>,
}

/// Cuts a range of a file at its sectors.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = Piece> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let at = offset + done as u64;
        let within = (at % SECTOR) as usize;
        let piece = (SECTOR as usize - within).min(length - done);
        done += piece;
        Some(Piece { sector: at / SECTOR, inside: within..within + piece, outside: done - piece..done })
    })
}

impl DiskFile {
    fn new(path: Option<PathBuf>, bytes: Bytes) -> Arc<Self> {
        Arc::new(Self { path, bytes: Mutex::new(bytes), shared: Shared::default() })
    }

    /// A temporary file, without a name.
    pub(super) fn temporary() -> Arc<Self> {
        Self::new(None, Bytes::default())
    }

    pub(super) fn size(&self) -> u64 {
        locked(&self.bytes).size
    }

    /// Reads the existing part of a range, and returns its length.
    pub(super) fn read(&self, offset: u64, target: &mut [u8]) -> io::Result<usize> {
        locked(&self.bytes).read(offset, target)
    }

    pub(super) fn write(&self, offset: u64, source: &[u8]) -> io::Result<()> {
        locked(&self.bytes).write(offset, source)
    }

    pub(super) fn truncate(&self, size: u64) -> io::Result<()> {
        locked(&self.bytes).truncate(size)
    }

    /// Makes the bytes durable, and when a new file is first synced its name.
    pub(super) fn sync(&self, disk: &Disk) -> io::Result<()> {
        let Some(path) = self.path.as_ref().filter(|_| !disk.is_only_read) else { return Ok(()) };
        if locked(&self.bytes).image.is_none() {
            disk.sync_names()?;
            let image = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
            locked(&self.bytes).image = Some(image);
        }
        locked(&self.bytes).sync()
    }
}

/// Files used by this process, and names whose deletion is not durable.
#[derive(Default)]
pub(super) struct Disk {
    names: Mutex<Names>,
    /// Whether nothing reaches the durable image: writes stay in memory.
    is_only_read: bool,
}

#[derive(Default)]
struct Names {
    files: HashMap<PathBuf, Arc<DiskFile>>,
    /// Names deleted, but still in the durable image.
    unlinked: HashSet<PathBuf>,
}

impl Disk {
    /// The disk of this process.
    pub(super) fn this() -> &'static Self {
        static DISK: LazyLock<Disk> = LazyLock::new(Disk::default);
        &DISK
    }

    /// The disk on which databases are examined: no operation reaches their files.
    #[cfg(loaded)]
    pub(super) fn only_read() -> &'static Self {
        static DISK: LazyLock<Disk> = LazyLock::new(|| Disk { is_only_read: true, ..Disk::default() });
        &DISK
    }

    /// Forgets all files, so that only their durable images are left.
    #[cfg(loaded)]
    pub(super) fn forget(&self) {
        *locked(&self.names) = Names::default();
    }

    /// Opens a file, or creates it.
    ///
    /// # Errors
    /// An error if the file does not exist and `create` is false.
    pub(super) fn open(&self, path: &Path, create: bool) -> io::Result<Arc<DiskFile>> {
        let mut names = locked(&self.names);
        if let Some(file) = names.files.get(path) {
            return Ok(Arc::clone(file));
        }
        let is_there = !names.unlinked.contains(path) && path.exists();
        let is_only_read = self.is_only_read;
        let bytes = match (is_there, create) {
            (true, _) => {
                let image = OpenOptions::new().read(true).write(!is_only_read).open(path)?;
                let size = image.metadata()?.len();
                Bytes { is_only_read, image: Some(image), kept: size, size, unsynced: HashMap::new() }
            }
            (false, true) => Bytes { is_only_read, ..Bytes::default() },
            (false, false) => return Err(io::ErrorKind::NotFound.into()),
        };
        let file = DiskFile::new(Some(path.to_owned()), bytes);
        names.files.insert(path.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    /// Whether a file of that name exists and is not empty.
    pub(super) fn has(&self, path: &Path) -> bool {
        let names = locked(&self.names);
        match names.files.get(path) {
            Some(file) => file.size() > 0,
            None => !names.unlinked.contains(path) && fs::metadata(path).is_ok_and(|found| found.len() > 0),
        }
    }

    /// Deletes a file; durably if `synced`, and otherwise perhaps.
    pub(super) fn delete(&self, path: &Path, synced: bool) -> io::Result<()> {
        {
            let mut names = locked(&self.names);
            let known = names.files.remove(path).is_some();
            let in_image = !names.unlinked.contains(path) && path.exists();
            if !known && !in_image {
                return Err(io::ErrorKind::NotFound.into());
            }
            if in_image {
                names.unlinked.insert(path.to_owned());
            }
        }
        if !self.is_only_read && (synced || early()) { self.sync_names() } else { Ok(()) }
    }

    /// Makes every deletion durable.
    fn sync_names(&self) -> io::Result<()> {
        for path in locked(&self.names).unlinked.drain() {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        (folder, path)
    }

    fn all(file: &DiskFile) -> Vec<u8> {
        let mut bytes = vec![0xff; file.size() as usize];
        assert_eq!(file.read(0, &mut bytes).unwrap(), bytes.len());
        bytes
    }

    #[test]
    fn what_is_synced_is_in_the_durable_image_and_the_rest_mostly_is_not() {
        let (_folder, path) = scratch();
        let disk = Disk::default();
        let file = disk.open(&path, true).unwrap();
        file.write(0, &[1; 1_000]).unwrap();
        assert!(!path.exists(), "not even the name is durable");
        file.sync(&disk).unwrap();
        assert_eq!(fs::read(&path).unwrap(), [1; 1_000]);
        file.write(0, &[2; 512 * 400]).unwrap();
        assert_eq!(all(&file), [2; 512 * 400], "it is read as it was written");
        let image = fs::read(&path).unwrap();
        let early = image.chunks(512).filter(|sector| sector.iter().all(|byte| *byte == 2)).count();
        assert!((1..200).contains(&early), "{early} of 400 sectors were written early");
        file.sync(&disk).unwrap();
        assert_eq!(fs::read(&path).unwrap(), [2; 512 * 400]);
    }

    #[test]
    fn parts_of_sectors_keep_what_is_around_them() {
        let (_folder, path) = scratch();
        fs::write(&path, [1; 2_000]).unwrap();
        let disk = Disk::default();
        let file = disk.open(&path, false).unwrap();
        file.write(500, &[2; 100]).unwrap();
        let mut wanted = vec![1; 2_000];
        wanted[500..600].fill(2);
        assert_eq!(all(&file), wanted);
        file.sync(&disk).unwrap();
        assert_eq!(fs::read(&path).unwrap(), wanted);
    }

    #[test]
    fn what_was_cut_off_reads_as_zeros_when_the_file_grows_again() {
        let (_folder, path) = scratch();
        fs::write(&path, [1; 2_000]).unwrap();
        let disk = Disk::default();
        let file = disk.open(&path, false).unwrap();
        file.truncate(100).unwrap();
        file.write(1_500, &[3; 10]).unwrap();
        let mut wanted = vec![0; 1_510];
        wanted[..100].fill(1);
        wanted[1_500..].fill(3);
        assert_eq!(all(&file), wanted);
        file.sync(&disk).unwrap();
        assert_eq!(fs::read(&path).unwrap(), wanted);
    }

    #[test]
    fn what_is_only_read_stays_as_it_is() {
        let (folder, path) = scratch();
        let other = folder.path().join("other");
        fs::write(&path, [1; 2_000]).unwrap();
        fs::write(&other, b"log").unwrap();
        let disk = Disk { is_only_read: true, ..Disk::default() };
        let file = disk.open(&path, false).unwrap();
        for offset in 0..100 {
            file.write(10 * offset, &[2; 600]).unwrap();
        }
        file.truncate(900).unwrap();
        file.sync(&disk).unwrap();
        assert_eq!(all(&file), [2; 900]);
        disk.delete(&other, true).unwrap();
        assert!(!disk.has(&other));
        let made = disk.open(&folder.path().join("made"), true).unwrap();
        made.write(0, b"new").unwrap();
        made.sync(&disk).unwrap();
        assert_eq!(all(&made), b"new");
        assert_eq!(fs::read(&path).unwrap(), [1; 2_000]);
        assert_eq!(fs::read(&other).unwrap(), b"log");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is made");
    }

    #[test]
    fn a_deletion_lasts_once_the_directory_is_synced() {
        let (_folder, path) = scratch();
        fs::write(&path, b"old").unwrap();
        let disk = Disk::default();
        disk.delete(&path, false).unwrap();
        assert!(!disk.has(&path), "for this process it is gone");
        assert!(disk.open(&path, false).is_err());
        let file = disk.open(&path, true).unwrap();
        file.write(0, b"newer").unwrap();
        file.sync(&disk).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer", "a new file's first sync is one of its directory too");
        disk.delete(&path, true).unwrap();
        assert!(!path.exists());
        assert!(disk.delete(&path, true).is_err());
    }
}
