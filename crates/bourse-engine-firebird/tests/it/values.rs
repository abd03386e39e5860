//! Values of parameters and rows.

use crate::{at, folder, is_there};
use bourse_engine::{Access, Engine as _, ErrorKind, Isolation, Value};
use bourse_schema::{Date, Timestamp};
use bourse_testkit::{number, run};

#[test]
fn values_come_as_what_they_are() {
    if !is_there("values::values_come_as_what_they_are") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), "");
    let mut session = engine.session().unwrap();
    let sql = "SELECT CAST(1.5 AS NUMERIC(18, 3)), CAST(-7 AS SMALLINT), 2, CAST(9000000000 AS BIGINT), 0.25e0, NULL, TRUE,
                      CAST('text' AS CHAR(10)), CAST('text' AS VARCHAR(10)), DATE '2004-02-29',
                      TIMESTAMP '1969-12-31 23:59:59.999', CAST('bytes' AS BLOB SUB_TYPE TEXT), x'00ff', list(rdb$relation_id)
                 FROM rdb$database GROUP BY 1";
    let mut shown = Vec::new();
    session
        .query_text(sql, &[], &mut |row| {
            shown = (0..14).map(|at| format!("{:?}", row.value(at))).collect();
            assert!(row.column_name(14).is_none());
            Ok(())
        })
        .unwrap();
    let expected = [
        Value::Decimal { units: 1_500, scale: 3 },
        Value::Int(-7),
        Value::Int(2),
        Value::Int(9_000_000_000),
        Value::Real(0.25),
        Value::Null,
        Value::Bool(true),
        Value::Text("text"),
        Value::Text("text"),
        Value::Date(Date::from_ymd(2004, 2, 29)),
        Value::Timestamp(Timestamp::from_millis(-1)),
        Value::Text("bytes"),
        Value::Blob(&[0, 255]),
    ];
    for (shown, expected) in shown.iter().zip(expected) {
        assert_eq!(*shown, format!("{expected:?}"));
    }
    assert!(shown[13].starts_with("Text"), "{}", shown[13]);
    let refused = session.query_text("SELECT CURRENT_TIME FROM rdb$database", &[], &mut |_| Ok(())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
}

/// A parameter takes different kinds of values one after the other, a longer text than before, and NULL.
#[test]
fn a_statement_takes_values_of_any_form() {
    if !is_there("values::a_statement_takes_values_of_any_form") {
        return;
    }
    static PUT: bourse_engine::Sql =
        bourse_engine::Sql::new("UPDATE v SET d = ?1, t = ?2, b = ?3, l = ?4 WHERE d IS NOT NULL OR 1 = 1");
    static GET: bourse_engine::Sql = bourse_engine::Sql::new("SELECT d, t, b, l FROM v");
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), "");
    let mut session = engine.session().unwrap();
    run(
        &mut *session,
        "CREATE TABLE v (d NUMERIC(12, 2), t VARCHAR(2000), b VARCHAR(300) CHARACTER SET OCTETS, l BLOB)",
    )
    .unwrap();
    run(&mut *session, "INSERT INTO v (t) VALUES ('')").unwrap();
    let (long, large) = ("x".repeat(1_500), vec![7; 200_000]);
    let exact = |units| Value::Decimal { units, scale: 2 };
    for (given, expected) in [
        ([Value::Null; 4], [Value::Null; 4]),
        (
            [exact(-5), Value::Text("a"), Value::Blob(b"b"), Value::Blob(b"")],
            [exact(-5), Value::Text("a"), Value::Blob(b"b"), Value::Blob(b"")],
        ),
        (
            [Value::Int(3), Value::Text(&long), Value::Blob(&large[..300]), Value::Blob(&large)],
            [exact(300), Value::Text(&long), Value::Blob(&large[..300]), Value::Blob(&large)],
        ),
        (
            [Value::Real(0.5), Value::Int(12), Value::Null, Value::Text("é")],
            [exact(50), Value::Text("12"), Value::Null, Value::Blob("é".as_bytes())],
        ),
        (
            [Value::Decimal { units: 999_999_999_999, scale: 2 }, Value::Text("é"), Value::Null, Value::Null],
            [exact(999_999_999_999), Value::Text("é"), Value::Null, Value::Null],
        ),
    ] {
        session.begin(Isolation::RepeatableRead, Access::Write).unwrap();
        assert_eq!(session.execute(&PUT, bourse_engine::Params::of(&given)).unwrap(), 1);
        let each = &mut |row: &dyn bourse_engine::Row| {
            for (at, expected) in expected.iter().enumerate() {
                assert_eq!(row.value(at), *expected, "column {at} of {given:?}");
            }
            Ok(())
        };
        assert!(session.query_first(&GET, bourse_engine::Params::NONE, each).unwrap());
        session.commit().unwrap();
    }
    let too_long = "x".repeat(40_000);
    let refused = session.execute_text("UPDATE v SET t = ?", &[Value::Text(&too_long)]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    let refused = session.execute_text("UPDATE v SET t = ?, d = ?", &[Value::Null]).unwrap_err();
    assert!(refused.message().contains("2 parameters, 1 were given"), "{refused}");
}

