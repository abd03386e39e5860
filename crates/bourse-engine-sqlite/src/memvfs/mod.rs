//! A file system in the memory of this process, for databases that all sessions share.
//!
//! SQLite's own `memdb` copies every page into every session's cache, has no write-ahead log and is limited to 2 GiB.
//! This one returns pages by address, has the log's index, so that readers continue during writes, and is limited to 64
//! GiB. Syncs do nothing: all data is lost with the process.
//!
//! File `storage`: the bytes of a file.

mod storage;

use crate::ffi::{self, SqliteLibrary};
use crate::vfs::default_vfs;
use crate::vfs::handle::{OpenedFile, SharedFile};
use crate::vfs::memory::{MemoryFile, description};
use bourse_engine::locked;
use std::collections::HashMap;
use std::ffi::{CStr, c_int};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use storage::MemoryBytes;

/// Name for `?vfs=` in a URI.
pub(crate) const NAME: &CStr = c"bourse-ram";

/// A file, shared by all its handles.
struct MemFile {
    storage: MemoryBytes,
    shared: SharedFile,
}

impl OpenedFile for MemFile {
    fn shared(&self) -> &SharedFile {
        &self.shared
    }
}

impl MemoryFile for MemFile {
    // Memory knows no torn pages, and what is written later is not seen earlier.
    const DEVICE: c_int = ffi::SQLITE_IOCAP_ATOMIC
        | ffi::SQLITE_IOCAP_SAFE_APPEND
        | ffi::SQLITE_IOCAP_SEQUENTIAL
        | ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
        | ffi::SQLITE_IOCAP_SUBPAGE_READ;
    const BY_ADDRESS: bool = true;

    fn temporary() -> Arc<Self> {
        Arc::new(Self { storage: MemoryBytes::new(), shared: SharedFile::default() })
    }

    fn find(name: &CStr, makes: bool) -> Option<Arc<Self>> {
        let mut files = files();
        if makes {
            return Some(Arc::clone(files.entry(name.to_bytes().to_vec()).or_insert_with(Self::temporary)));
        }
        files.get(name.to_bytes()).cloned()
    }

    fn remove(name: &CStr) -> bool {
        files().remove(name.to_bytes()).is_some()
    }

    /// An empty journal is as good as none, and SQLite asks for one at every read transaction.
    fn exists(name: &CStr) -> bool {
        files().contains_key(name.to_bytes())
    }

    unsafe fn read(&self, offset: u64, target: *mut u8, length: usize) -> usize {
        // SAFETY: by the caller's word.
        unsafe { self.storage.read(offset, target, length) }
    }

    unsafe fn write(&self, offset: u64, source: *const u8, length: usize) -> bool {
        // SAFETY: by the caller's word.
        unsafe { self.storage.write(offset, source, length) }
    }

    fn set_size(&self, size: u64) {
        self.storage.truncate(size);
    }

    fn size(&self) -> u64 {
        self.storage.size()
    }

    fn address(&self, offset: u64, length: usize) -> Option<*mut u8> {
        self.storage.address(offset, length)
    }
}

fn files() -> MutexGuard<'static, HashMap<Vec<u8>, Arc<MemFile>>> {
    static FILES: LazyLock<Mutex<HashMap<Vec<u8>, Arc<MemFile>>>> = LazyLock::new(Mutex::default);
    locked(&FILES)
}

/// Registers the file system with a copy of SQLite; does nothing the second time.
///
/// Returns SQLite's code.
pub(crate) fn register(library: SqliteLibrary) -> c_int {
    default_vfs::register(library, NAME, |default_vfs| description::<MemFile>(NAME, default_vfs))
}

/// Bytes of a file, 0 if no such name exists.
pub(crate) fn size(name: &str) -> u64 {
    files().get(name.as_bytes()).map_or(0, |file| file.storage.size())
}

/// Removes a database with its log and journal; open sessions still have their files.
pub(crate) fn forget(name: &str) {
    let mut files = files();
    for suffix in ["", "-wal", "-journal"] {
        files.remove(format!("{name}{suffix}").as_bytes());
    }
}

/// Renames a database that no session has open; an existing one of the new name is removed.
pub(crate) fn rename(from: &str, to: &str) {
    forget(to);
    let mut files = files();
    if let Some(file) = files.remove(from.as_bytes()) {
        files.insert(to.as_bytes().to_vec(), file);
    }
}
