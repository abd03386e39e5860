//! One operation on its session, with retries after lock conflicts.

use crate::schedule::SplitMix;
use crate::{Clock, MS, Nanos};
use bourse_engine::{EngineError, ErrorKind, Session};
use std::fmt;

/// An error that says what can be done about it.
pub trait Failure: fmt::Display {
    /// What can be done.
    fn kind(&self) -> ErrorKind;
}

impl Failure for EngineError {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

/// How patiently lock conflicts are retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Retries before the conflict counts as a failure.
    pub most: u32,
    /// Back-off before the first retry, on average; doubled with each further one.
    pub first_ns: Nanos,
    /// The longest back-off, on average.
    pub longest_ns: Nanos,
}

impl Default for RetryPolicy {
    /// Up to 50 retries, 0.1 ms to 20 ms apart: about a second in all.
    fn default() -> Self {
        Self { most: 50, first_ns: MS / 10, longest_ns: 20 * MS }
    }
}

/// What a user has to perform an operation with: its session and the clock.
pub struct Turn<'a> {
    session: &'a mut dyn Session,
    clock: &'a dyn Clock,
    policy: RetryPolicy,
    random: &'a mut SplitMix,
    retries: u32,
    back_off_ns: Nanos,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(
        session: &'a mut dyn Session,
        clock: &'a dyn Clock,
        policy: RetryPolicy,
        random: &'a mut SplitMix,
    ) -> Self {
        Self { session, clock, policy, random, retries: 0, back_off_ns: 0 }
    }

    /// The user's session.
    pub fn session(&mut self) -> &mut dyn Session {
        self.session
    }

    /// The clock.
    pub fn clock(&self) -> &'a dyn Clock {
        self.clock
    }

    /// Retries so far.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// Time spent backing off so far.
    pub fn back_off_ns(&self) -> Nanos {
        self.back_off_ns
    }

    /// Runs one database transaction, rolled back on any error and tried again after a conflict.
    ///
    /// Retries are counted for the operation in hand. `attempt` must start from the same input each time.
    ///
    /// # Errors
    /// The attempt's: of another kind than conflict, or a conflict that outlasted the policy.
    pub fn retrying<T, E: Failure>(
        &mut self,
        mut attempt: impl FnMut(&mut dyn Session, &dyn Clock) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tries = 0;
        loop {
            let error = match attempt(self.session, self.clock) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            // If even the rollback fails the next statement will say so; the first error is the one to report.
            let _ = self.session.rollback();
            if error.kind() != ErrorKind::Conflict || tries >= self.policy.most {
                return Err(error);
            }
            self.back_off(tries);
            tries += 1;
            self.retries += 1;
        }
    }

    fn back_off(&mut self, tries: u32) {
        let mean = self.policy.first_ns.saturating_mul(1 << tries.min(20)).min(self.policy.longest_ns);
        // Between half and one and a half times the mean: two that collided once must not do so in step.
        let pause = (mean as f64 * (0.5 + self.random.unit())) as Nanos;
        let from = self.clock.now();
        self.clock.sleep_until(from + pause);
        self.back_off_ns += self.clock.now() - from;
    }
}
