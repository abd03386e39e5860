//! Trade-Lookup (Clause 3.3.6), and the reads that Trade-Update shares with it.

use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::trade_lookup::{FoundTrades, LotChange, TradeLookupOutput};
use crate::transactions::trades::{
    Cash, Detail, StatusReached, TradeById, TradeInSecurity, TradeOfAccount, TradeSettlement,
};
use bourse_egen::txn::TradeLookup;
use bourse_schema::tables::Trade;
use bourse_schema::{AccountId, Symbol, Timestamp, TradeId};

/// Maximum number of trades, and of changes of holdings, that a frame returns.
const MAX_TRADES: usize = 20;

impl Market {
    pub(crate) fn trade_lookup(&self, input: &TradeLookup) -> TradeLookupOutput {
        let mut status = Status::SUCCESS;
        let most = input.max_trades.clamp(0, MAX_TRADES as i32) as usize;
        let window = (input.start_trade_dts, input.end_trade_dts);
        let found = match input.frame_to_execute {
            1 => {
                let trades = input.trade_id.iter().take(most).filter_map(|id| self.trade(*id));
                let found: Vec<_> = trades.map(|row| self.detail(row, self.by_id(row))).collect();
                status.raise_if(found.len() as i32 != input.max_trades, -611);
                FoundTrades::ById(found)
            }
            2 => {
                let trades = self.in_window(self.trades_of_account(input.acct_id), window, most);
                let found: Vec<_> = trades.into_iter().map(|row| self.detail(row, of_account(row))).collect();
                status.raise_if(found.is_empty(), 621);
                FoundTrades::OfAccount(found)
            }
            3 => {
                let trades = self.in_window(self.trades_in_security(&input.symbol), window, most);
                let found: Vec<_> = trades.into_iter().map(|row| self.detail(row, in_security(row))).collect();
                status.raise_if(found.is_empty(), 631);
                FoundTrades::InSecurity(found)
            }
            4 => {
                let first = self.in_window(self.trades_of_account(input.acct_id), (input.start_trade_dts, None), 1);
                let trades: Vec<_> = first.iter().map(|row| row.t_id).collect();
                let changes = trades.first().map(|id| self.changes_around(*id)).unwrap_or_default();
                if trades.is_empty() {
                    status.raise(641);
                } else {
                    status.raise_if(changes.is_empty(), -642);
                }
                FoundTrades::Holdings { trades, changes }
            }
            other => unreachable!("Trade-Lookup has no frame {other}"),
        };
        TradeLookupOutput { status, found }
    }

    /// First trades of a sequence whose time is in a window, both ends included.
    pub(super) fn in_window<'t>(
        &self,
        trades: impl Iterator<Item = &'t Trade>,
        (start, end): (Option<Timestamp>, Option<Timestamp>),
        most: usize,
    ) -> Vec<&'t Trade> {
        let since = trades.filter(|row| start.is_none_or(|start| row.t_dts >= start));
        since.filter(|row| end.is_none_or(|end| row.t_dts <= end)).take(most).collect()
    }

    pub(super) fn in_window_of_account(
        &self,
        account: AccountId,
        window: (Option<Timestamp>, Option<Timestamp>),
        most: usize,
    ) -> Vec<TradeId> {
        self.in_window(self.trades_of_account(account), window, most).iter().map(|row| row.t_id).collect()
    }

    pub(super) fn in_window_of_security(
        &self,
        symbol: &Symbol,
        window: (Option<Timestamp>, Option<Timestamp>),
        most: usize,
    ) -> Vec<TradeId> {
        self.in_window(self.trades_in_security(symbol), window, most).iter().map(|row| row.t_id).collect()
    }

    pub(super) fn by_id(&self, row: &Trade) -> TradeById {
        TradeById {
            trade_id: row.t_id,
            bid_price: row.t_bid_price,
            exec_name: row.t_exec_name,
            is_cash: row.t_is_cash,
            is_market: self.tables.trade_type.get(&(row.t_tt_id,)).expect("every trade has a type").tt_is_mrkt,
            trade_price: row.t_trade_price,
        }
    }

    /// Detail of a trade.
    pub(super) fn detail<T>(&self, row: &Trade, trade: T) -> Detail<T> {
        let settlement = self.tables.settlement.get(&(row.t_id,)).map(|row| TradeSettlement {
            amount: row.se_amt,
            cash_due_date: row.se_cash_due_date,
            cash_type: row.se_cash_type,
        });
        let cash = self.tables.cash_transaction.get(&(row.t_id,)).filter(|_| row.t_is_cash);
        let cash = cash.map(|row| Cash { amount: row.ct_amt, dts: row.ct_dts, name: row.ct_name });
        let history = self.history(row.t_id).into_iter().take(3);
        let history = history.map(|row| StatusReached { dts: row.th_dts, status: row.th_st_id }).collect();
        Detail { trade, settlement, cash, history }
    }

    /// All changes to every lot that a trade made or touched.
    fn changes_around(&self, trade: TradeId) -> Vec<LotChange> {
        let touched = self.tables.holding_history.range((trade, TradeId(0))..(TradeId(trade.0 + 1), TradeId(0)));
        let changes = touched.flat_map(|row| self.changes_of_lot(row.hh_h_t_id));
        let change = |row: &bourse_schema::tables::HoldingHistory| LotChange {
            holding_history_id: row.hh_h_t_id,
            holding_history_trade_id: row.hh_t_id,
            quantity_before: row.hh_before_qty,
            quantity_after: row.hh_after_qty,
        };
        changes.take(MAX_TRADES).map(change).collect()
    }
}

pub(super) fn of_account(row: &Trade) -> TradeOfAccount {
    TradeOfAccount {
        trade_id: row.t_id,
        bid_price: row.t_bid_price,
        exec_name: row.t_exec_name,
        is_cash: row.t_is_cash,
        trade_price: row.t_trade_price,
    }
}

fn in_security(row: &Trade) -> TradeInSecurity {
    TradeInSecurity {
        trade_id: row.t_id,
        acct_id: row.t_ca_id,
        exec_name: row.t_exec_name,
        is_cash: row.t_is_cash,
        price: row.t_trade_price,
        quantity: row.t_qty,
        trade_dts: row.t_dts,
        trade_type: row.t_tt_id,
    }
}
