//! The classic workloads' point read and bulk load, done by a few lines of C.

use crate::relay::RelayPlace;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

#[repr(C)]
struct CConnection {
    _opaque: [u8; 0],
}

/// A place in a relay, in the form in which the C program reads its clock.
#[repr(C)]
struct CClock {
    now: unsafe extern "C" fn(*mut c_void) -> u64,
    place: *mut c_void,
}

impl CClock {
    fn of(place: &mut RelayPlace) -> Self {
        unsafe extern "C" fn now(place: *mut c_void) -> u64 {
            // SAFETY: made from a place below, which no other code uses while the C program has it.
            unsafe { &mut *place.cast::<RelayPlace>() }.now()
        }
        Self { now, place: ptr::from_mut(place).cast() }
    }
}

unsafe extern "C" {
    fn bourse_yardstick_open(name: *const c_char, setup: *const c_char, db: *mut *mut CConnection) -> c_int;
    fn bourse_yardstick_remove(vfs: *const c_char, file: *const c_char, log: *const c_char);
    fn bourse_yardstick_close(db: *mut CConnection);
    fn bourse_yardstick_reads(
        db: *mut CConnection,
        sql: *const c_char,
        rows: u64,
        seed: u64,
        batch: c_int,
        warm_up_ns: u64,
        for_ns: u64,
        clock: *const CClock,
        reads: *mut u64,
        ns: *mut u64,
    ) -> c_int;
    fn bourse_yardstick_inserts(
        db: *mut CConnection,
        sql: *const c_char,
        rows: u64,
        text: *const c_char,
        starts: u64,
        width: c_int,
        clock: *const CClock,
        ns: *mut u64,
    ) -> c_int;
}

/// Maximum number of operations that the C program times together.
pub const MOST_TOGETHER: u32 = 1_024;

/// Table that both sides use, as the classic workloads create it.
pub const CREATE: &str =
    "CREATE TABLE persons (id INTEGER PRIMARY KEY, c1 INTEGER NOT NULL, c2 TEXT NOT NULL, c3 TEXT NOT NULL)";

/// A connection of the C program, used by one thread at a time.
#[derive(Debug)]
pub struct CSession(NonNull<CConnection>);

// SAFETY: the library is compiled thread-safe, and a connection may be used by any thread as long as it is one at a time.
unsafe impl Send for CSession {}

/// Result of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadResult {
    /// Number of rows read.
    pub count: u64,
    /// Duration in nanoseconds, drawing of keys included.
    pub ns: u64,
}

fn text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|error| error.to_string())
}

fn check(code: c_int) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("SQLite's code {code}")) }
}

impl CSession {
    /// Opens a file or URI and runs the statements of `setup`.
    ///
    /// # Errors
    /// SQLite's error code.
    pub fn open(name: &str, setup: &str) -> Result<Self, String> {
        let (name, setup) = (text(name)?, text(setup)?);
        let mut db = ptr::null_mut();
        // SAFETY: both texts end in zero and the out pointer is valid.
        let code = unsafe { bourse_yardstick_open(name.as_ptr(), setup.as_ptr(), &mut db) };
        let this = NonNull::new(db).map(Self);
        check(code)?;
        this.ok_or_else(|| "no memory for a connection".to_owned())
    }

    /// Removes a database that is not open from a file system of SQLite's; a missing one is no error.
    ///
    /// # Errors
    /// The name contains a zero byte.
    pub fn remove(vfs: &str, file: &str) -> Result<(), String> {
        let (vfs, log, file) = (text(vfs)?, text(&format!("{file}-wal"))?, text(file)?);
        // SAFETY: the texts end in zero.
        unsafe { bourse_yardstick_remove(vfs.as_ptr(), file.as_ptr(), log.as_ptr()) };
        Ok(())
    }

    /// Reads rows by keys from 1 to `rows`, `together` of them between two readings of the clock: for `warm_up_ns`, and
    /// then for `for_ns`, which is counted.
    ///
    /// # Errors
    /// SQLite's error code; that of corruption if a row was not found.
    pub fn reads(
        &mut self,
        rows: u64,
        seed: u64,
        together: u32,
        warm_up_ns: u64,
        for_ns: u64,
        place: &mut RelayPlace,
    ) -> Result<ReadResult, String> {
        let sql = text("SELECT id, c1, c2, c3 FROM persons WHERE id = ?1")?;
        let batch = together.clamp(1, MOST_TOGETHER) as c_int;
        let clock = CClock::of(place);
        let (db, sql) = (self.0.as_ptr(), sql.as_ptr());
        let mut done = ReadResult { count: 0, ns: 0 };
        let ReadResult { count, ns } = &mut done;
        // SAFETY: the connection is open, the text ends in zero, the clock and the out pointers are valid, the batch fits.
        let code = unsafe {
            bourse_yardstick_reads(db, sql, rows, seed, batch, warm_up_ns, for_ns, &raw const clock, count, ns)
        };
        check(code).map(|()| done)
    }

    /// Inserts rows 1 to `rows` in one transaction, with two texts of `width` bytes each, and returns the duration with
    /// its commit in nanoseconds.
    ///
    /// # Errors
    /// SQLite's error code.
    pub fn inserts(&mut self, rows: u64, width: usize, place: &mut RelayPlace) -> Result<u64, String> {
        const STARTS: usize = 65_521;
        let sql = text("INSERT INTO persons (id, c1, c2, c3) VALUES (?1, ?2, ?3, ?4)")?;
        let filler: Vec<u8> = (0..STARTS + width).map(|at| b'a' + (at % 26) as u8).collect();
        let width = c_int::try_from(width).map_err(|_| "a text of more than 2 GiB".to_owned())?;
        let clock = CClock::of(place);
        let mut ns = 0;
        // SAFETY: the connection is open, the statement ends in zero, every text lies within the filler, which outlives
        // the call; the statement that saw it is finalized there.
        let code = unsafe {
            let start = filler.as_ptr().cast();
            let (db, sql) = (self.0.as_ptr(), sql.as_ptr());
            bourse_yardstick_inserts(db, sql, rows, start, STARTS as u64, width, &raw const clock, &mut ns)
        };
        check(code).map(|()| ns)
    }
}

impl Drop for CSession {
    fn drop(&mut self) {
        // SAFETY: opened, and closed once; its statements are finalized.
        unsafe { bourse_yardstick_close(self.0.as_ptr()) };
    }
}
