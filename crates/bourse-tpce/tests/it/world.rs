//! A small database made by hand, so that every effect of a transaction can be foreseen.
//!
//! One broker; three accounts of one customer of tier 1, who differ in tax status (0, 1, 2); a second customer without
//! trades. His tax rates sum to 15 percent. Charge 1.50; commission 0.30 percent to 200 shares, 0.20 percent beyond.

use bourse_egen::txn::{self, TradeRequest, TradeType};
use bourse_engine::{Batch, Engine as _, Session, Value};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_schema::{
    AccountId, AddressId, Amount, Balance, BrokerId, CommissionRate, CompanyId, CustomerId, Date, FinAgg, NewsId,
    Price, Rows, SQLITE, TableRow, TaxRate, Text, Timestamp, TradeId, WatchListId, Yield, tables as t,
};
use bourse_tpce::transactions::trade_order::TradeOrderOutput;
use bourse_tpce::transactions::trade_result::TradeResultOutput;
use bourse_tpce::transactions::{Context, Output, Request, Retry, TradeIds, TransactionResult, TxnError, perform};
use std::cell::{Cell, RefCell};

/// Not taxed.
pub(crate) const UNTAXED: AccountId = AccountId(43_000_000_001);
/// Taxed, tax withheld.
pub(crate) const WITHHELD: AccountId = AccountId(43_000_000_002);
/// Taxed, paid later.
pub(crate) const DEFERRED: AccountId = AccountId(43_000_000_003);
/// Account of the second customer.
pub(crate) const OTHER: AccountId = AccountId(43_000_000_011);
/// The customer of the first three.
pub(crate) const CUSTOMER: CustomerId = CustomerId(4_300_000_001);
/// The first number of a new trade.
pub(crate) const FIRST_TRADE: i64 = 200_000_000_000_101;
/// 2026-01-05 10:00:00, and a second later with each reading.
pub(crate) const MORNING: Timestamp = Timestamp::at(Date::from_ymd(2026, 1, 5), 10 * 3_600_000);

/// The database and the surroundings of transactions.
pub(crate) struct World {
    pub(crate) engine: SqliteEngine,
    pub(crate) session: Box<dyn Session>,
    pub(crate) sent: RefCell<Vec<TradeRequest>>,
    looks: Cell<i64>,
    trade_ids: TradeIds,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::at("sqlite::memory:")
    }

    pub(crate) fn at(target: &str) -> Self {
        let engine = open(target).expect("a valid target");
        let mut loader = engine.loader().expect("loads");
        for table in bourse_schema::load_order(bourse_schema::tables::all()) {
            loader.run(&bourse_schema::create_table(table, &SQLITE, true)).expect("creates");
            for index in table.indexes {
                loader.run(&bourse_schema::create_index(table, index, &SQLITE)).expect("creates");
            }
        }
        for batch in rows() {
            loader.insert(&*batch).expect("inserts");
        }
        loader.finish().expect("finishes");
        let session = engine.session().expect("connects");
        let trade_ids = TradeIds::starting_at(TradeId(FIRST_TRADE));
        Self { engine, session, sent: RefCell::default(), looks: Cell::new(0), trade_ids }
    }

    pub(crate) fn try_run(&mut self, request: impl Into<Request>) -> Result<TransactionResult, TxnError> {
        let now = || {
            self.looks.set(self.looks.get() + 1);
            Timestamp::from_millis(MORNING.millis() + self.looks.get() * 1_000)
        };
        let send = |order: &TradeRequest| self.sent.borrow_mut().push(*order);
        let context = Context {
            now: &now,
            trade_ids: &self.trade_ids,
            market: &send,
            retry: Retry { attempts: 3, back_off: &|_| true },
        };
        perform(&mut *self.session, &context, &request.into())
    }

    pub(crate) fn run(&mut self, request: impl Into<Request>) -> Output {
        self.try_run(request).expect("runs").output
    }

    pub(crate) fn order(&mut self, order: txn::TradeOrder) -> TradeOrderOutput {
        let Output::TradeOrder(output) = self.run(order) else { unreachable!("another output") };
        *output
    }

    pub(crate) fn result(&mut self, trade_id: TradeId, cents: i64) -> TradeResultOutput {
        let result = txn::TradeResult { trade_id, trade_price: Price::from_units(cents) };
        let Output::TradeResult(output) = self.run(result) else { unreachable!("another output") };
        output
    }

    /// Orders at the market and has the order executed at a price.
    pub(crate) fn trade(&mut self, order: txn::TradeOrder, cents: i64) -> TradeResultOutput {
        let ordered = self.order(order);
        self.result(ordered.trade_id.expect("was written"), cents)
    }

    /// A query's rows, columns joined by blanks.
    pub(crate) fn rows(&mut self, sql: &str) -> Vec<String> {
        let mut found = Vec::new();
        let columns = sql.split(" FROM ").next().expect("a query").matches(',').count() + 1;
        self.session
            .query_text(sql, &[], &mut |row| {
                let texts = (0..columns).map(|index| match row.value(index) {
                    Value::Null => "NULL".to_owned(),
                    Value::Int(number) => number.to_string(),
                    Value::Text(text) => text.to_owned(),
                    other => format!("{other:?}"),
                });
                found.push(texts.collect::<Vec<_>>().join(" "));
                Ok(())
            })
            .expect("queries");
        found
    }

    pub(crate) fn change(&mut self, sql: &str) {
        self.session.query_text(sql, &[], &mut |_| Ok(())).expect("changes");
    }
}

