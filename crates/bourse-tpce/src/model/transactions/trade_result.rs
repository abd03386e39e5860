//! Trade-Result (Clause 3.3.8).

use super::status;
use crate::model::arithmetic::{commission, tax, worth};
use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::trade_result::{CommissionRates, ExecutedTrade, MovedHoldings, TradeResultOutput};
use bourse_egen::txn::TradeResult;
use bourse_schema::tables::{CashTransaction, Holding, HoldingHistory, HoldingSummary, Settlement};
use bourse_schema::{Amount, Balance, Date, Price, Quantity, Text, Timestamp, TradeId};

/// A lot that is closed, entirely or in part.
struct ClosedLot {
    lot: TradeId,
    before: Quantity,
    after: Quantity,
}

/// Changes by a trade to the lots of its security.
struct LotMoves {
    closed: Vec<ClosedLot>,
    /// Shares of the lot it opens, negative if short; 0 if none.
    opened: Quantity,
    buy_value: i64,
    sell_value: i64,
}

impl Market {
    /// Performs Trade-Result. All values are computed before the first change: a transaction that stops has then
    /// changed nothing.
    pub(crate) fn trade_result(&mut self, input: &TradeResult, now: Timestamp) -> TradeResultOutput {
        let mut output = TradeResultOutput {
            status: Status::SUCCESS,
            load_unit: 0,
            trade: None,
            moved: None,
            tax_amount: Amount::from_units(0),
            rates: None,
            comm_amount: Amount::from_units(0),
            se_amount: Amount::from_units(0),
            acct_bal: Balance::from_units(0),
        };
        // Frame 1.
        let Some(trade) = self.executed(input.trade_id) else {
            output.status.raise(-811);
            return output;
        };
        output.trade = Some(trade.clone());
        // Frame 2.
        let account = self.account(trade.acct_id).expect("every trade has an account").clone();
        let moves = self.moves(&trade, input.trade_price);
        output.load_unit = (account.ca_c_id.0 - bourse_egen::ids::SHIFT - 1) / 1_000 + 1;
        output.moved = Some(MovedHoldings {
            trade_dts: now,
            broker_id: account.ca_b_id,
            cust_id: account.ca_c_id,
            tax_status: account.ca_tax_st,
            buy_value: Balance::from_units(moves.buy_value),
            sell_value: Balance::from_units(moves.sell_value),
        });
        // Frame 3, if there is a gain to tax.
        let gain = moves.sell_value - moves.buy_value;
        let taxed = gain > 0 && matches!(account.ca_tax_st, 1 | 2);
        let tax_amount = if taxed { tax(gain, self.tax_rate(account.ca_c_id)) } else { 0 };
        output.tax_amount = Amount::from_units(tax_amount);
        if taxed && tax_amount <= 0 {
            output.status.raise(-831);
            return output;
        }
        // Frame 4.
        let security = self.security(&trade.symbol).expect("every trade has a security");
        let tier = self.customer(account.ca_c_id).expect("every account has a customer").c_tier;
        let comm_rate = self.commission_rate(tier, trade.type_id, security.s_ex_id, trade.trade_qty);
        let s_name = security.s_name;
        output.rates = Some(CommissionRates { s_name, comm_rate });
        let Some(comm_rate) = comm_rate.filter(|rate| rate.units() > 0) else {
            output.status.raise(-841);
            return output;
        };
        let comm_amount = commission(comm_rate, trade.trade_qty, input.trade_price);
        output.comm_amount = Amount::from_units(comm_amount);

        self.move_holdings(&trade, input, &moves, now);
        // Frame 5.
        let row = self.move_trade(input.trade_id, now, status("CMPT"));
        row.t_comm = Amount::from_units(comm_amount);
        row.t_trade_price = Some(input.trade_price);
        if taxed {
            row.t_tax = Amount::from_units(tax_amount);
        }
        self.add_history(input.trade_id, now, status("CMPT"));
        let broker = self.tables.broker.change(&(account.ca_b_id,)).expect("every account has a broker");
        broker.b_comm_total = Balance::from_units(broker.b_comm_total.units() + comm_amount);
        broker.b_num_trades += 1;
        // Frame 6.
        let whole = worth(trade.trade_qty, input.trade_price);
        let costs = trade.charge.units() + comm_amount;
        let mut se_amount = if trade.type_is_sell { whole - costs } else { -(whole + costs) };
        if account.ca_tax_st == 1 {
            se_amount -= tax_amount;
        }
        output.se_amount = Amount::from_units(se_amount);
        self.tables.settlement.insert(Settlement {
            se_t_id: input.trade_id,
            se_cash_type: Text::cut(if trade.is_cash { "Cash Account" } else { "Margin" }),
            se_cash_due_date: Date::from_days(now.date().days() + 2),
            se_amt: Amount::from_units(se_amount),
        });
        if trade.is_cash {
            let row = self.tables.customer_account.change(&(trade.acct_id,)).expect("every trade has an account");
            row.ca_bal = Balance::from_units(row.ca_bal.units() + se_amount);
            let name = format!("{} {} shares of {s_name}", trade.type_name, trade.trade_qty);
            self.tables.cash_transaction.insert(CashTransaction {
                ct_t_id: input.trade_id,
                ct_dts: now,
                ct_amt: Amount::from_units(se_amount),
                ct_name: Text::cut(&name),
            });
        }
        output.acct_bal = self.account(trade.acct_id).expect("every trade has an account").ca_bal;
        output
    }

