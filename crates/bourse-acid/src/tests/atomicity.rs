//! Atomicity: a transaction is there completely or not at all (Clause 7.2).

use super::{judged, spec};
use crate::pausable_session::HaltCommand;
use crate::points::{COMMIT, ORDER_WRITTEN};
use crate::scenario::Scenario;
use crate::test_bed::{AcidError, BedAccount, ListedSecurity, TestBed, result_of};
use bourse_egen::TradeType;
use bourse_egen::txn::TradeOrder;
use bourse_oltp::acid::HaltPoint;
use bourse_oltp::check::ledger::Totals;
use bourse_record::acid::{AcidFinding, AcidTest};
use bourse_schema::{Balance, TradeId, tables};
use bourse_tpce::check::reconciliation::GROWTHS;
use bourse_tpce::transactions::{Output, Request, Status};

/// Shares of each order.
const QTY: i32 = 100;

/// Totals of a database: rows of each table, balances, and holdings.
struct BedTotals {
    rows: Vec<(&'static str, i64)>,
    books: Totals,
    held: i64,
}

impl BedTotals {
    fn of(test_bed: &TestBed<'_>) -> Result<Self, AcidError> {
        let count = |name: &'static str| Ok((name, test_bed.number(&format!("SELECT count(*) FROM {name}"))?));
        let rows: Result<Vec<_>, AcidError> = tables::all().iter().map(|table| count(table.name)).collect();
        let books = test_bed.with_observer(|db| GROWTHS.before(db))?;
        let held = test_bed.number("SELECT coalesce(sum(hs_qty), 0) FROM holding_summary")?;
        Ok(Self { rows: rows?, books, held })
    }

