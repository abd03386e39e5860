//! Parameters that are drawn from columns of the database of the option `from`.

use super::draw::{DeclaredDistribution, Literal};
use crate::workload::{MicroError, named};
use bourse_engine::{EngineError, Result, Value};
use bourse_engine_sqlite::StoredDatabase;
use bourse_record::{NameValue, SplitMix, grouped};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Number of values of a column that are held at most.
const MOST_VALUES: usize = 1_000_000;
/// Number of bytes of texts and blobs that are held at most.
const MOST_BYTES: usize = 1 << 30;

/// Values of a column, shared by all users.
pub(super) type ColumnValues = Arc<[Literal]>;

/// A column, as a file names it: `TABLE.COLUMN`, each in double quotes if it is no plain word.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ColumnName {
    pub(super) table: String,
    column: String,
    /// File and line that name it.
    pub(super) place: String,
    /// Number of the parameter with the row's number.
    pub(super) row: usize,
}

impl TryFrom<String> for ColumnName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let expected = || format!("{text:?} is no column: expected TABLE.COLUMN, as users.id or \"my table\".\"id\"");
        Self::parse(&text).ok_or_else(expected)
    }
}

impl ColumnName {
    /// Column of a text; `None` if it has another form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (table, rest) = identifier(text.trim())?;
        let (column, rest) = identifier(rest.strip_prefix('.')?)?;
        rest.is_empty().then(|| Self { table, column, place: String::new(), row: 0 })
    }

    /// Table and column in a query. SQLite would take the name of a missing column alone for a text.
    fn sql(&self) -> (String, String) {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let table = quoted(&self.table);
        let column = format!("{table}.{}", quoted(&self.column));
        (table, column)
    }
}

/// First identifier of a text, and the rest.
fn identifier(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let (name, rest) = text.split_at(text.find(['.', '"']).unwrap_or(text.len()));
        return (!name.is_empty() && !name.contains(char::is_whitespace)).then(|| (name.to_owned(), rest));
    };
    let mut name = String::new();
    loop {
        let (part, behind) = rest.split_once('"')?;
        name.push_str(part);
        rest = behind;
        match rest.strip_prefix('"') {
            Some(behind) => rest = behind,
            None => return (!name.is_empty()).then_some((name, rest)),
        }
        name.push('"');
    }
}

/// Reads the columns that parameters are drawn from: values by the numbers of the parameters, and facts for the report.
pub(super) fn read(
    parameters: &[(String, DeclaredDistribution)],
    database: &Path,
) -> Result<(BTreeMap<usize, ColumnValues>, Vec<NameValue>), MicroError> {
    let stored = StoredDatabase::open(database).map_err(MicroError::engine("opening the copy of the database"))?;
    let (mut values, mut facts) = (BTreeMap::<usize, ColumnValues>::new(), Vec::new());
    let columns = || (0..).zip(parameters).filter_map(|(number, (name, it))| Some((number, name, it.column()?)));
    for (number, (_, declared)) in parameters.iter().enumerate() {
        // Columns in a row are read together.
        let read_now: Vec<_> = columns()
            .filter(|(at, ..)| match (declared, parameters.get(*at)) {
                (DeclaredDistribution::RowOf(_), Some((_, DeclaredDistribution::Row(it)))) => it.row == number,
                (DeclaredDistribution::RowOf(_) | DeclaredDistribution::Row(_), _) => false,
                _ => *at == number,
            })
            .collect();
        let Some((_, _, first)) = read_now.first() else { continue };
        let (table, column) = first.sql();
        let (query, kind) = match declared {
            DeclaredDistribution::RowOf(_) => {
                let columns: Vec<String> = read_now.iter().map(|(_, _, column)| column.sql().1).collect();
                (format!("SELECT {} FROM {table}", columns.join(", ")), "rows")
            }
            DeclaredDistribution::Distinct(_) => {
                (format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"), "distinct values")
            }
            _ => (
                format!(
                    "SELECT v FROM (SELECT {column} AS v, count(*) AS n FROM {table} WHERE {column} IS NOT NULL GROUP BY 1 \
                     ORDER BY n DESC, v LIMIT {MOST_VALUES}) ORDER BY n, v DESC"
                ),
                "distinct values by frequency",
            ),
        };
        let failed = |error: EngineError| {
            let named = read_now
                .iter()
                .find(|(_, _, it)| error.message().ends_with(&format!(".{}", it.column)))
                .map(|(_, _, it)| *it);
            MicroError::Statement { place: named.unwrap_or(first).place.clone(), error }
        };
        let (read, of) = sample(&stored, &query, read_now.len()).map_err(failed)?;
        for ((at, name, column), read) in read_now.iter().zip(read) {
            let (column, count) = (column.sql().1, read.len() as u64);
            if count == 0 {
                return Err(failed(EngineError::unsupported(format!("{column} has no value to draw"))));
            }
            let sampled = if count < of { format!(", a random part of {}", grouped(of)) } else { String::new() };
            facts.push(named(format!("parameter {name}"), format!("{column}: {} {kind}{sampled}", grouped(count))));
            let read: ColumnValues = read.into();
            values.extend([(*at, Arc::clone(&read)), (number, read)]);
        }
    }
    Ok((values, facts))
}

/// Values of each of a query's columns, and the number of rows; of more rows than are held a random sample.
fn sample(stored: &StoredDatabase, query: &str, columns: usize) -> Result<(Vec<Vec<Literal>>, u64)> {
    let (mut random, mut held) = (SplitMix::new(364), vec![Vec::new(); columns]);
    let (mut rows, mut bytes) = (0_usize, 0);
    stored.rows(query, &mut |row| {
        let at = if rows < MOST_VALUES { rows } else { random.below(rows as u64 + 1) as usize };
        rows += 1;
        if at >= MOST_VALUES {
            return Ok(());
        }
        for (held, value) in held.iter_mut().zip(row) {
            bytes += match value {
                Value::Text(text) => text.len(),
                Value::Blob(bytes) => bytes.len(),
                _ => 0,
            };
            if bytes > MOST_BYTES {
                let why = "the values are more than 1 GiB: draw them from a column with shorter ones";
                return Err(EngineError::unsupported(why));
            }
            let literal = match *value {
                Value::Int(number) => Literal::Int(number),
                Value::Real(number) => Literal::Real(number),
                Value::Text(text) => Literal::Text(text.to_owned()),
                Value::Blob(bytes) => Literal::Blob(bytes.into()),
                _ => Literal::Null,
            };
            match held.get_mut(at) {
                Some(place) => *place = literal,
                None => held.push(literal),
            }
        }
        Ok(())
    })?;
    Ok((held, rows as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_names_as_in_sql() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let found = ColumnName::parse(text);
            assert_eq!(found.as_ref().map(|it| (it.table.as_str(), it.column.as_str())), expected, "{text}");
        };
        check("users.id", Some(("users", "id")));
        check(" \"my  table\".\"a.\"\"b\" ", Some(("my  table", "a.\"b")));
        check("\"order\".id", Some(("order", "id")));
        for text in ["users", "users.", ".id", "a b.c", "a.b.c", "\"a.b", "\"\".a", "a.b c"] {
            check(text, None);
        }
    }
}
