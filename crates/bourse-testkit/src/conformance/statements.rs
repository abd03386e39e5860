//! Statements outside any quarrel.

use super::{FIRST_CHARGE, READ_CHARGE, read, set, small};
use bourse_engine::{Engine, EngineError, ErrorKind, SessionExt as _, Sql};

static RAISE_TYPE: Sql = Sql::new("UPDATE charge SET ch_chrg = ?2 WHERE ch_tt_id = ?1");
static ALL_CHARGES: Sql = Sql::new("SELECT ch_tt_id, ch_c_tier FROM charge ORDER BY ch_tt_id, ch_c_tier");
static REMOVE: Sql = Sql::new("DELETE FROM charge WHERE ch_tt_id = ?1 AND ch_c_tier > ?2");

pub(super) fn changes_are_counted(engine: &dyn Engine) {
    let mut session = small(engine);
    assert_eq!(session.execute(&RAISE_TYPE, &["TMB".into(), super::amount(1)]).unwrap(), 3);
    // Rows that a change leaves as they were count too.
    assert_eq!(session.execute(&RAISE_TYPE, &["TMB".into(), super::amount(1)]).unwrap(), 3);
    assert_eq!(session.execute(&RAISE_TYPE, &["XXX".into(), super::amount(1)]).unwrap(), 0);
    assert_eq!(session.execute(&REMOVE, &["TMB".into(), 1.into()]).unwrap(), 2);
    assert_eq!(session.execute(&REMOVE, &["TMB".into(), 1.into()]).unwrap(), 0);
    assert_eq!(set(&mut *session, "TMS", 2, 5).unwrap(), 1);
}

pub(super) fn a_callback_can_stop(engine: &dyn Engine) {
    let mut session = small(engine);
    let mut seen = 0;
    let stopped = session.query(&ALL_CHARGES, &[], &mut |_| {
        seen += 1;
        if seen == 2 { Err(EngineError::new(ErrorKind::Interrupted, "enough")) } else { Ok(()) }
    });
    let stopped = stopped.expect_err("the callback's error");
    assert_eq!((stopped.kind(), stopped.message(), seen), (ErrorKind::Interrupted, "enough", 2));
    assert_eq!(session.all(&ALL_CHARGES, &[], |_| Ok(())).unwrap().len(), 6, "the statement runs again from its start");
    // The statement that was stopped must hold no lock.
    let mut other = engine.connect().unwrap();
    assert_eq!(set(&mut *other, "TMB", 1, 7).unwrap(), 1);
    assert_eq!(read(&mut *session, "TMB", 1).unwrap(), 7);
    assert_eq!(read(&mut *session, "TMB", 2).unwrap(), FIRST_CHARGE);
}

pub(super) fn plans(engine: &dyn Engine) {
    let mut session = small(engine);
    match session.plan(&READ_CHARGE.render(engine.dialect())) {
        Ok(lines) => assert!(!lines.is_empty(), "a plan without a step"),
        Err(e) => assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}"),
    }
}

pub(super) fn description(engine: &dyn Engine) {
    let _session = small(engine);
    let description = engine.description().unwrap();
    assert!(!description.engine.is_empty() && !description.version.is_empty(), "{description:?}");
    assert!(!description.durability_reason.is_empty(), "{description:?}");
    assert!(engine.exists().unwrap(), "a loaded database exists");
    assert!(engine.capabilities().sql);
    assert!(!engine.capabilities().isolation.is_empty());
    assert!(engine.footprint().unwrap().data_bytes > 0);
}
