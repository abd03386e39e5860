//! Connections that run statements from a user's file: they reach no other file than the database's own, and those of sessions
//! change no setting that the target makes.

use crate::connection::SqliteConnection;
use crate::ffi;
use bourse_engine::Result;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

impl SqliteConnection {
    /// Refuses, in statements prepared from now on, to attach a file, as `VACUUM INTO` does too, and to change the target's
    /// settings unless `makes_settings`.
    pub(crate) fn confine(&self, makes_settings: bool) -> Result<()> {
        let data = if makes_settings { ptr::null_mut() } else { ptr::dangling_mut() };
        // SAFETY: the connection is open, and the function does not follow the pointer.
        self.check(unsafe { self.library().sqlite3_set_authorizer(self.raw(), Some(authorize), data) })
    }
}

/// Reason for the refusal of a statement.
pub(crate) const WHY: &str =
    "a workload's statements reach no other database file, and change no setting that the target makes";

/// Databases that are not a user's file: one in memory, and a temporary one, which `VACUUM` attaches.
const NO_FILES: [&[u8]; 2] = [b":memory:", b""];

/// Pragmas that change what a target sets, each with the target's option; without one if the target has none for it. The encoding is
/// not among them: that of a database with a table stays.
const SETTINGS: [(&str, &str); 14] = [
    ("journal_mode", "journal"),
    ("synchronous", "sync"),
    ("page_size", "page_size"),
    ("cache_size", "cache"),
    ("mmap_size", "mmap"),
    ("wal_autocheckpoint", "autocheckpoint"),
    ("foreign_keys", "foreign_keys"),
    ("ignore_check_constraints", "checks"),
    ("locking_mode", "locking"),
    ("temp_store", "temp_store"),
    ("busy_timeout", "busy_timeout"),
    ("read_uncommitted", "read_uncommitted"),
    ("fullfsync", ""),
    ("checkpoint_fullfsync", ""),
];

/// Target's option for what a pragma sets, empty if it has none; `None` of a pragma that sets nothing of the target's.
pub fn option_of_pragma(name: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|(pragma, _)| name.eq_ignore_ascii_case(pragma)).map(|(_, option)| *option)
}

unsafe extern "C" fn authorize(
    guards_settings: *mut c_void,
    action: c_int,
    first: *const c_char,
    second: *const c_char,
    _: *const c_char,
    _: *const c_char,
) -> c_int {
    // SAFETY: a name that is given ends in zero and lives as long as this call.
    let text = |name: *const c_char| (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes());
    let is_setting = |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| option_of_pragma(name).is_some());
    let is_refused = match action {
        ffi::SQLITE_ATTACH => text(first).is_none_or(|name| !NO_FILES.contains(&name)),
        // Without a value it is a question.
        ffi::SQLITE_PRAGMA => !guards_settings.is_null() && !second.is_null() && text(first).is_some_and(is_setting),
        _ => false,
    };
    if is_refused { ffi::SQLITE_DENY } else { ffi::SQLITE_OK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_a_description_is_the_targets() {
        for name in crate::describe::PRAGMAS.iter().filter(|name| **name != "encoding") {
            assert!(option_of_pragma(name).is_some(), "{name}");
        }
    }
}
