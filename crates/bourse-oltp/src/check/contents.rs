//! Digests of tables' rows: those of the generated rows, stored in the database, against those of the rows it has now.
//!
//! A digest is the sum of a 128-bit hash (XXH3) of each row, so that rows may come in any order. It finds rows that were
//! lost, doubled or altered by mistake; it is no protection against deliberate forgery.

use super::{CheckResult, Note};
use crate::workload::{LastingRows, Size, Workload};
use bourse_engine::{EngineError, ErrorKind, FromValue as _, Result, Row, RowExt as _, Session, WrongType, one_line};
use bourse_schema::{Batch, ColumnType, Date, FinAgg, Table, TaxRate, Timestamp, Value};
use std::fmt;
use twox_hash::XxHash3_128;

/// The digest of some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowDigest {
    /// Number of rows.
    pub rows: u64,
    sum: u128,
}

impl RowDigest {
    fn add(&mut self, row: &[u8]) {
        self.rows += 1;
        self.sum = self.sum.wrapping_add(XxHash3_128::oneshot(row));
    }

    /// Parses a digest of `rows` rows as [`fmt::Display`] writes it.
    fn read(rows: u64, text: &str) -> Option<Self> {
        Some(Self { rows, sum: u128::from_str_radix(text, 16).ok()? })
    }
}

impl fmt::Display for RowDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.sum)
    }
}

/// Digests of a table as it was generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents {
    /// Definition of the table.
    pub table: &'static Table,
    /// Digest of all columns.
    pub whole: RowDigest,
    /// Digest of the columns that transactions never change: see [`LastingRows`].
    pub lasting: RowDigest,
}

/// Takes the digests of a table while its rows are made.
#[derive(Debug)]
pub(crate) struct Digester {
    contents: Contents,
    /// Whether each column is never changed.
    keeps: Vec<bool>,
    whole: Vec<u8>,
    lasting: Vec<u8>,
}

impl Digester {
    pub(crate) fn new(table: &'static Table, lasting: LastingRows) -> Self {
        Self {
            contents: Contents { table, whole: RowDigest::default(), lasting: RowDigest::default() },
            keeps: table.columns.iter().map(|column| lasting.keeps(column.name)).collect(),
            whole: Vec::new(),
            lasting: Vec::new(),
        }
    }

    pub(crate) fn contents(&self) -> Contents {
        self.contents
    }

    /// Adds rows of the table.
    ///
    /// # Errors
    /// If a value is not of its column's type.
    pub(crate) fn add(&mut self, batch: &dyn Batch) -> Result<()> {
        let mut wrong = None;
        for index in 0..batch.len() {
            batch.with_row(index, &mut |values| {
                if let Err(error) = self.add_row(values) {
                    wrong = Some(error);
                }
            });
        }
        wrong.map_or(Ok(()), Err)
    }

