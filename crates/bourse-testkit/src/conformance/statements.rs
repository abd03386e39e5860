//! Statements of one session without contention.

use super::{FIRST_CHARGE, READ_CHARGE, TYPES, dialect, load_small, read, set, small};
use bourse_engine::{
    Access, Engine, EngineError, ErrorKind, Isolation, Params, Result, Row, RowExt as _, Runs, Session,
    SessionExt as _, Sql, Value,
};
use bourse_schema::Amount;
use std::borrow::Cow;

static RAISE_TYPE: Sql = Sql::new("UPDATE charge SET ch_chrg = ?2 WHERE ch_tt_id = ?1");
static ALL_CHARGES: Sql = Sql::new("SELECT ch_tt_id, ch_c_tier FROM charge ORDER BY ch_tt_id, ch_c_tier");
static REMOVE: Sql = Sql::new("DELETE FROM charge WHERE ch_tt_id = ?1 AND ch_c_tier > ?2");

pub(super) fn changes_are_counted(engine: &dyn Engine) {
    let mut session = small(engine);
    assert_eq!(session.execute(&RAISE_TYPE, Params::of(&["TMB".into(), super::amount(1)])).unwrap(), 3);
    // Rows that a change leaves as they were count too.
    assert_eq!(session.execute(&RAISE_TYPE, Params::of(&["TMB".into(), super::amount(1)])).unwrap(), 3);
    assert_eq!(session.execute(&RAISE_TYPE, Params::of(&["XXX".into(), super::amount(1)])).unwrap(), 0);
    assert_eq!(session.execute(&REMOVE, Params::of(&["TMB".into(), 1.into()])).unwrap(), 2);
    assert_eq!(session.execute(&REMOVE, Params::of(&["TMB".into(), 1.into()])).unwrap(), 0);
    assert_eq!(set(&mut *session, "TMS", 2, 5).unwrap(), 1);
}

pub(super) fn a_callback_can_stop(engine: &dyn Engine) {
    let mut session = small(engine);
    let mut seen = 0;
    let stopped = session.query(&ALL_CHARGES, Params::NONE, &mut |_| {
        seen += 1;
        if seen == 2 { Err(EngineError::new(ErrorKind::Interrupted, "enough")) } else { Ok(()) }
    });
    let stopped = stopped.expect_err("the callback's error");
    assert_eq!((stopped.kind(), stopped.message(), seen), (ErrorKind::Interrupted, "enough", 2));
    assert_eq!(session.all(&ALL_CHARGES, &[], |_| Ok(())).unwrap().len(), 6, "the statement runs again from its start");
    // The statement that was stopped must hold no lock.
    let mut other = engine.session().unwrap();
    assert_eq!(set(&mut *other, "TMB", 1, 7).unwrap(), 1);
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), 7);
    assert_eq!(read(&mut *session, "TMB", 2).unwrap(), FIRST_CHARGE);
}

/// Column names: those that the statement gives, and no columns more.
pub(super) fn columns_have_names(engine: &dyn Engine) {
    static NAMED: Sql = Sql::new("SELECT ch_tt_id, ch_chrg + 1 AS more, ch_c_tier FROM charge");
    let mut session = small(engine);
    let named = session.all(&NAMED, &[], |row| {
        assert_eq!(row.columns(), 3);
        assert_eq!(row.column_name(3), None, "there is no such column");
        Ok((0..3).filter_map(|at| row.column_name(at).map(Cow::into_owned)).collect::<Vec<_>>())
    });
    let named = named.unwrap();
    assert_eq!(named.len(), 6);
    assert!(named.iter().all(|names| names == &["ch_tt_id", "more", "ch_c_tier"]), "{named:?}");
}

/// Parameters passed as two lists are numbered as one list.
pub(super) fn parameters_in_two_lists(engine: &dyn Engine) {
    let mut session = small(engine);
    let (key, rest) = ([Value::Text("TMS")], [Value::Int(2), super::amount(55)]);
    assert_eq!(session.execute(&super::SET_CHARGE, Params::of(&key).then(&rest)).unwrap(), 1);
    assert_eq!(read(&mut *session, "TMS", 2).unwrap(), 55);
    let mut found = 0;
    let each = &mut |row: &dyn Row| {
        found = row.get::<Amount>(0)?.units();
        Ok(())
    };
    assert!(session.query_first(&READ_CHARGE, Params::of(&key).then(&rest[..1]), each).unwrap());
    assert_eq!(found, 55);
}

