//! The market exchange on a thread of its own, with its input queue and its output queue.
//!
//! Orders are sent to it as soon as they are committed. When their emulated delay ends it puts Trade-Results and
//! Market-Feeds into the queue of the market's users.

use super::due::DueResults;
use crate::aged::{self, PendingOrder};
use bourse_driver::{Clock, MS, Nanos, RoundControl};
use bourse_egen::Inputs;
use bourse_egen::driver::{Database, MarketConfig, MarketExchange};
use bourse_egen::txn::{MarketRequest, TradeAction, TradeRequest};
use bourse_engine::{Wait, blocked_on};
use bourse_schema::Timestamp;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A request of the market, on its way to a user.
#[derive(Debug)]
pub(super) struct Arrival {
    /// End of the emulated delay.
    pub(super) due: Nanos,
    pub(super) request: MarketRequest,
}

/// Longest wait for a queue before the clock is read again.
const NAP: Duration = Duration::from_millis(20);

/// Time for which orders are gathered while more arrive: the emulator counts in whole milliseconds anyway, and each wake-up
/// of its thread would cost the customer who sends the order.
const GATHER: Duration = Duration::from_millis(1);

/// Queues between customers, the market exchange and the market's users.
pub(super) struct MarketQueues {
    /// Unbounded, since a customer must not wait within its transaction; pauses of the customers bound it.
    orders: (Sender<TradeRequest>, Receiver<TradeRequest>),
    requests: (Sender<Arrival>, Receiver<Arrival>),
    /// Number of requests that may wait before customers pause.
    room: usize,
    /// Time that a customer pauses before it reads the clock again.
    pause: Duration,
    /// Customers that have not ended.
    customers: AtomicUsize,
    /// Requests in the queue or being performed.
    in_flight: AtomicUsize,
    /// Set when no request will arrive any more.
    closed: AtomicBool,
    /// Idle market users, until a request arrives. They wait here and not in the channel, which would first spin for a
    /// while: requests arrive at the ends of milliseconds.
    arrived: Waiters,
    /// Pausing customers, until enough requests are performed.
    drained: Waiters,
    pub(super) counters: MarketCounters,
}

/// Counts of the market over a round.
#[derive(Debug, Default)]
pub(super) struct MarketCounters {
    /// Market orders, to be executed immediately.
    pub(super) market_orders: AtomicU64,
    /// Limit orders that wait for their price.
    pub(super) limit_orders: AtomicU64,
    /// Limit orders triggered by a Market-Feed.
    pub(super) triggered: AtomicU64,
    /// The longest the queue was.
    pub(super) longest_queue: AtomicUsize,
    /// Trade-Results by due time.
    pub(super) due: Mutex<DueResults>,
    /// Time customers paused, all together, in nanoseconds.
    pub(super) pacing_ns: AtomicU64,
}

