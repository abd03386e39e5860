use crate::{folder, has, in_memory};
use bourse_engine::{Access, Engine as _, ErrorKind, Isolation, Params, Sql};
use bourse_engine_jdbc::open;
use bourse_testkit::{
    conformance, folders_conformance, records_conformance, rounds_begin_alike, what_is_in_use_is_not_replaced,
};

/// Targets that give the seam's guarantees: scheme and options.
const TARGETS: [(&str, &str); 3] =
    [("jdbc+h2", "lock_timeout=1s"), ("jdbc+hsqldb", ""), ("jdbc+derby", "lock_timeout=1s")];

fn memory(scheme: &str) {
    for (_, query) in TARGETS.iter().filter(|(known, _)| *known == scheme) {
        if let Some(engine) = in_memory(scheme, "conforms::memory", query) {
            conformance(&engine);
        }
    }
}

fn files(scheme: &str) {
    for (at, (_, query)) in TARGETS.iter().enumerate().filter(|(_, (known, _))| *known == scheme) {
        if has(scheme, "conforms::files") {
            let folder = folder();
            let path = folder.path().join(at.to_string());
            conformance(&open(&format!("{scheme}:{}?{query}", path.display())).unwrap());
        }
    }
}

fn records(scheme: &str) {
    if let Some(engine) = in_memory(scheme, "conforms::records", "") {
        assert_eq!(records_conformance(&engine), ["keys can be hashed"]);
    }
}

fn left_alone(scheme: &str) {
    if has(scheme, "conforms::left_alone") {
        let folder = folder();
        folders_conformance(folder.path(), &|path| Box::new(open(&format!("{scheme}:{}", path.display())).unwrap()));
    }
}

fn copies(scheme: &str) {
    if has(scheme, "conforms::copies") {
        let folder = folder();
        let at = |name: &str| open(&format!("{scheme}:{}", folder.path().join(name).display())).unwrap();
        rounds_begin_alike(&at("copied"));
        what_is_in_use_is_not_replaced(&at("used"));
    }
}

macro_rules! of_each {
    ($($name:ident: $scheme:literal,)*) => {$(
        mod $name {
            #[test]
            fn memory() {
                super::memory($scheme);
            }

            #[test]
            fn files() {
                super::files($scheme);
            }

            #[test]
            fn records() {
                super::records($scheme);
            }

            #[test]
            fn what_it_did_not_make_is_left_alone() {
                super::left_alone($scheme);
            }

            #[test]
            fn copies_are_the_database_as_it_was() {
                super::copies($scheme);
            }
        }
    )*};
}

of_each! {
    h2: "jdbc+h2",
    hsqldb: "jdbc+hsqldb",
    derby: "jdbc+derby",
}

#[test]
fn monetdb_statements_survive_a_rollback() {
    let Some(engine) = in_memory("jdbc+monetdb", "conforms::monetdb_statements", "") else { return };
    static COUNT: Sql = Sql::new("SELECT count(*) FROM t");
    let mut loader = engine.loader().unwrap();
    loader.run("CREATE TABLE t (id BIGINT PRIMARY KEY)").unwrap();
    loader.finish().unwrap();
    let mut session = engine.session().unwrap();
    for _ in 0..3 {
        session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        let mut rows = 0;
        session
            .query(&COUNT, Params::of(&[]), &mut |_| {
                rows += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(rows, 1);
        session.rollback().unwrap();
    }
}

#[test]
fn monetdb_statements_survive_an_error_outside_of_a_transaction() {
    let test = "conforms::monetdb_statements_survive_an_error_outside_of_a_transaction";
    let Some(engine) = in_memory("jdbc+monetdb", test, "") else { return };
    static ADD: Sql = Sql::new("INSERT INTO t VALUES (?1)");
    let mut loader = engine.loader().unwrap();
    loader.run("CREATE TABLE t (id BIGINT PRIMARY KEY)").unwrap();
    loader.finish().unwrap();
    let mut session = engine.session().unwrap();
    for id in 0..3 {
        session.execute(&ADD, Params::of(&[id.into()])).unwrap();
        let refused = session.execute(&ADD, Params::of(&[id.into()])).unwrap_err();
        assert!(!refused.message().contains("No prepared statement"), "{refused}");
    }
}

#[test]
fn it_describes_itself() {
    let Some(engine) = in_memory("jdbc+h2", "conforms::it_describes_itself", "") else { return };
    let description = engine.description().unwrap();
    let setting = |name: &str| description.settings.iter().find(|setting| setting.name == name).unwrap().value.clone();
    assert!(setting("java_version").starts_with(|first: char| first.is_ascii_digit()));
    assert!(setting("heap_bytes_max").parse::<u64>().unwrap() > 1 << 20);
    assert_eq!(setting("lock_timeout"), "10s");
    assert!(setting("java_arguments").contains("-Xrs"));
    assert!(description.version.starts_with(|first: char| first.is_ascii_digit()), "{}", description.version);
}

/// Duplicate keys in snapshots: two transactions may each find a key free. The second one to take it has met a conflict, since
/// it violates nothing that it could have seen.
#[test]
fn a_key_that_an_unseen_row_has_is_a_conflict() {
    let Some(engine) = in_memory("jdbc+h2", "conforms::a_key_that_an_unseen_row_has_is_a_conflict", "") else { return };
    let mut loader = engine.loader().unwrap();
    loader.run("CREATE TABLE pair (a BIGINT NOT NULL, b BIGINT NOT NULL, PRIMARY KEY (a, b))").unwrap();
    loader.finish().unwrap();
    let [mut first, mut second] = [engine.session().unwrap(), engine.session().unwrap()];
    for session in [&mut first, &mut second] {
        session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        session.query_text("SELECT a FROM pair", &[], &mut |_| Ok(())).unwrap();
    }
    first.execute_text("INSERT INTO pair VALUES (1, 2)", &[]).unwrap();
    let seen = first.execute_text("INSERT INTO pair VALUES (1, 2)", &[]).unwrap_err();
    assert_eq!(seen.kind(), ErrorKind::Duplicate, "{seen}");
    first.commit().unwrap();
    let unseen = second.execute_text("INSERT INTO pair VALUES (1, 2)", &[]).unwrap_err();
    assert_eq!(unseen.kind(), ErrorKind::Conflict, "{unseen}");
    second.rollback().unwrap();
    second.begin(Isolation::RepeatableRead, Access::Write).unwrap();
    let seen = second.execute_text("INSERT INTO pair VALUES (1, 2)", &[]).unwrap_err();
    assert_eq!(seen.kind(), ErrorKind::Duplicate, "{seen}");
}
