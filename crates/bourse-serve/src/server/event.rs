use crate::Peer;
use std::fmt;

/// Event of the server, printed as one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A connection was refused or closed.
    Refused {
        /// The other end of the connection.
        from: Peer,
        /// The reason.
        why: String,
    },
    /// A driver joined a round and waits for the others.
    Joined {
        /// The other end of the connection.
        from: Peer,
        /// The driver's number, from 1.
        number: u32,
        /// The number of drivers of the round.
        of: u32,
    },
    /// All drivers of a round have joined, and it begins.
    Opened {
        /// The round's name.
        round: String,
        /// The number of drivers of the round.
        of: u32,
    },
    /// A driver was lost before the round ended.
    Vanished {
        /// The other end of the connection.
        from: Peer,
        /// The driver's number, from 1.
        number: u32,
        /// The number of drivers of the round.
        of: u32,
        /// How the loss was noticed.
        why: String,
    },
    /// A round ended.
    Closed {
        /// The round's name.
        round: String,
        /// Trade-Results committed in the round.
        results: u64,
        /// Number of checks passed and of checks run; `None` if no driver was left to ask for them.
        checks: Option<(usize, usize)>,
        /// The error that kept the checks from running.
        error: Option<String>,
    },
    /// A transaction panicked; its session was closed.
    Panicked {
        /// The panic message.
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
            Self::Closed { round, results, checks, error } => {
                write!(f, "round {round} ended: {results} Trade-Results committed")?;
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
