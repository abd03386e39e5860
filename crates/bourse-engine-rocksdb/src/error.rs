//! RocksDB's errors as errors of the seam.
//!
//! The C interface returns a status only as text. The part before its first colon is the status's code, in fixed words, and for
//! an I/O error the part up to the next colon is its subcode.

use bourse_engine::{EngineError, ErrorKind};

/// Code of a transaction that cannot be checked for conflicts: the memory of recent changes was released.
pub(crate) const UNCHECKED: &str = "Operation failed. Try again.";
/// Codes, with the kinds that a program acts on.
const CODES: &[(&str, ErrorKind)] = &[
    // Another transaction has changed what this one has changed or read for a change.
    ("Resource busy", ErrorKind::Conflict),
    (UNCHECKED, ErrorKind::Conflict),
    ("Operation timed out", ErrorKind::Conflict),
    ("IO error", ErrorKind::ConnectionLost),
    ("Corruption", ErrorKind::ConnectionLost),
    ("Shutdown in progress", ErrorKind::ConnectionLost),
    ("Not implemented", ErrorKind::Unsupported),
];
/// Subcode of an I/O error for a full disk.
const NO_SPACE: &str = "No space left on device";

/// Error from a status's text.
#[cold]
pub(crate) fn error(status: &str) -> EngineError {
    let mut parts = status.splitn(3, ": ");
    let code = parts.next().unwrap_or_default().trim_end_matches(':');
    let is_full = code == "IO error" && parts.next().is_some_and(|subcode| subcode == NO_SPACE);
    let known = CODES.iter().find(|(name, _)| *name == code).map_or(ErrorKind::Other, |(_, kind)| *kind);
    let kind = if is_full { ErrorKind::Full } else { known };
    EngineError::new(kind, status).with_code(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_kind_a_program_acts_on() {
        for (status, kind) in [
            ("Resource busy: ", ErrorKind::Conflict),
            ("Resource busy: Write Conflict", ErrorKind::Conflict),
            ("Operation failed. Try again.: Transaction could not check for conflicts", ErrorKind::Conflict),
            ("IO error: No space left on device: While appending to file: x/000004.log", ErrorKind::Full),
            ("IO error: While lock file: x/LOCK: Resource temporarily unavailable", ErrorKind::ConnectionLost),
            ("Corruption: block checksum mismatch", ErrorKind::ConnectionLost),
            ("Invalid argument: Resource busy: no", ErrorKind::Other),
        ] {
            assert_eq!(error(status).kind(), kind, "{status}");
        }
        assert_eq!(error("Resource busy: ").code(), Some("Resource busy"));
    }
}
