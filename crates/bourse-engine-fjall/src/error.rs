//! fjall's errors as errors of the seam.

use bourse_engine::{EngineError, ErrorKind};
use std::io;

/// Error of fjall, with the kind that a program acts on.
pub(crate) fn error(e: impl Into<fjall::Error>) -> EngineError {
    match e.into() {
        fjall::Error::Io(e) | fjall::Error::Storage(fjall::LsmError::Io(e)) => of_io(&e),
        fjall::Error::Storage(e) => EngineError::new(ErrorKind::ConnectionLost, format!("tables: {e:?}")),
        fjall::Error::Poisoned => {
            EngineError::new(ErrorKind::ConnectionLost, "fjall has met an error before and takes no more writes")
        }
        fjall::Error::Locked => EngineError::new(ErrorKind::Other, "another process has it open"),
        e => EngineError::new(ErrorKind::Other, format!("{e:?}")),
    }
}

fn of_io(e: &io::Error) -> EngineError {
    let kind = match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => ErrorKind::Full,
        _ => ErrorKind::ConnectionLost,
    };
    EngineError::new(kind, e.to_string())
}

/// Error of a transaction that met a conflict with another.
#[cold]
pub(crate) fn conflict() -> EngineError {
    let text = "a transaction that committed meanwhile has written what this one has read";
    EngineError::new(ErrorKind::Conflict, text).with_code("Conflict")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_kind_a_program_acts_on() {
        let of_io = |kind: io::ErrorKind| error(fjall::Error::Io(kind.into())).kind();
        assert_eq!(of_io(io::ErrorKind::StorageFull), ErrorKind::Full);
        assert_eq!(of_io(io::ErrorKind::NotFound), ErrorKind::ConnectionLost);
        let of_table = fjall::Error::Storage(fjall::LsmError::Io(io::ErrorKind::StorageFull.into()));
        assert_eq!(error(of_table).kind(), ErrorKind::Full);
        assert_eq!(error(fjall::Error::Poisoned).kind(), ErrorKind::ConnectionLost);
        assert_eq!(error(fjall::Error::Locked).kind(), ErrorKind::Other);
        assert_eq!(conflict().kind(), ErrorKind::Conflict);
    }
}
