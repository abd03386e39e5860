//! The C interface: what SQLite calls.

use super::locks::Held;
use super::{NAME, RamFile, files};
use crate::ffi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ops::Range;
use std::ptr;
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
    file: Arc<RamFile>,
    /// Set if the file is to be forgotten when it is closed.
    delete: Option<Vec<u8>>,
    /// The lock held on the file.
    lock: c_int,
    /// The locks held on the log's index.
    held: Held,
}

/// The file system's description, on top of the usual one for time, randomness and sleep.
pub(super) fn file_system(usual: *mut ffi::sqlite3_vfs) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: mem::size_of::<Handle>() as c_int,
        mxPathname: 512,
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
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 3,
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
    xFetch: Some(fetch),
    xUnfetch: Some(unfetch),
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

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: see above; without a name it is a temporary file.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes().to_vec());
    let ram = match &name {
        None => RamFile::new(),
        Some(name) => {
            let mut files = files();
            match files.get(name) {
                Some(file) => Arc::clone(file),
                None if flags & ffi::SQLITE_OPEN_CREATE == 0 => return ffi::SQLITE_CANTOPEN,
                None => Arc::clone(files.entry(name.clone()).or_insert_with(RamFile::new)),
            }
        }
    };
    let delete = name.filter(|_| flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0);
    let state = State { file: ram, delete, lock: ffi::SQLITE_LOCK_NONE, held: Held::default() };
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
    if let Some(name) = &state.delete {
        files().remove(name);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, target: *mut c_void, length: c_int, offset: i64) -> c_int {
    let length = length as usize;
    // SAFETY: see above.
    let there = unsafe { state(file).file.storage.read(offset as u64, target.cast(), length) };
    if there == length {
        return ffi::SQLITE_OK;
    }
    // SAFETY: the buffer has `length` bytes; the interface wants the rest as zeros.
    unsafe { ptr::write_bytes(target.cast::<u8>().add(there), 0, length - there) };
    ffi::SQLITE_IOERR_SHORT_READ
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, source: *const c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    let fits = unsafe { state(file).file.storage.write(offset as u64, source.cast(), length as usize) };
    if fits { ffi::SQLITE_OK } else { ffi::SQLITE_FULL }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: see above.
    unsafe { state(file) }.file.storage.truncate(size as u64);
    ffi::SQLITE_OK
}

unsafe extern "C" fn sync(_: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: see above.
    unsafe { *size = state(file).file.storage.size() as i64 };
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
    4096
}

unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    // Memory knows no torn pages, and what is written later is not seen earlier.
    ffi::SQLITE_IOCAP_ATOMIC
        | ffi::SQLITE_IOCAP_SAFE_APPEND
        | ffi::SQLITE_IOCAP_SEQUENTIAL
        | ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
        | ffi::SQLITE_IOCAP_SUBPAGE_READ
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
    let all = 0..ffi::SQLITE_SHM_NLOCK as usize;
    state.file.locks.give(all, &state.held);
    state.held = Held::default();
    if delete != 0 {
        // The last connection leaves the log: whoever comes next begins a new index.
        state.file.index.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn fetch(file: *mut ffi::sqlite3_file, offset: i64, length: c_int, page: *mut *mut c_void) -> c_int {
    // SAFETY: see above.
    let address = unsafe { state(file) }.file.storage.address(offset as u64, length as usize);
    // SAFETY: see above; null says that the page has to be read.
    unsafe { *page = address.map_or(ptr::null_mut(), |address| address.cast()) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn unfetch(_: *mut ffi::sqlite3_file, _: i64, _: *mut c_void) -> c_int {
    // Chunks never move, so there is nothing to give back.
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, _: c_int) -> c_int {
    // SAFETY: see above.
    let name = unsafe { CStr::from_ptr(name) };
    match files().remove(name.to_bytes()) {
        Some(_) => ffi::SQLITE_OK,
        None => ffi::SQLITE_IOERR_DELETE_NOENT,
    }
}

unsafe extern "C" fn access(_: *mut ffi::sqlite3_vfs, name: *const c_char, _: c_int, there: *mut c_int) -> c_int {
    // SAFETY: see above. An empty journal is as good as none, and SQLite asks for one at every read transaction.
    unsafe { *there = c_int::from(files().contains_key(CStr::from_ptr(name).to_bytes())) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    full: *mut c_char,
) -> c_int {
    // SAFETY: see above.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if bytes.len() > room as usize {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: it fits into the room.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), full.cast(), bytes.len()) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn randomness(vfs: *mut ffi::sqlite3_vfs, length: c_int, bytes: *mut c_char) -> c_int {
    // SAFETY: the usual file system gets what it would get itself.
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
