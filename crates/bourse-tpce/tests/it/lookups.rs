//! Trade-Lookup: past trades by number, account, security and holdings.

use crate::world::{FIRST_TRADE, MORNING, UNTAXED, World, buy, sell};
use bourse_egen::txn::{TradeLookup, TradeOrder};
use bourse_schema::{AccountId, Text, Timestamp, TradeId};
use bourse_tpce::transactions::Output;
use bourse_tpce::transactions::trade_lookup::{FoundTrades, TradeLookupOutput};

/// Time `n` seconds after the first trade was ordered: trade `n` (from 0) completes at `2 * n + 2`.
fn second(n: i64) -> Timestamp {
    Timestamp::from_millis(MORNING.millis() + n * 1_000)
}

fn ask(frame: u8) -> TradeLookup {
    TradeLookup {
        frame_to_execute: frame,
        trade_id: Vec::new(),
        acct_id: AccountId(0),
        max_acct_id: AccountId(0),
        max_trades: if frame == 4 { 0 } else { 20 },
        start_trade_dts: None,
        end_trade_dts: None,
        symbol: Text::EMPTY,
    }
}

fn lookup(world: &mut World, ask: TradeLookup) -> TradeLookupOutput {
    let Output::TradeLookup(output) = world.run(ask) else { unreachable!() };
    output
}

/// Twenty-two purchases of the untaxed account, the third on margin.
fn world() -> World {
    let mut world = World::new();
    for n in 0..22 {
        world.trade(TradeOrder { type_is_margin: n == 2, ..buy(UNTAXED) }, 2_400 + n);
    }
    world
}

fn ids(range: std::ops::Range<i64>) -> Vec<TradeId> {
    range.map(|n| TradeId(FIRST_TRADE + n)).collect()
}

#[test]
fn frame_1_finds_trades_by_number_in_the_order_asked() {
    let mut world = world();
    let mut asked = ids(0..20);
    asked.reverse();
    let output = lookup(&mut world, TradeLookup { trade_id: asked.clone(), ..ask(1) });
    assert_eq!(output.status.code(), 0);
    let FoundTrades::ById(found) = output.found else { unreachable!() };
    assert_eq!(found.iter().map(|detail| detail.trade.trade_id).collect::<Vec<_>>(), asked);
    let third = &found[17];
    assert_eq!((third.trade.is_cash, third.trade.is_market), (false, true));
    assert_eq!(third.trade.trade_price.map(|price| price.units()), Some(2_402));
    assert_eq!(third.cash, None, "a trade on margin moved no cash");
    assert_eq!(third.settlement.as_ref().expect("settled").cash_type, "Margin");
    let second_trade = &found[18];
    let cash = second_trade.cash.as_ref().expect("moved");
    assert_eq!(cash.name, "Market-Buy 100 shares of COMMON of Co 1");
    assert_eq!(cash.amount, second_trade.settlement.as_ref().expect("settled").amount);
    let statuses: Vec<_> = second_trade.history.iter().map(|reached| reached.status.as_str()).collect();
    assert_eq!(statuses, ["SBMT", "CMPT"]);
    assert_eq!(second_trade.history[0].dts, second(3));
}

#[test]
fn frame_1_misses_trades_that_do_not_exist() {
    let mut world = world();
    let mut asked = ids(0..19);
    asked.push(TradeId(1));
    let output = lookup(&mut world, TradeLookup { trade_id: asked, ..ask(1) });
    let FoundTrades::ById(found) = output.found else { unreachable!() };
    assert_eq!((output.status.code(), found.len()), (-611, 19));
}

