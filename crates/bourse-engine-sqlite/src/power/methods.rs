//! File system over directories in memory: functions in C that SQLite calls.

use super::images::{ImageFile, find};
use crate::ffi::{self, Library};
use crate::vfs::default_vfs::{self, Itself};
use crate::vfs::handle::{self, Opened, Shared, empty, fill, size_of_handle};
use bourse_engine::locked;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::Arc;

impl Opened for ImageFile {
    /// No name: files are not deleted when they are closed.
    type Name = ();

    fn shared(&self) -> &Shared {
        &self.shared
    }
}

/// Its name.
const NAME: &CStr = c"bourse-images";

/// Registers the file system with SQLite; does nothing the second time. Returns SQLite's code.
pub(super) fn register() -> c_int {
    default_vfs::register(Library, NAME, |default_vfs| ffi::sqlite3_vfs {
        szOsFile: size_of_handle::<ImageFile>(),
        mxPathname: 512,
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(default_vfs::plain_pathname),
        ..default_vfs::description::<Itself>(NAME, default_vfs.cast())
    })
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xDeviceCharacteristics: Some(device_characteristics),
    ..handle::methods::<ImageFile>()
};

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a file pointer is one that `open`
// filled in and `close` has not seen, used by one thread at a time; buffers have the length given with them; names end in
// zero.

/// # Safety
/// `file` must be open.
unsafe fn opened<'a>(file: *mut ffi::sqlite3_file) -> &'a ImageFile {
    // SAFETY: by the caller's word.
    unsafe { &handle::state::<ImageFile>(file).file }
}

/// # Safety
/// `name` must end in zero and live as long as the returned text.
unsafe fn text<'a>(name: *const c_char) -> &'a str {
    // SAFETY: by the caller's word. The names are ours and plain; another is one that no directory has.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default()
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let image = if name.is_null() {
        Arc::default()
    } else {
        // SAFETY: see above.
        let Some((files, name)) = find(unsafe { text(name) }) else { return ffi::SQLITE_CANTOPEN };
        let mut files = locked(&files);
        match files.get(name) {
            Some(image) => Arc::clone(image),
            None if flags & ffi::SQLITE_OPEN_CREATE == 0 => {
                // SAFETY: the handle is ours to fill; without methods SQLite does not close it.
                unsafe { (*file).pMethods = ptr::null() };
                return ffi::SQLITE_CANTOPEN;
            }
            None => Arc::clone(files.entry(name.to_owned()).or_default()),
        }
    };
    // SAFETY: SQLite gave `szOsFile` bytes for the handle.
    unsafe { fill(file, &METHODS, image, None, flags, out_flags) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once.
    drop(unsafe { empty::<ImageFile>(file) });
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, target: *mut c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    let (target, file) = unsafe { (slice::from_raw_parts_mut(target.cast::<u8>(), length as usize), opened(file)) };
    let there = locked(&file.image).read(offset as u64, target);
    if there == target.len() {
        return ffi::SQLITE_OK;
    }
    // The interface wants the rest as zeros.
    target[there..].fill(0);
    ffi::SQLITE_IOERR_SHORT_READ
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, source: *const c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    let (source, file) = unsafe { (slice::from_raw_parts(source.cast::<u8>(), length as usize), opened(file)) };
    locked(&file.image).write(offset as u64, source);
    ffi::SQLITE_OK
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: see above.
    locked(&unsafe { opened(file) }.image).set_size(size as u64);
    ffi::SQLITE_OK
}

unsafe extern "C" fn sync(_: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: see above.
    unsafe { *size = locked(&opened(file).image).size() as i64 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, _: c_int) -> c_int {
    // SAFETY: see above.
    match find(unsafe { text(name) }).and_then(|(files, name)| locked(&files).remove(name)) {
        Some(_) => ffi::SQLITE_OK,
        None => ffi::SQLITE_IOERR_DELETE_NOENT,
    }
}

unsafe extern "C" fn access(_: *mut ffi::sqlite3_vfs, name: *const c_char, _: c_int, there: *mut c_int) -> c_int {
    // SAFETY: see above. Like the unix file system this takes an empty file for none.
    let found = find(unsafe { text(name) }).and_then(|(files, name)| locked(&files).get(name).cloned());
    let has_bytes = found.is_some_and(|file| locked(&file.image).size() > 0);
    // SAFETY: see above.
    unsafe { *there = c_int::from(has_bytes) };
    ffi::SQLITE_OK
}
