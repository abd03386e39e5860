//! Which build of SQLite this crate is over: its name in targets, what it can do, what it says of itself.

#[cfg(not(loaded))]
use crate::ffi;
use crate::ffi::Library;
#[cfg(not(loaded))]
use bourse_engine::Dialect;
use std::ffi::{CStr, c_int};

/// What stands before the colon of a target.
#[cfg(not(any(lean, loaded)))]
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
/// What stands before the colon of a target.
#[cfg(loaded)]
macro_rules! scheme {
    () => {
        "sqlite+lib"
    };
}

/// The engine's name in targets, lists and reports.
pub(crate) const SCHEME: &str = scheme!();
/// The forms of a target.
pub(crate) const FORMS: &str = concat!(scheme!(), ":PATH or ", scheme!(), "::memory:");
/// The engine's name for a person.
pub(crate) const ENGINE: &str = if cfg!(lean) {
    "SQLite (lean build)"
} else if cfg!(loaded) {
    "the loaded SQLite"
} else {
    "SQLite"
};
/// Whether several sessions can have one cache.
pub(crate) const HAS_SHARED_CACHE: bool = cfg!(not(lean));

impl Library {
    /// Makes the library ready for what needs it to be; does nothing the second time. The stock build would do it by itself.
    ///
    /// Returns SQLite's code.
    pub(crate) fn start(self) -> c_int {
        // SAFETY: takes no argument and may be called at any time.
        unsafe { self.sqlite3_initialize() }
    }

    /// The version of the library.
    pub(crate) fn version(self) -> &'static str {
        // SAFETY: a static text.
        unsafe { CStr::from_ptr(self.sqlite3_libversion()) }.to_str().unwrap_or("unknown")
    }

    /// The source the library was built from: date, time and hash of the check-in.
    pub(crate) fn source_id(self) -> &'static str {
        // SAFETY: a static text.
        unsafe { CStr::from_ptr(self.sqlite3_sourceid()) }.to_str().unwrap_or("unknown")
    }

    /// Memory the library holds, in bytes, over all connections of the process; 0 where it does not count, as the lean build.
    pub(crate) fn memory_bytes(self) -> u64 {
        // SAFETY: takes no argument and may be called at any time.
        u64::try_from(unsafe { self.sqlite3_memory_used() }).unwrap_or(0)
    }
}

#[cfg(not(loaded))]
impl Library {
    /// The SQL that it understands.
    pub(crate) fn dialect(self) -> &'static Dialect {
        &bourse_schema::SQLITE
    }

    /// What tells it apart from other copies in this process.
    pub(crate) fn name(self) -> &'static str {
        SCHEME
    }

    /// Flags of opening that every connection has.
    pub(crate) fn open_flags(self) -> c_int {
        ffi::SQLITE_OPEN_EXRESCODE
    }

    /// Whether several threads may call it at once.
    pub(crate) fn is_threadsafe(self) -> bool {
        true
    }

    /// What a run file says of it beside its version: of one that is compiled in, nothing.
    pub(crate) fn facts(self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}
