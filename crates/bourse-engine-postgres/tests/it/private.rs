use crate::server;
use bourse_engine::{
    Access, Durability, Engine as _, ErrorKind, Hold, Hosting, Isolation, OwnedServer as _, Params, RowExt as _, Runs,
    SessionExt as _, Sql, Value,
};
use bourse_engine_postgres::open;
use bourse_testkit::server::{
    begin_load, comes_back_with_what_was_committed, dies_as_a_lost_connection, is_alive, is_removed_after_its_owner,
    names, open_folder,
};
use std::fs;

static ONE: Sql = Sql::new("SELECT 1");

#[test]
fn a_private_server_is_described_and_removed() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let test = "private::a_private_server_is_described_and_removed";
    let Some(engine) = server(test, "synchronous_commit=off&lock_timeout=3s&plan_cache=generic") else { return };
    assert!(!engine.exists().unwrap());
    assert_eq!(engine.server_process(), None, "a server was started for nothing");
    let description = engine.description().unwrap();
    let process = engine.server_process().unwrap();
    assert!(is_alive(process));
    assert_eq!(description.engine, "postgres");
    assert_eq!(description.durability, Durability::Volatile, "{}", description.durability_reason);
    let setting = |name: &str| {
        description.settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    };
    for (name, expected) in [
        ("synchronous_commit", "off"),
        ("shared_buffers", "64MB"),
        ("lock_timeout", "3s"),
        ("plan_cache_mode", "force_generic_plan"),
        ("fsync", "on"),
        ("wal_level", "minimal"),
        ("max_connections", "200"),
    ] {
        assert_eq!(setting(name), Some(expected), "{name}");
    }
    let footprint = engine.footprint().unwrap();
    assert!(footprint.log_bytes >= 16 << 20 && footprint.data_bytes > 0, "{footprint:?}");
    assert!(footprint.memory_bytes > 1 << 20, "{footprint:?}");
    let before = engine.io_counts().unwrap().unwrap();
    engine.session().unwrap().execute_text("CREATE TABLE t AS SELECT generate_series(1, 20000) AS i", &[]).unwrap();
    engine.session().unwrap().execute_text("CHECKPOINT", &[]).unwrap();
    let io = engine.io_counts().unwrap().unwrap().since(before);
    assert!(io.log.written_bytes > 0 && io.source.contains("pg_stat"), "{io:?}");
    let folder = engine.location().folder().unwrap();
    assert!(folder.is_dir());
    assert!(!engine.target().sweep().contains(&folder.parent().unwrap().to_owned()), "it is in use");
    // Long enough for the system's clock of CPU time, which ticks a hundred times a second.
    let mut busy = engine.session().unwrap();
    busy.execute_text("CREATE TABLE sums AS SELECT sum(i) FROM generate_series(1, 2000000) AS i", &[]).unwrap();
    let server = engine.footprint().unwrap().server.unwrap();
    assert!(server.cpu_user_ns + server.cpu_system_ns > 0, "{server:?}");
    // A session's process ends with it: what it has used stays, while it ends and ever after.
    drop(busy);
    let mut last = server.cpu_user_ns + server.cpu_system_ns;
    for _ in 0..200 {
        let server = engine.footprint().unwrap().server.unwrap();
        let now = server.cpu_user_ns + server.cpu_system_ns;
        assert!(now >= last, "{now} ns after {last} ns");
        last = now;
    }
    let segment = fs::read_to_string(folder.join("postmaster.pid")).unwrap();
    let segment = segment.lines().nth(6).unwrap().split_whitespace().nth(1).unwrap().to_owned();
    let segments = || fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let is_there = |all: String| all.lines().any(|line| line.split_whitespace().nth(1) == Some(segment.as_str()));
    assert!(is_there(segments()));
    drop(engine);
    assert!(!is_alive(process) && !folder.exists());
    assert!(!is_there(segments()), "it has left a segment of shared memory");
}

#[test]
fn a_server_that_dies_is_a_lost_connection() {
    let Some(engine) = server("private::a_server_that_dies_is_a_lost_connection", "") else { return };
    dies_as_a_lost_connection(&engine, &|| engine.kill().unwrap());
}

#[test]
fn a_killed_server_comes_back_with_what_was_committed_and_nothing_else() {
    let name = "private::a_killed_server_comes_back_with_what_was_committed_and_nothing_else";
    let Some(engine) = server(name, "") else { return };
    comes_back_with_what_was_committed(&engine, &|| engine.server_process());
}

