//! A database loaded from the generator: one load unit, one day.

use bourse_egen::{Inputs, Part};
use bourse_engine::Engine;
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_tpce::check::check;
use bourse_tpce::load::{Constraints, Existing, Fingerprint, LoadError, LoadOptions, Phase, examine, identify, load};
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

/// A file of tests, in a folder that cargo keeps for them.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The engine of a database file.
pub(crate) fn engine(name: &str) -> SqliteEngine {
    open(&format!("sqlite:{}", path(name).display())).expect("a valid target")
}

/// A freshly loaded database, which no test may change.
pub(crate) fn fresh() -> SqliteEngine {
    static LOADED: OnceLock<()> = OnceLock::new();
    LOADED.get_or_init(|| {
        let engine = engine("fresh.db");
        let report = load(&engine, inputs(), part(), &LoadOptions::default(), &mut |_| ControlFlow::Continue(()));
        assert_eq!(report.expect("loads").rows.len(), 33);
    });
    engine("fresh.db")
}

/// A copy of it to change, removed in the end.
pub(crate) struct Copy {
    pub(crate) engine: SqliteEngine,
    name: &'static str,
}

impl Copy {
    pub(crate) fn new(name: &'static str) -> Self {
        remove(name);
        fresh();
        std::fs::copy(path("fresh.db"), path(name)).expect("copies");
        Self { engine: engine(name), name }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        remove(self.name);
    }
}

fn remove(name: &str) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(path(&format!("{name}{suffix}")));
    }
}

fn wanted(engine: &dyn Engine) -> Fingerprint {
    Fingerprint::of(engine, inputs(), part(), Constraints::Full)
}

#[test]
fn a_fresh_database_passes_every_check() {
    let engine = fresh();
    let mut session = engine.connect().expect("connects");
    let mut told = 0;
    let results = check(&mut *session, part(), &mut |_| told += 1).expect("checks");
    let failed: Vec<_> = results.iter().filter(|checked| !checked.passed()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(told, results.len());
    assert_eq!(results.len(), bourse_tpce::check::conditions::CONDITIONS.len() + 33 + 49);
}

#[test]
fn a_database_is_known_again() {
    let engine = fresh();
    let Existing::Matches(found) = examine(&engine, &wanted(&engine)).expect("examines") else {
        panic!("not recognised");
    };
    assert_eq!(found.trades, 57_600);
    assert_eq!(found.gained(), 0);
    // 57,600 trades and every 101st aborted.
    assert_eq!(found.first_free_trade().0, 200_000_000_058_177);

    let other = Part::whole(2_000, 1).expect("a valid part");
    let other = Fingerprint::of(&engine, inputs(), other, Constraints::Full);
    let Existing::Differs { differences, .. } = examine(&engine, &other).expect("examines") else {
        panic!("taken for another");
    };
    assert_eq!(differences, ["customers: 2000 wanted, 1000 found", "customers in all: 2000 wanted, 1000 found"]);
}

#[test]
fn what_is_not_a_database_of_ours_is_not_taken_for_one() {
    let absent = engine("absent.db");
    remove("absent.db");
    assert_eq!(identify(&absent).expect("examines"), Existing::Absent);

    let engine = engine("foreign.db");
    remove("foreign.db");
    let mut session = engine.connect().expect("connects");
    session.query_text("CREATE TABLE trade (t_id INTEGER)", &[], &mut |_| Ok(())).expect("runs");
    let Existing::Foreign(why) = identify(&engine).expect("examines") else { panic!("taken for ours") };
    assert_eq!(why, "no such table: bourse_database");
}

#[test]
fn a_load_whose_last_row_is_missing_is_unfinished() {
    let copy = Copy::new("unfinished.db");
    let mut session = copy.engine.connect().expect("connects");
    session.query_text("DELETE FROM bourse_database", &[], &mut |_| Ok(())).expect("runs");
    drop(session);
    assert_eq!(examine(&copy.engine, &wanted(&copy.engine)).expect("examines"), Existing::Unfinished);
}

#[test]
fn a_load_that_is_stopped_leaves_nothing() {
    remove("stopped.db");
    let engine = engine("stopped.db");
    let mut rows = 0;
    let stop = &mut |progress: bourse_tpce::load::Progress| {
        rows = progress.rows;
        if progress.phase == Phase::Rows && rows > 20_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let stopped = load(&engine, inputs(), part(), &LoadOptions::default(), stop);
    assert!(matches!(stopped, Err(LoadError::Stopped)), "{stopped:?}");
    assert!(rows > 20_000);
    assert_eq!(identify(&engine).expect("examines"), Existing::Absent);
}
