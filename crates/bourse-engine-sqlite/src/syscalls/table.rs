//! Functions that replace the system's in SQLite's table of system calls.

use super::{Call, Decision, current, muted};
use crate::ffi::{self, Library};
use std::collections::HashMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;
type Close = unsafe extern "C" fn(c_int) -> c_int;
type Read = unsafe extern "C" fn(c_int, *mut c_void, usize) -> isize;
type Write = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;
/// Type of `pread` and `pread64`; offsets have 64 bits on the systems supported.
type ReadAt = unsafe extern "C" fn(c_int, *mut c_void, usize, i64) -> isize;
/// Type of `pwrite` and `pwrite64`.
type WriteAt = unsafe extern "C" fn(c_int, *const c_void, usize, i64) -> isize;
type Truncate = unsafe extern "C" fn(c_int, libc::off_t) -> c_int;
type Unlink = unsafe extern "C" fn(*const c_char) -> c_int;
type OpenDirectory = unsafe extern "C" fn(*const c_char, *mut c_int) -> c_int;

/// Original functions of the table.
struct Originals {
    open: Open,
    close: Close,
    read: Read,
    write: Write,
    /// Depends on how the library was built: one of the two pairs below, called in place of the pair above.
    read_at: Option<ReadAt>,
    write_at: Option<WriteAt>,
    truncate: Truncate,
    unlink: Unlink,
    open_directory: OpenDirectory,
}

static ORIGINALS: OnceLock<Originals> = OnceLock::new();

/// Replaces the functions. Returns SQLite's code: `SQLITE_NOTFOUND` if the table lacks one.
pub(super) fn install() -> c_int {
    let started = Library.start();
    if started != ffi::SQLITE_OK {
        return started;
    }
    // SAFETY: asks for the unix file system, which lives as long as the process.
    let unix = unsafe { Library.sqlite3_vfs_find(c"unix".as_ptr()) };
    if unix.is_null() {
        return ffi::SQLITE_NOTFOUND;
    }
    // SAFETY: the file system is registered, and its methods take itself and names that end in zero.
    let get = |name: &CStr| unsafe { (*unix).xGetSystemCall.and_then(|get| get(unix, name.as_ptr())) };
    // A build that extends files in this way would pass us by.
    if get(c"fallocate").is_some() || mem::size_of::<libc::off_t>() != mem::size_of::<i64>() {
        return ffi::SQLITE_NOTFOUND;
    }
    let [read_at_name, write_at_name] =
        if get(c"pread64").is_some() { [c"pread64", c"pwrite64"] } else { [c"pread", c"pwrite"] };
    let (Some(open), Some(close), Some(read), Some(write), Some(truncate), Some(unlink), Some(open_directory)) = (
        get(c"open"),
        get(c"close"),
        get(c"read"),
        get(c"write"),
        get(c"ftruncate"),
        get(c"unlink"),
        get(c"openDirectory"),
    ) else {
        return ffi::SQLITE_NOTFOUND;
    };
    // SAFETY: each entry of the table has the type that `os_unix.c` casts it to before it calls it, which is ours here.
    let originals = unsafe {
        Originals {
            open: mem::transmute::<unsafe extern "C" fn(), Open>(open),
            close: mem::transmute::<unsafe extern "C" fn(), Close>(close),
            read: mem::transmute::<unsafe extern "C" fn(), Read>(read),
            write: mem::transmute::<unsafe extern "C" fn(), Write>(write),
            read_at: get(read_at_name).map(|call| mem::transmute::<unsafe extern "C" fn(), ReadAt>(call)),
            write_at: get(write_at_name).map(|call| mem::transmute::<unsafe extern "C" fn(), WriteAt>(call)),
            truncate: mem::transmute::<unsafe extern "C" fn(), Truncate>(truncate),
            unlink: mem::transmute::<unsafe extern "C" fn(), Unlink>(unlink),
            open_directory: mem::transmute::<unsafe extern "C" fn(), OpenDirectory>(open_directory),
        }
    };
    let has_offsets = originals.read_at.is_some() && originals.write_at.is_some();
    if ORIGINALS.set(originals).is_err() {
        return ffi::SQLITE_MISUSE;
    }
    // SAFETY: as above, the other way round; SQLite casts them back before it calls them.
    let mut ours: Vec<(&CStr, unsafe extern "C" fn())> = unsafe {
        vec![
            (c"open", mem::transmute::<Open, unsafe extern "C" fn()>(observed_open)),
            (c"close", mem::transmute::<Close, unsafe extern "C" fn()>(observed_close)),
            (c"read", mem::transmute::<Read, unsafe extern "C" fn()>(observed_read)),
            (c"write", mem::transmute::<Write, unsafe extern "C" fn()>(observed_write)),
            (c"ftruncate", mem::transmute::<Truncate, unsafe extern "C" fn()>(observed_truncate)),
            (c"unlink", mem::transmute::<Unlink, unsafe extern "C" fn()>(observed_unlink)),
            (c"openDirectory", mem::transmute::<OpenDirectory, unsafe extern "C" fn()>(observed_open_directory)),
        ]
    };
    if has_offsets {
        // SAFETY: likewise.
        ours.extend(unsafe {
            [
                (read_at_name, mem::transmute::<ReadAt, unsafe extern "C" fn()>(observed_read_at)),
                (write_at_name, mem::transmute::<WriteAt, unsafe extern "C" fn()>(observed_write_at)),
            ]
        });
    }
    // SAFETY: the file system is registered; the functions live as long as the process. Another thread that makes a call at
    // this moment finds the old or the new function in a word of the table, and both do what it wants.
    unsafe {
        let Some(set) = (*unix).xSetSystemCall else { return ffi::SQLITE_NOTFOUND };
        ours.iter()
            .map(|(name, function)| set(unix, name.as_ptr(), Some(*function)))
            .find(|code| *code != ffi::SQLITE_OK)
            .unwrap_or(ffi::SQLITE_OK)
    }
}

