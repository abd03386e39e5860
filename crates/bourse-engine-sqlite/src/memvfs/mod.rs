//! A file system in the memory of this process, for databases that all sessions share.
//!
//! SQLite's own `memdb` copies every page into every session's cache, has no write-ahead log and is limited to 2 GiB.
//! This one returns pages by address, has the log's index, so that readers continue during writes, and is limited to 64
//! GiB. Syncs do nothing: all data is lost with the process.
//!
//! Files: `storage` (bytes), `methods` (the C interface).

mod methods;
mod storage;

use crate::ffi::Library;
use crate::vfs::default_vfs;
use crate::vfs::handle::Shared;
use bourse_engine::locked;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use storage::Storage;

/// Name for `?vfs=` in a URI.
pub(crate) const NAME: &CStr = c"bourse-ram";

/// A file, shared by all its handles.
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
    locked(&FILES)
}

/// Registers the file system with a copy of SQLite; does nothing the second time.
///
/// Returns SQLite's code.
pub(crate) fn register(library: Library) -> std::ffi::c_int {
    default_vfs::register(library, NAME, methods::file_system)
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
