//! Read-only transactions: Broker-Volume, Customer-Position, Market-Watch, Security-Detail, Trade-Status.

use crate::world::{CUSTOMER, DEFERRED, FIRST_TRADE, OTHER, UNTAXED, WITHHELD, World, buy, sell};
use bourse_egen::txn::{
    BrokerVolume, CustomerPosition, MarketWatch, SecurityDetail, TradeOrder, TradeStatus, TradeType,
};
use bourse_schema::{AccountId, CompanyId, CustomerId, Date, Text};
use bourse_tpce::transactions::Output;
use bourse_tpce::transactions::customer_position::CustomerPositionOutput;
use bourse_tpce::transactions::market_watch::MarketWatchOutput;
use bourse_tpce::transactions::security_detail::SecurityDetailOutput;

/// The second customer's own order.
fn bens() -> TradeOrder {
    TradeOrder {
        exec_f_name: Text::cut("Ben"),
        exec_l_name: Text::cut("Baker"),
        exec_tax_id: Text::cut("TAX2"),
        ..buy(OTHER)
    }
}

#[test]
fn broker_volume_sums_pending_orders_of_the_sector() {
    let mut world = World::new();
    let ask = |names: &[&str], sector: &str| BrokerVolume {
        broker_list: names.iter().map(|name| Text::cut(name)).collect(),
        sector_name: Text::cut(sector),
    };
    let volumes = |world: &mut World, ask| match world.run(ask) {
        Output::BrokerVolume(output) => (output.status.code(), output.volumes),
        other => unreachable!("{other:?}"),
    };
    assert_eq!(volumes(&mut world, ask(&["Bob B. Broker"], "Tools")).1, []);
    world.order(buy(UNTAXED));
    for requested_price in [21.0, 22.0] {
        world.order(TradeOrder { trade_type: TradeType::LimitBuy, requested_price, ..buy(UNTAXED) });
    }
    let (status, found) = volumes(&mut world, ask(&["Nobody", "Bob B. Broker"], "Tools"));
    assert_eq!((status, found.len()), (0, 1));
    assert_eq!(found[0].broker_name, "Bob B. Broker");
    assert_eq!(found[0].volume.units(), 100 * 2_100 + 100 * 2_200);
    assert_eq!(volumes(&mut world, ask(&["Nobody"], "Tools")).1, []);
    assert_eq!(volumes(&mut world, ask(&["Bob B. Broker"], "Other")).1, []);
}

fn position(world: &mut World, ask: CustomerPosition) -> CustomerPositionOutput {
    let Output::CustomerPosition(output) = world.run(ask) else { unreachable!() };
    *output
}

fn ask_position(cust_id: CustomerId, tax_id: &str, acct_id_idx: i32) -> CustomerPosition {
    CustomerPosition { cust_id, tax_id: Text::cut(tax_id), get_history: acct_id_idx >= 0, acct_id_idx }
}

#[test]
fn customer_position_lists_accounts_by_their_assets() {
    let mut world = World::new();
    world.trade(buy(DEFERRED), 2_500);
    world.trade(sell(WITHHELD), 2_500);
    let output = position(&mut world, ask_position(CUSTOMER, "", -1));
    assert_eq!((output.status.code(), output.history.len()), (0, 0));
    let accounts: Vec<_> =
        output.accounts.iter().map(|row| (row.acct_id, row.cash_bal.units(), row.asset_total.units())).collect();
    // The short one owes shares; the one without holdings is there with nothing.
    assert_eq!(
        accounts,
        [
            (WITHHELD, 1_000_000 + 250_000 - 900, -250_000),
            (UNTAXED, 1_000_000, 0),
            (DEFERRED, 1_000_000 - 250_000 - 900, 250_000)
        ]
    );
    let customer = output.customer.expect("exists");
    assert_eq!((customer.f_name.as_str(), customer.l_name.as_str(), customer.tier), ("Ada", "Able", 1));
    assert_eq!(customer.email_2, "ada@mindspring.com");

    let by_tax_id = position(&mut world, ask_position(CustomerId(0), "TAX1", -1));
    assert_eq!((by_tax_id.cust_id, by_tax_id.accounts.len()), (CUSTOMER, 3));
    assert_eq!(position(&mut world, ask_position(CustomerId(0), "NONE", -1)).status.code(), -211);
}

#[test]
fn customer_position_tells_the_latest_history() {
    let mut world = World::new();
    for _ in 0..4 {
        world.trade(bens(), 2_500);
    }
    // Eight rows are fewer than ten.
    let few = position(&mut world, ask_position(CustomerId(CUSTOMER.0 + 1), "", 0));
    assert_eq!((few.status.code(), few.history.len()), (-221, 8));
    for _ in 0..8 {
        world.trade(bens(), 2_500);
    }
    let output = position(&mut world, ask_position(CustomerId(CUSTOMER.0 + 1), "", 0));
    // Ten of the twelve trades, two rows each.
    assert_eq!((output.status.code(), output.history.len()), (0, 20));
    let newest = &output.history[0];
    assert_eq!((newest.trade_id.0, newest.trade_status.as_str()), (FIRST_TRADE + 11, "Completed"));
    assert!(output.history.is_sorted_by(|a, b| a.hist_dts >= b.hist_dts));
    assert_eq!(output.history[19].trade_id.0, FIRST_TRADE + 2);
}

