//! The result of a transaction.

use bourse_egen::txn::TradeRequest;
use bourse_engine::EngineError;
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

/// [`TxnError`] in the protocol's form: a wrong number of rows is an engine's error, since its statement is no text of the
/// driver's program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireError {
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

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::ErrorKind;

    #[test]
    fn an_error_reads_the_same_on_the_other_side() {
        let engine = EngineError::new(ErrorKind::Conflict, "database is locked").with_code("SQLITE_BUSY");
        let causes = [
            FrameError::Engine(engine.with_statement("UPDATE x SET y = 1")),
            FrameError::Rows { wanted: 1, found: 0, statement: "SELECT  1\n FROM x" },
        ];
        for cause in causes {
            let error = TxnError { transaction: Transaction::TradeResult, frame: Some(2), attempts: 51, cause };
            let bytes = postcard::to_allocvec(&WireError::from(error.clone())).unwrap();
            let back = TxnError::from(postcard::from_bytes::<WireError>(&bytes).unwrap());
            assert_eq!((back.to_string(), back.kind()), (error.to_string(), error.kind()));
        }
    }
}
