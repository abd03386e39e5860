//! Monitoring of a node's sizes and counters.

use crate::connect::Connector;
use crate::link::Link;
use crate::status::Status;
use bourse_engine::EngineError;

/// Monitoring connection to a node.
pub(crate) struct Watcher {
    pub(crate) connection: Link,
    /// Counters of the server when the connection was opened.
    pub(crate) before: Status,
}

impl Watcher {
    pub(crate) fn of(connector: &Connector) -> Result<Self, EngineError> {
        let mut connection = connector.connect(None)?;
        let before = Status::read(&mut connection)?;
        Ok(Self { connection, before })
    }
}
