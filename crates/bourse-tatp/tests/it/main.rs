//! TATP by the harness on SQLite: loaded, checked, performed, reconciled, compared.

use bourse_engine::Engine;
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::check::{Depth, before_run, check_all};
use bourse_oltp::load::{Constraints, ExistingDatabase, Fingerprint, LoadOptions, identify, load};
use bourse_oltp::mix::{Reference, Sequence, Transactions as _};
use bourse_oltp::verify::{Extent, Sampled as _, lockstep};
use bourse_oltp::{Size, Workload as _};
use bourse_schema::SQLITE;
use bourse_tatp::{Tatp, size_of};
use std::ops::ControlFlow;

fn size() -> Size {
    size_of(2_000)
}

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
    assert_eq!((&found.fingerprint.size, found.used()), (&size(), None));
    assert_eq!(failed(&engine, &fingerprint), [""; 0]);
    let before = before_run(&engine, &Tatp, &fingerprint, Depth::Full, &mut |_| {}).unwrap();
    assert!(before.iter().all(|checked| checked.passed()), "{before:#?}");
    let other = Fingerprint { size: size_of(3_000), ..fingerprint };
    let existing = identify(&engine, &Tatp).unwrap().against(&Tatp, &other);
    assert_eq!(
        existing.to_string(),
        "a database of bourse made of something else: subscribers: 3000 wanted, 2000 found"
    );
    assert!([0, 999, 1_500].iter().all(|refused| Tatp.check_size(&size_of(*refused)).is_err()));
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
fn thousands_of_transactions_do_what_the_reference_does() {
    let (engine, fingerprint) = loaded();
    let extent = Extent { transactions: 20_000, digest_every: 1_000, whole_tables: true };
    let session = engine.session().unwrap();
    let mut subjects = [Tatp.subject("sqlite", session), Box::new(Reference::load(&Tatp, &size()))];
    let (mut script, progress) = (Sequence::<Tatp>::new(&size(), 1), &mut |_| ControlFlow::Continue(()));
    let verdict = lockstep::verify(&mut subjects, &mut script, Tatp.tables(), &extent, progress).unwrap();
    assert!(verdict.difference.is_none(), "{}", verdict.difference.unwrap());
    assert_eq!((verdict.transactions, verdict.digests.len()), (20_000, 4));
    assert_eq!(failed(&engine, &fingerprint), [""; 0]);
    // Misses as the population makes them: five of eight subscribers have access data or a service of a kind.
    let used = identify(&engine, &Tatp).unwrap().to_string();
    assert!(used.starts_with("used by earlier runs: ") && used.ends_with(" subscribers' locations changed"), "{used}");
    let count = |kind: usize, is_of: &dyn Fn(i32) -> bool| -> u64 {
        verdict.outcomes.iter().filter(|((at, code), _)| *at == kind && is_of(*code)).map(|(_, count)| count).sum()
    };
    let completed = |kind: usize| count(kind, &|code| code == 0) as f64 / count(kind, &|_| true) as f64;
    for (kind, about) in [(0, 1.0), (2, 0.625), (3, 0.625), (4, 1.0)] {
        assert!((completed(kind) - about).abs() < 0.1, "{}: {}", Tatp::NAMES[kind], completed(kind));
    }
    for kind in [1, 5, 6] {
        assert!((0.1..0.5).contains(&completed(kind)), "{}: {}", Tatp::NAMES[kind], completed(kind));
    }
}

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
