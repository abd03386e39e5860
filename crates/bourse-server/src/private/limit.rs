//! Limit of the time that servers have for their start.

use bourse_engine::Result;
use bourse_engine::server_wait::Interruption;
use std::time::{Duration, Instant};

/// Limit of a start, for all its steps together: a time, and an interruption.
///
/// The start of a server on its existing data after an interruption puts something in order, and is not ended by that one. A new
/// server has nothing that could be put in order.
#[derive(Debug, Clone, Copy)]
pub struct StartLimit {
    time: Duration,
    until: Instant,
    interruption: Interruption,
}

impl StartLimit {
    /// Limit of a start of new servers that begins now.
    pub fn of_new(time: Duration) -> Self {
        Self { time, until: Instant::now() + time, interruption: Interruption::ANY }
    }

    /// Limit of a start on existing data that begins now.
    pub fn again(time: Duration) -> Self {
        Self { interruption: Interruption::from_now(), ..Self::of_new(time) }
    }

    /// Limit of the same start with a new time, which begins now.
    #[must_use]
    pub fn renewed(self) -> Self {
        Self { until: Instant::now() + self.time, ..self }
    }

    /// End of its time.
    pub fn until(self) -> Instant {
        self.until
    }

    /// Fails if an interruption ends the start; called between its steps, and while a step waits.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](bourse_engine::ErrorKind::Interrupted).
    pub fn check(self) -> Result<()> {
        self.interruption.check("the private server was not started, and its folder is removed")
    }
}
