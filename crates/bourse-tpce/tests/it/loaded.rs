//! A database loaded from the generator: one load unit, one day.

use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, ErrorKind};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::check::{before_run, schema};
use bourse_oltp::load::examine;
use bourse_tpce::check::{Depth, check, first_trade};
use bourse_tpce::load::{
    Constraints, ExistingDatabase, Fingerprint, LoadError, LoadOptions, LoadPhase, fingerprint, identify, load, part_of,
};
use bourse_tpce::workload::Tpce;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The inputs all tests use.
pub(crate) fn inputs() -> &'static Inputs {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    INPUTS.get_or_init(Inputs::builtin)
}

/// The part all tests use.
pub(crate) fn part() -> Part {
    Part::whole(1_000, 1).expect("a valid part")
}

/// Path of a test's file in cargo's folder for temporary files of tests.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The engine of a database file.
pub(crate) fn engine(name: &str) -> SqliteEngine {
    open(&format!("sqlite:{}?sync=off", path(name).display())).expect("a valid target")
}

/// A freshly loaded database, which no test may change.
pub(crate) fn fresh() -> SqliteEngine {
    static LOADED: OnceLock<()> = OnceLock::new();
    LOADED.get_or_init(|| {
        remove("fresh.db");
        let engine = engine("fresh.db");
        let report = load(&engine, inputs(), part(), &LoadOptions::default(), &mut |_| ControlFlow::Continue(()));
        assert_eq!(report.expect("loads").rows.len(), 33);
    });
    engine("fresh.db")
}

/// A copy of it to change, removed at the end.
pub(crate) struct Copy {
    pub(crate) engine: SqliteEngine,
    name: &'static str,
}

impl Copy {
    pub(crate) fn new(name: &'static str) -> Self {
        remove(name);
        fresh();
        std::fs::copy(path("fresh.db"), path(name)).expect("copies");
        let engine = engine(name);
        engine.location().database_files().expect("a file").mark().expect("it can be marked");
        Self { engine, name }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        remove(self.name);
    }
}

fn remove(name: &str) {
    for suffix in ["", "-wal", "-shm", "-journal", ".bourse-mark"] {
        let _ = std::fs::remove_file(path(&format!("{name}{suffix}")));
    }
}

fn wanted(engine: &dyn Engine) -> Fingerprint {
    fingerprint(engine, inputs(), part(), Constraints::Full).unwrap()
}

