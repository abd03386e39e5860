//! Turso's errors as errors of the seam, by their variants.

use bourse_engine::{EngineError, ErrorKind};
use turso_core::{CompletionError, LimboError};

/// Kind of an error that a program acts on, and its name.
fn known(error: &LimboError) -> (ErrorKind, &'static str) {
    use ErrorKind::{Conflict, ConnectionLost, Constraint, Duplicate, Full, Interrupted, Other, Refused};
    match error {
        LimboError::Busy => (Conflict, "Busy"),
        LimboError::BusySnapshot => (Conflict, "BusySnapshot"),
        LimboError::TableLocked => (Conflict, "TableLocked"),
        LimboError::Conflict(_) => (Conflict, "Conflict"),
        LimboError::WriteWriteConflict => (Conflict, "WriteWriteConflict"),
        LimboError::CommitDependencyAborted => (Conflict, "CommitDependencyAborted"),
        LimboError::TxTerminated => (Conflict, "TxTerminated"),
        LimboError::SchemaUpdated => (Conflict, "SchemaUpdated"),
        LimboError::SchemaConflict => (Conflict, "SchemaConflict"),
        LimboError::LockingError(_) => (Conflict, "LockingError"),
        LimboError::Constraint(words) if words.starts_with("UNIQUE") => (Duplicate, "Constraint"),
        LimboError::Constraint(_) => (Constraint, "Constraint"),
        LimboError::ForeignKeyConstraint(_) => (Constraint, "ForeignKeyConstraint"),
        LimboError::DatabaseFull => (Full, "DatabaseFull"),
        LimboError::OutOfMemory => (Full, "OutOfMemory"),
        LimboError::Interrupt => (Interrupted, "Interrupt"),
        LimboError::Corrupt(_) => (ConnectionLost, "Corrupt"),
        LimboError::NotADB => (Refused, "NotADB"),
        LimboError::CompletionError(CompletionError::IOError(kind, _)) => (of_system(*kind), "IOError"),
        #[cfg(unix)]
        LimboError::CompletionError(CompletionError::RustixIOError(errno)) => {
            (of_system(std::io::Error::from(*errno).kind()), "IOError")
        }
        LimboError::CompletionError(_) => (ConnectionLost, "CompletionError"),
        LimboError::ParseError(_) | LimboError::LexerError(_) => (Other, "ParseError"),
        LimboError::PlanningError(_) => (Other, "PlanningError"),
        LimboError::TxError(_) => (Other, "TxError"),
        LimboError::StatementsInProgress(_) => (Other, "StatementsInProgress"),
        LimboError::NoSuchTransactionID(_) => (Other, "NoSuchTransactionID"),
        LimboError::InternalError(_) => (Other, "InternalError"),
        LimboError::ReadOnly => (Other, "ReadOnly"),
        LimboError::IntegerOverflow => (Other, "IntegerOverflow"),
        LimboError::InvalidArgument(_) => (Other, "InvalidArgument"),
        _ => (Other, "Error"),
    }
}

fn of_system(kind: std::io::ErrorKind) -> ErrorKind {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    if matches!(kind, StorageFull | QuotaExceeded | FileTooLarge) { ErrorKind::Full } else { ErrorKind::ConnectionLost }
}

/// Error with Turso's text, in one line.
#[cold]
pub(crate) fn error(error: &LimboError) -> EngineError {
    let (kind, name) = known(error);
    let words = error.to_string();
    EngineError::new(kind, words.lines().next().unwrap_or_default()).with_code(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_kind_a_program_acts_on() {
        for (of, expected, code) in [
            (LimboError::Busy, ErrorKind::Conflict, "Busy"),
            (LimboError::WriteWriteConflict, ErrorKind::Conflict, "WriteWriteConflict"),
            (LimboError::Constraint("UNIQUE constraint failed: t.a".to_owned()), ErrorKind::Duplicate, "Constraint"),
            (LimboError::Constraint("x".to_owned()), ErrorKind::Constraint, "Constraint"),
            (LimboError::DatabaseFull, ErrorKind::Full, "DatabaseFull"),
            (LimboError::Interrupt, ErrorKind::Interrupted, "Interrupt"),
            (LimboError::ParseError("near x".to_owned()), ErrorKind::Other, "ParseError"),
            (
                LimboError::from(CompletionError::IOError(std::io::ErrorKind::StorageFull, "pwrite")),
                ErrorKind::Full,
                "IOError",
            ),
            (LimboError::NullValue, ErrorKind::Other, "Error"),
        ] {
            let told = error(&of);
            assert_eq!((told.kind(), told.code()), (expected, Some(code)), "{of:?}");
        }
    }
}
