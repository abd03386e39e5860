//! Market-Feed: prices noted, limit orders triggered.

use crate::world::{FIRST_TRADE, MORNING, UNTAXED, World, buy};
use bourse_egen::txn::{MarketFeed, TickerEntry, TradeAction, TradeOrder, TradeType};
use bourse_schema::{Price, Text, TradeId};
use bourse_tpce::transactions::Output;
use bourse_tpce::transactions::market_feed::MarketFeedOutput;

fn entry(symbol: &str, cents: i64, trade_qty: i32) -> TickerEntry {
    TickerEntry { symbol: Text::cut(symbol), price_quote: Price::from_units(cents), trade_qty }
}

fn feed(world: &mut World, entries: Vec<TickerEntry>, unique_symbols: i32) -> MarketFeedOutput {
    let Output::MarketFeed(output) = world.run(MarketFeed { entries, unique_symbols }) else { unreachable!() };
    output
}

/// Places a limit order on ACME, and forgets the other orders sent.
fn limit(world: &mut World, trade_type: TradeType, requested_price: f64) -> TradeId {
    let order = TradeOrder { trade_type, requested_price, ..buy(UNTAXED) };
    let id = world.order(order).trade_id.expect("was written");
    world.sent.borrow_mut().clear();
    id
}

#[test]
fn prices_and_volumes_are_noted() {
    let mut world = World::new();
    let output =
        feed(&mut world, vec![entry("ACME", 2_600, 325), entry("BOLT", 1_900, 100), entry("ACME", 2_650, 5)], 2);
    assert_eq!((output.status.code(), output.num_updated, output.send_len), (0, 3, 0));
    let at = |n: i64| MORNING.millis() + n * 1_000;
    assert_eq!(
        world.rows("SELECT lt_s_symb, lt_price, lt_open_price, lt_vol, lt_dts FROM last_trade ORDER BY 1"),
        [
            format!("ACME 2650 2500 330 {}", at(3)),
            format!("BOLT 1900 2000 100 {}", at(2)),
            format!("CORE 3000 3000 0 {}", at(0))
        ]
    );
}

#[test]
fn a_security_that_does_not_exist_is_missed() {
    let mut world = World::new();
    let output = feed(&mut world, vec![entry("ACME", 2_600, 1), entry("NONE", 1, 1)], 2);
    assert_eq!((output.status.code(), output.num_updated), (-311, 1));
    assert_eq!(world.rows("SELECT lt_price FROM last_trade WHERE lt_s_symb = 'ACME'"), ["2600"]);
}

#[test]
fn each_type_of_limit_order_has_its_own_trigger() {
    // Order type, limit, a price just short of it, the price that sets it off.
    for (trade_type, limit_price, short, reached) in [
        (TradeType::LimitBuy, 24.0, 2_401, 2_400),
        (TradeType::LimitSell, 26.0, 2_599, 2_600),
        (TradeType::StopLoss, 24.0, 2_401, 2_400),
    ] {
        let mut world = World::new();
        let id = limit(&mut world, trade_type, limit_price);
        assert_eq!(feed(&mut world, vec![entry("ACME", short, 1)], 1).send_len, 0, "{trade_type:?}");
        assert_eq!(world.rows("SELECT t_st_id FROM trade"), ["PNDG"]);
        // Another security's price does not concern it.
        assert_eq!(feed(&mut world, vec![entry("BOLT", reached, 1)], 1).send_len, 0, "{trade_type:?}");

        let output = feed(&mut world, vec![entry("ACME", reached, 1), entry("ACME", reached, 1)], 1);
        assert_eq!((output.num_updated, output.send_len), (2, 1), "{trade_type:?}");
        let sent = world.sent.borrow().clone();
        assert_eq!(sent.len(), 1, "an order is sent once");
        assert_eq!((sent[0].action, sent[0].trade_id, sent[0].trade_type), (TradeAction::ProcessOrder, id, trade_type));
        assert_eq!(
            sent[0].price_quote,
            Price::from_units((limit_price * 100.0) as i64),
            "its own price, not the tape's"
        );
        assert_eq!(world.rows("SELECT t_st_id FROM trade"), ["SBMT"]);
        assert_eq!(world.rows("SELECT tr_t_id FROM trade_request"), [""; 0]);
        assert_eq!(world.rows("SELECT th_st_id FROM trade_history ORDER BY th_dts"), ["PNDG", "SBMT"]);
        world.assert_consistent();
        assert_eq!(world.result(id, reached).status.code(), 0);
        world.assert_consistent();
    }
}

#[test]
fn orders_are_sent_the_oldest_first() {
    let mut world = World::new();
    limit(&mut world, TradeType::LimitBuy, 24.0);
    limit(&mut world, TradeType::StopLoss, 23.0);
    limit(&mut world, TradeType::LimitBuy, 20.0);
    let output = feed(&mut world, vec![entry("ACME", 2_200, 1)], 1);
    assert_eq!(output.send_len, 2);
    let ids: Vec<i64> = world.sent.borrow().iter().map(|order| order.trade_id.0).collect();
    assert_eq!(ids, [FIRST_TRADE, FIRST_TRADE + 1]);
    assert_eq!(world.rows("SELECT tr_t_id FROM trade_request"), [(FIRST_TRADE + 2).to_string()]);
}
