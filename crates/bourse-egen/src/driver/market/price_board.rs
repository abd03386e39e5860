//! Prices at a moment (EGen `CMEEPriceBoard`).

use crate::price::{PriceCurve, in_the_money, travel};
use crate::txn::TradeType;
use crate::{Inputs, Money, dates, ids};
use bourse_schema::{Symbol, Timestamp};

/// The securities that are traded and the curve their prices follow.
#[derive(Debug, Clone, Copy)]
pub struct PriceBoard<'i> {
    inputs: &'i Inputs,
    curve: PriceCurve,
    securities: i64,
}

impl<'i> PriceBoard<'i> {
    /// The board of a database with `customers` customers, after `trading_s_so_far` seconds of trading.
    pub fn new(inputs: &'i Inputs, customers: i64, trading_s_so_far: i64) -> Self {
        let securities = customers / ids::LOAD_UNIT * ids::SECURITIES_PER_LOAD_UNIT;
        Self { inputs, curve: PriceCurve::after(trading_s_so_far), securities }
    }

    /// Number of traded securities.
    pub fn securities(&self) -> i64 {
        self.securities
    }

    /// The symbol of a security, by index.
    pub fn symbol(&self, security: i64) -> Symbol {
        self.inputs.symbol(security)
    }

    /// Index of a symbol's security, including one that is only traded in a larger database; `None` if it does not
    /// exist.
    pub fn security(&self, symbol: &Symbol) -> Option<i64> {
        self.inputs.security_index(symbol.as_str())
    }

    /// The board at local time `now`, for a market that opened at `base`.
    pub fn at(&self, base: Timestamp, now: Timestamp) -> PricedMoment<'_> {
        PricedMoment { board: self, time_s: dates::seconds_between(base, now), local_ms: now.millis() }
    }
}

/// One reading of the clock, and all prices at it.
#[derive(Debug, Clone, Copy)]
pub struct PricedMoment<'b> {
    pub(super) board: &'b PriceBoard<'b>,
    /// Seconds since the market opened.
    time_s: f64,
    /// Local time in milliseconds, as the timers use it.
    pub(super) local_ms: i64,
}

impl PricedMoment<'_> {
    /// The price of a security, by index.
    pub fn price(&self, security: i64) -> Money {
        self.board.curve.price(security, self.time_s)
    }

    /// Seconds until a limit order's price is reached; `None` if it already is.
    pub fn travel_s(&self, security: i64, trade_type: TradeType, limit: Money) -> Option<f64> {
        let curve = self.board.curve;
        let price = self.price(security);
        if in_the_money(trade_type, price, limit) {
            return None;
        }
        let reached_s = self.time_s + travel(price, limit, curve.direction(security, self.time_s));
        // Not the way itself: the reference adds it to the time and takes the time away again, which rounds twice.
        Some(reached_s - self.time_s)
    }
}
