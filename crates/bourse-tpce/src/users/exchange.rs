//! The market exchange on a thread of its own, and the queues before and behind it.
//!
//! Orders go to it as soon as they are committed; when their emulated delay ends it puts Trade-Results and Market-Feeds into
//! the queue that the market's users work off.

use bourse_driver::{Clock, Control, MS, Nanos};
use bourse_egen::Inputs;
use bourse_egen::driver::{Database, MarketConfig, MarketExchange};
use bourse_egen::txn::{MarketRequest, TradeAction, TradeRequest};
use bourse_schema::Timestamp;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// A request of the market, on its way to a user.
#[derive(Debug)]
pub(super) struct Arrival {
    /// When the emulated delay ended.
    pub(super) due: Nanos,
    pub(super) request: MarketRequest,
}

/// Nobody waits for a queue longer than this before looking at the time again.
const NAP: Duration = Duration::from_millis(20);

/// While orders keep coming they are gathered for so long: the emulator counts in whole milliseconds anyway, and each
/// wake-up of its thread would be paid for by the customer who sends the order.
const GATHER: Duration = Duration::from_millis(1);

/// What customers, exchange and the market's users share.
pub(super) struct Floor {
    /// Unbounded, since a customer must not wait within its transaction; what bounds it is that customers pause.
    orders: (Sender<TradeRequest>, Receiver<TradeRequest>),
    requests: (Sender<Arrival>, Receiver<Arrival>),
    /// How many requests may wait before customers pause.
    room: usize,
    /// How long a customer pauses before it looks at the time again.
    pause: Duration,
    /// Customers that still ask.
    customers: AtomicUsize,
    /// Requests in the queue or in a user's hands.
    in_flight: AtomicUsize,
    /// Set when nothing will come any more.
    closed: AtomicBool,
    /// Users of the market with nothing to do, until a request has arrived. They rest here and not in the channel, which
    /// would first spin a while for a request: those come at the ends of milliseconds.
    arrived: Resting,
    /// Customers pausing, until enough requests are worked off.
    worked_off: Resting,
    pub(super) seen: Seen,
}

/// What the floor counts over a round.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Orders to be executed at once.
    pub(super) market_orders: AtomicU64,
    /// Limit orders that wait for their price.
    pub(super) limit_orders: AtomicU64,
    /// Limit orders set off by a Market-Feed.
    pub(super) triggered: AtomicU64,
    /// The longest the queue was.
    pub(super) longest_queue: AtomicUsize,
    /// Time customers paused, all together, in nanoseconds.
    pub(super) pacing_ns: AtomicU64,
}

impl Floor {
    /// More requests than this never wait: `room` and the orders of five seconds at rates no engine reaches yet. The
    /// exchange would wait with the next; nothing is dropped.
    const CAPACITY: usize = 1 << 17;

    pub(super) fn new(customers: usize, room: usize) -> Self {
        Self {
            orders: unbounded(),
            requests: bounded(Self::CAPACITY),
            room,
            // Each look takes some microseconds: a thousand customers must not take a processor for it.
            pause: Duration::from_millis((customers as u64 / 5).clamp(2, 200)),
            customers: AtomicUsize::new(customers),
            in_flight: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            arrived: Resting::default(),
            worked_off: Resting::default(),
            seen: Seen::default(),
        }
    }

