//! Inputs that no emulator draws: missing rows, empty values, inverted bounds.

use super::against_sqlite::{inputs, sqlite};
use crate::loaded::Copy;
use bourse_egen::txn::*;
use bourse_egen::{Part, TradeType};
use bourse_oltp::verify::Subject;
use bourse_schema::{AccountId, CompanyId, CustomerId, Date, Price, Symbol, TaxId, Text, Timestamp, TradeId};
use bourse_tpce::model::Model;
use bourse_tpce::transactions::Request;

const NOW: Timestamp = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
const LATER: Timestamp = Timestamp::at(Date::from_ymd(2027, 1, 5), 0);
const CUSTOMER: CustomerId = CustomerId(4_300_000_123);
const ACCOUNT: AccountId = AccountId(43_000_001_221);
const NOBODY: CustomerId = CustomerId(7);
const NO_ACCOUNT: AccountId = AccountId(7);

fn position(cust_id: CustomerId, tax_id: &str, get_history: bool, acct_id_idx: i32) -> Request {
    CustomerPosition { cust_id, tax_id: Text::cut(tax_id), get_history, acct_id_idx }.into()
}

fn watch(c_id: CustomerId, acct_id: AccountId, industry: &str, companies: [i64; 2]) -> Request {
    MarketWatch {
        acct_id,
        c_id,
        starting_co_id: CompanyId(companies[0]),
        ending_co_id: CompanyId(companies[1]),
        industry_name: Text::cut(industry),
        start_day: Date::from_ymd(2003, 6, 6),
    }
    .into()
}

fn detail(symbol: &str, rows: i32, start_day: Date) -> Request {
    SecurityDetail { symbol: Symbol::cut(symbol), access_lob_flag: false, max_rows_to_return: rows, start_day }.into()
}

type Window = (Option<Timestamp>, Option<Timestamp>);

fn lookup(frame: u8, ids: &[i64], acct_id: AccountId, symbol: &str, max_trades: i32, window: Window) -> TradeLookup {
    TradeLookup {
        frame_to_execute: frame,
        trade_id: ids.iter().map(|id| TradeId(*id)).collect(),
        acct_id,
        max_acct_id: AccountId(i64::MAX),
        max_trades,
        start_trade_dts: window.0,
        end_trade_dts: window.1,
        symbol: Symbol::cut(symbol),
    }
}

fn update(like: TradeLookup, max_updates: i32) -> Request {
    TradeUpdate {
        frame_to_execute: like.frame_to_execute,
        trade_id: like.trade_id,
        acct_id: like.acct_id,
        max_acct_id: like.max_acct_id,
        max_trades: like.max_trades,
        max_updates,
        start_trade_dts: like.start_trade_dts,
        end_trade_dts: like.end_trade_dts,
        symbol: like.symbol,
    }
    .into()
}

fn order(acct_id: AccountId, first: &str, last: &str, tax_id: &str, symbol: &str) -> TradeOrder {
    TradeOrder {
        acct_id,
        exec_f_name: Text::cut(first),
        exec_l_name: Text::cut(last),
        exec_tax_id: Text::cut(tax_id),
        symbol: Symbol::cut(symbol),
        co_name: Text::EMPTY,
        issue: Text::EMPTY,
        trade_type: TradeType::MarketSell,
        trade_qty: 400,
        requested_price: 25.0,
        is_lifo: true,
        type_is_margin: false,
        roll_it_back: false,
        executor_is_account_owner: true,
    }
}

fn maintain(table_name: &'static str) -> Request {
    let (c_id, co_id) = (NOBODY, CompanyId(7));
    let (symbol, tx_id) = (Symbol::cut("?"), TaxId::cut("?"));
    DataMaintenance { table_name, acct_id: NO_ACCOUNT, c_id, co_id, day_of_month: 31, vol_incr: 1, symbol, tx_id }
        .into()
}

