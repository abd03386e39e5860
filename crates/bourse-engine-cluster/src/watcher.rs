//! Monitoring of a node's sizes and counters.

use bourse_engine::EngineError;
use bourse_engine_mysql::parts::{Connector, Link, Status};

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
