//! Databases of users on a server that Bourse loads into: their content stays, whatever they are named.

use crate::flavoured;
use bourse_engine::{Engine, ErrorKind, Session};
use bourse_engine_mysql::{Flavour, MysqlEngine};
use bourse_testkit::ServerDump;
use bourse_testkit::server::{begin_load, names};

/// Runs statements, each of which must succeed.
fn run(session: &mut dyn Session, statements: &[&str]) {
    for sql in statements {
        session.query_text(sql, &[], &mut |_| Ok(())).unwrap();
    }
}

/// Runs `body` on a server of each flavour that is installed.
fn each_server(test: &str, body: impl Fn(&MysqlEngine)) {
    for flavour in [Flavour::Mariadb, Flavour::Mysql] {
        if let Some(engine) = flavoured(test, flavour, "lock_timeout=1s") {
            body(&engine);
        }
    }
}

/// Checks that the loader refuses, names what it found, and has changed nothing on the whole server.
fn assert_left_alone(engine: &MysqlEngine, words: &[&str]) {
    let mut session = engine.session().unwrap();
    let before = ServerDump::of(&mut *session);
    let refused = engine.loader().map(|_| ()).unwrap_err();
    for word in words {
        assert!(refused.message().contains(word), "{refused} does not say {word:?}");
    }
    assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
    assert_eq!(ServerDump::of(&mut *session), before);
}

#[test]
fn what_bears_no_mark_is_never_replaced() {
    each_server("foreign::what_bears_no_mark_is_never_replaced", |engine| {
        let mut session = engine.session().unwrap();
        for ours in [false, true] {
            if ours {
                begin_load(engine, &["OURS"]).finish().unwrap();
                assert_eq!(engine.foreign().unwrap(), None);
            } else {
                run(&mut *session, &["CREATE TABLE status_type (st_id INT)"]);
                assert_left_alone(engine, &["table `status_type`"]);
                run(&mut *session, &["DROP TABLE status_type"]);
            }
            let mut found = vec![
                ("CREATE TABLE thesis (years_of_work TEXT)", "DROP TABLE thesis", "table `thesis`"),
                ("CREATE VIEW mine AS SELECT 1 AS one", "DROP VIEW mine", "view `mine`"),
                ("CREATE PROCEDURE p () SELECT 1", "DROP PROCEDURE p", "routine `p`"),
                (
                    "CREATE EVENT e ON SCHEDULE EVERY 1 YEAR STARTS '2037-01-01' DO SELECT 1",
                    "DROP EVENT e",
                    "event `e`",
                ),
            ];
            if ours {
                found.push((
                    "CREATE TRIGGER t BEFORE INSERT ON status_type FOR EACH ROW SET @mine = 1",
                    "DROP TRIGGER t",
                    "trigger `t`",
                ));
            }
            for (make, unmake, words) in found {
                run(&mut *session, &[make]);
                let told = engine.foreign().unwrap().unwrap();
                assert!(told.contains(words), "{told}");
                assert!(engine.exists().unwrap(), "there is something: {words}");
                assert_left_alone(engine, &["database `bourse`", words, "left as it is", "name another database"]);
                run(&mut *session, &[unmake]);
            }
        }
        // A copy or a renamed table still has the comment of the table that was made.
        run(&mut *session, &["CREATE TABLE mine LIKE status_type", "INSERT INTO mine SELECT * FROM status_type"]);
        assert_left_alone(engine, &["table `mine`"]);
        run(&mut *session, &["DROP TABLE mine", "RENAME TABLE status_type TO status_type_2025"]);
        assert_left_alone(engine, &["table `status_type_2025`"]);
        run(&mut *session, &["RENAME TABLE status_type_2025 TO status_type"]);
        begin_load(engine, &["NEW"]).finish().unwrap();
        assert_eq!(names(engine), ["NEW"]);
    });
}

