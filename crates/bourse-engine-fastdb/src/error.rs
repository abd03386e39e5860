//! FastDB's result codes and error classes as errors of the seam.

use bourse_engine::{EngineError, ErrorKind, Result};
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};

pub(crate) const NOT_FOUND: c_int = -13;
pub(crate) const TABLE_NOT_FOUND: c_int = -15;

/// Names of `cli_result_code`.
const CODES: &[(c_int, &str)] = &[
    (-1, "cli_bad_address"),
    (-2, "cli_connection_refused"),
    (-3, "cli_database_not_found"),
    (-4, "cli_bad_statement"),
    (-5, "cli_parameter_not_found"),
    (-6, "cli_unbound_parameter"),
    (-7, "cli_column_not_found"),
    (-8, "cli_incompatible_type"),
    (-9, "cli_network_error"),
    (-10, "cli_runtime_error"),
    (-11, "cli_bad_descriptor"),
    (-12, "cli_unsupported_type"),
    (NOT_FOUND, "cli_not_found"),
    (-14, "cli_not_update_mode"),
    (TABLE_NOT_FOUND, "cli_table_not_found"),
    (-16, "cli_not_all_columns_specified"),
    (-17, "cli_not_fetched"),
    (-18, "cli_already_updated"),
    (-19, "cli_table_already_exists"),
    (-20, "cli_not_implemented"),
    (-25, "cli_xml_parse_error"),
    (-26, "cli_backup_failed"),
];

/// Descriptions of `cli_error_class`, with the kinds that a program acts on.
const CLASSES: &[(c_int, &str, ErrorKind)] = &[
    (1, "error in a query", ErrorKind::Other),
    (4, "the database cannot be opened", ErrorKind::ConnectionLost),
    (5, "error of the file", ErrorKind::ConnectionLost),
    (6, "out of memory", ErrorKind::Full),
    (7, "deadlock", ErrorKind::Conflict),
    (9, "the lock was revoked", ErrorKind::ConnectionLost),
    (10, "the database has reached its size: `size=` makes a larger one", ErrorKind::Full),
    (12, "the database is read-only", ErrorKind::Other),
    (13, "an assertion of FastDB failed", ErrorKind::ConnectionLost),
    (17, "incompatible change of the schema", ErrorKind::Other),
];

thread_local! {
    /// Last error that FastDB reported in this thread: its class and message.
    static LAST: RefCell<Option<(c_int, String)>> = const { RefCell::new(None) };
}

/// Records an error; when it returns, FastDB unwinds to the function that was called, which returns a code.
pub(crate) unsafe extern "C" fn note(class: c_int, message: *const c_char, _: c_int, _: *mut c_void) {
    let message = if message.is_null() {
        String::new()
    } else {
        // SAFETY: FastDB hands over a text that ends with a zero.
        unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
    };
    LAST.with(|last| *last.borrow_mut() = Some((class, message)));
}

/// Error for a code, with FastDB's last report in this thread.
pub(crate) fn error(code: c_int, doing: &str) -> EngineError {
    let told = LAST.with(|last| last.borrow_mut().take());
    let (kind, mut text) = match told {
        None => (ErrorKind::Other, format!("FastDB failed to {doing}")),
        Some((class, message)) => {
            let known = CLASSES.iter().find(|known| known.0 == class);
            let (words, kind) = known.map_or(("error", ErrorKind::Other), |known| (known.1, known.2));
            let message = if message.is_empty() { String::new() } else { format!(" ({message})") };
            (kind, format!("FastDB failed to {doing}: {words}{message}"))
        }
    };
    let name = CODES.iter().find(|known| known.0 == code).map(|known| known.1);
    if code == TABLE_NOT_FOUND {
        text.push_str(": no such table");
    }
    EngineError::new(kind, text).with_code(name.map_or_else(|| format!("code {code}"), str::to_owned))
}

/// Returns the code of a call, a count or a descriptor; a negative code is an error.
#[inline]
pub(crate) fn check(code: c_int, doing: &str) -> Result<c_int> {
    if code >= 0 { Ok(code) } else { Err(error(code, doing)) }
}
