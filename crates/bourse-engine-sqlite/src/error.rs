//! Conversion of SQLite's result codes to engine errors.

use crate::ffi::{self, SqliteLibrary};
use bourse_engine::{EngineError, ErrorKind};
use std::ffi::{CStr, c_int};

/// Codes of SQLite with their names.
macro_rules! with_names {
    ($($code:ident)+) => {
        &[$((libsqlite3_sys::$code, stringify!($code))),+]
    };
}

/// The extended codes a benchmark can meet, by name.
static NAMES: &[(c_int, &str)] = with_names! {
    SQLITE_ERROR SQLITE_INTERNAL SQLITE_PERM SQLITE_ABORT SQLITE_BUSY SQLITE_LOCKED SQLITE_NOMEM SQLITE_READONLY
    SQLITE_INTERRUPT SQLITE_IOERR SQLITE_CORRUPT SQLITE_NOTFOUND SQLITE_FULL SQLITE_CANTOPEN SQLITE_PROTOCOL
    SQLITE_SCHEMA SQLITE_TOOBIG SQLITE_CONSTRAINT SQLITE_MISMATCH SQLITE_MISUSE SQLITE_AUTH SQLITE_RANGE
    SQLITE_NOTADB SQLITE_BUSY_RECOVERY SQLITE_BUSY_SNAPSHOT SQLITE_BUSY_TIMEOUT SQLITE_LOCKED_SHAREDCACHE
    SQLITE_ABORT_ROLLBACK SQLITE_READONLY_RECOVERY SQLITE_READONLY_CANTLOCK SQLITE_READONLY_ROLLBACK
    SQLITE_READONLY_DBMOVED SQLITE_READONLY_CANTINIT SQLITE_READONLY_DIRECTORY SQLITE_IOERR_READ
    SQLITE_IOERR_SHORT_READ SQLITE_IOERR_WRITE SQLITE_IOERR_FSYNC SQLITE_IOERR_DIR_FSYNC SQLITE_IOERR_TRUNCATE
    SQLITE_IOERR_FSTAT SQLITE_IOERR_UNLOCK SQLITE_IOERR_RDLOCK SQLITE_IOERR_DELETE SQLITE_IOERR_NOMEM
    SQLITE_IOERR_LOCK SQLITE_IOERR_SHMOPEN SQLITE_IOERR_SHMSIZE SQLITE_IOERR_SHMMAP SQLITE_IOERR_MMAP
    SQLITE_IOERR_GETTEMPPATH SQLITE_IOERR_CORRUPTFS SQLITE_CORRUPT_VTAB SQLITE_CORRUPT_SEQUENCE SQLITE_CORRUPT_INDEX
    SQLITE_CANTOPEN_ISDIR SQLITE_CANTOPEN_FULLPATH SQLITE_CANTOPEN_SYMLINK SQLITE_CONSTRAINT_CHECK
    SQLITE_CONSTRAINT_FOREIGNKEY SQLITE_CONSTRAINT_NOTNULL SQLITE_CONSTRAINT_PRIMARYKEY SQLITE_CONSTRAINT_TRIGGER
    SQLITE_CONSTRAINT_UNIQUE SQLITE_CONSTRAINT_ROWID SQLITE_CONSTRAINT_DATATYPE
};

/// Extended codes of primary keys, unique columns and row numbers that exist already.
const UNIQUE: [c_int; 3] = [1555, 2067, 2579];

/// Name of a code; for a code that is not in the list its primary code and number.
fn name(code: c_int) -> String {
    let find = |wanted| NAMES.iter().find(|&&(known, _)| known == wanted).map(|&(_, name)| name);
    match (find(code), find(code & 0xff)) {
        (Some(name), _) => name.to_owned(),
        (None, Some(name)) => format!("{name}, extended code {code}"),
        (None, None) => format!("code {code}"),
    }
}

/// Class of the error with a code and message.
fn kind(code: c_int, message: &str) -> ErrorKind {
    if code == ffi::SQLITE_READONLY_DBMOVED {
        // The file was renamed or removed under the session: what it would write goes nowhere.
        return ErrorKind::ConnectionLost;
    }
    match code & 0xff {
        // The index of the log could not be made larger.
        ffi::SQLITE_IOERR if code == ffi::SQLITE_IOERR_SHMSIZE => ErrorKind::Full,
        // Before 3.7.16 the message alone tells the constraint.
        ffi::SQLITE_CONSTRAINT if UNIQUE.contains(&code) || code == 19 && message.to_lowercase().contains("unique") => {
            ErrorKind::Duplicate
        }
        // A transaction or a statement of its own holds the lock, and does so at another attempt.
        ffi::SQLITE_LOCKED if code == ffi::SQLITE_LOCKED => ErrorKind::Other,
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => ErrorKind::Conflict,
        ffi::SQLITE_CONSTRAINT => ErrorKind::Constraint,
        ffi::SQLITE_FULL => ErrorKind::Full,
        ffi::SQLITE_INTERRUPT => ErrorKind::Interrupted,
        // Something else was written over a file of Bourse's.
        ffi::SQLITE_NOTADB => ErrorKind::Refused,
        ffi::SQLITE_IOERR | ffi::SQLITE_CORRUPT | ffi::SQLITE_CANTOPEN => ErrorKind::ConnectionLost,
        _ => ErrorKind::Other,
    }
}

/// Error with a code and SQLite's message for it.
pub(crate) fn error(code: c_int, message: impl Into<String>) -> EngineError {
    let mut message = message.into();
    if code == ffi::SQLITE_IOERR_SHMSIZE {
        message.push_str(": no room for the -shm file, as on a full disk");
    }
    EngineError::new(kind(code, &message), message).with_code(name(code))
}

/// SQLite's general message for a code, for errors without a connection's message.
pub(crate) fn words(library: SqliteLibrary, code: c_int) -> String {
    // SAFETY: sqlite3_errstr takes any number and returns a static text.
    let text = unsafe { CStr::from_ptr(library.sqlite3_errstr(code)) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_kind_a_program_acts_on() {
        for (code, expected) in [
            (1555, ErrorKind::Duplicate),
            (2067, ErrorKind::Duplicate),
            (5, ErrorKind::Conflict),
            (6, ErrorKind::Other),
            (262, ErrorKind::Conflict),
            (517, ErrorKind::Conflict),
            (261, ErrorKind::Conflict),
            (19, ErrorKind::Constraint),
            (787, ErrorKind::Constraint),
            (275, ErrorKind::Constraint),
            (13, ErrorKind::Full),
            (4874, ErrorKind::Full),
            (9, ErrorKind::Interrupted),
            (1034, ErrorKind::ConnectionLost),
            (11, ErrorKind::ConnectionLost),
            (26, ErrorKind::Refused),
            (1, ErrorKind::Other),
        ] {
            assert_eq!(kind(code, ""), expected, "{code}");
        }
        assert_eq!(kind(19, "PRIMARY KEY must be unique"), ErrorKind::Duplicate);
    }

    #[test]
    fn a_code_is_named() {
        assert_eq!(name(517), "SQLITE_BUSY_SNAPSHOT");
        assert_eq!(
            error(4874, "disk I/O error").message(),
            "disk I/O error: no room for the -shm file, as on a full disk"
        );
        assert_eq!(name(10 | (99 << 8)), "SQLITE_IOERR, extended code 25354");
    }
}