    fn executed(&self, id: TradeId) -> Option<ExecutedTrade> {
        let row = self.trade(id)?;
        let trade_type = self.tables.trade_type.get(&(row.t_tt_id,)).expect("every trade has a type");
        Some(ExecutedTrade {
            acct_id: row.t_ca_id,
            type_id: row.t_tt_id,
            symbol: row.t_s_symb,
            trade_qty: row.t_qty,
            charge: row.t_chrg,
            is_lifo: row.t_lifo,
            is_cash: row.t_is_cash,
            type_name: trade_type.tt_name,
            type_is_sell: trade_type.tt_is_sell,
            type_is_market: trade_type.tt_is_mrkt,
            hs_qty: self.held(row.t_ca_id, row.t_s_symb),
        })
    }

    /// Lots that a trade closes, and the quantity that remains to open one.
    fn moves(&self, trade: &ExecutedTrade, price: Price) -> LotMoves {
        let mut moves = LotMoves { closed: Vec::new(), opened: 0, buy_value: 0, sell_value: 0 };
        let mut needed = trade.trade_qty;
        let closes = if trade.type_is_sell { trade.hs_qty > 0 } else { trade.hs_qty < 0 };
        let lots = if closes { self.lots(trade.acct_id, trade.symbol, trade.is_lifo) } else { Vec::new() };
        for lot in lots {
            if needed == 0 {
                break;
            }
            let shares = lot.h_qty.abs().min(needed);
            needed -= shares;
            let (then, now) = (worth(shares, lot.h_price), worth(shares, price));
            let after = if trade.type_is_sell {
                moves.buy_value += then;
                moves.sell_value += now;
                lot.h_qty - shares
            } else {
                moves.sell_value += then;
                moves.buy_value += now;
                lot.h_qty + shares
            };
            moves.closed.push(ClosedLot { lot: lot.h_t_id, before: lot.h_qty, after });
        }
        moves.opened = if trade.type_is_sell { -needed } else { needed };
        moves
    }

    fn move_holdings(&mut self, trade: &ExecutedTrade, input: &TradeResult, moves: &LotMoves, now: Timestamp) {
        let change = if trade.type_is_sell { -trade.trade_qty } else { trade.trade_qty };
        let key = (trade.acct_id, trade.symbol);
        match (trade.hs_qty, trade.hs_qty + change) {
            (0, hs_qty) => {
                self.tables.holding_summary.insert(HoldingSummary { hs_ca_id: key.0, hs_s_symb: key.1, hs_qty });
            }
            (_, 0) => {
                self.tables.holding_summary.remove(&key);
            }
            (_, hs_qty) => self.tables.holding_summary.change(&key).expect("something is held").hs_qty = hs_qty,
        }
        let by = input.trade_id;
        for &ClosedLot { lot, before, after } in &moves.closed {
            self.add_lot_change(HoldingHistory {
                hh_h_t_id: lot,
                hh_t_id: by,
                hh_before_qty: before,
                hh_after_qty: after,
            });
            if after == 0 {
                self.remove_lot(lot);
            } else {
                self.tables.holding.change(&(lot,)).expect("a lot that was looked at").h_qty = after;
            }
        }
        if moves.opened != 0 {
            self.add_lot_change(HoldingHistory {
                hh_h_t_id: by,
                hh_t_id: by,
                hh_before_qty: 0,
                hh_after_qty: moves.opened,
            });
            self.add_lot(Holding {
                h_t_id: by,
                h_ca_id: trade.acct_id,
                h_s_symb: trade.symbol,
                h_dts: now,
                h_price: input.trade_price,
                h_qty: moves.opened,
            });
        }
    }
}
