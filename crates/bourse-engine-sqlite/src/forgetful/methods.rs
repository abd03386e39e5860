//! The C interface: what SQLite calls.

use super::NAME;
use super::disk::{Disk, DiskFile};
use crate::ffi;
use crate::ram::locks::Held;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::io;
use std::mem;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::slice;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, PoisonError};

/// What SQLite allocates for an open file: its own part first.
#[repr(C)]
struct Handle {
    base: ffi::sqlite3_file,
    state: *mut State,
}

/// Our part of an open file.
struct State {
    file: Arc<DiskFile>,
    /// Set if the file is to be deleted when it is closed.
    delete: Option<PathBuf>,
    /// The lock held on the file.
    lock: c_int,
    /// The locks held on the log's index.
    held: Held,
}

/// The file system's description, on top of the usual one for names, time, randomness and sleep.
pub(super) fn file_system(usual: *mut ffi::sqlite3_vfs) -> ffi::sqlite3_vfs {
    // SAFETY: the caller found it registered; it is copied, and what is kept of it are functions and its own data.
    let usual_one = unsafe { *usual };
    ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: mem::size_of::<Handle>() as c_int,
        pNext: ptr::null_mut(),
        zName: NAME.as_ptr(),
        pAppData: usual.cast(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: None,
        xCurrentTimeInt64: Some(current_time_int64),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
        ..usual_one
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // Without pages by address: what is read is put together of platter and memory.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a file pointer is one that `open`
// filled in and `close` has not seen, used by one thread at a time; buffers have the length given with them; names end in
// zero; the file system's pointer is the one registered, whose `pAppData` is the usual file system.

/// # Safety
/// `file` must be open.
unsafe fn state<'a>(file: *mut ffi::sqlite3_file) -> &'a mut State {
    // SAFETY: `open` set the pointer to a leaked box, which lives until `close`.
    unsafe { &mut *(*file.cast::<Handle>()).state }
}

/// # Safety
/// `vfs` must be ours.
unsafe fn usual<'a>(vfs: *mut ffi::sqlite3_vfs) -> &'a mut ffi::sqlite3_vfs {
    // SAFETY: `file_system` put it there.
    unsafe { &mut *(*vfs).pAppData.cast() }
}

/// # Safety
/// `name` must end in zero.
unsafe fn path<'a>(name: *const c_char) -> &'a Path {
    // SAFETY: by the caller's word.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()))
}

/// SQLite's code for what became of it.
fn code(outcome: io::Result<()>, otherwise: c_int) -> c_int {
    match outcome {
        Ok(()) => ffi::SQLITE_OK,
        Err(error) if error.kind() == io::ErrorKind::StorageFull => ffi::SQLITE_FULL,
        Err(_) => otherwise,
    }
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: see above; without a name it is a temporary file.
    let name = (!name.is_null()).then(|| unsafe { path(name) });
    let opened = match name {
        None => DiskFile::temporary(),
        Some(name) => match Disk::this().open(name, flags & ffi::SQLITE_OPEN_CREATE != 0) {
            Ok(opened) => opened,
            Err(_) => {
                // SAFETY: the handle is ours to fill; without methods SQLite does not close it.
                unsafe { (*file).pMethods = ptr::null() };
                return ffi::SQLITE_CANTOPEN;
            }
        },
    };
    let delete = name.filter(|_| flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0).map(Path::to_owned);
    let state = State { file: opened, delete, lock: ffi::SQLITE_LOCK_NONE, held: Held::default() };
    // SAFETY: SQLite gave `szOsFile` bytes for the handle.
    unsafe {
        file.cast::<Handle>().write(Handle {
            base: ffi::sqlite3_file { pMethods: &raw const METHODS },
            state: Box::into_raw(Box::new(state)),
        });
        if !out_flags.is_null() {
            *out_flags = flags;
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: `open` leaked the box, and SQLite closes a file once.
    let state = unsafe { Box::from_raw((*file.cast::<Handle>()).state) };
    match &state.delete {
        Some(path) => code(Disk::this().delete(path, false), ffi::SQLITE_IOERR_DELETE),
        None => ffi::SQLITE_OK,
    }
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, target: *mut c_void, length: c_int, offset: i64) -> c_int {
    let length = length as usize;
    // SAFETY: see above.
    let target = unsafe { slice::from_raw_parts_mut(target.cast::<u8>(), length) };
    // SAFETY: see above.
    match unsafe { state(file) }.file.read(offset as u64, target) {
        Ok(there) if there == length => ffi::SQLITE_OK,
        Ok(there) => {
            // The interface wants the rest as zeros.
            target[there..].fill(0);
            ffi::SQLITE_IOERR_SHORT_READ
        }
        Err(_) => ffi::SQLITE_IOERR_READ,
    }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, source: *const c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    let source = unsafe { slice::from_raw_parts(source.cast::<u8>(), length as usize) };
    // SAFETY: see above.
    code(unsafe { state(file) }.file.write(offset as u64, source), ffi::SQLITE_IOERR_WRITE)
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: see above.
    code(unsafe { state(file) }.file.truncate(size as u64), ffi::SQLITE_IOERR_TRUNCATE)
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: see above.
    code(unsafe { state(file) }.file.sync(Disk::this()), ffi::SQLITE_IOERR_FSYNC)
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: see above.
    unsafe { *size = state(file).file.size() as i64 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, wanted: c_int) -> c_int {
    // SAFETY: see above.
    let state = unsafe { state(file) };
    let (held, code) = state.file.locks.raise(state.lock, wanted);
    state.lock = held;
    code
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, wanted: c_int) -> c_int {
    // SAFETY: see above.
    let state = unsafe { state(file) };
    if state.lock > wanted {
        state.file.locks.lower(state.lock, wanted);
        state.lock = wanted;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, reserved: *mut c_int) -> c_int {
    // SAFETY: see above.
    unsafe { *reserved = c_int::from(state(file).file.locks.is_reserved()) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    // As the usual file system says of every disk.
    4096
}

unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    // As the usual file system says of every disk: bytes beside those that are written are safe.
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    size: c_int,
    extend: c_int,
    address: *mut *mut c_void,
) -> c_int {
    // SAFETY: see above.
    let mut index = unsafe { state(file) }.file.index.lock().unwrap_or_else(PoisonError::into_inner);
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

unsafe extern "C" fn shm_lock(file: *mut ffi::sqlite3_file, first: c_int, count: c_int, flags: c_int) -> c_int {
    // SAFETY: see above.
    let state = unsafe { state(file) };
    let slots: Range<usize> = first as usize..(first + count) as usize;
    let bits = slots.clone().fold(0, |bits, slot| bits | 1 << slot);
    let exclusive = flags & ffi::SQLITE_SHM_EXCLUSIVE != 0;
    if flags & ffi::SQLITE_SHM_LOCK != 0 {
        if !state.file.locks.take(slots, exclusive, &state.held) {
            return ffi::SQLITE_BUSY;
        }
        *if exclusive { &mut state.held.exclusive } else { &mut state.held.shared } |= bits;
    } else {
        state.file.locks.give(slots, &state.held);
        state.held.exclusive &= !bits;
        state.held.shared &= !bits;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_barrier(_: *mut ffi::sqlite3_file) {
    fence(Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    // SAFETY: see above.
    let state = unsafe { state(file) };
    state.file.locks.give(0..ffi::SQLITE_SHM_NLOCK as usize, &state.held);
    state.held = Held::default();
    if delete != 0 {
        // The last connection leaves the log: whoever comes next begins a new index.
        state.file.index.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, synced: c_int) -> c_int {
    // SAFETY: see above.
    match Disk::this().delete(unsafe { path(name) }, synced != 0) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => ffi::SQLITE_IOERR_DELETE_NOENT,
        outcome => code(outcome, ffi::SQLITE_IOERR_DELETE),
    }
}

unsafe extern "C" fn access(_: *mut ffi::sqlite3_vfs, name: *const c_char, _: c_int, there: *mut c_int) -> c_int {
    // SAFETY: see above. Like the usual file system this takes an empty file for none.
    unsafe { *there = c_int::from(Disk::this().has(path(name))) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    full: *mut c_char,
) -> c_int {
    // SAFETY: the usual file system gets what it would get itself.
    unsafe { usual(vfs).xFullPathname.map_or(ffi::SQLITE_ERROR, |call| call(usual(vfs), name, room, full)) }
}

unsafe extern "C" fn randomness(vfs: *mut ffi::sqlite3_vfs, length: c_int, bytes: *mut c_char) -> c_int {
    // SAFETY: likewise.
    unsafe { usual(vfs).xRandomness.map_or(0, |call| call(usual(vfs), length, bytes)) }
}

unsafe extern "C" fn sleep(vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    // SAFETY: likewise.
    unsafe { usual(vfs).xSleep.map_or(0, |call| call(usual(vfs), microseconds)) }
}

unsafe extern "C" fn current_time(vfs: *mut ffi::sqlite3_vfs, days: *mut f64) -> c_int {
    // SAFETY: likewise.
    unsafe { usual(vfs).xCurrentTime.map_or(ffi::SQLITE_ERROR, |call| call(usual(vfs), days)) }
}

unsafe extern "C" fn current_time_int64(vfs: *mut ffi::sqlite3_vfs, ms: *mut i64) -> c_int {
    // SAFETY: likewise.
    unsafe { usual(vfs).xCurrentTimeInt64.map_or(ffi::SQLITE_ERROR, |call| call(usual(vfs), ms)) }
}
