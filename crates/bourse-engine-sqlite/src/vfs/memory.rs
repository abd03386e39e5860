//! A file system whose files are in this process: the functions in C that SQLite calls, over any [`MemoryFile`].

use super::default_vfs::{self, DefaultVfsItself};
use super::handle::{self, OpenedFile, empty, fill, size_of_handle};
use crate::ffi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// A file of such a file system, shared by its handles.
pub(crate) trait MemoryFile: OpenedFile + Sized + 'static {
    /// Properties of the device (`SQLITE_IOCAP_…`).
    const DEVICE: c_int;
    /// Whether pages can be returned by their address.
    const BY_ADDRESS: bool = false;

    /// A file without a name.
    fn temporary() -> Arc<Self>;

    /// File of that name; one that does not exist is made if `makes` is set.
    fn find(name: &CStr, makes: bool) -> Option<Arc<Self>>;

    /// Removes the name of a file; returns whether it existed.
    fn remove(name: &CStr) -> bool;

    /// Whether a file of that name exists, as SQLite asks for a journal.
    fn exists(name: &CStr) -> bool;

    /// Copies from `offset` into `target`; returns how many bytes the file had there.
    ///
    /// # Safety
    /// `target` must be valid for writing `length` bytes.
    unsafe fn read(&self, offset: u64, target: *mut u8, length: usize) -> usize;

    /// Copies `source` to `offset`, growing the file; false if it cannot become so large.
    ///
    /// # Safety
    /// `source` must be valid for reading `length` bytes.
    unsafe fn write(&self, offset: u64, source: *const u8, length: usize) -> bool;

    /// Truncates or extends the file.
    fn set_size(&self, size: u64);

    /// Length in bytes.
    fn size(&self) -> u64;

    /// Address of `length` bytes at `offset`, for as long as the file exists; `None` if they have to be read.
    fn address(&self, offset: u64, length: usize) -> Option<*mut u8> {
        let _ = (offset, length);
        None
    }
}

/// Description of the file system, on top of the default one for time, randomness and sleep.
pub(crate) fn description<F: MemoryFile>(name: &CStr, default_vfs: *mut ffi::sqlite3_vfs) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        szOsFile: size_of_handle::<F>(),
        mxPathname: 512,
        xOpen: Some(open::<F>),
        xDelete: Some(delete::<F>),
        xAccess: Some(access::<F>),
        xFullPathname: Some(default_vfs::plain_pathname),
        ..default_vfs::description::<DefaultVfsItself>(name, default_vfs.cast())
    }
}

const fn methods<F: MemoryFile>() -> ffi::sqlite3_io_methods {
    ffi::sqlite3_io_methods {
        iVersion: if F::BY_ADDRESS { 3 } else { 2 },
        xClose: Some(close::<F>),
        xRead: Some(read::<F>),
        xWrite: Some(write::<F>),
        xTruncate: Some(truncate::<F>),
        xSync: Some(sync),
        xFileSize: Some(file_size::<F>),
        xDeviceCharacteristics: Some(device_characteristics::<F>),
        xFetch: Some(fetch::<F>),
        xUnfetch: Some(unfetch),
        ..handle::methods::<F>()
    }
}

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a file pointer is one that `open`
// filled in and `close` has not seen, used by one thread at a time; buffers have the length given with them; names end in
// zero; the file system's pointer is the one registered, whose `pAppData` is the default file system.

/// # Safety
/// `file` must be open.
unsafe fn opened<'a, F: MemoryFile>(file: *mut ffi::sqlite3_file) -> &'a F {
    // SAFETY: by the caller's word.
    unsafe { &handle::state::<F>(file).file }
}

unsafe extern "C" fn open<F: MemoryFile>(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: see above; without a name it is a temporary file.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) });
    let found = match name {
        None => Some(F::temporary()),
        Some(name) => F::find(name, flags & ffi::SQLITE_OPEN_CREATE != 0),
    };
    let Some(found) = found else {
        // SAFETY: the handle is ours to fill; without methods SQLite does not close it.
        unsafe { (*file).pMethods = ptr::null() };
        return ffi::SQLITE_CANTOPEN;
    };
    let delete = name.filter(|_| flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0).map(CStr::to_owned);
    // SAFETY: SQLite gave `szOsFile` bytes for the handle.
    unsafe { fill(file, const { &methods::<F>() }, found, delete, flags, out_flags) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close<F: MemoryFile>(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once.
    if let Some(name) = &unsafe { empty::<F>(file) }.delete {
        F::remove(name);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read<F: MemoryFile>(
    file: *mut ffi::sqlite3_file,
    target: *mut c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    let length = length as usize;
    // SAFETY: see above.
    let there = unsafe { opened::<F>(file).read(offset as u64, target.cast(), length) };
    if there == length {
        return ffi::SQLITE_OK;
    }
    // SAFETY: the buffer has `length` bytes; the interface wants the rest as zeros.
    unsafe { ptr::write_bytes(target.cast::<u8>().add(there), 0, length - there) };
    ffi::SQLITE_IOERR_SHORT_READ
}

unsafe extern "C" fn write<F: MemoryFile>(
    file: *mut ffi::sqlite3_file,
    source: *const c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: see above.
    let fits = unsafe { opened::<F>(file).write(offset as u64, source.cast(), length as usize) };
    if fits { ffi::SQLITE_OK } else { ffi::SQLITE_FULL }
}

unsafe extern "C" fn truncate<F: MemoryFile>(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: see above.
    unsafe { opened::<F>(file) }.set_size(size as u64);
    ffi::SQLITE_OK
}

unsafe extern "C" fn sync(_: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size<F: MemoryFile>(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: see above.
    unsafe { *size = opened::<F>(file).size() as i64 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn device_characteristics<F: MemoryFile>(_: *mut ffi::sqlite3_file) -> c_int {
    F::DEVICE
}

unsafe extern "C" fn fetch<F: MemoryFile>(
    file: *mut ffi::sqlite3_file,
    offset: i64,
    length: c_int,
    page: *mut *mut c_void,
) -> c_int {
    // SAFETY: see above.
    let address = unsafe { opened::<F>(file) }.address(offset as u64, length as usize);
    // SAFETY: see above; null says that the page has to be read.
    unsafe { *page = address.map_or(ptr::null_mut(), |address| address.cast()) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn unfetch(_: *mut ffi::sqlite3_file, _: i64, _: *mut c_void) -> c_int {
    // Pages with an address never move, so there is nothing to give back.
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete<F: MemoryFile>(_: *mut ffi::sqlite3_vfs, name: *const c_char, _: c_int) -> c_int {
    // SAFETY: see above.
    let existed = F::remove(unsafe { CStr::from_ptr(name) });
    if existed { ffi::SQLITE_OK } else { ffi::SQLITE_IOERR_DELETE_NOENT }
}

unsafe extern "C" fn access<F: MemoryFile>(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    _: c_int,
    there: *mut c_int,
) -> c_int {
    // SAFETY: see above.
    unsafe { *there = c_int::from(F::exists(CStr::from_ptr(name))) };
    ffi::SQLITE_OK
}
