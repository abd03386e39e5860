//! DuckDB's errors as errors of the seam.

use crate::library::{DuckDbApi, LibraryHandle};
use bourse_engine::{EngineError, ErrorKind};
use std::ffi::{CStr, c_char, c_int};

/// Kinds of errors (`duckdb_error_type`): those that a program acts on, and those with a name for people.
const ERRORS: &[(c_int, &str, ErrorKind)] = &[
    (2, "conversion", ErrorKind::Other),
    (10, "transaction", ErrorKind::Conflict),
    (11, "not implemented", ErrorKind::Unsupported),
    (13, "catalog", ErrorKind::Other),
    (14, "parser", ErrorKind::Other),
    (18, "constraint", ErrorKind::Constraint),
    (24, "binder", ErrorKind::Other),
    (28, "io", ErrorKind::Other),
    (29, "interrupt", ErrorKind::Interrupted),
    // The database is shut down until it is opened anew.
    (30, "fatal", ErrorKind::ConnectionLost),
    (33, "out of memory", ErrorKind::Full),
    (43, "data corruption", ErrorKind::ConnectionLost),
];

/// Error of a kind, with DuckDB's text.
#[cold]
pub(crate) fn error(number: c_int, words: &str) -> EngineError {
    let known = ERRORS.iter().find(|(known, _, _)| *known == number);
    // The lines after the first repeat the statement.
    let words = words.lines().next().unwrap_or_default();
    let kind = match known.map_or(ErrorKind::Other, |(_, _, kind)| *kind) {
        ErrorKind::Constraint if words.to_lowercase().contains("duplicate key") => ErrorKind::Duplicate,
        kind => kind,
    };
    let error = EngineError::new(kind, words);
    match known {
        Some((_, name, _)) => error.with_code(*name),
        None => error.with_code(number.to_string()),
    }
}

/// Error text of the library, or a placeholder if it is null.
///
/// # Safety
/// `text` must be null or a valid C string.
pub(crate) unsafe fn words(text: *const c_char) -> String {
    if text.is_null() {
        return "an error without words".to_owned();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Error of an appender.
///
/// # Safety
/// `appender` must be an appender of that library.
#[cold]
pub(crate) unsafe fn appender_error(api: &DuckDbApi, appender: LibraryHandle) -> EngineError {
    // SAFETY: as the caller promises; the data must be destroyed here, after its text was copied.
    unsafe {
        let mut data = (api.appender_error)(appender);
        let told = error((api.error_type)(data), &words((api.error_message)(data)));
        (api.destroy_error)(&mut data);
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_kind_a_program_acts_on() {
        for (number, expected) in [
            (10, ErrorKind::Conflict),
            (18, ErrorKind::Constraint),
            (29, ErrorKind::Interrupted),
            (30, ErrorKind::ConnectionLost),
            (14, ErrorKind::Other),
            (99, ErrorKind::Other),
        ] {
            assert_eq!(error(number, "words").kind(), expected, "{number}");
        }
        let told = error(18, "Constraint Error: Duplicate key \"n: 4\" violates primary key constraint.");
        assert_eq!(told.kind(), ErrorKind::Duplicate);
        let told = error(14, "Parser Error: syntax error\n\nLINE 1: selekt");
        assert_eq!((told.message(), told.code()), ("Parser Error: syntax error", Some("parser")));
        assert_eq!(error(99, "").code(), Some("99"));
    }
}
