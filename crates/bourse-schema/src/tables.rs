//! The 33 tables (Clause 2.2), each declared once.
//!
//! Empty texts of the flat files (a missing extension, a second address line) are stored as empty texts in every engine;
//! the one value that is NULL in normal operation is the price of a trade that has not completed.

use crate::Table;
use crate::TableRow;
use crate::table;
use crate::types::*;

macro_rules! list {
    ($($row:ident),+ $(,)?) => {
        /// All tables, in the specification's order.
        pub fn all() -> &'static [&'static Table] {
            static ALL: std::sync::LazyLock<Vec<&'static Table>> = std::sync::LazyLock::new(|| vec![$($row::table()),+]);
            &ALL
        }

        /// SQL names of all tables, in the same order.
        pub const NAMES: &[&str] = &[$($row::NAME),+];
    };
}

list! {
    AccountPermission,
    Customer,
    CustomerAccount,
    CustomerTaxrate,
    Holding,
    HoldingHistory,
    HoldingSummary,
    WatchItem,
    WatchList,
    Broker,
    CashTransaction,
    Charge,
    CommissionRateRow,
    Settlement,
    Trade,
    TradeHistory,
    TradeRequest,
    TradeType,
    Company,
    CompanyCompetitor,
    DailyMarket,
    Exchange,
    Financial,
    Industry,
    LastTrade,
    NewsItem,
    NewsXRef,
    Sector,
    Security,
    Address,
    StatusType,
    TaxRateRow,
    ZipCode,
}

/// Index of a row's table in [`all`], evaluated at compile time.
///
/// ```
/// use bourse_schema::tables;
/// const TRADE: usize = tables::number::<tables::Trade>();
/// assert_eq!(tables::NAMES[TRADE], "trade");
/// ```
pub const fn number<R: TableRow>() -> usize {
    let name = R::NAME.as_bytes();
    let mut number = 0;
    loop {
        let other = NAMES[number].as_bytes();
        let mut same = 0;
        while same < name.len() && same < other.len() && name[same] == other[same] {
            same += 1;
        }
        if same == name.len() && same == other.len() {
            return number;
        }
        number += 1;
    }
}

// --- Customer tables (Clause 2.2.5) ---

table! {
    /// Permissions to trade on accounts (Clause 2.2.5.1).
    pub struct AccountPermission = "account_permission", file "AccountPermission", Customer Scaling, rows AboutPerLoadUnit(7_110), key(ap_ca_id, ap_tax_id) {
        ap_ca_id: AccountId => CustomerAccount,
        ap_acl: Text<4>,
        ap_tax_id: Text<20>,
        ap_l_name: Text<25>,
        ap_f_name: Text<20>,
    }
}

table! {
    /// The customers of the brokerage house (Clause 2.2.5.2).
    pub struct Customer = "customer", file "Customer", Customer Scaling, rows PerLoadUnit(1_000, 0), key(c_id) {
        c_id: CustomerId,
        c_tax_id: Text<20>,
        c_st_id: StatusId => StatusType,
        c_l_name: Text<25>,
        c_f_name: Text<20>,
        c_m_name: Text<1> | nullable,
        c_gndr: Text<1> | nullable,
        c_tier: u8 | check "c_tier IN (1, 2, 3)",
        c_dob: Date,
        c_ad_id: AddressId => Address,
        c_ctry_1: Text<3> | nullable,
        c_area_1: Text<3> | nullable,
        c_local_1: Text<10> | nullable,
        c_ext_1: Text<5> | nullable,
        c_ctry_2: Text<3> | nullable,
        c_area_2: Text<3> | nullable,
        c_local_2: Text<10> | nullable,
        c_ext_2: Text<5> | nullable,
        c_ctry_3: Text<3> | nullable,
        c_area_3: Text<3> | nullable,
        c_local_3: Text<10> | nullable,
        c_ext_3: Text<5> | nullable,
        c_email_1: Text<50> | nullable,
        c_email_2: Text<50> | nullable,
    }
    index "customer_by_tax_id" (c_tax_id) for "Customer-Position frame 1";
}