fn originals() -> &'static Originals {
    ORIGINALS.get().expect("the functions are in the table only once the originals are kept")
}

/// Paths of the open files that were opened while an observer was active.
fn paths() -> MutexGuard<'static, HashMap<c_int, Arc<Path>>> {
    static PATHS: LazyLock<Mutex<HashMap<c_int, Arc<Path>>>> = LazyLock::new(Mutex::default);
    PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn path_of(descriptor: c_int) -> Option<Arc<Path>> {
    paths().get(&descriptor).cloned()
}

/// Offset of a descriptor's next read or write: SQLite seeks before each.
fn place(descriptor: c_int) -> u64 {
    // SAFETY: takes numbers and touches no memory of ours.
    u64::try_from(unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) }).unwrap_or(0)
}

fn fail(number: c_int) -> c_int {
    errno::set_errno(errno::Errno(number));
    -1
}

// SAFETY of all that follows: SQLite calls these functions as it would the system's: paths end in zero, buffers have the
// length given with them.

/// # Safety
/// `name` must end in zero and live as long as the returned path.
unsafe fn path<'p>(name: *const c_char) -> &'p Path {
    // SAFETY: by the caller's word.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()))
}

unsafe extern "C" fn observed_open(name: *const c_char, flags: c_int, mode: c_int) -> c_int {
    let Some(observer) = current() else {
        // SAFETY: see above.
        return unsafe { (originals().open)(name, flags, mode) };
    };
    // SAFETY: see above.
    let file = unsafe { path(name) };
    let call = Call::Open { path: file, creates: flags & libc::O_CREAT != 0 && file.symlink_metadata().is_err() };
    if let Decision::Fail(number) = observer.before(&call) {
        return fail(number);
    }
    // SAFETY: see above.
    let descriptor = unsafe { (originals().open)(name, flags, mode) };
    if descriptor >= 0 {
        paths().insert(descriptor, Arc::from(file));
        observer.after(&call);
    }
    descriptor
}

unsafe extern "C" fn observed_close(descriptor: c_int) -> c_int {
    // Before the number can be another file's.
    paths().remove(&descriptor);
    // SAFETY: see above.
    unsafe { (originals().close)(descriptor) }
}

unsafe extern "C" fn observed_read(descriptor: c_int, target: *mut c_void, length: usize) -> isize {
    match before_read(descriptor, || place(descriptor), length) {
        // SAFETY: see above; not more is read than there is room for.
        Ok(wanted) => unsafe { (originals().read)(descriptor, target, wanted) },
        Err(failed) => failed,
    }
}

unsafe extern "C" fn observed_read_at(descriptor: c_int, target: *mut c_void, length: usize, offset: i64) -> isize {
    let original = originals().read_at.expect("it stands in the table only in place of another");
    match before_read(descriptor, || offset as u64, length) {
        // SAFETY: as above.
        Ok(wanted) => unsafe { original(descriptor, target, wanted, offset) },
        Err(failed) => failed,
    }
}

