//! Surroundings of a transaction outside the database: the time, trade numbers, the market and retries.

use super::{FrameError, rows};
use bourse_egen::txn::TradeRequest;
use bourse_engine::{Session, Sql};
use bourse_schema::{Timestamp, TradeId};
use std::sync::atomic::{AtomicI64, Ordering};

/// Surroundings of a transaction. The caller owns the clock, so that time can be simulated.
pub struct Context<'a> {
    /// The current time, in the database's time.
    pub now: &'a dyn Fn() -> Timestamp,
    /// Source of numbers for new trades.
    pub trade_ids: &'a TradeIds,
    /// Destination of orders once they are committed.
    pub market: &'a dyn SendToMarket,
    /// Handling of conflicts with other transactions.
    pub retry: Retry<'a>,
}

/// Retry policy for conflicts between transactions: with the same input, after a pause.
#[derive(Clone, Copy)]
pub struct Retry<'a> {
    /// Tries of a transaction before its conflict becomes an error; at least one.
    pub attempts: u32,
    /// Pauses before attempt number `n` (2, 3, …), and returns whether it may be made: the caller sleeps, since the clock is its
    /// own.
    pub back_off: &'a dyn Fn(u32) -> bool,
}

/// The way from the brokerage house to the market exchange (the reference's `SendToMarket`).
///
/// An order is sent only when the transaction that made it has been committed: the market may answer immediately, and the
/// answer must find the trade.
pub trait SendToMarket {
    /// Sends an order.
    fn send(&self, order: &TradeRequest);
}

impl<F: Fn(&TradeRequest)> SendToMarket for F {
    fn send(&self, order: &TradeRequest) {
        self(order);
    }
}

/// Numbers for new trades: unique, above all loaded ones, with gaps where an order was rolled back (Clause 3.3.7.6).
///
/// They are counted here and not in the database, so that two orders never wait for each other's number.
#[derive(Debug)]
pub struct TradeIds(AtomicI64);

static LARGEST_TRADE: Sql = Sql::new("SELECT max(t_id) FROM trade");

impl TradeIds {
    /// Numbers from `next` on.
    pub const fn starting_at(next: TradeId) -> Self {
        Self(AtomicI64::new(next.0))
    }

    /// Continues after the trades in the database, but not below `first_free`, the first number after the initial trades:
    /// Trade-Cleanup looks for unfinished trades only from there.
    ///
    /// # Errors
    /// The engine's.
    pub fn following(db: &mut dyn Session, first_free: TradeId) -> Result<Self, FrameError> {
        let (largest,): (Option<TradeId>,) = rows::one(db, &LARGEST_TRADE, &[])?;
        Ok(Self::starting_at(largest.map_or(first_free, |largest| first_free.max(TradeId(largest.0 + 1)))))
    }

    /// The number that comes next; it is not taken.
    pub fn upcoming(&self) -> TradeId {
        TradeId(self.0.load(Ordering::Relaxed))
    }

    /// The next number.
    pub fn next(&self) -> TradeId {
        TradeId(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

pub(super) static STATEMENTS: &[&Sql] = &[&LARGEST_TRADE];
