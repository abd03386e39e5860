//! The five transactions that only read, apart from Trade-Lookup.

use super::{CustomerEmulator, alternative};
use crate::dates::MARKET_BASE;
use crate::ids;
use crate::keys::{Person, accounts_of};
use crate::txn::{BrokerVolume, CustomerPosition, MarketWatch, SecurityDetail, TradeStatus};
use bourse_schema::{AccountId, CompanyId, CustomerId, Date, Text};

/// Companies whose securities Market-Watch takes in together (Clause 3.3.4).
const WATCHED_COMPANIES: i64 = 5_000;
/// Rows of DAILY_MARKET for each security: five years.
const DAYS_OF_PRICES: i64 = 1_305;

impl CustomerEmulator<'_> {
    pub(super) fn broker_volume(&mut self) -> BrokerVolume {
        let (rng, world) = (&mut self.rng, &self.world);
        // Fewer than twenty where a database has no more than ten brokers.
        let count = rng.range(20, 40).min(world.brokers()) as usize;
        let mut brokers = Vec::with_capacity(count);
        while brokers.len() < count {
            let broker = world.any_broker(rng);
            if !brokers.contains(&broker) {
                brokers.push(broker);
            }
        }
        let broker_list = brokers.into_iter().map(|broker| world.broker_name(broker)).collect();
        let sectors = &world.inputs.sectors;
        let sector_name = sectors[rng.below(sectors.len() as u64) as usize].sc_name;
        BrokerVolume { broker_list, sector_name }
    }

    pub(super) fn customer_position(&mut self) -> CustomerPosition {
        let (rng, world) = (&mut self.rng, &self.world);
        let tunables = &self.tunables.customer_position;
        let customer = world.trading_customer(rng);
        let (cust_id, tax_id) = if rng.percent(tunables.by_tax_id.into()) {
            (CustomerId(0), Person::from(customer).tax_id())
        } else {
            (customer, Text::EMPTY)
        };
        let get_history = rng.percent(tunables.get_history.into());
        let acct_id_idx = if get_history { rng.range(0, accounts_of(customer) - 1) as i32 } else { -1 };
        CustomerPosition { cust_id, tax_id, get_history, acct_id_idx }
    }

    pub(super) fn market_watch(&mut self) -> MarketWatch {
        let (rng, world) = (&mut self.rng, &self.world);
        let tunables = &self.tunables.market_watch;
        let mut watch = MarketWatch {
            acct_id: AccountId(0),
            c_id: CustomerId(0),
            starting_co_id: CompanyId(0),
            ending_co_id: CompanyId(0),
            industry_name: Text::EMPTY,
            start_day: MARKET_BASE,
        };
        let parts = [tunables.by_industry, tunables.by_watch_list, tunables.by_account];
        match alternative(rng.percentage(), &parts) {
            0 => {
                let industries = &world.inputs.industries;
                watch.industry_name = industries[rng.below(industries.len() as u64) as usize].in_name;
                let companies = world.companies();
                let (start, count) = if companies > WATCHED_COMPANIES {
                    // One too many: the last start there is ends one beyond the companies, as in the reference.
                    (rng.range(0, companies - (WATCHED_COMPANIES - 1)), WATCHED_COMPANIES)
                } else {
                    (0, companies)
                };
                watch.starting_co_id = ids::company(start);
                watch.ending_co_id = ids::company(start + count - 1);
            }
            1 => watch.c_id = world.trading_customer(rng),
            _ => watch.acct_id = world.trading_account(rng),
        }
        watch.start_day = self.start_of_watch();
        watch
    }

    /// Draws a day to compare with: a Friday more often than not.
    fn start_of_watch(&mut self) -> Date {
        let week = self.rng.non_uniform(0, 255, 255, 0) + 5;
        let day = match self.rng.percentage() {
            ..=20 => 0,
            21..=27 => 1,
            28..=33 => 2,
            34..=40 => 3,
            _ => 4,
        };
        Date::from_days(MARKET_BASE.days() + (week * 7 + day) as i32)
    }

    pub(super) fn security_detail(&mut self) -> SecurityDetail {
        let (rng, world) = (&mut self.rng, &self.world);
        let symbol = world.any_symbol(rng);
        let access_lob_flag = rng.percent(self.tunables.security_detail.lob_access.into());
        let rows = rng.range(5, 20);
        // Calendar days against a count of trading days: the reference never asks for the last of the five years.
        let start_day = Date::from_days(MARKET_BASE.days() + rng.range(0, DAYS_OF_PRICES - rows) as i32);
        SecurityDetail { symbol, access_lob_flag, max_rows_to_return: rows as i32, start_day }
    }

    pub(super) fn trade_status(&mut self) -> TradeStatus {
        TradeStatus { acct_id: self.world.trading_account(&mut self.rng) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_falls_to_its_part() {
        let parts = [5, 60, 35];
        let drawn: Vec<usize> = [1, 5, 6, 65, 66, 100].map(|p| alternative(p, &parts)).into();
        assert_eq!(drawn, [0, 0, 1, 1, 2, 2]);
        assert_eq!(alternative(1, &[0, 100]), 1);
    }
}