table! {
    /// The customers' accounts, one to ten each (Clause 2.2.5.3).
    pub struct CustomerAccount = "customer_account", file "CustomerAccount", Customer Scaling, rows PerLoadUnit(5_000, 0), key(ca_id) {
        ca_id: AccountId,
        ca_b_id: BrokerId => Broker,
        ca_c_id: CustomerId => Customer,
        ca_name: Text<50> | nullable,
        ca_tax_st: u8 | check "ca_tax_st IN (0, 1, 2)",
        ca_bal: Balance,
    }
    index "customer_account_by_customer" (ca_c_id) for "Customer-Position frame 1";
}

table! {
    /// The two tax rates of each customer (Clause 2.2.5.4).
    pub struct CustomerTaxrate = "customer_taxrate", file "CustomerTaxrate", Customer Scaling, rows PerLoadUnit(2_000, 0), key(cx_c_id, cx_tx_id) {
        cx_tx_id: TaxId => TaxRateRow,
        cx_c_id: CustomerId => Customer,
    }
}

table! {
    /// Lots of securities held (Clause 2.2.5.5); a negative quantity is a short position.
    pub struct Holding = "holding", file "Holding", Customer Growing, rows FromTrades, key(h_t_id) {
        h_t_id: TradeId => Trade,
        h_ca_id: AccountId,
        h_s_symb: Symbol,
        h_dts: Timestamp,
        h_price: Price | check "h_price > 0",
        h_qty: Quantity,
    }
    foreign(h_ca_id, h_s_symb) => HoldingSummary;
    index "holding_by_account" (h_ca_id, h_s_symb, h_dts) for "Trade-Order frame 3, Trade-Result frame 2";
}

table! {
    /// Changes to lots, by trade (Clause 2.2.5.6).
    pub struct HoldingHistory = "holding_history", file "HoldingHistory", Customer Growing, rows FromTrades, key(hh_t_id, hh_h_t_id) {
        hh_h_t_id: TradeId => Trade,
        hh_t_id: TradeId => Trade,
        hh_before_qty: Quantity,
        hh_after_qty: Quantity,
    }
    index "holding_history_by_lot" (hh_h_t_id) for "Trade-Lookup frame 4";
}

table! {
    /// The sum of an account's lots of one security, never zero (Clause 2.2.5.7).
    pub struct HoldingSummary = "holding_summary", file "HoldingSummary", Customer Growing, rows FromTrades, key(hs_ca_id, hs_s_symb) {
        hs_ca_id: AccountId => CustomerAccount,
        hs_s_symb: Symbol => Security,
        hs_qty: Quantity,
    }
}

table! {
    /// The securities on each watch list (Clause 2.2.5.8).
    pub struct WatchItem = "watch_item", file "WatchItem", Customer Scaling, rows AboutPerLoadUnit(100_000), key(wi_wl_id, wi_s_symb) {
        wi_wl_id: WatchListId => WatchList,
        wi_s_symb: Symbol => Security,
    }
}

table! {
    /// One watch list a customer (Clause 2.2.5.9).
    pub struct WatchList = "watch_list", file "WatchList", Customer Scaling, rows PerLoadUnit(1_000, 0), key(wl_id) {
        wl_id: WatchListId,
        wl_c_id: CustomerId => Customer,
    }
    index "watch_list_by_customer" (wl_c_id) for "Market-Watch, Data-Maintenance";
}

// --- Broker tables (Clause 2.2.6) ---

table! {
    /// Brokers with the count of their trades and the sum of their commissions (Clause 2.2.6.1).
    pub struct Broker = "broker", file "Broker", Broker Scaling, rows PerLoadUnit(10, 0), key(b_id) {
        b_id: BrokerId,
        b_st_id: StatusId => StatusType,
        b_name: Text<49>,
        b_num_trades: i32,
        b_comm_total: Balance,
    }
    index "broker_by_name" (b_name) for "Broker-Volume";
}

table! {
    /// Money that a cash trade moved (Clause 2.2.6.2).
    pub struct CashTransaction = "cash_transaction", file "CashTransaction", Broker Growing, rows AboutPerTrade(92), key(ct_t_id) {
        ct_t_id: TradeId => Trade,
        ct_dts: Timestamp,
        ct_amt: Amount,
        ct_name: Text<100> | nullable,
    }
}