    fn add_row(&mut self, values: &[Value<'_>]) -> Result<()> {
        self.whole.clear();
        self.lasting.clear();
        let columns = self.contents.table.columns;
        for (at, ((column, value), keeps)) in columns.iter().zip(values).zip(&self.keeps).enumerate() {
            let begin = self.whole.len();
            write(column.column_type, *value, &mut self.whole).map_err(|wrong| wrong.in_column(at))?;
            if *keeps {
                self.lasting.extend_from_slice(&self.whole[begin..]);
            }
        }
        self.contents.whole.add(&self.whole);
        if !self.lasting.is_empty() {
            self.contents.lasting.add(&self.lasting);
        }
        Ok(())
    }
}

/// Appends a value in a form that is the same for every engine, and in which different values never look alike.
fn write(column: ColumnType, value: Value<'_>, out: &mut Vec<u8>) -> Result<(), WrongType> {
    let mut bytes = |kind: u8, bytes: &[u8]| {
        out.push(kind);
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
    };
    let number = match (column, value) {
        (_, Value::Null) => {
            out.push(0);
            return Ok(());
        }
        (ColumnType::Text(_), Value::Text(text)) => {
            bytes(2, text.as_bytes());
            return Ok(());
        }
        (ColumnType::Text(_), other) => {
            bytes(2, String::from_value(other)?.as_bytes());
            return Ok(());
        }
        (ColumnType::Lob(_), Value::Blob(blob)) => {
            bytes(3, blob);
            return Ok(());
        }
        (ColumnType::Lob(_), other) => {
            bytes(3, &Vec::from_value(other)?);
            return Ok(());
        }
        (ColumnType::Decimal { scale: 5, .. }, value) => TaxRate::from_value(value)?.units(),
        (ColumnType::Decimal { .. }, value) => FinAgg::from_value(value)?.units(),
        (ColumnType::Date, value) => i64::from(Date::from_value(value)?.days()),
        (ColumnType::Timestamp, value) => Timestamp::from_value(value)?.millis(),
        (_, value) => i64::from_value(value)?,
    };
    out.push(1);
    out.extend_from_slice(&number.to_le_bytes());
    Ok(())
}

/// Adds rows of a query to a digest.
#[derive(Debug)]
pub(crate) struct DigestReader {
    columns: Vec<ColumnType>,
    digest: RowDigest,
    row: Vec<u8>,
}

impl DigestReader {
    /// Hasher of all columns of a table.
    pub(crate) fn whole(table: &Table) -> Self {
        Self::of(table.columns.iter().map(|column| column.column_type).collect())
    }

    fn lasting(table: &Table, lasting: LastingRows) -> Self {
        let kept = table.columns.iter().filter(|column| lasting.keeps(column.name));
        Self::of(kept.map(|column| column.column_type).collect())
    }

    fn of(columns: Vec<ColumnType>) -> Self {
        Self { columns, digest: RowDigest::default(), row: Vec::new() }
    }

    pub(crate) fn add(&mut self, row: &dyn Row) -> Result<()> {
        self.row.clear();
        for (at, column) in self.columns.iter().enumerate() {
            write(*column, row.value(at), &mut self.row).map_err(|wrong| wrong.in_column(at))?;
        }
        self.digest.add(&self.row);
        Ok(())
    }

    pub(crate) fn digest(&self) -> RowDigest {
        self.digest
    }
}

/// The query for all columns of a table, in their order.
pub(crate) fn select_all(table: &Table) -> String {
    let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    format!("SELECT {} FROM {}", columns.join(", "), table.name)
}

/// Table that stores the digests: a row for each table.
pub(crate) const CREATE_DIGEST_TABLE: &str = "CREATE TABLE bourse_digest (
    table_name VARCHAR(64) NOT NULL PRIMARY KEY,
    {row_count} BIGINT NOT NULL,
    whole VARCHAR(32) NOT NULL,
    lasting_count BIGINT NOT NULL,
    lasting VARCHAR(32) NOT NULL
)";
const SELECT_DIGESTS: &str = "SELECT table_name, {row_count}, whole, lasting_count, lasting FROM bourse_digest";

pub(crate) fn insert_digests(contents: &Contents) -> String {
    let Contents { table, whole, lasting } = contents;
    format!(
        "INSERT INTO bourse_digest VALUES ('{}', {}, '{whole}', {}, '{lasting}')",
        table.name, whole.rows, lasting.rows
    )
}

