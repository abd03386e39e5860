//! Consistency: the conditions of Clause 7.3 hold before and after concurrent work.

use super::TESTS;
use crate::consistency::{self, MAX_ATTEMPTS, SESSIONS, SessionObservation};
use crate::test_bed::{AcidError, TestBed, TxnEnvironment, result_of};
use bourse_egen::txn::TradeOrder;
use bourse_engine::{ErrorKind, Result, Session};
use bourse_oltp::check::ledger::Ledger;
use bourse_record::SplitMix;
use bourse_record::acid::{AcidFinding, AcidStep, AcidTest, Property};
use bourse_tpce::check::reconciliation::{BROKERS_COMMISSIONS, BROKERS_TRADES, ORDERS, RESULTS, committed};
use bourse_tpce::transactions::{FrameError, Output, Request, Status, TxnError};
use bourse_tpce::workload::{Tpce, size_of};

/// Number of orders of each session.
const ORDERS_EACH: usize = 60;

/// Tests C1 to C5: five conditions after the same work.
pub(crate) fn conditions(test_bed: &TestBed<'_>) -> Vec<AcidTest> {
    let specs: Vec<_> = TESTS.iter().filter(|spec| spec.property == Property::Consistency).collect();
    consistency::conditions(&specs, || observe(test_bed))
}

/// Finding on Trade-Results that read a row and found it changed when they updated it: a serializable transaction would have
/// waited for the other session, or been refused.
fn overtaken(all: &[String]) -> AcidFinding {
    AcidFinding {
        what: "Trade-Results whose rows another session changed between their read and their write (lost update)"
            .to_owned(),
        wanted: "none".to_owned(),
        found: all.first().map_or_else(|| "none".to_owned(), |first| format!("{}, the first: {first}", all.len())),
        holds: all.is_empty(),
    }
}

/// Whether a transaction's update found other rows than its reads: rows that are gone, or that are referenced by now.
fn is_overtaken(error: &TxnError) -> bool {
    matches!(error.cause, FrameError::Rows { .. })
        || matches!(error.kind(), ErrorKind::Constraint | ErrorKind::Duplicate)
}

fn observe(test_bed: &TestBed<'_>) -> Result<SessionObservation, AcidError> {
    let mut orders: Vec<TradeOrder> = Vec::new();
    for number in 0..8 {
        let (owner, listed) = test_bed.holder()?;
        orders.push(owner.buys(&listed, 100 + 100 * (number % 3)));
    }
    let mut random = SplitMix::new(test_bed.config.seed);
    // Seeds are drawn here, so that the work is the same whichever thread is faster.
    let seeds: Vec<u64> = (0..SESSIONS).map(|_| random.next()).collect();
    let (environment, orders) = (&*test_bed.environment, &*orders);
    let (mut observed, told, lost) =
        consistency::observed(test_bed, &Tpce, &size_of(environment.part), &|number, session| {
            work_of_one(session, environment, orders, format!("S{}", number + 1), seeds[number])
        })?;
    // Brokers' totals are C1's and C2's.
    observed.books.retain(|checked| ![BROKERS_TRADES, BROKERS_COMMISSIONS].contains(&&*checked.name));
    observed.further.push(overtaken(&lost.concat()));
    let [orders, results] = [ORDERS, RESULTS].map(|at| told.sure(at));
    observed.words =
        format!("before and after {orders} Trade-Orders and {results} Trade-Results on {SESSIONS} sessions at once");
    Ok(observed)
}

/// Runs orders and their results on one of several sessions, on few accounts, so that they conflict. Returns descriptions of the
/// Trade-Results that failed because a row they had read was changed before they updated it.
fn work_of_one(
    session: &mut dyn Session,
    environment: &TxnEnvironment,
    orders: &[TradeOrder],
    name: String,
    seed: u64,
) -> Result<(Ledger, AcidStep, Vec<String>), AcidError> {
    let mut random = SplitMix::new(seed);
    let (mut told, mut overtaken) = (Ledger::default(), Vec::new());
    let mut retries = 0;
    for turn in 0..ORDERS_EACH {
        let order = &orders[random.below(orders.len() as u64) as usize];
        // One in ten is rolled back on purpose, as customers' are one in a hundred.
        let order = TradeOrder { roll_it_back: turn % 10 == 9, is_lifo: turn % 2 == 0, ..order.clone() };
        let request = Request::from(order);
        let performed = environment.perform(session, &request, MAX_ATTEMPTS)?;
        retries += performed.retries;
        let Output::TradeOrder(ordered) = performed.output else { unreachable!("asked for an order") };
        let (Status::SUCCESS, Some(trade), Some(estimate)) = (ordered.status, ordered.trade_id, &ordered.estimate)
        else {
            continue;
        };
        committed(&mut told, &request);
        let result = Request::from(result_of(trade, estimate.market_price));
        let performed = match environment.perform(session, &result, MAX_ATTEMPTS) {
            Err(error) if is_overtaken(&error) => {
                overtaken.push(format!("trade {trade}: {error}"));
                continue;
            }
            performed => performed?,
        };
        retries += performed.retries;
        if performed.output.status() == Status::SUCCESS {
            committed(&mut told, &result);
        }
    }
    let did =
        format!("{ORDERS_EACH} Trade-Orders, one in ten rolled back as asked, the others with their Trade-Results");
    let mut outcome = format!("{} and {} committed, {retries} retries", told.sure(ORDERS), told.sure(RESULTS));
    if !overtaken.is_empty() {
        outcome
            .push_str(&format!(", {} Trade-Results failed: another session had changed their rows", overtaken.len()));
    }
    Ok((told, AcidStep { session: name, did, outcome, read: Vec::new(), statement: None }, overtaken))
}