#[test]
fn market_watch_compares_with_a_day() {
    let day = Date::from_ymd(2000, 1, 5);
    let nothing = MarketWatch {
        acct_id: AccountId(0),
        c_id: CustomerId(0),
        starting_co_id: CompanyId(0),
        ending_co_id: CompanyId(0),
        industry_name: Text::EMPTY,
        start_day: day,
    };
    let mut world = World::new();
    let watch = |world: &mut World, ask: MarketWatch| -> MarketWatchOutput {
        let Output::MarketWatch(output) = world.run(ask) else { unreachable!() };
        output
    };
    assert_eq!(watch(&mut world, nothing.clone()).status.code(), -411);

    // ACME at 25.00 and CORE at 30.00, both were 20.00.
    let list = watch(&mut world, MarketWatch { c_id: CUSTOMER, ..nothing.clone() });
    assert_eq!(list.status.code(), 0);
    assert_eq!(list.worth.new_cap.map(|cap| cap.units()), Some(1_000 * (2_500 + 3_000)));
    assert!((list.pct_change - 37.5).abs() < 1e-9, "{}", list.pct_change);

    // The industry's second company alone: BOLT at 20.00, CORE at 30.00.
    let industry = MarketWatch {
        industry_name: Text::cut("Hammers"),
        starting_co_id: CompanyId(4_300_000_002),
        ending_co_id: CompanyId(4_300_000_009),
        ..nothing.clone()
    };
    assert!((watch(&mut world, industry).pct_change - 25.0).abs() < 1e-9);

    let account = MarketWatch { acct_id: UNTAXED, ..nothing };
    let empty = watch(&mut world, account.clone());
    assert_eq!((empty.pct_change, empty.worth.old_cap), (0.0, None));
    world.trade(buy(UNTAXED), 2_500);
    assert!((watch(&mut world, account).pct_change - 25.0).abs() < 1e-9);
}

#[test]
fn security_detail_tells_everything() {
    let mut world = World::new();
    let ask = SecurityDetail {
        symbol: Text::cut("ACME"),
        access_lob_flag: false,
        max_rows_to_return: 7,
        start_day: Date::from_ymd(2000, 1, 10),
    };
    let detail = |world: &mut World, ask: SecurityDetail| -> SecurityDetailOutput {
        let Output::SecurityDetail(output) = world.run(ask) else { unreachable!() };
        *output
    };
    let output = detail(&mut world, ask.clone());
    assert_eq!(output.status.code(), 0);
    let profile = output.profile.expect("exists");
    assert_eq!((profile.co_name.as_str(), profile.ex_name.as_str()), ("Acme's Hammers", "The Exchange"));
    assert_eq!((profile.co_ad_town.as_str(), profile.ex_ad_zip.as_str()), ("Town", "1000"));
    assert_eq!((profile.ex_open, profile.ex_close, profile.ex_num_symb), (930, 1_600, 3));
    assert_eq!(output.competitors.len(), 1);
    assert_eq!(output.competitors[0].cp_co_name, "Bolt & Co");
    assert_eq!(output.financials.len(), 20);
    assert_eq!((output.financials[19].year, output.financials[19].qtr), (2_004, 4));
    assert_eq!(output.days.len(), 7);
    assert_eq!((output.days[0].date, output.days[0].vol), (Date::from_ymd(2000, 1, 10), 1_007));
    assert_eq!(output.last.expect("exists").last_price.units(), 2_500);
    assert_eq!(output.news.len(), 2);
    assert_eq!((output.news[0].headline.as_str(), output.news[0].item.as_slice()), ("Headline 1", b"".as_slice()));

    let bodies = detail(&mut world, SecurityDetail { access_lob_flag: true, ..ask.clone() });
    assert_eq!((bodies.news[1].headline.as_str(), bodies.news[1].item.as_slice()), ("", b"body 2".as_slice()));

    let late = SecurityDetail { start_day: Date::from_ymd(2000, 1, 26), ..ask.clone() };
    assert_eq!(detail(&mut world, late).status.code(), -511, "two days are left");
    let poor = SecurityDetail { symbol: Text::cut("BOLT"), ..ask };
    assert_eq!(detail(&mut world, poor).status.code(), -512, "the first error stays");
}

#[test]
fn trade_status_shows_the_latest_fifty() {
    let mut world = World::new();
    let status = |world: &mut World| {
        let Output::TradeStatus(output) = world.run(TradeStatus { acct_id: OTHER }) else { unreachable!() };
        output
    };
    for _ in 0..49 {
        world.trade(bens(), 2_500);
    }
    assert_eq!(status(&mut world).status.code(), -911);
    for _ in 0..2 {
        world.order(TradeOrder { trade_type: TradeType::MarketSell, ..bens() });
    }
    let output = status(&mut world);
    assert_eq!((output.status.code(), output.trades.len()), (0, 50));
    let newest = &output.trades[0];
    assert_eq!((newest.trade_id.0, newest.status_name.as_str()), (FIRST_TRADE + 50, "Submitted"));
    assert_eq!((newest.type_name.as_str(), newest.ex_name.as_str()), ("Market-Sell", "The Exchange"));
    assert_eq!(output.trades[49].trade_id.0, FIRST_TRADE + 1);
    let names = output.names.expect("exists");
    assert_eq!((names.cust_f_name.as_str(), names.broker_name.as_str()), ("Ben", "Bob B. Broker"));
}