/// The digests of the generated rows stored in a database; `None` if it has none.
///
/// # Errors
/// The engine's.
pub fn stored_contents(db: &mut dyn Session, workload: &dyn Workload) -> Result<Option<Vec<Contents>>> {
    let mut found = Vec::new();
    let sql = db.dialect().fill(SELECT_DIGESTS);
    let read = db.query_text(&sql, &[], &mut |row| {
        let (name, whole, lasting): (String, String, String) = (row.get(0)?, row.get(2)?, row.get(4)?);
        let table = workload.tables().iter().copied().find(|table| table.name == name);
        let whole = RowDigest::read(row.get(1)?, &whole);
        let lasting = RowDigest::read(row.get(3)?, &lasting);
        let (Some(table), Some(whole), Some(lasting)) = (table, whole, lasting) else {
            return Err(EngineError::new(ErrorKind::Other, format!("bourse_digest has an unreadable row of {name}")));
        };
        found.push(Contents { table, whole, lasting });
        Ok(())
    });
    match read {
        Ok(()) => Ok(Some(found)),
        // An engine says that there is no such table as it says anything that it cannot do.
        Err(error) if matches!(error.kind(), ErrorKind::Other | ErrorKind::Unsupported) && found.is_empty() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Selection of the tables to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Tables that runs do not enlarge.
    Quick,
    /// These, and the initial rows of the others.
    Full,
}

/// Compares the lasting part of each table with the digests of the generated rows. `note` is called after each check.
///
/// # Errors
/// The engine's, and those of `note`; what a check finds is no error.
pub fn check(
    db: &mut dyn Session,
    workload: &dyn Workload,
    size: &Size,
    depth: Depth,
    note: &mut Note<'_>,
) -> Result<()> {
    const SOURCE: &str = "the generator";
    const WORDS: &str = "what no transaction changes is as it was generated";
    let Some(kept) = stored_contents(db, workload)? else {
        let why = "the database was loaded by an earlier version, which kept no digests of its rows";
        return note(CheckResult::not_run("contents", SOURCE, WORDS, why));
    };
    let first_new = workload.first_new(size);
    for table in workload.tables() {
        let lasting = workload.lasting(table);
        let name = format!("contents of {}", table.name);
        let Some(query) = lasting.query(table, first_new) else { continue };
        let Some(generated) = kept.iter().find(|contents| contents.table == *table) else {
            let offences = vec!["the database has no digest of the generated rows".to_owned()];
            note(CheckResult::of_offences(&name, SOURCE, WORDS, offences))?;
            continue;
        };
        if depth == Depth::Quick && matches!(lasting, LastingRows::InitialRows { .. }) {
            continue;
        }
        let mut reader = DigestReader::lasting(table, lasting);
        db.query_text(&query, &[], &mut |row| reader.add(row))?;
        let (there, wanted) = (reader.digest(), generated.lasting);
        let offences = match (there == wanted, there.rows == wanted.rows) {
            (true, _) => Vec::new(),
            (false, false) => vec![format!("{} rows were generated, {} are there", wanted.rows, there.rows)],
            (false, true) => vec![format!("of {} rows some are not those that were generated", wanted.rows)],
        };
        note(CheckResult { sql: one_line(&query), ..CheckResult::of_offences(&name, SOURCE, WORDS, offences) })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_forms_of_a_row_are_one_and_other_rows_are_others() {
        let money = ColumnType::Decimal { precision: 10, scale: 2 };
        let digest = |rows: &[[Value<'_>; 2]]| {
            let mut digest = RowDigest::default();
            for [amount, text] in rows {
                let mut bytes = Vec::new();
                write(money, *amount, &mut bytes).expect("is an amount");
                write(ColumnType::Text(5), *text, &mut bytes).expect("is a text");
                digest.add(&bytes);
            }
            digest
        };
        let (five, six) = (Value::Int(500), Value::Decimal { units: 600, scale: 2 });
        let (a, b) = (Value::Text("a"), Value::Text("b"));
        assert_eq!(digest(&[[five, a], [six, b]]), digest(&[[Value::Int(600), b], [five, a]]));
        assert_ne!(digest(&[[five, a], [six, b]]), digest(&[[five, b], [six, a]]));
        assert_ne!(digest(&[[five, a]]), digest(&[[five, a], [five, a]]));
        assert_ne!(digest(&[[five, Value::Null]]), digest(&[[five, Value::Text("")]]));
        let read = digest(&[[five, a]]);
        assert_eq!(RowDigest::read(read.rows, &read.to_string()), Some(read));
    }
}
