//! The seam's contract as tests that run against any SQL engine.
//!
//! [`CHECKS`] is the list; each check makes the database it needs through the engine's loader, so they run in any order.
//! Sessions of one thread get in each other's way on purpose: give the engine a patience well below a second.

mod errors;
mod isolation;
mod loading;
mod routines;
mod rows;
mod statements;
mod threads;

use bourse_engine::{
    Dialect, Engine, ErrorKind, Params, Result, RowExt as _, Session, SessionExt as _, Setting, Sql, Value,
};
use bourse_schema::tables::{Charge, TradeType};
use bourse_schema::{Amount, Rows, TableRow as _, Text, create_table};
pub use routines::routines_conformance;
use std::time::{Duration, Instant};

/// Guarantee of the seam with its test.
pub struct ConformanceCheck {
    /// Guarantee, as a sentence.
    pub name: &'static str,
    /// Test of the guarantee; panics if it is broken.
    pub run: fn(&dyn Engine),
}

/// All guarantees of the seam, each with its test.
pub static CHECKS: &[ConformanceCheck] = &[
    ConformanceCheck { name: "rows of all tables come back as they were loaded", run: rows::loaded_rows_come_back },
    ConformanceCheck { name: "rows of all tables come back as they were inserted", run: rows::inserted_rows_come_back },
    ConformanceCheck { name: "absent and empty are different", run: rows::absent_is_not_empty },
    ConformanceCheck { name: "execute counts the rows it changed", run: statements::changes_are_counted },
    ConformanceCheck { name: "a callback's error ends the query", run: statements::a_callback_can_stop },
    ConformanceCheck {
        name: "columns have the names that the statement gives them",
        run: statements::columns_have_names,
    },
    ConformanceCheck { name: "parameters stand in one list or in two", run: statements::parameters_in_two_lists },
    ConformanceCheck {
        name: "a change of one row changes one row, or nothing is committed",
        run: statements::changes_of_one_row,
    },
    ConformanceCheck {
        name: "a statement is run for each set of parameters",
        run: statements::runs_for_each_set_of_parameters,
    },
    ConformanceCheck { name: "a plan is shown or refused", run: statements::plans },
    ConformanceCheck { name: "the engine describes itself", run: statements::description },
    ConformanceCheck { name: "settings are no measurements", run: statements::settings_last },
    ConformanceCheck { name: "no statement has a hole that only this engine fills", run: statements::holes },
    ConformanceCheck { name: "a rollback undoes", run: isolation::rollback_undoes },
    ConformanceCheck { name: "a commit lasts", run: isolation::commit_lasts },
    ConformanceCheck { name: "a rollback outside a transaction is fine", run: isolation::rollback_outside },
    ConformanceCheck { name: "a dropped session undoes its transaction", run: isolation::dropped_session },
    ConformanceCheck { name: "no dirty reads", run: isolation::no_dirty_reads },
    ConformanceCheck { name: "reads repeat", run: isolation::reads_repeat },
    ConformanceCheck { name: "writers are serializable as promised", run: isolation::no_write_skew },
    ConformanceCheck { name: "writers in each other's way conflict", run: errors::conflicts },
    ConformanceCheck { name: "constraints are told from other errors", run: errors::constraints },
    ConformanceCheck { name: "foreign keys and checks hold as promised", run: errors::declared_constraints },
    ConformanceCheck { name: "a statement survives its error", run: errors::statements_survive },
    ConformanceCheck { name: "nonsense is an error that names the statement", run: errors::nonsense },
    ConformanceCheck { name: "an unfinished load is not seen", run: loading::unfinished_load },
    ConformanceCheck { name: "a load replaces what was there", run: loading::replaced },
    ConformanceCheck { name: "a load replaces nothing that others made", run: loading::others_are_kept },
    ConformanceCheck { name: "a loader can look at what it loaded", run: loading::loader_queries },
    ConformanceCheck { name: "a loader reports what is wrong with a row", run: loading::bad_rows },
    ConformanceCheck { name: "no update is lost between threads", run: threads::no_lost_update },
    ConformanceCheck { name: "readers and writers both get on", run: threads::nobody_starves },
];

/// Runs every check.
///
/// # Panics
/// With the guarantee that is broken and what was found instead.
pub fn conformance(engine: &dyn Engine) {
    for check in CHECKS {
        promise(check.name, || (check.run)(engine));
    }
}

