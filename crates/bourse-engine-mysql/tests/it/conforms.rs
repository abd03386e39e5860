use crate::{flavoured, server};
use bourse_engine::{Engine as _, ErrorKind, Isolation};
use bourse_engine_mysql::Flavour;
use bourse_testkit::server::refuses_to_commit_what_has_ended;
use bourse_testkit::{conformance, records_conformance, routines_conformance};

#[test]
fn mariadb() {
    // Sessions of one thread wait for each other in vain, so patience is short.
    if let Some(engine) = server("conforms::mariadb", "lock_timeout=1s") {
        conformance(&engine);
    }
}

#[test]
fn mariadb_with_tables_of_myrocks() {
    let test = "conforms::mariadb_with_tables_of_myrocks";
    let Some(engine) = server(test, "lock_timeout=1s&storage=rocksdb") else { return };
    match engine.session() {
        // The plugin is a package of its own.
        Err(e) if e.message().contains("ha_rocksdb") => return bourse_testkit::skipped(test, e),
        opened => drop(opened.unwrap()),
    }
    conformance(&engine);
    let sql = engine.capabilities().sql.unwrap();
    assert!(!sql.foreign_keys && sql.isolation == [Isolation::ReadCommitted, Isolation::RepeatableRead]);
    let settings = engine.description().unwrap().settings;
    assert!(settings.iter().any(|it| it.name == "default_storage_engine" && it.value == "ROCKSDB"), "{settings:?}");
}

#[test]
fn tables_without_transactions_are_refused_to_those_who_need_them() {
    let test = "conforms::tables_without_transactions_are_refused_to_those_who_need_them";
    for storage in ["aria", "memory"] {
        let Some(engine) = server(test, &format!("storage={storage}")) else { return };
        assert!(engine.capabilities().sql.unwrap().isolation.is_empty(), "{storage}");
        let mut session = engine.session().unwrap();
        session.execute_text("CREATE TABLE kept (id BIGINT PRIMARY KEY)", &[]).unwrap();
        session.execute_text("INSERT INTO kept VALUES (1)", &[]).unwrap();
    }
}

#[test]
fn mysql() {
    if let Some(engine) = flavoured("conforms::mysql", Flavour::Mysql, "lock_timeout=1s") {
        conformance(&engine);
    }
}

#[test]
fn records() {
    for flavour in [Flavour::Mariadb, Flavour::Mysql] {
        if let Some(engine) = flavoured(&format!("conforms::records, {flavour:?}"), flavour, "lock_timeout=1s") {
            assert_eq!(records_conformance(&engine), ["keys can be hashed"], "{flavour:?}");
        }
    }
}

#[test]
fn mariadb_with_routines() {
    if let Some(engine) = server("conforms::mariadb_with_routines", "lock_timeout=1s&procedures=on") {
        routines_conformance(&engine, "CREATE PROCEDURE bourse_kit_taken(p_tier SMALLINT) SELECT 1");
    }
}

#[test]
fn mysql_has_no_such_routines() {
    if let Some(engine) = flavoured("conforms::mysql_has_no_such_routines", Flavour::Mysql, "procedures=on") {
        let refused = engine.session().map(drop).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
        assert!(refused.message().contains("`procedures=on` needs MariaDB"), "{refused}");
    }
}

/// A server answers such a commit as if it had made something durable.
#[test]
fn a_transaction_that_a_statement_has_ended_is_not_committed() {
    let test = "conforms::a_transaction_that_a_statement_has_ended_is_not_committed";
    for flavour in [Flavour::Mariadb, Flavour::Mysql] {
        let Some(engine) = flavoured(test, flavour, "lock_timeout=1s") else { continue };
        refuses_to_commit_what_has_ended(&engine);
    }
}
