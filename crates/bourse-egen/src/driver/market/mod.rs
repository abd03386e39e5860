//! The market exchange emulator (EGen `CMEE`): executes orders and prints the ticker tape.
//!
//! | module | EGen's name | contents |
//! |---|---|---|
//! | [`price_board`] | `CMEEPriceBoard` | every security's price at a moment |
//! | [`timer_wheel`] | `CTimerWheel` | timers that fire when the clock has turned past them |
//! | `trading_floor` | `CMEETradingFloor` | orders on their way to their result |
//! | `ticker_tape` | `CMEETickerTape` | twenty entries make a Market-Feed; limit orders |
//!
//! The market reads no clock: every call passes the local time, and results and feeds are delivered to the call's sink.
//! The caller invokes [`MarketExchange::generate`] when the returned time has passed.

pub mod price_board;
mod ticker_tape;
pub mod timer_wheel;
mod trading_floor;

use self::price_board::PriceBoard;
use self::ticker_tape::{TapeEntry, TickerTape};
use self::trading_floor::{ExecutedOrder, FloorOrder, TradingFloor};
use super::config::Database;
use crate::Inputs;
use crate::txn::{MarketRequest, TradeAction, TradeRequest};
use bourse_schema::{Symbol, Timestamp};
use std::time::Duration;
use thiserror::Error;

/// Error of an order for a security that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("no security has the symbol {symbol:?}")]
pub struct UnknownSymbol {
    /// Symbol as given.
    pub symbol: Symbol,
}

/// Configuration of the market of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarketConfig {
    /// Number of customers, which determines how many securities are traded.
    pub customers: i64,
    /// Seconds of trading before the market opens: those of the initial trades, so that prices continue from their end.
    pub trading_s_so_far: i64,
}

impl MarketConfig {
    /// A market that continues after the initial trades of a database.
    pub const fn after(database: &Database) -> Self {
        Self { customers: database.active_customers, trading_s_so_far: database.trading_s() }
    }
}

/// The market exchange: receives orders and the time, delivers results and feeds.
///
/// Local time must not decrease; if it does, timers are suspended until it has caught up.
///
/// ```
/// use bourse_egen::driver::{Database, MarketConfig, MarketExchange};
/// use bourse_egen::txn::{MarketRequest, TradeAction, TradeRequest};
/// use bourse_egen::{Inputs, TradeType, dates};
/// use bourse_schema::{Price, TradeId};
///
/// let inputs = Inputs::builtin();
/// let config = MarketConfig::after(&Database::of(1_000, 500, 10));
/// let open = dates::BASE;
/// let mut market = MarketExchange::new(&inputs, &config, 1, 2, open);
/// let order = TradeRequest {
///     action: TradeAction::ProcessOrder,
///     trade_id: TradeId(200_000_000_000_001),
///     trade_type: TradeType::MarketBuy,
///     symbol: inputs.symbol(0),
///     trade_qty: 100,
///     price_quote: Price::from_units(2_564),
/// };
/// let mut requests = Vec::new();
/// market.submit(open, &order, &mut |request| requests.push(request)).unwrap();
/// assert_eq!((requests.len(), market.outstanding_orders()), (0, 1));
/// market.generate(dates::add(open, 0, 10_000), &mut |request| requests.push(request)); // ten seconds later
/// let [MarketRequest::TradeResult(result)] = requests.as_slice() else { panic!("one result") };
/// assert_eq!(result.trade_id, order.trade_id);
/// ```
#[derive(Debug, Clone)]
pub struct MarketExchange<'i> {
    board: PriceBoard<'i>,
    floor: TradingFloor,
    tape: TickerTape,
    base: Timestamp,
}

impl<'i> MarketExchange<'i> {
    /// A market set up at local time `now`, which is also its base time until [another](Self::set_base_time) is set.
    pub fn new(
        inputs: &'i Inputs,
        config: &MarketConfig,
        ticker_tape_seed: u64,
        trading_floor_seed: u64,
        now: Timestamp,
    ) -> Self {
        Self {
            board: PriceBoard::new(inputs, config.customers, config.trading_s_so_far),
            floor: TradingFloor::new(trading_floor_seed, now.millis()),
            tape: TickerTape::new(ticker_tape_seed, now.millis()),
            base: now,
        }
    }