#[test]
fn what_a_killed_owner_has_left_is_removed_by_the_next() {
    let test = "private::what_a_killed_owner_has_left_is_removed_by_the_next";
    if !cfg!(target_os = "linux") || server(test, "").is_none() {
        return;
    }
    let parent = open_folder();
    let engine = open(&format!("postgres+private:{}?shared_buffers=64MiB", parent.path().display())).unwrap();
    is_removed_after_its_owner(&engine, &|| engine.server_process(), &|| engine.target().sweep());
}

#[test]
fn nobody_there_is_a_lost_connection() {
    for target in ["postgres://ann@127.0.0.1:1/x", "postgres://ann@/x?socket=/nowhere"] {
        let lost = open(target).unwrap().session().map(|_| ()).unwrap_err();
        assert_eq!(lost.kind(), ErrorKind::ConnectionLost, "{lost}");
        assert!(lost.message().contains("no server answers at"), "{lost}");
    }
}

/// A private server of the test, which a second engine uses as a running one.
#[test]
fn a_running_server_asks_for_a_password_and_has_the_database_made() {
    let test = "private::a_running_server_asks_for_a_password_and_has_the_database_made";
    let Some(owner) = server(test, "max_connections=20") else { return };
    let mut session = owner.session().unwrap();
    let folder = owner.location().folder().unwrap();
    let socket = folder.parent().unwrap().display().to_string();
    for user in ["ann", "bob", "cid"] {
        let encryption = if user == "cid" { "md5" } else { "scram-sha-256" };
        session.execute_text(&format!("SET password_encryption = '{encryption}'"), &[]).unwrap();
        session.execute_text(&format!("CREATE ROLE {user} LOGIN CREATEDB PASSWORD 'se:cret'"), &[]).unwrap();
    }
    let rules = "local all postgres trust\nlocal all ann scram-sha-256\nlocal all bob password\nlocal all cid md5\n";
    fs::write(folder.join("pg_hba.conf"), rules).unwrap();
    session.query_text("SELECT pg_reload_conf()", &[], &mut |_| Ok(())).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let secrets = open_folder();
    for (file, text) in [("right", "se:cret\n"), ("wrong", "secret\n")] {
        fs::write(secrets.path().join(file), text).unwrap();
    }
    let reach = |user: &str, file: &str| {
        let secret = secrets.path().join(file);
        open(&format!("postgres://{user}@/shop?socket={socket}&password_file={}", secret.display())).unwrap()
    };
    for user in ["ann", "bob", "cid"] {
        let refused = reach(user, "wrong").exists().unwrap_err();
        assert_eq!(refused.code(), Some("28P01"), "{refused}");
        let engine = reach(user, "right");
        assert!(matches!(engine.hosting(), Hosting::External));
        assert!(!engine.exists().unwrap());
        begin_load(&engine, &["ONE"]).finish().unwrap();
        assert_eq!(names(&engine), ["ONE"]);
        // It has made the database, so it may be put back from a copy.
        engine.snapshot().unwrap().restore().unwrap();
        assert_eq!(names(&engine), ["ONE"]);
        session.execute_text("DROP DATABASE shop", &[]).unwrap();
    }
    let unnamed = open(&format!("postgres://ann@/shop?socket={socket}")).unwrap().exists().unwrap_err();
    assert!(unnamed.message().contains("asks for a password: the variable PGPASSWORD"), "{unnamed}");
    // More users than it takes are refused before the first is made.
    assert_eq!(owner.expect_sessions(18), None);
    let refused = owner.session().map(|_| ()).unwrap_err();
    assert!(refused.message().contains("18 sessions are too many") && refused.message().contains("is 20"), "{refused}");
    owner.session().unwrap();
}

