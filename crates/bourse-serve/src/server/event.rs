use crate::Peer;
use std::fmt;

/// What the server tells of itself, a line each.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Somebody was not let in, or was sent away.
    Refused {
        /// Who.
        from: Peer,
        /// Why.
        why: String,
    },
    /// A driver has taken its place and waits for the others.
    Joined {
        /// Who.
        from: Peer,
        /// Which driver.
        number: u32,
        /// Of how many.
        of: u32,
    },
    /// All drivers of a round have come, and it begins.
    Opened {
        /// Its name.
        round: String,
        /// How many drivers.
        of: u32,
    },
    /// A driver went away before the end.
    Vanished {
        /// Who.
        from: Peer,
        /// Which driver.
        number: u32,
        /// Of how many.
        of: u32,
        /// How it showed.
        why: String,
    },
    /// A round is over.
    Closed {
        /// Its name.
        round: String,
        /// Trade-Results that were committed.
        results: u64,
        /// Checks that passed, and all; none were run if no driver was left.
        checks: Option<(usize, usize)>,
        /// Why they could not be run.
        error: Option<String>,
    },
    /// A transaction of ours panicked; its session was given up.
    Panicked {
        /// Its last words.
        words: String,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { from, why } => write!(f, "{from} was sent away: {why}"),
            Self::Joined { from, number, of } => write!(f, "driver {number}/{of} joined from {from}"),
            Self::Opened { round, of: 1 } => write!(f, "round {round} begins"),
            Self::Opened { round, of } => write!(f, "round {round} begins with {of} drivers"),
            Self::Vanished { from, number, of, why } => write!(f, "driver {number}/{of} at {from} vanished: {why}"),
            Self::Closed { round, results, checks, error } => {
                write!(f, "round {round} is over: {results} Trade-Results committed")?;
                match (checks, error) {
                    (_, Some(error)) => write!(f, ", the checks could not be run: {error}"),
                    (Some((passed, all)), None) => write!(f, ", {passed} of {all} checks passed"),
                    (None, None) => write!(f, ", no driver was left to ask for checks"),
                }
            }
            Self::Panicked { words } => write!(f, "a transaction panicked and was rolled back: {words}"),
        }
    }
}
