//! A node asked for sizes.

use bourse_engine::EngineError;
use bourse_engine_mysql::parts::{Connector, Link, Status};

/// A connection to a node for sizes.
pub(crate) struct Watcher {
    pub(crate) connection: Link,
    /// What the server had counted before us.
    pub(crate) before: Status,
}

impl Watcher {
    pub(crate) fn of(connector: &Connector) -> Result<Self, EngineError> {
        let mut connection = connector.connect(None)?;
        let before = Status::read(&mut connection)?;
        Ok(Self { connection, before })
    }
}
