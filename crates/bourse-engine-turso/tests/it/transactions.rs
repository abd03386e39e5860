//! Isolation of Turso's transactions, and their conflicts.

use bourse_engine::{Access, ErrorKind, Isolation, Session};
use bourse_engine_turso::open;
use bourse_testkit::{number, run};

fn begin(session: &mut dyn Session, isolation: Isolation) {
    session.begin(isolation, Access::Write).unwrap();
}

/// Two sessions on a table with the rows 1 and 2.
fn two_sessions(journal: &str) -> [Box<dyn Session>; 2] {
    bourse_testkit::two_sessions(&open(&format!("turso::memory:?journal={journal}&busy_timeout=50ms")).unwrap())
}

#[test]
fn whoever_changes_a_row_second_has_a_conflict() {
    let [mut first, mut second] = two_sessions("mvcc");
    begin(&mut *first, Isolation::RepeatableRead);
    begin(&mut *second, Isolation::RepeatableRead);
    run(&mut *first, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap();
    let refused = run(&mut *second, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, Some("WriteWriteConflict")));
    // Turso has rolled it back: a statement now would be a transaction of its own.
    assert_eq!(run(&mut *second, "UPDATE t SET v = 0").unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(second.commit().unwrap_err().kind(), ErrorKind::Conflict);
    first.commit().unwrap();
    assert_eq!(number(&mut *second, "SELECT sum(v) FROM t"), Some(31));
}

#[test]
fn writers_of_different_rows_both_commit() {
    let [mut first, mut second] = two_sessions("mvcc");
    begin(&mut *first, Isolation::RepeatableRead);
    begin(&mut *second, Isolation::RepeatableRead);
    run(&mut *first, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap();
    run(&mut *second, "UPDATE t SET v = v + 1 WHERE n = 2").unwrap();
    first.commit().unwrap();
    second.commit().unwrap();
    assert_eq!(number(&mut *first, "SELECT sum(v) FROM t"), Some(32));
}

#[test]
fn a_serializable_writer_is_alone() {
    for journal in ["wal", "mvcc"] {
        let [mut first, mut second] = two_sessions(journal);
        begin(&mut *first, Isolation::Serializable);
        let refused = second.begin(Isolation::Serializable, Access::Write).unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, Some("Busy")), "{journal}");
        second.begin(Isolation::Serializable, Access::Read).unwrap();
        assert_eq!(number(&mut *second, "SELECT sum(v) FROM t"), Some(30));
        run(&mut *first, "UPDATE t SET v = 0").unwrap();
        first.commit().unwrap();
        assert_eq!(number(&mut *second, "SELECT sum(v) FROM t"), Some(30), "{journal}: a reader's snapshot stays");
        second.rollback().unwrap();
        assert_eq!(number(&mut *second, "SELECT sum(v) FROM t"), Some(0), "{journal}");
    }
}

#[test]
fn a_key_that_another_has_added_is_a_conflict() {
    let [mut first, mut second] = two_sessions("mvcc");
    begin(&mut *first, Isolation::RepeatableRead);
    begin(&mut *second, Isolation::RepeatableRead);
    run(&mut *first, "INSERT INTO t VALUES (3, 0)").unwrap();
    let refused = run(&mut *second, "INSERT INTO t VALUES (3, 0)").and_then(|_| {
        first.commit()?;
        second.commit().map(|()| 0)
    });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn a_violated_constraint_leaves_the_transaction_open() {
    for journal in ["wal", "mvcc"] {
        let [mut first, _] = two_sessions(journal);
        begin(&mut *first, Isolation::RepeatableRead);
        run(&mut *first, "UPDATE t SET v = 11 WHERE n = 1").unwrap();
        let refused = run(&mut *first, "INSERT INTO t VALUES (2, 0)").unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (ErrorKind::Duplicate, Some("Constraint")), "{journal}");
        first.commit().unwrap();
        assert_eq!(number(&mut *first, "SELECT v FROM t WHERE n = 1"), Some(11), "{journal}");
    }
}

#[test]
fn more_than_one_statement_in_a_text_is_refused() {
    let [mut first, _] = two_sessions("wal");
    let refused = run(&mut *first, "UPDATE t SET v = 0; UPDATE t SET v = 1").unwrap_err();
    assert!(refused.message().contains("more than one statement"), "{refused}");
    assert_eq!(number(&mut *first, "SELECT sum(v) FROM t; "), Some(30));
}

/// Regression: the first Ctrl-C interrupted no statement of a person's file.
#[test]
fn statements_of_confined_sessions_are_interrupted() {
    let engine = open("turso::memory:").unwrap();
    let rows: Vec<_> = (1..=300).map(|number| format!("({number})")).collect();
    let insert = format!("INSERT INTO t VALUES {}", rows.join(", "));
    let endless = "SELECT count(*) FROM t a, t b, t c, t d WHERE a.n + b.n + c.n + d.n = -7";
    let prepared = ["CREATE TABLE t (n INTEGER)", &*insert];
    bourse_testkit::interrupts_statements(&engine, &prepared, endless, "SELECT count(*) FROM t");
}
