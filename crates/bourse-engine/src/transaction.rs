//! State of a session's transaction, where the engine leaves it to the session.

use crate::{EngineError, ErrorKind, Result};

/// State of a session's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionState {
    /// No transaction is open.
    Idle,
    /// A transaction is open.
    Open,
    /// A statement has failed with an error of that kind, and the engine may have undone the transaction: another statement
    /// would be a transaction of its own, so that all fail until the caller rolls back.
    Failed(ErrorKind),
}

impl TransactionState {
    /// Refuses to begin a transaction within another.
    ///
    /// # Errors
    /// [`EngineError::already_open`].
    #[inline]
    pub fn refuse_open(self) -> Result<()> {
        if self == Self::Idle { Ok(()) } else { Err(EngineError::already_open()) }
    }

    /// Refuses a statement of a transaction that has failed.
    ///
    /// # Errors
    /// [`EngineError::failed_transaction`].
    #[inline]
    pub fn refuse_failed(self) -> Result<()> {
        match self {
            Self::Failed(kind) => Err(EngineError::failed_transaction(kind, false)),
            Self::Idle | Self::Open => Ok(()),
        }
    }
}
