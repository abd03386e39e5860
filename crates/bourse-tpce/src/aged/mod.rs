//! A market at an age: the limit orders that would be pending if it had been open for a quarter of an hour.
//!
//! Two of five Trade-Orders are limit orders. Half of these wait for their price, up to 900 s, the period of the price
//! curve. A market that has just opened has none of them pending, so that fewer Trade-Results come due than orders are
//! placed. Here the orders of the 900 s before a round are [drawn](pending_orders) as customers draw them, and those whose
//! price has not been reached when the round begins are [written](place) in bulk: the same rows that Trade-Order leaves.
//!
//! What was under way to the trading floor or on the ticker tape at that moment, the orders of some two seconds, is not
//! made up for.

mod draw;
mod place;

pub use draw::pending_orders;
pub use place::place;

use crate::transactions::trade_order::limit;
use bourse_egen::txn::{TradeAction, TradeOrder, TradeRequest};
use bourse_schema::{Symbol, TradeId};

/// Age of the market in seconds: from this age on as many limit orders come due as are placed.
pub const AGE_S: i64 = 900;

/// A limit order that is pending when a round begins.
#[derive(Debug, Clone)]
pub struct PendingOrder {
    /// The order as the customer placed it.
    pub input: TradeOrder,
    /// The security that it names, by symbol or by company and issue.
    pub symbol: Symbol,
    /// Age of the order when the round begins, in milliseconds.
    pub age_ms: i64,
    /// Time from the begin of the round until its price is reached, in milliseconds.
    pub due_ms: i64,
}

impl PendingOrder {
    /// Request by which the order was sent to the market. The market makes no use of its number.
    pub fn request(&self) -> TradeRequest {
        TradeRequest {
            action: TradeAction::SetLimitTrigger,
            trade_id: TradeId(0),
            trade_type: self.input.trade_type,
            symbol: self.symbol,
            trade_qty: self.input.trade_qty,
            price_quote: limit(&self.input),
        }
    }
}
