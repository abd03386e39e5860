//! Phases of a round, and the faults that end one early.

use crate::backlog::ArrivalStream;
use crate::{Nanos, RetryPolicy, SECOND, Schedule};
use bourse_engine::{EngineError, ErrorKind};
use bourse_record::{Arrivals, PageCache, PhaseKind, SampleInclusion, StoppingRule};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use thiserror::Error;

/// Lengths of a round's phases, and limits of its retries and its backlog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundPlan {
    /// Warm-up before the measurement interval; a maximum if a rule may end it.
    pub warm_up_ns: Nanos,
    /// Measurement interval; ends sooner if all customers finish, or by a rule.
    pub measure_ns: Nanos,
    /// Rule that may end warm-up and interval early, by what is measured.
    pub until: Option<StoppingRule>,
    /// Maximum drain; work still in flight then is abandoned, with a warning.
    pub drain_limit_ns: Nanos,
    /// Retries after conflicts.
    pub retry: RetryPolicy,
    /// Maximum number of operations due and waiting, for one user or for a stream that users share; further ones are
    /// dropped.
    pub backlog: usize,
    /// Whether other processes run the rest of the round, which has a figure even if nothing ends in this part.
    pub is_part: bool,
    /// Whether each call of a session is timed, for figures by statement.
    pub statements: bool,
    /// Page cache that the round begins with; `None` leaves it as it is.
    pub page_cache: Option<PageCache>,
}

impl Default for RoundPlan {
    /// 5 s of warm-up, 30 s of measurement, a minute for the drain, up to 10,000 operations waiting for a user.
    fn default() -> Self {
        Self {
            warm_up_ns: 5 * SECOND,
            measure_ns: 30 * SECOND,
            until: None,
            drain_limit_ns: 60 * SECOND,
            retry: RetryPolicy::default(),
            backlog: 10_000,
            is_part: false,
            statements: false,
            page_cache: None,
        }
    }
}

/// Reason that a round could not begin, or ended early.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Fault {
    /// A session cannot be opened.
    #[error("cannot open a session for {user}: {error}")]
    Connect {
        /// Name of the user.
        user: String,
        /// Error of the engine.
        error: String,
    },
    /// The operations of a user cannot be prepared.
    #[error("{user} cannot prepare its statements: {error}")]
    Prepare {
        /// Name of the user.
        user: String,
        /// Error of the engine.
        error: String,
    },
    /// The schedule of a user is invalid.
    #[error("{user}: {error}")]
    Schedule {
        /// Name of the user.
        user: String,
        /// Reason that it is invalid.
        error: crate::RateError,
    },
    /// The sessions need more open files than the system allows.
    #[error(
        "{sessions} sessions need about {needed} open files, but the limit is {limit}: use at most {fit} sessions, or raise the \
         limit with `ulimit -n`"
    )]
    OpenFiles {
        /// Sessions requested.
        sessions: u64,
        /// Open files needed by them.
        needed: u64,
        /// Limit of open files.
        limit: u64,
        /// Sessions within the limit.
        fit: u64,
    },
    /// The system refused to start a thread.
    #[error("cannot start thread {number} of {of}: {error}; use fewer users")]
    Thread {
        /// Number of the thread, from 1.
        number: usize,
        /// Number of threads to start.
        of: usize,
        /// Error of the system.
        error: String,
    },
    /// The round of several processes did not begin.
    #[error("the round of several processes did not begin: {cause}")]
    NotBegun {
        /// Cause.
        cause: String,
    },
    /// The driver that coordinates the round was lost.
    #[error("{who}, which coordinates the round, was lost: {cause}")]
    CoordinatorLost {
        /// The driver, in words.
        who: &'static str,
        /// Sign of the loss.
        cause: String,
    },
    /// The run was interrupted while sessions were opened.
    #[error("interrupted while sessions were opened")]
    Interrupted,
    /// A session was lost, the disk is full, or the database holds what Bourse did not make.
    #[error("{user} cannot go on after {operation} failed: {error}")]
    Lost {
        /// Name of the user.
        user: String,
        /// Operation that failed.
        operation: String,
        /// Kind of the engine's error.
        kind: ErrorKind,
        /// Error of the engine.
        error: String,
    },
    /// A thread panicked.
    #[error("{thread} panicked: {message}")]
    Panicked {
        /// Name of the thread.
        thread: String,
        /// Message of the panic.
        message: String,
    },
}

