//! Queue of writers, for engines whose writers do not wait for one another by themselves.

use crate::{EngineError, ErrorKind, Result, Wait, blocked_on, locked};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Lock of the one writer of a database in this process. The session that has it may move to another thread.
#[derive(Debug, Default)]
pub struct WriterLock {
    is_taken: Mutex<bool>,
    is_free: Condvar,
}

impl WriterLock {
    /// Waits for the lock and takes it.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if it was not released in time.
    pub fn take(&self, patience: Duration) -> Result<()> {
        let mut is_taken = locked(&self.is_taken);
        if *is_taken {
            let waited =
                blocked_on(Wait::Lock, || self.is_free.wait_timeout_while(is_taken, patience, |is_taken| *is_taken));
            is_taken = waited.unwrap_or_else(PoisonError::into_inner).0;
            if *is_taken {
                let words = format!("another session has been writing for {patience:?}");
                return Err(EngineError::new(ErrorKind::Conflict, words));
            }
        }
        *is_taken = true;
        Ok(())
    }

    /// Releases the lock.
    pub fn give_back(&self) {
        *locked(&self.is_taken) = false;
        self.is_free.notify_one();
    }
}
