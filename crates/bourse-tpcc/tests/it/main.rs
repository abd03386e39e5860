//! The workload by the harness on SQLite: loaded, checked, performed, reconciled, compared.

use bourse_driver::{Clock, Nanos, RealClock, RoundPlan, SECOND};
use bourse_engine::Engine;
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::check::{Depth, check_all};
use bourse_oltp::load::{Constraints, ExistingDatabase, Fingerprint, LoadOptions, identify, load};
use bourse_oltp::mix::{Reference, RunOptions, Sequence, Transactions as _, run};
use bourse_oltp::sut::{InProcess, Share};
use bourse_oltp::verify::{Extent, Sampled as _, lockstep};
use bourse_oltp::{Size, Workload as _};
use bourse_schema::{SQLITE, Timestamp};
use bourse_tpcc::{Tpcc, size_of};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

fn loaded(size: &Size) -> (SqliteEngine, Fingerprint) {
    let engine = open("sqlite::memory:").expect("a valid target");
    let options = LoadOptions { constraints: Constraints::Full, threads: 2 };
    let report = load(&engine, &Tpcc, &Tpcc, size, &options, &mut |_| ControlFlow::Continue(()));
    (engine, report.expect("loads").fingerprint)
}

fn failed(engine: &dyn Engine, fingerprint: &Fingerprint) -> Vec<String> {
    let checked = check_all(engine, &Tpcc, fingerprint, Depth::Full, &mut |_| {}).expect("checks");
    assert!(checked.len() > 35, "{checked:#?}");
    checked.into_iter().filter(|it| !it.passed()).map(|it| it.name).collect()
}

fn change(engine: &dyn Engine, statement: &str) {
    engine.session().expect("connects").execute_text(statement, &[]).expect("runs");
}

#[test]
fn a_loaded_database_is_recognised_and_each_condition_finds_its_violation() {
    let (engine, fingerprint) = loaded(&Tpcc::smallest());
    let ExistingDatabase::Matches(found) = identify(&engine, &Tpcc).unwrap() else { panic!("not recognised") };
    assert_eq!((&found.fingerprint, found.used()), (&fingerprint, None));
    assert_eq!(failed(&engine, &fingerprint), [""; 0]);
    let order = "o_w_id = 1 AND o_d_id = 1 AND o_id";
    let lines = "ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 1";
    let paid = "h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 1";
    let customer = "c_w_id = 1 AND c_d_id = 1 AND c_id = 1";
    let mut unfound: Vec<String> = (1..=12).map(|number| format!("C{number}")).collect();
    for (statement, undo, conditions) in [
        (
            "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 1",
            "UPDATE district SET d_ytd = d_ytd - 1 WHERE d_id = 1",
            &["C1", "C9"][..],
        ),
        ("UPDATE warehouse SET w_ytd = w_ytd + 1", "UPDATE warehouse SET w_ytd = w_ytd - 1", &["C1", "C8"]),
        (
            "UPDATE district SET d_next_o_id = 32 WHERE d_id = 2",
            "UPDATE district SET d_next_o_id = 31 WHERE d_id = 2",
            &["C2"],
        ),
        // A new order that is forgotten, in the middle and at the end.
        (
            "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 25",
            "INSERT INTO new_order VALUES (25, 1, 1)",
            &["C3", "C5", "C11"],
        ),
        (
            "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 30",
            "INSERT INTO new_order VALUES (30, 1, 1)",
            &["C2", "C5", "C11"],
        ),
        (
            &format!("UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE {order} = 1"),
            &format!("UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE {order} = 1"),
            &["C4", "C6"],
        ),
        (
            &format!("UPDATE orders SET o_carrier_id = 7 WHERE {order} = 25"),
            &format!("UPDATE orders SET o_carrier_id = NULL WHERE {order} = 25"),
            &["C5", "C7"],
        ),
        // One order has a line too many, and its neighbour one too few.
        (
            &format!("UPDATE orders SET o_ol_cnt = o_ol_cnt + 3 - 2 * o_id WHERE {order} < 3"),
            &format!("UPDATE orders SET o_ol_cnt = o_ol_cnt - 3 + 2 * o_id WHERE {order} < 3"),
            &["C6"],
        ),
        (
            &format!("UPDATE order_line SET ol_delivery_d = NULL WHERE {lines}"),
            &format!("UPDATE order_line SET ol_delivery_d = 1767571200000 WHERE {lines}"),
            &["C7"],
        ),
        (
            &format!("UPDATE history SET h_w_id = 2 WHERE {paid}"),
            &format!("UPDATE history SET h_w_id = 1 WHERE {paid}"),
            &["C8", "C9"],
        ),
        (
            &format!("UPDATE history SET h_d_id = 2 WHERE {paid}"),
            &format!("UPDATE history SET h_d_id = 1 WHERE {paid}"),
            &["C9"],
        ),
        (
            &format!("UPDATE customer SET c_balance = -999, c_ytd_payment = 999 WHERE {customer}"),
            &format!("UPDATE customer SET c_balance = -1000, c_ytd_payment = 1000 WHERE {customer}"),
            &["C10"],
        ),
        (
            &format!("UPDATE customer SET c_delivery_cnt = 1 WHERE {customer}"),
            &format!("UPDATE customer SET c_delivery_cnt = 0 WHERE {customer}"),
            &["C11"],
        ),
        (
            &format!("UPDATE customer SET c_ytd_payment = 999 WHERE {customer}"),
            &format!("UPDATE customer SET c_ytd_payment = 1000 WHERE {customer}"),
            &["C12"],
        ),
    ] {
        change(&engine, statement);
        let found = failed(&engine, &fingerprint);
        let found: Vec<_> =
            found.iter().filter(|name| name.starts_with('C')).filter_map(|name| name.split(' ').next()).collect();
        assert_eq!(found, conditions, "{statement}");
        change(&engine, undo);
        unfound.retain(|name| !conditions.contains(&name.as_str()));
    }
    assert_eq!((failed(&engine, &fingerprint), unfound), (vec![], vec![]));
}

