//! Data-Maintenance (Clause 3.3.11).

use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::data_maintenance::DataMaintenanceOutput;
use bourse_egen::txn::DataMaintenance;
use bourse_schema::tables::CustomerTaxrate;
use bourse_schema::{
    AccountId, AddressId, CompanyId, CustomerId, Date, NewsId, Symbol, TaxId, Text, Timestamp, WatchListId,
};

impl Market {
    pub(crate) fn data_maintenance(&mut self, input: &DataMaintenance, now: Timestamp) -> DataMaintenanceOutput {
        let changed = match input.table_name {
            "ACCOUNT_PERMISSION" => self.maintain_permissions(input.acct_id),
            "ADDRESS" => self.maintain_address(input),
            "COMPANY" => self.maintain_company(input.co_id),
            "CUSTOMER" => self.maintain_customer(input.c_id),
            "CUSTOMER_TAXRATE" => self.maintain_customers_taxes(input.c_id),
            "DAILY_MARKET" => self.maintain_days(input),
            "EXCHANGE" => self.maintain_exchanges(now),
            "FINANCIAL" => self.maintain_quarters(input.co_id),
            "NEWS_ITEM" => self.maintain_news(input.co_id),
            "SECURITY" => self.maintain_security(input.symbol),
            "TAXRATE" => self.maintain_tax(input.tx_id),
            "WATCH_ITEM" => self.maintain_watch_list(input.c_id),
            other => unreachable!("{other} is not maintained"),
        };
        DataMaintenanceOutput { status: Status::SUCCESS, changed }
    }

    fn maintain_permissions(&mut self, account: AccountId) -> u64 {
        let rows =
            self.tables.account_permission.range((account, Text::EMPTY)..(AccountId(account.0 + 1), Text::EMPTY));
        let rows: Vec<_> = rows.map(|row| (row.ap_tax_id, row.ap_acl)).collect();
        let Some(highest) = rows.iter().map(|(_, acl)| *acl).max() else { return 0 };
        let other = Text::cut(if highest == "1111" { "0011" } else { "1111" });
        let those: Vec<_> = rows.into_iter().filter(|(_, acl)| *acl == highest).collect();
        for (tax_id, _) in &those {
            self.tables.account_permission.change(&(account, *tax_id)).expect("just seen").ap_acl = other;
        }
        those.len() as u64
    }

    fn maintain_address(&mut self, input: &DataMaintenance) -> u64 {
        let of_customer = self.customer(input.c_id).map(|row| row.c_ad_id);
        let address: Option<AddressId> = match input.c_id {
            CustomerId(0) => self.company(input.co_id).map(|row| row.co_ad_id),
            _ => of_customer,
        };
        let Some(row) = address.and_then(|id| self.tables.address.change(&(id,))) else { return 0 };
        row.ad_line2 = Text::cut(if row.ad_line2 == "Apt. 10C" { "Apt. 22" } else { "Apt. 10C" });
        1
    }

    fn maintain_company(&mut self, company: CompanyId) -> u64 {
        let Some(row) = self.tables.company.change(&(company,)) else { return 0 };
        row.co_sp_rate = Text::cut(if row.co_sp_rate == "ABA" { "AAA" } else { "ABA" });
        1
    }

    fn maintain_customer(&mut self, customer: CustomerId) -> u64 {
        let Some(row) = self.tables.customer.change(&(customer,)) else { return 0 };
        let address = row.c_email_2;
        let (name, domain) = address.as_str().split_once('@').unwrap_or((address.as_str(), ""));
        let other = if domain == "mindspring.com" { "earthlink.com" } else { "mindspring.com" };
        row.c_email_2 = Text::cut(&format!("{name}@{other}"));
        1
    }

    /// Replaces the country's tax rate of a customer by the country's next.
    fn maintain_customers_taxes(&mut self, customer: CustomerId) -> u64 {
        let next_customer = CustomerId(customer.0 + 1);
        let his = self.tables.customer_taxrate.range((customer, TaxId::EMPTY)..(next_customer, TaxId::EMPTY));
        let his: Vec<TaxId> = his.map(|row| row.cx_tx_id).collect();
        let mut changed = 0;
        for old in his {
            let (country, number) = old.as_str().split_at(2);
            let Ok(number) = number.parse::<u32>() else { continue };
            let last = match country {
                "US" => 5,
                "CN" => 4,
                _ => continue,
            };
            let new = TaxId::cut(&format!("{country}{}", number % last + 1));
            self.tables.customer_taxrate.remove(&(customer, old));
            self.tables.customer_taxrate.insert(CustomerTaxrate { cx_c_id: customer, cx_tx_id: new });
            changed += 1;
        }
        changed
    }

