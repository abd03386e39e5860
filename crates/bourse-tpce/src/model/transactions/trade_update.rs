//! Trade-Update (Clause 3.3.10).

use super::trade_lookup::of_account;
use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::trade_update::{NamedTrade, TradeUpdateOutput, UpdatedTrades};
use bourse_egen::txn::TradeUpdate;
use bourse_schema::tables::Trade;
use bourse_schema::{Text, TradeId};

impl Market {
    pub(crate) fn trade_update(&mut self, input: &TradeUpdate) -> TradeUpdateOutput {
        let mut status = Status::SUCCESS;
        let mut num_updated = 0;
        let most = input.max_trades.clamp(0, 20) as usize;
        let updates = input.max_updates.max(0) as usize;
        let window = (input.start_trade_dts, input.end_trade_dts);
        let found = match input.frame_to_execute {
            1 => {
                let mut found = Vec::new();
                for &id in input.trade_id.iter().take(most) {
                    if num_updated < updates && self.toggle_executor(id) {
                        num_updated += 1;
                    }
                    found.extend(self.trade(id).map(|row| self.detail(row, self.by_id(row))));
                }
                status.raise_if(found.len() as i32 != input.max_trades, -1011);
                status.raise_if(num_updated as i32 != input.max_updates, -1012);
                UpdatedTrades::ById(found)
            }
            2 => {
                let mut found = Vec::new();
                for id in self.in_window_of_account(input.acct_id, window, most) {
                    if num_updated < updates && self.toggle_cash_type(id) {
                        num_updated += 1;
                    }
                    found.extend(self.trade(id).map(|row| self.detail(row, of_account(row))));
                }
                status.raise_if(num_updated != found.len(), -1022);
                status.raise_if(num_updated == 0, 1021);
                UpdatedTrades::OfAccount(found)
            }
            3 => {
                let mut found = Vec::new();
                for id in self.in_window_of_security(&input.symbol, window, most) {
                    if num_updated < updates && self.toggle_cash_name(id) {
                        num_updated += 1;
                    }
                    found.extend(self.trade(id).map(|row| self.detail(row, self.named(row))));
                }
                status.raise_if(num_updated > found.len(), -1032);
                status.raise_if(num_updated == 0, 1031);
                UpdatedTrades::InSecurity(found)
            }
            other => unreachable!("Trade-Update has no frame {other}"),
        };
        TradeUpdateOutput { status, num_updated, found }
    }

    /// Inserts an X between the executor's names, or removes it.
    fn toggle_executor(&mut self, id: TradeId) -> bool {
        let Some(row) = self.tables.trade.change(&(id,)) else { return false };
        let name = row.t_exec_name.as_str();
        let toggled = if name.contains(" X ") { name.replace(" X ", " ") } else { name.replacen(' ', " X ", 1) };
        row.t_exec_name = Text::cut(&toggled);
        true
    }

    fn toggle_cash_type(&mut self, id: TradeId) -> bool {
        let is_cash = self.trade(id).is_some_and(|row| row.t_is_cash);
        if self.tables.settlement.get(&(id,)).is_none() {
            return false;
        }
        let row = self.tables.settlement.change(&(id,)).expect("just seen");
        let toggled = match (is_cash, row.se_cash_type.as_str()) {
            (true, "Cash Account") => "Cash",
            (true, _) => "Cash Account",
            (false, "Margin Account") => "Margin",
            (false, _) => "Margin Account",
        };
        row.se_cash_type = Text::cut(toggled);
        true
    }

    fn toggle_cash_name(&mut self, id: TradeId) -> bool {
        let Some(trade) = self.trade(id).filter(|row| row.t_is_cash) else { return false };
        let Some(cash) = self.tables.cash_transaction.get(&(id,)) else { return false };
        let named = self.named(trade);
        let shares = if cash.ct_name.as_str().contains(" shares of ") { "Shares" } else { "shares" };
        let toggled = format!("{} {} {shares} of {}", named.type_name, trade.t_qty, named.s_name);
        self.tables.cash_transaction.change(&(id,)).expect("just seen").ct_name = Text::cut(&toggled);
        true
    }

    fn named(&self, row: &Trade) -> NamedTrade {
        NamedTrade {
            trade_id: row.t_id,
            acct_id: row.t_ca_id,
            exec_name: row.t_exec_name,
            is_cash: row.t_is_cash,
            price: row.t_trade_price,
            quantity: row.t_qty,
            s_name: self.security(&row.t_s_symb).expect("every trade has a security").s_name,
            trade_dts: row.t_dts,
            trade_type: row.t_tt_id,
            type_name: self.tables.trade_type.get(&(row.t_tt_id,)).expect("every trade has a type").tt_name,
        }
    }
}
