//! A file system in the memory of this process, for databases that all sessions share.
//!
//! SQLite's own `memdb` copies every page into every session's cache, cannot keep a write-ahead log and ends at 2 GiB.
//! This one hands out pages by address, has the log's index, so that readers go on beside the writer, and ends at 64 GiB.
//! Nothing is ever synced: all is gone with the process.
//!
//! Files: `storage` (bytes), `methods` (the C interface).

mod methods;
mod storage;

use crate::ffi::Library;
use crate::vfs::default_vfs;
use crate::vfs::handle::Shared;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use storage::Storage;

/// Its name, for `?vfs=` in a URI.
pub(crate) const NAME: &CStr = c"bourse-ram";

/// A file, with all that its handles share.
struct MemFile {
    storage: Storage,
    shared: Shared,
}

impl MemFile {
    fn new() -> Arc<Self> {
        Arc::new(Self { storage: Storage::new(), shared: Shared::default() })
    }
}

fn files() -> MutexGuard<'static, HashMap<Vec<u8>, Arc<MemFile>>> {
    static FILES: LazyLock<Mutex<HashMap<Vec<u8>, Arc<MemFile>>>> = LazyLock::new(Mutex::default);
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the file system known to a copy of SQLite; does nothing the second time.
///
/// Returns SQLite's code.
pub(crate) fn register(library: Library) -> std::ffi::c_int {
    default_vfs::register(library, NAME, methods::file_system)
}

/// Bytes of a file, 0 if no such name exists.
pub(crate) fn size(name: &str) -> u64 {
    files().get(name.as_bytes()).map_or(0, |file| file.storage.size())
}

/// Forgets a database with its log and journal; sessions that are open keep their own hold on it.
pub(crate) fn forget(name: &str) {
    let mut files = files();
    for suffix in ["", "-wal", "-journal"] {
        files.remove(format!("{name}{suffix}").as_bytes());
    }
}

/// Gives a database that nobody has open another's name; the other is forgotten.
pub(crate) fn rename(from: &str, to: &str) {
    forget(to);
    let mut files = files();
    if let Some(file) = files.remove(from.as_bytes()) {
        files.insert(to.as_bytes().to_vec(), file);
    }
}
