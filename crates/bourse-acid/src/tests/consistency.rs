//! Consistency: the conditions of Clause 7.3 hold before and after concurrent work.

use super::TESTS;
use crate::consistency::{self, MAX_ATTEMPTS, SESSIONS, SessionObservation, finding};
use crate::scenario::on_sessions;
use crate::test_bed::{AcidError, TestBed, TxnEnvironment, result_of};
use bourse_egen::txn::TradeOrder;
use bourse_engine::{Access, ErrorKind, Isolation, Result, Session};
use bourse_record::SplitMix;
use bourse_record::acid::{AcidFinding, AcidStep, AcidTest, Property};
use bourse_tpce::check::conditions::CONDITIONS;
use bourse_tpce::check::reconciliation::{AcknowledgedCommits, TotalsSnapshot};
use bourse_tpce::check::{Check, CheckResult, first_trade, holes};
use bourse_tpce::transactions::{FrameError, Output, Request, Status, TxnError};

/// Number of orders of each session.
const ORDERS: usize = 60;

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

fn check_all(test_bed: &TestBed<'_>) -> Result<Vec<CheckResult>> {
    let first_trade = first_trade(test_bed.environment.part);
    test_bed.with_observer(|db| {
        db.begin(Isolation::RepeatableRead, Access::Read)?;
        let checked = CONDITIONS.iter().map(|condition: &Check| condition.run(db, &holes(first_trade))).collect();
        db.rollback()?;
        checked
    })
}

fn observe(test_bed: &TestBed<'_>) -> Result<SessionObservation, AcidError> {
    let before = check_all(test_bed)?;
    let snapshot = test_bed.with_observer(|db| TotalsSnapshot::take(db))?;
    let SessionWork { told, overtaken, steps } = work(test_bed)?;
    let after = check_all(test_bed)?;
    let books = test_bed.with_observer(|db| snapshot.compare(db, &told))?;
    // Brokers' totals are C1's and C2's.
    let books = books.iter().filter(|checked| !checked.name.starts_with("brokers'")).map(finding);
    let books = std::iter::once(self::overtaken(&overtaken)).chain(books).collect();
    let AcknowledgedCommits { orders, results, .. } = told;
    let words =
        format!("before and after {orders} Trade-Orders and {results} Trade-Results on {SESSIONS} sessions at once");
    Ok(SessionObservation { before, after, books, steps, words })
}

/// Results of the sessions' work.
#[derive(Default)]
struct SessionWork {
    told: AcknowledgedCommits,
    /// Descriptions of Trade-Results that failed because a row they had read was changed before they updated it.
    overtaken: Vec<String>,
    steps: Vec<AcidStep>,
}

/// Runs orders and their results on several concurrent sessions, on few accounts, so that they conflict.
fn work(test_bed: &TestBed<'_>) -> Result<SessionWork, AcidError> {
    let mut orders: Vec<TradeOrder> = Vec::new();
    for number in 0..8 {
        let (owner, listed) = test_bed.holder()?;
        orders.push(owner.buys(&listed, 100 + 100 * (number % 3)));
    }
    let mut random = SplitMix::new(test_bed.config.seed);
    // Seeds are drawn here, so that the work is the same whichever thread is faster.
    let seeds: Vec<u64> = (0..SESSIONS).map(|_| random.next()).collect();
    let (environment, orders) = (&*test_bed.environment, &*orders);
    let done = on_sessions(test_bed, SESSIONS, &|number, session| {
        work_of_one(session, environment, orders, format!("S{}", number + 1), seeds[number])
    })?;
    let mut all = SessionWork::default();
    for one in done {
        all.told.add(&one.told);
        all.overtaken.extend(one.overtaken);
        all.steps.extend(one.steps);
    }
    Ok(all)
}

/// Runs the work of one session.
fn work_of_one(
    session: &mut dyn Session,
    environment: &TxnEnvironment,
    orders: &[TradeOrder],
    name: String,
    seed: u64,
) -> Result<SessionWork, AcidError> {
    let mut random = SplitMix::new(seed);
    let (mut told, mut overtaken) = (AcknowledgedCommits::default(), Vec::new());
    let mut retries = 0;
    for turn in 0..ORDERS {
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
        told.committed(&request);
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
            told.committed(&result);
        }
    }
    let did = format!("{ORDERS} Trade-Orders, one in ten rolled back as asked, the others with their Trade-Results");
    let mut outcome = format!("{} and {} committed, {retries} retries", told.orders, told.results);
    if !overtaken.is_empty() {
        outcome
            .push_str(&format!(", {} Trade-Results failed: another session had changed their rows", overtaken.len()));
    }
    let steps = vec![AcidStep { session: name, did, outcome, read: Vec::new(), statement: None }];
    Ok(SessionWork { told, overtaken, steps })
}
