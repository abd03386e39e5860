//! Rows that a load sends to MySQL by `LOAD DATA LOCAL INFILE`, compared with those that it sends by INSERT.

use crate::flavoured;
use bourse_engine::{Engine as _, ErrorKind, Result, Session};
use bourse_engine_mysql::{Flavour, MysqlEngine};
use bourse_schema::{Batch, Cardinality, Column, ColumnType, Date, Group, Section, Table, Timestamp, Value};
use bourse_testkit::server::{begin_load, names};

/// A column; [`CREATE`] has its type at the server.
const fn column(name: &'static str) -> Column {
    Column { name, column_type: ColumnType::Count, nullable: true, check: None }
}

static EVERY_TYPE: Table = Table {
    name: "every_type",
    file: "",
    doc: "",
    section: Section::Dimension,
    group: Group::Fixed,
    cardinality: Cardinality::Empty,
    columns: &[
        column("k"),
        column("i"),
        column("s"),
        column("f"),
        column("d"),
        column("r"),
        column("day"),
        column("moment"),
        column("l"),
        column("u"),
        column("b"),
    ],
    key: &["k"],
    foreign_keys: &[],
    indexes: &[],
};

const CREATE: &str = "CREATE TABLE every_type (k BIGINT PRIMARY KEY, i INT, s SMALLINT CHECK (s <> 7), f TINYINT(1),
    d DECIMAL(18,2), r DOUBLE, day DATE, moment DATETIME(3), l VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_bin,
    u VARCHAR(40) CHARACTER SET utf8mb4, b MEDIUMBLOB)";

type Row = [Value<'static>; 11];

struct Every<'a>(&'a [Row]);

impl Batch for Every<'_> {
    fn table(&self) -> &'static Table {
        &EVERY_TYPE
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn with_row(&self, index: usize, f: &mut dyn FnMut(&[Value<'_>])) {
        f(&self.0[index]);
    }
}

const fn nulls(key: i64) -> Row {
    let mut row = [Value::Null; 11];
    row[0] = Value::Int(key);
    row
}

/// A row of NULLs except for one column.
fn only(key: i64, name: &str, value: Value<'static>) -> Row {
    let mut row = nulls(key);
    row[EVERY_TYPE.columns.iter().position(|column| column.name == name).unwrap()] = value;
    row
}

fn extremes() -> Vec<Row> {
    static ALL_BYTES: [u8; 512] = {
        let mut bytes = [0; 512];
        let mut at = 0;
        while at < 512 {
            bytes[at] = at as u8;
            at += 1;
        }
        bytes
    };
    let moment = |date, ms| Value::Timestamp(Timestamp::at(date, ms));
    let (first, last) = (Date::from_ymd(1_000, 1, 1), Date::from_ymd(9_999, 12, 31));
    let decimal = |units| Value::Decimal { units, scale: 2 };
    let mut rows = vec![
        [
            Value::Int(i64::MIN),
            Value::Int(i64::from(i32::MIN)),
            Value::Int(i64::from(i16::MIN)),
            Value::Bool(false),
            decimal(-999_999_999_999_999_999),
            Value::Real(f64::MIN),
            Value::Date(first),
            moment(first, 0),
            Value::Text(""),
            Value::Text(""),
            Value::Blob(&[]),
        ],
        [
            Value::Int(i64::MAX),
            Value::Int(i64::from(i32::MAX)),
            Value::Int(i64::from(i16::MAX)),
            Value::Bool(true),
            decimal(999_999_999_999_999_999),
            Value::Real(f64::MAX),
            Value::Date(last),
            moment(last, 86_399_999),
            Value::Text("\\\t\n\0\r'\"\u{8}\u{1a}\\N\\\\"),
            Value::Text("\t\t\n\n\\\\\0\0;--"),
            Value::Blob(&ALL_BYTES),
        ],
        [
            Value::Int(0),
            Value::Int(0),
            Value::Int(-1),
            Value::Bool(true),
            decimal(-5),
            Value::Real(f64::MIN_POSITIVE),
            Value::Date(Date::from_ymd(2004, 2, 29)),
            moment(Date::from_ymd(1969, 12, 31), 86_399_995),
            Value::Text("\u{e9}\u{ff}\t\\\n\u{a0}"),
            Value::Text("\u{e9}\t漢\n😀\\"),
            Value::Blob("é漢\t\\".as_bytes()),
        ],
        nulls(1),
    ];
    for (key, text) in (10..).zip(["\\N", "NULL", "\\", "\n", "\t", "\0", "N", "\\0", " ", "x "]) {
        rows.push(only(key, "l", Value::Text(text)));
        rows.push(only(key + 100, "u", Value::Text(text)));
        rows.push(only(key + 200, "b", Value::Blob(text.as_bytes())));
    }
    // Bytes that begin a character of UTF-8, before one that is escaped.
    for (key, bytes) in (400..).zip([&b"\xe2\t"[..], b"\xf0\\\n", b"\xc3", b"\xff\0", b"\\\xe2\x82"]) {
        rows.push(only(key, "b", Value::Blob(bytes)));
    }
    rows
}

/// Number that a server returns for a query.
fn number(session: &mut dyn Session, sql: &str, column: usize) -> i64 {
    let mut found = None;
    session
        .query_text(sql, &[], &mut |row| {
            found = match row.value(column) {
                Value::Text(text) => text.parse().ok(),
                Value::Int(number) => Some(number),
                _ => None,
            };
            Ok(())
        })
        .unwrap();
    found.unwrap()
}

/// Number of times that a server has run `LOAD DATA`.
fn statements(engine: &MysqlEngine) -> i64 {
    number(&mut *engine.session().unwrap(), "SHOW GLOBAL STATUS LIKE 'Com_load'", 1)
}

fn switch(engine: &MysqlEngine, is_on: bool) {
    let sql = format!("SET GLOBAL local_infile = {}", u8::from(is_on));
    engine.session().unwrap().execute_text(&sql, &[]).unwrap();
}

fn mysql(test: &str) -> Option<MysqlEngine> {
    flavoured(test, Flavour::Mysql, "lock_timeout=1s")
}

/// Loads rows, each slice in a call of its own.
fn load(engine: &MysqlEngine, slices: &[&[Row]]) -> Result<()> {
    let mut loader = engine.loader().unwrap();
    loader.run(CREATE).unwrap();
    for rows in slices {
        loader.insert(&Every(rows))?;
    }
    loader.finish()
}

/// Text of a value.
fn shown(value: Value<'_>) -> String {
    match value {
        Value::Bool(flag) => format!("{:?}", Value::Int(i64::from(flag))),
        other => format!("{other:?}"),
    }
}

fn found(engine: &MysqlEngine) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    engine
        .session()
        .unwrap()
        .query_text("SELECT * FROM every_type ORDER BY k", &[], &mut |row| {
            rows.push((0..EVERY_TYPE.columns.len()).map(|at| shown(row.value(at))).collect());
            Ok(())
        })
        .unwrap();
    rows
}