impl Fault {
    /// Whether the engine refused what it found in the database, and has not failed itself.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Lost { kind: ErrorKind::Refused, .. })
    }

    /// The fault of a session that cannot be opened.
    pub(crate) fn connect(user: &str, error: &EngineError) -> Self {
        match error.kind() {
            ErrorKind::Interrupted => Self::Interrupted,
            _ => Self::Connect { user: user.to_owned(), error: error.to_string() },
        }
    }
}

/// Phases of a round as all threads see them, derived from the clock.
#[derive(Debug)]
pub struct RoundControl {
    begin: Nanos,
    /// Planned start of the measurement interval, or the moment that a rule chose.
    measure_from: AtomicU64,
    measure_ns: Nanos,
    /// Planned end of the measurement interval, or the moment at which it was cut short.
    measure_to: AtomicU64,
    drain_limit_ns: Nanos,
    ended: AtomicBool,
    fault: Mutex<Option<Fault>>,
    /// Arrivals that users share; set when the first of them begins.
    stream: OnceLock<ArrivalStream>,
}

impl RoundControl {
    /// Control of a round with that plan that begins at `begin`.
    pub fn new(plan: &RoundPlan, begin: Nanos) -> Self {
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
    pub(crate) fn stream(&self, schedule: Schedule, limit: usize) -> &ArrivalStream {
        self.stream.get_or_init(|| ArrivalStream::new(schedule.pacer(self.begin), limit))
    }

    /// Outcomes of shared arrivals that no user took; read once, after all users have ended.
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

    /// Begins the measurement interval at a future moment, sooner than planned; its length does not change.
    pub fn begin_measuring(&self, at: Nanos) {
        self.measure_from.fetch_min(at, Ordering::Relaxed);
        self.cut(at.saturating_add(self.measure_ns));
    }

    /// First moment after the measurement interval, as far as known.
    pub fn measure_to(&self) -> Nanos {
        self.measure_to.load(Ordering::Relaxed)
    }

    /// Whether a moment is in the measurement interval.
    pub fn measures(&self, at: Nanos) -> bool {
        at >= self.measure_from.load(Ordering::Relaxed) && at < self.measure_to()
    }

    /// Inclusion in the figures of an operation due at `due` that ended at `end`.
    pub fn counts(&self, due: Nanos, end: Nanos) -> SampleInclusion {
        let (from, to) = (self.measure_from.load(Ordering::Relaxed), self.measure_to());
        if end < to {
            return SampleInclusion::from(end >= from);
        }
        if due < to && from < to { SampleInclusion::UnderWay } else { SampleInclusion::Not }
    }

    /// Phase at `now`.
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

    /// Whether all threads must stop immediately: the round failed, a wait of it was interrupted, or its drain exceeded its
    /// limit.
    pub fn ended(&self, now: Nanos) -> bool {
        self.ended.load(Ordering::Relaxed) || now >= self.measure_to().saturating_add(self.drain_limit_ns)
    }

    /// Ends the measurement interval at `now`, unless it has ended: on interruption, or when all users have finished.
    pub fn cut(&self, now: Nanos) {
        self.measure_to.fetch_min(now, Ordering::Relaxed);
    }

    /// Ends the round immediately; measurements until `now` are retained.
    pub(crate) fn end(&self, now: Nanos) {
        self.ended.store(true, Ordering::Relaxed);
        self.cut(now);
    }

    /// Ends the round immediately for a fault; of several the first is reported.
    pub fn fail(&self, now: Nanos, fault: Fault) {
        self.fault.lock().expect("nothing panics while it holds this lock").get_or_insert(fault);
        self.end(now);
    }

    /// Fault that ended the round, if one did.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.lock().expect("nothing panics while it holds this lock").clone()
    }
}
