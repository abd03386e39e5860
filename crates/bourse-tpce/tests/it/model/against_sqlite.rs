//! The model and SQLite perform the same transactions with the same outputs and the same rows.

use crate::loaded::Copy;
use bourse_egen::driver::Database;
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine as _, RowExt as _};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::verify::Sampled as _;
use bourse_oltp::verify::lockstep::LATER;
use bourse_oltp::verify::sample::{TRANSACTIONS, compare};
use bourse_tpce::load::{LoadOptions, load};
use bourse_tpce::model::Model;
use bourse_tpce::verify::{Plan, SqlSubject, TpceSample, TpceSubject, Verdict, sql_subject, verify};
use std::ops::ControlFlow;
use std::sync::OnceLock;

pub(crate) fn inputs() -> &'static Inputs {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    INPUTS.get_or_init(Inputs::builtin)
}

/// A database in memory with the rows of a part, which exists as long as the engine.
fn loaded(part: Part) -> SqliteEngine {
    let engine = open("sqlite::memory:").expect("a valid target");
    load(&engine, inputs(), part, &LoadOptions::default(), &mut |_| ControlFlow::Continue(())).expect("loads");
    engine
}

pub(crate) fn database(part: Part) -> Database {
    Database::of(part.total_customers(), part.scale_factor(), part.days())
}

pub(crate) fn sqlite(engine: &SqliteEngine, part: Part) -> SqlSubject {
    let session = engine.session().expect("connects");
    sql_subject("sqlite::memory:", session, database(part).first_free_trade())
}

fn run(engine: &SqliteEngine, part: Part, plan: &Plan) -> Verdict {
    let mut subjects: [Box<TpceSubject>; 2] = [Box::new(sqlite(engine, part)), Box::new(Model::new(inputs(), part))];
    let verdict = verify(&mut subjects, inputs(), plan, &mut |_| ControlFlow::Continue(())).expect("runs");
    if let Some(difference) = &verdict.difference {
        panic!("{difference}");
    }
    assert!(!verdict.interrupted);
    assert_eq!(verdict.transactions, plan.transactions);
    assert_eq!(verdict.digests.len(), 33);
    verdict
}

/// Thousands of transactions, paced so slowly that prices move, limit orders are reached and maintenance visits every
/// table.
#[test]
fn thousands_of_transactions_are_alike() {
    let (part, copy) = (Part::whole(1_000, 1).expect("a valid part"), Copy::new("thousands.db"));
    let plan = Plan { transactions: 6_000, requests_per_second: 4, digest_every: 2_500, ..Plan::of(database(part)) };
    let verdict = run(&copy.engine, part, &plan);
    assert!(verdict.missing().is_empty(), "{:?}", verdict.outcomes);
    assert!(verdict.rows_compared > 10_000, "{}", verdict.rows_compared);
}

/// The sample of a run: no difference, every transaction included, and Trade-Cleanup finds an order that the market
/// has.
#[test]
fn a_sample_has_every_kind_and_ends_with_an_order_to_cancel() {
    let copy = Copy::new("sample.db");
    let (sampled, session) = (TpceSample::of(inputs()), copy.engine.session().expect("connects"));
    let (reference, extent) = (sampled.reference(), (TRANSACTIONS, false));
    let progress = &mut |_| ControlFlow::Continue(());
    let verdict = compare(&sampled, ("sqlite", session), reference, extent, progress).expect("runs");
    assert!(verdict.difference.is_none() && !verdict.interrupted, "{verdict:?}");
    let lengths = TRANSACTIONS..=TRANSACTIONS + LATER;
    assert!(lengths.contains(&verdict.transactions), "{}", verdict.transactions);
    assert!(verdict.missing().is_empty(), "{:?}", verdict.outcomes);
    // People without permission, an account and a trade that do not exist.
    for (name, status) in [("Trade-Order", -721), ("Trade-Order", -711), ("Trade-Result", -811)] {
        assert!(verdict.has(name, status), "{:?}", verdict.outcomes);
    }
    let mut canceled = 0;
    let sql = "SELECT count(*) FROM trade WHERE t_st_id = 'CNCL' AND t_tt_id IN ('TMB', 'TMS')";
    let mut session = copy.engine.session().expect("connects");
    session.query_text(sql, &[], &mut |row| row.get(0).map(|count: i64| canceled = count)).expect("counts");
    assert!(canceled > 0);
}

/// The long test of a release: `BOURSE_VERIFY=2000,3,100000` for customers, days and transactions.
#[test]
#[expect(clippy::print_stderr, reason = "a long test says what it did")]
fn as_many_transactions_as_asked_for_are_alike() {
    let Ok(asked) = std::env::var("BOURSE_VERIFY") else {
        bourse_testkit::skipped("as_many_transactions_as_asked_for_are_alike", "BOURSE_VERIFY is not set");
        return;
    };
    let numbers: Vec<i64> = asked.split(',').map(|number| number.parse().expect("three numbers")).collect();
    let [customers, days, transactions, ref more @ ..] = numbers[..] else { panic!("three numbers") };
    let part = Part::whole(customers, days).expect("a valid part");
    let mut plan = Plan { transactions: transactions as u64, digest_every: 25_000, ..Plan::of(database(part)) };
    if let [rate, seed] = more {
        (plan.requests_per_second, plan.seed) = (*rate as u32, *seed as u64);
    }
    let verdict = run(&loaded(part), part, &plan);
    for ((kind, status), count) in &verdict.outcomes {
        let transaction = verdict.kinds[*kind];
        eprintln!("{transaction:<20} {status:>6} {count:>9}");
    }
    eprintln!("{} transactions, {} rows compared", verdict.transactions, verdict.rows_compared);
}
