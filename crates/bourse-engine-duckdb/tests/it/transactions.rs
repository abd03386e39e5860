//! Isolation of DuckDB's transactions, and its limits.

use crate::in_memory;
use bourse_engine::{Access, ErrorKind, Isolation, RowExt as _, Session};
use bourse_testkit::{number, run};

fn begin(session: &mut dyn Session) {
    session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
}

/// Two sessions on a table with the rows 1 and 2.
fn two_sessions(test: &str, query: &str) -> Option<[Box<dyn Session>; 2]> {
    Some(bourse_testkit::two_sessions(&in_memory(test, query)?))
}

#[test]
fn whoever_changes_a_row_second_has_a_conflict() {
    let test = "transactions::whoever_changes_a_row_second_has_a_conflict";
    let Some([mut first, mut second]) = two_sessions(test, "") else { return };
    begin(&mut *first);
    begin(&mut *second);
    run(&mut *first, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap();
    let refused = run(&mut *second, "UPDATE t SET v = v + 1 WHERE n = 1").unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, Some("transaction")));
    assert_eq!(run(&mut *second, "SELECT 1").unwrap_err().kind(), ErrorKind::Conflict);
    // DuckDB takes this commit for a rollback without a word.
    assert_eq!(second.commit().unwrap_err().kind(), ErrorKind::Conflict);
    first.commit().unwrap();
    assert_eq!(number(&mut *second, "SELECT v FROM t WHERE n = 1"), Some(11));
}

/// Regression: the first Ctrl-C interrupted no statement of a person's file.
#[test]
fn statements_of_confined_sessions_are_interrupted() {
    let Some(engine) = in_memory("transactions::statements_of_confined_sessions_are_interrupted", "") else { return };
    let endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7";
    bourse_testkit::interrupts_statements(&engine, &[], endless, "SELECT 1");
}

/// Conflicting keys: one that another transaction has added is refused as a duplicate, at the statement or at the commit, and
/// cannot be seen.
#[test]
fn a_key_that_another_has_added_is_a_conflict() {
    let test = "transactions::a_key_that_another_has_added_is_a_conflict";
    let Some([mut first, mut second]) = two_sessions(test, "") else { return };
    begin(&mut *first);
    assert_eq!(number(&mut *first, "SELECT count(*) FROM t"), Some(2));
    run(&mut *second, "INSERT INTO t VALUES (3, 0)").unwrap();
    assert_eq!(run(&mut *first, "INSERT INTO t VALUES (3, 0)").unwrap_err().kind(), ErrorKind::Conflict);
    first.rollback().unwrap();

    begin(&mut *first);
    begin(&mut *second);
    run(&mut *first, "INSERT INTO t VALUES (4, 0)").unwrap();
    run(&mut *second, "INSERT INTO t VALUES (4, 0)").unwrap();
    first.commit().unwrap();
    assert_eq!(second.commit().unwrap_err().kind(), ErrorKind::Conflict);

    // One that was there before is no conflict.
    begin(&mut *first);
    assert_eq!(run(&mut *first, "INSERT INTO t VALUES (4, 0)").unwrap_err().kind(), ErrorKind::Duplicate);
    assert_eq!(first.commit().unwrap_err().kind(), ErrorKind::Other);
}

/// Lost update: DuckDB 1.5 does not notice that a row which a transaction updates was deleted by another since, as the
/// documents say. If this test fails, DuckDB does notice, and the documents must change.
#[test]
fn an_update_of_a_row_that_another_has_deleted_is_lost() {
    let test = "transactions::an_update_of_a_row_that_another_has_deleted_is_lost";
    let Some([mut first, mut second]) = two_sessions(test, "") else { return };
    begin(&mut *first);
    assert_eq!(number(&mut *first, "SELECT v FROM t WHERE n = 1"), Some(10));
    run(&mut *second, "DELETE FROM t WHERE n = 1").unwrap();
    assert_eq!(run(&mut *first, "UPDATE t SET v = 11 WHERE n = 1").unwrap(), 1);
    first.commit().unwrap();
    assert_eq!(number(&mut *first, "SELECT count(*) FROM t WHERE n = 1"), Some(0));
}

#[test]
fn writers_one_at_a_time_wait_for_one_another() {
    let test = "transactions::writers_one_at_a_time_wait_for_one_another";
    let Some([mut first, mut second]) = two_sessions(test, "writers=one&lock_timeout=1s") else { return };
    begin(&mut *first);
    let refused = second.begin(Isolation::Serializable, Access::Write).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    second.begin(Isolation::Serializable, Access::Read).unwrap();
    second.rollback().unwrap();
    drop(first);
    begin(&mut *second);
    run(&mut *second, "UPDATE t SET v = 0").unwrap();
    second.commit().unwrap();
}

#[test]
fn a_transaction_for_reading_changes_nothing() {
    let test = "transactions::a_transaction_for_reading_changes_nothing";
    let Some([mut first, _]) = two_sessions(test, "") else { return };
    first.begin(Isolation::RepeatableRead, Access::Read).unwrap();
    run(&mut *first, "UPDATE t SET v = 0").unwrap_err();
    first.rollback().unwrap();
    assert_eq!(number(&mut *first, "SELECT CAST(sum(v) AS BIGINT) FROM t"), Some(30));
}

#[test]
fn values_come_as_what_they_are() {
    let Some([mut session, _]) = two_sessions("transactions::values_come_as_what_they_are", "") else { return };
    let sql = "SELECT sum(v), avg(v), CAST(1.5 AS DECIMAL(38, 3)), 255::UTINYINT, -1::TINYINT, NULL, repeat('x', 20), 'short',
                      '\\x00\\x01'::BLOB, 2::HUGEINT ** 100, TIMESTAMP_MS '1969-12-31 23:59:59.999' FROM t";
    let mut shown = Vec::new();
    session
        .query_text(sql, &[], &mut |row| {
            shown = (0..row.columns()).map(|at| row.value(at).to_string()).collect();
            Ok(())
        })
        .unwrap();
    let expected = ["30", "15", "1.500", "255", "-1", "NULL", "xxxxxxxxxxxxxxxxxxxx", "short", "2 bytes"];
    assert_eq!(shown[..9], expected);
    assert_eq!(shown[9], 2f64.powi(100).to_string());
    assert!(shown[10].starts_with("1969-12-31 23:59:59.999"), "{}", shown[10]);
    let refused = session.query_text("SELECT [1, 2]", &[], &mut |_| Ok(())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
}