#[test]
fn a_fresh_database_passes_every_check() {
    let engine = fresh();
    let mut session = engine.session().expect("connects");
    let mut told = 0;
    let results = check(&mut *session, part(), &mut |_| told += 1).expect("checks");
    let failed: Vec<_> = results.iter().filter(|checked| !checked.passed()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(told, results.len());
    assert_eq!(results.len(), bourse_tpce::check::conditions::CONDITIONS.len() + 33 + 49);
}

/// Each change here passes every condition, row count and foreign key.
#[test]
fn rows_lost_or_altered_after_loading_are_noticed() {
    const DAMAGE: &[(&str, &str, &str)] = &[
        (
            "DELETE FROM watch_item WHERE wi_wl_id = (SELECT max(wi_wl_id) FROM watch_item)
                AND wi_s_symb = (SELECT max(wi_s_symb) FROM watch_item
                                  WHERE wi_wl_id = (SELECT max(wi_wl_id) FROM watch_item))",
            "contents of watch_item",
            "rows were generated",
        ),
        (
            "UPDATE daily_market SET dm_close = dm_close + 1
              WHERE dm_date = (SELECT max(dm_date) FROM daily_market)
                AND dm_s_symb IN (SELECT s_symb FROM security ORDER BY s_symb LIMIT 3)",
            "contents of daily_market",
            "rows some are not",
        ),
        (
            "UPDATE customer_account SET ca_bal = ca_bal + 1 WHERE ca_id = (SELECT min(ca_id) FROM customer_account)",
            "contents of customer_account",
            "rows some are not",
        ),
        (
            "UPDATE trade_history SET th_dts = th_dts - 1 WHERE th_st_id = 'SBMT' AND th_t_id = 200000000000001",
            "contents of trade_history",
            "rows some are not",
        ),
    ];
    let copy = Copy::new("altered.db");
    let fingerprint = wanted(&copy.engine);
    let failed = || {
        let results = before_run(&copy.engine, &Tpce, &fingerprint, Depth::Full, &mut |_| {}).expect("checks");
        results.into_iter().filter(|checked| !checked.passed()).collect::<Vec<_>>()
    };
    assert_eq!(failed(), []);
    for (at, (damage, name, words)) in DAMAGE.iter().enumerate() {
        let mut session = copy.engine.session().expect("connects");
        assert!(session.execute_text(damage, &[]).expect("runs") > 0, "{damage}");
        drop(session);
        let found = failed();
        let noticed = found.iter().find(|checked| checked.name == *name).expect("it is noticed");
        assert!(noticed.evidence[0].contains(words), "{noticed:#?}");
        assert_eq!(found.len(), at + 1, "{found:#?}");
    }
    // The quick check leaves out tables that grow by trades.
    let quick = before_run(&copy.engine, &Tpce, &fingerprint, Depth::Quick, &mut |_| {}).expect("checks");
    let failed = quick.iter().filter(|checked| !checked.passed()).count();
    assert_eq!(failed, 3, "{quick:#?}");
}

#[test]
fn a_database_without_digests_is_not_compared() {
    let copy = Copy::new("no-digests.db");
    let mut session = copy.engine.session().expect("connects");
    session.query_text("DROP TABLE bourse_digest", &[], &mut |_| Ok(())).expect("runs");
    drop(session);
    let results = before_run(&copy.engine, &Tpce, &wanted(&copy.engine), Depth::Full, &mut |_| {}).expect("checks");
    let left_out: Vec<_> = results.iter().filter(|checked| checked.not_run.is_some()).collect();
    assert!(left_out.len() == 1 && left_out[0].name == "contents", "{left_out:#?}");
}

#[test]
fn a_changed_schema_is_noticed() {
    let copy = Copy::new("other-schema.db");
    let mut session = copy.engine.session().expect("connects");
    let found = |session: &mut dyn bourse_engine::Session| {
        let found =
            schema::differences(session, &Tpce, Constraints::Full).expect("runs").expect("the catalog is known");
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found(&mut *session), [""; 0]);
    for change in ["DROP INDEX holding_by_account", "CREATE INDEX extra ON trade (t_exec_name)", "ANALYZE sector"] {
        session.query_text(change, &[], &mut |_| Ok(())).expect("runs");
    }
    let changes = found(&mut *session);
    assert_eq!(
        changes[..2],
        ["index holding_by_account of holding is missing", "index extra of trade is not declared"].map(str::to_owned)
    );
    // Statistics change plans.
    assert!(changes[2..].iter().any(|it| it == "table sqlite_stat1 is not declared"), "{changes:?}");
}

#[test]
fn a_database_is_known_again() {
    let engine = fresh();
    let ExistingDatabase::Matches(found) = examine(&engine, &Tpce, &wanted(&engine)).expect("examines") else {
        panic!("not recognised");
    };
    assert_eq!(found.gained, 0);
    // 57,600 trades and every 101st aborted.
    assert_eq!(first_trade(part_of(&found.fingerprint)).0, 200_000_000_058_177);

    let other = Part::whole(2_000, 1).expect("a valid part");
    let other = fingerprint(&engine, inputs(), other, Constraints::Full).unwrap();
    let ExistingDatabase::Differs { differences, .. } = examine(&engine, &Tpce, &other).expect("examines") else {
        panic!("taken for another");
    };
    assert_eq!(differences, ["customers: 2000 wanted, 1000 found", "customers in all: 2000 wanted, 1000 found"]);
}

#[test]
fn what_is_not_a_database_of_ours_is_not_taken_for_one() {
    let absent = engine("absent.db");
    remove("absent.db");
    assert_eq!(identify(&absent).expect("examines"), ExistingDatabase::Absent);

    let engine = engine("foreign.db");
    remove("foreign.db");
    let mut session = engine.session().expect("connects");
    session.query_text("CREATE TABLE trade (t_id INTEGER)", &[], &mut |_| Ok(())).expect("runs");
    let ExistingDatabase::Foreign(why) = identify(&engine).expect("examines") else { panic!("taken for ours") };
    assert_eq!(why, "it holds what bourse did not make: table trade");
}

/// A person's table in a database of Bourse was deleted by the next load.
#[test]
fn what_a_person_adds_is_told_and_not_replaced() {
    for (sql, name) in [
        ("CREATE TABLE notes (t TEXT)", "table notes"),
        ("CREATE VIEW brokers AS SELECT b_name FROM broker", "view brokers"),
        ("CREATE TRIGGER told AFTER INSERT ON broker BEGIN SELECT 1; END", "trigger told"),
    ] {
        let copy = Copy::new("mixed.db");
        copy.engine.session().expect("connects").execute_text(sql, &[]).expect("runs");
        let existing = identify(&copy.engine).expect("examines");
        let ExistingDatabase::Foreign(others) = &existing else { panic!("{existing}") };
        assert_eq!(*others, format!("it holds what bourse did not make: {name}"));
        let refused = copy.engine.loader().map(drop).expect_err("it would be replaced");
        assert_eq!((refused.kind(), refused.message()), (ErrorKind::Refused, others.as_str()));
    }
}

#[test]
fn a_load_whose_last_row_is_missing_is_unfinished() {
    let copy = Copy::new("unfinished.db");
    let mut session = copy.engine.session().expect("connects");
    session.query_text("DELETE FROM bourse_database", &[], &mut |_| Ok(())).expect("runs");
    drop(session);
    assert_eq!(examine(&copy.engine, &Tpce, &wanted(&copy.engine)).expect("examines"), ExistingDatabase::Unfinished);
}

#[test]
fn a_load_that_is_stopped_leaves_nothing() {
    remove("stopped.db");
    let engine = engine("stopped.db");
    let mut rows = 0;
    let stop = &mut |progress: bourse_tpce::load::LoadProgress| {
        rows = progress.rows;
        if progress.phase == LoadPhase::Rows && rows > 20_000 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let stopped = load(&engine, inputs(), part(), &LoadOptions::default(), stop);
    assert!(matches!(stopped, Err(LoadError::Stopped)), "{stopped:?}");
    assert!(rows > 20_000);
    assert_eq!(identify(&engine).expect("examines"), ExistingDatabase::Absent);
}