    /// Compares with the totals before; `gained` has the tables that must have new rows, and how many. All else must be
    /// unchanged.
    fn compare(&self, before: &Self, gained: &[(&str, i64)]) -> Vec<AcidFinding> {
        let mut findings = Vec::new();
        let mut others = Vec::new();
        for ((name, now), (_, then)) in self.rows.iter().zip(&before.rows) {
            match gained.iter().find(|(gaining, _)| gaining == name) {
                Some((_, wanted)) => {
                    findings.push(AcidFinding::equal(format!("new rows of {name}"), wanted, &(now - then)))
                }
                None if now != then => others.push(format!("{name}: {:+}", now - then)),
                None => {}
            }
        }
        let changed = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        findings.push(AcidFinding::equal("rows gained or lost in other tables", &"none".to_owned(), &changed));
        let totals = |totals: &Self| {
            let [cash, commissions] =
                ["cash", "brokers' commissions"].map(|of| Balance::from_units(totals.books.of(of)));
            let trades = totals.books.of("brokers' trades");
            format!("cash {cash}, brokers' trades {trades}, commissions {commissions}, shares {}", totals.held)
        };
        findings.push(AcidFinding::equal("totals", &totals(before), &totals(self)));
        findings
    }
}

/// Market order, and limit order that waits for its price.
fn orders(owner: &BedAccount, listed: &ListedSecurity) -> [(&'static str, TradeOrder); 2] {
    let market = owner.buys(listed, QTY);
    let far_below = listed.price.units() as f64 / 200.0;
    let limit = TradeOrder {
        trade_type: TradeType::LimitBuy,
        requested_price: (far_below * 100.0).floor().max(1.0) / 100.0,
        ..market.clone()
    };
    [("market order", market), ("limit order", limit)]
}

fn rows_of(test_bed: &TestBed<'_>, trade: TradeId) -> Result<Vec<(&'static str, i64)>, AcidError> {
    const KEYS: [(&str, &str); 7] = [
        ("trade", "t_id"),
        ("trade_history", "th_t_id"),
        ("trade_request", "tr_t_id"),
        ("holding", "h_t_id"),
        ("holding_history", "hh_t_id"),
        ("settlement", "se_t_id"),
        ("cash_transaction", "ct_t_id"),
    ];
    let count = |(table, key): (&'static str, &str)| {
        Ok((table, test_bed.number(&format!("SELECT count(*) FROM {table} WHERE {key} = {trade}"))?))
    };
    KEYS.into_iter().map(count).collect()
}

fn in_words(rows: &[(&str, i64)]) -> String {
    let there: Vec<_> = rows.iter().filter(|(_, count)| *count != 0).map(|(name, n)| format!("{name}: {n}")).collect();
    if there.is_empty() { "none".to_owned() } else { there.join(", ") }
}

/// Runs A1, or A2 if the order is rolled back.
pub(crate) fn trade_order(test_bed: &TestBed<'_>, roll_it_back: bool) -> AcidTest {
    judged(spec(if roll_it_back { "A2" } else { "A1" }), |cases| {
        let owner = test_bed.owner()?;
        let listed = test_bed.security_not_held(&owner)?;
        for (what, order) in orders(&owner, &listed) {
            let order = TradeOrder { roll_it_back, ..order };
            let mut scenario = test_bed.scenario();
            scenario.label(format!("{what}, account {}, {}", owner.account, listed.symbol));
            let before = BedTotals::of(test_bed)?;
            test_bed.environment.sent();
            let session = scenario.session()?;
            scenario.start(session, format!("Trade-Order, {what}, roll_it_back = {roll_it_back}"), order.clone(), None);
            let ended = scenario.end(session)?;
            let Output::TradeOrder(output) = scenario.settle(session, order, ended)? else {
                unreachable!("asked for an order")
            };
            let Some(trade) = output.trade_id else {
                return Err(AcidError::Machinery(format!("Trade-Order ended with {}", output.status)));
            };
            let status = if roll_it_back { Status::ROLLED_BACK } else { Status::SUCCESS };
            scenario.find(AcidFinding::equal("status", &status, &output.status));
            let one = i64::from(!roll_it_back);
            let waiting = if what == "limit order" { one } else { 0 };
            let gained = [("trade", one), ("trade_history", one), ("trade_request", waiting)];
            let wanted: Vec<_> = gained.iter().filter(|(_, count)| *count != 0).copied().collect();
            let found = rows_of(test_bed, trade)?;
            scenario.find(AcidFinding::equal(format!("rows of trade {trade}"), &in_words(&wanted), &in_words(&found)));
            let now = BedTotals::of(test_bed)?;
            now.compare(&before, &gained).into_iter().for_each(|finding| scenario.find(finding));
            let sent = test_bed.environment.sent();
            let of_it = sent.iter().filter(|order| order.trade_id == trade).count();
            scenario.find(AcidFinding::equal("orders sent to the market", &(one as usize), &of_it));
            cases.push(scenario.done());
        }
        Ok(())
    })
}

/// Runs A3 or A4: transactions that are undone by a command.
pub(crate) fn undone(test_bed: &TestBed<'_>, id: &str, word: HaltCommand) -> AcidTest {
    judged(spec(id), |cases| {
        let owner = test_bed.owner()?;
        let listed = test_bed.security_not_held(&owner)?;
        for (what, order) in orders(&owner, &listed) {
            for point in [ORDER_WRITTEN, COMMIT] {
                let mut scenario = test_bed.scenario();
                scenario.label(format!("Trade-Order, {what}, {}", point.name));
                halted(test_bed, &mut scenario, format!("Trade-Order, {what}"), order.clone(), point, word)?;
                cases.push(scenario.done());
            }
        }
        // One that opens a position, and one that closes or enlarges what is held.
        let (holder, held) = test_bed.holder()?;
        for (what, owner, listed) in [("of nothing held", &owner, &listed), ("of something held", &holder, &held)] {
            let trade = test_bed.submit(owner, listed, QTY)?;
            let mut scenario = test_bed.scenario();
            scenario.label(format!("Trade-Result, {what}, {}", COMMIT.name));
            let result = result_of(trade, listed.price);
            halted(test_bed, &mut scenario, format!("Trade-Result of {trade}"), result, COMMIT, word)?;
            let status = test_bed.value::<String>(&format!("SELECT t_st_id FROM trade WHERE t_id = {trade}"))?;
            scenario.find(AcidFinding::equal("status of the trade", &"SBMT".to_owned(), &status.unwrap_or_default()));
            // Afterwards the same result must succeed: no session waits, and nothing of the first transaction prevents it.
            let session = scenario.session()?;
            scenario.start(session, format!("Trade-Result of {trade} by another session"), result, None);
            let ended = scenario.end(session)?;
            let output = scenario.settle(session, result, ended)?;
            scenario.find(AcidFinding::equal("status of the next try", &Status::SUCCESS, &output.status()));
            cases.push(scenario.done());
        }
        Ok(())
    })
}

/// Halts a transaction at a point, undoes it by a command, and compares the database with its state before.
fn halted(
    test_bed: &TestBed<'_>,
    scenario: &mut Scenario<'_>,
    what: String,
    request: impl Into<Request>,
    point: HaltPoint,
    word: HaltCommand,
) -> Result<(), AcidError> {
    let before = BedTotals::of(test_bed)?;
    test_bed.environment.sent();
    scenario.undo(what, request, point, word)?;
    if word == HaltCommand::Vanish {
        wait_for_the_engine(test_bed, &before)?;
    }
    BedTotals::of(test_bed)?.compare(&before, &[]).into_iter().for_each(|finding| scenario.find(finding));
    scenario.find(AcidFinding::equal("orders sent to the market", &0, &test_bed.environment.sent().len()));
    Ok(())
}

/// Waits until a server has noticed that a client is gone and undone its transaction. Until then no other session sees its
/// rows, so this only prevents waits in a later test.
fn wait_for_the_engine(test_bed: &TestBed<'_>, before: &BedTotals) -> Result<(), AcidError> {
    const MOMENTS: u32 = 20;
    for _ in 0..MOMENTS {
        let trades = test_bed.number("SELECT count(*) FROM trade")?;
        if before.rows.iter().any(|(name, count)| *name == "trade" && *count == trades) {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Ok(())
}