#[test]
fn every_value_comes_back_whichever_way_it_is_sent() {
    let Some(engine) = mysql("local::every_value_comes_back_whichever_way_it_is_sent") else { return };
    let described = engine.description().unwrap();
    let setting = described.settings.iter().find(|setting| setting.name == "local_infile").unwrap();
    assert_eq!(setting.value, "ON", "a private server takes rows as text");
    let rows = extremes();
    let mut sorted = rows.clone();
    sorted.sort_by_key(|row| if let Value::Int(key) = row[0] { key } else { 0 });
    let expected: Vec<Vec<String>> = sorted.iter().map(|row| row.iter().map(|value| shown(*value)).collect()).collect();
    for (is_on, sent) in [(true, 3), (false, 0)] {
        switch(&engine, is_on);
        let before = statements(&engine);
        load(&engine, &[&rows[..1], &rows[1..7], &rows[7..]]).unwrap();
        assert_eq!(statements(&engine) - before, sent, "local_infile {is_on}");
        for (found, expected) in found(&engine).iter().zip(&expected) {
            assert_eq!(found, expected, "local_infile {is_on}");
        }
        assert_eq!(found(&engine).len(), expected.len());
    }
}

#[test]
fn long_rows_are_sent_by_several_statements() {
    let Some(engine) = mysql("local::long_rows_are_sent_by_several_statements") else { return };
    static LONG: [u8; 3 << 20] = [b'\\'; 3 << 20];
    let rows: Vec<Row> = (0..3).map(|key| only(key, "b", Value::Blob(&LONG))).collect();
    let before = statements(&engine);
    load(&engine, &[&rows, &[nulls(3)]]).unwrap();
    assert_eq!(statements(&engine) - before, 4, "a row of 6 MiB when escaped is sent at once");
    let bytes = number(&mut *engine.session().unwrap(), "SELECT CAST(sum(length(b)) AS SIGNED) FROM every_type", 0);
    assert_eq!(bytes, 9 << 20);
    let alike = "SELECT count(*) FROM every_type WHERE b = repeat('\\', 3145728)";
    assert_eq!(number(&mut *engine.session().unwrap(), alike, 0), 3);
}

