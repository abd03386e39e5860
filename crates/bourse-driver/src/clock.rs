//! The clock: an argument everywhere, so that tests of hours take no time.

use crate::{Nanos, SECOND};
use bourse_engine::thread_time::spun;
use bourse_engine::{Wait, blocked_on};
use bourse_schema::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Source of time. The driver holds the only one and lends it to users and emulators.
pub trait Clock: Send + Sync {
    /// Time since the round began; never decreases.
    fn now(&self) -> Nanos;

    /// Sleeps until `at`; returns immediately if that has passed.
    fn sleep_until(&self, at: Nanos);

    /// Sleeps until about `at`, for waits that need not end on time; returns immediately if that has passed.
    fn nap_until(&self, at: Nanos) {
        self.sleep_until(at);
    }

    /// Calendar date and time (UTC) for rows; never decreases during a round.
    fn timestamp(&self) -> Timestamp;
}

/// The machine's monotonic clock.
#[derive(Debug, Clone)]
pub struct RealClock {
    origin: Instant,
    wall_ms: i64,
}

impl RealClock {
    /// Time before the wake-up moment that is spent spinning instead of sleeping, since timers wake a thread 50 µs late
    /// and later.
    const SPIN_NS: Nanos = 80_000;

    /// Starts a clock at 0.
    pub fn start() -> Self {
        let wall_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
        Self { origin: Instant::now(), wall_ms }
    }

    /// Reading of the machine's monotonic clock, which all its processes share, in nanoseconds.
    pub fn machine_ns() -> Nanos {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec.cast_unsigned() * SECOND + now.tv_nsec.cast_unsigned()
    }
}

impl Clock for RealClock {
    fn now(&self) -> Nanos {
        self.origin.elapsed().as_nanos() as Nanos
    }

    fn sleep_until(&self, at: Nanos) {
        let ahead = at.saturating_sub(self.now());
        if ahead > Self::SPIN_NS {
            // Metered here and not around the whole, so that the meter is read before the moment and not after it.
            blocked_on(Wait::Schedule, || std::thread::sleep(Duration::from_nanos(ahead - Self::SPIN_NS)));
        }
        let spins_from = self.now();
        while self.now() < at {
            std::hint::spin_loop();
        }
        spun(at.saturating_sub(spins_from));
    }

    fn nap_until(&self, at: Nanos) {
        // Without the spinning at the end: of a thousand users who nap, each would spin many times a second.
        let ahead = Duration::from_nanos(at.saturating_sub(self.now()));
        blocked_on(Wait::Schedule, || std::thread::sleep(ahead));
    }

    fn timestamp(&self) -> Timestamp {
        // The monotonic clock from the round's beginning on: setting the machine's clock must not reorder rows.
        Timestamp::from_millis(self.wall_ms + self.origin.elapsed().as_millis() as i64)
    }
}

/// A clock with the calendar of another machine: moments are this machine's, dates and times in rows are equal for
/// both.
pub struct CalendarClock<'c> {
    /// This machine's clock.
    pub clock: &'c dyn Clock,
    /// Offset of the other machine's calendar in milliseconds; positive if it is ahead.
    pub ahead_ms: i64,
}

impl Clock for CalendarClock<'_> {
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn sleep_until(&self, at: Nanos) {
        self.clock.sleep_until(at);
    }

    fn nap_until(&self, at: Nanos) {
        self.clock.nap_until(at);
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.timestamp().millis() + self.ahead_ms)
    }
}

/// A clock that only advances when it is advanced or slept on.
///
/// ```
/// use bourse_driver::{Clock, SimulatedClock};
/// let clock = SimulatedClock::new();
/// clock.sleep_until(3_000_000);
/// clock.advance(500_000);
/// assert_eq!(clock.now(), 3_500_000);
/// ```
#[derive(Debug, Default)]
pub struct SimulatedClock {
    now: AtomicU64,
    wall_ms: i64,
}

impl SimulatedClock {
    /// A clock at 0 that shows 1970-01-01.
    pub fn new() -> Self {
        Self::default()
    }

    /// A clock at 0 that shows `start`.
    pub fn at(start: Timestamp) -> Self {
        Self { now: AtomicU64::new(0), wall_ms: start.millis() }
    }

    /// Lets `ns` nanoseconds pass.
    pub fn advance(&self, ns: Nanos) {
        self.now.fetch_add(ns, Ordering::Relaxed);
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Nanos {
        self.now.load(Ordering::Relaxed)
    }

    fn sleep_until(&self, at: Nanos) {
        self.now.fetch_max(at, Ordering::Relaxed);
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::from_millis(self.wall_ms + (self.now() / crate::MS) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_clock_wakes_on_time_and_not_before() {
        let clock = RealClock::start();
        let at = clock.now() + 2 * crate::MS;
        clock.sleep_until(at);
        let late = clock.now() - at;
        // A machine under load may be late by much, but must never be early.
        assert!(late < crate::SECOND, "woke {late} ns late");
        clock.sleep_until(0);
        clock.nap_until(0);
        let at = clock.now() + crate::MS;
        clock.nap_until(at);
        assert!(clock.now() >= at);
        assert!(clock.timestamp().millis() > 1_700_000_000_000);
    }
}
