//! Two sessions that change the same rows concurrently, statement by statement: neither must undo what the other has
//! committed.
//!
//! Each performs the same transactions. Before each statement it waits until the other is about to run one too, or is known to
//! be held up in the engine: all that both read before they write, they read before either has written. The engine decides which
//! of them then waits, or is refused and tries again; the database must have gained what was acknowledged to both. In rounds of
//! few milliseconds two users hardly ever meet on one row of thousands.

use crate::check::CheckResult;
use crate::check::ledger::Ledger;
use crate::workload::{Size, Workload};
use bourse_engine::{
    Access, EachFound, EachRow, Engine, ErrorKind, Isolation, Params, Result, Routine, Session, Sql, Value,
    forward_session,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time that a session waits for the other before it counts as held up by a lock. On a busy machine a thread that is not
/// held up may be as late.
const HELD_UP: Duration = Duration::from_millis(20);
/// Time that a session waits where writers come one at a time: none waits while it holds the writer lock, so the other
/// always comes.
const LOST: Duration = Duration::from_secs(2);
/// Tries of a transaction that conflicts with the other session's.
pub const ATTEMPTS: u32 = 100;

/// Result of the concurrent work of two sessions.
#[derive(Debug, Clone)]
pub struct Contention {
    /// Number and names of the transactions that were committed, as "12 Trade-Orders".
    pub work: String,
    /// Committed transactions that show whether anything was lost.
    pub commits: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// The first failure that is no conflict.
    pub failure: Option<String>,
    /// The reconciliation of the database with what was acknowledged, and conditions that lost updates break.
    pub checked: Vec<CheckResult>,
}

impl Contention {
    /// The fault in plain English; `None` if there is none.
    pub fn fault(&self) -> Option<String> {
        if let Some(failure) = &self.failure {
            return Some(failure.clone());
        }
        if self.commits == 0 {
            return Some(format!("nothing was committed: {}", self.work));
        }
        let failed = self.checked.iter().find(|checked| !checked.passed());
        failed.map(|failed| format!("{}: {}", failed.words, failed.evidence.join("; ")))
    }
}

/// Error of a transaction: its class, and its text.
pub type Failed = (ErrorKind, String);

/// Sets two sessions to the same work on a database that no other session uses: each calls `perform` with the numbers below
/// `count` in turn, and with a ledger of its own. Once `interrupted` says so, they begin no further number. Then the database is
/// reconciled with both ledgers, and the workload's conditions of sources that begin with `source` are checked; `described` gives
/// the work and the number of commits of the sum.
///
/// # Errors
/// The engine's, before or after the work; what goes wrong in it is in the result.
pub fn contend(
    engine: &dyn Engine,
    (workload, size, source): (&dyn Workload, &Size, &str),
    count: usize,
    interrupted: &AtomicBool,
    perform: &(dyn Fn(&mut SteppedSession<'_>, usize, &mut Ledger) -> Result<(), Failed> + Sync),
    described: impl FnOnce(&Ledger) -> (String, u64),
) -> Result<Contention> {
    let mut session = engine.session()?;
    let before = workload.growths().before(&mut *session)?;
    let meeting = Meeting { one_writer: !engine.capabilities().concurrent_writers, ..Meeting::default() };
    let work = |participant: Participant<'_>| {
        let _leaves = LeaveGuard(participant);
        let mut ledger = Ledger::default();
        let inner = match engine.session() {
            Ok(inner) => inner,
            Err(error) => return (ledger, Some(error.to_string())),
        };
        let mut session = SteppedSession { inner, participant };
        let mut failure = None;
        for number in (0..count).take_while(|_| !interrupted.load(Ordering::Relaxed)) {
            participant.reach(number);
            if let Err((kind, text)) = perform(&mut session, number, &mut ledger)
                && kind != ErrorKind::Conflict
            {
                failure.get_or_insert(text);
            }
        }
        (ledger, failure)
    };
    let [(mut ledger, failure), (other, later)] = std::thread::scope(|scope| {
        let threads = [0, 1].map(|number| {
            let (participant, work) = (Participant { meeting: &meeting, number }, &work);
            scope.spawn(move || work(participant))
        });
        threads.map(|thread| thread.join().expect("a panic of a session is one of the whole work"))
    });
    ledger.merge(&other);
    let mut checked = workload.growths().compare(&mut *session, &before, &ledger)?;
    for condition in workload.conditions().iter().filter(|condition| condition.source.starts_with(source)) {
        checked.push(condition.run(&mut *session, &workload.holes(size))?);
    }
    let (work, commits) = described(&ledger);
    let retries = meeting.retries.load(Ordering::Relaxed);
    Ok(Contention { work, commits, retries, failure: failure.or(later), checked })
}

/// One of the two sessions at their meeting point.
#[derive(Debug, Clone, Copy)]
pub struct Participant<'m> {
    meeting: &'m Meeting,
    number: usize,
}

impl Participant<'_> {
    /// Waits until the other session reaches this number too, or has ended: a delay in one number does not part the two in the
    /// next.
    fn reach(self, number: usize) {
        let (meeting, other) = (self.meeting, 1 - self.number);
        let mut state = meeting.lock();
        state.reached[self.number] = number;
        meeting.changed.notify_all();
        drop(meeting.changed.wait_while(state, |state| state.reached[other] < number && !state.gone[other]));
    }

    /// Begins a transaction step by step.
    pub fn begin(self) {
        self.meeting.lock().apart[self.number] = false;
    }

    /// Pauses before another try of the transaction, which then runs without waiting for the other session: step by step two
    /// that conflict would do so for ever.
    pub fn back_off(self, attempt: u32) {
        self.meeting.retries.fetch_add(1, Ordering::Relaxed);
        self.meeting.lock().apart[self.number] = true;
        std::thread::sleep(Duration::from_millis(u64::from(attempt.min(10)) * (1 + self.number as u64)));
    }
}

