//! Waits for servers: the limit for opening a session, and the end of all waits when the program is interrupted.
//!
//! A client registers its connection as [`AwaitedConnection`] and marks it while it waits for an answer. An interruption ends
//! each wait in progress within two seconds: it asks the server to cancel the statement, closes a connection that is waited for
//! even then, and finds its server silent. A wait that begins later, such as one of a cleanup, is ended soon if its server is
//! silent, and otherwise not.

use crate::{EngineError, ErrorKind, locked};
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::{Duration, Instant};

/// Default time limit for a server to open a session.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Time after which a wait is reported to the user.
const REPORT_AFTER: Duration = Duration::from_secs(2);

/// Time that answers in progress have after an interruption.
const INTERRUPT_GRACE: Duration = Duration::from_millis(700);

/// Time that servers have for cancelling statements after that.
const CANCEL_LIMIT: Duration = Duration::from_millis(500);

/// Interval at which a thread that waits for a connection checks the limit and interruptions.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

static LIMIT_MS: AtomicU64 = AtomicU64::new(CONNECT_LIMIT.as_secs() * 1_000);
static REPORT: OnceLock<fn(&str)> = OnceLock::new();
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Servers that the interruption found silent, and that have let no session in since.
static SILENT: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Servers that were tried after the interruption, and were silent.
static GIVEN_UP: Mutex<Vec<String>> = Mutex::new(Vec::new());
static AWAITED: Mutex<Vec<Weak<ServerWaits>>> = Mutex::new(Vec::new());

