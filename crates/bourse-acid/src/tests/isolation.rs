//! Isolation: sessions halted in the middle of their transactions while others run (Clause 7.4).
//!
//! The verdicts rest on the values read and the final state, not on how the engine isolated the two: it may make the second
//! wait, refuse it, or give it an old version, and each can be right.

use super::{judged, spec};
use crate::pausable_session::HaltCommand;
use crate::points::{COMMIT, ORDER_PRICE, RESULT_FRAME_1};
use crate::scenario::{Met, ending_words, with_each_ending};
use crate::test_bed::{AcidError, BedAccount, ListedSecurity, TestBed, TxnEnvironment, result_of};
use bourse_egen::txn::{CustomerPosition, MarketFeed, TickerEntry, TradeOrder, TradeResult};
use bourse_record::acid::{AcidCase, AcidFinding, AcidTest};
use bourse_schema::{Balance, Price, Text, TradeId};
use bourse_tpce::transactions::trade_result::TradeResultOutput;
use bourse_tpce::transactions::{Output, Request, Status};

/// Words for a second session that does not wait.
const THROUGH: &str = "the second goes through";

/// Outputs of two transactions that have met; the first may have been rolled back.
fn both(met: Met<TxnEnvironment>) -> (Option<Output>, Output) {
    let Some(second) = met.others.into_iter().next() else { unreachable!("one other began") };
    (met.first, second.output)
}

fn as_result(output: Output) -> TradeResultOutput {
    let Output::TradeResult(result) = output else { unreachable!("asked for a result") };
    result
}

/// Runs I1: two Trade-Results read the same position before either has changed it: first an absent one, then the one they made.
///
/// If both read it as absent the primary key refuses the second one's row, whatever the isolation, and it is tried again. An
/// existing position is overwritten by a second one that has not seen the first.
pub(crate) fn phantoms(test_bed: &TestBed<'_>) -> AcidTest {
    judged(spec("I1"), |cases| {
        for _ in 0..test_bed.config.repeats {
            let owner = test_bed.owner()?;
            let listed = test_bed.security_not_held(&owner)?;
            cases.push(same_position(test_bed, &owner, &listed, Position::default())?);
            cases.push(same_position(test_bed, &owner, &listed, Position { shares: BOUGHT[0] + BOUGHT[1], lots: 2 })?);
        }
        Ok(())
    })
}

/// Shares that the first and the second Trade-Result of I1 buy.
const BOUGHT: [i32; 2] = [100, 200];

/// Position of an account in a security.
#[derive(Clone, Copy, Default)]
struct Position {
    shares: i32,
    lots: i64,
}

fn same_position(
    test_bed: &TestBed<'_>,
    owner: &BedAccount,
    listed: &ListedSecurity,
    before: Position,
) -> Result<AcidCase, AcidError> {
    let [qty1, qty2] = BOUGHT;
    let first = result_of(test_bed.submit(owner, listed, qty1)?, listed.price);
    let second = result_of(test_bed.submit(owner, listed, qty2)?, listed.price);
    let mut scenario = test_bed.scenario();
    scenario.label(format!("account {}, {}, {} shares held", owner.account, listed.symbol, before.shares));
    let words = |result: &TradeResult, qty| format!("Trade-Result of {}, {qty} shares", result.trade_id);
    let met = scenario.meet(
        (words(&first, qty1), first, RESULT_FRAME_1),
        vec![(words(&second, qty2), second)],
        HaltCommand::GoOn,
        THROUGH,
    )?;
    let (first_output, second_output) = both(met);
    let Some(result1) = first_output.map(as_result) else { unreachable!("it was to go on") };
    let result2 = as_result(second_output);

    scenario.find(AcidFinding::equal(
        "statuses",
        &"0, 0".to_owned(),
        &format!("{}, {}", result1.status.code(), result2.status.code()),
    ));
    let seen = |result: &TradeResultOutput| result.trade.as_ref().map_or(0, |trade| trade.hs_qty);
    let held = before.shares;
    let position = format!("{} AND hs_s_symb = '{}'", owner.account, listed.symbol);
    let now = test_bed.number(&format!("SELECT hs_qty FROM holding_summary WHERE hs_ca_id = {position}"))?;
    let due = i64::from(held + qty1 + qty2);
    let what = match now == due || seen(&result1) != seen(&result2) {
        true => "HS_QTY".to_owned(),
        false => format!("lost update, both read {}: HS_QTY", seen(&result1)),
    };
    scenario.find(AcidFinding::equal(&what, &due, &now));
    let orders = [format!("{held} and {}", held + qty1), format!("{} and {held}", held + qty2)];
    scenario.find(AcidFinding::one_of(
        "shares held as first and second saw them",
        &orders,
        &format!("{} and {}", seen(&result1), seen(&result2)),
    ));
    let lots = format!("FROM holding WHERE h_ca_id = {} AND h_s_symb = '{}'", owner.account, listed.symbol);
    let count = test_bed.number(&format!("SELECT count(*) {lots}"))?;
    scenario.find(AcidFinding::equal("lots", &(before.lots + 2), &count));
    let sum = test_bed.number(&format!("SELECT coalesce(sum(h_qty), 0) {lots}"))?;
    scenario.find(AcidFinding::equal("shares of the lots", &now, &sum));
    let completed = test_bed.number(&format!(
        "SELECT count(*) FROM trade WHERE t_st_id = 'CMPT' AND t_id IN ({}, {})",
        first.trade_id, second.trade_id
    ))?;
    scenario.find(AcidFinding::equal("completed trades", &2, &completed));
    Ok(scenario.done())
}

