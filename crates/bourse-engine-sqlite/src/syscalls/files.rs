//! A thin VFS on top of the unix one, which reports the sync of a file and declares a device if it is to.
//!
//! It opens files with the unix VFS and then puts four functions of its own into the file's table of methods.

use super::{Call, Decision, DeclaredDevice, current};
use crate::ffi::{self, Library};
use crate::vfs::default_vfs::{self, Itself, OverUsual as _};
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Its name.
pub(crate) const NAME: &CStr = c"bourse-observed";

/// Our part of an open file, behind the unix one's.
struct State {
    path: Option<Arc<Path>>,
    device: Option<DeclaredDevice>,
    /// The functions that the file was opened with.
    unix: *const ffi::sqlite3_io_methods,
}

/// Makes the file system known to SQLite. Returns SQLite's code.
pub(super) fn register() -> c_int {
    // SAFETY: asks for the unix file system, which lives as long as the process; SQLite keeps the description for ever,
    // and it is leaked.
    unsafe {
        let unix = Library.sqlite3_vfs_find(c"unix".as_ptr());
        if unix.is_null() {
            return ffi::SQLITE_NOTFOUND;
        }
        let description = ffi::sqlite3_vfs {
            szOsFile: (place() + mem::size_of::<*mut State>()) as c_int,
            mxPathname: (*unix).mxPathname,
            xOpen: Some(open),
            xDelete: Some(delete),
            xAccess: Some(default_vfs::access::<Itself>),
            xFullPathname: Some(default_vfs::full_pathname::<Itself>),
            xGetLastError: Some(default_vfs::last_error::<Itself>),
            ..default_vfs::description::<Itself>(NAME, unix.cast())
        };
        Library.sqlite3_vfs_register(Box::leak(Box::new(description)), 0)
    }
}

/// Where our part of a file begins, in bytes: behind the unix part.
fn place() -> usize {
    static PLACE: OnceLock<usize> = OnceLock::new();
    *PLACE.get_or_init(|| {
        // SAFETY: asks for the unix file system, which `register` found.
        let bytes = unsafe { (*Library.sqlite3_vfs_find(c"unix".as_ptr())).szOsFile };
        (bytes as usize).next_multiple_of(mem::align_of::<*mut State>())
    })
}

/// The unix functions with ours in the place of four of them: one table for each that the unix file system has.
fn observed(unix: *const ffi::sqlite3_io_methods) -> *const ffi::sqlite3_io_methods {
    /// Addresses of tables: one of the unix file system, and ours for it.
    static TABLES: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, ours)) = tables.iter().find(|(known, _)| *known == unix.addr()) {
        return ptr::with_exposed_provenance(*ours);
    }
    // SAFETY: the tables of the unix file system live as long as the process.
    let table = ffi::sqlite3_io_methods {
        xClose: Some(close),
        xSync: Some(sync),
        xSectorSize: Some(sector_size),
        xDeviceCharacteristics: Some(device_characteristics),
        ..unsafe { *unix }
    };
    let ours: *const _ = Box::leak(Box::new(table));
    tables.push((unix.addr(), ours.expose_provenance()));
    ours
}

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a file pointer is one that `open`
// filled in and `close` has not seen, used by one thread at a time; names end in zero; the file system's pointer is the one
// registered, whose `pAppData` is the unix file system.

/// # Safety
/// The file must have been given room by our description's `szOsFile`.
unsafe fn slot(file: *mut ffi::sqlite3_file) -> *mut *mut State {
    // SAFETY: the slot lies within the room, aligned.
    unsafe { file.cast::<u8>().add(place()).cast() }
}

/// # Safety
/// `file` must be open.
unsafe fn state<'a>(file: *mut ffi::sqlite3_file) -> &'a State {
    // SAFETY: `open` put a leaked box into the slot, which lives until `close`.
    unsafe { &**slot(file) }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: see above; the unix file system gets its own description and the first part of the room.
    unsafe {
        let unix = Itself::default_vfs(vfs);
        let code = (*unix).xOpen.map_or(ffi::SQLITE_ERROR, |call| call(unix, name, file, flags, out_flags));
        let methods = (*file).pMethods;
        if code != ffi::SQLITE_OK || methods.is_null() {
            return code;
        }
        let path = (!name.is_null()).then(|| Path::new(OsStr::from_bytes(CStr::from_ptr(name).to_bytes())));
        let device = current().and_then(|observer| observer.device());
        let state = State { path: path.map(Arc::from), device, unix: methods };
        slot(file).write(Box::into_raw(Box::new(state)));
        (*file).pMethods = observed(methods);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: `open` leaked the box, and SQLite closes a file once.
    unsafe {
        let state = Box::from_raw(*slot(file));
        (*state.unix).xClose.map_or(ffi::SQLITE_OK, |call| call(file))
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: see above.
    let state = unsafe { state(file) };
    let observer = current();
    let call = state.path.as_deref().map(|path| Call::Sync { path });
    if let (Some(observer), Some(call)) = (&observer, &call)
        && let Decision::Fail(number) = observer.before(call)
    {
        errno::set_errno(errno::Errno(number));
        return ffi::SQLITE_IOERR_FSYNC;
    }
    // SAFETY: see above.
    let code = unsafe { (*state.unix).xSync.map_or(ffi::SQLITE_IOERR_FSYNC, |call| call(file, flags)) };
    if let (ffi::SQLITE_OK, Some(observer), Some(call)) = (code, &observer, &call) {
        observer.after(call);
    }
    code
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: see above.
    unsafe {
        let state = state(file);
        match state.device {
            Some(device) => device.sector_bytes as c_int,
            None => (*state.unix).xSectorSize.map_or(4096, |call| call(file)),
        }
    }
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: see above.
    unsafe {
        let state = state(file);
        match state.device {
            Some(device) if device.powersafe_overwrite => ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE,
            Some(_) => 0,
            None => (*state.unix).xDeviceCharacteristics.map_or(0, |call| call(file)),
        }
    }
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync_directory: c_int) -> c_int {
    // SAFETY: see above. The unix file system unlinks through the table.
    unsafe {
        let unix = Itself::default_vfs(vfs);
        (*unix).xDelete.map_or(ffi::SQLITE_IOERR_DELETE, |call| call(unix, name, sync_directory))
    }
}
