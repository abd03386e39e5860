use crate::Peer;
use std::fmt;

/// Event of the server, printed as one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Refusal or closing of a connection.
    Refused {
        /// Other end of the connection.
        from: Peer,
        /// Reason.
        why: String,
    },
    /// Joining of a driver, which waits for the others.
    Joined {
        /// Other end of the connection.
        from: Peer,
        /// Number of the driver, from 1.
        number: u32,
        /// Number of drivers of the round.
        of: u32,
    },
    /// Beginning of a round that all drivers have joined.
    Opened {
        /// Name of the round.
        round: String,
        /// Number of drivers of the round.
        of: u32,
    },
    /// Loss of a driver before the round ended.
    Vanished {
        /// Other end of the connection.
        from: Peer,
        /// Number of the driver, from 1.
        number: u32,
        /// Number of drivers of the round.
        of: u32,
        /// Sign by which the loss was noticed.
        why: String,
    },
    /// End of a round.
    Closed {
        /// Name of the round.
        round: String,
        /// Transactions performed in the round, as words of its workload.
        performed: String,
        /// Number of checks passed and of checks run; `None` if no driver was left to request them.
        checks: Option<(usize, usize)>,
        /// Error that prevented the checks.
        error: Option<String>,
    },
    /// Panic of a transaction; its session was closed.
    Panicked {
        /// Panic message.
        words: String,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { from, why } => write!(f, "refused {from}: {why}"),
            Self::Joined { from, number, of } => write!(f, "driver {number}/{of} joined from {from}"),
            Self::Opened { round, of: 1 } => write!(f, "round {round} begins"),
            Self::Opened { round, of } => write!(f, "round {round} begins with {of} drivers"),
            Self::Vanished { from, number, of, why } => write!(f, "lost driver {number}/{of} at {from}: {why}"),
            Self::Closed { round, performed, checks, error } => {
                write!(f, "round {round} ended: {performed}")?;
                match (checks, error) {
                    (_, Some(error)) => write!(f, ", checks not run: {error}"),
                    (Some((passed, all)), None) => write!(f, ", {passed} of {all} checks passed"),
                    (None, None) => write!(f, ", checks not run: no driver was left"),
                }
            }
            Self::Panicked { words } => write!(f, "a transaction panicked and was rolled back: {words}"),
        }
    }
}
