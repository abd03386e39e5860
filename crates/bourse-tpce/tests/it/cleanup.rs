//! Trade-Cleanup: unfinished orders of an earlier run are canceled.

use crate::world::{FIRST_TRADE, MORNING, UNTAXED, World, buy};
use bourse_egen::txn::{TradeCleanup, TradeOrder, TradeType};
use bourse_schema::TradeId;
use bourse_tpce::check::reconciliation::{GROWTHS, cleaned};
use bourse_tpce::transactions::{Output, TradeIds};

#[test]
fn unfinished_trades_are_canceled() {
    let mut world = World::new();
    world.trade(buy(UNTAXED), 2_500);
    world.order(buy(UNTAXED));
    world.order(TradeOrder { trade_type: TradeType::LimitBuy, requested_price: 20.0, ..buy(UNTAXED) });
    let request = TradeCleanup { start_trade_id: TradeId(FIRST_TRADE) };
    let left = |world: &mut World| {
        let taken = GROWTHS.before(&mut *world.session).expect("takes");
        cleaned(&mut *world.session, &taken).expect("checks").offences
    };
    assert_eq!(left(&mut world), 2);
    let Output::TradeCleanup(output) = world.run(request) else { unreachable!() };
    assert_eq!((output.status.code(), output.pending_canceled, output.submitted_canceled), (0, 1, 1));
    assert_eq!(world.rows("SELECT t_st_id FROM trade ORDER BY t_id"), ["CMPT", "CNCL", "CNCL"]);
    assert_eq!(world.rows("SELECT tr_t_id FROM trade_request"), [""; 0]);
    let history = |trade: i64| {
        format!("SELECT th_st_id, th_dts FROM trade_history WHERE th_t_id = {trade} ORDER BY th_dts, th_st_id DESC")
    };
    let at = |n: i64| MORNING.millis() + n * 1_000;
    assert_eq!(world.rows(&history(FIRST_TRADE + 1)), [format!("SBMT {}", at(3)), format!("CNCL {}", at(5))]);
    assert_eq!(
        world.rows(&history(FIRST_TRADE + 2)),
        [format!("PNDG {}", at(4)), format!("SBMT {}", at(5)), format!("CNCL {}", at(5))]
    );
    world.assert_consistent();
    assert_eq!(left(&mut world), 0);

    let Output::TradeCleanup(again) = world.run(request) else { unreachable!() };
    assert_eq!((again.pending_canceled, again.submitted_canceled), (0, 0));
}

#[test]
fn submitted_trades_before_the_start_are_left_alone() {
    let mut world = World::new();
    world.order(buy(UNTAXED));
    let Output::TradeCleanup(output) = world.run(TradeCleanup { start_trade_id: TradeId(FIRST_TRADE + 1) }) else {
        unreachable!()
    };
    assert_eq!(output.submitted_canceled, 0);
    assert_eq!(world.rows("SELECT t_st_id FROM trade"), ["SBMT"]);
}

#[test]
fn numbers_go_on_behind_the_largest() {
    let mut world = World::new();
    let first = TradeId(FIRST_TRADE);
    assert_eq!(TradeIds::following(&mut *world.session, first).expect("asks").next(), first);
    world.order(buy(UNTAXED));
    let ids = TradeIds::following(&mut *world.session, first).expect("asks");
    assert_eq!([ids.next().0, ids.next().0], [FIRST_TRADE + 1, FIRST_TRADE + 2]);
    let above = TradeId(FIRST_TRADE + 50);
    assert_eq!(TradeIds::following(&mut *world.session, above).expect("asks").next(), above);
}