/// Meeting point of the two sessions.
#[derive(Debug, Default)]
struct Meeting {
    /// Whether writers come one at a time.
    one_writer: bool,
    retries: AtomicU64,
    state: Mutex<MeetingState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct MeetingState {
    /// Number that each session performs.
    reached: [usize; 2],
    /// Sessions that wait for the other.
    waits: [bool; 2],
    /// Sessions that did not arrive while the other waited: they are in a call of the engine.
    held_up: [bool; 2],
    /// Sessions that run without waiting: they try again after a conflict.
    apart: [bool; 2],
    /// Sessions that hold the single writer lock.
    write: [bool; 2],
    /// Sessions that have ended.
    gone: [bool; 2],
}

impl MeetingState {
    /// Whether a session performs a later number than the other, or has ended.
    fn has_left(&self, session: usize) -> bool {
        self.gone[session] || self.reached[session] > self.reached[1 - session]
    }
}

impl Meeting {
    fn lock(&self) -> MutexGuard<'_, MeetingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the other session is about to run a statement too, unless it waits at a later number.
    fn meet(&self, me: usize) {
        let other = 1 - me;
        let mut state = self.lock();
        state.held_up[me] = false;
        if state.write[me] {
            return;
        }
        if state.waits[other] {
            state.waits[other] = false;
            self.changed.notify_all();
            return;
        }
        if state.apart[me] || state.apart[other] || state.held_up[other] || state.has_left(other) {
            return;
        }
        state.waits[me] = true;
        let patience = if self.one_writer { LOST } else { HELD_UP };
        let waited =
            self.changed.wait_timeout_while(state, patience, |state| state.waits[me] && !state.has_left(other));
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.waits[me]) {
            state.held_up[other] = true;
        }
    }
}

/// Lets the other session continue alone when one ends, also on a panic.
struct LeaveGuard<'m>(Participant<'m>);

impl Drop for LeaveGuard<'_> {
    fn drop(&mut self) {
        self.0.meeting.lock().gone[self.0.number] = true;
        self.0.meeting.changed.notify_all();
    }
}

/// A session that meets the other before each statement.
pub struct SteppedSession<'m> {
    inner: Box<dyn Session>,
    participant: Participant<'m>,
}

impl<'m> SteppedSession<'m> {
    /// Its place at the meeting point.
    pub const fn participant(&self) -> Participant<'m> {
        self.participant
    }

    fn meet(&self) {
        self.participant.meeting.meet(self.participant.number);
    }

    fn set_writing(&self, writes: bool) {
        self.participant.meeting.lock().write[self.participant.number] = writes;
    }
}

impl Session for SteppedSession<'_> {
    forward_session!(inner: dialect, install, has_routines);
    fn rollback(&mut self) -> Result<()> {
        self.set_writing(false);
        self.inner.rollback()
    }
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<()> {
        self.meet();
        self.inner.begin(isolation, access)?;
        self.set_writing(self.participant.meeting.one_writer && access == Access::Write);
        Ok(())
    }
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<()> {
        self.meet();
        self.inner.query(sql, params, each)
    }
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64> {
        self.meet();
        self.inner.execute(sql, params)
    }
    fn call(&mut self, routine: &'static Routine, params: Params<'_>, each: &mut EachFound<'_>) -> Result<()> {
        self.meet();
        self.inner.call(routine, params, each)
    }
    fn commit(&mut self) -> Result<()> {
        self.meet();
        let committed = self.inner.commit();
        self.set_writing(false);
        committed
    }
    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<()> {
        self.meet();
        self.inner.query_text(sql, params, each)
    }
    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        self.meet();
        self.inner.execute_text(sql, params)
    }
}