table! {
    /// Charges for trades, by type and tier (Clause 2.2.6.3).
    pub struct Charge = "charge", file "Charge", Broker Fixed, rows Fixed(15), key(ch_tt_id, ch_c_tier) {
        ch_tt_id: TradeTypeId => TradeType,
        ch_c_tier: u8 | check "ch_c_tier IN (1, 2, 3)",
        ch_chrg: Amount | check "ch_chrg > 0",
    }
}

table! {
    /// Commission in percent, by tier, type, exchange and quantity (Clause 2.2.6.4).
    pub struct CommissionRateRow = "commission_rate", file "CommissionRate", Broker Fixed, rows Fixed(240), key(cr_c_tier, cr_tt_id, cr_ex_id, cr_from_qty) {
        cr_c_tier: u8 | check "cr_c_tier IN (1, 2, 3)",
        cr_tt_id: TradeTypeId => TradeType,
        cr_ex_id: ExchangeId => Exchange,
        cr_from_qty: Quantity | check "cr_from_qty >= 0",
        cr_to_qty: Quantity | check "cr_to_qty > cr_from_qty",
        cr_rate: CommissionRate | check "cr_rate >= 0",
    }
}

table! {
    /// Payments for trades (Clause 2.2.6.5).
    pub struct Settlement = "settlement", file "Settlement", Broker Growing, rows Trades, key(se_t_id) {
        se_t_id: TradeId => Trade,
        se_cash_type: Text<40>,
        se_cash_due_date: Date,
        se_amt: Amount,
    }
}

table! {
    /// Trades, from order to completion (Clause 2.2.6.6).
    pub struct Trade = "trade", file "Trade", Broker Growing, rows Trades, key(t_id) {
        t_id: TradeId,
        t_dts: Timestamp,
        t_st_id: StatusId => StatusType,
        t_tt_id: TradeTypeId => TradeType,
        t_is_cash: bool,
        t_s_symb: Symbol => Security,
        t_qty: Quantity | check "t_qty > 0",
        t_bid_price: Price | check "t_bid_price > 0",
        t_ca_id: AccountId => CustomerAccount,
        t_exec_name: Text<49>,
        t_trade_price: Option<Price>,
        t_chrg: Amount | check "t_chrg >= 0",
        t_comm: Amount | check "t_comm >= 0",
        t_tax: Amount | check "t_tax >= 0",
        t_lifo: bool,
    }
    index "trade_by_account" (t_ca_id, t_dts) for "Trade-Status, Customer-Position frame 2, Trade-Lookup frames 2 and 4, Trade-Update frame 2";
    index "trade_by_security" (t_s_symb, t_dts) for "Trade-Lookup frame 3, Trade-Update frame 3";
}

table! {
    /// Times at which a trade reached each status (Clause 2.2.6.7).
    pub struct TradeHistory = "trade_history", file "TradeHistory", Broker Growing, rows AboutPerTrade(240), key(th_t_id, th_st_id) {
        th_t_id: TradeId => Trade,
        th_dts: Timestamp,
        th_st_id: StatusId => StatusType,
    }
}

table! {
    /// Limit orders that wait for their price (Clause 2.2.6.8).
    pub struct TradeRequest = "trade_request", file "TradeRequest", Broker Growing, rows Empty, key(tr_t_id) {
        tr_t_id: TradeId => Trade,
        tr_tt_id: TradeTypeId => TradeType,
        tr_s_symb: Symbol => Security,
        tr_qty: Quantity | check "tr_qty > 0",
        tr_bid_price: Price | check "tr_bid_price > 0",
        tr_b_id: BrokerId => Broker,
    }
    index "trade_request_by_security" (tr_s_symb, tr_tt_id, tr_bid_price, tr_b_id, tr_qty) for "Market-Feed by symbol, type and price; Broker-Volume by symbol (a sector's securities are fewer than its brokers' orders). Broker and quantity make it cover both, so no second index has to be kept for each limit order";
}

table! {
    /// The five types of trade (Clause 2.2.6.9).
    pub struct TradeType = "trade_type", file "TradeType", Broker Fixed, rows Fixed(5), key(tt_id) {
        tt_id: TradeTypeId,
        tt_name: Text<12>,
        tt_is_sell: bool,
        tt_is_mrkt: bool,
    }
}

// --- Market tables (Clause 2.2.7) ---

