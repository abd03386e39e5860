//! Conversion of SQLite's result codes to engine errors.

use crate::ffi::{self, SqliteLibrary};
use bourse_engine::{EngineError, ErrorKind};
use std::ffi::{CStr, c_int};

/// The extended codes a benchmark can meet, by name.
static NAMES: &[(c_int, &str)] = &[
    (1, "SQLITE_ERROR"),
    (2, "SQLITE_INTERNAL"),
    (3, "SQLITE_PERM"),
    (4, "SQLITE_ABORT"),
    (5, "SQLITE_BUSY"),
    (6, "SQLITE_LOCKED"),
    (7, "SQLITE_NOMEM"),
    (8, "SQLITE_READONLY"),
    (9, "SQLITE_INTERRUPT"),
    (10, "SQLITE_IOERR"),
    (11, "SQLITE_CORRUPT"),
    (12, "SQLITE_NOTFOUND"),
    (13, "SQLITE_FULL"),
    (14, "SQLITE_CANTOPEN"),
    (15, "SQLITE_PROTOCOL"),
    (17, "SQLITE_SCHEMA"),
    (18, "SQLITE_TOOBIG"),
    (19, "SQLITE_CONSTRAINT"),
    (20, "SQLITE_MISMATCH"),
    (21, "SQLITE_MISUSE"),
    (23, "SQLITE_AUTH"),
    (25, "SQLITE_RANGE"),
    (26, "SQLITE_NOTADB"),
    (261, "SQLITE_BUSY_RECOVERY"),
    (517, "SQLITE_BUSY_SNAPSHOT"),
    (773, "SQLITE_BUSY_TIMEOUT"),
    (262, "SQLITE_LOCKED_SHAREDCACHE"),
    (516, "SQLITE_ABORT_ROLLBACK"),
    (264, "SQLITE_READONLY_RECOVERY"),
    (520, "SQLITE_READONLY_CANTLOCK"),
    (776, "SQLITE_READONLY_ROLLBACK"),
    (1032, "SQLITE_READONLY_DBMOVED"),
    (1288, "SQLITE_READONLY_CANTINIT"),
    (1544, "SQLITE_READONLY_DIRECTORY"),
    (266, "SQLITE_IOERR_READ"),
    (522, "SQLITE_IOERR_SHORT_READ"),
    (778, "SQLITE_IOERR_WRITE"),
    (1034, "SQLITE_IOERR_FSYNC"),
    (1290, "SQLITE_IOERR_DIR_FSYNC"),
    (1546, "SQLITE_IOERR_TRUNCATE"),
    (1802, "SQLITE_IOERR_FSTAT"),
    (2058, "SQLITE_IOERR_UNLOCK"),
    (2314, "SQLITE_IOERR_RDLOCK"),
    (2570, "SQLITE_IOERR_DELETE"),
    (3082, "SQLITE_IOERR_NOMEM"),
    (3850, "SQLITE_IOERR_LOCK"),
    (4618, "SQLITE_IOERR_SHMOPEN"),
    (4874, "SQLITE_IOERR_SHMSIZE"),
    (5386, "SQLITE_IOERR_SHMMAP"),
    (6154, "SQLITE_IOERR_MMAP"),
    (6410, "SQLITE_IOERR_GETTEMPPATH"),
    (8458, "SQLITE_IOERR_CORRUPTFS"),
    (267, "SQLITE_CORRUPT_VTAB"),
    (523, "SQLITE_CORRUPT_SEQUENCE"),
    (779, "SQLITE_CORRUPT_INDEX"),
    (526, "SQLITE_CANTOPEN_ISDIR"),
    (782, "SQLITE_CANTOPEN_FULLPATH"),
    (1550, "SQLITE_CANTOPEN_SYMLINK"),
    (275, "SQLITE_CONSTRAINT_CHECK"),
    (787, "SQLITE_CONSTRAINT_FOREIGNKEY"),
    (1299, "SQLITE_CONSTRAINT_NOTNULL"),
    (1555, "SQLITE_CONSTRAINT_PRIMARYKEY"),
    (1811, "SQLITE_CONSTRAINT_TRIGGER"),
    (2067, "SQLITE_CONSTRAINT_UNIQUE"),
    (2579, "SQLITE_CONSTRAINT_ROWID"),
    (3091, "SQLITE_CONSTRAINT_DATATYPE"),
];

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

/// SQLITE_IOERR_SHMSIZE.
const SHMSIZE: c_int = 4_874;

/// Class of the error with a code and message.
fn kind(code: c_int, message: &str) -> ErrorKind {
    if code == ffi::SQLITE_READONLY_DBMOVED {
        // The file was renamed or removed under the session: what it would write goes nowhere.
        return ErrorKind::ConnectionLost;
    }
    match code & 0xff {
        // The index of the log could not be made larger.
        _ if code == SHMSIZE => ErrorKind::Full,
        // Before 3.7.16 the message alone tells the constraint.
        ffi::SQLITE_CONSTRAINT if UNIQUE.contains(&code) || code == 19 && message.to_lowercase().contains("unique") => {
            ErrorKind::Duplicate
        }
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => ErrorKind::Conflict,
        ffi::SQLITE_CONSTRAINT => ErrorKind::Constraint,
        ffi::SQLITE_FULL => ErrorKind::Full,
        ffi::SQLITE_INTERRUPT => ErrorKind::Interrupted,
        ffi::SQLITE_IOERR | ffi::SQLITE_CORRUPT | ffi::SQLITE_CANTOPEN | ffi::SQLITE_NOTADB => {
            ErrorKind::ConnectionLost
        }
        _ => ErrorKind::Other,
    }
}

/// Error with a code and SQLite's message for it.
pub(crate) fn error(code: c_int, message: impl Into<String>) -> EngineError {
    let mut message = message.into();
    if code == SHMSIZE {
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
            (6, ErrorKind::Conflict),
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
