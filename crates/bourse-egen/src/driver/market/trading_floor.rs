//! The trading floor: holds each order for its emulated delay, then executes it at the price of that moment
//! (EGen `CMEETradingFloor`).

use super::price_board::PricedMoment;
use super::timer_wheel::TimerWheel;
use crate::price::completion_delay;
use crate::txn::{TradeResult, TradeType};
use crate::{Money, Rng};
use bourse_schema::{Quantity, TradeId};

/// An order on the floor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FloorOrder {
    pub(crate) trade_id: TradeId,
    pub(crate) trade_type: TradeType,
    /// Index of the security.
    pub(crate) security: i64,
    pub(crate) quantity: Quantity,
    /// Limit of a limit order.
    pub(crate) limit: Money,
}

/// An executed order.
pub(crate) struct ExecutedOrder {
    pub(crate) result: TradeResult,
    pub(crate) security: i64,
    pub(crate) quantity: Quantity,
    /// Market price, which the tape shows even if the order got its limit.
    pub(crate) price: Money,
}

/// The floor: a wheel of five seconds in milliseconds.
#[derive(Debug, Clone)]
pub(crate) struct TradingFloor {
    wheel: TimerWheel<FloorOrder>,
    rng: Rng,
    fired: Vec<FloorOrder>,
}

impl TradingFloor {
    /// Slots of one millisecond: the longest delay is a whole turn.
    const SLOTS: usize = 5_000;

    pub(crate) fn new(seed: u64, now_ms: i64) -> Self {
        Self { wheel: TimerWheel::new(Self::SLOTS, 1, now_ms), rng: Rng::new(seed), fired: Vec::new() }
    }

    pub(crate) fn rng_state(&self) -> u64 {
        self.rng.state()
    }

    /// Number of orders without a result yet.
    pub(crate) fn outstanding(&self) -> usize {
        self.wheel.waiting()
    }

    /// Accepts an order and executes those due; returns the milliseconds until the next.
    pub(crate) fn submit(
        &mut self,
        order: FloorOrder,
        now: &PricedMoment<'_>,
        executed: &mut dyn FnMut(ExecutedOrder),
    ) -> i64 {
        let delay_s = completion_delay(&mut self.rng);
        let next_ms = self.wheel.start(now.local_ms, delay_s, order, &mut self.fired);
        self.execute(now, executed);
        next_ms
    }

    /// Executes orders that are due; returns the milliseconds until the next, `None` if no order waits.
    pub(crate) fn generate(&mut self, now: &PricedMoment<'_>, executed: &mut dyn FnMut(ExecutedOrder)) -> Option<i64> {
        let next_ms = self.wheel.expire(now.local_ms, &mut self.fired);
        self.execute(now, executed);
        next_ms
    }

    fn execute(&mut self, now: &PricedMoment<'_>, executed: &mut dyn FnMut(ExecutedOrder)) {
        for order in self.fired.drain(..) {
            let FloorOrder { trade_id, trade_type, security, quantity, limit } = order;
            let price = now.price(security);
            // A limit order that the market overtook on the way gets its limit. Stop-loss orders do not.
            let keeps_limit = match trade_type {
                TradeType::LimitBuy => limit < price,
                TradeType::LimitSell => limit > price,
                _ => false,
            };
            let trade_price = if keeps_limit { limit } else { price }.into();
            executed(ExecutedOrder { result: TradeResult { trade_id, trade_price }, security, quantity, price });
        }
    }
}
