//! Connections that run statements from a user's file: they reach no other file than the database's own.

use crate::connection::Connection;
use crate::ffi;
use bourse_engine::EngineError;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

impl Connection {
    /// Refuses, in statements prepared from now on, to attach a file, as `VACUUM INTO` does too.
    pub(crate) fn confine(&self) -> Result<(), EngineError> {
        // SAFETY: the connection is open, and the function has no data.
        self.check(unsafe { self.library().sqlite3_set_authorizer(self.raw(), Some(authorize), ptr::null_mut()) })
    }
}

/// Reason for the refusal of a statement.
pub(crate) const WHY: &str = "statements of a file of one's own reach no other database file";

/// Databases that are not a user's file: one in memory, and a temporary one, which `VACUUM` attaches.
const NO_FILES: [&[u8]; 2] = [b":memory:", b""];

unsafe extern "C" fn authorize(
    _: *mut c_void,
    action: c_int,
    first: *const c_char,
    _: *const c_char,
    _: *const c_char,
    _: *const c_char,
) -> c_int {
    // SAFETY: a name that is given ends in zero and lives as long as this call.
    let text = |name: *const c_char| (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes());
    // A name that is not written in the statement may be any.
    let is_refused = action == ffi::SQLITE_ATTACH && text(first).is_none_or(|name| !NO_FILES.contains(&name));
    if is_refused { ffi::SQLITE_DENY } else { ffi::SQLITE_OK }
}
