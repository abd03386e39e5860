//! Security-Detail (Clause 3.3.5).

use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::security_detail::{
    Competitor, LastPrice, News, Profile, Quarter, SecurityDetailOutput, TradingDay,
};
use bourse_egen::txn::SecurityDetail;
use bourse_schema::tables::{Address, Security, ZipCode};
use bourse_schema::{AddressId, CompanyId, Date, IndustryId, NewsId, Symbol, Text};

impl Market {
    pub(crate) fn security_detail(&self, input: &SecurityDetail) -> SecurityDetailOutput {
        let security = self.security(&input.symbol);
        let (competitors, financials, news) = security.map_or_else(Default::default, |row| {
            let company = row.s_co_id;
            (self.competitors(company), self.quarters(company), self.news(company, input.access_lob_flag))
        });
        let days = self.days(&input.symbol, input.start_day, input.max_rows_to_return);
        let mut status = Status::SUCCESS;
        status.raise_if(!(5..=20).contains(&days.len()), -511);
        status.raise_if(financials.len() != 20, -512);
        status.raise_if(news.len() != 2, -513);
        let last = self.last_trade(&input.symbol);
        let last =
            last.map(|row| LastPrice { last_price: row.lt_price, last_open: row.lt_open_price, last_vol: row.lt_vol });
        let profile = security.map(|row| self.profile(row));
        SecurityDetailOutput { status, profile, competitors, financials, days, last, news }
    }

    fn address(&self, id: AddressId) -> (&Address, &ZipCode) {
        let address = self.tables.address.get(&(id,)).expect("every address referred to exists");
        (address, self.tables.zip_code.get(&(address.ad_zc_code,)).expect("every address has a zip code"))
    }

    fn profile(&self, row: &Security) -> Profile {
        let company = self.company(row.s_co_id).expect("every security has a company");
        let exchange = self.tables.exchange.get(&(row.s_ex_id,)).expect("every security has an exchange");
        let (co_address, co_zip) = self.address(company.co_ad_id);
        let (ex_address, ex_zip) = self.address(exchange.ex_ad_id);
        Profile {
            s_name: row.s_name,
            co_id: company.co_id,
            co_name: company.co_name,
            sp_rate: company.co_sp_rate,
            ceo_name: company.co_ceo,
            co_desc: company.co_desc,
            open_date: company.co_open_date,
            co_st_id: company.co_st_id,
            co_ad_line1: co_address.ad_line1,
            co_ad_line2: co_address.ad_line2,
            co_ad_zip: co_address.ad_zc_code,
            co_ad_town: co_zip.zc_town,
            co_ad_div: co_zip.zc_div,
            co_ad_ctry: co_address.ad_ctry,
            num_out: row.s_num_out,
            start_date: row.s_start_date,
            exch_date: row.s_exch_date,
            pe_ratio: row.s_pe,
            s52_wk_high: row.s_52wk_high,
            s52_wk_high_date: row.s_52wk_high_date,
            s52_wk_low: row.s_52wk_low,
            s52_wk_low_date: row.s_52wk_low_date,
            divid: row.s_dividend,
            yield_percent: row.s_yield,
            ex_ad_line1: ex_address.ad_line1,
            ex_ad_line2: ex_address.ad_line2,
            ex_ad_zip: ex_address.ad_zc_code,
            ex_ad_town: ex_zip.zc_town,
            ex_ad_div: ex_zip.zc_div,
            ex_ad_ctry: ex_address.ad_ctry,
            ex_close: exchange.ex_close,
            ex_desc: exchange.ex_desc,
            ex_name: exchange.ex_name,
            ex_num_symb: exchange.ex_num_symb,
            ex_open: exchange.ex_open,
        }
    }

    fn competitors(&self, company: CompanyId) -> Vec<Competitor> {
        let key = |company| (company, CompanyId(0), IndustryId::EMPTY);
        let rows = self.tables.company_competitor.range(key(company)..key(CompanyId(company.0 + 1)));
        let named = |row: &bourse_schema::tables::CompanyCompetitor| Competitor {
            cp_co_name: self.company(row.cp_comp_co_id).expect("a competitor is a company").co_name,
            cp_in_name: self.tables.industry.get(&(row.cp_in_id,)).expect("they compete in an industry").in_name,
        };
        rows.take(3).map(named).collect()
    }

    fn quarters(&self, company: CompanyId) -> Vec<Quarter> {
        let rows = self.tables.financial.range((company, 0, 0)..(CompanyId(company.0 + 1), 0, 0)).take(20);
        let quarter = |row: &bourse_schema::tables::Financial| Quarter {
            year: row.fi_year,
            qtr: row.fi_qtr,
            start_date: row.fi_qtr_start_date,
            rev: row.fi_revenue,
            net_earn: row.fi_net_earn,
            basic_eps: row.fi_basic_eps,
            dilut_eps: row.fi_dilut_eps,
            margin: row.fi_margin,
            invent: row.fi_inventory,
            assets: row.fi_assets,
            liab: row.fi_liability,
            out_basic: row.fi_out_basic,
            out_dilut: row.fi_out_dilut,
        };
        rows.map(quarter).collect()
    }

    fn days(&self, symbol: &Symbol, from: Date, most: i32) -> Vec<TradingDay> {
        let rows = self.tables.daily_market.range((*symbol, from)..=(*symbol, Date::from_days(i32::MAX)));
        let day = |row: &bourse_schema::tables::DailyMarket| TradingDay {
            date: row.dm_date,
            close: row.dm_close,
            high: row.dm_high,
            low: row.dm_low,
            vol: row.dm_vol,
        };
        rows.take(most.max(0) as usize).map(day).collect()
    }

    fn news(&self, company: CompanyId, with_body: bool) -> Vec<News> {
        let rows = self.tables.news_xref.range((company, NewsId(0))..(CompanyId(company.0 + 1), NewsId(0))).take(2);
        let item = |row: &bourse_schema::tables::NewsXRef| {
            let item = self.tables.news_item.get(&(row.nx_ni_id,)).expect("every news item referred to exists");
            News {
                headline: if with_body { Text::EMPTY } else { item.ni_headline },
                summary: if with_body { Text::EMPTY } else { item.ni_summary },
                item: if with_body { item.ni_item.to_vec() } else { Vec::new() },
                dts: item.ni_dts,
                src: item.ni_source,
                auth: item.ni_author,
            }
        };
        rows.map(item).collect()
    }
}
