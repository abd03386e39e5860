//! Every domain at its limits, in every table.

use super::{dialect, small};
use bourse_engine::{Engine, FromValue as _, Session, SessionExt as _, Value};
use bourse_schema::{Batch, ColumnType, Date, Table, Timestamp, create_table, insert, load_order, tables};

/// Limit of its columns' domains that a row is at.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ColumnLimit {
    Least,
    Most,
    /// NULL where it is allowed, an awkward value elsewhere.
    Odd,
}
const LIMITS: [ColumnLimit; 3] = [ColumnLimit::Least, ColumnLimit::Most, ColumnLimit::Odd];

/// Value that owns its text or bytes.
#[derive(Debug, Clone, PartialEq)]
enum OwnedValue {
    Plain(Value<'static>),
    Text(String),
    Bytes(Vec<u8>),
}

impl OwnedValue {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Plain(value) => *value,
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Blob(bytes),
        }
    }
}

fn number(limit: ColumnLimit, most: i64) -> i64 {
    match limit {
        ColumnLimit::Least => -most,
        ColumnLimit::Most => most,
        ColumnLimit::Odd => 0,
    }
}

fn at_limit(domain: ColumnType, limit: ColumnLimit) -> OwnedValue {
    let digits = |count: u8| 10i64.pow(u32::from(count)) - 1;
    match domain {
        ColumnType::Ident => OwnedValue::Plain(Value::Int(number(limit, digits(15)))),
        ColumnType::Count => OwnedValue::Plain(Value::Int(number(limit, digits(12)))),
        ColumnType::Integer => OwnedValue::Plain(Value::Int(number(limit, digits(9)))),
        ColumnType::Small => OwnedValue::Plain(Value::Int(number(limit, digits(4)))),
        ColumnType::Decimal { precision, scale } => {
            OwnedValue::Plain(Value::Decimal { units: number(limit, digits(precision)), scale })
        }
        ColumnType::Real => OwnedValue::Plain(Value::Real(number(limit, digits(15)) as f64 / 8.0)),
        ColumnType::Bool => OwnedValue::Plain(Value::Bool(limit == ColumnLimit::Most)),
        ColumnType::Date => OwnedValue::Plain(Value::Date(match limit {
            ColumnLimit::Least => Date::from_ymd(1900, 1, 1),
            ColumnLimit::Most => Date::from_ymd(2199, 12, 31),
            ColumnLimit::Odd => Date::from_ymd(2004, 2, 29),
        })),
        ColumnType::Timestamp => OwnedValue::Plain(Value::Timestamp(match limit {
            ColumnLimit::Least => Timestamp::at(Date::from_ymd(1900, 1, 1), 1),
            ColumnLimit::Most => Timestamp::at(Date::from_ymd(2199, 12, 31), 86_399_999),
            ColumnLimit::Odd => Timestamp::at(Date::from_ymd(1969, 12, 31), 86_399_995),
        })),
        ColumnType::Text(width) => OwnedValue::Text(match limit {
            ColumnLimit::Least => String::new(),
            ColumnLimit::Most => "z".repeat(width),
            ColumnLimit::Odd => "'%|\\\"; --_".chars().take(width).collect(),
        }),
        ColumnType::Lob(width) => OwnedValue::Bytes(match limit {
            ColumnLimit::Least => Vec::new(),
            ColumnLimit::Most => (0..width).map(|at| (at * 7 % 256) as u8).collect(),
            ColumnLimit::Odd => b"\0'\xff\n".to_vec(),
        }),
    }
}

