use crate::server;
use bourse_engine::{
    Access, Durability, Engine as _, ErrorKind, Isolation, Params, RowExt as _, SessionExt as _, Sql, Value,
};
use bourse_engine_mysql::{Flavour, installed, open};
use bourse_testkit::server::{
    begin_load, comes_back_with_what_was_committed, dies_as_a_lost_connection, is_alive, is_removed_after_its_owner,
    open_folder,
};
use std::path::Path;
use std::process::Command;

static ONE: Sql = Sql::new("SELECT 1");

#[test]
fn a_private_server_is_described_and_removed() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let Some(engine) = server("private::a_private_server_is_described_and_removed", "flush_log=2&lock_timeout=3s")
    else {
        return;
    };
    assert!(!engine.exists().unwrap());
    assert_eq!(engine.server_process(), None, "a server was started for nothing");
    let description = engine.description().unwrap();
    let process = engine.server_process().unwrap();
    assert!(is_alive(process));
    assert_eq!(description.engine, "mariadb");
    assert_eq!(description.durability, Durability::Volatile, "{}", description.durability_reason);
    let setting = |name: &str| {
        description.settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    };
    for (name, expected) in [
        ("innodb_flush_log_at_trx_commit", "2"),
        ("innodb_buffer_pool_size", "67108864"),
        ("innodb_log_file_size", "67108864"),
        ("innodb_lock_wait_timeout", "3"),
        ("log_bin", "OFF"),
        ("foreign_key_checks", "ON"),
    ] {
        assert_eq!(setting(name), Some(expected), "{name}");
    }
    let footprint = engine.footprint().unwrap();
    assert!(footprint.log_bytes >= 64 << 20 && footprint.data_bytes > 0, "{footprint:?}");
    assert!(footprint.memory_bytes > 10 << 20, "{footprint:?}");
    let folder = Path::new(setting("datadir").unwrap()).parent().unwrap().to_owned();
    assert!(folder.is_dir());
    assert!(!engine.target().sweep().contains(&folder), "a server in use was swept");
    drop(engine);
    assert!(!is_alive(process) && !folder.exists());
}

#[test]
fn a_server_that_dies_is_a_lost_connection() {
    let Some(engine) = server("private::a_server_that_dies_is_a_lost_connection", "") else { return };
    dies_as_a_lost_connection(&engine, &|| {
        let process = engine.server_process().unwrap().to_string();
        assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    });
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
    let target = format!("mariadb+private:{}?innodb_buffer_pool=64MiB&log_file=64MiB", parent.path().display());
    let engine = open(&target).unwrap();
    is_removed_after_its_owner(&engine, &|| engine.server_process(), &|| engine.target().sweep());
}

#[test]
fn mysql_is_not_taken_for_mariadb() {
    let Some(engine) = server("private::mysql_is_not_taken_for_mariadb", "") else { return };
    let program = installed(Flavour::Mariadb, engine.target().options.server.as_deref()).unwrap().server;
    let refused =
        open(&format!("mysql+private:?server={}", program.display())).unwrap().session().map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("MariaDB's, for targets `mariadb+private:`"), "{refused}");
}

#[test]
fn nobody_there_is_a_lost_connection() {
    let engine = open("mariadb://ann@127.0.0.1:1/x?lock_timeout=1s").unwrap();
    let lost = engine.session().map(|_| ()).unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::ConnectionLost, "{lost}");
    assert!(lost.message().contains("127.0.0.1"), "{lost}");
}

