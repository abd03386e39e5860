//! An open file of a file system in this process: its allocation by SQLite, and the functions for locks and for the
//! index of the write-ahead log, which use only the [`SharedFile`] part of a file.

use super::locks::{HeldSlots, Locks};
use crate::ffi;
use bourse_engine::locked;
use std::ffi::{CString, c_int, c_void};
use std::mem;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex};

/// State that all handles of a file share, besides its bytes.
#[derive(Default)]
pub(crate) struct SharedFile {
    pub(crate) locks: Locks,
    /// Regions of the write-ahead log's index; boxed, so that their addresses stay valid.
    index: Mutex<Vec<Box<[u64]>>>,
}

/// A file of this process.
pub(crate) trait OpenedFile {
    fn shared(&self) -> &SharedFile;
}

/// Memory that SQLite allocates for an open file: its own part first.
#[repr(C)]
struct FileHandle<F: OpenedFile> {
    base: ffi::sqlite3_file,
    state: *mut HandleState<F>,
}

/// Bourse's part of an open file.
pub(crate) struct HandleState<F: OpenedFile> {
    pub(crate) file: Arc<F>,
    /// Name to delete when the file is closed.
    pub(crate) delete: Option<CString>,
    /// The lock held on the file.
    lock: c_int,
    /// Locks held on the log's index.
    held: HeldSlots,
}

/// Number of bytes that SQLite must allocate for an open file.
pub(crate) const fn size_of_handle<F: OpenedFile>() -> c_int {
    mem::size_of::<FileHandle<F>>() as c_int
}

/// Initialises the handle of a file that was opened with `flags`; `delete` names it if it is to be deleted when closed.
///
/// # Safety
/// `handle` must have the room of [`size_of_handle`], and `out_flags` be null or writable.
pub(crate) unsafe fn fill<F: OpenedFile>(
    handle: *mut ffi::sqlite3_file,
    methods: &'static ffi::sqlite3_io_methods,
    file: Arc<F>,
    delete: Option<CString>,
    flags: c_int,
    out_flags: *mut c_int,
) {
    let state = HandleState { file, delete, lock: ffi::SQLITE_LOCK_NONE, held: HeldSlots::default() };
    // SAFETY: by the caller's word.
    unsafe {
        handle
            .cast::<FileHandle<F>>()
            .write(FileHandle { base: ffi::sqlite3_file { pMethods: methods }, state: Box::into_raw(Box::new(state)) });
        if !out_flags.is_null() {
            *out_flags = flags;
        }
    }
}

/// Takes the state back that [`fill`] stored.
///
/// # Safety
/// `handle` must be open, and is not used again.
pub(crate) unsafe fn empty<F: OpenedFile>(handle: *mut ffi::sqlite3_file) -> Box<HandleState<F>> {
    // SAFETY: `fill` leaked the box, and SQLite closes a file once.
    unsafe { Box::from_raw((*handle.cast::<FileHandle<F>>()).state) }
}

/// # Safety
/// `handle` must be open, and of a file `F`.
pub(crate) unsafe fn state<'a, F: OpenedFile>(handle: *mut ffi::sqlite3_file) -> &'a mut HandleState<F> {
    // SAFETY: `fill` set the pointer to a leaked box, which lives until `empty`.
    unsafe { &mut *(*handle.cast::<FileHandle<F>>()).state }
}

/// Methods of an open file that use only [`SharedFile`]; its file system adds those that touch the bytes.
pub(crate) const fn methods<F: OpenedFile>() -> ffi::sqlite3_io_methods {
    ffi::sqlite3_io_methods {
        // Without pages by address, which version 3 brings.
        iVersion: 2,
        xClose: None,
        xRead: None,
        xWrite: None,
        xTruncate: None,
        xSync: None,
        xFileSize: None,
        xLock: Some(lock::<F>),
        xUnlock: Some(unlock::<F>),
        xCheckReservedLock: Some(check_reserved_lock::<F>),
        xFileControl: Some(file_control),
        xSectorSize: Some(sector_size),
        xDeviceCharacteristics: None,
        xShmMap: Some(shm_map::<F>),
        xShmLock: Some(shm_lock::<F>),
        xShmBarrier: Some(shm_barrier),
        xShmUnmap: Some(shm_unmap::<F>),
        xFetch: None,
        xUnfetch: None,
    }
}

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a handle is one that `fill` filled
// in and `empty` has not seen, used by one thread at a time; the pointers given with it are valid.

unsafe extern "C" fn lock<F: OpenedFile>(handle: *mut ffi::sqlite3_file, wanted: c_int) -> c_int {
    // SAFETY: see above.
    let state = unsafe { state::<F>(handle) };
    let (held, code) = state.file.shared().locks.raise(state.lock, wanted);
    state.lock = held;
    code
}

unsafe extern "C" fn unlock<F: OpenedFile>(handle: *mut ffi::sqlite3_file, wanted: c_int) -> c_int {
    // SAFETY: see above.
    let state = unsafe { state::<F>(handle) };
    if state.lock > wanted {
        state.file.shared().locks.lower(state.lock, wanted);
        state.lock = wanted;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock<F: OpenedFile>(handle: *mut ffi::sqlite3_file, reserved: *mut c_int) -> c_int {
    // SAFETY: see above.
    unsafe { *reserved = c_int::from(state::<F>(handle).file.shared().locks.is_reserved()) };
    ffi::SQLITE_OK
}

/// Offers no optional operation.
unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

/// Returns the sector size that the default file system assumes for every disk.
unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    4096
}

unsafe extern "C" fn shm_map<F: OpenedFile>(
    handle: *mut ffi::sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    address: *mut *mut c_void,
) -> c_int {
    // SAFETY: see above.
    let shared = unsafe { state::<F>(handle) }.file.shared();
    let mut index = locked(&shared.index);
    let (region, words) = (region as usize, size as usize / mem::size_of::<u64>());
    if extend != 0 {
        while index.len() <= region {
            index.push(vec![0; words].into_boxed_slice());
        }
    }
    let start = index.get_mut(region).map_or(ptr::null_mut(), |region| region.as_mut_ptr());
    // SAFETY: see above. The region is boxed and freed only with the file.
    unsafe { *address = start.cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_lock<F: OpenedFile>(
    handle: *mut ffi::sqlite3_file,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: see above.
    let state = unsafe { state::<F>(handle) };
    let slots: Range<usize> = first as usize..(first + count) as usize;
    let bits = slots.clone().fold(0, |bits, slot| bits | 1 << slot);
    let exclusive = flags & ffi::SQLITE_SHM_EXCLUSIVE != 0;
    let locks = &state.file.shared().locks;
    if flags & ffi::SQLITE_SHM_LOCK != 0 {
        if !locks.take(slots, exclusive, &state.held) {
            return ffi::SQLITE_BUSY;
        }
        *if exclusive { &mut state.held.exclusive } else { &mut state.held.shared } |= bits;
    } else {
        locks.give(slots, &state.held);
        state.held.exclusive &= !bits;
        state.held.shared &= !bits;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_barrier(_: *mut ffi::sqlite3_file) {
    fence(Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap<F: OpenedFile>(handle: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    // SAFETY: see above.
    let state = unsafe { state::<F>(handle) };
    let shared = state.file.shared();
    shared.locks.give(0..ffi::SQLITE_SHM_NLOCK as usize, &state.held);
    state.held = HeldSlots::default();
    if delete != 0 {
        // The last connection leaves the log: whoever comes next begins a new index.
        locked(&shared.index).clear();
    }
    ffi::SQLITE_OK
}
