//! Phases of a round, and why one ended early.

use crate::{Nanos, RetryPolicy, SECOND};
use bourse_record::PhaseKind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use thiserror::Error;

/// How long a round's phases last, and how patiently conflicts are retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Warm-up before the measurement interval.
    pub warm_up_ns: Nanos,
    /// The measurement interval; it ends sooner if all customers finish.
    pub measure_ns: Nanos,
    /// The longest the drain may take; what is then in flight is given up, and the round says so.
    pub drain_limit_ns: Nanos,
    /// Retries after conflicts.
    pub retry: RetryPolicy,
    /// How many operations of one user may be due and wait, where a schedule makes them due; what more comes is dropped.
    pub backlog: usize,
}

impl Default for Plan {
    /// 5 s of warm-up, 30 s of measuring, a minute for the drain, up to 10,000 operations waiting for a user.
    fn default() -> Self {
        Self {
            warm_up_ns: 5 * SECOND,
            measure_ns: 30 * SECOND,
            drain_limit_ns: 60 * SECOND,
            retry: RetryPolicy::default(),
            backlog: 10_000,
        }
    }
}

/// Why a round ended before its time.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Fault {
    /// A user got no session.
    #[error("{user} got no session: {error}")]
    Connect {
        /// Who.
        user: String,
        /// The engine's words.
        error: String,
    },
    /// A user's schedule cannot be followed.
    #[error("{user}: {error}")]
    Schedule {
        /// Whose.
        user: String,
        /// Why.
        error: crate::RateError,
    },
    /// The sessions need more open files than the system allows.
    #[error(
        "{sessions} sessions need about {needed} open files, and {limit} are allowed: {fit} sessions fit; \
         `ulimit -n` shows and sets the limit"
    )]
    OpenFiles {
        /// Sessions that were asked for.
        sessions: u64,
        /// Open files that they would need.
        needed: u64,
        /// Open files that are allowed.
        limit: u64,
        /// Sessions that fit.
        fit: u64,
    },
    /// The system refuses another thread.
    #[error("thread {number} of {of} could not be started: {error}; fewer users fit")]
    Thread {
        /// Which, counted from 1.
        number: usize,
        /// Of how many.
        of: usize,
        /// The system's words.
        error: String,
    },
    /// The caller's flag was raised while sessions were made.
    #[error("interrupted while sessions were made")]
    Interrupted,
    /// A session was lost, or the disk is full.
    #[error("{user} cannot go on after {operation} failed: {error}")]
    Lost {
        /// Whose.
        user: String,
        /// In which operation.
        operation: String,
        /// The engine's words.
        error: String,
    },
    /// A thread of ours panicked.
    #[error("{thread} panicked: {message}")]
    Panicked {
        /// Which.
        thread: String,
        /// Its last words.
        message: String,
    },
}

/// The round's phases as all threads see them: derived from the clock, so that nobody has to be told.
#[derive(Debug)]
pub struct Control {
    begin: Nanos,
    measure_from: Nanos,
    /// The planned end of the measurement interval, or the moment it was cut short.
    measure_to: AtomicU64,
    drain_limit_ns: Nanos,
    ended: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

impl Control {
    /// A round of that plan that begins at `begin`.
    pub fn new(plan: &Plan, begin: Nanos) -> Self {
        let measure_from = begin.saturating_add(plan.warm_up_ns);
        Self {
            begin,
            measure_from,
            measure_to: AtomicU64::new(measure_from.saturating_add(plan.measure_ns)),
            drain_limit_ns: plan.drain_limit_ns,
            ended: AtomicBool::new(false),
            fault: Mutex::new(None),
        }
    }

    /// The round's first moment, when everybody is seated.
    pub fn begin(&self) -> Nanos {
        self.begin
    }

    /// First moment of the measurement interval.
    pub fn measure_from(&self) -> Nanos {
        self.measure_from.min(self.measure_to())
    }

    /// First moment after the measurement interval, as far as is known now.
    pub fn measure_to(&self) -> Nanos {
        self.measure_to.load(Ordering::Relaxed)
    }

    /// Whether an operation that ended at `end` counts for the figures.
    pub fn measures(&self, end: Nanos) -> bool {
        end >= self.measure_from && end < self.measure_to()
    }

    /// The phase at `now`.
    pub fn phase(&self, now: Nanos) -> PhaseKind {
        if self.draining(now) {
            PhaseKind::Drain
        } else if now < self.measure_from {
            PhaseKind::WarmUp
        } else {
            PhaseKind::Measurement
        }
    }

    /// Whether customers are done at `now` and only work in flight is finished.
    pub fn draining(&self, now: Nanos) -> bool {
        now >= self.measure_to()
    }

    /// Whether everybody must stop at once: the round failed, or its drain outlasted its limit.
    pub fn ended(&self, now: Nanos) -> bool {
        self.ended.load(Ordering::Relaxed) || now >= self.measure_to().saturating_add(self.drain_limit_ns)
    }

    /// Ends the measurement interval at `now`, unless it has ended before: interruption, or all customers finished.
    pub fn cut(&self, now: Nanos) {
        self.measure_to.fetch_min(now, Ordering::Relaxed);
    }

    /// Ends the round at once; what was measured until `now` is kept. The first fault is the one reported.
    pub fn fail(&self, now: Nanos, fault: Fault) {
        self.fault.lock().expect("nothing panics while it holds this lock").get_or_insert(fault);
        self.ended.store(true, Ordering::Relaxed);
        self.cut(now);
    }

    /// Why the round failed, if it did.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.lock().expect("nothing panics while it holds this lock").clone()
    }
}