#[test]
fn values_and_errors_are_exact() {
    let Some(engine) = server("private::values_and_errors_are_exact", "lock_timeout=1s") else { return };
    let mut session = engine.session().unwrap();
    let mut run = |sql: &str| session.query_text(sql, &[], &mut |_| Ok(())).unwrap();
    run("CREATE TABLE money (k BIGINT PRIMARY KEY, v NUMERIC(18,2) NOT NULL, d DATE, r DOUBLE PRECISION, s SMALLINT)");
    run("INSERT INTO money VALUES (1, 90071992547409.93, '2005-01-03', 1.5, 7)");
    // As binary floating point this would come to 90071992547410.92 or .96.
    static ADD: Sql = Sql::new("UPDATE money SET v = v + ?2 WHERE k = ?1 AND v < ?2 + 90071992547410");
    static READ: Sql = Sql::new("SELECT v, v + ?2, d, r, k = ?1, ?1, s, avg(v) OVER () FROM money WHERE k = ?1");
    let one = Value::Decimal { units: 101, scale: 2 };
    assert_eq!(session.execute(&ADD, Params::of(&[1.into(), one])).unwrap(), 1);
    let exact = |units| Value::Decimal { units, scale: 2 };
    session
        .query(&READ, Params::of(&[1.into(), one]), &mut |row| {
            assert_eq!(row.value(0), exact(9_007_199_254_741_094));
            assert_eq!(row.value(1), exact(9_007_199_254_741_195));
            assert_eq!(row.value(2), Value::Date(bourse_schema::Date::from_ymd(2005, 1, 3)));
            assert_eq!(row.value(3), Value::Real(1.5));
            assert!(row.get::<bool>(4)?);
            assert_eq!(row.get::<i64>(5)?, 1);
            assert_eq!((row.get::<i64>(6)?, row.int(6)), (7, Some(7)));
            assert_eq!(row.value(7), Value::Decimal { units: 900_719_925_474_109_400, scale: 4 });
            Ok(())
        })
        .unwrap();
    // A value of another kind at the same place is prepared for anew, within a transaction too.
    session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
    assert_eq!(session.execute(&ADD, Params::of(&[1.into(), 1.into()])).unwrap(), 1);
    assert_eq!(session.execute(&ADD, Params::of(&[1.into(), one])).unwrap(), 0);
    session.commit().unwrap();
    static WIDE: Sql = Sql::new("SELECT k FROM money WHERE s < ?1");
    for (limit, expected) in [(7, 0), (8, 1), (70_000, 1), (i64::MAX, 1), (8, 1)] {
        assert_eq!(session.all(&WIDE, &[limit.into()], |_| Ok(())).unwrap().len(), expected, "{limit}");
    }
    static NOWHERE: Sql = Sql::new("SELECT 1 FROM nowhere");
    assert_eq!(session.all(&NOWHERE, &[], |_| Ok(())).unwrap_err().code(), Some("42P01"));
    let wrong = session.execute(&ADD, Params::of(&[1.into()])).unwrap_err();
    assert_eq!(wrong.message(), "the statement has 2 parameters, 1 were given");
}

#[test]
fn after_a_conflict_nothing_runs_before_the_rollback() {
    let Some(engine) = server("private::after_a_conflict_nothing_runs_before_the_rollback", "lock_timeout=1s") else {
        return;
    };
    static SET: Sql = Sql::new("UPDATE pair SET v = v + 1 WHERE k = ?1");
    let mut first = engine.session().unwrap();
    let mut second = engine.session().unwrap();
    for sql in ["CREATE TABLE pair (k INT PRIMARY KEY, v INT NOT NULL)", "INSERT INTO pair VALUES (1, 0), (2, 0)"] {
        first.query_text(sql, &[], &mut |_| Ok(())).unwrap();
    }
    for code in ["55P03", "40001"] {
        let before = values(&mut *first);
        first.begin(Isolation::Serializable, Access::Write).unwrap();
        second.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        second.all(&ONE, &[], |_| Ok(())).unwrap();
        assert_eq!(first.execute(&SET, Params::of(&[1.into()])).unwrap(), 1);
        if code == "40001" {
            first.commit().unwrap();
        }
        let refused = second.execute(&SET, Params::of(&[1.into()])).unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, Some(code)));
        for refused in [
            second.execute(&SET, Params::of(&[2.into()])).map(|_| ()),
            second.query(&ONE, Params::NONE, &mut |_| Ok(())),
            second.run_each(&SET, Runs { params: &[2.into()], width: 1 }, None),
            second.commit(),
        ] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict);
        }
        if code == "55P03" {
            first.commit().unwrap();
        }
        assert_eq!(second.execute(&SET, Params::of(&[2.into()])).unwrap(), 1, "a commit that failed has rolled back");
        assert_eq!(values(&mut *second), [before[0] + 1, before[1] + 1]);
    }
    // A transaction that failed otherwise is not committed either, and is no conflict.
    second.begin(Isolation::RepeatableRead, Access::Write).unwrap();
    second.execute_text("INSERT INTO pair VALUES (1, 0)", &[]).unwrap_err();
    assert_eq!(second.commit().unwrap_err().kind(), ErrorKind::Other);
    assert_eq!(values(&mut *second), [2, 2]);
}

