//! LMDB's codes as errors of the seam.

use bourse_engine::{EngineError, ErrorKind, Result};
use lmdb_master_sys as ffi;
use std::ffi::{CStr, c_int};

/// Kind of an error that a program acts on, by its code.
fn kind(code: c_int) -> ErrorKind {
    match code {
        ffi::MDB_MAP_FULL | libc::ENOSPC | libc::EDQUOT | libc::EFBIG => ErrorKind::Full,
        ffi::MDB_KEYEXIST => ErrorKind::Duplicate,
        ffi::MDB_BAD_VALSIZE => ErrorKind::Unsupported,
        // Something else was written over a file of Bourse's.
        ffi::MDB_INVALID | ffi::MDB_VERSION_MISMATCH => ErrorKind::Refused,
        ffi::MDB_CORRUPTED | ffi::MDB_PANIC | ffi::MDB_PAGE_NOTFOUND | libc::EIO => ErrorKind::ConnectionLost,
        _ => ErrorKind::Other,
    }
}

/// Error for a code, with LMDB's text.
pub(crate) fn error(code: c_int) -> EngineError {
    // SAFETY: mdb_strerror takes any number and returns a text that stays.
    let words = unsafe { CStr::from_ptr(ffi::mdb_strerror(code)) }.to_string_lossy();
    let words = words.strip_prefix("MDB_").and_then(|words| Some(words.split_once(": ")?.1)).unwrap_or(&words);
    let hint = if code == ffi::MDB_MAP_FULL { "; `map_size=` makes room" } else { "" };
    EngineError::new(kind(code), format!("{words}{hint}")).with_code(format!("code {code}"))
}

/// Result of a call, from its code.
#[inline]
pub(crate) fn check(code: c_int) -> Result<()> {
    if code == ffi::MDB_SUCCESS { Ok(()) } else { Err(error(code)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_kind_a_program_acts_on() {
        for (code, expected) in [
            (ffi::MDB_MAP_FULL, ErrorKind::Full),
            (libc::ENOSPC, ErrorKind::Full),
            (ffi::MDB_KEYEXIST, ErrorKind::Duplicate),
            (ffi::MDB_CORRUPTED, ErrorKind::ConnectionLost),
            (ffi::MDB_INVALID, ErrorKind::Refused),
            (ffi::MDB_READERS_FULL, ErrorKind::Other),
        ] {
            assert_eq!(error(code).kind(), expected, "{code}");
        }
        assert!(error(ffi::MDB_MAP_FULL).message().contains("`map_size=`"));
    }
}
