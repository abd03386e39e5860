//! Functions in C that SQLite calls.

use super::Kind;
use super::disk::DiskFile;
use crate::ffi;
use crate::vfs::default_vfs::{self, Itself};
use crate::vfs::handle::{self, Opened, Shared, empty, fill, size_of_handle};
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::slice;

impl Opened for DiskFile {
    type Name = PathBuf;

    fn shared(&self) -> &Shared {
        &self.shared
    }
}

/// The file system's description, on top of the default one for names, time, randomness and sleep.
pub(super) fn file_system<K: Kind>(default_vfs: *mut ffi::sqlite3_vfs) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        szOsFile: size_of_handle::<DiskFile>(),
        // SAFETY: the caller found it registered.
        mxPathname: unsafe { (*default_vfs).mxPathname },
        xOpen: Some(open::<K>),
        xDelete: Some(delete::<K>),
        xAccess: Some(access::<K>),
        xFullPathname: Some(default_vfs::full_pathname::<Itself>),
        ..default_vfs::description::<Itself>(K::NAME, default_vfs.cast())
    }
}

// Without pages by address: a read merges the durable image with what is not synced.
pub(super) const fn methods<K: Kind>() -> ffi::sqlite3_io_methods {
    ffi::sqlite3_io_methods {
        xClose: Some(close::<K>),
        xRead: Some(read),
        xWrite: Some(write),
        xTruncate: Some(truncate),
        xSync: Some(sync::<K>),
        xFileSize: Some(file_size),
        xDeviceCharacteristics: Some(device_characteristics),
        ..handle::methods::<DiskFile>()
    }
}

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a file pointer is one that `open`
// filled in and `close` has not seen, used by one thread at a time; buffers have the length given with them; names end in
// zero; the file system's pointer is the one registered, whose `pAppData` is the default file system.

/// # Safety
/// `file` must be open.
unsafe fn opened<'a>(file: *mut ffi::sqlite3_file) -> &'a DiskFile {
    // SAFETY: by the caller's word.
    unsafe { &handle::state::<DiskFile>(file).file }
}

/// # Safety
/// `name` must end in zero.
unsafe fn path<'a>(name: *const c_char) -> &'a Path {
    // SAFETY: by the caller's word.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()))
}

/// SQLite's code for the outcome.
fn code(outcome: io::Result<()>, otherwise: c_int) -> c_int {
    match outcome {
        Ok(()) => ffi::SQLITE_OK,
        Err(error) if error.kind() == io::ErrorKind::StorageFull => ffi::SQLITE_FULL,
        Err(_) => otherwise,
    }
}

unsafe extern "C" fn open<K: Kind>(
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
        Some(name) => match K::disk().open(name, flags & ffi::SQLITE_OPEN_CREATE != 0) {
            Ok(opened) => opened,
            Err(_) => {
                // SAFETY: the handle is ours to fill; without methods SQLite does not close it.
                unsafe { (*file).pMethods = ptr::null() };
                return ffi::SQLITE_CANTOPEN;
            }
        },
    };
    let delete = name.filter(|_| flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0).map(Path::to_owned);
    // SAFETY: SQLite gave `szOsFile` bytes for the handle.
    unsafe { fill(file, K::methods(), opened, delete, flags, out_flags) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close<K: Kind>(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once.
    match &unsafe { empty::<DiskFile>(file) }.delete {
        Some(path) => code(K::disk().delete(path, false), ffi::SQLITE_IOERR_DELETE),
        None => ffi::SQLITE_OK,
    }
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, target: *mut c_void, length: c_int, offset: i64) -> c_int {
    let length = length as usize;
    // SAFETY: see above.
    let target = unsafe { slice::from_raw_parts_mut(target.cast::<u8>(), length) };
    // SAFETY: see above.
    match unsafe { opened(file) }.read(offset as u64, target) {
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
    code(unsafe { opened(file) }.write(offset as u64, source), ffi::SQLITE_IOERR_WRITE)
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: see above.
    code(unsafe { opened(file) }.truncate(size as u64), ffi::SQLITE_IOERR_TRUNCATE)
}

unsafe extern "C" fn sync<K: Kind>(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: see above.
    code(unsafe { opened(file) }.sync(K::disk()), ffi::SQLITE_IOERR_FSYNC)
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: see above.
    unsafe { *size = opened(file).size() as i64 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    // As the default file system says of every disk: bytes beside those that are written are safe.
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn delete<K: Kind>(_: *mut ffi::sqlite3_vfs, name: *const c_char, synced: c_int) -> c_int {
    // SAFETY: see above.
    match K::disk().delete(unsafe { path(name) }, synced != 0) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => ffi::SQLITE_IOERR_DELETE_NOENT,
        outcome => code(outcome, ffi::SQLITE_IOERR_DELETE),
    }
}

unsafe extern "C" fn access<K: Kind>(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    _: c_int,
    there: *mut c_int,
) -> c_int {
    // SAFETY: see above. Like the default file system this takes an empty file for none.
    unsafe { *there = c_int::from(K::disk().has(path(name))) };
    ffi::SQLITE_OK
}
