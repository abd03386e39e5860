//! Engines that break one guarantee: its test fails, and no other.

use crate::{Copy, examined, failed, inputs, without_crashes};
use bourse_acid::mixed::MixAcid;
use bourse_acid::{AcidSubject, TestConfig, run_tests};
use bourse_egen::Part;
use bourse_engine::{Durability, Engine};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::mix::Transactions as _;
use bourse_testkit::{HitStatements, Misbehaving};
use bourse_tpcc::Tpcc;
use bourse_tpce::load::{LoadOptions, load};
use bourse_tpce::testkit::{DataCopy, LoadedData};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn sqlite(copy: &Copy) -> SqliteEngine {
    open(&copy.target("journal=wal&sync=off")).expect("a target")
}

#[test]
fn a_roll_back_that_keeps_is_not_atomic() {
    let copy = Copy::new();
    let tests = examined(&Misbehaving::keeping(sqlite(&copy), HitStatements::At(1)), &without_crashes);
    assert_eq!(failed(&tests), ["A2"], "only the first roll-back keeps");
    let a2 = tests.iter().find(|test| test.id == "A2").expect("it was run");
    assert!(a2.reason.contains("trade: 1, trade_history: 1 found"), "{}", a2.reason);
}

#[test]
fn a_write_that_is_lost_leaves_half_a_transaction() {
    let copy = Copy::new();
    let engine = Misbehaving::dropping(sqlite(&copy), HitStatements::At(1)).only("INSERT INTO trade_history");
    // The trade without history stays, and breaks a condition ever after.
    assert_eq!(failed(&examined(&engine, &without_crashes)), ["A1", "C4"]);
}

#[test]
fn a_broker_who_is_not_paid_breaks_the_conditions_about_brokers() {
    let copy = Copy::new();
    let engine = Misbehaving::dropping(sqlite(&copy), HitStatements::At(1)).only("UPDATE broker");
    assert_eq!(failed(&examined(&engine, &|id| id.starts_with(['C', 'I']))), ["C1", "C2"]);
}

#[test]
fn a_summary_that_is_not_kept_breaks_the_condition_about_holdings() {
    let copy = Copy::new();
    let engine = Misbehaving::dropping(sqlite(&copy), HitStatements::At(1)).only("UPDATE holding_summary");
    assert_eq!(failed(&examined(&engine, &|id| id.starts_with(['C', 'I']))), ["C3"]);
}

#[test]
fn reading_what_is_not_committed_is_a_dirty_read() {
    let copy = Copy::new();
    let engine = open(&copy.target("journal=delete&shared_cache=on&read_uncommitted=on")).expect("a target");
    let tests = examined(&engine, &without_crashes);
    assert_eq!(failed(&tests), ["I4"]);
    let i4 = tests.iter().find(|test| test.id == "I4").expect("it was run");
    assert!(i4.reason.contains("CA_BAL seen before the first ended"), "{}", i4.reason);
}

/// A workload whose transactions on plain collections judge: an engine that loses a write, and one that shows what is not
/// committed.
#[test]
fn tests_from_data_fail_where_an_engine_breaks_a_guarantee() {
    let failures = |options: &str, lost: Option<&'static str>, chosen: &[&str]| {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let engine = open(&format!("sqlite:{}/x.db?{options}", folder.path().display())).expect("a target");
        let (size, options) = (Tpcc::smallest(), bourse_oltp::load::LoadOptions::default());
        bourse_oltp::load::load(&engine, &Tpcc, &Tpcc, &size, &options, &mut |_| ControlFlow::Continue(()))
            .expect("loads");
        let engine: Box<dyn Engine> = match lost {
            Some(statement) => Box::new(Misbehaving::dropping(engine, HitStatements::At(1)).only(statement)),
            None => Box::new(engine),
        };
        let tests = MixAcid::<Tpcc>::new(size).expect("it has tests");
        let config = TestConfig { repeats: 2, patience: Duration::from_millis(300), ..TestConfig::DEFAULT };
        let (class, interrupted) = (Durability::Process, AtomicBool::new(false));
        let tests = run_tests(
            &AcidSubject {
                engine: engine.as_ref(),
                workload: &tests,
                class,
                may_lose: None,
                class_reason: "",
                site: None,
                config,
                interrupted: &interrupted,
            },
            &|id| chosen.iter().any(|begin| id.starts_with(begin)),
            &mut |_| (),
        );
        failed(&tests.expect("can be examined")).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let log = "journal=wal&sync=off";
    assert_eq!(failures(log, None, &["A", "C", "I"]), [""; 0]);
    assert_eq!(failures(log, Some("UPDATE warehouse"), &["A"]), ["A1"]);
    assert_eq!(failures(log, Some("UPDATE district SET d_ytd"), &["I"]), ["I1"]);
    assert_eq!(failures(log, Some("INSERT INTO order_line"), &["C"]), ["C4", "C6", "C13"]);
    let dirty = "journal=delete&shared_cache=on&read_uncommitted=on";
    assert_eq!(failures(dirty, None, &["I5", "I6", "I9"]), ["I5", "I6"]);
}

