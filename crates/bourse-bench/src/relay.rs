//! Two sides that take turns of milliseconds, so that a machine's other work affects both equally.
//!
//! Each side is a number of threads that read a clock regularly. The clock lets one side's threads run at a time; when
//! a turn is over it blocks them until the other side's is, and the blocked time does not pass on it.

use bourse_driver::{Clock, MS, Nanos, RealClock};
use bourse_schema::Timestamp;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Length of a turn: many switches a second, and each side's data is back in the caches long before its end.
const TURN_NS: Nanos = 20 * MS;

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Side with the first turn.
    First,
    /// Side with the second turn.
    Second,
}

impl Side {
    /// The opposite side.
    pub fn other(self) -> Self {
        if self == Self::First { Self::Second } else { Self::First }
    }
}

#[derive(Debug)]
struct RelayState {
    turn: Side,
    /// Number of turns that have ended.
    ended: u64,
    /// Number of threads of the current side that wait for the turn's end.
    waiting: usize,
    /// Number of threads of each side that still run.
    running: [usize; 2],
    /// Number of threads of each side that may still join.
    coming: [usize; 2],
}

impl RelayState {
    fn end_turn(&mut self) {
        self.waiting = 0;
        self.ended += 1;
        if self.running[self.turn.other() as usize] > 0 {
            self.turn = self.turn.other();
        }
    }

    fn left(&mut self, side: Side, threads: usize) {
        let running = &mut self.running[side as usize];
        *running -= threads;
        if threads > 0 && self.turn == side && self.waiting == *running {
            self.end_turn();
        }
    }
}

/// Turns of two sides.
#[derive(Debug)]
pub struct Relay {
    clock: RealClock,
    state: Mutex<RelayState>,
    moved: Condvar,
    /// Time that threads of each side were blocked, for the threads without a place.
    held: [AtomicU64; 2],
}

impl Relay {
    /// A relay of two sides of `threads` threads each.
    pub fn new(threads: usize) -> Arc<Self> {
        let state = RelayState { turn: Side::First, ended: 0, waiting: 0, running: [threads; 2], coming: [threads; 2] };
        Arc::new(Self {
            clock: RealClock::start(),
            state: Mutex::new(state),
            moved: Condvar::new(),
            held: [AtomicU64::new(0), AtomicU64::new(0)],
        })
    }

    fn state(&self) -> MutexGuard<'_, RelayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a thread of a side; `None` if all are taken. It begins when the side's turn does.
    pub fn place(self: &Arc<Self>, side: Side) -> Option<RelayPlace> {
        let left = &mut self.state().coming[side as usize];
        *left = left.checked_sub(1)?;
        Some(RelayPlace { relay: Arc::clone(self), side, held: 0, until: 0 })
    }

    /// Closes a side to further threads: the relay does not wait for those that have not joined.
    pub fn closes(&self, side: Side) {
        let mut state = self.state();
        let missing = std::mem::take(&mut state.coming[side as usize]);
        state.left(side, missing);
        self.moved.notify_all();
    }

    /// Clock for a side whose threads the caller does not start: threads whose name begins with `thread_names` take its
    /// places when they first read it.
    pub fn clock(self: &Arc<Self>, side: Side, thread_names: &'static str) -> RelayClock {
        RelayClock { relay: Arc::clone(self), side, thread_names, latest: AtomicU64::new(0) }
    }
}

/// Place of a thread on a side; dropping it leaves the relay.
#[derive(Debug)]
pub struct RelayPlace {
    relay: Arc<Relay>,
    side: Side,
    held: Nanos,
    until: Nanos,
}

impl RelayPlace {
    /// Time that passed in this side's turns, in nanoseconds. Returns in one of them.
    pub fn now(&mut self) -> Nanos {
        let mut now = self.relay.clock.now();
        if now >= self.until {
            self.pass();
            let back = self.relay.clock.now();
            // The first wait is no turn's end, but a thread that came early has waited for its side.
            self.held += back - now;
            self.until = back + TURN_NS;
            self.relay.held[self.side as usize].fetch_max(self.held, Ordering::Relaxed);
            now = back;
        }
        now - self.held
    }

    /// Ends the turn together with the side's other threads and waits for the next.
    fn pass(&mut self) {
        let relay = &*self.relay;
        let mut state = relay.state();
        if self.until > 0 {
            state.waiting += 1;
            if state.waiting == state.running[self.side as usize] {
                state.end_turn();
                relay.moved.notify_all();
            } else {
                let turn = state.ended;
                let is_on = |state: &mut RelayState| state.ended == turn;
                state = relay.moved.wait_while(state, is_on).unwrap_or_else(PoisonError::into_inner);
            }
        }
        drop(relay.moved.wait_while(state, |state| state.turn != self.side).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for RelayPlace {
    fn drop(&mut self) {
        self.relay.state().left(self.side, 1);
        self.relay.moved.notify_all();
    }
}

/// Clock of a side's threads, and of threads without a place.
#[derive(Debug)]
pub struct RelayClock {
    relay: Arc<Relay>,
    side: Side,
    thread_names: &'static str,
    /// Latest time returned to a thread without a place: it notices a turn's end too late, and time must not decrease.
    latest: AtomicU64,
}

thread_local! {
    static PLACE: RefCell<Option<RelayPlace>> = const { RefCell::new(None) };
}

impl RelayClock {
    fn is_player(&self) -> bool {
        std::thread::current().name().is_some_and(|name| name.starts_with(self.thread_names))
    }
}

impl Clock for RelayClock {
    fn now(&self) -> Nanos {
        let played = PLACE.with_borrow_mut(|place| {
            if place.is_none() && self.is_player() {
                *place = self.relay.place(self.side);
            }
            place.as_mut().map(RelayPlace::now)
        });
        played.unwrap_or_else(|| {
            let held = self.relay.held[self.side as usize].load(Ordering::Relaxed);
            let now = self.relay.clock.now().saturating_sub(held);
            self.latest.fetch_max(now, Ordering::Relaxed).max(now)
        })
    }
    fn sleep_until(&self, at: Nanos) {
        self.relay.clock.sleep_until(at);
    }
    fn timestamp(&self) -> Timestamp {
        self.relay.clock.timestamp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn one_side_goes_on_at_a_time_and_only_its_time_passes() {
        let relay = Relay::new(2);
        let going = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let turns = AtomicUsize::new(0);
        let begin = std::time::Instant::now();
        std::thread::scope(|scope| {
            for side in [Side::First, Side::Second, Side::First, Side::Second] {
                let (relay, going, turns) = (&relay, &going, &turns);
                scope.spawn(move || {
                    let mut place = relay.place(side).unwrap();
                    let from = place.now();
                    let mut last = from;
                    while last - from < 3 * TURN_NS {
                        going[side as usize].fetch_add(1, Ordering::SeqCst);
                        assert_eq!(going[side.other() as usize].load(Ordering::SeqCst), 0);
                        std::thread::sleep(std::time::Duration::from_millis(2));
                        going[side as usize].fetch_sub(1, Ordering::SeqCst);
                        let now = place.now();
                        assert!(now >= last);
                        last = now;
                        turns.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert!(turns.into_inner() >= 4 * 3);
        assert!(begin.elapsed().as_nanos() as Nanos >= 6 * TURN_NS, "two sides of three turns each");
        assert!(relay.place(Side::First).is_none(), "all places are taken");
    }
}