#[test]
fn what_no_transaction_may_change_is_noticed() {
    let (engine, fingerprint) = loaded(&size_of(1, 60));
    assert!(identify(&engine, &Tpcc).unwrap().to_string() == "a fresh database");
    for (statement, check) in [
        ("UPDATE orders SET o_entry_d = o_entry_d + 1 WHERE o_id = 60", "contents of orders"),
        ("UPDATE item SET i_price = i_price + 1 WHERE i_id = 7", "contents of item"),
        ("DELETE FROM history WHERE h_c_id = 5", "rows of history"),
        ("DROP INDEX customer_by_name", "schema"),
    ] {
        change(&engine, statement);
        let found = failed(&engine, &fingerprint);
        assert!(found.iter().any(|name| name == check), "{statement}: {found:?}");
    }
    let unlike = identify(&engine, &Tpcc).unwrap().against(&Tpcc, &Fingerprint { size: size_of(2, 60), ..fingerprint });
    assert!(unlike.to_string().ends_with("warehouses: 2 wanted, 1 found"), "{unlike}");
    assert_eq!(Tpcc.size_text(&Tpcc::sized(1)), "1 warehouse");
    assert!(
        [size_of(0, 30), size_of(10_000, 30), size_of(1, 45), size_of(1, 0)]
            .iter()
            .all(|size| Tpcc.check_size(size).is_err())
    );
}

