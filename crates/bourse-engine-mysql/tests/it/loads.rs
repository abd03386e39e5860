use crate::server;
use bourse_engine::{Access, Engine, ErrorKind, Isolation, Loader, RowExt as _, SessionExt as _, Sql};
use bourse_schema::tables::StatusType;
use bourse_schema::{Rows, TableRow as _, Text, create_table};

/// Loads `names` into the one table, up to the finish.
fn begin_load(engine: &dyn Engine, names: &[&str]) -> Box<dyn Loader> {
    let row = |name: &&str| StatusType { st_id: Text::cut(name), st_name: Text::cut(name) };
    let mut loader = engine.loader().unwrap();
    loader.run(&create_table(StatusType::table(), engine.dialect(), true)).unwrap();
    loader.insert(&Rows(names.iter().map(row).collect())).unwrap();
    loader
}

fn names(engine: &dyn Engine) -> Vec<String> {
    static ALL: Sql = Sql::new("SELECT st_id FROM status_type ORDER BY st_id");
    engine.connect().unwrap().all(&ALL, &[], |row| row.get(0)).unwrap()
}

fn databases(engine: &dyn Engine) -> Vec<String> {
    let mut found = Vec::new();
    engine
        .connect()
        .unwrap()
        .query_text(
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'bourse%'",
            &[],
            &mut |row| {
                found.push(row.get(0)?);
                Ok(())
            },
        )
        .unwrap();
    found
}

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
    assert_eq!(databases(&engine), ["bourse"], "a dropped load left something");

    // A session in a transaction that has read the database keeps it.
    let mut session = engine.connect().unwrap();
    session.begin(Isolation::RepeatableRead, Access::Read).unwrap();
    static COUNT: Sql = Sql::new("SELECT count(*) FROM status_type");
    assert_eq!(session.first(&COUNT, &[], |row| row.get::<i64>(0)).unwrap(), Some(1));
    let refused = begin_load(&engine, &["NEW"]).finish().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.message().contains("in use"), "{refused}");
    session.rollback().unwrap();
    assert_eq!(names(&engine), ["OLD"]);

    // What a killed load has left, even after it had taken the old tables away, is no database.
    session.query_text("CREATE DATABASE bourse_bourse_loading", &[], &mut |_| Ok(())).unwrap();
    session.query_text("CREATE DATABASE IF NOT EXISTS bourse_bourse_old", &[], &mut |_| Ok(())).unwrap();
    begin_load(&engine, &["NEW"]).finish().unwrap();
    assert_eq!(names(&engine), ["NEW"]);
    assert_eq!(databases(&engine), ["bourse"]);
}

#[test]
fn tables_of_somebody_else_are_not_replaced() {
    let Some(engine) = server("loads::tables_of_somebody_else_are_not_replaced", "") else { return };
    let mut session = engine.connect().unwrap();
    session.query_text("CREATE TABLE thesis (years_of_work TEXT)", &[], &mut |_| Ok(())).unwrap();
    let refused = engine.loader().map(|_| ()).unwrap_err();
    assert!(refused.message().contains("thesis") && refused.message().contains("not be replaced"), "{refused}");
    session.query_text("DROP TABLE thesis", &[], &mut |_| Ok(())).unwrap();
    begin_load(&engine, &["NEW"]).finish().unwrap();
    session.query_text("CREATE VIEW mine AS SELECT st_id FROM status_type", &[], &mut |_| Ok(())).unwrap();
    let refused = engine.loader().map(|_| ()).unwrap_err();
    assert!(refused.message().contains("mine"), "{refused}");
}
