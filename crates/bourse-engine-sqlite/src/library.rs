//! Build of SQLite that this crate uses: its scheme, its abilities, its version.

#[cfg(not(loaded))]
use crate::ffi;
use crate::ffi::SqliteLibrary;
#[cfg(not(loaded))]
use bourse_engine::Dialect;
use std::ffi::{CStr, c_int};

/// Scheme of targets: the part before the colon.
#[cfg(not(any(lean, loaded)))]
macro_rules! scheme {
    () => {
        "sqlite"
    };
}
/// Scheme of targets: the part before the colon.
#[cfg(lean)]
macro_rules! scheme {
    () => {
        "sqlite-lean"
    };
}
/// Scheme of targets: the part before the colon.
#[cfg(loaded)]
macro_rules! scheme {
    () => {
        "sqlite+lib"
    };
}

/// Name of the engine in targets, lists and reports.
pub(crate) const SCHEME: &str = scheme!();
/// Forms of a target.
pub(crate) const FORMS: &str = concat!(scheme!(), ":PATH or ", scheme!(), "::memory:");
/// Name of the engine for a person.
pub(crate) const ENGINE: &str = if cfg!(lean) {
    "SQLite (lean build)"
} else if cfg!(loaded) {
    "the loaded SQLite"
} else {
    "SQLite"
};
/// Whether several sessions can share one cache.
pub(crate) const HAS_SHARED_CACHE: bool = cfg!(not(lean));

impl SqliteLibrary {
    /// Initialises the library; does nothing the second time. The stock build would do it by itself.
    ///
    /// Returns SQLite's code.
    pub(crate) fn start(self) -> c_int {
        // SAFETY: takes no argument and may be called at any time.
        unsafe { self.sqlite3_initialize() }
    }

    /// Version of the library.
    pub(crate) fn version(self) -> &'static str {
        // SAFETY: a static text.
        unsafe { CStr::from_ptr(self.sqlite3_libversion()) }.to_str().unwrap_or("unknown")
    }

    /// Source of the library: date, time and hash of the check-in.
    pub(crate) fn source_id(self) -> &'static str {
        // SAFETY: a static text.
        unsafe { CStr::from_ptr(self.sqlite3_sourceid()) }.to_str().unwrap_or("unknown")
    }

    /// Whether statements have all counters of [`StatementWork`](bourse_engine::StatementWork): an older library has no bounds
    /// check of a counter's number.
    pub(crate) fn counts_work(self) -> bool {
        #[cfg(loaded)]
        return self.number() >= 3_008_000;
        #[cfg(not(loaded))]
        true
    }

    /// Memory that the library holds, in bytes, over all connections of the process; 0 if it does not count, as the
    /// lean build.
    pub(crate) fn memory_bytes(self) -> u64 {
        // SAFETY: takes no argument and may be called at any time.
        u64::try_from(unsafe { self.sqlite3_memory_used() }).unwrap_or(0)
    }
}

#[cfg(not(loaded))]
impl SqliteLibrary {
    /// SQL dialect of the library.
    pub(crate) fn dialect(self) -> &'static Dialect {
        &bourse_schema::SQLITE
    }

    /// Name that distinguishes it from other copies in this process.
    pub(crate) fn name(self) -> &'static str {
        SCHEME
    }

    /// Flags for opening every connection.
    pub(crate) fn open_flags(self) -> c_int {
        ffi::SQLITE_OPEN_EXRESCODE
    }

    /// Whether several threads may call it concurrently.
    pub(crate) fn is_threadsafe(self) -> bool {
        true
    }

    /// Facts for the run file in addition to the version: none for a library that is compiled in.
    pub(crate) fn facts(self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}
