//! Every check can fail: a row is broken and the check that guards it reports it.

use crate::world::{DEFERRED, FIRST_TRADE, UNTAXED, WITHHELD, World, buy, sell};
use bourse_egen::Part;
use bourse_egen::txn::{TradeOrder, TradeType};
use bourse_engine::{Access, Isolation};
use bourse_schema::TradeId;
use bourse_tpce::check::conditions::CONDITIONS;
use bourse_tpce::check::{check, holes};

/// A change that breaks a database, and the names of all conditions that notice it.
const BREAKAGES: &[(&str, &[&str])] = &[
    ("UPDATE broker SET b_num_trades = b_num_trades + 1", &["C1 brokers' trades"]),
    ("UPDATE broker SET b_comm_total = b_comm_total - 1", &["C2 brokers' commissions"]),
    ("UPDATE holding_summary SET hs_qty = hs_qty + 1 WHERE hs_ca_id = 43000000001", &["C3 holding summaries"]),
    ("DELETE FROM holding_summary WHERE hs_ca_id = 43000000001", &["C3 lots without summary"]),
    (
        "UPDATE holding_summary SET hs_qty = 0 WHERE hs_ca_id = 43000000001",
        &["C3 holding summaries", "no empty holding summary"],
    ),
    (
        "UPDATE holding SET h_qty = 0 WHERE h_ca_id = 43000000001",
        &["C3 holding summaries", "no empty lot", "lots and their history"],
    ),
    ("DELETE FROM holding_history", &["lots and their history", "taxes"]),
    ("DELETE FROM settlement", &["completed trades are settled"]),
    ("UPDATE settlement SET se_amt = se_amt + 1 WHERE se_cash_type = 'Margin'", &["settled amounts"]),
    ("UPDATE customer_account SET ca_tax_st = 2 WHERE ca_id = 43000000002", &["settled amounts"]),
    ("DELETE FROM cash_transaction", &["cash moves for cash trades"]),
    ("UPDATE cash_transaction SET ct_amt = ct_amt + 1", &["cash moves for cash trades"]),
    ("DELETE FROM trade_history WHERE th_st_id = 'CMPT'", &["trades and their history"]),
    ("UPDATE trade_history SET th_dts = th_dts + 1 WHERE th_st_id = 'PNDG'", &["trades and their history"]),
    ("UPDATE trade SET t_trade_price = 1 WHERE t_st_id = 'PNDG'", &["prices of completed trades", "commissions"]),
    ("DELETE FROM trade_request", &["pending trades wait"]),
    ("UPDATE trade_request SET tr_qty = tr_qty + 1", &["requests are of pending trades"]),
    ("UPDATE trade_request SET tr_bid_price = tr_bid_price + 1", &["requests are of pending trades"]),
    ("UPDATE exchange SET ex_num_symb = 4", &["securities of exchanges"]),
    (
        "INSERT INTO settlement SELECT t_id, 'Margin', 1, 0 FROM trade WHERE t_st_id = 'SBMT'",
        &["only completed trades are settled", "cash moves for cash trades", "due dates", "cash types"],
    ),
    (
        "INSERT INTO cash_transaction SELECT t_id, 1, 0, '' FROM trade WHERE t_st_id = 'SBMT'",
        &["no cash moves otherwise"],
    ),
    ("UPDATE trade SET t_chrg = t_chrg + 100 WHERE t_st_id = 'PNDG'", &["charges"]),
    ("UPDATE trade SET t_comm = t_comm + 1 WHERE t_st_id = 'PNDG'", &["commissions"]),
    ("UPDATE trade SET t_tax = t_tax / 2 WHERE t_tax > 0", &["settled amounts", "taxes"]),
    ("UPDATE trade SET t_tax = 1 WHERE t_tax = 0 AND t_st_id = 'CMPT' AND t_ca_id = 43000000001", &["taxes"]),
    ("UPDATE settlement SET se_cash_due_date = se_cash_due_date + 1", &["due dates"]),
    ("UPDATE settlement SET se_cash_type = 'Margin'", &["cash types"]),
    ("UPDATE holding SET h_price = h_price + 1", &["lots and their trades"]),
    ("UPDATE trade SET t_lifo = 1 - t_lifo", &["order of lots"]),
    (
        "DELETE FROM trade_history
          WHERE th_st_id = 'SBMT' AND th_t_id IN (SELECT t_id FROM trade WHERE t_st_id = 'CMPT')",
        &["steps of trades"],
    ),
    (
        "INSERT INTO trade_history SELECT th_t_id, th_dts + 5001, 'PNDG' FROM trade_history WHERE th_st_id = 'SBMT'",
        &["steps of trades"],
    ),
    // Transactions that overlap may do that.
    ("INSERT INTO trade_history SELECT th_t_id, th_dts + 5000, 'PNDG' FROM trade_history WHERE th_st_id = 'SBMT'", &[]),
    ("UPDATE last_trade SET lt_price = 1, lt_dts = (SELECT max(t_dts) FROM trade)", &["triggered limit orders"]),
    (
        "UPDATE trade SET t_tt_id = 'TLB', t_bid_price = 1 WHERE t_st_id = 'CMPT' AND t_tt_id = 'TMB'",
        &["steps of trades", "limits of prices"],
    ),
];

