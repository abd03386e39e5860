//! Files of the default file system with a part of Bourse's: a pointer to it follows the default part of an open file,
//! and some functions are replaced.

use super::default_vfs::{DefaultVfsAccess, copied};
use crate::ffi;
use bourse_engine::locked;
use std::ffi::{c_char, c_int};
use std::mem;
use std::ptr;
use std::sync::Mutex;

/// Offset of Bourse's part of a file, in bytes: after the default part.
const fn place(default_bytes: c_int) -> usize {
    (default_bytes as usize).next_multiple_of(mem::align_of::<*mut ()>())
}

/// Bytes of an open file, both parts.
pub(crate) const fn size_of_file(default_bytes: c_int) -> c_int {
    (place(default_bytes) + mem::size_of::<*mut ()>()) as c_int
}

/// A table of functions, and data common to all files that use it.
#[repr(C)]
struct OverlayTable {
    /// First, so that a file's pointer to its functions is a pointer to this.
    methods: ffi::sqlite3_io_methods,
    /// Offset of Bourse's part of a file, in bytes.
    place: usize,
}

/// Tables of one kind of overlay: one for each table of the default file system, created once and never freed.
pub(crate) struct OverlayTables {
    /// Replaces some of the default functions.
    replaced: fn(ffi::sqlite3_io_methods) -> ffi::sqlite3_io_methods,
    /// Addresses of tables: a default one, and its replacement.
    known: Mutex<Vec<(usize, usize)>>,
}

impl OverlayTables {
    /// Tables in which `replaced` has replaced functions.
    pub(crate) const fn new(replaced: fn(ffi::sqlite3_io_methods) -> ffi::sqlite3_io_methods) -> Self {
        Self { replaced, known: Mutex::new(Vec::new()) }
    }

    /// Replacement of the table `methods`.
    ///
    /// # Safety
    /// `methods` must be a table of a file system that lives as long as the process, whose own part of a file has
    /// `place` bytes.
    unsafe fn of(&self, methods: *const ffi::sqlite3_io_methods, place: usize) -> *const ffi::sqlite3_io_methods {
        let mut known = locked(&self.known);
        if let Some((_, ours)) = known.iter().find(|(known, _)| *known == methods.addr()) {
            return ptr::with_exposed_provenance(*ours);
        }
        // SAFETY: as the caller promises; the tables of a default file system live as long as the process.
        let default_methods = unsafe { copied(methods) };
        let ours: *const OverlayTable =
            Box::leak(Box::new(OverlayTable { methods: (self.replaced)(default_methods), place }));
        known.push((methods.addr(), ours.expose_provenance()));
        ours.cast()
    }
}

/// # Safety
/// The file must have the size of [`size_of_file`], of which the first `place` bytes are the default one's.
unsafe fn slot<S>(file: *mut ffi::sqlite3_file, place: usize) -> *mut *mut S {
    // SAFETY: the slot lies within the room, aligned.
    unsafe { file.cast::<u8>().add(place).cast() }
}

/// # Safety
/// `file` must be open, by [`open`].
#[inline]
unsafe fn slot_of<S>(file: *mut ffi::sqlite3_file) -> *mut *mut S {
    // SAFETY: the functions of a file that is open are those of a table of ours, which `open` put there.
    unsafe { slot(file, (*(*file).pMethods.cast::<OverlayTable>()).place) }
}

/// Bourse's part of a file.
///
/// # Safety
/// `file` must be open, by [`open`] with a state of this type.
#[inline]
pub(crate) unsafe fn state<'a, S>(file: *mut ffi::sqlite3_file) -> &'a mut S {
    // SAFETY: `open` put a leaked box into the slot, which lives until it is taken.
    unsafe { &mut **slot_of::<S>(file) }
}

/// Bourse's part of a file that is being closed.
///
/// # Safety
/// Those of [`state`]; called once for each file.
pub(crate) unsafe fn taken<S>(file: *mut ffi::sqlite3_file) -> Box<S> {
    // SAFETY: `open` leaked the box, and the caller takes it once.
    unsafe { Box::from_raw(*slot_of::<S>(file)) }
}

/// Opens a file with the default file system, and adds Bourse's part, which `state` creates from the functions that the
/// file was opened with.
///
/// # Safety
/// Those of SQLite's `xOpen`, with a file system of Bourse's whose files have the size of [`size_of_file`] and whose
/// default one lives as long as the process.
pub(crate) unsafe fn open<O: DefaultVfsAccess, S>(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    (flags, out_flags): (c_int, *mut c_int),
    tables: &OverlayTables,
    state: impl FnOnce(*const ffi::sqlite3_io_methods) -> S,
) -> c_int {
    // SAFETY: as the caller promises; the default file system gets its own description and the first part of the room.
    unsafe {
        let default_vfs = O::default_vfs(vfs);
        let code =
            (*default_vfs).xOpen.map_or(ffi::SQLITE_ERROR, |call| call(default_vfs, name, file, flags, out_flags));
        let methods = (*file).pMethods;
        if code != ffi::SQLITE_OK || methods.is_null() {
            return code;
        }
        let place = place((*default_vfs).szOsFile);
        slot::<S>(file, place).write(Box::into_raw(Box::new(state(methods))));
        (*file).pMethods = tables.of(methods, place);
    }
    ffi::SQLITE_OK
}