#[test]
fn thousands_of_transactions_do_what_the_reference_does_and_are_reconciled() {
    let size = Tpcc::smallest();
    let (engine, fingerprint) = loaded(&size);
    let before = Tpcc.growths().before(&mut *engine.session().unwrap()).unwrap();
    let extent = Extent { transactions: 4_000, digest_every: 1_000, whole_tables: true };
    let session = engine.session().unwrap();
    let mut subjects = [Tpcc.subject("sqlite", session), Box::new(Reference::load(&Tpcc, &size))];
    let (mut script, progress) = (Sequence::<Tpcc>::new(&size, 1), &mut |_| ControlFlow::Continue(()));
    let verdict = lockstep::verify(&mut subjects, &mut script, Tpcc.tables(), &extent, progress).unwrap();
    assert!(verdict.difference.is_none(), "{}", verdict.difference.unwrap());
    assert_eq!((verdict.transactions, verdict.digests.len(), verdict.missing().len()), (4_000, 9, 0));
    assert!(verdict.has("New-Order", 1), "{:?}", verdict.outcomes);
    assert_eq!(failed(&engine, &fingerprint), [""; 0]);
    // The same inputs once more, their outputs alone: what the ledger counts is what the database has gained.
    let (mut ledger, mut reference) = (Ledger::default(), bourse_oltp::verify::ReferenceTables::load(&Tpcc, &size));
    for input in Tpcc::emulator(&size, 1, 0).take(4_000) {
        let (_, output) = Tpcc::expected(&mut reference, &input);
        ledger.judged(&Tpcc::judge(&input, &output));
        reference.settle();
    }
    let grown = Tpcc.growths().compare(&mut *engine.session().unwrap(), &before, &ledger).unwrap();
    let unlike: Vec<_> = grown.iter().filter(|it| !it.passed()).collect();
    assert!(grown.len() == 10 && unlike.is_empty(), "{unlike:#?}");
    let used = identify(&engine, &Tpcc).unwrap().to_string();
    assert!(used.starts_with("used by earlier runs: ") && used.ends_with(" orders entered"), "{used}");
}

#[test]
fn every_statement_finds_its_rows_by_key() {
    let (engine, _) = loaded(&size_of(1, 30));
    let mut session = engine.session().unwrap();
    let mut scanned = BTreeMap::new();
    for sql in Tpcc::statements() {
        let text = sql.render(&SQLITE);
        for step in session.plan(&text).unwrap() {
            let step = step.trim_start().to_owned();
            let by_key = step.starts_with("SEARCH ") && step.contains('(');
            if !by_key && step != "USE TEMP B-TREE FOR count(DISTINCT)" {
                scanned.insert(text.clone(), step);
            }
        }
    }
    assert!(scanned.is_empty(), "{scanned:#?}");
}

/// A clock on which time passes a hundred times as fast.
struct FastClock(RealClock);

impl Clock for FastClock {
    fn now(&self) -> Nanos {
        self.0.now() * 100
    }

    fn sleep_until(&self, at: Nanos) {
        self.0.nap_until(at / 100);
    }

    fn timestamp(&self) -> Timestamp {
        self.0.timestamp()
    }
}

#[test]
fn users_at_terminals_pause_and_defer_deliveries() {
    let (engine, fingerprint) = loaded(&Tpcc::smallest());
    let plan = RoundPlan { warm_up_ns: 20 * SECOND, measure_ns: 130 * SECOND, ..RoundPlan::default() };
    let (size, share) = (Tpcc::smallest(), Share::WHOLE);
    let options = RunOptions { size, users: 60, open_loop: None, terminals: true, plan, seed: 1, share };
    let (sut, clock) = (InProcess::<Tpcc>::new(&engine), FastClock(RealClock::start()));
    let ran = run::<Tpcc>(&sut, &options, &clock, &AtomicBool::new(false), &mut |_| {}).expect("begins");
    let ended: Vec<u64> = ran.round.operations.iter().map(bourse_record::Operation::ended).collect();
    // A cycle takes 21 seconds on average; without pauses there would be a hundred times as many, and on a busy machine there are fewer.
    let all: u64 = ended.iter().sum();
    assert!((40..=520).contains(&all) && (ended[3] > 0 || all < 200), "{ended:?}");
    assert_eq!((ran.fault, failed(&engine, &fingerprint)), (None, vec![]));
    let paused = |kind| Tpcc::pauses(kind, 0.99).expect("there are terminals").map(|ns| ns / SECOND);
    assert_eq!([paused(0), paused(4)], [[18, 55], [2, 23]]);
    assert_eq!(Tpcc::pauses(1, 1.0 - f64::EPSILON).expect("there are terminals")[1], 120 * SECOND);
}
