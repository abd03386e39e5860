//! A connection with the statements that a session has prepared on it.

use crate::options::Begin;
use crate::shared_connection::LentConnection;
use crate::statement::Statement;
use bourse_engine::EngineError;

/// A connection and its statements, which are dropped before it.
pub(crate) struct Prepared {
    pub(crate) statements: Vec<Option<Statement>>,
    pub(crate) begin_read: Statement,
    pub(crate) begin_write: Statement,
    pub(crate) commit: Statement,
    pub(crate) rollback: Statement,
    pub(crate) connection: LentConnection,
}

impl Prepared {
    pub(crate) fn new(connection: LentConnection, begin: Begin) -> Result<Self, EngineError> {
        let prepare = |sql| {
            let (statement, _) = Statement::prepare(&connection, sql, true)?;
            Ok::<_, EngineError>(statement.expect("the text is not blank"))
        };
        Ok(Self {
            statements: Vec::new(),
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

    /// The prepared statement, if it exists.
    #[inline]
    pub(crate) fn statement(&self, slot: usize) -> Option<&Statement> {
        self.statements.get(slot)?.as_ref()
    }
}
