//! Isolation of Firebird's transactions, and their conflicts.

use crate::{at, folder, is_there};
use bourse_engine::{Access, ErrorKind, Isolation, Session};
use bourse_testkit::{number, run};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn begin(session: &mut dyn Session, isolation: Isolation) {
    session.begin(isolation, Access::Write).unwrap();
}

/// Two sessions on a table with the rows 1 and 2.
fn two_sessions(test: &str, query: &str) -> Option<(TempDir, [Box<dyn Session>; 2])> {
    if !is_there(test) {
        return None;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), query);
    Some((folder, bourse_testkit::two_sessions(&engine)))
}

#[test]
fn whoever_changes_a_row_second_has_a_conflict() {
    let test = "transactions::whoever_changes_a_row_second_has_a_conflict";
    let Some((_folder, [mut first, mut second])) = two_sessions(test, "lock_timeout=0s") else { return };
    for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable] {
        begin(&mut *first, isolation);
        begin(&mut *second, isolation);
        run(&mut *first, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap();
        let refused = run(&mut *second, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        // Firebird would go on with the transaction.
        assert_eq!(run(&mut *second, "UPDATE t SET v = 0").unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(second.commit().unwrap_err().kind(), ErrorKind::Conflict);
        first.commit().unwrap();
    }
    assert_eq!(number(&mut *second, "SELECT sum(v) FROM t"), Some(33));
}

#[test]
fn a_change_since_the_snapshot_is_a_conflict() {
    let test = "transactions::a_change_since_the_snapshot_is_a_conflict";
    let Some((_folder, [mut first, mut second])) = two_sessions(test, "lock_timeout=1s") else { return };
    begin(&mut *second, Isolation::RepeatableRead);
    assert_eq!(number(&mut *second, "SELECT v FROM t WHERE n = 1"), Some(10));
    run(&mut *first, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap();
    assert_eq!(number(&mut *second, "SELECT v FROM t WHERE n = 1"), Some(10), "a snapshot stays");
    let refused = run(&mut *second, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, Some("update_conflict")));
    second.rollback().unwrap();
    begin(&mut *second, Isolation::ReadCommitted);
    assert_eq!(number(&mut *second, "SELECT v FROM t WHERE n = 1"), Some(11));
    run(&mut *first, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap();
    assert_eq!(number(&mut *second, "SELECT v FROM t WHERE n = 1"), Some(12), "what was committed meanwhile is seen");
    run(&mut *second, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap();
    second.commit().unwrap();
}

#[test]
fn a_row_is_waited_for_no_longer_than_is_said() {
    let test = "transactions::a_row_is_waited_for_no_longer_than_is_said";
    let Some((_folder, [mut first, mut second])) = two_sessions(test, "lock_timeout=1s") else { return };
    begin(&mut *first, Isolation::RepeatableRead);
    begin(&mut *second, Isolation::RepeatableRead);
    run(&mut *first, "UPDATE t SET v = 0 WHERE n = 1").unwrap();
    let start = Instant::now();
    let refused = run(&mut *second, "UPDATE t SET v = 1 WHERE n = 1").unwrap_err();
    let waited = start.elapsed();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    // Firebird counts seconds of the clock, the first of which may end immediately.
    assert!(waited < Duration::from_secs(10), "{waited:?}");
}

/// Deadlock: Firebird detects none between transactions with a limited wait, whose patience ends it.
#[test]
fn writers_in_a_circle_get_out_of_it() {
    let test = "transactions::writers_in_a_circle_get_out_of_it";
    let Some((_folder, [mut first, mut second])) = two_sessions(test, "lock_timeout=1s") else { return };
    begin(&mut *first, Isolation::RepeatableRead);
    begin(&mut *second, Isolation::RepeatableRead);
    run(&mut *first, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap();
    run(&mut *second, "UPDATE t SET v = v + 1 WHERE n = 2").unwrap();
    let start = Instant::now();
    let refused = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(&mut *second, "UPDATE t SET v = v + 1 WHERE n = 1").err());
        [run(&mut *first, "UPDATE t SET v = v + 1 WHERE n = 2").err(), other.join().unwrap()]
    });
    let refused: Vec<_> = refused.into_iter().flatten().collect();
    assert!(!refused.is_empty() && refused.iter().all(|error| error.kind() == ErrorKind::Conflict), "{refused:?}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn tables_are_locked_where_a_transaction_is_to_be_serializable() {
    let test = "transactions::tables_are_locked_where_a_transaction_is_to_be_serializable";
    let query = "lock_timeout=0s&serializable=tables";
    let Some((_folder, [mut first, mut second])) = two_sessions(test, query) else { return };
    begin(&mut *first, Isolation::Serializable);
    assert_eq!(number(&mut *first, "SELECT sum(v) FROM t"), Some(30));
    begin(&mut *second, Isolation::RepeatableRead);
    assert_eq!(number(&mut *second, "SELECT sum(v) FROM t"), Some(30));
    let refused = run(&mut *second, "UPDATE t SET v = 0").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    second.rollback().unwrap();
    first.commit().unwrap();
    run(&mut *second, "UPDATE t SET v = 0").unwrap();
}

#[test]
fn a_violated_constraint_leaves_the_transaction_open() {
    let test = "transactions::a_violated_constraint_leaves_the_transaction_open";
    let Some((_folder, [mut first, _])) = two_sessions(test, "") else { return };
    begin(&mut *first, Isolation::RepeatableRead);
    run(&mut *first, "UPDATE t SET v = 11 WHERE n = 1").unwrap();
    for (sql, kind, code) in [
        ("INSERT INTO t VALUES (2, 0)", ErrorKind::Duplicate, "unique_key_violation"),
        ("UPDATE t SET v = 1000", ErrorKind::Constraint, "check_constraint"),
        ("UPDATE t SET v = NULL", ErrorKind::Constraint, "not_valid"),
    ] {
        let refused = run(&mut *first, sql).unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (kind, Some(code)), "{refused}");
    }
    first.commit().unwrap();
    assert_eq!(number(&mut *first, "SELECT sum(v) FROM t"), Some(31));
}

#[test]
fn a_key_that_another_has_added_is_a_conflict() {
    let test = "transactions::a_key_that_another_has_added_is_a_conflict";
    let Some((_folder, [mut first, mut second])) = two_sessions(test, "lock_timeout=1s") else { return };
    begin(&mut *first, Isolation::RepeatableRead);
    assert_eq!(number(&mut *first, "SELECT count(*) FROM t"), Some(2));
    run(&mut *second, "INSERT INTO t VALUES (3, 0)").unwrap();
    let refused = run(&mut *first, "INSERT INTO t VALUES (3, 0)").unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, Some("unique_key_violation")), "{refused}");
    first.rollback().unwrap();
    // One that was there before is no conflict.
    begin(&mut *first, Isolation::RepeatableRead);
    assert_eq!(run(&mut *first, "INSERT INTO t VALUES (3, 0)").unwrap_err().kind(), ErrorKind::Duplicate);
    first.commit().unwrap();
}

