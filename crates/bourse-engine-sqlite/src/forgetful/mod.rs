//! A file system over a disk that forgets: what was not synced is in the memory of this process alone, and so lost with it,
//! as it is when the power fails. Killing the process is the loss of power.
//!
//! Files: `disk` (bytes and names), `methods` (the C interface). Locks are `vfs`'s: such a database is this process's
//! alone.

mod disk;
mod methods;

use crate::ffi;
use crate::library;
use std::ffi::CStr;
use std::ptr;
use std::sync::OnceLock;

/// Sets the seed of the simulated disk (`disk=forgetful`) of this process, before anything is opened on it.
pub fn seed_simulated_disk(seed: u64) {
    disk::set_seed(seed);
}

/// Its name.
pub(crate) const NAME: &CStr = c"bourse-forgetful";

/// Makes the file system known to SQLite; does nothing the second time.
///
/// Returns SQLite's code.
pub(crate) fn register() -> std::ffi::c_int {
    static REGISTERED: OnceLock<std::ffi::c_int> = OnceLock::new();
    *REGISTERED.get_or_init(|| {
        let started = library::start();
        if started != ffi::SQLITE_OK {
            return started;
        }
        // SAFETY: SQLite keeps the pointer for ever, and it is leaked; the default file system outlives the process's use.
        unsafe {
            let usual = ffi::sqlite3_vfs_find(ptr::null());
            if usual.is_null() {
                return ffi::SQLITE_ERROR;
            }
            ffi::sqlite3_vfs_register(Box::leak(Box::new(methods::file_system(usual))), 0)
        }
    })
}
