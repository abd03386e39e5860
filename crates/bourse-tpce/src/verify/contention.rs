//! Two sessions that change the same rows concurrently, statement by statement: neither must undo what the other has
//! committed.
//!
//! Each performs the same orders with their results and prices. Before each statement it waits until the other is about to
//! run one too, or is known to be held up in the engine: all that both read before they write, they read before either has
//! written. The engine decides which of them then waits, or is refused and tries again; the database must have gained what
//! was acknowledged to both. In rounds of few milliseconds two users hardly ever meet on one row of thousands.

use super::stream::START;
use crate::check::conditions::CONDITIONS;
use crate::check::reconciliation::{AcknowledgedCommits, Snapshot};
use crate::check::{CheckResult, first_trade, holes};
use crate::transactions::trade_order::TradeOrderOutput;
use crate::transactions::{Context, Output, Request, Retry, Status, TradeIds, TxnError, perform};
use bourse_egen::driver::{ConfigError, CustomerConfig, CustomerEmulator, Database, Mix, Tunables};
use bourse_egen::txn::{CustomerRequest, MarketFeed, TickerEntry, TradeOrder, TradeResult};
use bourse_egen::{Inputs, Part};
use bourse_engine::{
    Access, EachFound, EachRow, Engine, EngineError, ErrorKind, Isolation, Params, Routine, Session, Sql, Value,
    forward_session,
};
use bourse_schema::Timestamp;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Different orders that both sessions perform.
const ORDERS: usize = 8;
/// Repetitions of each order: the first time most positions are new, later ones change existing holdings.
const TIMES: usize = 2;
/// Tries of a transaction that conflicts with the other session's.
const ATTEMPTS: u32 = 100;
/// Time that a session waits for the other before it counts as held up by a lock. On a busy machine a thread that is not
/// held up may be as late.
const HELD_UP: Duration = Duration::from_millis(20);
/// Time that a session waits where writers come one at a time: none waits while it holds the writer lock, so the other
/// always comes.
const LOST: Duration = Duration::from_secs(2);
/// Conditions that lost updates break, of [`CONDITIONS`]: the specification's.
const CLAUSE: &str = "Clause 7.3.2";

/// Result of the concurrent work of two sessions.
#[derive(Debug, Clone)]
pub struct Contention {
    /// Commits acknowledged to both.
    pub acknowledged: AcknowledgedCommits,
    /// Tries beyond the first.
    pub retries: u64,
    /// The first failure that is no conflict.
    pub failure: Option<String>,
    /// The reconciliation of the database with what was acknowledged, and the specification's conditions.
    pub checked: Vec<CheckResult>,
}

impl Contention {
    /// The fault in plain English; `None` if there is none.
    pub fn fault(&self) -> Option<String> {
        if let Some(failure) = &self.failure {
            return Some(failure.clone());
        }
        if self.acknowledged.results == 0 {
            return Some("no Trade-Result was committed".to_owned());
        }
        let failed = self.checked.iter().find(|checked| !checked.passed());
        failed.map(|failed| format!("{}: {}", failed.words, failed.evidence.join("; ")))
    }
}

/// Failure to set two sessions to work.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ContentionError {
    /// The emulator cannot work with such a database.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The engine's, before or after the work.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The numbers of trades cannot be read.
    #[error(transparent)]
    Frame(#[from] crate::transactions::FrameError),
}

