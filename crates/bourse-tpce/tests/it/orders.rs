//! Trade-Order: permission, estimate, rows written and orders sent.

use crate::world::{FIRST_TRADE, MORNING, UNTAXED, WITHHELD, World, buy, sell};
use bourse_egen::txn::{TradeAction, TradeOrder, TradeRequest, TradeType};
use bourse_schema::{AccountId, Amount, Balance, Price, Text, TradeId};

const TABLES: [&str; 3] = ["trade", "trade_request", "trade_history"];

fn written(world: &mut World) -> Vec<String> {
    TABLES.iter().flat_map(|table| world.rows(&format!("SELECT count(*) FROM {table}"))).collect()
}

#[test]
fn a_market_order_goes_to_the_market_at_once() {
    let mut world = World::new();
    let output = world.order(buy(UNTAXED));
    assert_eq!(output.status.code(), 0);
    assert_eq!(output.trade_id, Some(TradeId(FIRST_TRADE)));
    let estimate = output.estimate.expect("was reached");
    assert_eq!(estimate.status_id, "SBMT");
    assert_eq!(estimate.requested_price, Price::from_units(2_500));
    assert_eq!(estimate.charge_amount, Amount::from_units(150));
    assert_eq!((estimate.co_name.as_str(), estimate.s_name.as_str()), ("Acme's Hammers", "COMMON of Co 1"));
    assert_eq!(written(&mut world), ["1", "0", "1"]);
    let price = "SELECT t_st_id, t_bid_price, t_trade_price, t_comm, t_dts FROM trade";
    assert_eq!(world.rows(price), [format!("SBMT 2500 NULL 750 {}", MORNING.millis() + 1_000)]);
    let sent = TradeRequest {
        action: TradeAction::ProcessOrder,
        trade_id: TradeId(FIRST_TRADE),
        trade_type: TradeType::MarketBuy,
        symbol: Text::cut("ACME"),
        trade_qty: 100,
        price_quote: Price::from_units(2_500),
    };
    assert_eq!(*world.sent.borrow(), [sent]);
}

#[test]
fn a_limit_order_waits_for_its_price() {
    let mut world = World::new();
    let limit = TradeOrder { trade_type: TradeType::LimitSell, requested_price: 27.13, ..sell(UNTAXED) };
    let output = world.order(limit);
    assert_eq!(output.estimate.expect("was reached").status_id, "PNDG");
    assert_eq!(
        world.rows("SELECT tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price, tr_b_id FROM trade_request"),
        [format!("{FIRST_TRADE} TLS ACME 100 2713 4300000001")]
    );
    // 0.30 percent of 2,713.00 is 8.139
    assert_eq!(world.rows("SELECT t_st_id, t_bid_price, t_comm FROM trade"), ["PNDG 2713 814"]);
    assert_eq!(world.rows("SELECT th_st_id FROM trade_history"), ["PNDG"]);
    let sent = world.sent.borrow()[0];
    assert_eq!((sent.action, sent.price_quote), (TradeAction::SetLimitTrigger, Price::from_units(2_713)));
    world.assert_consistent();
}

#[test]
fn a_security_can_be_named_by_company_and_issue() {
    let mut world = World::new();
    let by_name =
        TradeOrder { symbol: Text::EMPTY, co_name: Text::cut("Bolt & Co"), issue: Text::cut("PREF_A"), ..buy(UNTAXED) };
    let estimate = world.order(by_name).estimate.expect("was reached");
    assert_eq!((estimate.symbol.as_str(), estimate.market_price), ("CORE", Price::from_units(3_000)));
    assert_eq!(world.rows("SELECT t_s_symb, t_bid_price FROM trade"), ["CORE 3000"]);
}

#[test]
fn an_order_rolled_back_leaves_a_gap_and_nothing_else() {
    let mut world = World::new();
    for trade_type in [TradeType::MarketBuy, TradeType::LimitBuy] {
        let order = TradeOrder { roll_it_back: true, trade_type, requested_price: 20.0, ..buy(UNTAXED) };
        let output = world.order(order);
        assert_eq!(output.status.code(), 1);
        assert!(!output.status.is_error());
        assert!(output.trade_id.is_some());
        assert_eq!(written(&mut world), ["0", "0", "0"]);
    }
    assert!(world.sent.borrow().is_empty());
    assert_eq!(world.order(buy(UNTAXED)).trade_id, Some(TradeId(FIRST_TRADE + 2)));
}

