//! TATP by the harness on SQLite: loaded, checked, performed, reconciled, compared.

use bourse_driver::RealClock;
use bourse_engine::{Engine, EngineError, ErrorKind};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::check::{Depth, before_run, check_all};
use bourse_oltp::load::{Constraints, ExistingDatabase, Fingerprint, LoadOptions, identify, load};
use bourse_oltp::mix::{Reference, Sequence, Transactions as _};
use bourse_oltp::verify::{Extent, ReferenceTables, Sampled as _, lockstep};
use bourse_oltp::{Size, Workload as _};
use bourse_record::CheckStatus;
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
    let checked = check_all(engine, &Tatp, fingerprint, Depth::Full, &mut |_| {}).expect("checks");
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

/// All checks were made before an interruption was heard.
#[test]
fn an_interruption_ends_the_checks_between_two() {
    const INTERRUPTED: &str = "BOURSE_TEST_INTERRUPTED";
    if std::env::var_os(INTERRUPTED).is_none() {
        // An interruption is the whole process's.
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", "an_interruption_ends_the_checks_between_two"]).env(INTERRUPTED, "1");
        assert!(test.status().unwrap().success());
        return;
    }
    let (engine, fingerprint) = loaded();
    let mut made = 0;
    let mut interrupt_after_two = |_: &bourse_oltp::check::CheckResult| {
        made += 1;
        if made == 2 {
            bourse_engine::server_wait::interrupt();
        }
    };
    let ended = before_run(&engine, &Tatp, &fingerprint, Depth::Full, &mut interrupt_after_two).unwrap_err();
    assert_eq!((ended.kind(), made), (ErrorKind::Interrupted, 2));
    // Those of a run that was interrupted before are made, for what was measured to count.
    assert_eq!(failed(&engine, &fingerprint), [""; 0]);
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

/// Rows of another service, with as many in all, once passed the checks after a run, and so did an index that was dropped during it.
#[test]
fn what_others_change_during_a_run_is_noticed_after_it() {
    let (engine, _) = loaded();
    let failed = || {
        let checked =
            <Tatp as bourse_oltp::sut::SharedWorkload>::check(&engine, &size(), None, &RealClock::start(), &mut |_| {});
        let failed = checked?.into_iter().filter(|it| it.status == CheckStatus::Failed);
        Ok::<_, EngineError>(failed.map(|it| it.name).collect::<Vec<_>>())
    };
    assert_eq!(failed().unwrap(), [""; 0]);
    for (statement, undo, checks) in [
        (
            "UPDATE special_facility SET error_cntrl = 255 - error_cntrl WHERE s_id = 7",
            "UPDATE special_facility SET error_cntrl = 255 - error_cntrl WHERE s_id = 7",
            &["contents of special_facility"][..],
        ),
        (
            "UPDATE subscriber SET sub_nbr = 'x' WHERE s_id = 7",
            "UPDATE subscriber SET sub_nbr = '000000000000007' WHERE s_id = 7",
            &["contents of subscriber"],
        ),
        ("DROP INDEX subscriber_by_number", "CREATE INDEX subscriber_by_number ON subscriber (sub_nbr)", &["schema"]),
        ("DELETE FROM access_info WHERE s_id = 7", "", &["access data of subscribers", "contents of access_info"]),
        ("DROP TABLE call_forwarding", "", &["schema"]),
    ] {
        change(&engine, statement);
        assert_eq!(failed().unwrap()[..checks.len()], *checks, "{statement}");
        if !undo.is_empty() {
            change(&engine, undo);
        }
    }
    change(&engine, "DELETE FROM bourse_database");
    let unknown = failed().unwrap_err();
    assert_eq!(unknown.message(), "the database no longer says that it has 2000 subscribers");
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
    let used = identify(&engine, &Tatp).unwrap().to_string();
    assert!(used.starts_with("used by earlier runs: ") && used.ends_with(" subscribers' locations changed"), "{used}");
}

/// A constraint other than the row's key is no designed miss.
#[test]
fn a_row_refused_by_another_constraint_than_its_key_is_an_error() {
    let (engine, _) = loaded();
    let inserts =
        || Tatp::emulator(&size(), 1, 0).filter(|input| Tatp::NAMES[Tatp::kind(input)].starts_with("Insert-"));
    let performed = |input| Tatp::perform(&mut *engine.session().unwrap(), &input);
    let exists = |input: &_, output: &_| Tatp::judge(input, output).code == 2;
    assert!(inserts().take(200).any(|input| exists(&input, &performed(input.clone()).expect("a miss at most"))));
    change(
        &engine,
        "CREATE TRIGGER refuse BEFORE INSERT ON call_forwarding BEGIN SELECT RAISE(ABORT, 'not today'); END",
    );
    let refused = inserts().take(200).find_map(|input| performed(input).err()).expect("one that finds its service");
    assert_eq!((refused.kind(), refused.message()), (ErrorKind::Constraint, "not today"));
}

/// Shares of hits in percent that follow from the population and the inputs, as docs/tatp.md has them.
fn hits() -> [f64; 7] {
    // One to four of four kinds, and none to three of three hours, each number equally likely.
    let (of_kind, of_hour) = (2.5 / 4.0, 1.5 / 3.0);
    let (mut forwarded, mut all) = (0.0, 0.0);
    let hours = [0, 8, 16];
    for (from, until) in hours.iter().flat_map(|from| (1..=24).map(move |until| (*from, until))) {
        for chosen in 0..8_u32 {
            // The sets of as many hours are equally likely.
            let weight = if matches!(chosen.count_ones(), 1 | 2) { 1.0 / 3.0 } else { 1.0 };
            let is_chosen = |at: &usize| chosen >> at & 1 == 1 && hours[*at] <= from;
            // The last hour is one to eight hours after the first.
            let ends_before = |at: usize| (1..=8).filter(|lasts| hours[at] + lasts <= until).count() as f64 / 8.0;
            let missed: f64 = (0..3).filter(is_chosen).map(ends_before).product();
            forwarded += weight * (1.0 - missed);
            all += weight;
        }
    }
    let new_destination = of_kind * 0.85 * forwarded / all;
    let inserted = of_kind * (1.0 - of_hour);
    [1.0, new_destination, of_kind, of_kind, 1.0, inserted, of_kind * of_hour].map(|share| 100.0 * share)
}

#[test]
fn as_many_transactions_hit_as_follow_from_population_and_inputs() {
    let page = include_str!("../../../../docs/tatp.md");
    let mut reference = ReferenceTables::load(&Tatp, &size_of(50_000));
    let mut counts = [[0.0_f64; 2]; 7];
    for input in Tatp::emulator(&size_of(50_000), 3, 0).take(100_000) {
        let (code, _) = Tatp::expected(&mut reference, &input);
        let [hits, all] = &mut counts[Tatp::kind(&input)];
        (*hits, *all) = (*hits + f64::from(u8::from(code == 0)), *all + 1.0);
    }
    for ((name, expected), [hit, all]) in Tatp::NAMES.iter().zip(hits()).zip(counts) {
        let share = 100.0 * hit / all;
        // Five standard deviations of so many draws of rows that are drawn unevenly.
        let most = 5.0 * (expected * (100.0 - expected) / all).sqrt();
        assert!((share - expected).abs() <= most, "{name}: {share} %, {expected} % expected");
        let row = page.lines().find(|line| line.starts_with(&format!("| {name} "))).expect("a row");
        assert!(row.contains(&format!("| {expected:.1} % |")), "{row}: {expected}");
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
