//! A file system over a simulated disk: unsynced data is in the memory of this process alone, and lost with it, as in a
//! power failure. Killing the process is the power failure.
//!
//! A second one writes nothing to the files at all: on it a database is examined in the state that it will have after
//! recovery from a crash.
//!
//! Files: `disk` (bytes and names), `methods` (the C interface). Locks are those of `vfs`: such a database belongs to
//! this process alone.

mod disk;
mod methods;

use crate::ffi::{self, Library};
use crate::vfs::default_vfs;
use disk::Disk;
use std::ffi::CStr;

/// Sets the seed of the simulated disk (`disk=lossy`) of this process, before anything is opened on it.
pub fn seed_simulated_disk(seed: u64) {
    disk::set_seed(seed);
}

/// A file system of this kind.
trait Kind {
    const NAME: &'static CStr;

    /// Disk of its files.
    fn disk() -> &'static Disk;

    /// The functions of an open file.
    fn methods() -> &'static ffi::sqlite3_io_methods;
}

struct Lossy;

impl Kind for Lossy {
    const NAME: &'static CStr = c"bourse-lossy";

    fn disk() -> &'static Disk {
        Disk::this()
    }

    fn methods() -> &'static ffi::sqlite3_io_methods {
        static METHODS: ffi::sqlite3_io_methods = methods::methods::<Lossy>();
        &METHODS
    }
}

/// Its name.
pub(crate) const NAME: &CStr = Lossy::NAME;

/// Registers the file system with a copy of SQLite; does nothing the second time.
///
/// Returns SQLite's code.
pub(crate) fn register(library: Library) -> std::ffi::c_int {
    default_vfs::register(library, NAME, methods::file_system::<Lossy>)
}

#[cfg(loaded)]
struct OnlyRead;

#[cfg(loaded)]
impl Kind for OnlyRead {
    const NAME: &'static CStr = c"bourse-only-read";

    fn disk() -> &'static Disk {
        Disk::only_read()
    }

    fn methods() -> &'static ffi::sqlite3_io_methods {
        static METHODS: ffi::sqlite3_io_methods = methods::methods::<OnlyRead>();
        &METHODS
    }
}

/// Runs `look` with the name of the file system on which all files have their content on disk and none is changed.
#[cfg(loaded)]
pub(crate) fn while_only_read<T>(library: Library, look: impl FnOnce(&'static CStr) -> T) -> T {
    // One at a time: what another one wrote is forgotten first.
    static LOOKING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _looking = LOOKING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Should it fail, nothing of that name can be opened.
    default_vfs::register(library, OnlyRead::NAME, methods::file_system::<OnlyRead>);
    let found = look(OnlyRead::NAME);
    OnlyRead::disk().forget();
    found
}