table! {
    /// Companies with public securities (Clause 2.2.7.1).
    pub struct Company = "company", file "Company", Market Scaling, rows PerLoadUnit(500, 0), key(co_id) {
        co_id: CompanyId,
        co_st_id: StatusId => StatusType,
        co_name: Text<60>,
        co_in_id: IndustryId => Industry,
        co_sp_rate: Text<4>,
        co_ceo: Text<46>,
        co_ad_id: AddressId => Address,
        co_desc: Text<150>,
        co_open_date: Date,
    }
    index "company_by_name" (co_name) for "Trade-Order frame 3";
    index "company_by_industry" (co_in_id) for "Market-Watch, Broker-Volume";
}

table! {
    /// Competitors of companies, by industry (Clause 2.2.7.2).
    pub struct CompanyCompetitor = "company_competitor", file "CompanyCompetitor", Market Scaling, rows PerLoadUnit(1_500, 0), key(cp_co_id, cp_comp_co_id, cp_in_id) {
        cp_co_id: CompanyId => Company,
        cp_comp_co_id: CompanyId => Company,
        cp_in_id: IndustryId => Industry,
    }
}

table! {
    /// Five years of closing prices (Clause 2.2.7.3).
    pub struct DailyMarket = "daily_market", file "DailyMarket", Market Scaling, rows PerLoadUnit(893_925, 0), key(dm_s_symb, dm_date) {
        dm_date: Date,
        dm_s_symb: Symbol => Security,
        dm_close: Price,
        dm_high: Price,
        dm_low: Price,
        dm_vol: Count,
    }
}

table! {
    /// The exchanges (Clause 2.2.7.4).
    pub struct Exchange = "exchange", file "Exchange", Market Fixed, rows Fixed(4), key(ex_id) {
        ex_id: ExchangeId,
        ex_name: Text<100>,
        ex_num_symb: i32,
        ex_open: u16,
        ex_close: u16,
        ex_desc: Text<150> | nullable,
        ex_ad_id: AddressId => Address,
    }
}

table! {
    /// Twenty quarters of each company's figures (Clause 2.2.7.5).
    pub struct Financial = "financial", file "Financial", Market Scaling, rows PerLoadUnit(10_000, 0), key(fi_co_id, fi_year, fi_qtr) {
        fi_co_id: CompanyId => Company,
        fi_year: u16,
        fi_qtr: u8 | check "fi_qtr IN (1, 2, 3, 4)",
        fi_qtr_start_date: Date,
        fi_revenue: FinAgg,
        fi_net_earn: FinAgg,
        fi_basic_eps: Amount,
        fi_dilut_eps: Amount,
        fi_margin: Amount,
        fi_inventory: FinAgg,
        fi_assets: FinAgg,
        fi_liability: FinAgg,
        fi_out_basic: Count,
        fi_out_dilut: Count,
    }
}

table! {
    /// Industries (Clause 2.2.7.6).
    pub struct Industry = "industry", file "Industry", Market Fixed, rows Fixed(102), key(in_id) {
        in_id: IndustryId,
        in_name: Text<50>,
        in_sc_id: SectorId => Sector,
    }
    index "industry_by_name" (in_name) for "Market-Watch";
    index "industry_by_sector" (in_sc_id) for "Broker-Volume";
}

table! {
    /// The latest price of each security (Clause 2.2.7.7).
    pub struct LastTrade = "last_trade", file "LastTrade", Market Scaling, rows PerLoadUnit(685, 0), key(lt_s_symb) {
        lt_s_symb: Symbol => Security,
        lt_dts: Timestamp,
        lt_price: Price,
        lt_open_price: Price,
        lt_vol: Count,
    }
}

table! {
    /// News, each with a body of a hundred thousand bytes (Clause 2.2.7.8).
    pub struct NewsItem = "news_item", file "NewsItem", Market Scaling, rows PerLoadUnit(1_000, 0), key(ni_id) {
        ni_id: NewsId,
        ni_headline: Text<80>,
        ni_summary: Text<255>,
        ni_item: Box<[u8]>,
        ni_dts: Timestamp,
        ni_source: Text<30>,
        ni_author: Text<30> | nullable,
    }
}

table! {
    /// References from news items to companies (Clause 2.2.7.9).
    pub struct NewsXRef = "news_xref", file "NewsXRef", Market Scaling, rows PerLoadUnit(1_000, 0), key(nx_co_id, nx_ni_id) {
        nx_ni_id: NewsId => NewsItem,
        nx_co_id: CompanyId => Company,
    }
}

