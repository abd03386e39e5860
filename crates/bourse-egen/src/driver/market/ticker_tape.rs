//! The ticker tape: twenty entries make a Market-Feed (EGen `CMEETickerTape`).
//!
//! Each executed trade is followed on the tape by one more entry: a limit order whose price was reached, or else an
//! artificial trade. So ten results make a feed.

use super::price_board::PricedMoment;
use super::timer_wheel::TimerWheel;
use crate::txn::{MarketFeed, TickerEntry, TradeType};
use crate::{Money, Rng};
use bourse_schema::Quantity;
use std::collections::VecDeque;

/// Entry of the ticker tape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TapeEntry {
    /// Index of the security.
    pub(crate) security: i64,
    pub(crate) price: Money,
    pub(crate) quantity: Quantity,
}

/// The tape: the batch in progress, pending limit orders, and reached ones not yet shown.
#[derive(Debug, Clone)]
pub(crate) struct TickerTape {
    enabled: bool,
    rng: Rng,
    batch: Vec<TickerEntry>,
    /// Securities of the batch's entries, in a separate list because integers compare faster than symbols.
    securities: Vec<i64>,
    duplicates: i32,
    limits: TimerWheel<TapeEntry>,
    reached: VecDeque<TapeEntry>,
    fired: Vec<TapeEntry>,
}

impl TickerTape {
    /// Entries of a feed (Clause 3.3.3).
    const ENTRIES_PER_FEED: usize = 20;
    /// Limit orders wait in slots of a second for at most a quarter of an hour, the period of every price.
    const LIMIT_SLOTS: usize = 900;
    const LIMIT_SLOT_MS: i64 = 1_000;
    /// Shares of a limit order on the tape, whatever was ordered.
    const LIMIT_QUANTITY: Quantity = 375;
    /// Shares of artificial trades, both equally often.
    const ARTIFICIAL_QUANTITIES: [Quantity; 2] = [325, 425];

    pub(crate) fn new(seed: u64, now_ms: i64) -> Self {
        Self {
            enabled: true,
            rng: Rng::new(seed),
            batch: Vec::with_capacity(Self::ENTRIES_PER_FEED),
            securities: Vec::with_capacity(Self::ENTRIES_PER_FEED),
            duplicates: 0,
            limits: TimerWheel::new(Self::LIMIT_SLOTS, Self::LIMIT_SLOT_MS, now_ms),
            reached: VecDeque::new(),
            fired: Vec::new(),
        }
    }

    pub(crate) fn rng_state(&self) -> u64 {
        self.rng.state()
    }

    pub(crate) fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    /// Shows a trade and one more entry; nothing at all while the tape is disabled.
    pub(crate) fn add(&mut self, entry: TapeEntry, now: &PricedMoment<'_>, feed: &mut dyn FnMut(MarketFeed)) {
        if !self.enabled {
            return;
        }
        self.print(entry, now, feed);
        let extra = self.reached.pop_front().unwrap_or_else(|| self.artificial(now));
        self.print(extra, now, feed);
    }

    /// Whole seconds after which a limit order's price is reached, as the timer wheel counts them; less than one counts
    /// as a whole turn. 0 if the price is reached already.
    pub(crate) fn wait_s(security: i64, trade_type: TradeType, limit: Money, now: &PricedMoment<'_>) -> i64 {
        let turn = Self::LIMIT_SLOTS as i64;
        match now.travel_s(security, trade_type, limit).map(|delay_s| delay_s as i64 % turn) {
            None => 0,
            Some(0) => turn,
            Some(seconds) => seconds,
        }
    }

    /// Stores a limit order until its price is reached.
    ///
    /// Limit orders are only examined when another one arrives: until then none is shown on the tape, however long ago
    /// its price was reached.
    pub(crate) fn post_limit(&mut self, security: i64, trade_type: TradeType, limit: Money, now: &PricedMoment<'_>) {
        let quantity = Self::LIMIT_QUANTITY;
        match now.travel_s(security, trade_type, limit) {
            None => {
                self.limits.expire(now.local_ms, &mut self.fired);
                self.reached.extend(self.fired.drain(..));
                self.reached.push_back(TapeEntry { security, price: now.price(security), quantity });
            }
            Some(delay_s) => {
                self.limits.start(
                    now.local_ms,
                    delay_s,
                    TapeEntry { security, price: limit, quantity },
                    &mut self.fired,
                );
                self.reached.extend(self.fired.drain(..));
            }
        }
    }

    fn artificial(&mut self, now: &PricedMoment<'_>) -> TapeEntry {
        let [often, else_] = Self::ARTIFICIAL_QUANTITIES;
        let quantity = if self.rng.percent(50) { often } else { else_ };
        let security = self.rng.range(0, now.board.securities() - 1);
        TapeEntry { security, price: now.price(security), quantity }
    }

    fn print(&mut self, entry: TapeEntry, now: &PricedMoment<'_>, feed: &mut dyn FnMut(MarketFeed)) {
        let TapeEntry { security, price, quantity } = entry;
        if self.securities.contains(&security) {
            self.duplicates += 1;
        }
        self.securities.push(security);
        let symbol = now.board.symbol(security);
        self.batch.push(TickerEntry { symbol, price_quote: price.into(), trade_qty: quantity });
        if self.batch.len() == Self::ENTRIES_PER_FEED {
            let entries = std::mem::replace(&mut self.batch, Vec::with_capacity(Self::ENTRIES_PER_FEED));
            feed(MarketFeed { entries, unique_symbols: Self::ENTRIES_PER_FEED as i32 - self.duplicates });
            self.securities.clear();
            self.duplicates = 0;
        }
    }
}
