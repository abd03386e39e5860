//! Functions in C that SQLite calls.

use super::{MemFile, NAME, files};
use crate::ffi;
use crate::vfs::default_vfs::{self, Itself};
use crate::vfs::handle::{self, Opened, Shared, empty, fill, size_of_handle};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

impl Opened for MemFile {
    type Name = Vec<u8>;

    fn shared(&self) -> &Shared {
        &self.shared
    }
}

/// The file system's description, on top of the default one for time, randomness and sleep.
pub(super) fn file_system(default_vfs: *mut ffi::sqlite3_vfs) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        szOsFile: size_of_handle::<MemFile>(),
        mxPathname: 512,
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(default_vfs::plain_pathname),
        ..default_vfs::description::<Itself>(NAME, default_vfs.cast())
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
    xDeviceCharacteristics: Some(device_characteristics),
    xFetch: Some(fetch),
    xUnfetch: Some(unfetch),
    ..handle::methods::<MemFile>()
};

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a file pointer is one that `open`
// filled in and `close` has not seen, used by one thread at a time; buffers have the length given with them; names end in
// zero; the file system's pointer is the one registered, whose `pAppData` is the default file system.

/// # Safety
/// `file` must be open.
unsafe fn opened<'a>(file: *mut ffi::sqlite3_file) -> &'a MemFile {
    // SAFETY: by the caller's word.
    unsafe { &handle::state::<MemFile>(file).file }
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
        None => MemFile::new(),
        Some(name) => {
            let mut files = files();
            match files.get(name) {
                Some(file) => Arc::clone(file),
                None if flags & ffi::SQLITE_OPEN_CREATE == 0 => return ffi::SQLITE_CANTOPEN,
                None => Arc::clone(files.entry(name.clone()).or_insert_with(MemFile::new)),
            }
        }
    };
    let delete = name.filter(|_| flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0);
    // SAFETY: SQLite gave `szOsFile` bytes for the handle.
    unsafe { fill(file, &METHODS, ram, delete, flags, out_flags) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once.
    if let Some(name) = &unsafe { empty::<MemFile>(file) }.delete {
        files().remove(name);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, target: *mut c_void, length: c_int, offset: i64) -> c_int {
    let length = length as usize;
    // SAFETY: see above.
    let there = unsafe { opened(file).storage.read(offset as u64, target.cast(), length) };
    if there == length {
        return ffi::SQLITE_OK;
    }
    // SAFETY: the buffer has `length` bytes; the interface wants the rest as zeros.
    unsafe { ptr::write_bytes(target.cast::<u8>().add(there), 0, length - there) };
    ffi::SQLITE_IOERR_SHORT_READ
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, source: *const c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    let fits = unsafe { opened(file).storage.write(offset as u64, source.cast(), length as usize) };
    if fits { ffi::SQLITE_OK } else { ffi::SQLITE_FULL }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: see above.
    unsafe { opened(file) }.storage.truncate(size as u64);
    ffi::SQLITE_OK
}

unsafe extern "C" fn sync(_: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: see above.
    unsafe { *size = opened(file).storage.size() as i64 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    // Memory knows no torn pages, and what is written later is not seen earlier.
    ffi::SQLITE_IOCAP_ATOMIC
        | ffi::SQLITE_IOCAP_SAFE_APPEND
        | ffi::SQLITE_IOCAP_SEQUENTIAL
        | ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
        | ffi::SQLITE_IOCAP_SUBPAGE_READ
}

unsafe extern "C" fn fetch(file: *mut ffi::sqlite3_file, offset: i64, length: c_int, page: *mut *mut c_void) -> c_int {
    // SAFETY: see above.
    let address = unsafe { opened(file) }.storage.address(offset as u64, length as usize);
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
