//! A thin VFS on top of the unix one, which reports the sync of a file and on request declares a device.
//!
//! It opens files with the unix VFS and then puts four functions of its own into the file's table of methods.

use super::{Call, Decision, DeclaredDevice, current};
use crate::ffi::{self, Library};
use crate::vfs::default_vfs::{self, Itself, OverUsual as _};
use crate::vfs::overlay::{self, Tables};
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

/// Its name.
pub(crate) const NAME: &CStr = c"bourse-observed";

/// Bourse's part of an open file, after the unix VFS's.
struct State {
    path: Option<Arc<Path>>,
    device: Option<DeclaredDevice>,
    /// Functions that the file was opened with.
    unix: *const ffi::sqlite3_io_methods,
}

/// Registers the file system with SQLite. Returns SQLite's code.
pub(super) fn register() -> c_int {
    // SAFETY: asks for the unix file system, which lives as long as the process; SQLite keeps the description for ever,
    // and it is leaked.
    unsafe {
        let unix = Library.sqlite3_vfs_find(c"unix".as_ptr());
        if unix.is_null() {
            return ffi::SQLITE_NOTFOUND;
        }
        let description = ffi::sqlite3_vfs {
            szOsFile: overlay::size_of_file((*unix).szOsFile),
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

/// The unix functions, four of them replaced.
static TABLES: Tables = Tables::new(|unix| ffi::sqlite3_io_methods {
    xClose: Some(close),
    xSync: Some(sync),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    ..unix
});

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a file pointer is one that `open`
// filled in and `close` has not seen, used by one thread at a time; names end in zero; the file system's pointer is the one
// registered, whose `pAppData` is the unix file system.

/// # Safety
/// `file` must be open.
unsafe fn state<'a>(file: *mut ffi::sqlite3_file) -> &'a State {
    // SAFETY: as the caller promises; `open` gave it this state.
    unsafe { overlay::state(file) }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: see above; the room is of `size_of_file`.
    unsafe {
        overlay::open::<Itself, _>(vfs, name, file, (flags, out_flags), &TABLES, |unix| {
            let path = (!name.is_null()).then(|| Path::new(OsStr::from_bytes(CStr::from_ptr(name).to_bytes())));
            let device = current().and_then(|observer| observer.device());
            State { path: path.map(Arc::from), device, unix }
        })
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once.
    unsafe {
        let state = overlay::taken::<State>(file);
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