#[test]
fn values_and_errors_are_exact() {
    let Some(engine) = server("private::values_and_errors_are_exact", "lock_timeout=1s") else { return };
    let mut session = engine.session().unwrap();
    let mut run = |sql: &str| session.query_text(sql, &[], &mut |_| Ok(())).unwrap();
    run("CREATE TABLE money (k BIGINT PRIMARY KEY, v DECIMAL(18,2) NOT NULL, d DATE, b BIT(9))");
    run("INSERT INTO money VALUES (1, 90071992547409.93, '2005-01-03', b'100000001')");
    // As binary floating point this would come to 90071992547410.92 or .96.
    static ADD: Sql = Sql::new("UPDATE money SET v = v + ?2 WHERE k = ?1 AND v < ?2 + 90071992547410");
    static READ: Sql = Sql::new("SELECT v, v + ?2, d, b, k = ?1, ?1 FROM money WHERE k = ?1");
    let one = Value::Decimal { units: 101, scale: 2 };
    assert_eq!(session.execute(&ADD, Params::of(&[1.into(), one])).unwrap(), 1);
    let exact = |units| Some(Value::Decimal { units, scale: 2 });
    session
        .query(&READ, Params::of(&[1.into(), one]), &mut |row| {
            assert_eq!(Some(row.value(0)), exact(9_007_199_254_741_094));
            assert_eq!(Some(row.value(1)), exact(9_007_199_254_741_195));
            assert_eq!(row.value(2), Value::Date(bourse_schema::Date::from_ymd(2005, 1, 3)));
            assert_eq!(row.get::<i64>(3)?, 257);
            assert!(row.get::<bool>(4)?);
            assert_eq!(row.get::<i64>(5)?, 1);
            Ok(())
        })
        .unwrap();
    // A value of another kind at the same place is prepared for anew.
    assert_eq!(session.execute(&ADD, Params::of(&[1.into(), 1.into()])).unwrap(), 1);
    static SLEEP: Sql = Sql::new("SELECT 1 FROM nowhere");
    assert_eq!(session.all(&SLEEP, &[], |_| Ok(())).unwrap_err().code(), Some("1146"));
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
    first.begin(Isolation::Serializable, Access::Write).unwrap();
    second.begin(Isolation::RepeatableRead, Access::Write).unwrap();
    assert_eq!(first.execute(&SET, Params::of(&[1.into()])).unwrap(), 1);
    let refused = second.execute(&SET, Params::of(&[1.into()])).unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, Some("1205")));
    for refused in [
        second.execute(&SET, Params::of(&[2.into()])).map(|_| ()),
        second.query(&ONE, Params::NONE, &mut |_| Ok(())),
        second.commit(),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict);
    }
    first.commit().unwrap();
    assert_eq!(second.execute(&SET, Params::of(&[2.into()])).unwrap(), 1, "a commit that failed has rolled back");
    let mut values: Vec<i64> = Vec::new();
    second
        .query_text("SELECT v FROM pair ORDER BY k", &[], &mut |row| {
            values.push(row.get(0)?);
            Ok(())
        })
        .unwrap();
    assert_eq!(values, [1, 1]);
}

/// A table of MyISAM once had figures that were called durable.
#[test]
fn tables_without_the_redo_log_lower_the_class() {
    let test = "private::tables_without_the_redo_log_lower_the_class";
    if server(test, "").is_none() {
        return;
    }
    let parent = open_folder();
    let target = format!("mariadb+private:{}?innodb_buffer_pool=64MiB&log_file=64MiB", parent.path().display());
    let engine = open(&target).unwrap();
    begin_load(&engine, &["ONE"]).finish().unwrap();
    let class = engine.description().unwrap().durability;
    if class != Durability::Durable {
        return bourse_testkit::skipped(test, "temporary folders are in memory");
    }
    for (storage, expected) in [("MyISAM", Durability::Process), ("MEMORY", Durability::Volatile)] {
        engine
            .session()
            .unwrap()
            .execute_text(&format!("CREATE TABLE t_{storage} (a INT) ENGINE={storage}"), &[])
            .unwrap();
        let described = engine.description().unwrap();
        assert_eq!(described.durability, expected, "{}", described.durability_reason);
        assert!(described.durability_reason.contains(&format!("ENGINE={storage}")), "{}", described.durability_reason);
    }
}
