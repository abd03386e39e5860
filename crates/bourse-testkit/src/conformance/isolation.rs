//! Isolation of transactions (Clause 7.4), with two sessions of one thread. An engine that would make one session wait for the
//! other must give up in the end, which counts as isolated.

use super::{FIRST_CHARGE, read, set, small};
use bourse_engine::{Access, Engine, ErrorKind, Guarantee, Isolation, Result, Session};

/// Value of a statement that succeeded; `None` for a conflict. Panics on any other error.
#[track_caller]
fn unless_conflict<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(e) if e.kind() == ErrorKind::Conflict => None,
        Err(e) => panic!("neither done nor a conflict: {e}"),
    }
}

pub(super) fn rollback_undoes(engine: &dyn Engine) {
    let mut session = small(engine);
    session.begin(Isolation::Serializable, Access::Write).unwrap();
    set(&mut *session, "TMB", 1, 1).unwrap();
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), 1, "a transaction sees its own changes");
    session.rollback().unwrap();
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), FIRST_CHARGE);
}

pub(super) fn commit_lasts(engine: &dyn Engine) {
    let mut session = small(engine);
    session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
    set(&mut *session, "TMB", 1, 1).unwrap();
    session.commit().unwrap();
    session.rollback().unwrap();
    drop(session);
    let mut other = engine.session().unwrap();
    assert_eq!(read(&mut *other, "TMB", 1).unwrap(), 1);
}

pub(super) fn rollback_outside(engine: &dyn Engine) {
    let mut session = small(engine);
    session.rollback().unwrap();
    set(&mut *session, "TMB", 1, 1).unwrap();
    session.rollback().unwrap();
    session.rollback().unwrap();
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), 1, "a change outside a transaction is not undone");
}

pub(super) fn dropped_session(engine: &dyn Engine) {
    let mut session = small(engine);
    session.begin(Isolation::Serializable, Access::Write).unwrap();
    set(&mut *session, "TMB", 1, 1).unwrap();
    drop(session);
    let mut other = engine.session().unwrap();
    assert_eq!(read(&mut *other, "TMB", 1).unwrap(), FIRST_CHARGE);
    other.begin(Isolation::Serializable, Access::Write).expect("the dropped session is in nobody's way");
    other.rollback().unwrap();
}

pub(super) fn no_dirty_reads(engine: &dyn Engine) {
    let mut writer = small(engine);
    let mut reader = engine.session().unwrap();
    writer.begin(Isolation::Serializable, Access::Write).unwrap();
    set(&mut *writer, "TMB", 1, 1).unwrap();
    if let Some(seen) = unless_conflict(read(&mut *reader, "TMB", 1)) {
        assert_eq!(seen, FIRST_CHARGE, "a change was seen before it was committed");
    }
    writer.rollback().unwrap();
    reader.rollback().unwrap();
    assert_eq!(read(&mut *reader, "TMB", 1).unwrap(), FIRST_CHARGE);
}

pub(super) fn reads_repeat(engine: &dyn Engine) {
    for isolation in [Isolation::RepeatableRead, Isolation::Serializable] {
        let mut reader = small(engine);
        let mut writer = engine.session().unwrap();
        reader.begin(isolation, Access::Read).unwrap();
        assert_eq!(read(&mut *reader, "TMB", 1).unwrap(), FIRST_CHARGE);
        let wrote = unless_conflict((|| {
            writer.begin(Isolation::Serializable, Access::Write)?;
            set(&mut *writer, "TMB", 1, 1)?;
            writer.commit()
        })());
        writer.rollback().unwrap();
        if let Some(seen) = unless_conflict(read(&mut *reader, "TMB", 1)) {
            assert_eq!(seen, FIRST_CHARGE, "{isolation:?}: a read did not repeat");
        }
        reader.rollback().unwrap();
        let now = if wrote.is_some() { 1 } else { FIRST_CHARGE };
        assert_eq!(read(&mut *reader, "TMB", 1).unwrap(), now, "{isolation:?}: after the transaction");
    }
}

/// Write skew: each of two transactions reads both rows and changes one of them; run one after the other, the second would have
/// seen the first's change.
///
/// Under serializable isolation one commits; the other conflicts, at a statement or at its commit, and is rolled back, since
/// its reads can block the first. An engine that declares no serializable isolation must let both commit: otherwise it promises
/// too little.
pub(super) fn no_write_skew(engine: &dyn Engine) {
    let mut first = small(engine);
    let mut second = engine.session().unwrap();
    fn read_both(session: &mut dyn Session) -> Result<(i64, i64)> {
        session.begin(Isolation::Serializable, Access::Write)?;
        Ok((read(session, "TMB", 1)?, read(session, "TMS", 1)?))
    }
    fn goes_on<T>(session: &mut dyn Session, result: Result<T>) -> bool {
        let goes_on = unless_conflict(result).is_some();
        if !goes_on {
            session.rollback().unwrap();
        }
        goes_on
    }
    let both = |session: &mut dyn Session| {
        let result = read_both(session);
        goes_on(session, result)
    };
    let clear = |session: &mut dyn Session, name| {
        let result = set(session, name, 1, 1);
        goes_on(session, result)
    };
    let (goes_first, goes_second) = (both(&mut *first), both(&mut *second));
    let goes_first = goes_first && clear(&mut *first, "TMB");
    let goes_second = goes_second && clear(&mut *second, "TMS");
    let end = |session: &mut dyn Session, goes: bool| {
        let result = if goes { session.commit().map(|_| ()) } else { Ok(()) };
        goes_on(session, result) && goes
    };
    let committed = (end(&mut *first, goes_first), end(&mut *second, goes_second));
    let left = [read(&mut *first, "TMB", 1).unwrap(), read(&mut *first, "TMS", 1).unwrap()];
    assert_eq!(left.map(|charge| charge == 1), [committed.0, committed.1], "what was committed is there: {left:?}");
    let is_serializable = engine.capabilities().guarantee(Isolation::Serializable) == Guarantee::Serializable;
    let is_offered = engine.capabilities().sql.is_some_and(|sql| sql.isolation.contains(&Isolation::Serializable));
    assert_eq!(is_serializable, is_offered, "a level that is not promised is not offered");
    match is_offered {
        true => assert!(committed.0 != committed.1, "one of two transactions commits: {committed:?}"),
        false => {
            let words = "writers are serializable though the engine says that they are not";
            assert_eq!(committed, (true, true), "{words}");
        }
    }
}
