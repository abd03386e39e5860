//! Trade-Result: effects of an executed trade on holdings, taxes, brokers and cash.

use crate::world::{DEFERRED, FIRST_TRADE, MORNING, UNTAXED, WITHHELD, World, buy, sell};
use bourse_egen::txn::TradeOrder;
use bourse_schema::{Amount, Balance, TradeId};

const T1: i64 = FIRST_TRADE;
const T2: i64 = FIRST_TRADE + 1;
const T3: i64 = FIRST_TRADE + 2;

const LOTS: &str = "SELECT h_t_id, h_price, h_qty FROM holding ORDER BY h_t_id";
const SUMMARIES: &str = "SELECT hs_ca_id, hs_s_symb, hs_qty FROM holding_summary ORDER BY 1, 2";
const CHANGES: &str =
    "SELECT hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty FROM holding_history ORDER BY hh_t_id, hh_h_t_id";

/// So many shares.
fn shares(order: TradeOrder, trade_qty: i32) -> TradeOrder {
    TradeOrder { trade_qty, ..order }
}

#[test]
fn a_purchase_writes_every_row() {
    let mut world = World::new();
    let output = world.trade(buy(UNTAXED), 2_400);
    assert_eq!(output.status.code(), 0);
    assert_eq!(output.load_unit, 1);
    // 0.30 percent of 2,400.00
    assert_eq!(output.comm_amount, Amount::from_units(720));
    // 2,400.00 + 1.50 + 7.20
    assert_eq!(output.se_amount, Amount::from_units(-240_870));
    assert_eq!(output.acct_bal, Balance::from_units(1_000_000 - 240_870));

    let trade = "SELECT t_id, t_st_id, t_tt_id, t_is_cash, t_qty, t_bid_price, t_trade_price, t_exec_name FROM trade";
    assert_eq!(world.rows(trade), [format!("{T1} CMPT TMB 1 100 2500 2400 Ada Able")]);
    assert_eq!(world.rows("SELECT t_chrg, t_comm, t_tax, t_lifo FROM trade"), ["150 720 0 0"]);
    let (ordered, executed) = (MORNING.millis() + 1_000, MORNING.millis() + 2_000);
    assert_eq!(
        world.rows("SELECT th_t_id, th_st_id, th_dts FROM trade_history ORDER BY th_dts"),
        [format!("{T1} SBMT {ordered}"), format!("{T1} CMPT {executed}")]
    );
    assert_eq!(world.rows("SELECT t_dts FROM trade"), [executed.to_string()]);
    assert_eq!(world.rows(LOTS), [format!("{T1} 2400 100")]);
    assert_eq!(world.rows("SELECT h_dts, h_ca_id, h_s_symb FROM holding"), [format!("{executed} 43000000001 ACME")]);
    assert_eq!(world.rows(SUMMARIES), ["43000000001 ACME 100"]);
    assert_eq!(world.rows(CHANGES), [format!("{T1} {T1} 0 100")]);
    // Two calendar days after 2026-01-05.
    let due = MORNING.date().days() + 2;
    assert_eq!(
        world.rows("SELECT se_t_id, se_cash_type, se_cash_due_date, se_amt FROM settlement"),
        [format!("{T1} Cash Account {due} -240870")]
    );
    assert_eq!(
        world.rows("SELECT ct_t_id, ct_dts, ct_amt, ct_name FROM cash_transaction"),
        [format!("{T1} {executed} -240870 Market-Buy 100 shares of COMMON of Co 1")]
    );
    assert_eq!(world.rows("SELECT b_num_trades, b_comm_total FROM broker"), ["1 720"]);
    world.assert_consistent();
}

