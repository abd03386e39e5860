//! Trade-Status (Clause 3.3.9).

use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::trade_status::{AccountNames, StatusRow, TradeStatusOutput};
use bourse_egen::txn::TradeStatus;
use bourse_schema::tables::{CustomerAccount, Trade};

impl Market {
    pub(crate) fn trade_status(&self, input: &TradeStatus) -> TradeStatusOutput {
        let trades: Vec<_> =
            self.trades_of_account(input.acct_id).rev().take(50).map(|row| self.status_row(row)).collect();
        let mut status = Status::SUCCESS;
        status.raise_if(trades.len() != 50, -911);
        let names = self.account(input.acct_id).map(|row| self.names(row));
        TradeStatusOutput { status, trades, names }
    }

    fn status_row(&self, row: &Trade) -> StatusRow {
        let security = self.security(&row.t_s_symb).expect("every trade has a security");
        StatusRow {
            trade_id: row.t_id,
            trade_dts: row.t_dts,
            status_name: self.status_name(row.t_st_id),
            type_name: self.tables.trade_type.get(&(row.t_tt_id,)).expect("every trade has a type").tt_name,
            symbol: row.t_s_symb,
            trade_qty: row.t_qty,
            exec_name: row.t_exec_name,
            charge: row.t_chrg,
            s_name: security.s_name,
            ex_name: self.tables.exchange.get(&(security.s_ex_id,)).expect("every security is listed").ex_name,
        }
    }

    fn names(&self, row: &CustomerAccount) -> AccountNames {
        let customer = self.customer(row.ca_c_id).expect("every account has a customer");
        AccountNames {
            cust_l_name: customer.c_l_name,
            cust_f_name: customer.c_f_name,
            broker_name: self.tables.broker.get(&(row.ca_b_id,)).expect("every account has a broker").b_name,
        }
    }
}