    /// Opens the market: prices move from `now` on. Timers retain the origin they were set up with.
    pub fn set_base_time(&mut self, now: Timestamp) {
        self.base = now;
    }

    /// Accepts an order, and delivers results and feeds that are due by now to `sink`.
    ///
    /// Returns the time until the next result is due, `None` if no order waits. It may be zero although nothing is due:
    /// see [`timer_wheel`]. Every order to be processed gets exactly one Trade-Result, after at most five seconds and,
    /// if its delay is truncated to zero, after a whole turn of five seconds.
    ///
    /// # Errors
    /// [`UnknownSymbol`]; the order is not accepted then.
    pub fn submit(
        &mut self,
        now: Timestamp,
        order: &TradeRequest,
        sink: &mut dyn FnMut(MarketRequest),
    ) -> Result<Option<Duration>, UnknownSymbol> {
        let Self { board, floor, tape, base } = self;
        let symbol = order.symbol;
        let security = board.security(&symbol).ok_or(UnknownSymbol { symbol })?;
        let now = board.at(*base, now);
        let limit = order.price_quote.into();
        let next_ms = match order.action {
            TradeAction::ProcessOrder => {
                let TradeRequest { trade_id, trade_type, trade_qty: quantity, .. } = *order;
                let order = FloorOrder { trade_id, trade_type, security, quantity, limit };
                Some(floor.submit(order, &now, &mut |executed| show(tape, executed, &now, sink)))
            }
            TradeAction::SetLimitTrigger => {
                tape.post_limit(security, order.trade_type, limit, &now);
                floor.generate(&now, &mut |executed| show(tape, executed, &now, sink))
            }
        };
        Ok(next_ms.map(duration))
    }

    /// Seconds after which an order that a customer places now is sent for execution: 0 for an order at the market's
    /// price; for a limit order the time until its price is reached, 900 at most. `None` for a limit order that is sent
    /// for execution: its time was determined when it was placed.
    ///
    /// # Errors
    /// [`UnknownSymbol`].
    pub fn executed_after_s(&self, now: Timestamp, order: &TradeRequest) -> Result<Option<i64>, UnknownSymbol> {
        let symbol = order.symbol;
        let security = self.board.security(&symbol).ok_or(UnknownSymbol { symbol })?;
        let now = self.board.at(self.base, now);
        Ok(match order.action {
            TradeAction::ProcessOrder => order.trade_type.is_market().then_some(0),
            TradeAction::SetLimitTrigger => {
                Some(TickerTape::wait_s(security, order.trade_type, order.price_quote.into(), &now))
            }
        })
    }

    /// Delivers results and feeds that are due by now to `sink`; returns the time until the next result is due, as
    /// [`submit`](Self::submit) does.
    pub fn generate(&mut self, now: Timestamp, sink: &mut dyn FnMut(MarketRequest)) -> Option<Duration> {
        let Self { board, floor, tape, base } = self;
        let now = board.at(*base, now);
        floor.generate(&now, &mut |executed| show(tape, executed, &now, sink)).map(duration)
    }

    /// Stops or resumes the ticker tape: while it is disabled there are no Market-Feeds, but results continue.
    pub fn set_ticker_tape(&mut self, enabled: bool) {
        self.tape.set_enabled(enabled);
    }

    /// Number of orders without a Trade-Result yet: 0 when a run can end without losing one.
    pub fn outstanding_orders(&self) -> usize {
        self.floor.outstanding()
    }

    /// The state of the ticker tape's random numbers.
    pub fn ticker_tape_rng_state(&self) -> u64 {
        self.tape.rng_state()
    }

    /// The state of the trading floor's random numbers.
    pub fn trading_floor_rng_state(&self) -> u64 {
        self.floor.rng_state()
    }
}

/// Sends a result, then shows the trade on the tape.
fn show(
    tape: &mut TickerTape,
    executed: ExecutedOrder,
    now: &price_board::PricedMoment<'_>,
    sink: &mut dyn FnMut(MarketRequest),
) {
    let ExecutedOrder { result, security, quantity, price } = executed;
    sink(MarketRequest::TradeResult(result));
    tape.add(TapeEntry { security, price, quantity }, now, &mut |feed| sink(MarketRequest::MarketFeed(feed)));
}

fn duration(ms: i64) -> Duration {
    Duration::from_millis(ms.unsigned_abs())
}
