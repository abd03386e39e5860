//! TATP by the harness on SQLite: loaded, checked, performed, reconciled, compared.

use bourse_engine::Engine;
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::check::{Depth, before_run, check_all};
use bourse_oltp::load::{Constraints, ExistingDatabase, Fingerprint, LoadOptions, identify, load};
use bourse_oltp::mix::{OnSession, Sequence, Transactions as _};
use bourse_oltp::verify::{DifferenceKind, Extent, SqlSubject, Subject, Verdict, lockstep};
use bourse_oltp::{Size, Workload as _};
use bourse_record::Outcome;
use bourse_schema::SQLITE;
use bourse_tatp::requests::Request;
use bourse_tatp::{Tatp, size_of};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

fn size() -> Size {
    size_of(2_000)
}

/// A database in memory, which lives as long as the engine.
fn loaded() -> (SqliteEngine, Fingerprint) {
    let engine = open("sqlite::memory:").expect("a valid target");
    let options = LoadOptions { constraints: Constraints::Full, threads: 1 };
    let mut done = Vec::new();
    let report = load(&engine, &Tatp, &Tatp, &size(), &options, &mut |progress| {
        done.push(progress.done);
        ControlFlow::Continue(())
    });
    assert!(done.is_sorted() && done.last().is_some_and(|done| *done > 0.9), "{done:?}");
    (engine, report.expect("loads").fingerprint)
}

fn failed(engine: &dyn Engine, fingerprint: &Fingerprint) -> Vec<String> {
    let checked = check_all(engine, &Tatp, fingerprint, &mut |_| {}).expect("checks");
    assert!(checked.len() > 15, "{checked:#?}");
    checked.into_iter().filter(|it| !it.passed()).map(|it| it.name).collect()
}

fn change(engine: &dyn Engine, statement: &str) {
    engine.session().expect("connects").execute_text(statement, &[]).expect("runs");
}

#[test]
fn a_loaded_database_is_recognised_and_meets_every_check() {
    let (engine, fingerprint) = loaded();
    let ExistingDatabase::Matches(found) = identify(&engine, &Tatp).unwrap() else { panic!("not recognised") };
    assert_eq!((found.fingerprint.size, found.gained), (size(), 0));
    assert_eq!(failed(&engine, &fingerprint), [""; 0]);
    let before = before_run(&engine, &Tatp, &fingerprint, Depth::Full, &mut |_| {}).unwrap();
    assert!(before.iter().all(|checked| checked.passed()), "{before:#?}");
}

#[test]
fn what_no_transaction_may_change_is_noticed() {
    let (engine, fingerprint) = loaded();
    for (statement, undo, check) in [
        (
            "UPDATE access_info SET data1 = 255 - data1 WHERE s_id = 7",
            "UPDATE access_info SET data1 = 255 - data1 WHERE s_id = 7",
            "contents of access_info",
        ),
        (
            "UPDATE subscriber SET vlr_location = -vlr_location WHERE s_id = 7",
            "UPDATE subscriber SET vlr_location = -vlr_location WHERE s_id = 7",
            "settings",
        ),
        ("DROP INDEX subscriber_by_number", "CREATE INDEX subscriber_by_number ON subscriber (sub_nbr)", "schema"),
    ] {
        change(&engine, statement);
        assert_eq!(failed(&engine, &fingerprint), [check], "{statement}");
        change(&engine, undo);
    }
    assert_eq!(failed(&engine, &fingerprint), [""; 0]);
}

#[test]
fn other_sizes_and_other_workloads_are_not_taken_for_it() {
    let (engine, fingerprint) = loaded();
    let other = Fingerprint { size: size_of(3_000), ..fingerprint };
    let existing = identify(&engine, &Tatp).unwrap().against(&Tatp, &other);
    assert_eq!(
        existing.to_string(),
        "a database of bourse made of something else: subscribers: 3000 wanted, 2000 found"
    );
    change(&engine, "ALTER TABLE bourse_database RENAME COLUMN subscribers TO customers");
    let existing = identify(&engine, &Tatp).unwrap();
    let changed = "it holds what bourse did not make: definition of table bourse_database";
    assert_eq!(existing, ExistingDatabase::Foreign(changed.to_owned()));
    for refused in [0, 999, 1_500] {
        assert!(Tatp.check_size(&size_of(refused)).is_err(), "{refused}");
    }
}

/// Transactions of one user, with the ledger of their changes and a count of each outcome.
fn perform(engine: &dyn Engine, count: usize) -> (Ledger, BTreeMap<(usize, Outcome), u32>) {
    let mut session = engine.session().expect("connects");
    let (mut ledger, mut outcomes) = (Ledger::default(), BTreeMap::new());
    for input in Tatp::emulator(&size(), 3).take(count) {
        let output = Tatp::perform(&mut *session, &input).unwrap_or_else(|error| panic!("{input:?}: {error}"));
        let judged = Tatp::judge(&input, &output);
        if let Some((at, amount)) = judged.change {
            ledger.add(Tatp::AMOUNTS[at], amount.into());
        }
        *outcomes.entry((input.kind(), judged.outcome)).or_default() += 1;
    }
    (ledger, outcomes)
}

