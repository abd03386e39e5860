//! Customer-Position (Clause 3.3.2).

use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::customer_position::{AccountPosition, CustomerDetails, CustomerPositionOutput, HistoryRow};
use bourse_egen::txn::CustomerPosition;
use bourse_schema::tables::Customer;
use bourse_schema::{AccountId, Balance, CustomerId};
use std::cmp::Reverse;

impl Market {
    pub(crate) fn customer_position(&self, input: &CustomerPosition) -> CustomerPositionOutput {
        let mut status = Status::SUCCESS;
        let cust_id = match input.cust_id {
            CustomerId(0) => self.customer_by_tax_id(&input.tax_id).unwrap_or_default(),
            given => given,
        };
        let position = |id: &AccountId| {
            let row = self.account(*id).expect("a customer's accounts exist");
            AccountPosition { acct_id: *id, cash_bal: row.ca_bal, asset_total: Balance::from_units(self.assets(*id)) }
        };
        let mut accounts: Vec<_> = self.accounts_of(cust_id).iter().map(position).collect();
        accounts.sort_by_key(|row| (row.asset_total, row.acct_id));
        accounts.truncate(10);
        status.raise_if(accounts.is_empty(), -211);
        let mut history = Vec::new();
        if !status.is_error() && input.get_history {
            let chosen = usize::try_from(input.acct_id_idx).ok().and_then(|at| accounts.get(at));
            history = chosen.map(|row| self.latest_history(row.acct_id)).unwrap_or_default();
            status.raise_if(!(10..=30).contains(&history.len()), -221);
        }
        let customer = self.customer(cust_id).map(details);
        CustomerPositionOutput { status, cust_id, customer, accounts, history }
    }

    /// Statuses of an account's ten latest trades, the newest first.
    fn latest_history(&self, account: AccountId) -> Vec<HistoryRow> {
        let mut rows = Vec::new();
        for trade in self.trades_of_account(account).rev().take(10) {
            rows.extend(self.history(trade.t_id).into_iter().rev().map(|reached| HistoryRow {
                trade_id: trade.t_id,
                symbol: trade.t_s_symb,
                qty: trade.t_qty,
                trade_status: self.status_name(reached.th_st_id),
                hist_dts: reached.th_dts,
            }));
        }
        rows.sort_by_key(|row| Reverse((row.hist_dts, row.trade_id)));
        rows.truncate(30);
        rows
    }
}

fn details(row: &Customer) -> CustomerDetails {
    CustomerDetails {
        st_id: row.c_st_id,
        l_name: row.c_l_name,
        f_name: row.c_f_name,
        m_name: row.c_m_name,
        gender: row.c_gndr,
        tier: row.c_tier,
        dob: row.c_dob,
        ad_id: row.c_ad_id,
        ctry_1: row.c_ctry_1,
        area_1: row.c_area_1,
        local_1: row.c_local_1,
        ext_1: row.c_ext_1,
        ctry_2: row.c_ctry_2,
        area_2: row.c_area_2,
        local_2: row.c_local_2,
        ext_2: row.c_ext_2,
        ctry_3: row.c_ctry_3,
        area_3: row.c_area_3,
        local_3: row.c_local_3,
        ext_3: row.c_ext_3,
        email_1: row.c_email_1,
        email_2: row.c_email_2,
    }
}
