//! Phases of a round, and the faults that end one early.

use crate::backlog::Stream;
use crate::{Nanos, RetryPolicy, SECOND, Schedule};
use bourse_record::{Arrivals, Counted, PhaseKind, StoppingRule};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use thiserror::Error;

/// Lengths of a round's phases, and limits of its retries and its backlog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Warm-up before the measurement interval; the longest, with a rule that may end it.
    pub warm_up_ns: Nanos,
    /// The measurement interval; it ends sooner if all customers finish, or by a rule.
    pub measure_ns: Nanos,
    /// The rule that may end warm-up and interval sooner, by what is measured.
    pub until: Option<StoppingRule>,
    /// Longest drain; work still in flight then is abandoned, with a warning.
    pub drain_limit_ns: Nanos,
    /// Retries after conflicts.
    pub retry: RetryPolicy,
    /// Most operations of one user, or of a stream that users share, that may be due and wait, where a schedule makes them
    /// due; more are dropped.
    pub backlog: usize,
}

impl Default for Plan {
    /// 5 s of warm-up, 30 s of measuring, a minute for the drain, up to 10,000 operations waiting for a user.
    fn default() -> Self {
        Self {
            warm_up_ns: 5 * SECOND,
            measure_ns: 30 * SECOND,
            until: None,
            drain_limit_ns: 60 * SECOND,
            retry: RetryPolicy::default(),
            backlog: 10_000,
        }
    }
}

/// Reason why a round could not begin, or ended early.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
pub enum Fault {
    /// A session could not be opened.
    #[error("cannot open a session for {user}: {error}")]
    Connect {
        /// The user's name.
        user: String,
        /// The engine's error.
        error: String,
    },
    /// What a user will perform cannot be prepared.
    #[error("{user} cannot prepare its statements: {error}")]
    Prepare {
        /// The user's name.
        user: String,
        /// The engine's error.
        error: String,
    },
    /// A user's schedule cannot be followed.
    #[error("{user}: {error}")]
    Schedule {
        /// The user's name.
        user: String,
        /// The reason.
        error: crate::RateError,
    },
    /// The sessions need more open files than the system allows.
    #[error(
        "{sessions} sessions need about {needed} open files, but the limit is {limit}: use at most {fit} sessions, or raise the \
         limit with `ulimit -n`"
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
    /// The system refused to start a thread.
    #[error("cannot start thread {number} of {of}: {error}; use fewer users")]
    Thread {
        /// The thread's number, from 1.
        number: usize,
        /// The number of threads to start.
        of: usize,
        /// The system's error.
        error: String,
    },
    /// The round of several processes did not begin.
    #[error("the round of several processes did not begin: {cause}")]
    NotBegun {
        /// The cause.
        cause: String,
    },
    /// The driver that coordinates the round was lost.
    #[error("driver 1, which coordinates the round, was lost: {cause}")]
    CoordinatorLost {
        /// How that was noticed.
        cause: String,
    },
    /// A fault in one process of several.
    #[error("process {number}: {fault}")]
    InProcess {
        /// The process's number, from 1.
        number: u32,
        /// The fault.
        fault: Box<Fault>,
    },
    /// Interrupted while sessions were opened.
    #[error("interrupted while sessions were opened")]
    Interrupted,
    /// A session was lost, or the disk is full.
    #[error("{user} cannot go on after {operation} failed: {error}")]
    Lost {
        /// The user's name.
        user: String,
        /// The operation that failed.
        operation: String,
        /// The engine's error.
        error: String,
    },
    /// A thread panicked.
    #[error("{thread} panicked: {message}")]
    Panicked {
        /// The thread's name.
        thread: String,
        /// The panic message.
        message: String,
    },
}

/// Phases of a round as all threads see them, derived from the clock.
#[derive(Debug)]
pub struct Control {
    begin: Nanos,
    /// The planned beginning of the measurement interval, or the moment that a rule chose.
    measure_from: AtomicU64,
    measure_ns: Nanos,
    /// The planned end of the measurement interval, or the moment it was cut short.
    measure_to: AtomicU64,
    drain_limit_ns: Nanos,
    ended: AtomicBool,
    fault: Mutex<Option<Fault>>,
    /// Arrivals that users share, once the first of them begins.
    stream: OnceLock<Stream>,
}