    /// Sends an order to the exchange: a customer's.
    pub(super) fn order(&self, order: &TradeRequest) {
        let counter = match order.action {
            TradeAction::ProcessOrder => &self.seen.market_orders,
            TradeAction::SetLimitTrigger => &self.seen.limit_orders,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.send(order);
    }

    /// Sends an order to the exchange: a limit order that a Market-Feed has set off.
    pub(super) fn trigger(&self, order: &TradeRequest) {
        self.seen.triggered.fetch_add(1, Ordering::Relaxed);
        self.send(order);
    }

    fn send(&self, order: &TradeRequest) {
        self.orders.0.send(*order).expect("the receiving end lives as long as this end");
    }

    /// How many requests wait.
    pub(super) fn waiting(&self) -> usize {
        self.requests.1.len()
    }

    /// The next order, or none that came within `ahead`.
    fn next_order(&self, ahead: Duration, gathers: &mut bool) -> Option<TradeRequest> {
        let orders = &self.orders.1;
        // Both ends live as long as the floor: an error says that there is none.
        let order = orders.try_recv().ok().or_else(|| {
            if std::mem::take(gathers) {
                // Not by the clock, which would spin to be on time.
                std::thread::sleep(GATHER.min(ahead));
                orders.try_recv().ok()
            } else {
                orders.recv_timeout(ahead).ok()
            }
        });
        *gathers |= order.is_some();
        order
    }

    /// Lets a customer pause a while if too many requests wait; whether it may draw now.
    pub(super) fn may_draw(&self, clock: &dyn Clock) -> bool {
        if self.waiting() <= self.room {
            return true;
        }
        let from = clock.now();
        // A short time, so that the end of the round is seen too.
        self.worked_off.wait_while(self.pause, || self.waiting() > self.room);
        self.seen.pacing_ns.fetch_add(clock.now() - from, Ordering::Relaxed);
        self.waiting() <= self.room
    }

    /// Takes the next request for a user: `Ok(None)` if there is none now, `Err` if there never will be.
    pub(super) fn take(&self) -> Result<Option<Arrival>, Closed> {
        // Whatever was sent before the floor closed is still found: the flag is read first.
        let closed = self.closed.load(Ordering::Acquire);
        let requests = &self.requests.1;
        let mut arrival = requests.try_recv().ok();
        if arrival.is_none() {
            if closed {
                return Err(Closed);
            }
            self.arrived.wait_while(NAP, || requests.is_empty());
            arrival = requests.try_recv().ok();
        }
        if arrival.is_some() && self.worked_off.is_used() && self.waiting() <= self.room {
            // Not all at once: a thousand that wake together only get into each other's way.
            self.worked_off.wake(self.room.max(1));
        }
        Ok(arrival)
    }

    /// A user has done with a request, and has sent what orders it set off.
    pub(super) fn done(&self) {
        self.in_flight.fetch_sub(1, Ordering::Release);
    }

    /// A customer has gone home.
    pub(super) fn leave(&self) {
        self.customers.fetch_sub(1, Ordering::Release);
    }

    /// Whether no order can come any more but those already sent.
    fn quiet(&self) -> bool {
        self.customers.load(Ordering::Acquire) == 0 && self.in_flight.load(Ordering::Acquire) == 0
    }
}

/// Where threads rest until others have changed something.
#[derive(Debug, Default)]
struct Resting {
    threads: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Resting {
    fn enter(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().expect("nothing panics while it holds this lock")
    }

    /// Rests while `unchanged` holds, and so long at most.
    fn wait_while(&self, at_most: Duration, unchanged: impl Fn() -> bool) {
        let lock = self.enter();
        // Counted before it is looked: who changes something thereafter sees that somebody rests.
        self.threads.fetch_add(1, Ordering::SeqCst);
        let rested = self.changed.wait_timeout_while(lock, at_most, |()| unchanged());
        self.threads.fetch_sub(1, Ordering::SeqCst);
        drop(rested.expect("nothing panics while it holds this lock"));
    }

    /// Whether somebody rests here, to be asked after something was changed.
    fn is_used(&self) -> bool {
        self.threads.load(Ordering::SeqCst) > 0
    }

    fn wake_one(&self) {
        // Who is counted holds the lock until he rests.
        drop(self.enter());
        self.changed.notify_one();
    }

    /// Wakes so many at most.
    fn wake(&self, most: usize) {
        drop(self.enter());
        (0..self.threads.load(Ordering::SeqCst).min(most)).for_each(|_| self.changed.notify_one());
    }
}

/// Nothing will come any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed;

/// The exchange before it opens.
pub(super) struct Exchange<'w> {
    pub(super) inputs: &'w Inputs,
    pub(super) database: Database,
    pub(super) ticker_tape_seed: u64,
    pub(super) trading_floor_seed: u64,
    pub(super) floor: &'w Floor,
}

impl Exchange<'_> {
    /// Runs the exchange until customers have gone home and the last order is executed.
    ///
    /// The ticker tape stops with the customers, so that the last feeds set off the last limit orders; executing what is
    /// outstanding then takes up to ten seconds, since a delay cut to nothing waits a turn of the wheel.
    pub(super) fn run(self, clock: &dyn Clock, control: &Control) {
        let floor = self.floor;
        // The emulator counts whole milliseconds; those of its time stamps are those of the clock.
        let origin_ms = clock.timestamp().millis() - (clock.now() / MS) as i64;
        let stamp = |now: Nanos| Timestamp::from_millis(origin_ms + (now / MS) as i64);
        let config = MarketConfig::after(&self.database);
        let mut market = MarketExchange::new(
            self.inputs,
            &config,
            self.ticker_tape_seed,
            self.trading_floor_seed,
            stamp(clock.now()),
        );
        // When the next result is due, as the emulator said.
        let mut next: Option<Nanos> = None;
        let mut draining = false;
        let mut gathers = false;
        loop {
            let now = clock.now();
            if control.ended(now) {
                break;
            }
            if !draining && control.draining(now) {
                draining = true;
                market.set_ticker_tape(false);
            }
            // Read before the queue is: an order sent before it became quiet is then surely found there.
            let quiet = draining && floor.quiet();
            let ahead = next.map_or(NAP, |at| Duration::from_nanos(at.saturating_sub(now)).min(NAP));
            let order = floor.next_order(ahead, &mut gathers);
            if order.is_none() && quiet && market.outstanding_orders() == 0 {
                break;
            }
            let now = clock.now();
            // What comes out now was due when the emulator said, however late this thread was woken.
            let due = next.map_or(now, |at| at.min(now));
            let mut sink = |request| {
                floor.in_flight.fetch_add(1, Ordering::Relaxed);
                let mut arrival = Arrival { due, request };
                while let Err(full) = floor.requests.0.send_timeout(arrival, NAP) {
                    if control.ended(clock.now()) {
                        return;
                    }
                    arrival = full.into_inner();
                }
                if floor.arrived.is_used() {
                    floor.arrived.wake_one();
                }
                floor.seen.longest_queue.fetch_max(floor.waiting(), Ordering::Relaxed);
            };
            let wait = match order {
                Some(order) => market
                    .submit(stamp(now), &order, &mut sink)
                    .expect("orders name securities of the database, which is made of the same inputs"),
                None => market.generate(stamp(now), &mut sink),
            };
            // The emulator may say zero although nothing is due in this millisecond.
            next = wait.map(|wait| (now / MS + (wait.as_millis() as Nanos).max(1)) * MS);
        }
        floor.closed.store(true, Ordering::Release);
    }
}