/// Number of bytes to be read, or the result to be returned instead.
fn before_read(descriptor: c_int, offset: impl FnOnce() -> u64, length: usize) -> Result<usize, isize> {
    let (Some(observer), Some(path)) = (current(), path_of(descriptor)) else { return Ok(length) };
    match observer.before(&Call::Read { path: &path, offset: offset(), length }) {
        Decision::Proceed => Ok(length),
        Decision::Fail(number) => Err(fail(number) as isize),
        Decision::Short(most) => Ok(length.min(most)),
    }
}

unsafe extern "C" fn observed_write(descriptor: c_int, source: *const c_void, length: usize) -> isize {
    // SAFETY: see above; not more is written than there is.
    unsafe {
        let bytes = slice::from_raw_parts(source.cast::<u8>(), length);
        writing(descriptor, bytes, || place(descriptor), |wanted| (originals().write)(descriptor, source, wanted))
    }
}

unsafe extern "C" fn observed_write_at(descriptor: c_int, source: *const c_void, length: usize, offset: i64) -> isize {
    let original = originals().write_at.expect("it stands in the table only in place of another");
    // SAFETY: as above.
    unsafe {
        let bytes = slice::from_raw_parts(source.cast::<u8>(), length);
        writing(descriptor, bytes, || offset as u64, |wanted| original(descriptor, source, wanted, offset))
    }
}

fn writing(descriptor: c_int, bytes: &[u8], offset: impl FnOnce() -> u64, write: impl FnOnce(usize) -> isize) -> isize {
    let (Some(observer), Some(path)) = (current(), path_of(descriptor)) else { return write(bytes.len()) };
    let offset = offset();
    let wanted = match observer.before(&Call::Write { path: &path, offset, bytes }) {
        Decision::Proceed => bytes.len(),
        Decision::Fail(number) => return fail(number) as isize,
        Decision::Short(most) => bytes.len().min(most),
    };
    let written = write(wanted);
    if let Ok(count @ 1..) = usize::try_from(written) {
        observer.after(&Call::Write { path: &path, offset, bytes: &bytes[..count] });
    }
    written
}

unsafe extern "C" fn observed_truncate(descriptor: c_int, size: libc::off_t) -> c_int {
    let (Some(observer), Some(path)) = (current(), path_of(descriptor)) else {
        // SAFETY: takes numbers.
        return unsafe { (originals().truncate)(descriptor, size) };
    };
    let call = Call::Truncate { path: &path, size: u64::try_from(size).unwrap_or(0) };
    if let Decision::Fail(number) = observer.before(&call) {
        return fail(number);
    }
    // SAFETY: takes numbers.
    let code = unsafe { (originals().truncate)(descriptor, size) };
    if code == 0 {
        observer.after(&call);
    }
    code
}

unsafe extern "C" fn observed_unlink(name: *const c_char) -> c_int {
    let Some(observer) = current() else {
        // SAFETY: see above.
        return unsafe { (originals().unlink)(name) };
    };
    // SAFETY: see above.
    let call = Call::Unlink { path: unsafe { path(name) } };
    if let Decision::Fail(number) = observer.before(&call) {
        return fail(number);
    }
    // SAFETY: see above.
    let code = unsafe { (originals().unlink)(name) };
    if code == 0 {
        observer.after(&call);
    }
    code
}

unsafe extern "C" fn observed_open_directory(name: *const c_char, descriptor: *mut c_int) -> c_int {
    let Some(observer) = current() else {
        // SAFETY: see above.
        return unsafe { (originals().open_directory)(name, descriptor) };
    };
    // SAFETY: see above.
    let call = Call::SyncDirectory { path: unsafe { path(name) } };
    if let Decision::Fail(number) = observer.before(&call) {
        errno::set_errno(errno::Errno(number));
        // SAFETY: SQLite gives a place for the descriptor. It syncs this one at once, which fails.
        unsafe { ptr::write(descriptor, -1) };
        return ffi::SQLITE_OK;
    }
    // SAFETY: see above. This opens the directory through the table, which is no call of its own.
    let code = muted(|| unsafe { (originals().open_directory)(name, descriptor) });
    if code == ffi::SQLITE_OK {
        observer.after(&call);
    }
    code
}