/// Sets the time limit for a server to open a session.
pub fn set_connect_limit(limit: Duration) {
    LIMIT_MS.store(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Time limit for a server to open a session.
pub fn connect_limit() -> Duration {
    Duration::from_millis(LIMIT_MS.load(Ordering::Relaxed))
}

/// Sets the function that reports long waits to the user; only the first call has an effect.
pub fn report_waits_with(tell: fn(&str)) {
    let _ = REPORT.set(tell);
}

/// Whether the program was interrupted.
pub fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// Ends every wait in progress, within two seconds, and from then on those for silent servers.
pub fn interrupt() {
    if IS_INTERRUPTED.swap(true, Ordering::SeqCst) {
        return;
    }
    let end_all = || loop {
        std::thread::sleep(INTERRUPT_GRACE);
        // Ends of connections call nothing that comes back here, but they may take a while.
        let all: Vec<_> = awaited().iter().filter_map(Weak::upgrade).collect();
        let overdue: Vec<_> = all.into_iter().filter(|shared| shared.is_overdue()).collect();
        cancel_all(overdue.clone());
        overdue.iter().for_each(|shared| shared.end_if_overdue());
    };
    // Without the thread a second interruption ends the program.
    let _ = std::thread::Builder::new().name("interruption".to_owned()).spawn(end_all);
}

/// Has servers cancel the statements that are waited for: one that is only left goes on there, with its locks.
fn cancel_all(overdue: Vec<Arc<ServerWaits>>) {
    let (done, all_done) = mpsc::channel::<()>();
    let cancel = move || {
        overdue.iter().filter_map(|shared| shared.cancel.get()).for_each(|cancel| cancel());
        drop(done);
    };
    // It ends when the sender is dropped, also if no thread can be started.
    let _ = std::thread::Builder::new().name("cancelling".to_owned()).spawn(cancel);
    let _ = all_done.recv_timeout(CANCEL_LIMIT);
}

fn awaited() -> MutexGuard<'static, Vec<Weak<ServerWaits>>> {
    locked(&AWAITED)
}

fn is_silent(server: &str) -> bool {
    [&SILENT, &GIVEN_UP].iter().any(|silent| locked(silent).iter().any(|it| it == server))
}

/// Fails with that text once the program is interrupted, in work that nothing else would end.
///
/// # Errors
/// [`ErrorKind::Interrupted`].
pub fn check_interruption(text: &str) -> Result<(), EngineError> {
    Interruption::ANY.check(text)
}

/// Interruption that ends a piece of work, which looks for it between its steps: work that begins after one puts something in
/// order, and is not ended by it.
#[derive(Debug, Clone, Copy)]
pub struct Interruption {
    was_before: bool,
}

impl Interruption {
    /// One at any time.
    pub const ANY: Self = Self { was_before: false };

    /// One that comes from now on.
    pub fn from_now() -> Self {
        Self { was_before: is_interrupted() }
    }

    /// Fails with that text once the interruption has come.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`].
    pub fn check(self, text: &str) -> Result<(), EngineError> {
        let has_come = is_interrupted() && !self.was_before;
        if has_come { Err(EngineError::new(ErrorKind::Interrupted, text)) } else { Ok(()) }
    }
}

/// Error of a wait that an interruption ended.
pub fn interrupted() -> EngineError {
    EngineError::new(ErrorKind::Interrupted, "the wait for the server's answer was ended")
}

/// Converts an error of a client for its report: a connection lost after an interruption was ended by that
/// interruption.
pub fn for_report(error: EngineError) -> EngineError {
    if error.kind() == ErrorKind::ConnectionLost && is_interrupted() { interrupted() } else { error }
}

/// Error of a server that has not opened a session within that limit.
pub fn silent(server: &str, limit: Duration) -> EngineError {
    let seconds = limit.as_secs_f64();
    let message = format!("{server} has not let a session in within {seconds} s (--connect-limit)");
    EngineError::new(ErrorKind::ConnectionLost, message)
}

/// Result of `connect` if it returns within the limit. A call that does not return stays in a thread of its own. After an
/// interruption a server that is silent is tried once: whatever else would be put in order there is left.
///
/// # Errors
/// Those of `connect`; [`ErrorKind::ConnectionLost`] after the limit; [`ErrorKind::Interrupted`].
pub fn within_limit<T: Send + 'static, E: From<EngineError> + Send + 'static>(
    server: &str,
    connect: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let was_interrupted = is_interrupted();
    // What is put in order after an interruption needs a server that answers at once.
    let limit = if was_interrupted { connect_limit().min(INTERRUPT_GRACE) } else { connect_limit() };
    if was_interrupted && locked(&GIVEN_UP).iter().any(|silent| silent == server) {
        return Err(silent(server, limit).into());
    }
    let (answer, answered) = mpsc::channel();
    let begun = Instant::now();
    let lost = |message: String| E::from(EngineError::new(ErrorKind::ConnectionLost, message));
    let spawned = std::thread::Builder::new().name("connecting".to_owned()).spawn(move || {
        // Nobody listens any more once the time is over.
        let _ = answer.send(run_client_library(connect));
    });
    spawned.map_err(|e| lost(format!("cannot connect to {server}: no thread can be started: {e}")))?;
    let mut is_reported = false;
    loop {
        match answered.recv_timeout(POLL_INTERVAL) {
            Ok(Some(connected)) => {
                if connected.is_ok() {
                    locked(&SILENT).retain(|silent| silent != server);
                }
                return connected;
            }
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                return Err(lost(format!("{server} has sent what cannot be read")));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let waited = begun.elapsed();
        // A limit of its own that `connect` has ends it with better words.
        if waited >= limit + 4 * POLL_INTERVAL {
            if was_interrupted {
                locked(&GIVEN_UP).push(server.to_owned());
            }
            return Err(silent(server, limit).into());
        }
        if !was_interrupted && is_interrupted() {
            return Err(interrupted().into());
        }
        if waited >= REPORT_AFTER && !is_reported {
            is_reported = true;
            if let Some(tell) = REPORT.get() {
                tell(&format!("waiting for {server} to let a session in, {} s at most", limit.as_secs_f64()));
            }
        }
    }
}

thread_local! {
    static IS_IN_CLIENT_LIBRARY: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in a client library's parsing of a server's answer, where a panic is the server's fault.
pub fn is_in_client_library() -> bool {
    IS_IN_CLIENT_LIBRARY.get()
}

/// Result of a client library's parsing of a server's answer; `None` if the library panicked on it, which leaves the
/// connection unusable.
pub fn run_client_library<T>(read: impl FnOnce() -> T) -> Option<T> {
    let before = IS_IN_CLIENT_LIBRARY.replace(true);
    // What a panic leaves behind is only dropped.
    let found = catch_unwind(AssertUnwindSafe(read)).ok();
    IS_IN_CLIENT_LIBRARY.set(before);
    found
}

/// State: no answer is awaited.
const RESTS: u8 = 0;
/// State: an answer is awaited since before any interruption.
const WAITS: u8 = 1;
/// State: an answer is awaited since after the interruption.
const WAITS_LATE: u8 = 2;
/// State: an answer is awaited from a silent server since before the last look at all waits.
const OVERDUE: u8 = 3;
/// State: an answer is awaited, however long it takes.
const WAITS_FOR_LONG: u8 = 4;
/// State: no connection, but calls in this process, each of which is ended if it takes long.
const IS_CALLED: u8 = 5;

impl fmt::Debug for ServerWaits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerWaits").field("server", &self.server).finish_non_exhaustive()
    }
}

struct ServerWaits {
    server: String,
    state: AtomicU8,
    end: Box<dyn Fn() + Send + Sync>,
    cancel: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl ServerWaits {
    fn is_overdue(&self) -> bool {
        match self.state.load(Ordering::SeqCst) {
            WAITS | IS_CALLED => true,
            WAITS_LATE | OVERDUE => is_silent(&self.server),
            _ => false,
        }
    }

    fn end_if_overdue(&self) {
        match self.state.load(Ordering::SeqCst) {
            IS_CALLED => (self.end)(),
            WAITS => {
                locked(&SILENT).push(self.server.clone());
                (self.end)();
                // Found once: its reader may never come back to it.
                self.state.store(RESTS, Ordering::SeqCst);
            }
            late @ (WAITS_LATE | OVERDUE) if is_silent(&self.server) => {
                if late == OVERDUE {
                    (self.end)();
                }
                // Unless the answer has come.
                let _ = self.state.compare_exchange(late, OVERDUE, Ordering::SeqCst, Ordering::SeqCst);
            }
            _ => {}
        }
    }
}

/// A connection whose waits an interruption ends.
#[derive(Debug)]
pub struct AwaitedConnection(Arc<ServerWaits>);

impl AwaitedConnection {
    /// Registers a connection to a server; `end` closes it for its reader.
    pub fn new(server: String, end: impl Fn() + Send + Sync + 'static) -> Self {
        Self::registered(server, RESTS, Box::new(end))
    }

    /// Registers calls of an engine in this process; `end` ends those that take long, until this value is dropped.
    pub fn of_calls(end: impl Fn() + Send + Sync + 'static) -> Self {
        Self::registered(String::new(), IS_CALLED, Box::new(end))
    }

    fn registered(server: String, state: u8, end: Box<dyn Fn() + Send + Sync>) -> Self {
        let shared = Arc::new(ServerWaits { server, state: AtomicU8::new(state), end, cancel: OnceLock::new() });
        let mut all = awaited();
        if all.len() == all.capacity() {
            all.retain(|it| it.strong_count() > 0);
        }
        all.push(Arc::downgrade(&shared));
        Self(shared)
    }

    /// Sets the function that has the server cancel the statement which this connection waits for.
    pub fn cancels_by(&self, cancel: impl Fn() + Send + Sync + 'static) {
        let _ = self.0.cancel.set(Box::new(cancel));
    }

    /// Marks the begin of a wait for an answer.
    #[inline]
    pub fn waits(&self) {
        let state = if is_interrupted() { WAITS_LATE } else { WAITS };
        self.0.state.store(state, Ordering::Relaxed);
    }

    /// Marks the begin of a wait that an interruption does not end.
    pub fn waits_through_interruption(&self) {
        self.0.state.store(WAITS_FOR_LONG, Ordering::Relaxed);
    }

    /// Marks the arrival of the answer.
    #[inline]
    pub fn rests(&self) {
        self.0.state.store(RESTS, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// One test, since an interruption affects the whole process.
    #[test]
    fn a_wait_ends_by_its_limit_and_by_an_interruption() {
        let silent = || -> crate::Result<()> {
            std::thread::sleep(Duration::from_secs(60));
            Ok(())
        };
        assert_eq!(within_limit("the server", || Ok::<_, EngineError>(7)).unwrap(), 7);
        let broken = || -> crate::Result<()> { panic!("capacity overflow") };
        let told_of = within_limit("the server", broken).unwrap_err();
        assert_eq!(told_of.message(), "the server has sent what cannot be read");
        assert!(!is_in_client_library());
        set_connect_limit(Duration::from_millis(300));
        let late = within_limit("the server", silent).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::ConnectionLost);
        assert_eq!(late.message(), "the server has not let a session in within 0.3 s (--connect-limit)");
        set_connect_limit(CONNECT_LIMIT);

        let ends = Arc::new(AtomicUsize::new(0));
        let to = |server: &str| {
            let ends = Arc::clone(&ends);
            AwaitedConnection::new(server.to_owned(), move || {
                ends.fetch_add(1, Ordering::SeqCst);
            })
        };
        let counted = || to("the server");
        let [waits, rests, is_patient, is_late, is_gone] = [(); 5].map(|()| counted());
        let elsewhere = to("another server");
        [&waits, &rests, &is_gone].iter().for_each(|it| it.waits());
        rests.rests();
        is_patient.waits_through_interruption();
        drop(is_gone);
        rests.cancels_by(|| panic!("nothing is waited for"));
        // A statement that its server cancels in time ends its wait, and one that is not cancelled in time is left.
        let is_cancelled = Arc::new(counted());
        is_cancelled.waits();
        let weak = Arc::downgrade(&is_cancelled);
        is_cancelled.cancels_by(move || weak.upgrade().unwrap().rests());
        let is_stuck = counted();
        is_stuck.waits();
        is_stuck.cancels_by(|| std::thread::sleep(10 * CANCEL_LIMIT));
        let calls = Arc::new(AtomicUsize::new(0));
        let called = Arc::clone(&calls);
        let is_called = AwaitedConnection::of_calls(move || {
            called.fetch_add(1, Ordering::SeqCst);
        });
        let connecting = std::thread::spawn(move || within_limit("the server", silent).unwrap_err());
        std::thread::sleep(4 * POLL_INTERVAL);
        let before = Interruption::from_now();
        interrupt();
        assert_eq!(before.check("ended").unwrap_err().message(), "ended");
        assert!(Interruption::from_now().check("ended").is_ok() && check_interruption("ended").is_err());
        [&is_late, &elsewhere].iter().for_each(|it| it.waits());
        assert_eq!(connecting.join().unwrap().kind(), ErrorKind::Interrupted);
        let ended = |wanted: usize| {
            while ends.load(Ordering::SeqCst) < wanted {
                std::thread::sleep(POLL_INTERVAL);
            }
        };
        // Those that the interruption found waiting, and then the one that waits for the same server since.
        ended(3);
        is_late.rests();
        assert_eq!(within_limit("the server", || Ok::<_, EngineError>(7)).unwrap(), 7);
        is_late.waits();
        std::thread::sleep(3 * INTERRUPT_GRACE);
        assert_eq!(ends.load(Ordering::SeqCst), 3, "it has answered since, and the other one never was silent");
        assert!(calls.load(Ordering::SeqCst) >= 3, "calls that come later are ended too");
        drop(is_called);
        let lost = for_report(EngineError::new(ErrorKind::ConnectionLost, "gone"));
        assert_eq!(lost.kind(), ErrorKind::Interrupted);
    }
}