/// Sets two sessions to the same work on a database that no other session uses and no limit order is pending. Once
/// `interrupted` says so, they begin no further order.
///
/// # Errors
/// [`ContentionError`]; what goes wrong in the work is in the result.
pub fn contend(
    engine: &dyn Engine,
    inputs: &Inputs,
    part: Part,
    interrupted: &AtomicBool,
) -> Result<Contention, ContentionError> {
    let orders = market_orders(inputs, Database::of(part.total_customers(), part.scale_factor(), part.days()))?;
    let mut session = engine.session()?;
    let first_trade = first_trade(part);
    let trade_ids = TradeIds::following(&mut *session, first_trade)?;
    let before = Snapshot::take(&mut *session)?;
    let work = SharedWork {
        engine,
        orders: &orders,
        trade_ids: &trade_ids,
        // Later than anything in the database.
        now_ms: AtomicI64::new(START.millis() + 7 * 86_400_000),
        retries: AtomicU64::new(0),
        meeting: Meeting { one_writer: !engine.capabilities().concurrent_writers, ..Meeting::default() },
        interrupted,
    };
    let [one, other] = std::thread::scope(|scope| {
        let threads = [0, 1].map(|number| {
            scope.spawn({
                let work = &work;
                move || work.of_one(number)
            })
        });
        threads.map(|thread| thread.join().expect("a panic of ours is one of the whole work"))
    });
    let mut acknowledged = one.0;
    acknowledged.add(&other.0);
    let mut checked = before.compare(&mut *session, &acknowledged)?;
    for condition in CONDITIONS.iter().filter(|condition| condition.source.starts_with(CLAUSE)) {
        checked.push(condition.run(&mut *session, &holes(first_trade))?);
    }
    let failure = one.1.or(other.1);
    Ok(Contention { acknowledged, retries: work.retries.into_inner(), failure, checked })
}

/// Market orders as customers draw them, half of them sales: executed immediately, and never rolled back.
fn market_orders(inputs: &Inputs, database: Database) -> Result<Vec<TradeOrder>, ConfigError> {
    let tunables = Tunables { mix: Mix { trade_order: 1, ..Mix::NONE }, ..Tunables::default() };
    let config = CustomerConfig { tunables, ..CustomerConfig::of(database) };
    let mut customers = CustomerEmulator::new(inputs, &config, 1, 1)?;
    let orders = std::iter::from_fn(|| Some(customers.next())).filter_map(|request| match request {
        CustomerRequest::TradeOrder(order) if order.trade_type.is_market() && !order.type_is_margin => {
            Some(TradeOrder { roll_it_back: false, ..order })
        }
        _ => None,
    });
    Ok(orders.take(ORDERS).flat_map(|order| std::iter::repeat_n(order, TIMES)).collect())
}

/// Work that both sessions share.
struct SharedWork<'w> {
    engine: &'w dyn Engine,
    orders: &'w [TradeOrder],
    trade_ids: &'w TradeIds,
    now_ms: AtomicI64,
    retries: AtomicU64,
    meeting: Meeting,
    interrupted: &'w AtomicBool,
}

impl SharedWork<'_> {
    /// The work of one session: what was acknowledged to it, and its first failure that is no conflict.
    fn of_one(&self, number: usize) -> (AcknowledgedCommits, Option<String>) {
        let _leaves = LeaveGuard { meeting: &self.meeting, number };
        let mut told = AcknowledgedCommits::default();
        let inner = match self.engine.session() {
            Ok(inner) => inner,
            Err(error) => return (told, Some(error.to_string())),
        };
        let mut session = Stepwise { inner, meeting: &self.meeting, number };
        let mut failure = None;
        for order in self.orders.iter().take_while(|_| !self.interrupted.load(Ordering::Relaxed)) {
            if let Err(error) = self.trade(&mut session, order, &mut told)
                && error.kind() != ErrorKind::Conflict
            {
                failure.get_or_insert(error.to_string());
            }
        }
        (told, failure)
    }

    /// Performs an order, its result, and its price on the ticker tape.
    fn trade(
        &self,
        session: &mut Stepwise<'_>,
        order: &TradeOrder,
        told: &mut AcknowledgedCommits,
    ) -> Result<(), TxnError> {
        let Output::TradeOrder(output) = self.perform(session, &order.clone().into(), told)? else { return Ok(()) };
        let TradeOrderOutput { status: Status::SUCCESS, trade_id: Some(trade_id), estimate: Some(estimate), .. } =
            *output
        else {
            return Ok(());
        };
        let (trade_price, symbol) = (estimate.market_price, estimate.symbol);
        self.perform(session, &TradeResult { trade_id, trade_price }.into(), told)?;
        let entry = TickerEntry { symbol, price_quote: trade_price, trade_qty: order.trade_qty };
        self.perform(session, &MarketFeed { entries: vec![entry], unique_symbols: 1 }.into(), told)?;
        Ok(())
    }

    fn perform(
        &self,
        session: &mut Stepwise<'_>,
        request: &Request,
        told: &mut AcknowledgedCommits,
    ) -> Result<Output, TxnError> {
        let number = session.number;
        self.meeting.lock().apart[number] = false;
        let now = || Timestamp::from_millis(self.now_ms.fetch_add(1, Ordering::Relaxed));
        // Step by step two that conflict would do so for ever.
        let back_off = |attempt: u32| {
            self.meeting.lock().apart[number] = true;
            std::thread::sleep(Duration::from_millis(u64::from(attempt.min(10)) * (1 + number as u64)));
        };
        let retry = Retry { attempts: ATTEMPTS, back_off: &back_off };
        let context = Context { now: &now, trade_ids: self.trade_ids, market: &|_: &_| {}, retry };
        match perform(session, &context, request) {
            Ok(performed) => {
                self.retries.fetch_add(u64::from(performed.retries), Ordering::Relaxed);
                if performed.output.status() == Status::SUCCESS {
                    told.committed(request);
                } else {
                    told.failed(request);
                }
                Ok(performed.output)
            }
            Err(error) => {
                if matches!(error.kind(), ErrorKind::ConnectionLost | ErrorKind::InDoubt) {
                    told.in_doubt(request);
                } else {
                    told.failed(request);
                }
                Err(error)
            }
        }
    }
}