#[test]
fn a_sale_closes_the_oldest_lots_first() {
    let mut world = World::new();
    world.trade(buy(WITHHELD), 2_000);
    world.trade(buy(WITHHELD), 2_200);
    let output = world.trade(shares(sell(WITHHELD), 150), 2_500);
    let moved = output.moved.expect("was reached");
    assert_eq!(moved.buy_value, Balance::from_units(100 * 2_000 + 50 * 2_200));
    assert_eq!(moved.sell_value, Balance::from_units(150 * 2_500));
    // 15 percent of 650.00
    assert_eq!(output.tax_amount, Amount::from_units(9_750));
    // 3,750.00 - 1.50 - 11.25 - 97.50
    assert_eq!(output.se_amount, Amount::from_units(363_975));
    assert_eq!(world.rows("SELECT t_tax FROM trade ORDER BY t_id"), ["0", "0", "9750"]);
    assert_eq!(world.rows(LOTS), [format!("{T2} 2200 50")]);
    assert_eq!(
        world.rows(CHANGES),
        [
            format!("{T1} {T1} 0 100"),
            format!("{T2} {T2} 0 100"),
            format!("{T1} {T3} 100 0"),
            format!("{T2} {T3} 100 50")
        ]
    );
    assert_eq!(world.rows(SUMMARIES), ["43000000002 ACME 50"]);
    world.assert_consistent();
}

#[test]
fn a_sale_closes_the_newest_lots_first_if_asked() {
    let mut world = World::new();
    world.trade(buy(WITHHELD), 2_000);
    world.trade(buy(WITHHELD), 2_200);
    let order = TradeOrder { is_lifo: true, ..shares(sell(WITHHELD), 150) };
    let output = world.trade(order, 2_500);
    assert_eq!(output.moved.expect("was reached").buy_value, Balance::from_units(100 * 2_200 + 50 * 2_000));
    // 15 percent of 550.00
    assert_eq!(output.tax_amount, Amount::from_units(8_250));
    assert_eq!(world.rows(LOTS), [format!("{T1} 2000 50")]);
    world.assert_consistent();
}

#[test]
fn tax_is_withheld_deferred_or_not_due() {
    // Gross 2,500.00, charge 1.50, commission 7.50; the gain of 500.00 is taxed by 75.00.
    let gross = 250_000 - 150 - 750;
    for (account, tax, settled) in [(UNTAXED, 0, gross), (WITHHELD, 7_500, gross - 7_500), (DEFERRED, 7_500, gross)] {
        let mut world = World::new();
        world.trade(buy(account), 2_000);
        let output = world.trade(sell(account), 2_500);
        assert_eq!(output.tax_amount, Amount::from_units(tax), "{account}");
        assert_eq!(output.se_amount, Amount::from_units(settled), "{account}");
        assert_eq!(world.rows("SELECT t_tax FROM trade ORDER BY t_id"), ["0".to_owned(), tax.to_string()]);
        world.assert_consistent();
    }
}

#[test]
fn a_loss_is_not_taxed() {
    let mut world = World::new();
    world.trade(buy(WITHHELD), 2_500);
    let output = world.trade(sell(WITHHELD), 2_000);
    assert_eq!(output.tax_amount, Amount::from_units(0));
    assert_eq!(output.se_amount, Amount::from_units(200_000 - 150 - 600));
    assert_eq!(world.rows(SUMMARIES), [""; 0]);
    assert_eq!(world.rows(LOTS), [""; 0]);
    world.assert_consistent();
}

#[test]
fn what_is_not_held_is_sold_short_and_bought_back() {
    let mut world = World::new();
    world.trade(sell(WITHHELD), 2_500);
    world.trade(shares(sell(WITHHELD), 200), 2_600);
    assert_eq!(world.rows(SUMMARIES), ["43000000002 ACME -300"]);
    assert_eq!(world.rows(LOTS), [format!("{T1} 2500 -100"), format!("{T2} 2600 -200")]);
    world.assert_consistent();

    // The oldest short lot and half of the next: sold for 2,500.00 + 2,600.00, bought for 4,000.00.
    let output = world.trade(shares(buy(WITHHELD), 200), 2_000);
    let moved = output.moved.expect("was reached");
    assert_eq!((moved.sell_value.units(), moved.buy_value.units()), (510_000, 400_000));
    assert_eq!(output.tax_amount, Amount::from_units(16_500));
    assert_eq!(world.rows(LOTS), [format!("{T2} 2600 -100")]);
    assert_eq!(world.rows(CHANGES)[2..], [format!("{T1} {T3} -100 0"), format!("{T2} {T3} -200 -100")]);
    assert_eq!(world.rows(SUMMARIES), ["43000000002 ACME -100"]);
    world.assert_consistent();

    world.trade(buy(WITHHELD), 2_000);
    assert_eq!(world.rows(SUMMARIES), [""; 0]);
    world.assert_consistent();
}

