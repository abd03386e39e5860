//! Trade-Order (Clause 3.3.7).

use super::status;
use crate::model::arithmetic::{commission, tax, worth};
use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::trade_order::{Owner, TradeEstimate, TradeOrderOutput};
use bourse_egen::txn::{self, TradeAction};
use bourse_schema::tables::{Security, Trade, TradeRequest};
use bourse_schema::{Amount, Balance, CommissionRate, Price, Text, Timestamp, TradeId};

impl Market {
    pub(crate) fn trade_order(
        &mut self,
        input: &txn::TradeOrder,
        now: Timestamp,
        sent: &mut Vec<txn::TradeRequest>,
    ) -> TradeOrderOutput {
        let mut output =
            TradeOrderOutput { status: Status::SUCCESS, owner: None, ap_acl: None, estimate: None, trade_id: None };
        // Frame 1.
        let Some(owner) = self.owner(input) else {
            output.status.raise(-711);
            return output;
        };
        output.owner = Some(owner.clone());
        // Frame 2, for anybody else than the owner.
        let executor = (&input.exec_l_name, &input.exec_f_name, &input.exec_tax_id);
        if executor != (&owner.cust_l_name, &owner.cust_f_name, &owner.tax_id) {
            let row = self.tables.account_permission.get(&(input.acct_id, input.exec_tax_id));
            let row = row.filter(|row| (row.ap_l_name, row.ap_f_name) == (input.exec_l_name, input.exec_f_name));
            let ap_acl = row.map(|row| row.ap_acl).unwrap_or_default();
            output.ap_acl = Some(ap_acl);
            if ap_acl.is_empty() {
                output.status.raise(-721);
                return output;
            }
        }
        // Frame 3.
        let estimate = self.estimate(input, &owner);
        let gain = estimate.sell_value > estimate.buy_value && matches!(owner.tax_status, 1 | 2);
        output.status.raise_if(gain && estimate.tax_amount.units() <= 0, -731);
        output.status.raise_if(estimate.comm_rate.units() <= 0, -732);
        output.status.raise_if(estimate.charge_amount.units() == 0, -733);
        output.estimate = Some(estimate.clone());
        if output.status.is_error() {
            return output;
        }
        // Frame 4. A number that is taken stays taken.
        let trade_id = TradeId(self.next_trade);
        self.next_trade += 1;
        output.trade_id = Some(trade_id);
        if input.roll_it_back {
            output.status.raise(1);
            return output;
        }
        self.place(input, &owner, &estimate, trade_id, now);
        sent.push(txn::TradeRequest {
            action: if estimate.type_is_market { TradeAction::ProcessOrder } else { TradeAction::SetLimitTrigger },
            trade_id,
            trade_type: input.trade_type,
            symbol: estimate.symbol,
            trade_qty: input.trade_qty,
            price_quote: estimate.requested_price,
        });
        output
    }

    fn owner(&self, input: &txn::TradeOrder) -> Option<Owner> {
        let account = self.account(input.acct_id)?;
        let customer = self.customer(account.ca_c_id)?;
        Some(Owner {
            acct_name: account.ca_name,
            broker_id: account.ca_b_id,
            cust_id: account.ca_c_id,
            tax_status: account.ca_tax_st,
            cust_f_name: customer.c_f_name,
            cust_l_name: customer.c_l_name,
            cust_tier: customer.c_tier,
            tax_id: customer.c_tax_id,
            broker_name: self.tables.broker.get(&(account.ca_b_id,))?.b_name,
        })
    }

    fn ordered(&self, input: &txn::TradeOrder) -> &Security {
        if !input.symbol.is_empty() {
            return self.security(&input.symbol).expect("an order names a security");
        }
        let company = self.tables.company.all().find(|row| row.co_name == input.co_name);
        let company = company.expect("an order names a company").co_id;
        let of_issue = |row: &&Security| row.s_co_id == company && row.s_issue == input.issue;
        self.tables.security.all().find(of_issue).expect("an order names an issue of the company")
    }