#[test]
fn others_may_order_if_they_are_permitted() {
    let mut world = World::new();
    let eve = TradeOrder {
        exec_f_name: Text::cut("Eve"),
        exec_l_name: Text::cut("Else"),
        exec_tax_id: Text::cut("TAX9"),
        ..buy(UNTAXED)
    };
    let output = world.order(eve.clone());
    assert_eq!(output.status.code(), 0);
    assert_eq!(output.ap_acl.expect("was asked for"), "0011");
    assert_eq!(world.rows("SELECT t_exec_name FROM trade"), ["Eve Else"]);

    // Each of the three must be right.
    for outsider in [
        TradeOrder { exec_tax_id: Text::cut("TAX8"), ..eve.clone() },
        TradeOrder { exec_f_name: Text::cut("eve"), ..eve.clone() },
        TradeOrder { exec_l_name: Text::cut("Else "), ..eve.clone() },
        TradeOrder { acct_id: WITHHELD, ..eve },
    ] {
        let output = world.order(outsider);
        assert_eq!(output.status.code(), -721);
        assert_eq!((output.estimate, output.trade_id), (None, None));
    }
    assert_eq!(written(&mut world), ["1", "0", "1"]);
    assert_eq!(world.sent.borrow().len(), 1);
}

#[test]
fn an_account_that_does_not_exist_is_an_error() {
    let mut world = World::new();
    let output = world.order(buy(AccountId(1)));
    assert_eq!((output.status.code(), output.owner), (-711, None));
}

#[test]
fn the_estimate_walks_the_lots_as_the_result_will() {
    let mut world = World::new();
    world.trade(buy(WITHHELD), 2_000);
    world.trade(buy(WITHHELD), 2_200);
    for (is_lifo, trade_qty, bought, sold, tax) in [
        (false, 150, 310_000, 375_000, 9_750),
        (true, 150, 320_000, 375_000, 8_250),
        // Shares beyond the lots add nothing.
        (false, 400, 420_000, 500_000, 12_000),
    ] {
        let order = TradeOrder { is_lifo, trade_qty, roll_it_back: true, ..sell(WITHHELD) };
        let estimate = world.order(order).estimate.expect("was reached");
        assert_eq!(estimate.buy_value, Balance::from_units(bought));
        assert_eq!(estimate.sell_value, Balance::from_units(sold));
        assert_eq!(estimate.tax_amount, Amount::from_units(tax));
    }
    // Buying more closes nothing.
    let estimate = world.order(buy(WITHHELD)).estimate.expect("was reached");
    assert_eq!((estimate.buy_value.units(), estimate.sell_value.units()), (0, 0));
}

#[test]
fn the_estimate_of_a_purchase_covers_short_lots() {
    let mut world = World::new();
    world.trade(TradeOrder { trade_qty: 200, ..sell(WITHHELD) }, 2_600);
    let limit = TradeOrder { trade_type: TradeType::LimitBuy, requested_price: 20.0, ..buy(WITHHELD) };
    let estimate = world.order(limit).estimate.expect("was reached");
    // Half of the lot, sold for 2,600.00 and bought back for 2,000.00.
    assert_eq!((estimate.sell_value.units(), estimate.buy_value.units()), (260_000, 200_000));
    assert_eq!(estimate.tax_amount, Amount::from_units(9_000));
}

#[test]
fn margin_orders_look_at_the_account() {
    let mut world = World::new();
    let margin = TradeOrder { type_is_margin: true, ..buy(UNTAXED) };
    let empty = world.order(margin.clone()).estimate.expect("was reached");
    assert_eq!(empty.acct_assets, Balance::from_units(1_000_000));
    world.trade(buy(UNTAXED), 2_500);
    let estimate = world.order(margin).estimate.expect("was reached");
    // 10,000.00 - 2,509.00 in cash, 100 shares at 25.00
    assert_eq!(estimate.acct_assets, Balance::from_units(1_000_000 - 250_900 + 250_000));
    assert_eq!(world.rows("SELECT t_is_cash FROM trade ORDER BY t_id"), ["0", "1", "0"]);
}

#[test]
fn missing_rates_are_errors() {
    for (change, code) in [("DELETE FROM commission_rate", -732), ("DELETE FROM charge", -733)] {
        let mut world = World::new();
        world.change(change);
        let output = world.order(buy(UNTAXED));
        assert_eq!(output.status.code(), code);
        assert!(output.estimate.is_some() && output.trade_id.is_none());
        assert_eq!(written(&mut world), ["0", "0", "0"]);
    }
    let mut world = World::new();
    world.trade(buy(WITHHELD), 2_000);
    world.change("DELETE FROM customer_taxrate");
    assert_eq!(world.order(sell(WITHHELD)).status.code(), -731);
}
