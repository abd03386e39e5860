//! Berkeley DB SQL: SQLite 3.7.6 over another store, whose databases consist of a file and a folder.

use crate::other::one_session_works;
use crate::tpce::RUN;
use crate::{library, target};
use bourse_engine::{Access, Durability, Engine, Isolation, Params, RowExt as _, SessionExt as _, Sql};
use bourse_engine_sqlite_lib::{SqliteEngine, open};
use bourse_testkit::{
    conformance, folders_conformance, records_conformance, rounds_begin_alike, what_is_in_use_is_not_replaced,
};
use bourse_tpce::testkit::{DataCopy, LoadedData, RunSize, run_loaded_and_check, transactions_are_alike_on_loaded};
use std::path::{Path, PathBuf};

fn berkeley_db_sql(test: &str) -> Option<PathBuf> {
    library("BOURSE_BERKELEY_DB_SQL", "libdb_sql-5.3.so", test)
}

fn in_folder(folder: &Path, library: &Path, query: &str) -> SqliteEngine {
    open(&target(&folder.join("x"), library, query)).unwrap()
}

#[test]
fn it_works_in_memory() {
    let Some(library) = berkeley_db_sql("berkeley::it_works_in_memory") else { return };
    let engine = open(&target(Path::new(":memory:"), &library, "")).unwrap();
    assert!(engine.description().unwrap().version.starts_with("3.7.6"));
    one_session_works(&engine);
}

#[test]
fn it_conforms_in_a_folder() {
    let Some(library) = berkeley_db_sql("berkeley::it_conforms_in_a_folder") else { return };
    for query in ["", "sync=off&page_size=8192&threading=fullmutex"] {
        conformance(&in_folder(tempfile::tempdir().unwrap().path(), &library, query));
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(records_conformance(&in_folder(folder.path(), &library, "sync=off")), ["keys can be hashed"]);
}

#[test]
fn folders_that_are_not_its_own_are_left_alone() {
    let Some(library) = berkeley_db_sql("berkeley::folders_that_are_not_its_own_are_left_alone") else { return };
    let folder = tempfile::tempdir().unwrap();
    folders_conformance(folder.path(), &|path| Box::new(open(&target(path, &library, "")).unwrap()));
}

#[test]
fn what_is_sqlites_alone_is_refused() {
    let Some(library) = berkeley_db_sql("berkeley::what_is_sqlites_alone_is_refused") else { return };
    for setting in ["journal=wal", "journal=delete", "mmap=1MiB", "writers=sqlite", "locking=exclusive"] {
        let refused = open(&target(Path::new("x"), &library, setting)).map(|_| ()).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("'{setting}' cannot be used")) && refused.contains("its own way"),
            "{refused}"
        );
    }
}

#[test]
fn its_durability_is_its_logs() {
    let Some(library) = berkeley_db_sql("berkeley::its_durability_is_its_logs") else { return };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (query, class) in
        [("", Durability::Durable), ("sync=normal", Durability::Consistent), ("sync=off", Durability::Volatile)]
    {
        let engine = in_folder(folder.path(), &library, query);
        assert_eq!(engine.description().unwrap().durability, class, "{query}");
    }
}

static ADD: Sql = Sql::new("INSERT INTO thing VALUES (?1)");
static COUNT: Sql = Sql::new("SELECT count(*) FROM thing");

fn count(session: &mut dyn bourse_engine::Session) -> i64 {
    session.first(&COUNT, &[], |row| row.get::<i64>(0)).unwrap().unwrap()
}

/// Regression guard: without page versions the reader would wait for the writer, in one thread for ever.
#[test]
fn a_reader_goes_on_beside_the_writer() {
    let Some(library) = berkeley_db_sql("berkeley::a_reader_goes_on_beside_the_writer") else { return };
    let folder = tempfile::tempdir().unwrap();
    let engine = in_folder(folder.path(), &library, "");
    assert!(engine.capabilities().snapshots);
    let (mut writer, mut reader) = (engine.session().unwrap(), engine.session().unwrap());
    writer.execute_text("CREATE TABLE thing (id INTEGER PRIMARY KEY)", &[]).unwrap();
    writer.begin(Isolation::Serializable, Access::Write).unwrap();
    writer.execute(&ADD, Params::of(&[1.into()])).unwrap();
    assert_eq!(count(&mut *reader), 0);
    reader.begin(Isolation::Serializable, Access::Read).unwrap();
    assert_eq!(count(&mut *reader), 0);
    writer.commit().unwrap();
    writer.execute(&ADD, Params::of(&[2.into()])).unwrap();
    assert_eq!(count(&mut *reader), 0, "it sees what was there when it began");
    reader.commit().unwrap();
    assert_eq!(count(&mut *reader), 2);
}

#[test]
fn copies_are_the_database_as_it_was() {
    let Some(library) = berkeley_db_sql("berkeley::copies_are_the_database_as_it_was") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| open(&target(&folder.path().join(name), &library, "sync=off")).unwrap();
    rounds_begin_alike(&at("copied"));
    what_is_in_use_is_not_replaced(&at("used"));
}

/// A database with the tests' rows.
fn loaded(library: &Path) -> (DataCopy, SqliteEngine) {
    static LOADED: LoadedData = LoadedData::new();
    crate::loaded(&LOADED, &|folder| in_folder(folder, library, "sync=off&cache=256MiB"))
}

#[test]
fn the_workload_runs_and_reconciles() {
    let Some(library) = berkeley_db_sql("berkeley::the_workload_runs_and_reconciles") else { return };
    let (_copy, engine) = loaded(&library);
    run_loaded_and_check(&engine, RunSize { sessions: 3, ..RUN }, |_| {});
}

#[test]
fn some_hundred_transactions_are_alike() {
    let Some(library) = berkeley_db_sql("berkeley::some_hundred_transactions_are_alike") else { return };
    let (_copy, engine) = loaded(&library);
    transactions_are_alike_on_loaded(&engine, 400);
}

/// One transaction with more than the 8 MB of pages that Berkeley DB caches by default.
#[test]
fn a_large_transaction_fits_into_the_cache_of_the_target() {
    let Some(library) = berkeley_db_sql("berkeley::a_large_transaction_fits_into_the_cache_of_the_target") else {
        return;
    };
    static ADD: Sql = Sql::new("INSERT INTO thing VALUES (?1, zeroblob(2000))");
    let folder = tempfile::tempdir().unwrap();
    let engine = in_folder(folder.path(), &library, "sync=off&cache=64MiB");
    let mut loader = engine.loader().unwrap();
    loader.run("CREATE TABLE thing (id INTEGER PRIMARY KEY, bytes BLOB)").unwrap();
    loader.finish().unwrap();
    let mut session = engine.session().unwrap();
    session.begin(Isolation::Serializable, Access::Write).unwrap();
    for id in 0..10_000 {
        session.execute(&ADD, Params::of(&[id.into()])).unwrap();
    }
    session.commit().unwrap();
    assert_eq!(count(&mut *session), 10_000);
}
