//! Trade-Lookup and Trade-Update: choice of initial trades.

use super::{CustomerEmulator, alternative};
use crate::dates::{BASE, add_work_ms};
use crate::txn::{TradeLookup, TradeUpdate};
use bourse_schema::{AccountId, Symbol, Timestamp, TradeId};

/// Seconds that the reference extends the range beyond the end of the initial trades.
const BEYOND_S: i64 = 15 * 60;

/// Inputs that frames 1 to 3 of both transactions share.
#[derive(Default)]
struct FrameInputs {
    trade_id: Vec<TradeId>,
    acct_id: AccountId,
    max_acct_id: AccountId,
    start_trade_dts: Option<Timestamp>,
    end_trade_dts: Option<Timestamp>,
    symbol: Symbol,
}

impl CustomerEmulator<'_> {
    pub(super) fn trade_lookup(&mut self) -> TradeLookup {
        let tunables = self.tunables.trade_lookup;
        let at = alternative(self.rng.percentage(), &tunables.frame);
        let max_rows = tunables.max_rows[at];
        let asked = match at {
            0 => self.by_trade(max_rows),
            1 => self.by_account(tunables.back_off_s[0]),
            2 => self.by_security(tunables.back_off_s[1]),
            // Frame 4 looks for the one trade at or after a time: no end, and no number of trades.
            _ => FrameInputs { end_trade_dts: None, ..self.by_account(tunables.back_off_s[2]) },
        };
        let FrameInputs { trade_id, acct_id, max_acct_id, start_trade_dts, end_trade_dts, symbol } = asked;
        let max_trades = if at < 3 { max_rows as i32 } else { 0 };
        let frame_to_execute = at as u8 + 1;
        TradeLookup {
            frame_to_execute,
            trade_id,
            acct_id,
            max_acct_id,
            max_trades,
            start_trade_dts,
            end_trade_dts,
            symbol,
        }
    }

    pub(super) fn trade_update(&mut self) -> TradeUpdate {
        let tunables = self.tunables.trade_update;
        let at = alternative(self.rng.percentage(), &tunables.frame);
        let max_rows = tunables.max_rows[at];
        let asked = match at {
            0 => self.by_trade(max_rows),
            1 => self.by_account(tunables.back_off_s[0]),
            _ => self.by_security(tunables.back_off_s[1]),
        };
        let FrameInputs { trade_id, acct_id, max_acct_id, start_trade_dts, end_trade_dts, symbol } = asked;
        let (max_trades, max_updates) = (max_rows as i32, tunables.max_updates[at] as i32);
        let frame_to_execute = at as u8 + 1;
        TradeUpdate {
            frame_to_execute,
            trade_id,
            acct_id,
            max_acct_id,
            max_trades,
            max_updates,
            start_trade_dts,
            end_trade_dts,
            symbol,
        }
    }

    fn by_trade(&mut self, count: u32) -> FrameInputs {
        let count = count as usize;
        let mut trade_id = Vec::with_capacity(count);
        while trade_id.len() < count {
            let trade = self.world.initial_trade(&mut self.rng);
            if !trade_id.contains(&trade) {
                trade_id.push(trade);
            }
        }
        FrameInputs { trade_id, ..FrameInputs::default() }
    }

    fn by_account(&mut self, back_off_s: u32) -> FrameInputs {
        let acct_id = self.world.trading_account(&mut self.rng);
        let (start_trade_dts, end_trade_dts) = self.period(back_off_s);
        FrameInputs { acct_id, start_trade_dts, end_trade_dts, ..FrameInputs::default() }
    }

    fn by_security(&mut self, back_off_s: u32) -> FrameInputs {
        let symbol = self.world.any_symbol(&mut self.rng);
        let (start_trade_dts, end_trade_dts) = self.period(back_off_s);
        let max_acct_id = self.world.last_account();
        FrameInputs { symbol, start_trade_dts, end_trade_dts, max_acct_id, ..FrameInputs::default() }
    }

    /// Start and end of the period that trades are selected from; the start is at least `back_off_s` seconds of trading
    /// before their end.
    ///
    /// If fewer seconds were traded the reference draws from an inverted range, and gets a time unrelated to the days
    /// of trading. If exactly as many were traded (four days in frame 2) it crashes with a division by zero; Bourse
    /// starts at the first millisecond instead.
    fn period(&mut self, back_off_s: u32) -> (Option<Timestamp>, Option<Timestamp>) {
        let trading_s = self.world.database.trading_s();
        let latest_ms = (trading_s - i64::from(back_off_s)) * 1_000;
        let start_ms = self.rng.non_uniform(1, latest_ms, 4_095, 16);
        let end_ms = (trading_s + BEYOND_S) * 1_000;
        (Some(add_work_ms(BASE, start_ms)), Some(add_work_ms(BASE, end_ms)))
    }
}
