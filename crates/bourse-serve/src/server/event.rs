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
        /// Numbers of checks that passed, failed and were not run; `None` if no driver was left to request them.
        checks: Option<[usize; 3]>,
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
                    (Some([passed, failed, not_run]), None) => {
                        write!(f, ", checks: {passed} passed")?;
                        let others = [(failed, "FAILED"), (not_run, "not run")].into_iter();
                        others
                            .filter(|(count, _)| **count > 0)
                            .try_for_each(|(count, what)| write!(f, ", {count} {what}"))
                    }
                    (None, None) => write!(f, ", checks not run: no driver was left"),
                }
            }
            Self::Panicked { words } => write!(f, "a transaction panicked and was rolled back: {words}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_that_were_not_run_are_not_taken_for_failed_ones() {
        let closed = |checks| {
            let (round, performed) = ("r".to_owned(), "7 transactions answered".to_owned());
            Event::Closed { round, performed, checks, error: None }.to_string()
        };
        let ended = "round r ended: 7 transactions answered, checks";
        assert_eq!(closed(Some([13, 0, 1])), format!("{ended}: 13 passed, 1 not run"));
        assert_eq!(closed(Some([13, 1, 0])), format!("{ended}: 13 passed, 1 FAILED"));
        assert_eq!(closed(None), format!("{ended} not run: no driver was left"));
    }
}
