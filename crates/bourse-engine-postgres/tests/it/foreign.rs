//! Databases of users on a server that Bourse loads into: their content stays, whatever they are named.

use crate::loads::column;
use crate::server;
use bourse_engine::{Engine, ErrorKind, Session};
use bourse_testkit::server::{begin_load, names};

/// Objects of a person's on or beside the loaded table: the statement that makes each, the one that removes it, its name.
pub(crate) const ON_A_TABLE: [(&str, &str, &str); 7] = [
    ("CREATE RULE own AS ON INSERT TO status_type DO ALSO NOTHING", "DROP RULE own ON status_type", "rule own"),
    ("CREATE POLICY own ON status_type", "DROP POLICY own ON status_type", "policy own"),
    ("CREATE STATISTICS own ON st_id, st_name FROM status_type", "DROP STATISTICS own", "statistics own"),
    ("CREATE COLLATION own FROM \"C\"", "DROP COLLATION own", "collation own"),
    (
        "CREATE TEXT SEARCH CONFIGURATION own (COPY = simple)",
        "DROP TEXT SEARCH CONFIGURATION own",
        "text search configuration own",
    ),
    (
        "CREATE OPERATOR === (FUNCTION = int4eq, LEFTARG = int4, RIGHTARG = int4)",
        "DROP OPERATOR === (int4, int4)",
        "operator ===",
    ),
    ("ALTER DATABASE bourse IS_TEMPLATE true", "ALTER DATABASE bourse IS_TEMPLATE false", "role as a template"),
];