    fn estimate(&self, input: &txn::TradeOrder, owner: &Owner) -> TradeEstimate {
        let security = self.ordered(input);
        let symbol = security.s_symb;
        let market_price = self.last_trade(&symbol).expect("every security has a price").lt_price;
        let trade_type = self.tables.trade_type.get(&(input.trade_type.text(),)).expect("every type exists");
        let requested_price = if trade_type.tt_is_mrkt {
            market_price
        } else {
            Price::from_units((input.requested_price * 100.0).round() as i64)
        };

        let held = self.held(input.acct_id, symbol);
        let (mut buy_value, mut sell_value, mut needed) = (0, 0, input.trade_qty);
        if (trade_type.tt_is_sell && held > 0) || (!trade_type.tt_is_sell && held < 0) {
            for lot in self.lots(input.acct_id, symbol, input.is_lifo) {
                let closed = lot.h_qty.abs().min(needed);
                let (then, at_once) = (worth(closed, lot.h_price), worth(closed, requested_price));
                let (bought, sold) = if trade_type.tt_is_sell { (then, at_once) } else { (at_once, then) };
                buy_value += bought;
                sell_value += sold;
                needed -= closed;
                if needed == 0 {
                    break;
                }
            }
        }
        let taxed = sell_value > buy_value && matches!(owner.tax_status, 1 | 2);
        let tax_amount = if taxed { tax(sell_value - buy_value, self.tax_rate(owner.cust_id)) } else { 0 };
        let comm_rate = self.commission_rate(owner.cust_tier, trade_type.tt_id, security.s_ex_id, input.trade_qty);
        let charge = self.tables.charge.get(&(trade_type.tt_id, owner.cust_tier));
        let account = self.account(input.acct_id).expect("it has an owner");
        let acct_assets = if input.type_is_margin { account.ca_bal.units() + self.assets(input.acct_id) } else { 0 };
        TradeEstimate {
            co_name: self.company(security.s_co_id).expect("every security has a company").co_name,
            symbol,
            s_name: security.s_name,
            market_price,
            requested_price,
            buy_value: Balance::from_units(buy_value),
            sell_value: Balance::from_units(sell_value),
            tax_amount: Amount::from_units(tax_amount),
            comm_rate: comm_rate.unwrap_or(CommissionRate::from_units(0)),
            charge_amount: charge.map_or(Amount::from_units(0), |row| row.ch_chrg),
            acct_assets: Balance::from_units(acct_assets),
            type_is_market: trade_type.tt_is_mrkt,
            type_is_sell: trade_type.tt_is_sell,
            status_id: status(if trade_type.tt_is_mrkt { "SBMT" } else { "PNDG" }),
        }
    }

    fn place(
        &mut self,
        input: &txn::TradeOrder,
        owner: &Owner,
        estimate: &TradeEstimate,
        trade_id: TradeId,
        now: Timestamp,
    ) {
        let comm = commission(estimate.comm_rate, input.trade_qty, estimate.requested_price);
        self.add_trade(Trade {
            t_id: trade_id,
            t_dts: now,
            t_st_id: estimate.status_id,
            t_tt_id: input.trade_type.text(),
            t_is_cash: !input.type_is_margin,
            t_s_symb: estimate.symbol,
            t_qty: input.trade_qty,
            t_bid_price: estimate.requested_price,
            t_ca_id: input.acct_id,
            t_exec_name: Text::cut(&format!("{} {}", input.exec_f_name, input.exec_l_name)),
            t_trade_price: None,
            t_chrg: estimate.charge_amount,
            t_comm: Amount::from_units(comm),
            t_tax: Amount::from_units(0),
            t_lifo: input.is_lifo,
        });
        if !estimate.type_is_market {
            self.tables.trade_request.insert(TradeRequest {
                tr_t_id: trade_id,
                tr_tt_id: input.trade_type.text(),
                tr_s_symb: estimate.symbol,
                tr_qty: input.trade_qty,
                tr_bid_price: estimate.requested_price,
                tr_b_id: owner.broker_id,
            });
        }
        self.add_history(trade_id, now, estimate.status_id);
    }
}