/// Regression: both were dropped for their names alone.
#[test]
fn databases_of_the_names_that_loading_uses_are_looked_at_first() {
    each_server("foreign::databases_of_the_names_that_loading_uses_are_looked_at_first", |engine| {
        let mut session = engine.session().unwrap();
        for name in ["bourse_bourse_loading", "bourse_bourse_old"] {
            // Empty, it may have grants and a character set of somebody's.
            run(&mut *session, &[&format!("CREATE DATABASE {name} CHARACTER SET ascii")]);
            assert_left_alone(engine, &[&format!("database `{name}` is there"), "drop or rename it"]);
            run(&mut *session, &[&format!("CREATE TABLE {name}.thesis (years_of_work TEXT)")]);
            run(&mut *session, &[&format!("INSERT INTO {name}.thesis VALUES ('all of them')")]);
            assert_left_alone(engine, &[&format!("database `{name}` holds"), "table `thesis`"]);
            // Tables with the mark alone do not make it a loader's: a person may have loaded a database of that name.
            run(&mut *session, &[&format!("ALTER TABLE {name}.thesis COMMENT = 'made by bourse as thesis'")]);
            assert_left_alone(engine, &[&format!("database `{name}` is there")]);
            run(&mut *session, &[&format!("DROP DATABASE {name}")]);
        }
    });
}

#[test]
fn what_comes_while_a_load_runs_is_seen_at_its_end() {
    each_server("foreign::what_comes_while_a_load_runs_is_seen_at_its_end", |engine| {
        begin_load(engine, &["OLD"]).finish().unwrap();
        let mut session = engine.session().unwrap();
        let loading = begin_load(engine, &["NEW"]);
        run(&mut *session, &["CREATE TABLE thesis (years_of_work TEXT)"]);
        let before = ServerDump::of(&mut *session).without("bourse_bourse_loading");
        let refused = loading.finish().unwrap_err();
        assert!(refused.message().contains("table `thesis`"), "{refused}");
        assert_eq!(ServerDump::of(&mut *session), before, "the load is gone, and nothing else has changed");
        run(&mut *session, &["DROP TABLE thesis"]);

        let loading = begin_load(engine, &["NEW"]);
        run(&mut *session, &["CREATE DATABASE bourse_bourse_old"]);
        let refused = loading.finish().unwrap_err();
        assert!(refused.message().contains("`bourse_bourse_old`"), "{refused}");
        run(&mut *session, &["DROP DATABASE bourse_bourse_old"]);

        // A foreign key of somebody's would refer to nothing after the exchange.
        run(
            &mut *session,
            &[
                "CREATE DATABASE ledger",
                "CREATE TABLE ledger.mine (st CHAR(4) CHARACTER SET latin1 COLLATE latin1_bin,
                    FOREIGN KEY (st) REFERENCES bourse.status_type (st_id))",
            ],
        );
        assert_left_alone(engine, &["foreign keys of `ledger`.`mine`", "`bourse`"]);
    });
}

#[test]
fn a_loaded_database_holds_what_can_bear_the_mark() {
    each_server("foreign::a_loaded_database_holds_what_can_bear_the_mark", |engine| {
        let mut loader = begin_load(engine, &["NEW"]);
        for sql in [
            "CREATE TABLE IF NOT EXISTS other (a INT)",
            "CREATE TABLE copied AS SELECT * FROM status_type",
            "CREATE TABLE commented (a INT) COMMENT 'mine'",
        ] {
            loader.run(sql).unwrap();
        }
        loader.finish().unwrap();
        assert_eq!(engine.foreign().unwrap(), None, "whatever way a table was made, it bears the mark");
        let mut loader = begin_load(engine, &["NEWER"]);
        loader.run("CREATE VIEW mine AS SELECT st_id FROM status_type").unwrap();
        let refused = loader.finish().unwrap_err();
        assert!(refused.message().contains("tables and indexes alone") && refused.message().contains("view `mine`"));
        assert_eq!(names(engine), ["NEW"]);
    });
}
