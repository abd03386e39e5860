//! Connections that are lent: a private database in memory belongs to its one connection, which must outlive the
//! session that uses it.

use crate::connection::SqliteConnection;
use bourse_engine::{EngineError, Result, locked};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

/// Place of the connection of a private database in memory while no session has it.
#[derive(Debug, Default)]
pub(crate) struct SharedConnection {
    place: Mutex<ConnectionPlace>,
}

#[derive(Debug, Default)]
enum ConnectionPlace {
    /// The connection was not opened yet.
    #[default]
    Nowhere,
    Here(SqliteConnection),
    Lent,
}

impl SharedConnection {
    fn place(&self) -> MutexGuard<'_, ConnectionPlace> {
        locked(&self.place)
    }

    /// Lends the connection, which `open` creates the first time.
    ///
    /// # Errors
    /// Those of `open`; an error if another session has the connection.
    pub(crate) fn lend(self: &Arc<Self>, open: impl FnOnce() -> Result<SqliteConnection>) -> Result<LentConnection> {
        let mut place = self.place();
        let connection = match std::mem::replace(&mut *place, ConnectionPlace::Lent) {
            ConnectionPlace::Here(connection) => connection,
            ConnectionPlace::Nowhere => open().inspect_err(|_| *place = ConnectionPlace::Nowhere)?,
            ConnectionPlace::Lent => {
                return Err(EngineError::unsupported(
                    "memory=private: the database is in one session's connection, and another session has it",
                ));
            }
        };
        Ok(LentConnection { connection: ManuallyDrop::new(connection), shared_connection: Some(Arc::clone(self)) })
    }

    /// Examines the connection if no session has it.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&SqliteConnection) -> R) -> Option<R> {
        match &*self.place() {
            ConnectionPlace::Here(connection) => Some(look(connection)),
            ConnectionPlace::Nowhere | ConnectionPlace::Lent => None,
        }
    }

    /// Takes the connection back, after rolling back its transaction as closing would.
    fn take_back(&self, connection: SqliteConnection) {
        if !connection.is_autocommit() {
            // Should it fail, whoever comes next is told by the first statement.
            let _ = connection.run("ROLLBACK");
        }
        *self.place() = ConnectionPlace::Here(connection);
    }
}

/// A connection that is returned to its lender, or else closed, when this is dropped.
#[derive(Debug)]
pub(crate) struct LentConnection {
    connection: ManuallyDrop<SqliteConnection>,
    shared_connection: Option<Arc<SharedConnection>>,
}

impl From<SqliteConnection> for LentConnection {
    fn from(connection: SqliteConnection) -> Self {
        Self { connection: ManuallyDrop::new(connection), shared_connection: None }
    }
}

impl Deref for LentConnection {
    type Target = SqliteConnection;

    #[inline]
    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl Drop for LentConnection {
    fn drop(&mut self) {
        // SAFETY: it is taken out once, here, and not looked at again.
        let connection = unsafe { ManuallyDrop::take(&mut self.connection) };
        match self.shared_connection.take() {
            Some(shared_connection) => shared_connection.take_back(connection),
            None => drop(connection),
        }
    }
}
