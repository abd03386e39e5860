//! Visibility of a database while it is loaded: it exists only once it is complete.

use super::{FIRST_CHARGE, add, dialect, load_small, read, set, small, small_rows};
use bourse_engine::{Engine, ErrorKind, Inventory, Loader, Params, RowExt as _, Session, SessionExt as _, Sql};
use bourse_schema::tables::{Charge, TradeType};
use bourse_schema::{TableRow as _, create_table};

static COUNT: Sql = Sql::new("SELECT count(*) FROM charge");
static REMOVE_THIRD: Sql = Sql::new("DELETE FROM charge WHERE ch_c_tier = 3");

fn count(session: &mut dyn Session) -> i64 {
    session.first(&COUNT, &[], |row| row.get(0)).unwrap().unwrap()
}

/// Loader in the middle of a load: `trade_type` is created and filled, the other tables are missing.
fn half_loaded(engine: &dyn Engine) -> Box<dyn Loader> {
    let mut loader = engine.loader().unwrap();
    loader.run(&create_table(TradeType::table(), dialect(engine), true)).unwrap();
    loader.insert(&small_rows().0).unwrap();
    loader
}

pub(super) fn unfinished_load(engine: &dyn Engine) {
    let mut session = small(engine);
    set(&mut *session, "TMB", 1, 77).unwrap();
    drop(session);
    drop(half_loaded(engine));
    let mut session = engine.session().unwrap();
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), 77, "an unfinished load changed something");
    assert_eq!(count(&mut *session), 6);
}

pub(super) fn replaced(engine: &dyn Engine) {
    let mut session = small(engine);
    set(&mut *session, "TMB", 1, 77).unwrap();
    session.execute(&REMOVE_THIRD, Params::NONE).unwrap();
    drop(session);
    load_small(engine);
    let mut session = engine.session().unwrap();
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), FIRST_CHARGE);
    assert_eq!(count(&mut *session), 6);
}

pub(super) fn others_are_kept(engine: &dyn Engine) {
    let mut session = small(engine);
    session.execute_text("CREATE TABLE notes (id INT NOT NULL PRIMARY KEY)", &[]).unwrap();
    drop(session);
    if let Some(inventory) = Inventory::of(engine).unwrap() {
        let why = inventory.foreign().expect("a table that no load made").to_lowercase();
        assert!(why.contains("table notes") && !why.contains("charge"), "{why}");
    }
    let refused = engine.loader().err().expect("a person's table would be replaced");
    assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
    let mut session = engine.session().unwrap();
    assert_eq!(count(&mut *session), 6);
    session.execute_text("DROP TABLE notes", &[]).unwrap();
    // A table that others made has the name of one that was loaded.
    session.execute_text("DROP TABLE charge", &[]).unwrap();
    session.execute_text("CREATE TABLE charge (secret INT NOT NULL PRIMARY KEY)", &[]).unwrap();
    drop(session);
    let refused = engine.loader().err().expect("a person's table would be replaced");
    assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
    assert!(refused.message().to_lowercase().contains("charge"), "{refused}");
    let mut session = engine.session().unwrap();
    session.execute_text("DROP TABLE charge", &[]).unwrap();
    drop(session);
    load_small(engine);
}

pub(super) fn loader_queries(engine: &dyn Engine) {
    let mut loader = half_loaded(engine);
    let mut names: Vec<String> = Vec::new();
    loader
        .query("SELECT tt_id FROM trade_type ORDER BY tt_id", &mut |row| {
            names.push(row.get(0)?);
            Ok(())
        })
        .unwrap();
    assert_eq!(names, super::TYPES);
    let refused = loader.query("SELECT nothing FROM nowhere", &mut |_| Ok(())).unwrap_err();
    assert_eq!(refused.statement(), Some("SELECT nothing FROM nowhere"));
}

pub(super) fn bad_rows(engine: &dyn Engine) {
    let mut session = small(engine);
    add(&mut *session, "TMB", 1, 1).unwrap_err();
    drop(session);
    let mut loader = half_loaded(engine);
    let twice = loader.insert(&small_rows().0).expect_err("the rows are there already");
    assert_eq!(twice.kind(), ErrorKind::Duplicate, "{twice}");
    assert!(twice.statement().is_some_and(|sql| sql.contains("trade_type")), "{twice}");
    drop(loader);
    let mut loader = half_loaded(engine);
    loader.run(&create_table(Charge::table(), dialect(engine), true)).unwrap();
    let mut charges = small_rows().1;
    charges.0[1].ch_c_tier = 9;
    if engine.capabilities().sql.is_some_and(|sql| sql.checks) {
        let refused = loader.insert(&charges).expect_err("there is no tier 9");
        assert_eq!(refused.kind(), ErrorKind::Constraint, "{refused}");
    }
    drop(loader);
    assert_eq!(count(&mut *engine.session().unwrap()), 6);
}