#[test]
fn a_wrong_row_is_the_same_error_whichever_way_it_is_sent() {
    let Some(engine) = mysql("local::a_wrong_row_is_the_same_error_whichever_way_it_is_sent") else { return };
    static TOO_LONG: &str = "0123456789012345678901234567890123456789!";
    let year_10000 = Value::Date(Date::from_ymd(10_000, 1, 1));
    for (what, row, expected) in [
        ("duplicate key", nulls(1), ErrorKind::Duplicate),
        ("check", only(2, "s", Value::Int(7)), ErrorKind::Constraint),
        ("no key", [Value::Null; 11], ErrorKind::Constraint),
        ("too long", only(2, "l", Value::Text(TOO_LONG)), ErrorKind::Other),
        (
            "too long beyond ASCII",
            only(2, "u", Value::Text("é123456789012345678901234567890123456789!")),
            ErrorKind::Other,
        ),
        ("number out of range", only(2, "s", Value::Int(40_000)), ErrorKind::Other),
        ("decimal out of range", only(2, "d", Value::Decimal { units: i64::MAX, scale: 0 }), ErrorKind::Other),
        ("no number", only(2, "i", Value::Text("seven")), ErrorKind::Other),
        ("date out of range", only(2, "day", year_10000), ErrorKind::Other),
        ("not in the character set", only(2, "l", Value::Text("漢")), ErrorKind::Other),
    ] {
        for is_on in [true, false] {
            switch(&engine, is_on);
            let before = statements(&engine);
            let refused = load(&engine, &[&[nulls(1)], &[row]]).expect_err(what);
            assert_eq!(refused.kind(), expected, "{what}, local_infile {is_on}: {refused}");
            assert!(refused.code().is_some(), "{what}, local_infile {is_on}: {refused}");
            assert!(refused.statement().is_some_and(|sql| sql.contains("every_type")), "{refused}");
            assert_eq!(statements(&engine) - before, if is_on { 2 } else { 0 });
            assert!(!engine.exists().unwrap(), "{what}, local_infile {is_on}: something was loaded");
        }
    }
}

/// A value that an INSERT accepts with a note is stored in the same form by a load.
#[test]
fn a_value_is_fitted_alike_whichever_way_it_is_sent() {
    let Some(engine) = mysql("local::a_value_is_fitted_alike_whichever_way_it_is_sent") else { return };
    static SPACES: &str = "0123456789012345678901234567890123456789   ";
    let rows = [
        only(1, "l", Value::Text(SPACES)),
        only(2, "u", Value::Text(SPACES)),
        only(3, "d", Value::Decimal { units: 12_345, scale: 3 }),
        only(4, "day", Value::Timestamp(Timestamp::at(Date::from_ymd(2005, 1, 3), 1))),
    ];
    let [sent, inserted] = [true, false].map(|is_on| {
        switch(&engine, is_on);
        load(&engine, &[&rows]).unwrap();
        found(&engine)
    });
    assert_eq!(sent, inserted);
    assert_eq!(sent[2][4], shown(Value::Decimal { units: 1_235, scale: 2 }));
}

#[test]
fn nothing_is_answered_but_in_a_load() {
    let Some(engine) = mysql("local::nothing_is_answered_but_in_a_load") else { return };
    let mut loader = begin_load(&engine, &["ONE"]);
    for file in ["bourse-rows", "/etc/hostname", "Cargo.toml"] {
        loader.run(&format!("LOAD DATA LOCAL INFILE '{file}' INTO TABLE status_type")).unwrap();
    }
    loader.finish().unwrap();
    assert_eq!(names(&engine), ["ONE"]);
}

#[test]
fn mariadb_gets_inserts() {
    let Some(engine) = flavoured("local::mariadb_gets_inserts", Flavour::Mariadb, "lock_timeout=1s") else { return };
    begin_load(&engine, &["ONE"]).finish().unwrap();
    assert_eq!((names(&engine), statements(&engine)), (vec!["ONE".to_owned()], 0));
}
