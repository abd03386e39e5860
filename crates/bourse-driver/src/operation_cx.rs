//! Context of one operation: its connection, and retries after lock conflicts.

use crate::{Clock, MS, Nanos, SECOND};
use bourse_engine::{Connection, EngineError, ErrorKind, Wait, blocked_on, server_wait};
use bourse_record::SplitMix;
use std::cell::{Cell, OnceCell};
use std::fmt;

/// An error whose kind determines whether the driver retries.
pub trait OperationError: fmt::Display {
    /// Kind of the error.
    fn kind(&self) -> ErrorKind;
}

impl OperationError for EngineError {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}

/// Limits of retries after lock conflicts, and of the pauses between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Retries before the conflict counts as a failure.
    pub retries: u32,
    /// Mean back-off before the first retry; doubled with each further one.
    pub first_ns: Nanos,
    /// Maximum of the mean back-off.
    pub longest_ns: Nanos,
}

impl Default for RetryPolicy {
    /// Up to 50 retries, 0.1 ms to 20 ms apart: about a second in all.
    fn default() -> Self {
        Self { retries: 50, first_ns: MS / 10, longest_ns: 20 * MS }
    }
}

/// Context of one operation: the user's connection, the clock, retries.
pub struct OperationCx<'a> {
    /// The user's connection.
    pub connection: &'a mut Connection,
    /// The clock, and the pauses between retries.
    pub backoff: Backoff<'a>,
}

impl<'a> OperationCx<'a> {
    pub(crate) fn new(
        connection: &'a mut Connection,
        clock: &'a dyn Clock,
        policy: RetryPolicy,
        random: &'a Cell<SplitMix>,
    ) -> Self {
        Self { connection, backoff: Backoff::new(clock, policy, random) }
    }

    /// The clock.
    pub fn clock(&self) -> &'a dyn Clock {
        self.backoff.clock
    }

    /// Runs one database transaction, rolled back on any error and retried after a conflict.
    ///
    /// `attempt` must start from the same input each time.
    ///
    /// # Errors
    /// That of the last attempt: of another kind than conflict, or a conflict after the last retry.
    pub fn retrying<T, E: OperationError>(
        &mut self,
        mut attempt: impl FnMut(&mut Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.backoff.retrying(|| {
            // If even the rollback fails the next statement will say so; the first error is the one to report.
            attempt(self.connection).inspect_err(|_| drop(self.connection.rollback()))
        })
    }
}

/// Pauses between attempts of one operation, and the count of retries.
///
/// It is independent of the session, so that it can be lent to code that has the session already.
pub struct Backoff<'a> {
    clock: &'a dyn Clock,
    policy: RetryPolicy,
    random: &'a Cell<SplitMix>,
    retries: Cell<u32>,
    back_off_ns: Cell<Nanos>,
    /// Time of the first conflict.
    conflict_since: OnceCell<Nanos>,
}

impl<'a> Backoff<'a> {
    /// Backoff for one operation; the lengths of its pauses are drawn from `random`.
    pub fn new(clock: &'a dyn Clock, policy: RetryPolicy, random: &'a Cell<SplitMix>) -> Self {
        Self {
            clock,
            policy,
            random,
            retries: Cell::new(0),
            back_off_ns: Cell::new(0),
            conflict_since: OnceCell::new(),
        }
    }

    /// The clock.
    pub fn clock(&self) -> &'a dyn Clock {
        self.clock
    }

    /// Maximum number of attempts of a transaction, the first included.
    pub fn attempts(&self) -> u32 {
        self.policy.retries.saturating_add(1)
    }

    /// Repeats an attempt after conflicts, with pauses in between. `attempt` rolls back before it returns an error.
    ///
    /// # Errors
    /// That of the last attempt: of another kind than conflict, or a conflict after the last retry.
    pub fn retrying<T, E: OperationError>(&self, mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
        let mut attempts = 1;
        loop {
            match attempt() {
                Err(error)
                    if error.kind() == ErrorKind::Conflict
                        && attempts < self.attempts()
                        && self.back_off(attempts + 1) =>
                {
                    attempts += 1;
                }
                ended => return ended,
            }
        }
    }

    /// Pauses before attempt number `attempt` (2, 3, …), counts it as a retry, and returns whether it may be made: after an
    /// interruption of the program conflicts that go on for longer than three seconds end the operation, since each attempt may
    /// wait long for a lock.
    pub fn back_off(&self, attempt: u32) -> bool {
        let from = self.clock.now();
        let since = *self.conflict_since.get_or_init(|| from);
        if from - since > 3 * SECOND && server_wait::is_interrupted() {
            return false;
        }
        let doubled = attempt.saturating_sub(2).min(20);
        let mean = self.policy.first_ns.saturating_mul(1 << doubled).min(self.policy.longest_ns);
        let mut random = self.random.take();
        // Between half and one and a half times the mean: two that collided once must not do so in step.
        let pause = (mean as f64 * (0.5 + random.unit())) as Nanos;
        self.random.set(random);
        blocked_on(Wait::BackOff, || self.clock.sleep_until(from + pause));
        self.back_off_ns.set(self.back_off_ns.get() + (self.clock.now() - from));
        self.retries.set(self.retries.get() + 1);
        true
    }

    /// Adds retries that another process made, with its pauses between them.
    pub fn note(&self, retries: u32, back_off_ns: Nanos) {
        self.retries.set(self.retries.get() + retries);
        self.back_off_ns.set(self.back_off_ns.get() + back_off_ns);
    }

    /// Number of retries so far.
    pub fn retries(&self) -> u32 {
        self.retries.get()
    }

    /// Time spent in pauses so far.
    pub fn back_off_ns(&self) -> Nanos {
        self.back_off_ns.get()
    }
}
