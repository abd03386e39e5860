//! Contending sessions, with each mechanism of waiting: the counts, and the engine that they are attributed to.

use bourse_engine::{
    Access, Engine, ErrorKind, Isolation, MemoryStore, Params, RowExt as _, Session, SessionExt as _, Sql, WriterWait,
};
use bourse_engine_sqlite::{SqliteEngine, open};
use std::time::{Duration, Instant};

static READ: Sql = Sql::new("SELECT n FROM counter WHERE id = 1");
static ADD: Sql = Sql::new("UPDATE counter SET n = n + 1 WHERE id = 1");

fn made(target: &str) -> SqliteEngine {
    let engine = open(target).unwrap();
    let mut loader = engine.loader().unwrap();
    loader.run("CREATE TABLE counter (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)").unwrap();
    loader.run("INSERT INTO counter VALUES (1, 0)").unwrap();
    loader.finish().unwrap();
    engine
}

fn file(folder: &tempfile::TempDir, query: &str) -> String {
    format!("sqlite:{}?sync=off&{query}", folder.path().join("x.db").display())
}

fn read(session: &mut dyn Session) -> i64 {
    session.first(&READ, &[], |row| row.get(0)).unwrap().unwrap()
}

fn begin(session: &mut dyn Session) {
    session.begin(Isolation::Serializable, Access::Write).unwrap();
}

fn add(session: &mut dyn Session) -> Result<u64, ErrorKind> {
    session.execute(&ADD, Params::NONE).map_err(|error| error.kind())
}

/// Conflicts by name.
fn conflicts(engine: &dyn Engine) -> [u64; 2] {
    ["SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT"]
        .map(|name| engine.conflicts().iter().find(|it| it.name == name).unwrap().count)
}

#[test]
fn a_snapshot_out_of_date_is_told_from_a_lock() {
    let folder = tempfile::tempdir().unwrap();
    let engine = made(&file(&folder, "writers=sqlite&begin=deferred&busy_timeout=20ms"));
    let (mut one, mut two) = (engine.session().unwrap(), engine.session().unwrap());
    begin(one.as_mut());
    begin(two.as_mut());
    assert_eq!([read(one.as_mut()), read(two.as_mut())], [0, 0]);
    // The lock is held: it is waited for, and then told.
    add(one.as_mut()).unwrap();
    let since = Instant::now();
    assert_eq!(add(two.as_mut()), Err(ErrorKind::Conflict));
    assert_eq!(conflicts(&engine), [1, 0]);
    one.commit().unwrap();
    // What was read is out of date: waiting would not help, so that it is told at once.
    assert_eq!(add(two.as_mut()), Err(ErrorKind::Conflict));
    assert_eq!(conflicts(&engine), [1, 1]);
    assert!(since.elapsed() < Duration::from_secs(5));
    two.rollback().unwrap();
    begin(two.as_mut());
    assert_eq!((add(two.as_mut()), read(two.as_mut())), (Ok(1), 2), "tried again from the start");
    two.commit().unwrap();
}

#[test]
fn sqlites_own_sleeps_are_counted_as_waits() {
    let folder = tempfile::tempdir().unwrap();
    for target in
        [file(&folder, "writers=sqlite&busy_timeout=30ms"), "sqlite::memory:?writers=sqlite&busy_timeout=30ms".into()]
    {
        let engine = made(&target);
        let (mut one, mut two) = (engine.session().unwrap(), engine.session().unwrap());
        begin(one.as_mut());
        let before = engine.footprint().unwrap().locks.unwrap();
        let refused = two.begin(Isolation::Serializable, Access::Write).unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, Some("SQLITE_BUSY")), "{target}");
        let waited = engine.footprint().unwrap().locks.unwrap().since(before);
        // It sleeps 1, 2, 5, 10 and then what is left of 30 ms; other tests of this process may sleep too.
        assert!(waited.waits >= 5 && waited.wait_ns >= 28_000_000, "{target}: {waited:?}");
    }
}

#[test]
fn one_connection_makes_all_changes() {
    let folder = tempfile::tempdir().unwrap();
    for target in [file(&folder, "writers=one"), "sqlite::memory:?writers=one".to_owned()] {
        let engine = made(&target);
        let mut sessions: Vec<_> = (0..4).map(|_| engine.session().unwrap()).collect();
        std::thread::scope(|scope| {
            for session in &mut sessions {
                scope.spawn(move || {
                    for _ in 0..50 {
                        begin(session.as_mut());
                        let before = read(session.as_mut());
                        add(session.as_mut()).unwrap();
                        assert_eq!(read(session.as_mut()), before + 1, "it sees its own change");
                        session.commit().unwrap();
                        add(session.as_mut()).unwrap();
                    }
                });
            }
        });
        assert_eq!(read(sessions[0].as_mut()), 400, "{target}");
        // A session that goes with its transaction open leaves the connection to the others, and nothing of its changes.
        let mut gone = sessions.pop().unwrap();
        begin(gone.as_mut());
        add(gone.as_mut()).unwrap();
        assert_eq!(read(sessions[0].as_mut()), 400, "nobody sees what is not committed");
        drop(gone);
        begin(sessions[0].as_mut());
        assert_eq!(read(sessions[0].as_mut()), 400, "{target}");
        sessions[0].rollback().unwrap();
        // Once the sessions are closed so is that connection: the database can be put back.
        drop(sessions);
        let snapshot = engine.snapshot().unwrap();
        add(engine.session().unwrap().as_mut()).unwrap();
        snapshot.restore().unwrap();
        assert_eq!(read(engine.session().unwrap().as_mut()), 400, "{target}");
    }
}

#[test]
fn who_waits_where_is_a_value() {
    let folder = tempfile::tempdir().unwrap();
    for (query, wait) in [
        ("", WriterWait::BourseQueue),
        ("writers=busy", WriterWait::BourseBusyHandler),
        ("writers=sqlite", WriterWait::EngineBusyTimeout),
        ("writers=one", WriterWait::OneConnection),
    ] {
        let described = open(&file(&folder, query)).unwrap().description().unwrap();
        assert_eq!((described.writer_wait, described.memory_store), (Some(wait), None), "{query}");
    }
    for (query, store) in
        [("", MemoryStore::Bourse), ("?memory=shared", MemoryStore::Engine), ("?memory=private", MemoryStore::Engine)]
    {
        let described = open(&format!("sqlite::memory:{query}")).unwrap().description().unwrap();
        assert_eq!(described.memory_store, Some(store), "{query}");
    }
}

#[test]
fn sqlites_defaults_are_those_of_a_connection_for_which_nothing_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db").display().to_string();
    let engine = made(&format!("sqlite:{path}?defaults=sqlite"));
    let description = engine.description().unwrap();
    let found = |name: &str| description.settings.iter().find(|it| it.name == name).unwrap().value.clone();
    let expected = [
        ("journal_mode", "delete"),
        ("synchronous", "full"),
        ("page_size", "4096"),
        ("cache_size", "-2000"),
        ("mmap_size", "0"),
        ("wal_autocheckpoint", "1000"),
        // As the library was compiled.
        ("foreign_keys", "on"),
        ("locking_mode", "normal"),
        ("temp_store", "default"),
        ("threading", "fullmutex"),
        ("busy_timeout", "0s"),
        ("begin", "deferred"),
        ("stable_plans", "off"),
    ];
    for (name, value) in expected {
        assert_eq!(found(name), value, "{name}");
    }
}
