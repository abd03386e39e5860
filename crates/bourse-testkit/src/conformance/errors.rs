//! Errors have the kind a program acts on, and nothing is broken after them.

use super::{FIRST_CHARGE, add, read, set, small};
use bourse_engine::{Access, Engine, ErrorKind, Isolation, Params, Sql};

pub(super) fn conflicts(engine: &dyn Engine) {
    let mut first = small(engine);
    let mut second = engine.session().unwrap();
    first.begin(Isolation::Serializable, Access::Write).unwrap();
    set(&mut *first, "TMB", 1, 1).unwrap();
    let refused = second
        .begin(Isolation::Serializable, Access::Write)
        .and_then(|()| set(&mut *second, "TMB", 1, 2))
        .and_then(|_| second.commit())
        .expect_err("two writers of one row");
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    second.rollback().unwrap();
    first.commit().unwrap();
    // The losing session remains usable.
    second.begin(Isolation::Serializable, Access::Write).unwrap();
    assert_eq!(read(&mut *second, "TMB", 1).unwrap(), 1);
    set(&mut *second, "TMB", 1, 2).unwrap();
    second.commit().unwrap();
    assert_eq!(read(&mut *first, "TMB", 1).unwrap(), 2);
}

pub(super) fn constraints(engine: &dyn Engine) {
    let mut session = small(engine);
    let twice = add(&mut *session, "TMB", 1, 5).expect_err("the primary key is taken");
    assert_eq!(twice.kind(), ErrorKind::Duplicate, "{twice}");
    assert!(twice.statement().is_some_and(|sql| sql.starts_with("INSERT INTO charge")), "{twice}");
    let absent = session
        .query_text("UPDATE charge SET ch_chrg = NULL WHERE ch_tt_id = 'TMB'", &[], &mut |_| Ok(()))
        .expect_err("the column is NOT NULL");
    assert_eq!(absent.kind(), ErrorKind::Constraint, "{absent}");
    session.rollback().unwrap();
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), FIRST_CHARGE);
}

pub(super) fn declared_constraints(engine: &dyn Engine) {
    let mut session = small(engine);
    let capabilities = engine.capabilities().sql.expect("SQL");
    for (what, enforced, result) in [
        ("a check", capabilities.checks, set(&mut *session, "TMB", 1, -5).map(|_| ())),
        ("a foreign key", capabilities.foreign_keys, add(&mut *session, "XXX", 1, 5).map(|_| ())),
    ] {
        match result {
            Ok(()) => assert!(!enforced, "{what} is promised but not enforced"),
            Err(e) => {
                assert!(enforced, "{what} is enforced though it is said not to be: {e}");
                assert_eq!(e.kind(), ErrorKind::Constraint, "{e}");
            }
        }
        session.rollback().unwrap();
    }
}

pub(super) fn statements_survive(engine: &dyn Engine) {
    let mut session = small(engine);
    for _ in 0..3 {
        add(&mut *session, "TMB", 1, 5).expect_err("the primary key is taken");
        session.rollback().unwrap();
    }
    session.execute(&super::SET_CHARGE, Params::of(&["TMB".into()])).expect_err("two of three parameters are missing");
    session.rollback().unwrap();
    assert_eq!(set(&mut *session, "TMB", 1, 5).unwrap(), 1);
    // An error within a transaction, and the transaction undone whole.
    session.begin(Isolation::Serializable, Access::Write).unwrap();
    set(&mut *session, "TMS", 1, 6).unwrap();
    add(&mut *session, "TMB", 1, 5).expect_err("the primary key is taken");
    session.rollback().unwrap();
    assert_eq!(read(&mut *session, "TMS", 1).unwrap(), FIRST_CHARGE);
    session.begin(Isolation::Serializable, Access::Write).unwrap();
    set(&mut *session, "TMS", 1, 6).unwrap();
    session.commit().unwrap();
    assert_eq!(read(&mut *session, "TMS", 1).unwrap(), 6);
}

pub(super) fn nonsense(engine: &dyn Engine) {
    static NONSENSE: Sql = Sql::new("SELEKT ch_chrg FROM charge");
    static NO_TABLE: Sql = Sql::new("SELECT c FROM no_such_table");
    let mut session = small(engine);
    for sql in [&NONSENSE, &NO_TABLE] {
        let refused = session.query(sql, Params::NONE, &mut |_| Ok(())).expect_err(sql.text());
        assert_eq!(refused.kind(), ErrorKind::Other, "{refused}");
        assert_eq!(refused.statement(), Some(sql.text()), "{refused}");
        assert!(!refused.message().is_empty());
        session.rollback().unwrap();
    }
    let refused = session.query_text("SELEKT 1", &[], &mut |_| Ok(())).unwrap_err();
    assert_eq!(refused.statement(), Some("SELEKT 1"));
    session.rollback().unwrap();
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), FIRST_CHARGE);
}