/// Meeting point of the two sessions.
#[derive(Debug, Default)]
struct Meeting {
    /// Whether writers come one at a time.
    one_writer: bool,
    state: Mutex<MeetingState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct MeetingState {
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

impl Meeting {
    fn lock(&self) -> MutexGuard<'_, MeetingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the other session is about to run a statement too.
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
        if state.apart[me] || state.apart[other] || state.held_up[other] || state.gone[other] {
            return;
        }
        state.waits[me] = true;
        let patience = if self.one_writer { LOST } else { HELD_UP };
        let waited = self.changed.wait_timeout_while(state, patience, |state| state.waits[me] && !state.gone[other]);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.waits[me]) {
            state.held_up[other] = true;
        }
    }
}

/// Lets the other session continue alone when one ends, also on a panic.
struct LeaveGuard<'m> {
    meeting: &'m Meeting,
    number: usize,
}

impl Drop for LeaveGuard<'_> {
    fn drop(&mut self) {
        self.meeting.lock().gone[self.number] = true;
        self.meeting.changed.notify_all();
    }
}

/// A session that meets the other before each statement.
struct Stepwise<'m> {
    inner: Box<dyn Session>,
    meeting: &'m Meeting,
    number: usize,
}

impl Session for Stepwise<'_> {
    forward_session!(inner: dialect, install, has_routines);
    fn rollback(&mut self) -> Result<(), EngineError> {
        self.meeting.lock().write[self.number] = false;
        self.inner.rollback()
    }
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<(), EngineError> {
        self.meeting.meet(self.number);
        self.inner.begin(isolation, access)?;
        self.meeting.lock().write[self.number] = self.meeting.one_writer && access == Access::Write;
        Ok(())
    }
    fn query(&mut self, sql: &'static Sql, params: Params<'_>, each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.meeting.meet(self.number);
        self.inner.query(sql, params, each)
    }
    fn execute(&mut self, sql: &'static Sql, params: Params<'_>) -> Result<u64, EngineError> {
        self.meeting.meet(self.number);
        self.inner.execute(sql, params)
    }
    fn call(
        &mut self,
        routine: &'static Routine,
        params: Params<'_>,
        each: &mut EachFound<'_>,
    ) -> Result<(), EngineError> {
        self.meeting.meet(self.number);
        self.inner.call(routine, params, each)
    }
    fn commit(&mut self) -> Result<(), EngineError> {
        self.meeting.meet(self.number);
        let committed = self.inner.commit();
        self.meeting.lock().write[self.number] = false;
        committed
    }
    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.meeting.meet(self.number);
        self.inner.query_text(sql, params, each)
    }
    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, EngineError> {
        self.meeting.meet(self.number);
        self.inner.execute_text(sql, params)
    }
}
