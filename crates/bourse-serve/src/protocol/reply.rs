//! The result of a transaction.

use bourse_egen::txn::TradeRequest;
use bourse_engine::{EngineError, ErrorKind};
use bourse_tpce::transactions::{FrameError, Output, Transaction, TxnError};
use serde::{Deserialize, Serialize};

/// Answer of the server to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Number of retries.
    pub retries: u32,
    /// Time spent backing off between attempts, in nanoseconds.
    pub back_off_ns: u64,
    /// Orders for the market, which are committed.
    pub orders: Vec<TradeRequest>,
    /// Output, and whether a short database excuses its status; or the error.
    pub outcome: Result<(Output, bool), WireError>,
}

/// [`TxnError`] in the protocol's form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireError {
    transaction: u8,
    frame: Option<u8>,
    attempts: u32,
    kind: u8,
    message: String,
    code: Option<String>,
    statement: Option<String>,
}

const KINDS: [ErrorKind; 10] = [
    ErrorKind::Conflict,
    ErrorKind::Constraint,
    ErrorKind::ConnectionLost,
    ErrorKind::Unsupported,
    ErrorKind::Full,
    ErrorKind::Interrupted,
    ErrorKind::Other,
    ErrorKind::InDoubt,
    ErrorKind::Refused,
    ErrorKind::Denied,
];

impl From<&TxnError> for WireError {
    fn from(error: &TxnError) -> Self {
        let (message, code, statement) = match &error.cause {
            FrameError::Engine(cause) => (cause.message(), cause.code(), cause.statement()),
            FrameError::Rows { .. } => ("", None, None),
        };
        let rows = matches!(error.cause, FrameError::Rows { .. }).then(|| error.cause.to_string());
        Self {
            transaction: error.transaction as u8,
            frame: error.frame,
            attempts: error.attempts,
            kind: KINDS.iter().position(|kind| *kind == error.kind()).expect("all kinds are listed") as u8,
            message: rows.unwrap_or_else(|| message.to_owned()),
            code: code.map(str::to_owned),
            statement: statement.map(str::to_owned),
        }
    }
}

impl WireError {
    /// Converts to the error that the driver reports for a transaction of that kind.
    pub fn error(self, asked: Transaction) -> TxnError {
        let kind = KINDS.get(usize::from(self.kind)).copied().unwrap_or(ErrorKind::Other);
        let mut cause = EngineError::new(kind, self.message);
        if let Some(code) = self.code {
            cause = cause.with_code(code);
        }
        if let Some(statement) = self.statement {
            cause = cause.with_statement(&statement);
        }
        let transaction = Transaction::ALL.get(usize::from(self.transaction)).copied().unwrap_or(asked);
        TxnError { transaction, frame: self.frame, attempts: self.attempts, cause: cause.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_the_same_on_the_other_side() {
        let engine = EngineError::new(ErrorKind::Conflict, "database is locked").with_code("SQLITE_BUSY");
        let causes = [
            FrameError::Engine(engine.with_statement("UPDATE x SET y = 1")),
            FrameError::Rows { wanted: 1, found: 0, statement: "SELECT  1\n FROM x" },
        ];
        for cause in causes {
            let error = TxnError { transaction: Transaction::TradeResult, frame: Some(2), attempts: 51, cause };
            let bytes = postcard::to_allocvec(&WireError::from(&error)).unwrap();
            let back = postcard::from_bytes::<WireError>(&bytes).unwrap().error(Transaction::TradeOrder);
            assert_eq!((back.to_string(), back.kind()), (error.to_string(), error.kind()));
        }
    }
}