/// Rows of one table at the limits of its columns' domains.
struct LimitRows(&'static Table);

impl LimitRows {
    fn row(&self, index: usize) -> Vec<OwnedValue> {
        let column = |column: &bourse_schema::Column| {
            if column.nullable && LIMITS[index] == ColumnLimit::Odd {
                OwnedValue::Plain(Value::Null)
            } else {
                at_limit(column.column_type, LIMITS[index])
            }
        };
        self.0.columns.iter().map(column).collect()
    }
}

impl Batch for LimitRows {
    fn table(&self) -> &'static Table {
        self.0
    }
    fn len(&self) -> usize {
        LIMITS.len()
    }
    fn with_row(&self, index: usize, f: &mut dyn FnMut(&[Value<'_>])) {
        let row = self.row(index);
        f(&row.iter().map(OwnedValue::value).collect::<Vec<_>>());
    }
}

/// Reads a value as its column's domain, whatever type the engine returns it in.
fn as_domain(domain: ColumnType, value: Value<'_>) -> OwnedValue {
    let read = || -> Result<OwnedValue, bourse_engine::WrongType> {
        Ok(match (domain, value) {
            (_, Value::Null) => OwnedValue::Plain(Value::Null),
            (ColumnType::Decimal { scale, .. }, Value::Int(units)) => {
                OwnedValue::Plain(Value::Decimal { units, scale })
            }
            (ColumnType::Decimal { scale, .. }, Value::Decimal { units, scale: found }) if found <= scale => {
                OwnedValue::Plain(Value::Decimal { units: units * 10i64.pow(u32::from(scale - found)), scale })
            }
            (ColumnType::Bool, _) => OwnedValue::Plain(Value::Bool(bool::from_value(value)?)),
            (ColumnType::Date, _) => OwnedValue::Plain(Value::Date(Date::from_value(value)?)),
            (ColumnType::Timestamp, _) => OwnedValue::Plain(Value::Timestamp(Timestamp::from_value(value)?)),
            (ColumnType::Text(_), _) => OwnedValue::Text(String::from_value(value)?),
            (ColumnType::Lob(_), _) => OwnedValue::Bytes(Vec::from_value(value)?),
            _ => OwnedValue::Plain(Value::Int(i64::from_value(value)?)),
        })
    };
    read().unwrap_or_else(|wrong| panic!("{domain:?}: {wrong:?}"))
}

/// Checks the table's three rows, in the order of [`LIMITS`].
#[track_caller]
fn check_rows(session: &mut dyn Session, table: &'static Table) {
    let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    let sql = format!("SELECT {} FROM {}", names.join(", "), table.name);
    let found = session.text_rows(&sql, |row| {
        let read = |(at, column): (usize, &bourse_schema::Column)| as_domain(column.column_type, row.value(at));
        Ok(table.columns.iter().enumerate().map(read).collect())
    });
    let found: Vec<Vec<OwnedValue>> = found.unwrap_or_else(|e| panic!("{}: {e}", table.name));
    assert_eq!(found.len(), LIMITS.len(), "{}: number of rows", table.name);
    for (index, limit) in LIMITS.iter().enumerate() {
        let expected = LimitRows(table).row(index);
        assert!(found.contains(&expected), "{} {limit:?}\nwanted {expected:?}\nfound  {found:?}", table.name);
    }
}

/// Loads the 33 tables without constraints, which rows at the limits would violate.
fn load_tables(engine: &dyn Engine, with_rows: bool) {
    let mut loader = engine.loader().expect("a loader");
    for table in load_order(tables::all()) {
        loader.run(&create_table(table, dialect(engine), false)).expect("DDL");
        if with_rows {
            loader.insert(&LimitRows(table)).unwrap_or_else(|e| panic!("{}: {e}", table.name));
        }
    }
    loader.finish().expect("a whole load");
}

pub(super) fn loaded_rows_come_back(engine: &dyn Engine) {
    load_tables(engine, true);
    let mut session = engine.session().expect("a session");
    for table in load_order(tables::all()) {
        check_rows(&mut *session, table);
    }
}

pub(super) fn inserted_rows_come_back(engine: &dyn Engine) {
    load_tables(engine, false);
    let mut session = engine.session().expect("a session");
    for table in load_order(tables::all()) {
        let sql = insert(table, dialect(engine));
        for index in 0..LIMITS.len() {
            LimitRows(table).with_row(index, &mut |values| {
                session.query_text(&sql, values, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{}: {e}", table.name));
            });
        }
        check_rows(&mut *session, table);
    }
}

pub(super) fn absent_is_not_empty(engine: &dyn Engine) {
    let mut session = small(engine);
    for (sql, expected) in [
        ("SELECT count(*) FROM trade_type WHERE tt_name = ''", 0),
        ("SELECT count(*) FROM trade_type WHERE tt_name IS NULL", 0),
    ] {
        assert_eq!(count(&mut *session, sql), expected, "{sql}");
    }
    session
        .query_text("UPDATE trade_type SET tt_name = '' WHERE tt_id = 'TMB'", &[], &mut |_| Ok(()))
        .expect("an empty text is a text");
    assert_eq!(count(&mut *session, "SELECT count(*) FROM trade_type WHERE tt_name = ''"), 1);
    let largest = session.text_value::<Option<i64>>("SELECT max(ch_c_tier) FROM charge WHERE ch_c_tier > 3");
    assert_eq!(largest.expect("a query"), Some(None), "the maximum of no rows");
}

fn count(session: &mut dyn Session, sql: &str) -> i64 {
    session.text_value(sql).unwrap_or_else(|e| panic!("{e}")).expect("a count")
}