table! {
    /// Sectors of the market (Clause 2.2.7.10).
    pub struct Sector = "sector", file "Sector", Market Fixed, rows Fixed(12), key(sc_id) {
        sc_id: SectorId,
        sc_name: Text<30>,
    }
    index "sector_by_name" (sc_name) for "Broker-Volume";
}

table! {
    /// Securities that can be traded (Clause 2.2.7.11).
    pub struct Security = "security", file "Security", Market Scaling, rows PerLoadUnit(685, 0), key(s_symb) {
        s_symb: Symbol,
        s_issue: Text<6>,
        s_st_id: StatusId => StatusType,
        s_name: Text<70>,
        s_ex_id: ExchangeId => Exchange,
        s_co_id: CompanyId => Company,
        s_num_out: Count,
        s_start_date: Date,
        s_exch_date: Date,
        s_pe: Amount,
        s_52wk_high: Price,
        s_52wk_high_date: Date,
        s_52wk_low: Price,
        s_52wk_low_date: Date,
        s_dividend: Amount,
        s_yield: Yield,
    }
    index "security_by_company" (s_co_id, s_issue) for "Trade-Order frame 3, Market-Watch, Broker-Volume";
}

// --- Dimension tables (Clause 2.2.8) ---

table! {
    /// Addresses of exchanges, companies and customers (Clause 2.2.8.1).
    pub struct Address = "address", file "Address", Dimension Scaling, rows PerLoadUnit(1_500, 4), key(ad_id) {
        ad_id: AddressId,
        ad_line1: Text<80> | nullable,
        ad_line2: Text<80> | nullable,
        ad_zc_code: ZipCodeId => ZipCode,
        ad_ctry: Text<80> | nullable,
    }
}

table! {
    /// The statuses that trades, customers and companies can have (Clause 2.2.8.2).
    pub struct StatusType = "status_type", file "StatusType", Dimension Fixed, rows Fixed(5), key(st_id) {
        st_id: StatusId,
        st_name: Text<10>,
    }
}

table! {
    /// Tax rates of countries and divisions (Clause 2.2.8.3).
    pub struct TaxRateRow = "taxrate", file "TaxRate", Dimension Fixed, rows Fixed(320), key(tx_id) {
        tx_id: TaxId,
        tx_name: Text<50>,
        tx_rate: TaxRate | check "tx_rate >= 0",
    }
}

table! {
    /// Zip codes with their towns (Clause 2.2.8.4).
    pub struct ZipCode = "zip_code", file "ZipCode", Dimension Fixed, rows Fixed(14_741), key(zc_code) {
        zc_code: ZipCodeId,
        zc_town: Text<80>,
        zc_div: Text<80>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 33 tables, 49 foreign keys, 22 checks with the four booleans (the counts of the specification's list).
    #[test]
    fn counts_are_the_specifications() {
        let tables = all();
        assert_eq!(tables.len(), 33);
        let foreign_keys: usize = tables.iter().map(|table| table.foreign_keys.len()).sum();
        assert_eq!(foreign_keys, 49);
        let columns = || tables.iter().flat_map(|table| table.columns);
        let checks = columns().filter(|column| column.check.is_some()).count();
        let booleans = columns().filter(|column| column.column_type == crate::ColumnType::Bool).count();
        assert_eq!((checks, booleans), (18, 4));
        assert_eq!(columns().count(), 191);
    }

    #[test]
    fn keys_and_indexes_name_columns_and_foreign_keys_match_their_parents() {
        for table in all() {
            let named = table.key.iter().chain(table.indexes.iter().flat_map(|index| index.columns));
            for name in named {
                assert!(table.column(name).is_some(), "{}.{name}", table.name);
            }
            for key in table.foreign_keys {
                let parent = (key.parent)();
                assert_eq!(key.columns.len(), parent.key.len(), "{} -> {}", table.name, parent.name);
                for (child, of_parent) in key.columns.iter().zip(parent.key) {
                    let types =
                        (table.column(child).unwrap().column_type, parent.column(of_parent).unwrap().column_type);
                    assert_eq!(types.0, types.1, "{}.{child} -> {}.{of_parent}", table.name, parent.name);
                }
            }
        }
    }
}