#[test]
fn frame_2_finds_an_accounts_trades_in_a_window() {
    let mut world = world();
    // Both ends are inside.
    let window = |from, to| TradeLookup {
        acct_id: UNTAXED,
        start_trade_dts: Some(second(from)),
        end_trade_dts: Some(second(to)),
        ..ask(2)
    };
    let output = lookup(&mut world, window(4, 8));
    let FoundTrades::OfAccount(found) = output.found else { unreachable!() };
    assert_eq!(output.status.code(), 0);
    assert_eq!(found.iter().map(|detail| detail.trade.trade_id).collect::<Vec<_>>(), ids(1..4));
    assert_eq!((found[1].cash.is_some(), found[2].cash.is_some()), (false, true));
    assert!(found.iter().all(|detail| detail.settlement.is_some() && detail.history.len() == 2));

    let all = lookup(&mut world, window(0, 1_000));
    let FoundTrades::OfAccount(found) = all.found else { unreachable!() };
    assert_eq!((found.len(), found[19].trade.trade_id.0), (20, FIRST_TRADE + 19));
    assert_eq!(lookup(&mut world, window(900, 1_000)).status.code(), 621);
}

#[test]
fn frame_2_shows_open_trades_without_settlement() {
    let mut world = World::new();
    world.order(buy(UNTAXED));
    let output = lookup(&mut world, TradeLookup { acct_id: UNTAXED, ..ask(2) });
    let FoundTrades::OfAccount(found) = output.found else { unreachable!() };
    assert_eq!((output.status.code(), found.len()), (0, 1));
    assert_eq!((&found[0].settlement, &found[0].cash, found[0].trade.trade_price), (&None, &None, None));
}

#[test]
fn frame_3_finds_a_securitys_trades_in_a_window() {
    let mut world = world();
    world.trade(TradeOrder { symbol: Text::cut("BOLT"), ..buy(UNTAXED) }, 2_000);
    let in_window = |symbol| TradeLookup {
        symbol: Text::cut(symbol),
        start_trade_dts: Some(second(2)),
        end_trade_dts: Some(second(100)),
        ..ask(3)
    };
    let output = lookup(&mut world, in_window("BOLT"));
    let FoundTrades::InSecurity(found) = output.found else { unreachable!() };
    assert_eq!((output.status.code(), found.len()), (0, 1));
    let trade = &found[0].trade;
    assert_eq!((trade.trade_id.0, trade.acct_id, trade.quantity), (FIRST_TRADE + 22, UNTAXED, 100));
    assert_eq!((trade.trade_type.as_str(), trade.trade_dts), ("TMB", second(46)));
    let FoundTrades::InSecurity(found) = lookup(&mut world, in_window("ACME")).found else { unreachable!() };
    assert_eq!(found.len(), 20);
    assert_eq!(lookup(&mut world, in_window("CORE")).status.code(), 631);
}

#[test]
fn frame_4_follows_the_lots_of_the_first_trade() {
    let mut world = World::new();
    world.trade(buy(UNTAXED), 2_000);
    world.trade(buy(UNTAXED), 2_000);
    // Closes the first lot and half of the second.
    world.trade(TradeOrder { trade_qty: 150, ..sell(UNTAXED) }, 2_500);
    world.trade(TradeOrder { trade_qty: 50, ..sell(UNTAXED) }, 2_500);
    let holdings = |world: &mut World, start| {
        let output = lookup(world, TradeLookup { acct_id: UNTAXED, start_trade_dts: Some(second(start)), ..ask(4) });
        let FoundTrades::Holdings { trades, changes } = output.found else { unreachable!() };
        let rows: Vec<_> = changes
            .iter()
            .map(|row| {
                let lot = row.holding_history_id.0 - FIRST_TRADE;
                (lot, row.holding_history_trade_id.0 - FIRST_TRADE, row.quantity_before, row.quantity_after)
            })
            .collect();
        (output.status.code(), trades.len(), rows)
    };
    assert_eq!(holdings(&mut world, 0), (0, 1, vec![(0, 0, 0, 100), (0, 2, 100, 0)]));
    let both = vec![(0, 0, 0, 100), (0, 2, 100, 0), (1, 1, 0, 100), (1, 2, 100, 50), (1, 3, 50, 0)];
    assert_eq!(holdings(&mut world, 6), (0, 1, both));
    assert_eq!(holdings(&mut world, 100), (641, 0, vec![]));

    // A trade that is not completed has touched no lot.
    world.order(buy(UNTAXED));
    assert_eq!(holdings(&mut world, 9), (-642, 1, vec![]));
}
