//! Number of sessions that a server accepts.

use bourse_engine::{EngineError, ErrorKind, Result};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A server's limit of connections, and their present use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The server's name for the limit, as `max_connections`.
    pub name: &'static str,
    /// Maximal number of open connections.
    pub most: u64,
    /// Connections reserved for other users, as superusers.
    pub reserved: u64,
    /// Connections that are open.
    pub open: u64,
}

impl ConnectionLimits {
    /// Refuses more sessions than are free.
    ///
    /// # Errors
    /// An error with the server's numbers, and `advice` for what to try; `advice` gets the limit that would suffice.
    pub fn check(&self, wanted: usize, advice: impl FnOnce(u64) -> String) -> Result<()> {
        let Self { name, most, reserved, open } = *self;
        let wanted = wanted as u64;
        if wanted <= most.saturating_sub(reserved).saturating_sub(open) {
            return Ok(());
        }
        let advice = advice(wanted.saturating_add(reserved).saturating_add(open));
        let message = format!(
            "{wanted} sessions are too many for the server: its {name} is {most}, of which {reserved} are reserved and {open} in \
             use; {advice}"
        );
        Err(EngineError::new(ErrorKind::Other, message))
    }
}

/// Number of announced sessions, until it is compared with the server's limit.
#[derive(Debug, Default)]
pub struct AnnouncedSessions(AtomicUsize);

impl AnnouncedSessions {
    /// Records the number of sessions that will be opened.
    pub fn note(&self, sessions: usize) {
        self.0.store(sessions, Ordering::Relaxed);
    }

    /// Number of sessions announced since the last call; `None` if none were.
    pub fn take(&self) -> Option<usize> {
        Some(self.0.swap(0, Ordering::Relaxed)).filter(|sessions| *sessions > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_taken_and_no_more() {
        let limits = ConnectionLimits { name: "max_connections", most: 20, reserved: 3, open: 2 };
        let check = |wanted| limits.check(wanted, |enough| format!("{enough} would do"));
        assert!(check(15).is_ok());
        let refused = check(16).unwrap_err();
        assert_eq!(
            refused.message(),
            "16 sessions are too many for the server: its max_connections is 20, of which 3 are reserved and 2 in use; 21 would do"
        );
        assert!(ConnectionLimits { open: 40, ..limits }.check(1, |_| String::new()).is_err());
    }

    #[test]
    fn an_announcement_is_taken_once() {
        let announced = AnnouncedSessions::default();
        assert_eq!(announced.take(), None);
        announced.note(7);
        assert_eq!((announced.take(), announced.take()), (Some(7), None));
    }
}
