//! Functions in C that SQLite calls.

use super::{CountingFiles, DECLARED, OpenFileCounter};
use crate::ffi;
use crate::vfs::default_vfs::{self, DefaultVfsAccess};
use crate::vfs::overlay::{self, OverlayTables};
use bourse_engine::{Wait, blocked_on, sometimes_blocked_on};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::sync::Arc;
use std::time::Instant;

/// Bourse's part of an open file, after the default file system's.
struct CountedFileState {
    counter: Arc<OpenFileCounter>,
    files: *const CountingFiles,
    /// Functions that the default file system opened the file with.
    default_vfs: *const ffi::sqlite3_io_methods,
    /// Whether the first sync also syncs the folder: the default file system makes the name of a new journal durable.
    folder_too: bool,
}

/// Description of the file system: the default one's, except for opening and removing files.
///
/// # Safety
/// `default_vfs`, `name` and `files` must live as long as the description.
pub(super) unsafe fn file_system(
    default_vfs: *mut ffi::sqlite3_vfs,
    name: &CStr,
    files: *const CountingFiles,
) -> ffi::sqlite3_vfs {
    // SAFETY: as the caller promises.
    let default_vfs = unsafe { &*default_vfs };
    ffi::sqlite3_vfs {
        szOsFile: overlay::size_of_file(default_vfs.szOsFile),
        mxPathname: default_vfs.mxPathname,
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(default_vfs::access::<CountingFiles>),
        xFullPathname: Some(default_vfs::full_pathname::<CountingFiles>),
        xGetLastError: Some(default_vfs::last_error::<CountingFiles>),
        ..default_vfs::description::<CountingFiles>(name, files.cast_mut().cast())
    }
}

impl DefaultVfsAccess for CountingFiles {
    unsafe fn default_vfs(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
        // SAFETY: as the caller promises.
        unsafe { counting_files(vfs) }.default_vfs
    }
}

/// The default functions, four of them replaced; six if a device is declared.
static TABLES: OverlayTables = OverlayTables::new(|default_methods| {
    let declared = DECLARED.get();
    ffi::sqlite3_io_methods {
        xClose: Some(close),
        xRead: Some(read),
        xWrite: Some(write),
        xSync: Some(sync),
        xSectorSize: declared.map_or(default_methods.xSectorSize, |_| Some(sector_size)),
        xDeviceCharacteristics: declared.map_or(default_methods.xDeviceCharacteristics, |_| Some(characteristics)),
        ..default_methods
    }
});

unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    DECLARED.get().map_or(0, |(device, _)| device.sector_bytes)
}

unsafe extern "C" fn characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    DECLARED.get().map_or(0, |(device, _)| device.characteristics)
}

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a file pointer is one that `open`
// filled in and `close` has not seen, used by one thread at a time; buffers have the length given with them; names end in
// zero; the file system's pointer is the one registered, whose `pAppData` is its `CountingFiles`.

/// # Safety
/// `vfs` must be a counting file system.
unsafe fn counting_files<'a>(vfs: *mut ffi::sqlite3_vfs) -> &'a CountingFiles {
    // SAFETY: `file_system` put it there, and it is alive while its description is registered.
    unsafe { &*(*vfs).pAppData.cast::<CountingFiles>().cast_const() }
}

/// # Safety
/// `file` must be open.
#[inline]
unsafe fn state<'a>(file: *mut ffi::sqlite3_file) -> &'a mut CountedFileState {
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
    let journals = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
    // SAFETY: see above; the room is of `size_of_file`.
    unsafe {
        overlay::open::<CountingFiles, _>(vfs, name, file, (flags, out_flags), &TABLES, |methods| CountedFileState {
            counter: counting_files(vfs).opened(flags),
            files: counting_files(vfs),
            default_vfs: methods,
            folder_too: cfg!(unix) && flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & journals != 0,
        })
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once; its file system lives as long as its connection.
    unsafe {
        let state = overlay::taken::<CountedFileState>(file);
        (*state.files).closed(&state.counter);
        (*state.default_vfs).xClose.map_or(ffi::SQLITE_OK, |call| call(file))
    }
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, target: *mut c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    unsafe {
        let state = state(file);
        let code = (*state.default_vfs).xRead.map_or(ffi::SQLITE_IOERR_READ, |call| {
            sometimes_blocked_on(Wait::Storage, || call(file, target, length, offset))
        });
        // Beyond the end of a file there is nothing to read.
        state.counter.read(if code == ffi::SQLITE_OK { length as u64 } else { 0 });
        code
    }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, source: *const c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    unsafe {
        let state = state(file);
        let code = (*state.default_vfs).xWrite.map_or(ffi::SQLITE_IOERR_WRITE, |call| {
            sometimes_blocked_on(Wait::Storage, || call(file, source, length, offset))
        });
        state.counter.io.wrote(if code == ffi::SQLITE_OK { length as u64 } else { 0 });
        code
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: see above.
    unsafe {
        let state = state(file);
        let begun = Instant::now();
        let code = (*state.default_vfs)
            .xSync
            .map_or(ffi::SQLITE_IOERR_FSYNC, |call| blocked_on(Wait::Sync, || call(file, flags)));
        state.counter.io.synced(1 + u64::from(mem::take(&mut state.folder_too)), begun);
        code
    }
}

/// Nanoseconds since `begun`. Two readings of the clock cost some fifty nanoseconds, a sync ten thousand and more.
fn since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: see above.
    unsafe {
        let default_vfs = CountingFiles::default_vfs(vfs);
        let begun = Instant::now();
        // Where the folder is synced, that is what takes the time.
        let code = (*default_vfs).xDelete.map_or(ffi::SQLITE_IOERR_DELETE, |call| {
            let wait = if sync_folder & 1 != 0 { Wait::Sync } else { Wait::Storage };
            blocked_on(wait, || call(default_vfs, name, sync_folder))
        });
        if code == ffi::SQLITE_OK && sync_folder & 1 != 0 {
            counting_files(vfs).synced_folder(since(begun));
        }
        code
    }
}
