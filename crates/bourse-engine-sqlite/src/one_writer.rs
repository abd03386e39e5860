//! The one connection that makes all changes in a target with `writers=one`: the owner of the writer lock has it.
//!
//! Its page cache is never out of date, since no other connection commits. (A session that writes on a connection of
//! its own finds its cache out of date after every other session's commit, and reads the pages again.)

use crate::prepared::PreparedConnection;
use bourse_engine::locked;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Place of the connection while no session writes. Sessions hold a reference; the last of them closes it.
pub(crate) struct OneWriter(Mutex<Option<PreparedConnection>>);

impl OneWriter {
    pub(crate) fn new(prepared: PreparedConnection) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(prepared))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<PreparedConnection>> {
        locked(&self.0)
    }

    /// Takes the connection; the caller has the writer lock.
    pub(crate) fn take(&self) -> Option<PreparedConnection> {
        self.lock().take()
    }

    /// Returns the connection, before the writer lock is released.
    pub(crate) fn give_back(&self, prepared: PreparedConnection) {
        *self.lock() = Some(prepared);
    }
}

/// The one writer of an engine, for as long as a session of it is open.
#[derive(Default)]
pub(crate) struct OneWriterPlace(Mutex<Weak<OneWriter>>);

impl std::fmt::Debug for OneWriterPlace {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("OneWriterPlace")
    }
}

impl OneWriterPlace {
    /// The writer shared by all open sessions, created by `open` for the first of them.
    ///
    /// # Errors
    /// Those of `open`.
    pub(crate) fn get<E>(&self, open: impl FnOnce() -> Result<PreparedConnection, E>) -> Result<Arc<OneWriter>, E> {
        let mut place = locked(&self.0);
        if let Some(writer) = place.upgrade() {
            return Ok(writer);
        }
        let writer = OneWriter::new(open()?);
        *place = Arc::downgrade(&writer);
        Ok(writer)
    }
}
