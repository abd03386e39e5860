//! Snapshots of a database, from which all rounds begin alike.

use bourse_engine::{Engine, ErrorKind, Result, RowExt as _, Session, SessionExt as _};

/// Makes a table of numbers with the number 1 in it.
pub fn with_one_number(engine: &dyn Engine) {
    with_one_number_in_a_log(engine, &|| ());
}

/// Makes a table of numbers with the number 1 in it, which is in the log as long as the result of `open` holds the database open.
pub fn with_one_number_in_a_log<S>(engine: &dyn Engine, open: &dyn Fn() -> S) -> S {
    let mut loader = engine.loader().unwrap();
    loader.run("CREATE TABLE numbers (n BIGINT NOT NULL PRIMARY KEY)").unwrap();
    loader.finish().unwrap();
    let opened = open();
    add_one(engine);
    opened
}

fn add_one(engine: &dyn Engine) {
    engine.session().unwrap().execute_text("INSERT INTO numbers VALUES (1)", &[]).unwrap();
}

/// Numbers in that table, in order.
pub fn numbers(engine: &dyn Engine) -> Vec<i64> {
    engine.session().unwrap().text_rows("SELECT n FROM numbers ORDER BY n", |row| row.get(0)).unwrap()
}

/// Runs a statement without parameters.
pub fn run(session: &mut dyn Session, sql: &str) -> Result<u64> {
    session.execute_text(sql, &[])
}

/// Number that a query returns, in its last row; `None` without a row, and for NULL.
pub fn number(session: &mut dyn Session, sql: &str) -> Option<i64> {
    session.text_value(sql).unwrap().flatten()
}

/// Two sessions on a table `t` with the rows 1 and 2.
pub fn two_sessions(engine: &dyn Engine) -> [Box<dyn Session>; 2] {
    let mut first = engine.session().unwrap();
    run(&mut *first, "CREATE TABLE t (n BIGINT NOT NULL PRIMARY KEY, v BIGINT NOT NULL CHECK (v < 1000))").unwrap();
    for row in ["(1, 10)", "(2, 20)"] {
        run(&mut *first, &format!("INSERT INTO t VALUES {row}")).unwrap();
    }
    [first, engine.session().unwrap()]
}

/// Checks that two engines on one file in a process share one database, and that one with other settings is refused: some
/// libraries would let them overwrite each other's changes.
pub fn is_opened_once([one, other, differs]: [&dyn Engine; 3]) {
    let _session = with_one_number_in_a_log(one, &|| one.session().unwrap());
    assert_eq!(numbers(other), [1]);
    let refused = differs.session().err().unwrap();
    assert!(refused.kind() == ErrorKind::Conflict && refused.message().contains("other settings"), "{refused}");
}

/// Takes a snapshot of an empty database with [one number](with_one_number) in it, and checks that each restore undoes the
/// changes made since, and that no file of the snapshot is left at the end.
///
/// # Panics
/// If the database differs from what it was.
pub fn rounds_begin_alike(engine: &dyn Engine) {
    with_one_number(engine);
    let snapshot = engine.snapshot().unwrap();
    for number in 2..4 {
        engine.session().unwrap().execute_text(&format!("INSERT INTO numbers VALUES ({number})"), &[]).unwrap();
        assert_eq!(numbers(engine), [1, number]);
        snapshot.restore().unwrap();
        assert_eq!(numbers(engine), [1]);
    }
    let refused = engine.session().unwrap().execute_text("INSERT INTO numbers VALUES (1)", &[]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Duplicate, "keys are there too: {refused}");
    let damaged = engine.integrity_check().unwrap().unwrap_or_default();
    assert!(damaged.is_empty(), "{damaged:?}");
    drop(snapshot);
    assert_eq!(engine.leftovers().unwrap(), None);
    assert_eq!(numbers(engine), [1], "the database stays when its copy goes");
}

/// Checks that an empty database on files is neither copied, nor restored, nor loaded anew while a session has it open.
///
/// # Panics
/// If one of them was done.
pub fn what_is_in_use_is_not_replaced(engine: &dyn Engine) {
    with_one_number(engine);
    let snapshot = engine.snapshot().unwrap();
    let session = engine.session().unwrap();
    let loader = engine.loader().unwrap();
    for refused in [engine.snapshot().map(drop), snapshot.restore(), loader.finish()] {
        assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::Conflict));
    }
    drop((session, snapshot));
    assert_eq!(numbers(engine), [1]);
    engine.loader().unwrap().finish().unwrap();
    assert!(!engine.exists().unwrap());
}
