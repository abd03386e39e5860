//! Functions that Bourse's file systems delegate to the default one.

use crate::ffi::{self, SqliteLibrary};
use crate::waits::while_sleeping;
use bourse_engine::locked;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::Mutex;

/// Access to the default file system from one of Bourse's.
pub(crate) trait DefaultVfsAccess {
    /// The default file system.
    ///
    /// # Safety
    /// `vfs` must be a registered file system of this kind.
    unsafe fn default_vfs(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs;
}

/// Access for a file system whose `pAppData` is the default file system itself.
pub(crate) struct DefaultVfsItself;

impl DefaultVfsAccess for DefaultVfsItself {
    unsafe fn default_vfs(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
        // SAFETY: by the caller's word.
        unsafe { (*vfs).pAppData.cast() }
    }
}

/// Registers a file system on top of the default one with a copy of SQLite, under the description that `describe`
/// returns; does nothing if that copy has one of this name. Returns SQLite's code.
pub(crate) fn register(
    library: SqliteLibrary,
    name: &CStr,
    describe: impl FnOnce(*mut ffi::sqlite3_vfs) -> ffi::sqlite3_vfs,
) -> c_int {
    static REGISTERING: Mutex<()> = Mutex::new(());
    let started = library.start();
    if started != ffi::SQLITE_OK {
        return started;
    }
    let _registering = locked(&REGISTERING);
    // SAFETY: the name ends in zero. SQLite keeps the pointer for ever, and it is leaked; the default file system outlives
    // the process's use.
    unsafe {
        if !library.sqlite3_vfs_find(name.as_ptr()).is_null() {
            return ffi::SQLITE_OK;
        }
        let default_vfs = library.sqlite3_vfs_find(ptr::null());
        if default_vfs.is_null() || (*default_vfs).iVersion < OLDEST_VERSION {
            return ffi::SQLITE_ERROR;
        }
        library.sqlite3_vfs_register(Box::leak(Box::new(describe(default_vfs))), 0)
    }
}

/// Oldest version of the interface that the default file system may have: the one with the time in milliseconds (SQLite
/// 3.7.0).
pub(crate) const OLDEST_VERSION: c_int = 2;

/// Copy of a file's table of functions. Functions later than the table's version are absent: an older table has no
/// bytes to read them from.
///
/// # Safety
/// `methods` must be a table of the version that it declares.
pub(crate) unsafe fn copied(methods: *const ffi::sqlite3_io_methods) -> ffi::sqlite3_io_methods {
    type Methods = ffi::sqlite3_io_methods;
    // SAFETY: the version stands first, in any version; a table has at least the functions of it, which are addresses or
    // null, and no bits set are null.
    unsafe {
        let bytes = match (*methods).iVersion {
            ..=1 => mem::offset_of!(Methods, xShmMap),
            2 => mem::offset_of!(Methods, xFetch),
            3.. => mem::size_of::<Methods>(),
        };
        let mut copy = mem::MaybeUninit::<Methods>::zeroed();
        ptr::copy_nonoverlapping(methods.cast::<u8>(), copy.as_mut_ptr().cast(), bytes);
        copy.assume_init()
    }
}

/// Description that delegates the functions without a file: random numbers, sleep and time. The caller adds opening,
/// deleting, looking for files and their full names.
pub(crate) fn description<O: DefaultVfsAccess>(name: &CStr, data: *mut c_void) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: 0,
        mxPathname: 0,
        pNext: ptr::null_mut(),
        zName: name.as_ptr(),
        pAppData: data,
        xOpen: None,
        xDelete: None,
        xAccess: None,
        xFullPathname: None,
        xDlOpen: Some(library_open::<O>),
        xDlError: Some(library_error::<O>),
        xDlSym: Some(library_symbol::<O>),
        xDlClose: Some(library_close::<O>),
        xRandomness: Some(randomness::<O>),
        xSleep: Some(sleep::<O>),
        xCurrentTime: Some(current_time::<O>),
        xGetLastError: None,
        xCurrentTimeInt64: Some(current_time_int64::<O>),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }
}

// SAFETY of all that follows: SQLite calls these functions as its interface documents, with the file system that was
// registered; the default one gets what it would get itself.

/// Function of an extension, by a type that is used for any.
type LibrarySymbol = Option<unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *mut c_void, *const c_char)>;

/// Functions that pass a call on to the default file system, each with its answer if that lacks the function.
macro_rules! passed_on {
    ($($name:ident = $method:ident($($argument:ident: $type:ty),+) -> $result:ty, or $otherwise:expr;)+) => {$(
        pub(crate) unsafe extern "C" fn $name<O: DefaultVfsAccess>(
            vfs: *mut ffi::sqlite3_vfs,
            $($argument: $type),+
        ) -> $result {
            // SAFETY: see above.
            unsafe {
                let default_vfs = O::default_vfs(vfs);
                (*default_vfs).$method.map_or($otherwise, |call| call(default_vfs, $($argument),+))
            }
        }
    )+};
}

passed_on! {
    access = xAccess(name: *const c_char, flags: c_int, there: *mut c_int) -> c_int, or ffi::SQLITE_IOERR_ACCESS;
    full_pathname = xFullPathname(name: *const c_char, room: c_int, full: *mut c_char) -> c_int, or ffi::SQLITE_CANTOPEN;
    last_error = xGetLastError(length: c_int, text: *mut c_char) -> c_int, or 0;
    randomness = xRandomness(length: c_int, bytes: *mut c_char) -> c_int, or 0;
    current_time = xCurrentTime(days: *mut f64) -> c_int, or ffi::SQLITE_ERROR;
    current_time_int64 = xCurrentTimeInt64(ms: *mut i64) -> c_int, or ffi::SQLITE_ERROR;
    library_open = xDlOpen(path: *const c_char) -> *mut c_void, or ptr::null_mut();
    library_error = xDlError(length: c_int, text: *mut c_char) -> (), or ();
    library_symbol = xDlSym(library: *mut c_void, name: *const c_char) -> LibrarySymbol, or None;
    library_close = xDlClose(library: *mut c_void) -> (), or ();
}

/// Full name of a file, unchanged: in memory there are no directories to add.
pub(crate) unsafe extern "C" fn plain_pathname(
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

unsafe extern "C" fn sleep<O: DefaultVfsAccess>(vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    // SQLite sleeps for nothing but locks.
    // SAFETY: see above.
    while_sleeping(|| unsafe {
        let default_vfs = O::default_vfs(vfs);
        (*default_vfs).xSleep.map_or(0, |call| call(default_vfs, microseconds))
    })
}
