use crate::server;
use bourse_engine::{Access, Engine, ErrorKind, Isolation, RowExt as _, Session, SessionExt as _, Sql};
use bourse_testkit::server::{begin_load, names};

fn databases(engine: &dyn Engine) -> Vec<String> {
    let mut found = Vec::new();
    engine
        .session()
        .unwrap()
        .query_text(
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'bourse%' ORDER BY 1",
            &[],
            &mut |row| {
                found.push(row.get(0)?);
                Ok(())
            },
        )
        .unwrap();
    found
}

#[test]
fn a_load_replaces_the_database_when_it_is_whole() {
    let Some(engine) = server("loads::a_load_replaces_the_database_when_it_is_whole", "lock_timeout=1s") else {
        return;
    };
    begin_load(&engine, &["OLD"]).finish().unwrap();
    let unfinished = begin_load(&engine, &["NEW"]);
    assert_eq!(names(&engine), ["OLD"], "an unfinished load was seen");
    let refused = engine.loader().map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "two loads of one target would mix: {refused}");
    drop(unfinished);
    assert_eq!(databases(&engine), ["bourse"], "a dropped load left something");

    // A session in a transaction that has read the database keeps it.
    let mut session = engine.session().unwrap();
    session.begin(Isolation::RepeatableRead, Access::Read).unwrap();
    static COUNT: Sql = Sql::new("SELECT count(*) FROM status_type");
    assert_eq!(session.first(&COUNT, &[], |row| row.get::<i64>(0)).unwrap(), Some(1));
    let refused = begin_load(&engine, &["NEW"]).finish().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.message().contains("in use"), "{refused}");
    session.rollback().unwrap();
    assert_eq!(names(&engine), ["OLD"]);

    // What a killed load has left is no database, and goes with the next load.
    let killed = begin_load(&engine, &["KILLED"]);
    kill_others(&mut *session);
    std::mem::forget(killed);
    assert_eq!(databases(&engine), ["bourse", "bourse_bourse_loading"]);
    assert!(engine.leftovers().unwrap().unwrap().contains("`bourse_bourse_loading` was left"));
    assert_eq!(names(&engine), ["OLD"]);
    begin_load(&engine, &["NEW"]).finish().unwrap();
    assert_eq!(names(&engine), ["NEW"]);
    assert_eq!(databases(&engine), ["bourse"]);
    assert_eq!(engine.leftovers().unwrap(), None);
}

/// Ends all connections but the session's own, as the server does when a client is killed.
fn kill_others(session: &mut dyn Session) {
    let mut ids: Vec<i64> = Vec::new();
    let others = "SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND user = 'root'";
    session
        .query_text(others, &[], &mut |row| {
            ids.push(row.get(0)?);
            Ok(())
        })
        .unwrap();
    for id in &ids {
        session.query_text(&format!("KILL {id}"), &[], &mut |_| Ok(())).unwrap();
    }
    // A connection that is killed gives its locks back when it is gone.
    for _ in 0..200 {
        let mut left = 0_i64;
        session
            .query_text("SELECT is_used_lock('bourse-load-bourse') IS NOT NULL", &[], &mut |row| {
                left = row.get(0)?;
                Ok(())
            })
            .unwrap();
        if left == 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the killed load still holds its lock");
}

#[test]
fn a_snapshot_is_the_database_as_it_was() {
    let Some(engine) = server("loads::a_snapshot_is_the_database_as_it_was", "lock_timeout=1s") else { return };
    begin_load(&engine, &["ONE"]).finish().unwrap();
    let before = engine.server_process();
    let copy = engine.snapshot().unwrap();
    assert_ne!(engine.server_process(), before, "it was started again");
    let change = |sql: &str| engine.session().unwrap().execute_text(sql, &[]).unwrap();
    for _ in 0..2 {
        assert_eq!(change("INSERT INTO status_type VALUES ('TWO', 'TWO')"), 1);
        change("CREATE TABLE later (id INT PRIMARY KEY)");
        assert_eq!(names(&engine), ["ONE", "TWO"]);
        engine.footprint().unwrap();
        copy.restore().unwrap();
        assert_eq!(names(&engine), ["ONE"]);
        assert_eq!(engine.integrity_check().unwrap(), Some(Vec::new()));
        assert!(engine.footprint().unwrap().data_bytes > 0, "sizes are those of the server that runs now");
    }
    // A copy outlives its engine's last session, not its engine's server.
    let process = engine.server_process().unwrap();
    drop((engine, copy));
    assert!(!bourse_testkit::server::is_alive(process));
}

#[test]
fn a_persons_server_is_not_stopped_for_a_copy() {
    let engine = bourse_engine_mysql::open("mysql://root@127.0.0.1:9/x").unwrap();
    let refused = engine.snapshot().map(|_| ()).unwrap_err();
    assert!(refused.kind() == ErrorKind::Unsupported && refused.message().contains("not stopped"), "{refused}");
}
