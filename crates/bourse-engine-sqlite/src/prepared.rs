//! A connection with the statements that a session has prepared on it.

use crate::options::Begin;
use crate::shared_connection::LentConnection;
use crate::statement::SqliteStatement;
use bourse_engine::{EngineError, Result, Slots};

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
    pub(crate) fn new(connection: LentConnection, begin: Begin) -> Result<Self> {
        let prepare = |sql| {
            let (statement, _) = SqliteStatement::prepare(&connection, sql, true)?;
            Ok::<_, EngineError>(statement.expect("the text is not blank"))
        };
        Ok(Self {
            statements: Slots::default(),
            begin_read: prepare("BEGIN")?,
            begin_write: match begin {
                Begin::Immediate => prepare("BEGIN IMMEDIATE")?,
                Begin::Deferred => prepare("BEGIN")?,
                Begin::Concurrent => prepare("BEGIN CONCURRENT").map_err(|e| {
                    let why = format!("begin=concurrent takes a library of SQLite's branch begin-concurrent, and this one has no such statement: {e}");
                    EngineError::unsupported(why)
                })?,
            },
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            connection,
        })
    }
}