#[test]
fn positions_cross_zero_both_ways() {
    let mut world = World::new();
    world.trade(shares(buy(UNTAXED), 200), 2_000);
    let sold = world.trade(shares(sell(UNTAXED), 400), 2_500);
    // Only what was held counts; the rest opens a short position.
    let moved = sold.moved.expect("was reached");
    assert_eq!((moved.buy_value.units(), moved.sell_value.units()), (400_000, 500_000));
    assert_eq!(world.rows(SUMMARIES), ["43000000001 ACME -200"]);
    assert_eq!(world.rows(LOTS), [format!("{T2} 2500 -200")]);
    assert_eq!(
        world.rows(CHANGES),
        [format!("{T1} {T1} 0 200"), format!("{T1} {T2} 200 0"), format!("{T2} {T2} 0 -200")]
    );
    world.assert_consistent();

    let bought = world.trade(shares(buy(UNTAXED), 800), 2_400);
    let moved = bought.moved.expect("was reached");
    assert_eq!((moved.buy_value.units(), moved.sell_value.units()), (200 * 2_400, 200 * 2_500));
    assert_eq!(world.rows(SUMMARIES), ["43000000001 ACME 600"]);
    assert_eq!(world.rows(LOTS), [format!("{T3} 2400 600")]);
    // The larger band's rate: 0.20 percent of 19,200.00.
    assert_eq!(bought.comm_amount, Amount::from_units(3_840));
    world.assert_consistent();
}

#[test]
fn a_trade_on_margin_moves_no_cash() {
    let mut world = World::new();
    let output = world.trade(TradeOrder { type_is_margin: true, ..buy(UNTAXED) }, 2_500);
    assert_eq!(output.acct_bal, Balance::from_units(1_000_000));
    assert_eq!(world.rows("SELECT se_cash_type, se_amt FROM settlement"), ["Margin -250900"]);
    assert_eq!(world.rows("SELECT ct_t_id FROM cash_transaction"), [""; 0]);
    world.assert_consistent();
}

#[test]
fn accounts_do_not_share_lots() {
    let mut world = World::new();
    world.trade(buy(WITHHELD), 2_000);
    world.trade(sell(DEFERRED), 2_500);
    assert_eq!(world.rows(SUMMARIES), ["43000000002 ACME 100", "43000000003 ACME -100"]);
    assert_eq!(world.rows("SELECT ca_bal FROM customer_account WHERE ca_id = 43000000011"), ["1000000"]);
    world.assert_consistent();
}

#[test]
fn a_trade_that_does_not_exist_is_an_error() {
    let mut world = World::new();
    let output = world.result(TradeId(1), 2_500);
    assert_eq!(output.status.code(), -811);
    assert_eq!(output.trade, None);
}

#[test]
fn a_failed_check_undoes_everything() {
    let mut world = World::new();
    let bought = world.trade(buy(WITHHELD), 2_000);
    assert_eq!(bought.status.code(), 0);
    let sold = world.order(sell(WITHHELD)).trade_id.expect("was written");
    let before = world.rows("SELECT ca_id, ca_bal FROM customer_account");

    world.change("DELETE FROM commission_rate");
    let output = world.result(sold, 2_500);
    assert_eq!(output.status.code(), -841);
    assert_eq!(world.rows(SUMMARIES), ["43000000002 ACME 100"]);
    assert_eq!(world.rows("SELECT ca_id, ca_bal FROM customer_account"), before);
    assert_eq!(world.rows("SELECT t_st_id, t_tax FROM trade ORDER BY t_id"), ["CMPT 0", "SBMT 0"]);

    world.change("DELETE FROM customer_taxrate");
    assert_eq!(world.result(sold, 2_500).status.code(), -831);
    assert_eq!(world.rows(SUMMARIES), ["43000000002 ACME 100"]);
}