/// A parameter that occurs twice is passed once; one within a quoted text is none.
#[test]
fn parameters_have_numbers() {
    if !is_there("values::parameters_have_numbers") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), "");
    let mut session = engine.session().unwrap();
    run(&mut *session, "CREATE TABLE t (a BIGINT, b BIGINT, c VARCHAR(10))").unwrap();
    session.execute_text("INSERT INTO t VALUES (?2, ?1, '?3')", &[Value::Int(1), Value::Int(2)]).unwrap();
    session.execute_text("UPDATE t SET a = a + ?1 WHERE b = ?1", &[Value::Int(1)]).unwrap();
    assert_eq!(number(&mut *session, "SELECT a FROM t WHERE c = '?3'"), Some(3));
    let changed = session.execute_text("DELETE FROM t WHERE a IN (?, ?)", &[Value::Int(3), Value::Int(4)]).unwrap();
    assert_eq!(changed, 1);
    let mut returned = 0;
    session
        .query_text("INSERT INTO t VALUES (5, 6, '') RETURNING a + b", &[], &mut |row| {
            returned = row.int(0).unwrap();
            Ok(())
        })
        .unwrap();
    assert_eq!(returned, 11);
}

/// Firebird 3.0.11 sorts the smallest integer behind 0 in an index: it is not stored, and a search uses the next one in its
/// place.
#[test]
fn rows_are_found_from_the_least_number_on() {
    if !is_there("values::rows_are_found_from_the_least_number_on") {
        return;
    }
    let folder = folder();
    let engine = at(&folder.path().join("x.fdb"), "");
    let mut session = engine.session().unwrap();
    run(&mut *session, "CREATE TABLE t (n BIGINT PRIMARY KEY)").unwrap();
    for n in [i64::MIN + 1, -5, 0, i64::MAX] {
        session.execute_text("INSERT INTO t VALUES (?)", &[Value::Int(n)]).unwrap();
    }
    let mut found = Vec::new();
    let each = &mut |row: &dyn bourse_engine::Row| {
        found.push(row.int(0).unwrap());
        Ok(())
    };
    session.query_text("SELECT n FROM t WHERE n >= ? ORDER BY n", &[Value::Int(i64::MIN)], each).unwrap();
    assert_eq!(found, [i64::MIN + 1, -5, 0, i64::MAX]);
    let refused = session.execute_text("INSERT INTO t VALUES (?)", &[Value::Int(i64::MIN)]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    assert_eq!(number(&mut *session, "SELECT count(*) FROM t WHERE n >= -9223372036854775807"), Some(4));
}