/// Runs statements, each of which must succeed.
fn run(session: &mut dyn Session, statements: &[&str]) {
    for sql in statements {
        session.query_text(sql, &[], &mut |_| Ok(())).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Everything that the database contains, with numbers that a recreated object would not have.
fn objects(session: &mut dyn Session) -> Vec<String> {
    column(
        session,
        "SELECT concat_ws(' ', c.oid, pg_relation_filenode(c.oid), n.nspname, c.relname, obj_description(c.oid))
           FROM pg_class c INNER JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname NOT IN ('pg_catalog', 'pg_toast', 'information_schema')
         UNION ALL SELECT concat_ws(' ', oid, proname) FROM pg_proc WHERE oid > 16383
         UNION ALL SELECT concat_ws(' ', oid, nspname) FROM pg_namespace
         UNION ALL SELECT concat_ws(' ', oid, datname) FROM pg_database
         ORDER BY 1",
    )
}

/// Checks that the loader refuses, names what it found, and has changed nothing.
fn assert_left_alone(engine: &dyn Engine, words: &[&str]) {
    let mut session = engine.session().unwrap();
    let before = objects(&mut *session);
    let refused = engine.loader().map(|_| ()).unwrap_err();
    for word in words {
        assert!(refused.message().contains(word), "{refused} does not say {word:?}");
    }
    assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
    assert_eq!(objects(&mut *session), before);
}

#[test]
fn what_bears_no_mark_is_never_replaced() {
    let Some(engine) = server("foreign::what_bears_no_mark_is_never_replaced", "lock_timeout=1s") else { return };
    let mut session = engine.session().unwrap();
    let function = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'";
    for ours in [false, true] {
        if ours {
            begin_load(&engine, &["OURS"]).finish().unwrap();
            assert_eq!(engine.foreign().unwrap(), None);
        } else {
            run(&mut *session, &["CREATE TABLE status_type (st_id INT)"]);
            assert_left_alone(&engine, &["table status_type"]);
            run(&mut *session, &["DROP TABLE status_type"]);
        }
        let mut found = vec![
            ("CREATE TABLE thesis (years_of_work TEXT)", "DROP TABLE thesis", "table thesis"),
            ("CREATE TABLE noted (id SERIAL)", "DROP TABLE noted", "sequence noted_id_seq"),
            ("CREATE VIEW mine AS SELECT 1 AS one", "DROP VIEW mine", "view mine"),
            (
                "CREATE MATERIALIZED VIEW mine AS SELECT 1 AS one",
                "DROP MATERIALIZED VIEW mine",
                "materialized view mine",
            ),
            ("CREATE SEQUENCE counted", "DROP SEQUENCE counted", "sequence counted"),
            (function, "DROP FUNCTION f", "function f"),
            ("CREATE TYPE colour AS ENUM ('red')", "DROP TYPE colour", "type colour"),
            ("CREATE SCHEMA ledger", "DROP SCHEMA ledger", "schema ledger"),
            ("CREATE PUBLICATION told", "DROP PUBLICATION told", "publication told"),
        ];
        if ours {
            run(&mut *session, &["CREATE SCHEMA other", "CREATE TABLE other.status_type (st_id INT)"]);
            // The mark of a table elsewhere is no loader's.
            run(&mut *session, &["COMMENT ON TABLE other.status_type IS 'made by bourse as status_type'"]);
            assert_left_alone(&engine, &["table other.status_type"]);
            run(&mut *session, &["DROP SCHEMA other CASCADE", function]);
            let trigger = "CREATE TRIGGER t BEFORE INSERT ON status_type FOR EACH ROW EXECUTE FUNCTION f()";
            run(&mut *session, &[trigger]);
            assert_left_alone(&engine, &["function f, trigger t"]);
            run(&mut *session, &["DROP TRIGGER t ON status_type", "DROP FUNCTION f"]);
            found.extend(ON_A_TABLE);
            found.push(("CREATE TABLE mine (a INT REFERENCES other (a))", "DROP TABLE mine", "table mine"));
            run(
                &mut *session,
                &["CREATE TABLE other (a INT PRIMARY KEY)", "COMMENT ON TABLE other IS 'made by bourse as other'"],
            );
        }
        for (make, unmake, words) in found {
            run(&mut *session, &[make]);
            let told = engine.foreign().unwrap().unwrap();
            assert!(told.contains(words), "{told}");
            assert!(engine.exists().unwrap(), "there is something: {words}");
            assert_left_alone(&engine, &["database \"bourse\"", words, "left as it is", "name another database"]);
            run(&mut *session, &[unmake]);
        }
    }
    // A renamed table still has the comment that it was made with.
    run(&mut *session, &["ALTER TABLE status_type RENAME TO status_type_2025"]);
    assert_left_alone(&engine, &["table status_type_2025"]);
    run(&mut *session, &["ALTER TABLE status_type_2025 RENAME TO status_type"]);
    // What belongs to an extension does not count; a table with numbers of its own does, whole.
    assert!(engine.integrity_check().unwrap().is_none_or(|found| found.is_empty()));
    assert_eq!(engine.foreign().unwrap(), None);
    begin_load(&engine, &["NEW"]).finish().unwrap();
    assert_eq!(names(&engine), ["NEW"]);
}

#[test]
fn what_comes_while_a_load_runs_is_seen_at_its_end() {
    let test = "foreign::what_comes_while_a_load_runs_is_seen_at_its_end";
    let Some(engine) = server(test, "lock_timeout=1s") else { return };
    begin_load(&engine, &["OLD"]).finish().unwrap();
    let mut session = engine.session().unwrap();
    let loading = begin_load(&engine, &["NEW"]);
    run(&mut *session, &["CREATE TABLE thesis (years_of_work TEXT)"]);
    let before = objects(&mut *session);
    let refused = loading.finish().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
    assert!(refused.message().contains("table thesis"), "{refused}");
    assert_eq!(objects(&mut *session), before, "the load is gone, and nothing else has changed");
    assert_eq!(names(&engine), ["OLD"]);
}

#[test]
fn a_loaded_database_holds_what_can_bear_the_mark() {
    let test = "foreign::a_loaded_database_holds_what_can_bear_the_mark";
    let Some(engine) = server(test, "lock_timeout=1s") else { return };
    let mut loader = begin_load(&engine, &["NEW"]);
    for sql in [
        "CREATE TABLE IF NOT EXISTS other (a INT)",
        "CREATE TABLE copied AS SELECT * FROM status_type",
        "CREATE TABLE counted (a BIGINT PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY)",
        "CREATE TABLE numbered (a SERIAL, b INT REFERENCES counted (a), CHECK (b > 0))",
        "CREATE INDEX by_b ON numbered (b)",
    ] {
        loader.run(sql).unwrap();
    }
    loader.finish().unwrap();
    assert_eq!(engine.foreign().unwrap(), None, "whatever way a table was made, it bears the mark");
    let function = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'";
    let trigger = "CREATE TRIGGER own BEFORE INSERT ON status_type FOR EACH ROW \
                   EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()";
    let rule = "CREATE RULE own AS ON INSERT TO status_type DO ALSO NOTHING";
    for (sql, name) in [
        ("CREATE VIEW mine AS SELECT st_id FROM status_type", "view mine"),
        ("CREATE TABLE parts (a INT) PARTITION BY RANGE (a)", "table parts"),
        ("CREATE SEQUENCE counter", "sequence counter"),
        (function, "function f()"),
        ("CREATE TYPE colour AS ENUM ('red')", "type colour"),
        ("CREATE DOMAIN positive AS INT CHECK (VALUE > 0)", "type positive"),
        ("CREATE COLLATION own FROM \"C\"", "collation own"),
        (&trigger.replace("INSERT", "UPDATE"), "trigger own on table status_type"),
        (rule, "rule own on table status_type"),
        ("CREATE POLICY own ON status_type", "policy own on table status_type"),
        ("CREATE STATISTICS own ON st_id, st_name FROM status_type", "statistics object own"),
    ] {
        let expected =
            format!("a loaded database holds tables and indexes alone on this engine; this one was to have {name}");
        // A statement is named where its first word shows that it makes something.
        let hidden = format!("DO $do$ BEGIN {sql}; END $do$");
        for (sql, is_named) in [(sql, true), (&*hidden, false)] {
            let mut loader = begin_load(&engine, &["NEWER"]);
            let ran = loader.run(sql);
            assert_eq!(ran.is_err(), is_named, "{sql}: {ran:?}");
            let refused = ran.and_then(|()| loader.finish()).unwrap_err();
            assert_eq!((refused.kind(), refused.message()), (ErrorKind::Unsupported, &*expected), "{sql}");
            assert_eq!(refused.statement().is_some(), is_named, "{refused}");
            assert_eq!((names(&engine), engine.foreign().unwrap()), (vec!["NEW".to_owned()], None), "nothing stays");
        }
    }
}

/// Regression: a database that an account may not read was called one that Bourse had not made.
#[test]
fn a_right_to_read_that_is_missing_is_named() {
    let Some(engine) = server("foreign::a_right_to_read_that_is_missing_is_named", "lock_timeout=1s") else { return };
    begin_load(&engine, &["OURS"]).finish().unwrap();
    let mut session = engine.session().unwrap();
    run(&mut *session, &["CREATE ROLE \"Ann\" LOGIN"]);
    let data = engine.location().folder().unwrap();
    let socket = data.parent().unwrap().display();
    let of_ann = bourse_engine_postgres::open(&format!("postgres://Ann@localhost/bourse?socket={socket}")).unwrap();
    let refused = of_ann.foreign().unwrap_err();
    let grant = "GRANT ALL ON ALL TABLES IN SCHEMA public TO \"Ann\"";
    assert_eq!(refused.kind(), ErrorKind::Denied, "{refused}");
    assert_eq!(
        refused.message(),
        format!("\"Ann\" may not read table status_type of database \"bourse\"; {grant} gives the right")
    );
    run(&mut *session, &[grant]);
    assert_eq!(of_ann.foreign().unwrap(), None);
    run(&mut *session, &["REVOKE ALL ON ALL TABLES IN SCHEMA public FROM \"Ann\"", "CREATE TABLE thesis (words TEXT)"]);
    assert!(
        of_ann.foreign().unwrap().is_some_and(|why| why.contains("table thesis")),
        "what is somebody's comes first"
    );
}