fn values(session: &mut dyn bourse_engine::Session) -> Vec<i64> {
    static READ: Sql = Sql::new("SELECT v FROM pair ORDER BY k");
    session.all(&READ, &[], |row| row.get(0)).unwrap()
}

/// Round trips: one for each statement, and with a pipeline only where an answer is needed.
#[test]
fn round_trips_are_counted() {
    static ADD: Sql = Sql::new("UPDATE pair SET v = v + 1 WHERE k = ?1");
    for (pipeline, expected) in [("off", 5), ("on", 2)] {
        let options = format!("lock_timeout=1s&pipeline={pipeline}");
        let Some(engine) = server("private::round_trips_are_counted", &options) else { return };
        let mut session = engine.session().unwrap();
        session.execute_text("CREATE TABLE pair (k INT PRIMARY KEY, v INT NOT NULL)", &[]).unwrap();
        session.execute_text("INSERT INTO pair VALUES (1, 0), (2, 0), (3, 0)", &[]).unwrap();
        let mut transaction = || {
            let before = session.round_trips().unwrap();
            session.begin(Isolation::ReadCommitted, Access::Write).unwrap();
            for key in 1..=3 {
                assert_eq!(session.change_one(&ADD, Params::of(&[key.into()])).unwrap(), 1);
            }
            session.commit().unwrap();
            session.round_trips().unwrap() - before
        };
        // The first one prepares its statement.
        assert!(transaction() > expected, "{pipeline}");
        assert_eq!(transaction(), expected, "BEGIN, three changes, COMMIT; pipeline={pipeline}");
        assert_eq!(values(&mut *session), [2, 2, 2]);
    }
}

/// Processes of two containers have the same number and host name; accounts with unlike rights lock in different databases.
#[test]
fn a_lock_is_of_one_process_in_every_database() {
    let Some(owner) = server("private::a_lock_is_of_one_process_in_every_database", "") else { return };
    let mut session = owner.session().unwrap();
    let folder = owner.location().folder().unwrap();
    let socket = folder.parent().unwrap().display().to_string();
    let target = |database: &str| open(&format!("postgres://postgres@localhost/{database}?socket={socket}")).unwrap();
    let engine = target("bourse");
    for database in ["bourse", "postgres"] {
        let mut other = target(database).session().unwrap();
        let lock = "SELECT pg_advisory_lock(('x' || left(md5('bourse bourse'), 16))::bit(64)::bigint)";
        for sql in ["SET application_name = 'process 7'", lock] {
            other.query_text(sql, &[], &mut |_| Ok(())).unwrap();
        }
        let Hold::InUse(details) = engine.hold("process 7").unwrap() else { panic!("it is another's in {database}") };
        assert!(details.contains(&("held by".to_owned(), "process 7".to_owned())), "{details:?}");
        other.query_text("SELECT pg_advisory_unlock_all()", &[], &mut |_| Ok(())).unwrap();
    }
    let Hold::Held(mut lock) = engine.hold("process 7").unwrap() else { panic!("it is free") };
    assert!(matches!(target("bourse").hold("process 7").unwrap(), Hold::Nothing), "this process has it");
    lock.still_held().unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
    session.query_text(end, &[], &mut |_| Ok(())).unwrap();
    assert_eq!(lock.still_held().unwrap_err().kind(), ErrorKind::ConnectionLost);
}

/// An unlogged table once had figures that were called durable.
#[test]
fn tables_outside_the_log_lower_the_class() {
    let test = "private::tables_outside_the_log_lower_the_class";
    if server(test, "").is_none() {
        return;
    }
    let parent = open_folder();
    let engine = open(&format!("postgres+private:{}?shared_buffers=64MiB", parent.path().display())).unwrap();
    begin_load(&engine, &["ONE"]).finish().unwrap();
    let class = engine.description().unwrap().durability;
    if class != Durability::Durable {
        return bourse_testkit::skipped(test, "temporary folders are in memory");
    }
    engine.session().unwrap().execute_text("CREATE UNLOGGED TABLE quick (a INT)", &[]).unwrap();
    let described = engine.description().unwrap();
    assert_eq!(described.durability, Durability::Volatile, "{}", described.durability_reason);
    assert!(described.durability_reason.contains("UNLOGGED): quick"), "{}", described.durability_reason);
}
