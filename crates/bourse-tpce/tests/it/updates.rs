//! Trade-Update: corrections that undo themselves the second time.

use crate::world::{FIRST_TRADE, UNTAXED, World, buy};
use bourse_egen::txn::{TradeOrder, TradeUpdate};
use bourse_schema::{AccountId, Text, TradeId};
use bourse_tpce::transactions::Output;
use bourse_tpce::transactions::trade_update::{TradeUpdateOutput, UpdatedTrades};

fn ask(frame: u8) -> TradeUpdate {
    TradeUpdate {
        frame_to_execute: frame,
        trade_id: Vec::new(),
        acct_id: UNTAXED,
        max_acct_id: AccountId(0),
        max_trades: 20,
        max_updates: 20,
        start_trade_dts: None,
        end_trade_dts: None,
        symbol: Text::cut("ACME"),
    }
}

fn update(world: &mut World, ask: TradeUpdate) -> TradeUpdateOutput {
    let Output::TradeUpdate(output) = world.run(ask) else { unreachable!() };
    output
}

/// A cash trade and one on margin.
fn world() -> World {
    let mut world = World::new();
    world.trade(buy(UNTAXED), 2_400);
    world.trade(TradeOrder { type_is_margin: true, ..buy(UNTAXED) }, 2_400);
    world
}

#[test]
fn frame_1_changes_executors_names() {
    let mut world = world();
    let both = vec![TradeId(FIRST_TRADE + 1), TradeId(FIRST_TRADE)];
    let request = TradeUpdate { trade_id: both, max_trades: 2, max_updates: 2, ..ask(1) };
    let output = update(&mut world, request.clone());
    assert_eq!((output.status.code(), output.num_updated), (0, 2));
    let UpdatedTrades::ById(found) = output.found else { unreachable!() };
    // The output has the name as it is now.
    assert_eq!((found[0].trade.trade_id.0, found[0].trade.exec_name.as_str()), (FIRST_TRADE + 1, "Ada X Able"));
    assert_eq!(world.rows("SELECT t_exec_name FROM trade"), ["Ada X Able", "Ada X Able"]);
    update(&mut world, request.clone());
    assert_eq!(world.rows("SELECT t_exec_name FROM trade"), ["Ada Able", "Ada Able"]);

    let one = update(&mut world, TradeUpdate { max_updates: 1, ..request.clone() });
    assert_eq!((one.status.code(), one.num_updated), (0, 1));
    assert_eq!(world.rows("SELECT t_exec_name FROM trade"), ["Ada Able", "Ada X Able"]);
    let missing = update(&mut world, TradeUpdate { trade_id: vec![TradeId(1), TradeId(FIRST_TRADE)], ..request });
    assert_eq!((missing.status.code(), missing.num_updated), (-1011, 1));
}

#[test]
fn frame_2_changes_cash_types() {
    let mut world = world();
    let kinds = "SELECT se_cash_type FROM settlement ORDER BY se_t_id";
    assert_eq!(world.rows(kinds), ["Cash Account", "Margin"]);
    let output = update(&mut world, ask(2));
    assert_eq!((output.status.code(), output.num_updated), (0, 2));
    assert_eq!(world.rows(kinds), ["Cash", "Margin Account"]);
    let UpdatedTrades::OfAccount(found) = output.found else { unreachable!() };
    assert_eq!(found[1].settlement.as_ref().expect("settled").cash_type, "Margin Account");
    update(&mut world, ask(2));
    assert_eq!(world.rows(kinds), ["Cash Account", "Margin"]);

    assert_eq!(update(&mut world, TradeUpdate { acct_id: AccountId(1), ..ask(2) }).status.code(), 1021);
    // A trade that is not settled yet cannot be corrected.
    world.order(buy(UNTAXED));
    let open = update(&mut world, ask(2));
    assert_eq!((open.status.code(), open.num_updated), (-1022, 2));
    world.assert_consistent();
}

#[test]
fn frame_3_changes_cash_names() {
    let mut world = world();
    let names = "SELECT ct_name FROM cash_transaction";
    let output = update(&mut world, ask(3));
    // The trade on margin has nothing to correct.
    assert_eq!((output.status.code(), output.num_updated), (0, 1));
    assert_eq!(world.rows(names), ["Market-Buy 100 Shares of COMMON of Co 1"]);
    let UpdatedTrades::InSecurity(found) = output.found else { unreachable!() };
    assert_eq!((found.len(), found[0].trade.type_name.as_str()), (2, "Market-Buy"));
    assert_eq!(found[0].cash.as_ref().expect("moved").name, "Market-Buy 100 Shares of COMMON of Co 1");
    update(&mut world, ask(3));
    assert_eq!(world.rows(names), ["Market-Buy 100 shares of COMMON of Co 1"]);
    assert_eq!(update(&mut world, TradeUpdate { symbol: Text::cut("CORE"), ..ask(3) }).status.code(), 1031);
    world.assert_consistent();
}
