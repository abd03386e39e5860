use super::Transaction;
use bourse_driver::OperationError;
use bourse_engine::{EngineError, ErrorKind, Sql, one_line};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Failure of a frame.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FrameError {
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A statement found another number of rows than required: a benchmark that changes no row is fast and wrong.
    #[error("{found} rows where {wanted} was due\n  statement: {}", one_line(statement))]
    Rows {
        /// Expected number of rows.
        wanted: u64,
        /// Number of rows found.
        found: u64,
        /// The statement as written.
        statement: &'static str,
    },
}

impl FrameError {
    pub(super) fn rows(sql: &Sql, wanted: u64, found: u64) -> Self {
        Self::Rows { wanted, found, statement: sql.text() }
    }

    /// The error of inserting a row that the transaction has read as absent: if the engine refuses it as a duplicate,
    /// another transaction has inserted it since. A snapshot does not show that row, and where it is checked only against
    /// the commits of other nodes no lock prevented it. The transaction may be tried again, like after any conflict.
    #[cold]
    pub(super) fn since_read(self) -> Self {
        match self {
            Self::Engine(error) if error.kind() == ErrorKind::Duplicate => {
                let words =
                    format!("{}: another transaction has inserted it since it was read as absent", error.message());
                let code = error.code().unwrap_or_default().to_owned();
                Self::Engine(EngineError::new(ErrorKind::Conflict, words).with_code(code))
            }
            other => other,
        }
    }

    /// Kind of the error, for the program's reaction.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Engine(error) => error.kind(),
            Self::Rows { .. } => ErrorKind::Other,
        }
    }
}

/// A transaction that failed, with the frame it failed in. All its changes are rolled back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "WireError", from = "WireError")]
pub struct TxnError {
    /// The transaction.
    pub transaction: Transaction,
    /// Number of the failed frame; `None` if the transaction could not begin.
    pub frame: Option<u8>,
    /// Tries: more than one only after conflicts.
    pub attempts: u32,
    /// The frame's error.
    pub cause: FrameError,
}

impl TxnError {
    /// Kind of the error, for the program's reaction.
    pub fn kind(&self) -> ErrorKind {
        self.cause.kind()
    }
}

impl OperationError for TxnError {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

/// [`TxnError`] between processes: a wrong number of rows is an engine's error, since its statement is no text of the other
/// program.
#[derive(Serialize, Deserialize)]
struct WireError {
    transaction: Transaction,
    frame: Option<u8>,
    attempts: u32,
    cause: EngineError,
}

impl From<TxnError> for WireError {
    fn from(TxnError { transaction, frame, attempts, cause }: TxnError) -> Self {
        let cause = match cause {
            FrameError::Engine(cause) => cause,
            rows @ FrameError::Rows { .. } => EngineError::new(rows.kind(), rows.to_string()),
        };
        Self { transaction, frame, attempts, cause }
    }
}

impl From<WireError> for TxnError {
    fn from(WireError { transaction, frame, attempts, cause }: WireError) -> Self {
        Self { transaction, frame, attempts, cause: cause.into() }
    }
}

impl fmt::Display for TxnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frame {
            Some(frame) => write!(f, "{} failed in frame {frame}", self.transaction)?,
            None => write!(f, "{} could not begin", self.transaction)?,
        }
        if self.attempts > 1 {
            write!(f, " after {} attempts", self.attempts)?;
        }
        write!(f, ": {}", self.cause)
    }
}

impl std::error::Error for TxnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// An error and the frame it came from.
#[derive(Debug)]
pub(super) struct InFrame {
    pub(super) frame: u8,
    pub(super) cause: FrameError,
}

/// Adds the number of the frame to an error.
pub(super) trait WithFrame<T> {
    fn frame(self, frame: u8) -> Result<T, InFrame>;
}

impl<T> WithFrame<T> for Result<T, FrameError> {
    fn frame(self, frame: u8) -> Result<T, InFrame> {
        self.map_err(|cause| InFrame { frame, cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_the_same_in_another_process() {
        let engine = EngineError::new(ErrorKind::Conflict, "database is locked").with_code("SQLITE_BUSY");
        let causes = [
            FrameError::Engine(engine.with_statement("UPDATE x SET y = 1")),
            FrameError::Rows { wanted: 1, found: 0, statement: "SELECT  1\n FROM x" },
        ];
        for cause in causes {
            let error = TxnError { transaction: Transaction::TradeResult, frame: Some(2), attempts: 51, cause };
            let text = serde_json::to_string(&error).unwrap();
            let back: TxnError = serde_json::from_str(&text).unwrap();
            assert_eq!((back.to_string(), back.kind()), (error.to_string(), error.kind()));
        }
    }

    #[test]
    fn a_row_inserted_since_is_a_conflict_and_nothing_else_is() {
        let refused = |kind| FrameError::from(EngineError::new(kind, "refused").with_code("1062"));
        let conflict = refused(ErrorKind::Duplicate).since_read();
        assert_eq!(conflict.kind(), ErrorKind::Conflict);
        assert_eq!(
            conflict.to_string(),
            "refused: another transaction has inserted it since it was read as absent (1062)"
        );
        for kind in
            [ErrorKind::Constraint, ErrorKind::Conflict, ErrorKind::ConnectionLost, ErrorKind::Full, ErrorKind::Other]
        {
            assert_eq!(refused(kind).since_read().kind(), kind);
        }
        let sql = Sql::new("SELECT 1");
        assert_eq!(FrameError::rows(&sql, 1, 0).since_read().kind(), ErrorKind::Other);
    }
}