/// Runs I2: a price changes between two reads of one Trade-Order.
pub(crate) fn unrepeatable_reads(test_bed: &TestBed<'_>) -> AcidTest {
    judged(spec("I2"), |cases| {
        for _ in 0..test_bed.config.repeats {
            let (owner, listed) = test_bed.holder()?;
            let new_price = Price::from_units(listed.price.units() + 100);
            let order = TradeOrder { type_is_margin: true, ..owner.buys(&listed, 100) };
            let entry = TickerEntry { symbol: listed.symbol, price_quote: new_price, trade_qty: 100 };
            let feed = MarketFeed { entries: vec![entry], unique_symbols: 1 };
            let [assets_before, assets_after] = [
                test_bed.assets(&owner, &listed.symbol, listed.price)?,
                test_bed.assets(&owner, &listed.symbol, new_price)?,
            ];
            let mut scenario = test_bed.scenario();
            scenario
                .label(format!("account {}, {} from {} to {new_price}", owner.account, listed.symbol, listed.price));
            let met = scenario.meet(
                ("Trade-Order on margin".to_owned(), Request::from(order), ORDER_PRICE),
                vec![(format!("Market-Feed: {} at {new_price}", listed.symbol), feed.into())],
                HaltCommand::GoOn,
                "the first keeps its version",
            )?;
            let (Some(Output::TradeOrder(ordered)), fed) = both(met) else { unreachable!("asked for an order") };

            scenario.find(AcidFinding::equal("status of Trade-Order", &Status::SUCCESS, &ordered.status));
            scenario.find(AcidFinding::equal("status of Market-Feed", &Status::SUCCESS, &fed.status()));
            let estimate = ordered.estimate.as_ref();
            let found = estimate.map(|it| (it.market_price, it.acct_assets)).unwrap_or_default();
            let words = |(price, assets): (Price, Balance)| format!("price {price}, assets {assets}");
            scenario.find(AcidFinding::one_of(
                "the order's two reads",
                &[words((listed.price, assets_before)), words((new_price, assets_after))],
                &words(found),
            ));
            let last = format!("SELECT lt_price FROM last_trade WHERE lt_s_symb = '{}'", listed.symbol);
            let last: Price = test_bed.value(&last)?.unwrap_or_default();
            scenario.find(AcidFinding::equal("LT_PRICE in the end", &new_price, &last));
            cases.push(scenario.done());
        }
        Ok(())
    })
}

/// Balances of an account and its broker.
struct BedAccounts {
    cash: Balance,
    broker_trades: i64,
    commissions: Balance,
}

impl BedAccounts {
    fn of(test_bed: &TestBed<'_>, owner: &BedAccount) -> Result<Self, AcidError> {
        let broker = format!("FROM broker WHERE b_id = {}", owner.broker);
        Ok(Self {
            cash: test_bed.money(&format!("SELECT ca_bal FROM customer_account WHERE ca_id = {}", owner.account))?,
            broker_trades: test_bed.number(&format!("SELECT b_num_trades {broker}"))?,
            commissions: test_bed.money(&format!("SELECT b_comm_total {broker}"))?,
        })
    }
}

fn sum(balance: Balance, results: &[&TradeResultOutput]) -> Balance {
    Balance::from_units(balance.units() + results.iter().map(|result| result.se_amount.units()).sum::<i64>())
}

/// Runs I3: two Trade-Results change the same account and broker.
pub(crate) fn dirty_writes(test_bed: &TestBed<'_>) -> AcidTest {
    judged(spec("I3"), |cases| with_each_ending(test_bed, cases, &mut |ending, _| dirty_write(test_bed, ending)))
}

