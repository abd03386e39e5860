//! Waits for locks inside SQLite: Bourse's busy handler, and the count of waits.
//!
//! SQLite's own `busy_timeout` sleeps 1, 2, 5, … 100 ms, many times the length of the other transaction; with a few
//! writers that idles the machine. Bourse's handler first yields its time slice, then sleeps for tens of microseconds,
//! and never more than 2 ms.

use crate::ffi::{self, SqliteLibrary};
use bourse_engine::{LockStats, Wait, blocked_on, locked};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Waits of all sessions of an engine, and connections that wait for nothing but may be interrupted.
#[derive(Debug, Default)]
pub(crate) struct LockWaits {
    count: AtomicU64,
    nanos: AtomicU64,
    busy: AtomicU64,
    out_of_date: AtomicU64,
    /// Open connections whose statements may be interrupted.
    interruptible: Mutex<Vec<Interruptible>>,
}

#[derive(Debug)]
struct Interruptible(*mut ffi::sqlite3);

// SAFETY: only sqlite3_interrupt is called with it, from any thread, while the connection is open.
unsafe impl Send for Interruptible {}

/// Waits of all connections of this process that use SQLite's own busy timeout. It sleeps through the file system,
/// where the waits are counted; the file system does not know the connection's engine.
pub(crate) static SQLITES_OWN: LockWaits = LockWaits::new();

/// Counts a sleep of SQLite's own.
pub(crate) fn while_sleeping<T>(sleep: impl FnOnce() -> T) -> T {
    SQLITES_OWN.begin();
    let since = Instant::now();
    let slept = blocked_on(Wait::Lock, sleep);
    SQLITES_OWN.add(since.elapsed());
    slept
}

impl LockWaits {
    const fn new() -> Self {
        Self {
            count: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            out_of_date: AtomicU64::new(0),
            interruptible: Mutex::new(Vec::new()),
        }
    }

    /// Counts a wait that has begun.
    pub(crate) fn begin(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds time to a wait that was counted.
    pub(crate) fn add(&self, waited: Duration) {
        self.nanos.fetch_add(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Counts a conflict that SQLite reported.
    pub(crate) fn conflict(&self, code: c_int) {
        let counter = if code == ffi::SQLITE_BUSY_SNAPSHOT { &self.out_of_date } else { &self.busy };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Conflicts so far: with the holder of a lock, and with an outdated snapshot.
    pub(crate) fn conflicts(&self) -> [u64; 2] {
        [&self.busy, &self.out_of_date].map(|counter| counter.load(Ordering::Relaxed))
    }

    /// Adds a connection whose statements may be interrupted, once.
    pub(crate) fn add_interruptible(&self, db: *mut ffi::sqlite3) {
        let mut known = locked(&self.interruptible);
        if known.iter().all(|it| it.0 != db) {
            known.push(Interruptible(db));
        }
    }

    /// Interrupts the statements that these connections execute now.
    pub(crate) fn interrupt_statements(&self, library: SqliteLibrary) {
        for Interruptible(db) in locked(&self.interruptible).iter() {
            // SAFETY: a connection is taken out, which the lock forbids now, before it is closed.
            unsafe { library.sqlite3_interrupt(*db) };
        }
    }

    /// The waits so far.
    pub(crate) fn totals(&self) -> LockStats {
        LockStats { waits: self.count.load(Ordering::Relaxed), wait_ns: self.nanos.load(Ordering::Relaxed) }
    }
}

/// Patience of one connection.
#[derive(Debug)]
pub(crate) struct Patience {
    waits: Arc<LockWaits>,
    timeout: Duration,
    began: Cell<Option<Instant>>,
}

/// Number of times that a waiting connection only yields before it sleeps.
const YIELDS: u32 = 8;
const SHORTEST_SLEEP: Duration = Duration::from_micros(20);
const LONGEST_SLEEP: Duration = Duration::from_millis(2);

impl Patience {
    pub(crate) fn new(waits: Arc<LockWaits>, timeout: Duration) -> Self {
        Self { waits, timeout, began: Cell::new(None) }
    }

    /// Counts a conflict that SQLite reported.
    pub(crate) fn conflict(&self, code: c_int) {
        self.waits.conflict(code);
    }

    /// Takes a connection that is to be closed out of those whose statements may be interrupted.
    pub(crate) fn closes(&self, db: *mut ffi::sqlite3) {
        locked(&self.waits.interruptible).retain(|it| it.0 != db);
    }

    /// Waits a little before attempt `attempt`, from 0; false when patience has ended.
    pub(crate) fn wait(&self, attempt: u32) -> bool {
        let now = Instant::now();
        let began = match (attempt, self.began.get()) {
            (1.., Some(began)) => began,
            _ => {
                self.waits.begin();
                self.began.set(Some(now));
                now
            }
        };
        let left = self.timeout.saturating_sub(now - began);
        if left.is_zero() {
            return false;
        }
        if attempt < YIELDS {
            std::thread::yield_now();
        } else {
            // Half as long again each time: 20 µs to 2 ms takes a dozen attempts and 6 ms.
            let growth = 1.5f64.powi((attempt - YIELDS).min(16) as i32);
            let nap = SHORTEST_SLEEP.mul_f64(growth).min(LONGEST_SLEEP).min(left);
            blocked_on(Wait::Lock, || std::thread::sleep(nap));
        }
        self.waits.add(now.elapsed());
        true
    }
}

/// Busy handler for SQLite; `patience` is the [`Patience`] it was registered with.
pub(crate) unsafe extern "C" fn on_busy(patience: *mut c_void, attempt: c_int) -> c_int {
    // SAFETY: the connection registers a Patience that it owns and that outlives the C connection; SQLite calls this
    // only from a call on that connection, which one thread makes at a time.
    let patience = unsafe { &*patience.cast::<Patience>() };
    c_int::from(patience.wait(u32::try_from(attempt).unwrap_or(0)))
}