/// A purchase, a pending order, a taxed sale, a trade on margin, one of two lots sold, and a submitted order.
fn world() -> World {
    let mut world = World::at("sqlite::memory:?foreign_keys=off");
    world.trade(buy(UNTAXED), 2_400);
    world.order(TradeOrder { trade_type: TradeType::LimitBuy, requested_price: 20.0, ..buy(UNTAXED) });
    world.trade(buy(WITHHELD), 2_000);
    world.trade(TradeOrder { trade_qty: 200, ..sell(WITHHELD) }, 2_600);
    world.trade(TradeOrder { type_is_margin: true, ..buy(UNTAXED) }, 2_400);
    world.trade(buy(DEFERRED), 2_300);
    world.trade(buy(DEFERRED), 2_400);
    world.trade(sell(DEFERRED), 2_500);
    world.order(buy(UNTAXED));
    world
}

#[test]
fn conditions_notice_what_is_broken() {
    let mut world = world();
    world.assert_consistent();
    let (mut noticed_by, mut unexpected) = (Vec::new(), Vec::new());
    for (breakage, expected) in BREAKAGES {
        world.session.begin(Isolation::Serializable, Access::Write).expect("begins");
        world.change(breakage);
        let mut failed = Vec::new();
        for condition in CONDITIONS {
            let checked = condition.run(&mut *world.session, &holes(TradeId(FIRST_TRADE))).expect("runs");
            assert_eq!(checked.evidence.is_empty(), checked.passed());
            if !checked.passed() {
                failed.push(condition.name);
            }
        }
        if failed != *expected {
            unexpected.push(format!("{breakage}: {failed:?} instead of {expected:?}"));
        }
        noticed_by.extend(failed);
        world.session.rollback().expect("rolls back");
    }
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    let deaf: Vec<_> = CONDITIONS.iter().map(|it| it.name).filter(|name| !noticed_by.contains(name)).collect();
    assert!(deaf.is_empty(), "no breakage is noticed by {deaf:?}");
    world.assert_consistent();
}

#[test]
fn orphans_and_missing_rows_are_noticed() {
    let mut world = world();
    world.change("UPDATE holding SET h_t_id = 1 WHERE h_ca_id = 43000000001 AND h_t_id = 200000000000101");
    let part = Part::whole(1_000, 1).expect("a valid part");
    let results = check(&mut *world.session, part, &mut |_| {}).expect("checks");
    let failed: Vec<_> = results.iter().filter(|checked| !checked.passed()).collect();
    let orphan = failed.iter().find(|checked| checked.name == "foreign key holding (h_t_id)").expect("is noticed");
    assert_eq!((orphan.offences, orphan.evidence.as_slice()), (1, ["1".to_owned()].as_slice()));
    let keys: Vec<_> = failed.iter().filter(|checked| checked.name.starts_with("foreign key")).collect();
    assert_eq!(keys.len(), 1, "{keys:?}");

    // The small database has two customers where a thousand are due, and all five types of trade.
    let rows =
        |table: &str| results.iter().find(|checked| checked.name == format!("rows of {table}")).expect("counted");
    assert_eq!(rows("customer").evidence, ["wanted 1000, found 2"]);
    assert!(!rows("customer").passed());
    assert!(rows("trade_type").passed());
}
