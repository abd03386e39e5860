//! A connection with the statements that a session has prepared on it.

use crate::options::Begin;
use crate::shared_connection::LentConnection;
use crate::statement::SqliteStatement;
use bourse_engine::{EngineError, Slots};

/// A connection and its statements, which are dropped before it.
pub(crate) struct PreparedConnection {
    pub(crate) statements: Slots<SqliteStatement>,
    pub(crate) begin_read: SqliteStatement,
    pub(crate) begin_write: SqliteStatement,
    pub(crate) commit: SqliteStatement,
    pub(crate) rollback: SqliteStatement,
    pub(crate) connection: LentConnection,
}

impl PreparedConnection {
    pub(crate) fn new(connection: LentConnection, begin: Begin) -> Result<Self, EngineError> {
        let prepare = |sql| {
            let (statement, _) = SqliteStatement::prepare(&connection, sql, true)?;
            Ok::<_, EngineError>(statement.expect("the text is not blank"))
        };
        Ok(Self {
            statements: Slots::default(),
            begin_read: prepare("BEGIN")?,
            begin_write: prepare(match begin {
                Begin::Immediate => "BEGIN IMMEDIATE",
                Begin::Deferred => "BEGIN",
            })?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            connection,
        })
    }
}
