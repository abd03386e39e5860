//! `memory=private`: SQLite's plain `:memory:`, which is in one connection and so one session's.

use crate::files::{load, names};
use bourse_engine::{Access, Engine as _, ErrorKind, Isolation, Params, Sql};
use bourse_engine_sqlite::open;

static ADD: Sql = Sql::new("INSERT INTO status_type VALUES ('NEW', 'New')");

#[test]
fn a_private_database_outlives_its_session_and_has_one_at_a_time() {
    let engine = open("sqlite::memory:?memory=private").unwrap();
    assert!(engine.capabilities().one_session);
    assert!(!engine.exists().unwrap());
    load(&engine, &["OLD"]);
    assert!(engine.exists().unwrap());
    let mut session = engine.session().unwrap();
    let refused = engine.session().map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("another session has it"), "{refused}");
    session.execute(&ADD, Params::NONE).unwrap();
    drop(session);
    assert_eq!(names(&engine), ["NEW", "OLD"]);
    assert_eq!(engine.footprint().unwrap().data_bytes % 4_096, 0);
    assert!(engine.footprint().unwrap().data_bytes > 0);
    // Another engine's is another database.
    assert!(!open("sqlite::memory:?memory=private").unwrap().exists().unwrap());
}

#[test]
fn what_a_session_leaves_open_is_rolled_back_and_its_settings_are_forgotten() {
    let engine = open("sqlite::memory:?memory=private").unwrap();
    load(&engine, &["OLD"]);
    let mut session = engine.session().unwrap();
    session.execute_text("PRAGMA foreign_keys = OFF", &[]).unwrap();
    session.begin(Isolation::Serializable, Access::Write).unwrap();
    session.execute(&ADD, Params::NONE).unwrap();
    drop(session);
    assert_eq!(names(&engine), ["OLD"]);
    let settings = engine.description().unwrap().settings;
    let setting = |name: &str| settings.iter().find(|setting| setting.name == name).unwrap().value.clone();
    assert_eq!((setting("foreign_keys").as_str(), setting("journal_mode").as_str()), ("on", "memory"));
}
