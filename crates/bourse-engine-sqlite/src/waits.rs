//! Waiting for locks inside SQLite: our busy handler, and the count of what it cost.
//!
//! SQLite's own `busy_timeout` sleeps 1, 2, 5, … 100 ms, many times the length of a transaction that is waited for;
//! with a few writers that idles the machine. Ours first gives up its time slice, then sleeps for tens of microseconds,
//! and never more than 2 ms.

use bourse_engine::{LockStats, Wait, blocked_on};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Waits of all sessions of an engine.
#[derive(Debug, Default)]
pub(crate) struct LockWaits {
    count: AtomicU64,
    nanos: AtomicU64,
}

impl LockWaits {
    /// Counts a wait that has begun.
    pub(crate) fn begin(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds time to a wait that was counted.
    pub(crate) fn add(&self, waited: Duration) {
        self.nanos.fetch_add(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The waits so far.
    pub(crate) fn totals(&self) -> LockStats {
        LockStats { waits: self.count.load(Ordering::Relaxed), wait_ns: self.nanos.load(Ordering::Relaxed) }
    }
}

/// The patience of one connection.
#[derive(Debug)]
pub(crate) struct Patience {
    waits: Arc<LockWaits>,
    timeout: Duration,
    began: Cell<Option<Instant>>,
}

/// How often a waiting connection only yields before it sleeps.
const YIELDS: u32 = 8;
const SHORTEST_SLEEP: Duration = Duration::from_micros(20);
const LONGEST_SLEEP: Duration = Duration::from_millis(2);

impl Patience {
    pub(crate) fn new(waits: Arc<LockWaits>, timeout: Duration) -> Self {
        Self { waits, timeout, began: Cell::new(None) }
    }

    /// Waits a little before attempt `attempt` (0 the first); false when patience has ended.
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

/// What SQLite calls when a lock is taken; `patience` is the [`Patience`] it was registered with.
pub(crate) unsafe extern "C" fn on_busy(patience: *mut c_void, attempt: c_int) -> c_int {
    // SAFETY: the connection registers a Patience that it owns and that outlives the C connection; SQLite calls this
    // only from a call on that connection, which one thread makes at a time.
    let patience = unsafe { &*patience.cast::<Patience>() };
    c_int::from(patience.wait(u32::try_from(attempt).unwrap_or(0)))
}