#[test]
fn a_transaction_for_reading_changes_nothing() {
    let test = "transactions::a_transaction_for_reading_changes_nothing";
    let Some((_folder, [mut first, _])) = two_sessions(test, "") else { return };
    first.begin(Isolation::RepeatableRead, Access::Read).unwrap();
    let refused = run(&mut *first, "UPDATE t SET v = 0").unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Other, Some("read_only_trans")), "{refused}");
    first.rollback().unwrap();
    assert_eq!(number(&mut *first, "SELECT sum(v) FROM t"), Some(30));
}

#[test]
fn statements_do_not_end_transactions() {
    let test = "transactions::statements_do_not_end_transactions";
    let Some((_folder, [mut first, _])) = two_sessions(test, "") else { return };
    begin(&mut *first, Isolation::RepeatableRead);
    run(&mut *first, "UPDATE t SET v = 11 WHERE n = 1").unwrap();
    for sql in ["COMMIT", "ROLLBACK", "SET TRANSACTION"] {
        assert_eq!(run(&mut *first, sql).unwrap_err().kind(), ErrorKind::Unsupported, "{sql}");
    }
    first.rollback().unwrap();
    assert_eq!(number(&mut *first, "SELECT sum(v) FROM t"), Some(30));
}

/// Regression: the first Ctrl-C interrupted no statement of a person's file.
#[test]
fn statements_of_confined_sessions_are_interrupted() {
    if !is_there("transactions::statements_of_confined_sessions_are_interrupted") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), "sync=off");
    let columns = "rdb$relation_fields";
    let endless = format!(
        "SELECT count(*) FROM {columns} a, {columns} b, {columns} c, {columns} d 
          WHERE a.rdb$field_position + b.rdb$field_position + c.rdb$field_position + d.rdb$field_position = -7"
    );
    bourse_testkit::interrupts_statements(&engine, &[], &endless, "SELECT 1 FROM rdb$database");
}