/// The customer's own order of a market purchase of 100 shares of ACME.
pub(crate) fn buy(acct_id: AccountId) -> txn::TradeOrder {
    txn::TradeOrder {
        acct_id,
        exec_f_name: Text::cut("Ada"),
        exec_l_name: Text::cut("Able"),
        exec_tax_id: Text::cut("TAX1"),
        symbol: Text::cut("ACME"),
        co_name: Text::EMPTY,
        issue: Text::EMPTY,
        trade_type: TradeType::MarketBuy,
        trade_qty: 100,
        requested_price: 0.0,
        is_lifo: false,
        type_is_margin: false,
        roll_it_back: false,
        executor_is_account_owner: true,
    }
}

/// The order of [`buy`], as a sale.
pub(crate) fn sell(acct_id: AccountId) -> txn::TradeOrder {
    txn::TradeOrder { trade_type: TradeType::MarketSell, ..buy(acct_id) }
}

fn batch<R: TableRow>(rows: Vec<R>) -> Box<dyn Batch> {
    Box::new(Rows(rows))
}

const DAY: Date = Date::from_ymd(2000, 1, 3);

fn rows() -> Vec<Box<dyn Batch>> {
    let inputs = crate::loaded::inputs();
    let mut all = vec![
        batch(inputs.status_types.clone()),
        batch(inputs.trade_types.clone()),
        batch(vec![t::ZipCode { zc_code: Text::cut("1000"), zc_town: Text::cut("Town"), zc_div: Text::cut("Div") }]),
        batch((1..=4).map(address).collect()),
        batch(taxes()),
        batch(vec![t::Sector { sc_id: Text::cut("S1"), sc_name: Text::cut("Tools") }]),
        batch(vec![t::Industry { in_id: Text::cut("I1"), in_name: Text::cut("Hammers"), in_sc_id: Text::cut("S1") }]),
        batch(vec![t::Exchange {
            ex_id: Text::cut("EX"),
            ex_name: Text::cut("The Exchange"),
            ex_num_symb: 3,
            ex_open: 930,
            ex_close: 1_600,
            ex_desc: Text::cut("Old"),
            ex_ad_id: AddressId(1),
        }]),
        batch(vec![t::Broker {
            b_id: BrokerId(4_300_000_001),
            b_st_id: Text::cut("ACTV"),
            b_name: Text::cut("Bob B. Broker"),
            b_num_trades: 0,
            b_comm_total: Default::default(),
        }]),
    ];
    all.extend(rates());
    all.extend(market());
    all.extend(customers());
    all
}

fn address(id: i64) -> t::Address {
    t::Address {
        ad_id: AddressId(id),
        ad_line1: Text::cut("1 Street"),
        ad_line2: Text::EMPTY,
        ad_zc_code: Text::cut("1000"),
        ad_ctry: Text::cut("USA"),
    }
}

fn taxes() -> Vec<t::TaxRateRow> {
    let rate = |id: &str, name: &str, units| t::TaxRateRow {
        tx_id: Text::cut(id),
        tx_name: Text::cut(name),
        tx_rate: TaxRate::from_units(units),
    };
    vec![
        rate("US5", "Country Tax five", 10_000),
        rate("US1", "Country Tax one", 2_000),
        rate("DV1", "Division Tax of Div", 5_000),
    ]
}