/// Unusual requests, each with its required status.
fn requests(symbol: &str) -> Vec<(Request, i32)> {
    let first = 200_000_000_000_001;
    let ever = (None, None);
    let mut requests = vec![
        (BrokerVolume { broker_list: Vec::new(), sector_name: Text::cut("?") }.into(), 0),
        (position(NOBODY, "", false, -1), -211),
        (position(CustomerId(0), "nobody", true, 0), -211),
        (position(CUSTOMER, "", true, 9), -221),
        (position(CUSTOMER, "", true, -1), -221),
        (watch(CustomerId(0), AccountId(0), "", [0, 0]), -411),
        (watch(NOBODY, AccountId(0), "", [0, 0]), 0),
        (watch(CustomerId(0), NO_ACCOUNT, "", [0, 0]), 0),
        (watch(CustomerId(0), AccountId(0), "?", [0, i64::MAX]), 0),
        (watch(CUSTOMER, ACCOUNT, "", [0, 0]), 0),
        (detail("?", 10, Date::from_ymd(2001, 1, 1)), -511),
        (detail(symbol, 20, Date::from_ymd(2004, 12, 30)), -511),
        (detail(symbol, 5, Date::from_ymd(1999, 1, 1)), 0),
        (TradeStatus { acct_id: NO_ACCOUNT }.into(), -911),
        (lookup(1, &[first, 7, first + 1], NO_ACCOUNT, "", 3, ever).into(), -611),
        (lookup(2, &[], NO_ACCOUNT, "", 20, (Some(NOW), Some(LATER))).into(), 621),
        (lookup(2, &[], ACCOUNT, "", 3, (Some(Timestamp::from_millis(0)), Some(LATER))).into(), 0),
        (lookup(3, &[], NO_ACCOUNT, symbol, 20, (Some(LATER), Some(NOW))).into(), 631),
        (lookup(3, &[], NO_ACCOUNT, symbol, 1, (Some(Timestamp::from_millis(0)), Some(LATER))).into(), 0),
        (lookup(4, &[], ACCOUNT, "", 0, (Some(LATER), None)).into(), 641),
        (update(lookup(1, &[first, 7, first + 1], NO_ACCOUNT, "", 3, ever), 3), -1011),
        (update(lookup(1, &[first, first + 1, first + 2], NO_ACCOUNT, "", 3, ever), 2), 0),
        (update(lookup(2, &[], ACCOUNT, "", 3, (Some(Timestamp::from_millis(0)), Some(LATER))), 1), -1022),
        (update(lookup(3, &[], ACCOUNT, symbol, 20, (Some(LATER), Some(LATER))), 20), 1031),
        (order(NO_ACCOUNT, "A", "B", "C", symbol).into(), -711),
        (order(ACCOUNT, "A", "B", "C", symbol).into(), -721),
        (TradeResult { trade_id: TradeId(7), trade_price: Price::from_units(2_000) }.into(), -811),
        (
            MarketFeed {
                entries: vec![TickerEntry {
                    symbol: Symbol::cut("?"),
                    price_quote: Price::from_units(2_000),
                    trade_qty: 5,
                }],
                unique_symbols: 1,
            }
            .into(),
            -311,
        ),
    ];
    // Maintenance of missing rows is no error: each status is a success.
    let tables = [
        "ACCOUNT_PERMISSION", "ADDRESS", "COMPANY", "CUSTOMER", "CUSTOMER_TAXRATE", "DAILY_MARKET", "FINANCIAL",
        "NEWS_ITEM", "SECURITY", "TAXRATE", "WATCH_ITEM",
    ];
    requests.extend(tables.map(|table| (maintain(table), 0)));
    requests
}

#[test]
fn odd_inputs_have_the_same_outcome() {
    let part = Part::whole(1_000, 1).expect("a valid part");
    let copy = Copy::new("odd.db");
    let (mut sqlite, mut model) = (sqlite(&copy.engine, part), Model::new(inputs(), part));
    let symbol = inputs().symbol(3);
    let mut different = Vec::new();
    for (request, due) in requests(symbol.as_str()) {
        let (theirs, ours) = (sqlite.perform(&request, NOW), model.perform(&request, NOW));
        if theirs != ours {
            different.push(format!("{request:?}\n  {theirs:?}\n  {ours:?}"));
        }
        let status = ours.outcome.as_ref().expect("the model does not fail").status;
        if status != due {
            different.push(format!("{request:?}\n  status {status}, {due} is due"));
        }
        for key in model.changed() {
            assert_eq!(sqlite.row(&key).expect("reads"), model.row(&key).expect("reads"), "{request:?}: {key}");
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