fn mariadb(test: &str) -> Option<bourse_engine_mysql::MysqlEngine> {
    use bourse_engine_mysql::{Flavour, installed, open};
    if let Err(why) = installed(Flavour::Mariadb, None) {
        bourse_testkit::skipped(test, why);
        return None;
    }
    let target = format!("mariadb+private:?{}innodb_buffer_pool=64MiB&log_file=64MiB", memory());
    let (server, part) = (open(&target).expect("a target"), Part::whole(1_000, 1).expect("a valid part"));
    load(&server, inputs(), part, &LoadOptions::default(), &mut |_| ControlFlow::Continue(())).expect("loads");
    Some(server)
}

fn postgres(test: &str) -> Option<(DataCopy, bourse_engine_postgres::PostgresEngine)> {
    use bourse_engine_postgres::{Launch, installed, open};
    static LOADED: LoadedData = LoadedData::new();
    if let Err(why) = installed(None) {
        bourse_testkit::skipped(test, why);
        return None;
    }
    let (copy, engine) = LOADED.begin(&|data| {
        let engine = open(&format!("postgres+private:?{}shared_buffers=64MiB", memory())).expect("a target");
        engine.set_launch(Launch { data: Some(data.to_owned()), ..Launch::default() });
        engine
    });
    // A server that has not been started has no database.
    drop(engine.session().expect("it starts"));
    Some((copy, engine))
}

fn memory() -> &'static str {
    if std::path::Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" }
}

/// Weakened isolation on a server with row locks and row versions: exactly the tests fail that need more.
#[test]
fn a_server_fails_where_its_transactions_are_weakened() {
    let Some(server) = mariadb("a_server_fails_where_its_transactions_are_weakened") else { return };
    let weak = Misbehaving::weakening(server, HitStatements::Every(1));
    // With weakened isolation, concurrent work breaks conditions or fails by chance; only arranged meetings are reproducible.
    assert_eq!(failed(&examined(&weak, &|id| id.starts_with(['A', 'I']))), ["I1", "I2"]);
}

/// Conflicts reported at the commit instead of lock waits: the same tests fail.
#[test]
fn postgres_fails_where_its_transactions_are_weakened() {
    let Some((_copy, server)) = postgres("postgres_fails_where_its_transactions_are_weakened") else { return };
    let chosen = |id: &str| id.starts_with(['A', 'I']);
    assert_eq!(failed(&examined(&server, &chosen)), [""; 0], "as they ask to be");
    assert_eq!(failed(&examined(&Misbehaving::weakening(server, HitStatements::Every(1)), &chosen)), ["I1", "I2"]);
}

/// Writes that never reach the server, and a rollback that becomes a commit.
#[test]
fn postgres_fails_where_it_loses_a_write_or_keeps_too_much() {
    let Some((_copy, server)) = postgres("postgres_fails_where_it_loses_a_write_or_keeps_too_much") else { return };
    let keeps = Misbehaving::keeping(server, HitStatements::At(1));
    assert_eq!(failed(&examined(&keeps, &|id| id.starts_with('A'))), ["A2"], "only the first roll-back keeps");
    // The order that stays is complete, which breaks no condition.
    let unpaid = Misbehaving::dropping(keeps, HitStatements::At(1)).only("UPDATE broker");
    assert_eq!(failed(&examined(&unpaid, &|id| id.starts_with('C'))), ["C1", "C2"]);
    // The trade without history stays, and breaks a condition ever after, as the broker does.
    let halved = Misbehaving::dropping(unpaid, HitStatements::At(1)).only("INSERT INTO trade_history");
    assert_eq!(failed(&examined(&halved, &|id| id.starts_with(['A', 'C']))), ["A1", "C1", "C2", "C4"]);
}
