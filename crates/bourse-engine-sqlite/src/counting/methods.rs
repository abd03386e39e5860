//! The C interface: what SQLite calls.

use super::{Counter, CountingFiles, add};
use crate::ffi;
use crate::vfs::default_vfs::{self, OverUsual};
use bourse_engine::{Wait, blocked_on, sometimes_blocked_on};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Our part of an open file, behind the default one's.
struct State {
    counter: Arc<Counter>,
    files: *const CountingFiles,
    /// The functions that the file was opened with.
    default_vfs: *const ffi::sqlite3_io_methods,
    /// Whether the first sync will also be one of the folder: the default file system makes the name of a new journal last.
    folder_too: bool,
}

/// Where our part of a file begins, in bytes: behind the default part.
const fn place(default_bytes: usize) -> usize {
    default_bytes.next_multiple_of(mem::align_of::<*mut State>())
}

/// The description: everything as the default one has it, but for opening and removing files.
///
/// # Safety
/// `default_vfs` must be alive as long as what is returned, `name` and `files` too.
pub(super) unsafe fn file_system(
    default_vfs: *mut ffi::sqlite3_vfs,
    name: &CStr,
    files: *const CountingFiles,
) -> ffi::sqlite3_vfs {
    // SAFETY: as the caller promises.
    let default_vfs = unsafe { &*default_vfs };
    ffi::sqlite3_vfs {
        szOsFile: (place(default_vfs.szOsFile as usize) + mem::size_of::<*mut State>()) as c_int,
        mxPathname: default_vfs.mxPathname,
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(default_vfs::access::<CountingFiles>),
        xFullPathname: Some(default_vfs::full_pathname::<CountingFiles>),
        xGetLastError: Some(default_vfs::last_error::<CountingFiles>),
        ..default_vfs::description::<CountingFiles>(name, files.cast_mut().cast())
    }
}

impl OverUsual for CountingFiles {
    unsafe fn default_vfs(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
        // SAFETY: as the caller promises.
        unsafe { ours(vfs) }.default_vfs
    }
}

/// A table of functions, and what is the same for all files that have it.
#[repr(C)]
struct Table {
    /// First, so that a file's pointer to its functions is one to this.
    methods: ffi::sqlite3_io_methods,
    /// Where our part of a file begins, in bytes.
    place: usize,
}

/// The default functions with ours in the place of four of them: one table for each that a default file system has.
///
/// # Safety
/// `methods` must be a table of `default_vfs`.
unsafe fn counted(
    methods: *const ffi::sqlite3_io_methods,
    default_vfs: *const ffi::sqlite3_vfs,
) -> *const ffi::sqlite3_io_methods {
    /// Addresses of tables: a default one, and ours for it.
    static TABLES: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, ours)) = tables.iter().find(|(known, _)| *known == methods.addr()) {
        return ptr::with_exposed_provenance(*ours);
    }
    // SAFETY: as the caller promises; the tables of a default file system live as long as the process.
    let (default_table, place) = unsafe { (default_vfs::copied(methods), place((*default_vfs).szOsFile as usize)) };
    let methods_of_ours = ffi::sqlite3_io_methods {
        xClose: Some(close),
        xRead: Some(read),
        xWrite: Some(write),
        xSync: Some(sync),
        ..default_table
    };
    let ours: *const Table = Box::leak(Box::new(Table { methods: methods_of_ours, place }));
    tables.push((methods.addr(), ours.expose_provenance()));
    ours.cast()
}

// SAFETY of all that follows: SQLite calls these functions as its interface documents: a file pointer is one that `open`
// filled in and `close` has not seen, used by one thread at a time; buffers have the length given with them; names end in
// zero; the file system's pointer is the one registered, whose `pAppData` is its `CountingFiles`.

/// # Safety
/// `vfs` must be ours.
unsafe fn ours<'a>(vfs: *mut ffi::sqlite3_vfs) -> &'a CountingFiles {
    // SAFETY: `file_system` put it there, and it is alive while its description is registered.
    unsafe { &*(*vfs).pAppData.cast::<CountingFiles>().cast_const() }
}

/// # Safety
/// The file must have been given room by our description's `szOsFile`, of which the first `place` bytes are the default one's.
unsafe fn slot(file: *mut ffi::sqlite3_file, place: usize) -> *mut *mut State {
    // SAFETY: the slot lies within the room, aligned.
    unsafe { file.cast::<u8>().add(place).cast() }
}

/// # Safety
/// `file` must be open.
#[inline]
unsafe fn slot_of(file: *mut ffi::sqlite3_file) -> *mut *mut State {
    // SAFETY: the functions of a file that is open are those of a table of ours, which `open` put there.
    unsafe { slot(file, (*(*file).pMethods.cast::<Table>()).place) }
}

/// # Safety
/// `file` must be open.
#[inline]
unsafe fn state<'a>(file: *mut ffi::sqlite3_file) -> &'a mut State {
    // SAFETY: `open` put a leaked box into the slot, which lives until `close`.
    unsafe { &mut **slot_of(file) }
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: see above; the default file system gets its own description and the first part of the room.
    unsafe {
        let default_vfs = CountingFiles::default_vfs(vfs);
        let code =
            (*default_vfs).xOpen.map_or(ffi::SQLITE_ERROR, |call| call(default_vfs, name, file, flags, out_flags));
        let methods = (*file).pMethods;
        if code != ffi::SQLITE_OK || methods.is_null() {
            return code;
        }
        let journals = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
        let state = State {
            counter: ours(vfs).opened(flags),
            files: ours(vfs),
            default_vfs: methods,
            folder_too: cfg!(unix) && flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & journals != 0,
        };
        slot(file, place((*default_vfs).szOsFile as usize)).write(Box::into_raw(Box::new(state)));
        (*file).pMethods = counted(methods, default_vfs);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: `open` leaked the box, and SQLite closes a file once; its file system lives as long as its connection.
    unsafe {
        let state = Box::from_raw(*slot_of(file));
        (*state.files).closed(&state.counter);
        (*state.default_vfs).xClose.map_or(ffi::SQLITE_OK, |call| call(file))
    }
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, target: *mut c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    unsafe {
        let state = state(file);
        add(&state.counter.reads, 1);
        let code = (*state.default_vfs).xRead.map_or(ffi::SQLITE_IOERR_READ, |call| {
            sometimes_blocked_on(Wait::Storage, || call(file, target, length, offset))
        });
        // Beyond the end of a file there is nothing to read.
        add(&state.counter.read_bytes, if code == ffi::SQLITE_OK { length as u64 } else { 0 });
        code
    }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, source: *const c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: see above.
    unsafe {
        let state = state(file);
        add(&state.counter.writes, 1);
        let code = (*state.default_vfs).xWrite.map_or(ffi::SQLITE_IOERR_WRITE, |call| {
            sometimes_blocked_on(Wait::Storage, || call(file, source, length, offset))
        });
        add(&state.counter.written_bytes, if code == ffi::SQLITE_OK { length as u64 } else { 0 });
        code
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: see above.
    unsafe {
        let state = state(file);
        add(&state.counter.syncs, 1 + u64::from(mem::take(&mut state.folder_too)));
        let begun = Instant::now();
        let code = (*state.default_vfs)
            .xSync
            .map_or(ffi::SQLITE_IOERR_FSYNC, |call| blocked_on(Wait::Sync, || call(file, flags)));
        add(&state.counter.sync_ns, since(begun));
        code
    }
}

/// Two looks at the clock cost some fifty nanoseconds, a sync ten thousand and more.
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
            ours(vfs).synced_folder(since(begun));
        }
        code
    }
}
