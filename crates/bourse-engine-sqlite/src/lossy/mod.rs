//! A file system over a disk that forgets: what was not synced is in the memory of this process alone, and so lost with it,
//! as it is when the power fails. Killing the process is the loss of power.
//!
//! Files: `disk` (bytes and names), `methods` (the C interface). Locks are `vfs`'s: such a database is this process's
//! alone.

mod disk;
mod methods;

use crate::ffi::Library;
use crate::vfs::default_vfs;
use std::ffi::CStr;

/// Sets the seed of the simulated disk (`disk=lossy`) of this process, before anything is opened on it.
pub fn seed_simulated_disk(seed: u64) {
    disk::set_seed(seed);
}

/// Its name.
pub(crate) const NAME: &CStr = c"bourse-lossy";

/// Makes the file system known to a copy of SQLite; does nothing the second time.
///
/// Returns SQLite's code.
pub(crate) fn register(library: Library) -> std::ffi::c_int {
    default_vfs::register(library, NAME, methods::file_system)
}