    fn maintain_days(&mut self, input: &DataMaintenance) -> u64 {
        let days = self.tables.daily_market.range((input.symbol, Date::from_days(0))..);
        let days = days.take_while(|row| row.dm_s_symb == input.symbol).map(|row| row.dm_date);
        let those: Vec<_> = days.filter(|date| date.ymd().2 as i32 == input.day_of_month).collect();
        for &date in &those {
            let row = self.tables.daily_market.change(&(input.symbol, date)).expect("just seen");
            row.dm_vol += i64::from(input.vol_incr);
        }
        those.len() as u64
    }

    fn maintain_exchanges(&mut self, now: Timestamp) -> u64 {
        const MARK: &str = " LAST UPDATED ";
        let marked = self.tables.exchange.all().any(|row| row.ex_desc.as_str().contains("LAST UPDATED"));
        let ids: Vec<_> = self.tables.exchange.all().map(|row| row.ex_id).collect();
        // To the second: nineteen characters.
        let moment = now.to_string()[..19].to_owned();
        for &id in &ids {
            let row = self.tables.exchange.change(&(id,)).expect("just seen");
            let text = row.ex_desc.as_str();
            let text = if marked { &text[..text.len() - moment.len() - MARK.len()] } else { text };
            row.ex_desc = Text::cut(&format!("{text}{MARK}{moment}"));
        }
        ids.len() as u64
    }

    fn maintain_quarters(&mut self, company: CompanyId) -> u64 {
        let rows = self.tables.financial.range((company, 0, 0)..(CompanyId(company.0 + 1), 0, 0));
        let rows: Vec<_> = rows.map(|row| (row.fi_year, row.fi_qtr, row.fi_qtr_start_date)).collect();
        let by = if rows.iter().any(|(_, _, start)| start.ymd().2 == 1) { 1 } else { -1 };
        for &(year, quarter, start) in &rows {
            let row = self.tables.financial.change(&(company, year, quarter)).expect("just seen");
            row.fi_qtr_start_date = Date::from_days(start.days() + by);
        }
        rows.len() as u64
    }

    fn maintain_news(&mut self, company: CompanyId) -> u64 {
        let rows = self.tables.news_xref.range((company, NewsId(0))..(CompanyId(company.0 + 1), NewsId(0)));
        let items: Vec<_> = rows.map(|row| row.nx_ni_id).collect();
        for &id in &items {
            let row = self.tables.news_item.change(&(id,)).expect("every news item referred to exists");
            row.ni_dts = Timestamp::from_millis(row.ni_dts.millis() + 24 * 3_600_000);
        }
        items.len() as u64
    }

    fn maintain_security(&mut self, symbol: Symbol) -> u64 {
        let Some(row) = self.tables.security.change(&(symbol,)) else { return 0 };
        row.s_exch_date = Date::from_days(row.s_exch_date.days() + 1);
        1
    }

    fn maintain_tax(&mut self, tax: TaxId) -> u64 {
        let Some(row) = self.tables.taxrate.change(&(tax,)) else { return 0 };
        let name = row.tx_name.as_str();
        let other =
            if name.contains(" Tax ") { name.replace(" Tax ", " tax ") } else { name.replace(" tax ", " Tax ") };
        row.tx_name = Text::cut(&other);
        1
    }

    /// Replaces the middle item of a customer's watch list by the next security that is not on it.
    fn maintain_watch_list(&mut self, customer: CustomerId) -> u64 {
        let lists: Vec<WatchListId> = self.watch_lists_of(customer).to_vec();
        let mut items: Vec<_> =
            lists.iter().flat_map(|list| self.watched(*list).map(|symbol| (symbol, *list))).collect();
        items.sort_unstable();
        if items.is_empty() {
            return 0;
        }
        let (old, list) = items[items.len().div_ceil(2) - 1];
        let listed = |symbol: &Symbol| items.iter().any(|(item, _)| item == symbol);
        let mut symbols = self.tables.security.all().map(|row| row.s_symb);
        let Some(new) = symbols.find(|symbol| *symbol > old && !listed(symbol)) else { return 0 };
        let mut row = self.tables.watch_item.remove(&(list, old)).expect("just seen");
        row.wi_s_symb = new;
        self.tables.watch_item.insert(row);
        1
    }
}