fn dirty_write(test_bed: &TestBed<'_>, ending: HaltCommand) -> Result<AcidCase, AcidError> {
    let owner = test_bed.owner()?;
    let submit = |qty| -> Result<_, AcidError> {
        let listed = test_bed.security_not_held(&owner)?;
        Ok(result_of(test_bed.submit(&owner, &listed, qty)?, listed.price))
    };
    let (first, second) = (submit(100)?, submit(200)?);
    let before = BedAccounts::of(test_bed, &owner)?;
    let mut scenario = test_bed.scenario();
    scenario.label(format!("account {}, {}", owner.account, ending_words(ending)));
    let words = |result: &TradeResult| format!("Trade-Result of {}", result.trade_id);
    let met = scenario.meet((words(&first), first, COMMIT), vec![(words(&second), second)], ending, THROUGH)?;
    let came_first = met.others.iter().any(|other| other.at_once);
    let (first_output, second_output) = both(met);
    let (result1, result2) = (first_output.map(as_result), as_result(second_output));

    let committed: Vec<_> = result1.iter().chain([&result2]).collect();
    let now = BedAccounts::of(test_bed, &owner)?;
    scenario.note(
        "observer",
        "reads account and broker",
        "",
        vec![
            format!("ca_bal = {}", now.cash),
            format!("b_num_trades = {}", now.broker_trades),
            format!("b_comm_total = {}", now.commissions),
        ],
    );
    let wanted = if ending == HaltCommand::GoOn { 2 } else { 1 };
    scenario.find(AcidFinding::equal("committed Trade-Results", &wanted, &committed.len()));
    scenario.find(AcidFinding::equal("CA_BAL", &sum(before.cash, &committed), &now.cash));
    let after_both = sum(before.cash, &committed);
    let alone = sum(before.cash, &[&result2]);
    let may_see = if came_first { [alone, alone] } else { [after_both, alone] };
    scenario.find(AcidFinding::one_of("CA_BAL as the second saw it", &may_see, &result2.acct_bal));
    let trades = before.broker_trades + committed.len() as i64;
    scenario.find(AcidFinding::equal("B_NUM_TRADES", &trades, &now.broker_trades));
    let paid: i64 = committed.iter().map(|result| result.comm_amount.units()).sum();
    let commissions = Balance::from_units(before.commissions.units() + paid);
    scenario.find(AcidFinding::equal("B_COMM_TOTAL", &commissions, &now.commissions));
    let completed = |trade: TradeId| -> Result<String, AcidError> {
        Ok(test_bed.value(&format!("SELECT t_st_id FROM trade WHERE t_id = {trade}"))?.unwrap_or_default())
    };
    let first_is = if ending == HaltCommand::GoOn { "CMPT" } else { "SBMT" };
    scenario.find(AcidFinding::equal("status of the first trade", &first_is.to_owned(), &completed(first.trade_id)?));
    scenario.find(AcidFinding::equal("status of the second trade", &"CMPT".to_owned(), &completed(second.trade_id)?));
    Ok(scenario.done())
}

/// Runs I4: a customer's position is read while a Trade-Result has changed the account and not committed.
pub(crate) fn dirty_reads(test_bed: &TestBed<'_>) -> AcidTest {
    judged(spec("I4"), |cases| with_each_ending(test_bed, cases, &mut |ending, _| dirty_read(test_bed, ending)))
}

fn dirty_read(test_bed: &TestBed<'_>, ending: HaltCommand) -> Result<AcidCase, AcidError> {
    let owner = test_bed.owner()?;
    let listed = test_bed.security_not_held(&owner)?;
    let trade = test_bed.submit(&owner, &listed, 100)?;
    let result = result_of(trade, listed.price);
    let before = BedAccounts::of(test_bed, &owner)?.cash;
    let look = CustomerPosition { cust_id: owner.customer, tax_id: Text::EMPTY, get_history: false, acct_id_idx: -1 };
    let seen = |output: &Output| match output {
        Output::CustomerPosition(position) => {
            let account = position.accounts.iter().find(|account| account.acct_id == owner.account);
            account.map_or_else(|| "no such account".to_owned(), |account| account.cash_bal.to_string())
        }
        _ => unreachable!("asked for a position"),
    };
    let mut scenario = test_bed.scenario();
    scenario.label(format!("account {}, {}", owner.account, ending_words(ending)));
    let first = (format!("Trade-Result of {trade}"), Request::from(result), COMMIT);
    let others = vec![(format!("Customer-Position of {}", owner.customer), look.clone().into())];
    let met = scenario.meet(first, others, ending, "the reader goes on beside the writer")?;
    let Some((s2, at_once)) = met.others.first().map(|other| (other.session, other.at_once)) else {
        unreachable!("one other began")
    };
    let (first_output, read) = both(met);
    let after = first_output.map_or(before, |output| sum(before, &[&as_result(output)]));
    if at_once {
        scenario.find(AcidFinding::equal("CA_BAL seen before the first ended", &before.to_string(), &seen(&read)));
    } else {
        // One that waited may have taken its version before it began to wait.
        let may_see = [after.to_string(), before.to_string()];
        scenario.find(AcidFinding::one_of("CA_BAL seen by the one that waited", &may_see, &seen(&read)));
    }
    scenario.start(s2, format!("Customer-Position of {} again", owner.customer), look.clone(), None);
    let again = scenario.end(s2)?;
    let again = scenario.settle(s2, look, again)?;
    scenario.find(AcidFinding::equal("CA_BAL seen after the first ended", &after.to_string(), &seen(&again)));
    Ok(scenario.done())
}
