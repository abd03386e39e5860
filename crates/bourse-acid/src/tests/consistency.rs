//! Consistency: the conditions of Clause 7.3 hold before and after concurrent work.

use super::atomicity::plain_case;
use super::{finished, judged};
use crate::test_bed::{AcidError, TestBed, TxnEnvironment, result_of};
use bourse_egen::txn::TradeOrder;
use bourse_engine::{Access, Engine, EngineError, ErrorKind, Isolation};
use bourse_record::SplitMix;
use bourse_record::acid::{AcidCase, AcidFinding, AcidStep, AcidTest};
use bourse_tpce::check::conditions::CONDITIONS;

use bourse_tpce::check::reconciliation::{AcknowledgedCommits, TotalsSnapshot};
use bourse_tpce::check::{Check, CheckResult, first_trade, holes};
use bourse_tpce::transactions::{FrameError, Output, Request, Status, TxnError};
use std::time::Instant;

/// Number of concurrent sessions.
const SESSIONS: usize = 4;
/// Number of orders of each session.
const ORDERS: usize = 60;
/// Upper limit of attempts at a transaction that meets conflicts.
const MAX_ATTEMPTS: u32 = 100;

/// Tests C1 to C5: five conditions after the same work.
pub(crate) fn conditions(test_bed: &TestBed<'_>) -> Vec<AcidTest> {
    let began = Instant::now();
    let observed = observe(test_bed);
    let took_s = began.elapsed().as_secs_f64();
    let names = ["C1", "C2", "C3", "C4", "C5"];
    let observed = match observed {
        Ok(observed) => observed,
        Err(error) => return names.map(|id| judged(id, |_| Err(error.clone()))).into(),
    };
    let mut tests = Vec::new();
    for id in names {
        let of_it = |checked: &&CheckResult| match id {
            "C4" => !["C1", "C2", "C3"].iter().any(|id| checked.name.starts_with(id)),
            id => checked.name.starts_with(id),
        };
        let mut test = judged(id, |cases| {
            if id == "C5" {
                // Brokers' totals are C1's and C2's.
                let books = observed.books.iter().filter(|checked| !checked.name.starts_with("brokers'"));
                let findings = std::iter::once(overtaken(&observed.overtaken)).chain(books.map(finding)).collect();
                cases.push(AcidCase { steps: observed.steps.clone(), ..plain_case("books", findings) });
                return Ok(());
            }
            cases.push(plain_case("before the work", observed.before.iter().filter(of_it).map(finding).collect()));
            let after = observed.after.iter().filter(of_it).map(finding).collect();
            cases.push(AcidCase { steps: observed.steps.clone(), ..plain_case("after the work", after) });
            Ok(())
        });
        // The work and the checks are one for all five.
        test.took_s = took_s / names.len() as f64;
        if test.verdict == bourse_record::acid::AcidVerdict::Passed {
            test = finished(id, test.verdict, observed.words(), test.cases, test.took_s);
        }
        tests.push(test);
    }
    tests
}

struct SessionObservation {
    before: Vec<CheckResult>,
    after: Vec<CheckResult>,
    books: Vec<CheckResult>,
    told: AcknowledgedCommits,
    overtaken: Vec<String>,
    steps: Vec<AcidStep>,
}

impl SessionObservation {
    fn words(&self) -> String {
        let AcknowledgedCommits { orders, results, .. } = self.told;
        format!("before and after {orders} Trade-Orders and {results} Trade-Results on {SESSIONS} sessions at once")
    }
}

fn finding(checked: &CheckResult) -> AcidFinding {
    // A number that is compared says in its evidence what it is; a query's offences are the rows it found.
    let found = match (checked.offences, checked.evidence.is_empty()) {
        (0, _) => "none".to_owned(),
        (offences, _) => format!("{offences}: {}", checked.evidence.join("; ")),
    };
    AcidFinding {
        what: format!("offences against: {}", checked.words),
        wanted: "none".to_owned(),
        holds: checked.passed(),
        found,
    }
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

fn check_all(test_bed: &TestBed<'_>) -> Result<Vec<CheckResult>, EngineError> {
    let first_trade = first_trade(test_bed.part);
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
    Ok(SessionObservation { before, after, books, told, overtaken, steps })
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
    let (engine, environment, orders) = (test_bed.engine, &*test_bed.environment, &*orders);
    let done: Vec<_> = std::thread::scope(|scope| {
        let one = |(number, seed): (usize, &u64)| {
            let (name, seed) = (format!("S{}", number + 1), *seed);
            scope.spawn(move || work_of_one(engine, environment, orders, name, seed))
        };
        let threads: Vec<_> = seeds.iter().enumerate().map(one).collect();
        threads.into_iter().map(|thread| thread.join().expect("a panic of ours is one of the whole test")).collect()
    });
    let mut all = SessionWork::default();
    for done in done {
        let one = done?;
        all.told.add(&one.told);
        all.overtaken.extend(one.overtaken);
        all.steps.extend(one.steps);
    }
    Ok(all)
}

/// Runs the work of one session.
fn work_of_one(
    engine: &dyn Engine,
    environment: &TxnEnvironment,
    orders: &[TradeOrder],
    name: String,
    seed: u64,
) -> Result<SessionWork, AcidError> {
    let mut session = engine.session()?;
    let mut random = SplitMix::new(seed);
    let (mut told, mut overtaken) = (AcknowledgedCommits::default(), Vec::new());
    let mut retries = 0;
    for turn in 0..ORDERS {
        let order = &orders[random.below(orders.len() as u64) as usize];
        // One in ten is rolled back on purpose, as customers' are one in a hundred.
        let order = TradeOrder { roll_it_back: turn % 10 == 9, is_lifo: turn % 2 == 0, ..order.clone() };
        let request = Request::from(order);
        let performed = environment.perform(&mut *session, &request, MAX_ATTEMPTS)?;
        retries += performed.retries;
        let Output::TradeOrder(ordered) = performed.output else { unreachable!("asked for an order") };
        let (Status::SUCCESS, Some(trade), Some(estimate)) = (ordered.status, ordered.trade_id, &ordered.estimate)
        else {
            continue;
        };
        told.committed(&request);
        let result = Request::from(result_of(trade, estimate.market_price));
        let performed = match environment.perform(&mut *session, &result, MAX_ATTEMPTS) {
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
