use bourse_driver::Fault;
use bourse_engine::EngineError;

/// Failure to begin a run. A later failure is a [`Fault`] next to the figures.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunError {
    /// The options cannot be used, with the reason.
    #[error("{0}")]
    Options(String),
    /// The engine, or the network, refused before the first transaction.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The workload's own work before a round failed, with the reason.
    #[error("{0}")]
    Opening(String),
    /// The system under test refuses this driver, or this round.
    #[error("{0}")]
    Refused(String),
    /// Interrupted before the round began.
    #[error("interrupted before the round began")]
    Interrupted,
    /// A session or a thread could not be made.
    #[error(transparent)]
    Setup(Fault),
}

impl From<Fault> for RunError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Interrupted => Self::Interrupted,
            other => Self::Setup(other),
        }
    }
}

impl From<RunError> for Fault {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted => Self::Interrupted,
            other => Self::NotBegun { cause: other.to_string() },
        }
    }
}
