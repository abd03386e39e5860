//! Two sessions that perform the same orders, with their results and prices.

use super::stream::START;
use crate::check::first_trade;
use crate::check::reconciliation::{self, ORDERS, RESULTS};
use crate::transactions::trade_order::TradeOrderOutput;
use crate::transactions::{Context, FrameError, Output, Request, Retry, Status, TradeIds, TxnError, perform};
use crate::workload::{Tpce, size_of};
use bourse_egen::driver::{CustomerConfig, CustomerEmulator, Database, Mix, Tunables};
use bourse_egen::txn::{CustomerRequest, MarketFeed, TickerEntry, TradeOrder, TradeResult};
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, EngineError, ErrorKind, Result};
use bourse_oltp::Workload;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::verify::Contention;
use bourse_oltp::verify::contention::{self, ATTEMPTS, SteppedSession};
use bourse_schema::Timestamp;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Different orders that both sessions perform.
const DIFFERENT: usize = 8;
/// Repetitions of each order: the first time most positions are new, later ones change existing holdings.
const TIMES: usize = 2;
/// Conditions that lost updates break: the specification's.
const CLAUSE: &str = "Clause 7.3.2";

/// Sets two sessions to the same work on a database that no other session uses and no limit order is pending. Once
/// `interrupted` says so, they begin no further order.
///
/// # Errors
/// The engine's, before or after the work; what goes wrong in it is in the result.
pub fn contend(engine: &dyn Engine, inputs: &Inputs, part: Part, interrupted: &AtomicBool) -> Result<Contention> {
    let orders = market_orders(inputs, Database::of(part.total_customers(), part.scale_factor(), part.days()));
    let trade_ids = TradeIds::following(&mut *engine.session()?, first_trade(part)).map_err(|error| match error {
        FrameError::Engine(error) => error,
        other => EngineError::new(ErrorKind::Other, other.to_string()),
    })?;
    // Later than anything in the database.
    let work = SharedWork { trade_ids: &trade_ids, now_ms: AtomicI64::new(START.millis() + 7 * 86_400_000) };
    let perform = |session: &mut SteppedSession<'_>, number: usize, ledger: &mut Ledger| {
        work.trade(session, &orders[number], ledger).map_err(|error| (error.kind(), error.to_string()))
    };
    let of = (&Tpce as &dyn Workload, &size_of(part), CLAUSE);
    contention::contend(engine, of, orders.len(), interrupted, &perform, |ledger| {
        let [orders, results] = [ORDERS, RESULTS].map(|at| ledger.sure(at));
        (format!("{orders} Trade-Orders and {results} Trade-Results"), results)
    })
}

/// Market orders as customers draw them, half of them sales: executed immediately, and never rolled back.
fn market_orders(inputs: &Inputs, database: Database) -> Vec<TradeOrder> {
    let tunables = Tunables { mix: Mix { trade_order: 1, ..Mix::NONE }, ..Tunables::default() };
    let config = CustomerConfig { tunables, ..CustomerConfig::of(database) };
    let customers = CustomerEmulator::new(inputs, &config, 1, 1);
    let mut customers = customers.expect("a part's database has customers for the emulator");
    let orders = std::iter::from_fn(|| Some(customers.next())).filter_map(|request| match request {
        CustomerRequest::TradeOrder(order) if order.trade_type.is_market() && !order.type_is_margin => {
            Some(TradeOrder { roll_it_back: false, ..order })
        }
        _ => None,
    });
    orders.take(DIFFERENT).flat_map(|order| std::iter::repeat_n(order, TIMES)).collect()
}

/// Work that both sessions share.
struct SharedWork<'w> {
    trade_ids: &'w TradeIds,
    now_ms: AtomicI64,
}

impl SharedWork<'_> {
    /// Performs an order, its result, and its price on the ticker tape.
    fn trade(&self, session: &mut SteppedSession<'_>, order: &TradeOrder, told: &mut Ledger) -> Result<(), TxnError> {
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
        session: &mut SteppedSession<'_>,
        request: &Request,
        told: &mut Ledger,
    ) -> Result<Output, TxnError> {
        let participant = session.participant();
        participant.begin();
        let now = || Timestamp::from_millis(self.now_ms.fetch_add(1, Ordering::Relaxed));
        let back_off = |attempt| {
            participant.back_off(attempt);
            true
        };
        let retry = Retry { attempts: ATTEMPTS, back_off: &back_off };
        let context = Context { now: &now, trade_ids: self.trade_ids, market: &|_: &_| {}, retry };
        let performed = perform(session, &context, request);
        match &performed {
            Ok(performed) if performed.output.status() == Status::SUCCESS => reconciliation::committed(told, request),
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionLost | ErrorKind::InDoubt) => {
                reconciliation::in_doubt(told, request);
            }
            _ => reconciliation::failed(told, request),
        }
        performed.map(|performed| performed.output)
    }
}
