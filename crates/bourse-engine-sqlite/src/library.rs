//! Which build of SQLite this crate is over: its name in targets, what it can do, what it says of itself.

use crate::ffi;
use std::ffi::{CStr, c_int};
use std::sync::OnceLock;

/// What stands before the colon of a target.
#[cfg(not(lean))]
macro_rules! scheme {
    () => {
        "sqlite"
    };
}
/// What stands before the colon of a target.
#[cfg(lean)]
macro_rules! scheme {
    () => {
        "sqlite-lean"
    };
}

/// The engine's name in targets, lists and reports.
pub(crate) const SCHEME: &str = scheme!();
/// The forms of a target.
pub(crate) const FORMS: &str = concat!(scheme!(), ":PATH or ", scheme!(), "::memory:");
/// The engine's name for a person.
pub(crate) const ENGINE: &str = if cfg!(lean) { "SQLite (lean build)" } else { "SQLite" };
/// Whether several sessions can have one cache.
pub(crate) const HAS_SHARED_CACHE: bool = cfg!(not(lean));

/// Makes the library ready for what needs it to be; does nothing the second time. The stock build would do it by itself.
///
/// Returns SQLite's code.
pub(crate) fn start() -> c_int {
    static STARTED: OnceLock<c_int> = OnceLock::new();
    // SAFETY: takes no argument and may be called at any time.
    *STARTED.get_or_init(|| unsafe { ffi::sqlite3_initialize() })
}

/// The version of the library.
pub(crate) fn version() -> &'static str {
    // SAFETY: a static text.
    unsafe { CStr::from_ptr(ffi::sqlite3_libversion()) }.to_str().unwrap_or("unknown")
}

/// The source the library was built from: date, time and hash of the check-in.
pub(crate) fn source_id() -> &'static str {
    // SAFETY: a static text.
    unsafe { CStr::from_ptr(ffi::sqlite3_sourceid()) }.to_str().unwrap_or("unknown")
}

/// Memory the library holds, in bytes, over all connections of the process; 0 where it does not count, as the lean build.
pub(crate) fn memory_bytes() -> u64 {
    // SAFETY: takes no argument and may be called at any time.
    u64::try_from(unsafe { ffi::sqlite3_memory_used() }).unwrap_or(0)
}