/// Runs a check of a promise, whose name is put in front of the words of its panic.
pub(crate) fn promise(name: &str, check: impl FnOnce()) {
    if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)) {
        let words = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("a panic without words");
        panic!("the engine breaks a promise: {name}\n{words}");
    }
}

/// Checks that each setting of the engine's description has a name of its own, and the same value after some work.
pub(crate) fn settings_last(engine: &dyn Engine, work: impl FnOnce()) {
    let settings = || engine.description().expect("a description").settings;
    let before = settings();
    work();
    let after = settings();
    for (at, was) in before.iter().enumerate() {
        assert!(before[..at].iter().all(|other| other.name != was.name), "two settings have the name {}", was.name);
        assert!(after.iter().any(|is| is.name == was.name), "{was:?} is gone after some work: {after:?}");
    }
    assert_eq!(Setting::first_changed(&before, &after), None, "before some work, and after it");
}

/// Value of the first attempt that meets no conflict, within a minute; `undo` follows each of the others.
pub(crate) fn without_conflict<S: ?Sized, T>(
    session: &mut S,
    mut attempt: impl FnMut(&mut S) -> Result<T>,
    undo: impl Fn(&mut S) -> Result<()>,
) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match attempt(session) {
            Ok(value) => return value,
            Err(e) if e.kind() == ErrorKind::Conflict && Instant::now() < deadline => undo(session).unwrap(),
            Err(e) => panic!("{e}"),
        }
    }
}

// --- What the checks share: two small tables, one referring to the other, and statements on them. ---

static READ_CHARGE: Sql = Sql::new("SELECT ch_chrg FROM charge WHERE ch_tt_id = ?1 AND ch_c_tier = ?2");
static SET_CHARGE: Sql = Sql::new("UPDATE charge SET ch_chrg = ?3 WHERE ch_tt_id = ?1 AND ch_c_tier = ?2");
static ADD_CHARGE: Sql = Sql::new("INSERT INTO charge (ch_tt_id, ch_c_tier, ch_chrg) VALUES (?1, ?2, ?3)");

/// Trade types of the small database.
const TYPES: [&str; 2] = ["TMB", "TMS"];
/// Initial amount of each charge, in cents.
const FIRST_CHARGE: i64 = 1_000;

/// Dialect of the SQL engine under test.
fn dialect(engine: &dyn Engine) -> &'static Dialect {
    engine.sql().expect("a SQL engine").dialect()
}

fn amount(cents: i64) -> Value<'static> {
    Value::Decimal { units: cents, scale: 2 }
}

/// Rows of the small database: two trade types with three charges each.
fn small_rows() -> (Rows<TradeType>, Rows<Charge>) {
    let types = TYPES.map(|name| TradeType {
        tt_id: Text::cut(name),
        tt_name: Text::cut("Market"),
        tt_is_sell: name == "TMS",
        tt_is_mrkt: true,
    });
    let charge =
        |name, tier| Charge { ch_tt_id: Text::cut(name), ch_c_tier: tier, ch_chrg: Amount::from_units(FIRST_CHARGE) };
    let charges = TYPES.iter().flat_map(|name| (1..=3).map(move |tier| charge(name, tier)));
    (Rows(types.to_vec()), Rows(charges.collect()))
}

fn load_small(engine: &dyn Engine) {
    let mut loader = engine.loader().expect("a loader");
    let (types, charges) = small_rows();
    loader.run(&create_table(TradeType::table(), dialect(engine), true)).expect("DDL");
    loader.run(&create_table(Charge::table(), dialect(engine), true)).expect("DDL");
    loader.insert(&types).expect("rows");
    loader.insert(&charges).expect("rows");
    loader.finish().expect("a whole load");
}

/// Loads the small database and opens a session.
fn small(engine: &dyn Engine) -> Box<dyn Session> {
    load_small(engine);
    engine.session().expect("a session")
}

/// Reads the charge of a type and tier, in cents.
fn read(session: &mut dyn Session, name: &str, tier: u8) -> Result<i64> {
    let found = session.first(&READ_CHARGE, &[name.into(), tier.into()], |row| row.get::<Amount>(0))?;
    Ok(found.expect("the charge is there").units())
}

fn set(session: &mut dyn Session, name: &str, tier: u8, cents: i64) -> Result<u64> {
    session.execute(&SET_CHARGE, Params::of(&[name.into(), tier.into(), amount(cents)]))
}

fn add(session: &mut dyn Session, name: &str, tier: u8, cents: i64) -> Result<u64> {
    session.execute(&ADD_CHARGE, Params::of(&[name.into(), tier.into(), amount(cents)]))
}