/// Change of one row: visible to the following statements. A change that hits another number of rows, or fails, is reported at
/// the commit at the latest, and the transaction leaves nothing.
pub(super) fn changes_of_one_row(engine: &dyn Engine) {
    let mut session = small(engine);
    let units = |units: i64| super::amount(units);
    let change = |session: &mut dyn Session, name: &str, tier: i64, to: i64| {
        session.change_one(&super::SET_CHARGE, Params::of(&[name.into(), tier.into(), units(to)]))
    };
    assert_eq!(change(&mut *session, "TMB", 1, 20).unwrap(), 1, "outside a transaction");
    assert_eq!(change(&mut *session, "XXX", 1, 20).unwrap(), 0, "outside a transaction it is told at once");
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), 20);
    // The second time statements are prepared already.
    for round in 0..2 {
        let to = 30 + round;
        session.begin(Isolation::Serializable, Access::Write).unwrap();
        assert_eq!(change(&mut *session, "TMB", 1, to).unwrap(), 1);
        assert_eq!(change(&mut *session, "TMB", 2, to).unwrap(), 1);
        assert_eq!(read(&mut *session, "TMB", 1).unwrap(), to, "what follows sees it");
        assert_eq!(change(&mut *session, "TMB", 3, to).unwrap(), 1);
        session.commit().unwrap();
        let mut other = engine.session().unwrap();
        for tier in 1..=3 {
            assert_eq!(read(&mut *other, "TMB", tier).unwrap(), to);
        }
        drop(other);
        // Rolled back before any row was read.
        session.begin(Isolation::Serializable, Access::Write).unwrap();
        assert_eq!(change(&mut *session, "TMB", 1, 99).unwrap(), 1);
        session.rollback().unwrap();
        assert_eq!(read(&mut *session, "TMB", 1).unwrap(), to);
        // A row that is not there, then a row that is there twice.
        let absent: &dyn Fn(&mut dyn Session) -> Result<bool> = &|session| Ok(change(session, "XXX", 1, 99)? == 1);
        let twice: &dyn Fn(&mut dyn Session) -> Result<bool> = &|session| {
            let row = ["TMB".into(), 1.into(), units(99)];
            Ok(session.change_one(&super::ADD_CHARGE, Params::of(&row))? == 1)
        };
        for wrong in [absent, twice] {
            session.begin(Isolation::Serializable, Access::Write).unwrap();
            assert_eq!(change(&mut *session, "TMB", 2, 99).unwrap(), 1);
            let was_told = !wrong(&mut *session).is_ok_and(|is_one| is_one);
            if was_told {
                session.rollback().unwrap();
            } else {
                let told = session.commit().expect_err("the commit at the latest tells it");
                assert!(told.statement().is_some(), "{told:?}");
            }
            assert_eq!(read(&mut *session, "TMB", 2).unwrap(), to, "nothing stays");
        }
    }
}

/// Batch: the statement runs for each set of parameters and ends at the first that fails.
pub(super) fn runs_for_each_set_of_parameters(engine: &dyn Engine) {
    let mut session = small(engine);
    let set = |name: &'static str, tier: i64| [Value::Text(name), Value::Int(tier)];
    let asked = [set("TMB", 1), set("TMB", 9), set("TMS", 3)];
    // The second time the statement is prepared already.
    for _ in 0..2 {
        let mut found = Vec::new();
        let each = &mut |at, row: &dyn Row| {
            found.push((at, row.get::<Amount>(0)?.units()));
            Ok(())
        };
        session.run_each(&READ_CHARGE, Runs { params: asked.as_flattened(), width: 2 }, Some(each)).unwrap();
        assert_eq!(found, [(0, FIRST_CHARGE), (2, FIRST_CHARGE)]);
    }
    let remove_all = |session: &mut dyn Session| session.execute(&REMOVE, Params::of(&["TMB".into(), 0.into()]));
    assert_eq!(remove_all(&mut *session).unwrap(), 3);
    let row = |tier: i64| [Value::Text("TMB"), Value::Int(tier), super::amount(tier)];
    // The last but one will be there already.
    let rows = [row(1), row(2), row(2), row(3)];
    for is_transaction in [false, true] {
        if is_transaction {
            session.begin(Isolation::Serializable, Access::Write).unwrap();
        }
        session.run_each(&super::ADD_CHARGE, Runs { params: rows[..2].as_flattened(), width: 3 }, None).unwrap();
        assert_eq!(read(&mut *session, "TMB", 2).unwrap(), 2);
        let more = Runs { params: rows[2..].as_flattened(), width: 3 };
        let refused = session.run_each(&super::ADD_CHARGE, more, None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Duplicate);
        if is_transaction {
            session.rollback().unwrap();
        } else {
            assert_eq!(remove_all(&mut *session).unwrap(), 2, "what follows the run that failed is not run");
        }
    }
    assert_eq!(session.all(&ALL_CHARGES, &[], |_| Ok(())).unwrap().len(), 3);
}

pub(super) fn plans(engine: &dyn Engine) {
    let mut session = small(engine);
    match session.plan(&READ_CHARGE.render(dialect(engine))) {
        Ok(lines) => assert!(!lines.is_empty(), "a plan without a step"),
        Err(e) => assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}"),
    }
}

pub(super) fn holes(engine: &dyn Engine) {
    let own = dialect(engine).own_holes();
    assert!(own.is_empty(), "the SQL standard has no word for {own:?}: `bourse-schema` gives it one");
}

pub(super) fn settings_last(engine: &dyn Engine) {
    load_small(engine);
    super::settings_last(engine, || {
        let mut session = small(engine);
        for cents in 1..=200 {
            set(&mut *session, TYPES[0], 1, cents).expect("a change");
        }
    });
}

pub(super) fn description(engine: &dyn Engine) {
    let _session = small(engine);
    let description = engine.description().unwrap();
    assert!(!description.engine.is_empty() && !description.version.is_empty(), "{description:?}");
    assert!(!description.durability_reason.is_empty(), "{description:?}");
    assert!(engine.exists().unwrap(), "a loaded database exists");
    assert!(engine.capabilities().sql.is_some_and(|sql| !sql.isolation.is_empty()));
    assert!(engine.footprint().unwrap().data_bytes > 0);
}
