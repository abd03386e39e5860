//! Products with MySQL's protocol, on private servers.

use crate::flavoured;
use bourse_engine::{Durability, Engine as _, ErrorKind, Hold, Isolation, RowExt as _, SessionExt as _, Sql};
use bourse_engine_mysql::{Flavour, MysqlEngine, open};
use bourse_testkit::server::comes_back_with_what_was_committed;
use bourse_testkit::server::{begin_load, names};
use bourse_tpce::testkit::{RunSize, run_and_check, transactions_are_alike};

const RUN: RunSize = RunSize { transactions: 360, results: 10, sessions: 1 };

fn each(test: &str, query: &str, body: impl Fn(&MysqlEngine, Flavour)) {
    for flavour in [Flavour::Tidb, Flavour::Vitess] {
        if let Some(engine) = flavoured(&format!("products::{test}, {flavour:?}"), flavour, query) {
            body(&engine, flavour);
        }
    }
}

#[test]
fn the_workload_runs_and_keeps_the_books() {
    for query in ["", "foreign_keys=off"] {
        each("the_workload_runs_and_keeps_the_books", query, |engine, _| run_and_check(engine, RUN, |_| ()));
    }
}

#[test]
fn some_hundred_transactions_are_alike() {
    each("some_hundred_transactions_are_alike", "", |engine, _| transactions_are_alike(engine, 300));
}

#[test]
fn a_load_is_in_place() {
    each("a_load_is_in_place", "", |engine, _| {
        begin_load(engine, &["OLD"]).finish().unwrap();
        assert_eq!(names(engine), ["OLD"]);
        let unfinished = begin_load(engine, &["NEW"]);
        let refused = engine.loader().map(|_| ()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "two loads of one target would mix: {refused}");
        drop(unfinished);
        assert_eq!((engine.exists().unwrap(), engine.leftovers().unwrap()), (false, None));
        begin_load(engine, &["NEW"]).finish().unwrap();
        assert_eq!((names(engine), engine.leftovers().unwrap()), (vec!["NEW".to_owned()], None));
        let mut session = engine.session().unwrap();
        session.query_text("CREATE TABLE thesis (years_of_work INT PRIMARY KEY)", &[], &mut |_| Ok(())).unwrap();
        let refused = engine.loader().map(|_| ()).unwrap_err();
        assert!(refused.message().contains("table `thesis`"), "{refused}");
        assert_eq!(names(engine), ["NEW"], "what was there is left as it was");
    });
}

#[test]
fn keys_and_checks_that_are_declared_are_enforced() {
    static ORPHAN: Sql = Sql::new("INSERT INTO kit_child VALUES (1, 7)");
    static BAD: Sql = Sql::new("INSERT INTO kit_parent VALUES (8, -1)");
    each("keys_and_checks_that_are_declared_are_enforced", "", |engine, flavour| {
        let mut loader = engine.loader().unwrap();
        loader.run("CREATE TABLE kit_parent (id BIGINT PRIMARY KEY, n INT, CHECK (n > 0))").unwrap();
        let child =
            "CREATE TABLE kit_child (id BIGINT PRIMARY KEY, p BIGINT, FOREIGN KEY (p) REFERENCES kit_parent (id))";
        loader.run(child).unwrap();
        loader.finish().unwrap();
        let mut session = engine.session().unwrap();
        for sql in [&ORPHAN, &BAD] {
            let refused = session.execute(sql, bourse_engine::Params::of(&[])).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Constraint, "{flavour:?}: {refused}");
        }
    });
}

#[test]
fn a_server_is_described_as_what_it_is() {
    for (flavour, strictest) in [(Flavour::Tidb, Isolation::RepeatableRead), (Flavour::Vitess, Isolation::Serializable)]
    {
        let name = format!("products::a_server_is_described_as_what_it_is, {flavour:?}");
        let Some(engine) = flavoured(&name, flavour, "") else { continue };
        let capabilities = engine.capabilities().sql.unwrap();
        assert_eq!(capabilities.isolation.last(), Some(&strictest));
        let described = engine.description().unwrap();
        assert_eq!(described.engine, flavour.name());
        let is_in_memory = std::path::Path::new("/dev/shm").is_dir();
        let class = if is_in_memory { Durability::Volatile } else { Durability::Unknown };
        assert_eq!(described.durability, class, "{}", described.durability_reason);
        static ONE: Sql = Sql::new("SELECT 1");
        assert_eq!(engine.session().unwrap().first(&ONE, &[], |_| Ok(1)).unwrap(), Some(1));
    }
}

/// Regression test: a second command on a database of a Vitess server ended with an error in place of its holder.
#[test]
fn the_holder_of_a_database_is_reported() {
    static DATABASE: Sql = Sql::new("SELECT DATABASE()");
    // A private server plays a person's.
    each("the_holder_of_a_database_is_reported", "", |private, flavour| {
        let mut session = private.session().unwrap();
        let data = private.location().folder().unwrap();
        let socket = data.parent().unwrap().join("s").display().to_string();
        let database = session.first(&DATABASE, &[], |row| row.get::<String>(0)).unwrap().unwrap();
        let engine = || open(&format!("mysql://root@localhost/{database}?socket={socket}")).unwrap();
        let held = engine().hold("").unwrap();
        assert!(matches!(held, Hold::Held(_)), "{flavour:?}");
        assert!(matches!(engine().hold("").unwrap(), Hold::Nothing), "{flavour:?}: this process has it already");
        drop(held);
        // Another process's: 5 has the bits 0 and 2.
        let locks = ["", ":0", ":2"].map(|rest| format!("GET_LOCK('bourse:{database}{rest}', 10)")).join(", ");
        session.query_text(&format!("SELECT {locks} FROM DUAL"), &[], &mut |_| Ok(())).unwrap();
        let Hold::InUse(holder) = engine().hold("").unwrap() else { panic!("{flavour:?}: it is held") };
        assert!(holder.contains(&("process".to_owned(), "5".to_owned())), "{flavour:?}: {holder:?}");
        assert_eq!(holder.iter().any(|(name, _)| name == "since"), flavour == Flavour::Tidb, "{holder:?}");
    });
}

#[test]
fn a_killed_server_comes_back_with_what_was_committed() {
    each("a_killed_server_comes_back_with_what_was_committed", "", |engine, flavour| {
        // Vitess' own process is the gate; killed alone, the server below it would stay.
        if flavour == Flavour::Tidb {
            comes_back_with_what_was_committed(engine, &|| engine.server_process());
        }
    });
}