fn rates() -> Vec<Box<dyn Batch>> {
    let types = TradeType::ALL.map(|kind| kind.text());
    let tiers = |tier| types.iter().map(move |kind| (tier, *kind)).collect::<Vec<_>>();
    let all: Vec<_> = (1..=3).flat_map(tiers).collect();
    let charge = |&(tier, kind)| t::Charge { ch_tt_id: kind, ch_c_tier: tier, ch_chrg: Amount::from_units(150) };
    let band = |&(tier, kind): &(u8, _)| {
        let rate = move |from, to, units| t::CommissionRateRow {
            cr_c_tier: tier,
            cr_tt_id: kind,
            cr_ex_id: Text::cut("EX"),
            cr_from_qty: from,
            cr_to_qty: to,
            cr_rate: CommissionRate::from_units(units),
        };
        [rate(1, 200, 30), rate(201, 999_999, 20)]
    };
    vec![batch(all.iter().map(charge).collect()), batch(all.iter().flat_map(band).collect())]
}

/// ACME of the first company at 25.00; BOLT at 20.00 and CORE at 30.00 of the second.
fn market() -> Vec<Box<dyn Batch>> {
    let company = |n: i64, name: &str| t::Company {
        co_id: CompanyId(4_300_000_000 + n),
        co_st_id: Text::cut("ACTV"),
        co_name: Text::cut(name),
        co_in_id: Text::cut("I1"),
        co_sp_rate: Text::cut("AA"),
        co_ceo: Text::cut("Chief"),
        co_ad_id: AddressId(2),
        co_desc: Text::cut("Makes"),
        co_open_date: DAY,
    };
    let securities = [("ACME", 1, "COMMON", 2_500), ("BOLT", 2, "COMMON", 2_000), ("CORE", 2, "PREF_A", 3_000)];
    let security = |&(symbol, co, issue, cents): &(&str, i64, &str, i64)| t::Security {
        s_symb: Text::cut(symbol),
        s_issue: Text::cut(issue),
        s_st_id: Text::cut("ACTV"),
        s_name: Text::cut(&format!("{issue} of Co {co}")),
        s_ex_id: Text::cut("EX"),
        s_co_id: CompanyId(4_300_000_000 + co),
        s_num_out: 1_000,
        s_start_date: DAY,
        s_exch_date: DAY,
        s_pe: Amount::from_units(100),
        s_52wk_high: Price::from_units(cents + 100),
        s_52wk_high_date: DAY,
        s_52wk_low: Price::from_units(cents - 100),
        s_52wk_low_date: DAY,
        s_dividend: Amount::from_units(10),
        s_yield: Yield::from_units(1),
    };
    let last = |&(symbol, _, _, cents): &(&str, i64, &str, i64)| t::LastTrade {
        lt_s_symb: Text::cut(symbol),
        lt_dts: MORNING,
        lt_price: Price::from_units(cents),
        lt_open_price: Price::from_units(cents),
        lt_vol: 0,
    };
    // Twenty-five days, each closing at 20.00.
    let days = |&(symbol, ..): &(&'static str, i64, &str, i64)| {
        (0..25).map(move |day| t::DailyMarket {
            dm_date: Date::from_days(DAY.days() + day),
            dm_s_symb: Text::cut(symbol),
            dm_close: Price::from_units(2_000),
            dm_high: Price::from_units(2_100),
            dm_low: Price::from_units(1_900),
            dm_vol: 1_000 + i64::from(day),
        })
    };
    let quarter = |n: i32| t::Financial {
        fi_co_id: CompanyId(4_300_000_001),
        fi_year: 2_000 + (n / 4) as u16,
        fi_qtr: 1 + (n % 4) as u8,
        fi_qtr_start_date: Date::from_ymd(2_000 + n / 4, 1 + 3 * (n % 4) as u32, 1),
        fi_revenue: FinAgg::from_units(100_000 + i64::from(n)),
        fi_net_earn: FinAgg::from_units(10_000),
        fi_basic_eps: Amount::from_units(1),
        fi_dilut_eps: Amount::from_units(1),
        fi_margin: Amount::from_units(1),
        fi_inventory: FinAgg::from_units(1),
        fi_assets: FinAgg::from_units(1),
        fi_liability: FinAgg::from_units(1),
        fi_out_basic: 1,
        fi_out_dilut: 1,
    };
    let news = |n: i64| t::NewsItem {
        ni_id: NewsId(n),
        ni_headline: Text::cut(&format!("Headline {n}")),
        ni_summary: Text::cut("Summary"),
        ni_item: format!("body {n}").into_bytes().into_boxed_slice(),
        ni_dts: Timestamp::at(DAY, 1_000),
        ni_source: Text::cut("Source"),
        ni_author: Text::cut("Author"),
    };
    let reference = |n: i64| t::NewsXRef { nx_ni_id: NewsId(n), nx_co_id: CompanyId(4_300_000_001) };
    vec![
        batch(vec![company(1, "Acme's Hammers"), company(2, "Bolt & Co")]),
        batch(vec![t::CompanyCompetitor {
            cp_co_id: CompanyId(4_300_000_001),
            cp_comp_co_id: CompanyId(4_300_000_002),
            cp_in_id: Text::cut("I1"),
        }]),
        batch(securities.iter().map(security).collect()),
        batch(securities.iter().map(last).collect()),
        batch(securities.iter().flat_map(days).collect()),
        batch((0..20).map(quarter).collect()),
        batch(vec![news(1), news(2)]),
        batch(vec![reference(1), reference(2)]),
    ]
}

