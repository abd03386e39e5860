use crate::{flavoured, server};
use bourse_engine::{Access, Engine as _, ErrorKind, Isolation, Params, Sql};
use bourse_engine_mysql::Flavour;
use bourse_testkit::{conformance, records_conformance, routines_conformance};

#[test]
fn mariadb() {
    // Sessions of one thread wait for each other in vain, so patience is short.
    if let Some(engine) = server("conforms::mariadb", "lock_timeout=1s") {
        conformance(&engine);
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
    static COMMIT: Sql = Sql::new("COMMIT");
    let test = "conforms::a_transaction_that_a_statement_has_ended_is_not_committed";
    for flavour in [Flavour::Mariadb, Flavour::Mysql] {
        let Some(engine) = flavoured(test, flavour, "lock_timeout=1s") else { continue };
        let mut session = engine.session().unwrap();
        session.execute_text("CREATE TABLE ended (a INT)", &[]).unwrap();
        for is_prepared in [false, true] {
            session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
            session.execute_text("INSERT INTO ended VALUES (1)", &[]).unwrap();
            match is_prepared {
                true => session.execute(&COMMIT, Params::NONE).unwrap(),
                false => session.execute_text("ROLLBACK", &[]).unwrap(),
            };
            let refused = session.commit().unwrap_err();
            assert!(refused.message().contains("a statement in it has ended it"), "{refused}");
            session.rollback().unwrap();
            session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
            session.execute_text("INSERT INTO ended VALUES (2)", &[]).unwrap();
            session.commit().unwrap();
        }
    }
}
