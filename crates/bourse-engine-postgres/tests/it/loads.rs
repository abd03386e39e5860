use crate::server;
use bourse_engine::{Access, Engine, ErrorKind, Isolation, Loader, RowExt as _, Session, SessionExt as _, Sql};
use bourse_testkit::server::{begin_load, names};

/// One column of a query, as text.
pub(crate) fn column(session: &mut dyn Session, sql: &str) -> Vec<String> {
    let mut found = Vec::new();
    session
        .query_text(sql, &[], &mut |row| {
            found.push(row.get(0)?);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    found
}

const DATABASES: &str = "SELECT datname FROM pg_database WHERE datname LIKE 'bourse%' ORDER BY 1";
const SCHEMAS: &str = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'bourse%' ORDER BY 1";

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

    // A session in a transaction that has read the database keeps it.
    let mut session = engine.session().unwrap();
    session.begin(Isolation::RepeatableRead, Access::Read).unwrap();
    static COUNT: Sql = Sql::new("SELECT count(*) FROM status_type");
    assert_eq!(session.first(&COUNT, &[], |row| row.get::<i64>(0)).unwrap(), Some(1));
    let refused = load_in_time(&engine, &["NEW"]).finish().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.message().contains("in use"), "{refused}");
    session.rollback().unwrap();
    assert_eq!(names(&engine), ["OLD"]);

    // A load that is killed leaves nothing.
    let killed = load_in_time(&engine, &["KILLED"]);
    let others = "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    assert_eq!(column(&mut *session, others), ["true"]);
    assert_eq!(killed.finish().unwrap_err().kind(), ErrorKind::ConnectionLost);
    assert_eq!(names(&engine), ["OLD"]);
    // A statement that a session has prepared finds the new table.
    load_in_time(&engine, &["NEW", "ER"]).finish().unwrap();
    assert_eq!(session.first(&COUNT, &[], |row| row.get::<i64>(0)).unwrap(), Some(2));
    assert_eq!(names(&engine), ["ER", "NEW"]);
    assert_eq!(column(&mut *session, SCHEMAS), Vec::<String>::new());
    assert_eq!(column(&mut *session, DATABASES), ["bourse"]);
}

/// Begins a load, retrying: the lock of a dropped load is released a moment later.
fn load_in_time(engine: &dyn Engine, names: &[&str]) -> Box<dyn Loader> {
    for _ in 0..200 {
        if engine.loader().is_ok() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    begin_load(engine, names)
}

#[test]
fn a_snapshot_is_the_database_as_it_was() {
    let Some(engine) = server("loads::a_snapshot_is_the_database_as_it_was", "lock_timeout=1s") else { return };
    begin_load(&engine, &["ONE"]).finish().unwrap();
    let copy = engine.snapshot().unwrap();
    let change = |sql: &str| engine.session().unwrap().execute_text(sql, &[]).unwrap();
    for statement in [
        "CREATE ROLE reader",
        "ALTER DATABASE bourse SET work_mem = '7MB'",
        "ALTER DATABASE bourse SET search_path = public, \"$user\"",
        "ALTER ROLE reader IN DATABASE bourse SET application_name = 'it''s'",
        "ALTER DATABASE bourse CONNECTION LIMIT 50",
        "GRANT CREATE ON DATABASE bourse TO reader WITH GRANT OPTION",
        "REVOKE TEMPORARY ON DATABASE bourse FROM PUBLIC",
    ] {
        change(statement);
    }
    let properties = || {
        let mut found = Vec::new();
        let sql = "SELECT concat(datconnlimit, ' ', datacl::text) FROM pg_database WHERE datname = 'bourse'
                   UNION ALL SELECT setrole::regrole::text || setconfig::text FROM pg_db_role_setting WHERE setdatabase <> 0
                   ORDER BY 1";
        let mut session = engine.session().unwrap();
        let mut each = |row: &dyn bourse_engine::Row| {
            found.push(row.get::<String>(0)?);
            Ok(())
        };
        session.query_text(sql, &[], &mut each).unwrap();
        drop(session);
        found
    };
    let before = properties();
    assert!(before.len() == 3 && before.iter().any(|it| it.starts_with("50 {")), "{before:?}");
    for _ in 0..2 {
        assert_eq!(change("INSERT INTO status_type VALUES ('TWO', 'TWO')"), 1);
        assert_eq!(names(&engine), ["ONE", "TWO"]);
        copy.restore().unwrap();
        assert_eq!(names(&engine), ["ONE"]);
        assert_eq!(properties(), before, "a person's settings of a database, and rights to it, stay");
    }
    // What a person has put there since then is not dropped.
    change("CREATE TABLE thesis (years_of_work TEXT)");
    assert_eq!(copy.restore().unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(engine.session().unwrap().execute_text("DROP TABLE thesis", &[]).unwrap(), 0);
    for (make, remove, name) in crate::foreign::ON_A_TABLE {
        change(make);
        let refused = copy.restore().unwrap_err();
        assert!(refused.kind() == ErrorKind::Refused && refused.message().contains(name), "{refused}");
        change(remove);
    }
    assert!(engine.leftovers().unwrap().unwrap().contains("bourse_bourse_copy"));
    drop(copy);
    assert_eq!(engine.leftovers().unwrap(), None);
    // A database without the mark is somebody's.
    change("COMMENT ON DATABASE bourse IS NULL");
    assert_eq!(engine.snapshot().map(|_| ()).unwrap_err().kind(), ErrorKind::Unsupported);
    change("COMMENT ON DATABASE bourse IS 'made by bourse as bourse'");
    change("CREATE DATABASE bourse_bourse_copy");
    let refused = engine.snapshot().map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    assert!(refused.message().contains("left as it is"), "{refused}");
}
