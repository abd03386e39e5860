//! redb's errors as errors of the seam.

use bourse_engine::{EngineError, ErrorKind};
use std::io;

/// Error of redb, with the kind that a program acts on.
pub(crate) fn error(e: impl Into<redb::Error>) -> EngineError {
    let e = e.into();
    let kind = match &e {
        redb::Error::Io(io) => match io.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => ErrorKind::Full,
            // Something else was written over a file of Bourse's.
            io::ErrorKind::InvalidData => ErrorKind::Refused,
            _ => ErrorKind::ConnectionLost,
        },
        redb::Error::PreviousIo | redb::Error::Corrupted(_) => ErrorKind::ConnectionLost,
        redb::Error::ValueTooLarge(_) => ErrorKind::Unsupported,
        _ => ErrorKind::Other,
    };
    EngineError::new(kind, e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_kind_a_program_acts_on() {
        let of_io = |kind: io::ErrorKind| error(redb::Error::Io(kind.into())).kind();
        assert_eq!(of_io(io::ErrorKind::StorageFull), ErrorKind::Full);
        assert_eq!(of_io(io::ErrorKind::InvalidData), ErrorKind::Refused);
        assert_eq!(of_io(io::ErrorKind::NotFound), ErrorKind::ConnectionLost);
        assert_eq!(error(redb::Error::PreviousIo).kind(), ErrorKind::ConnectionLost);
        assert_eq!(error(redb::Error::DatabaseAlreadyOpen).kind(), ErrorKind::Other);
    }
}