#[test]
fn a_run_keeps_every_condition_and_its_ledger_is_that_of_the_database() {
    let (engine, fingerprint) = loaded();
    let growths = Tatp::growths();
    let mut session = engine.session().unwrap();
    let before = growths.before(&mut *session).unwrap();
    let (ledger, outcomes) = perform(&engine, 20_000);
    assert_eq!(failed(&engine, &fingerprint), [""; 0]);
    let passed = |session: &mut dyn bourse_engine::Session, ledger: &Ledger| {
        growths.compare(session, &before, ledger).unwrap().iter().all(|checked| checked.passed())
    };
    assert!(passed(&mut *session, &ledger));
    for wrong in [1, -1] {
        let mut told = ledger.clone();
        told.add("forwardings", wrong);
        assert!(!passed(&mut *session, &told), "off by {wrong}");
    }
    // Misses as the population makes them: five of eight subscribers have access data or a service of a kind.
    let share = |kind: usize, of: &[Outcome]| {
        let count = |wanted: &dyn Fn(&Outcome) -> bool| -> u32 {
            outcomes.iter().filter(|((at, outcome), _)| *at == kind && wanted(outcome)).map(|(_, count)| count).sum()
        };
        f64::from(count(&|outcome| of.contains(outcome))) / f64::from(count(&|_| true))
    };
    let completed = [Outcome::Completed];
    for (kind, about) in [(0, 1.0), (2, 0.625), (3, 0.625), (4, 1.0)] {
        let found = share(kind, &completed);
        assert!((found - about).abs() < 0.1, "{}: {found}", Tatp::NAMES[kind]);
    }
    for kind in [1, 5, 6] {
        let found = share(kind, &completed);
        assert!((0.1..0.5).contains(&found), "{}: {found}", Tatp::NAMES[kind]);
    }
    assert!(share(2, &[Outcome::Warned]) > 0.3 && share(3, &[Outcome::RolledBack]) > 0.3);
}

fn compared(engines: [&SqliteEngine; 2], transactions: u64) -> Verdict<Request> {
    let subject = |(at, engine): (usize, &SqliteEngine)| -> Box<dyn Subject<Request>> {
        Box::new(SqlSubject::new(format!("sqlite {at}"), engine.session().expect("connects"), OnSession::<Tatp>::new()))
    };
    let mut subjects: Vec<_> = engines.into_iter().enumerate().map(subject).collect();
    let extent = Extent { transactions, digest_every: 1_000, whole_tables: true };
    let mut script = Sequence::<Tatp>::new(&size(), 1);
    lockstep::verify(&mut subjects, &mut script, Tatp.tables(), &extent, &mut |_| ControlFlow::Continue(()))
        .expect("compares")
}

#[test]
fn two_databases_are_alike_after_thousands_of_transactions() {
    let (one, other) = (loaded(), loaded());
    let verdict = compared([&one.0, &other.0], 5_000);
    assert!(verdict.difference.is_none(), "{}", verdict.difference.unwrap());
    assert_eq!((verdict.transactions, verdict.digests.len()), (5_000, 4));
    assert!(verdict.missing().is_empty(), "{:?}", verdict.outcomes);
    assert!(verdict.has("Insert-Call-Forwarding", 2) && verdict.has("Get-Access-Data", 1));
}

#[test]
fn a_difference_is_named_by_table_row_and_column() {
    let (one, other) = (loaded(), loaded());
    change(&other.0, "UPDATE special_facility SET data_b = 'ZZZZZ' WHERE s_id = 7");
    let difference = compared([&one.0, &other.0], 10).difference.unwrap();
    assert!(difference.step.is_none());
    let DifferenceKind::Column { key, column, second, .. } = &difference.what else { panic!("{difference}") };
    assert_eq!((key.table.name, *column, second.as_str()), ("special_facility", "data_b", "\"ZZZZZ\""));

    // A trigger that keeps an update from being made: found when the row is read.
    let (one, other) = (loaded(), loaded());
    change(
        &other.0,
        "CREATE TRIGGER lost AFTER UPDATE OF vlr_location ON subscriber
         BEGIN UPDATE subscriber SET vlr_location = old.vlr_location WHERE s_id = old.s_id; END",
    );
    let difference = compared([&one.0, &other.0], 2_000).difference.unwrap();
    let step = difference.step.as_ref().unwrap();
    assert!(step.number > 1);
    assert!(
        matches!(&difference.what, DifferenceKind::Output(field) if field.path.starts_with("Subscriber.data["))
            || matches!(&difference.what, DifferenceKind::Column { column: "vlr_location", .. }),
        "{difference}"
    );
}

/// The size of a table must not matter to a transaction.
#[test]
fn every_statement_finds_its_rows_by_key() {
    let (engine, _) = loaded();
    let mut session = engine.session().unwrap();
    for sql in Tatp::statements() {
        let text = sql.render(&SQLITE);
        let steps = session.plan(&text).unwrap();
        assert!(
            steps.iter().all(|step| step.trim_start().starts_with("SEARCH ") && step.contains('(')),
            "{text}: {steps:?}"
        );
    }
}
