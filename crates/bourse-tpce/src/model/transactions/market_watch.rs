//! Market-Watch (Clause 3.3.4).

use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::market_watch::{MarketWatchOutput, Worth};
use bourse_egen::txn::MarketWatch;
use bourse_schema::{AccountId, CustomerId, FinAgg, Symbol};

impl Market {
    pub(crate) fn market_watch(&self, input: &MarketWatch) -> MarketWatchOutput {
        let mut status = Status::SUCCESS;
        let symbols: Vec<Symbol> = if input.c_id != CustomerId(0) {
            self.watch_lists_of(input.c_id).iter().flat_map(|list| self.watched(*list)).collect()
        } else if !input.industry_name.is_empty() {
            self.in_industry(input)
        } else if input.acct_id != AccountId(0) {
            self.holdings_of(input.acct_id).map(|row| row.hs_s_symb).collect()
        } else {
            status.raise(-411);
            Vec::new()
        };
        let (mut old_cap, mut new_cap) = (0, 0);
        for symbol in &symbols {
            let shares = self.security(symbol).expect("a watched security exists").s_num_out;
            let day = self.tables.daily_market.get(&(*symbol, input.start_day)).expect("every security has every day");
            old_cap += shares * day.dm_close.units();
            new_cap += shares * self.last_trade(symbol).expect("every security has a price").lt_price.units();
        }
        let pct_change = if old_cap == 0 { 0.0 } else { 100.0 * (new_cap as f64 / old_cap as f64 - 1.0) };
        let sum = |cap| (!symbols.is_empty()).then(|| FinAgg::from_units(cap));
        MarketWatchOutput { status, pct_change, worth: Worth { old_cap: sum(old_cap), new_cap: sum(new_cap) } }
    }

    fn in_industry(&self, input: &MarketWatch) -> Vec<Symbol> {
        let in_it = |symbol: &Symbol| {
            let company_id = self.security(symbol).expect("listed").s_co_id;
            let company = self.company(company_id).expect("every security has a company");
            let industry = self.tables.industry.get(&(company.co_in_id,)).expect("every company has an industry");
            industry.in_name == input.industry_name
                && (input.starting_co_id..=input.ending_co_id).contains(&company.co_id)
        };
        self.tables.security.all().map(|row| row.s_symb).filter(in_it).collect()
    }
}