fn customers() -> Vec<Box<dyn Batch>> {
    let customer = |n: i64, first: &str, last: &str| t::Customer {
        c_id: CustomerId(4_300_000_000 + n),
        c_tax_id: Text::cut(&format!("TAX{n}")),
        c_st_id: Text::cut("ACTV"),
        c_l_name: Text::cut(last),
        c_f_name: Text::cut(first),
        c_m_name: Text::cut("M"),
        c_gndr: Text::cut("F"),
        c_tier: 1,
        c_dob: DAY,
        c_ad_id: AddressId(2 + n),
        c_ctry_1: Text::cut("011"),
        c_area_1: Text::cut("201"),
        c_local_1: Text::cut("5550001"),
        c_ext_1: Text::EMPTY,
        c_ctry_2: Text::EMPTY,
        c_area_2: Text::EMPTY,
        c_local_2: Text::EMPTY,
        c_ext_2: Text::EMPTY,
        c_ctry_3: Text::EMPTY,
        c_area_3: Text::EMPTY,
        c_local_3: Text::EMPTY,
        c_ext_3: Text::EMPTY,
        c_email_1: Text::cut("a@gmail.com"),
        c_email_2: Text::cut("ada@mindspring.com"),
    };
    let account = |id: AccountId, customer: i64, tax| t::CustomerAccount {
        ca_id: id,
        ca_b_id: BrokerId(4_300_000_001),
        ca_c_id: CustomerId(4_300_000_000 + customer),
        ca_name: Text::cut("Savings"),
        ca_tax_st: tax,
        ca_bal: Balance::from_units(1_000_000),
    };
    let permission = |id, acl: &str, tax: &str, last: &str, first: &str| t::AccountPermission {
        ap_ca_id: id,
        ap_acl: Text::cut(acl),
        ap_tax_id: Text::cut(tax),
        ap_l_name: Text::cut(last),
        ap_f_name: Text::cut(first),
    };
    let tax = |id: &str, customer: i64| t::CustomerTaxrate {
        cx_tx_id: Text::cut(id),
        cx_c_id: CustomerId(4_300_000_000 + customer),
    };
    let item = |list, symbol: &str| t::WatchItem { wi_wl_id: WatchListId(list), wi_s_symb: Text::cut(symbol) };
    let list = |n: i64| t::WatchList { wl_id: WatchListId(n), wl_c_id: CustomerId(4_300_000_000 + n) };
    vec![
        batch(vec![customer(1, "Ada", "Able"), customer(2, "Ben", "Baker")]),
        batch(vec![tax("US5", 1), tax("DV1", 1), tax("US5", 2), tax("DV1", 2)]),
        batch(vec![account(UNTAXED, 1, 0), account(WITHHELD, 1, 1), account(DEFERRED, 1, 2), account(OTHER, 2, 0)]),
        batch(vec![
            permission(UNTAXED, "0000", "TAX1", "Able", "Ada"),
            permission(UNTAXED, "0011", "TAX9", "Else", "Eve"),
        ]),
        batch(vec![list(1), list(2)]),
        batch(vec![item(1, "ACME"), item(1, "CORE"), item(2, "BOLT"), item(2, "CORE")]),
    ]
}

impl World {
    /// Asserts that the database is consistent.
    pub(crate) fn assert_consistent(&mut self) {
        for condition in bourse_tpce::check::conditions::CONDITIONS {
            let checked =
                condition.run(&mut *self.session, &bourse_tpce::check::holes(TradeId(FIRST_TRADE))).expect("runs");
            assert!(checked.passed(), "{checked:#?}");
        }
    }
}