impl Control {
    /// Control of a round of that plan that begins at `begin`.
    pub fn new(plan: &Plan, begin: Nanos) -> Self {
        let measure_from = begin.saturating_add(plan.warm_up_ns);
        Self {
            begin,
            measure_from: AtomicU64::new(measure_from),
            measure_ns: plan.measure_ns,
            measure_to: AtomicU64::new(measure_from.saturating_add(plan.measure_ns)),
            drain_limit_ns: plan.drain_limit_ns,
            ended: AtomicBool::new(false),
            fault: Mutex::new(None),
            stream: OnceLock::new(),
        }
    }

    /// The stream of arrivals that users with this schedule share.
    pub(crate) fn stream(&self, schedule: Schedule, limit: usize) -> &Stream {
        self.stream.get_or_init(|| Stream::new(schedule.pacer(self.begin), limit))
    }

    /// Outcomes of shared arrivals that no user took; asked once, when all users have ended.
    pub(crate) fn left_in_stream(&self) -> Option<Arrivals> {
        Some(self.stream.get()?.left(self))
    }

    /// First moment of the round, when all threads have started.
    pub fn begin(&self) -> Nanos {
        self.begin
    }

    /// First moment of the measurement interval.
    pub fn measure_from(&self) -> Nanos {
        self.measure_from.load(Ordering::Relaxed).min(self.measure_to())
    }

    /// Begins the measurement interval at a moment to come, sooner than planned; it keeps its length.
    pub fn begin_measuring(&self, at: Nanos) {
        self.measure_from.fetch_min(at, Ordering::Relaxed);
        self.cut(at.saturating_add(self.measure_ns));
    }

    /// First moment after the measurement interval, as far as is known now.
    pub fn measure_to(&self) -> Nanos {
        self.measure_to.load(Ordering::Relaxed)
    }

    /// Whether a moment lies in the measurement interval.
    pub fn measures(&self, at: Nanos) -> bool {
        at >= self.measure_from.load(Ordering::Relaxed) && at < self.measure_to()
    }

    /// How an operation that was due at `due` and ended at `end` counts for the figures.
    pub fn counts(&self, due: Nanos, end: Nanos) -> Counted {
        let (from, to) = (self.measure_from.load(Ordering::Relaxed), self.measure_to());
        if end < to {
            return Counted::from(end >= from);
        }
        if due < to && from < to { Counted::UnderWay } else { Counted::Not }
    }

    /// The phase at `now`.
    pub fn phase(&self, now: Nanos) -> PhaseKind {
        if self.draining(now) {
            PhaseKind::Drain
        } else if now < self.measure_from() {
            PhaseKind::WarmUp
        } else {
            PhaseKind::Measurement
        }
    }

    /// Whether the measurement interval has ended at `now`, so that only work in flight is completed.
    pub fn draining(&self, now: Nanos) -> bool {
        now >= self.measure_to()
    }

    /// Whether all threads must stop at once: the round failed, or its drain exceeded its limit.
    pub fn ended(&self, now: Nanos) -> bool {
        self.ended.load(Ordering::Relaxed) || now >= self.measure_to().saturating_add(self.drain_limit_ns)
    }

    /// Ends the measurement interval at `now`, unless it has ended: on interruption, or when all users have finished.
    pub fn cut(&self, now: Nanos) {
        self.measure_to.fetch_min(now, Ordering::Relaxed);
    }

    /// Ends the round at once; measurements until `now` are kept. The first fault is reported.
    pub fn fail(&self, now: Nanos, fault: Fault) {
        self.fault.lock().expect("nothing panics while it holds this lock").get_or_insert(fault);
        self.ended.store(true, Ordering::Relaxed);
        self.cut(now);
    }

    /// The fault that ended the round, if one did.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.lock().expect("nothing panics while it holds this lock").clone()
    }
}