impl MarketQueues {
    /// Capacity that the queue never reaches: `room` and the orders of five seconds at rates no engine reaches yet. Beyond
    /// it the exchange would wait; nothing is dropped.
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
            arrived: Waiters::default(),
            drained: Waiters::default(),
            counters: MarketCounters::default(),
        }
    }

    /// Sends a customer's order to the exchange.
    pub(super) fn order(&self, order: &TradeRequest) {
        let counter = match order.action {
            TradeAction::ProcessOrder => &self.counters.market_orders,
            TradeAction::SetLimitTrigger => &self.counters.limit_orders,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.send(order);
    }

    /// Sends a limit order that a Market-Feed has triggered to the exchange.
    pub(super) fn trigger(&self, order: &TradeRequest) {
        self.counters.triggered.fetch_add(1, Ordering::Relaxed);
        self.send(order);
    }

    fn send(&self, order: &TradeRequest) {
        self.orders.0.send(*order).expect("the receiving end lives as long as this end");
    }

    /// Number of waiting requests.
    pub(super) fn waiting(&self) -> usize {
        self.requests.1.len()
    }

    /// The next order; `None` if none arrives within `ahead`.
    fn next_order(&self, ahead: Duration, gathers: &mut bool) -> Option<TradeRequest> {
        let orders = &self.orders.1;
        // Both ends live as long as the queues: an error says that there is none.
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

    /// Pauses a customer for a while if too many requests wait; returns whether it may draw now.
    pub(super) fn may_draw(&self, clock: &dyn Clock) -> bool {
        if self.waiting() <= self.room {
            return true;
        }
        let from = clock.now();
        // A short time, so that the end of the round is seen too.
        self.drained.wait_while(self.pause, || self.waiting() > self.room);
        self.counters.pacing_ns.fetch_add(clock.now() - from, Ordering::Relaxed);
        self.waiting() <= self.room
    }

    /// Takes the next request for a user: `Ok(None)` if there is none now, `Err` if there never will be.
    pub(super) fn take(&self) -> Result<Option<Arrival>, QueueClosed> {
        // Requests sent before the queues closed are still found: the flag is read first.
        let closed = self.closed.load(Ordering::Acquire);
        let requests = &self.requests.1;
        let mut arrival = requests.try_recv().ok();
        if arrival.is_none() {
            if closed {
                return Err(QueueClosed);
            }
            self.arrived.wait_while(NAP, || requests.is_empty());
            arrival = requests.try_recv().ok();
        }
        if arrival.is_some() && self.drained.is_used() && self.waiting() <= self.room {
            // Only some: a thousand that wake together would only get into each other's way.
            self.drained.wake(self.room.max(1));
        }
        Ok(arrival)
    }

    /// Counts a request as done, once the orders that it triggered are sent.
    pub(super) fn done(&self) {
        self.in_flight.fetch_sub(1, Ordering::Release);
    }

    /// A customer has ended.
    pub(super) fn leave(&self) {
        self.customers.fetch_sub(1, Ordering::Release);
    }

    /// Whether no further order can be sent.
    fn quiet(&self) -> bool {
        self.customers.load(Ordering::Acquire) == 0 && self.in_flight.load(Ordering::Acquire) == 0
    }
}

/// Threads that wait for a change by others.
#[derive(Debug, Default)]
struct Waiters {
    threads: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Waiters {
    fn enter(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().expect("nothing panics while it holds this lock")
    }

    /// Waits while `unchanged` holds, for at most that time.
    fn wait_while(&self, at_most: Duration, unchanged: impl Fn() -> bool) {
        let lock = self.enter();
        // Counted before the condition is read: who changes something thereafter sees that a thread waits.
        self.threads.fetch_add(1, Ordering::SeqCst);
        let rested = blocked_on(Wait::Queue, || self.changed.wait_timeout_while(lock, at_most, |()| unchanged()));
        self.threads.fetch_sub(1, Ordering::SeqCst);
        drop(rested.expect("nothing panics while it holds this lock"));
    }

    /// Whether a thread waits here; only meaningful after a change.
    fn is_used(&self) -> bool {
        self.threads.load(Ordering::SeqCst) > 0
    }

    fn wake_one(&self) {
        // A counted thread holds the lock until it waits.
        drop(self.enter());
        self.changed.notify_one();
    }

    /// Wakes at most that many threads.
    fn wake(&self, most: usize) {
        drop(self.enter());
        (0..self.threads.load(Ordering::SeqCst).min(most)).for_each(|_| self.changed.notify_one());
    }
}

/// Error of a queue after its last request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueueClosed;

/// The market exchange before it opens.
pub(super) struct Exchange<'w> {
    pub(super) inputs: &'w Inputs,
    pub(super) database: Database,
    pub(super) ticker_tape_seed: u64,
    pub(super) trading_floor_seed: u64,
    pub(super) queues: &'w MarketQueues,
    /// Pending orders from before the round.
    pub(super) pending: Vec<PendingOrder>,
}

impl<'w> Exchange<'w> {
    /// Opens the market when the round begins; with pending orders it has been open for the [age](aged::AGE_S) at which they
    /// were drawn.
    fn open(&mut self, now: Timestamp, due_results: &mut DueResults) -> MarketExchange<'w> {
        let before = |ms: i64| Timestamp::from_millis(now.millis() - ms);
        let opened = if self.pending.is_empty() { now } else { before(1_000 * aged::AGE_S) };
        let config = MarketConfig::after(&self.database);
        let (tape, floor) = (self.ticker_tape_seed, self.trading_floor_seed);
        let mut market = MarketExchange::new(self.inputs, &config, tape, floor, opened);
        for order in std::mem::take(&mut self.pending) {
            let wait = market.submit(before(order.age_ms), &order.request(), &mut |_| {});
            wait.expect("orders were drawn for securities of the database");
            due_results.add(order.due_ms.unsigned_abs() * MS, 0);
        }
        market
    }

    /// Runs the exchange until all customers have ended and the last order is executed.
    ///
    /// The ticker tape stops with the customers, so that the last feeds trigger the last limit orders; executing what is
    /// outstanding then takes up to ten seconds, since a delay cut to 0 waits a full turn of the timer wheel.
    pub(super) fn run(mut self, clock: &dyn Clock, control: &RoundControl) {
        let queues = self.queues;
        // The emulator counts whole milliseconds; those of its time stamps are those of the clock.
        let origin_ms = clock.timestamp().millis() - (clock.now() / MS) as i64;
        let stamp = |now: Nanos| Timestamp::from_millis(origin_ms + (now / MS) as i64);
        let mut due_results = DueResults::default();
        // Prices follow from the time since then: in all processes of a round they are the same at the same moment.
        let mut market = self.open(stamp(control.begin()), &mut due_results);
        // Due time of the next result, by the emulator.
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
            let quiet = draining && queues.quiet();
            let ahead = next.map_or(NAP, |at| Duration::from_nanos(at.saturating_sub(now)).min(NAP));
            let order = queues.next_order(ahead, &mut gathers);
            if order.is_none() && quiet && market.outstanding_orders() == 0 {
                break;
            }
            let now = clock.now();
            // Requests are due at the emulator's time, however late this thread was woken.
            let due = next.map_or(now, |at| at.min(now));
            let mut sink = |request| {
                queues.in_flight.fetch_add(1, Ordering::Relaxed);
                let mut arrival = Arrival { due, request };
                while let Err(full) = queues.requests.0.send_timeout(arrival, NAP) {
                    if control.ended(clock.now()) {
                        return;
                    }
                    arrival = full.into_inner();
                }
                if queues.arrived.is_used() {
                    queues.arrived.wake_one();
                }
                queues.counters.longest_queue.fetch_max(queues.waiting(), Ordering::Relaxed);
            };
            if let Some(order) = &order
                && let Ok(Some(after_s)) = market.executed_after_s(stamp(now), order)
            {
                due_results.add(now.saturating_sub(control.begin()), after_s);
            }
            let wait = match order {
                Some(order) => market
                    .submit(stamp(now), &order, &mut sink)
                    .expect("orders name securities of the database, which is made of the same inputs"),
                None => market.generate(stamp(now), &mut sink),
            };
            // The emulator may say zero although nothing is due in this millisecond.
            next = wait.map(|wait| (now / MS + (wait.as_millis() as Nanos).max(1)) * MS);
        }
        *queues.counters.due.lock().unwrap_or_else(PoisonError::into_inner) = due_results;
        queues.closed.store(true, Ordering::Release);
    }
}
