//! Schema of a recorded database in the words of other engines.
//!
//! A column has the type of the values that are stored in it, and one without values that of its declaration: SQLite's columns
//! hold values of any type. Keys, uniqueness, NOT NULL, plain defaults and indexes of columns are declared; foreign keys and
//! checks are not, since SQLite enforces the former on request only.
//!
//! Of a statement that makes a table in the recording, only the key that SQLite assigns is translated.

use super::shape::Shape;
use crate::sql::{Pieces, TextPiece};
use bourse_engine::{Dialect, EngineError, Result, Value};
use bourse_engine_sqlite::{StoredDatabase, StoredObject};
use bourse_schema::{Cardinality, Column, ColumnType, Group, Section, Table};

/// Least width of a text column, in characters: a longer text may follow those that are stored.
const LEAST_WIDTH: usize = 255;

/// A table as another engine has it.
pub(super) struct TranslatedTable {
    /// Statement that makes it.
    pub(super) create: String,
    /// Declaration, for a loader.
    pub(super) table: &'static Table,
    /// Query for the rows.
    pub(super) query: String,
    /// Statements that follow the rows, by names: the next assigned key, and indexes; empty without a translation.
    pub(super) behind: Vec<(String, String)>,
}

/// Facts of a column.
struct StoredColumn {
    name: String,
    declared: String,
    is_required: bool,
    default: Option<String>,
    /// Place in the primary key, from 1; 0: none.
    key: i64,
}

impl TranslatedTable {
    /// Table of an object; a refusal names what has no translation.
    ///
    /// # Errors
    /// SQLite's, and refusals.
    pub(super) fn of(stored: &StoredDatabase, object: &StoredObject, dialect: &Dialect) -> Result<Self> {
        let name = plain(&object.name)?;
        let mut columns = Vec::new();
        let listed = format!(
            "SELECT name, upper(type), \"notnull\", dflt_value, pk FROM pragma_table_xinfo('{name}') WHERE hidden = 0"
        );
        stored.rows(&listed, &mut |row| {
            columns.push(StoredColumn {
                name: plain(&row[0].to_string())?.to_owned(),
                declared: row[1].to_string(),
                is_required: row[2] == Value::Int(1) || row[4] != Value::Int(0),
                default: if let Value::Text(text) = row[3] { Some(text.to_owned()) } else { None },
                key: if let Value::Int(place) = row[4] { place } else { 0 },
            });
            Ok(())
        })?;
        let mut key: Vec<&StoredColumn> = columns.iter().filter(|it| it.key > 0).collect();
        key.sort_by_key(|it| it.key);
        let is_assigned = key.len() == 1 && key[0].declared == "INTEGER";
        let next = match is_assigned {
            true => number(stored, &format!("SELECT coalesce(max({}), 0) + 1 FROM {name}", key[0].name))?,
            false => 0,
        };
        let (mut lines, mut types, mut sequence) = (Vec::new(), Vec::new(), String::new());
        for column in &columns {
            let domain = domain(stored, name, column)?;
            let mut line = format!("{} {}", column.name, physical(domain, dialect));
            match dialect.assigned_key {
                // SQLite's own word is for keys that are never assigned again.
                assigned if is_assigned && column.key > 0 && !assigned.is_empty() => {
                    line.push_str(if assigned.contains("AUTOINCREMENT") { " PRIMARY KEY" } else { assigned });
                }
                // An engine without such keys has sequences.
                _ if is_assigned && column.key > 0 => {
                    sequence = format!("CREATE SEQUENCE {name}_{} START WITH {next}; ", column.name);
                    line.push_str(&format!(" DEFAULT nextval('{name}_{}')", column.name));
                }
                _ if column.is_required => line.push_str(" NOT NULL"),
                _ => {}
            }
            if let Some(default) = column.default.as_deref().filter(|it| is_literal(it)) {
                line.push_str(&format!(" DEFAULT {default}"));
            }
            lines.push(line);
            types.push(domain);
        }
        let names: Vec<&str> = columns.iter().map(|it| it.name.as_str()).collect();
        if !key.is_empty() && (!is_assigned || dialect.assigned_key.is_empty()) {
            let key: Vec<&str> = key.iter().map(|it| it.name.as_str()).collect();
            lines.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
        let mut behind = Vec::new();
        if is_assigned && dialect.assigned_key.contains("IDENTITY") {
            let key = &key[0].name;
            behind.push((
                format!("next key of {name}"),
                format!("ALTER TABLE {name} ALTER COLUMN {key} RESTART WITH {next}"),
            ));
        }
        indexes(stored, name, &mut lines, &mut behind)?;
        let query = format!("SELECT {} FROM {name}", names.join(", "));
        let create = format!("{sequence}CREATE TABLE {name} (\n  {}\n)", lines.join(",\n  "));
        let columns = names.iter().zip(types).map(|(name, domain)| (*name, domain));
        Ok(Self { create, table: declared(name, columns), query, behind })
    }
}

/// Constraints of a table that are not declared: foreign keys by the tables that they refer to.
///
/// # Errors
/// SQLite's.
pub(super) fn undeclared(stored: &StoredDatabase, object: &StoredObject) -> Result<Vec<(String, String)>> {
    let name = object.name.replace('\'', "''");
    let mut parents = Vec::new();
    stored.rows(
        &format!("SELECT DISTINCT \"table\" FROM pragma_foreign_key_list('{name}') ORDER BY 1"),
        &mut |row| {
            parents.push(row[0].to_string());
            Ok(())
        },
    )?;
    let why = format!("not declared, so that {} may lack what it refers to", object.name);
    Ok(parents.into_iter().map(|parent| (format!("foreign key of {} to {parent}", object.name), why.clone())).collect())
}

/// A recorded statement that makes a table with a key which SQLite assigns, as statements that make one whose key this engine
/// assigns; `None` for other statements, and where the words are the same.
pub(super) fn with_assigned_key(sql: &str, dialect: &Dialect) -> Option<Vec<String>> {
    let shape = Shape::of(sql);
    let table =
        shape.target.filter(|_| shape.first_word == "create" && !dialect.assigned_key.contains("AUTOINCREMENT"))?;
    let pieces: Vec<TextPiece<'_>> = Pieces::of(sql).collect();
    let is_name = |at: &usize| matches!(pieces[*at], TextPiece::Word(_) | TextPiece::Quoted(_));
    let names: Vec<usize> = (0..pieces.len()).filter(is_name).collect();
    let is = |at: usize, word: &str| names.get(at).is_some_and(|it| pieces[*it].text().eq_ignore_ascii_case(word));
    let text = |range: &[TextPiece<'_>]| range.iter().map(|it| it.text()).collect::<String>();
    let name_at = |at: usize| pieces[names[at]].text().trim_matches(['"', '`']).to_lowercase();
    // Text between a word and the next one.
    let behind = |at: usize| Some(text(&pieces[names.get(at)? + 1..*names.get(at + 1).unwrap_or(&pieces.len())]));
    let primary = (0..names.len()).find(|at| is(*at, "primary") && is(*at + 1, "key"))?;
    let is_constraint = behind(primary + 1)?.trim() == "(";
    let column = if is_constraint {
        let columns = text(&pieces[*names.get(primary + 2)?..]);
        let is_only = !columns.split(')').next()?.contains(',');
        let is_key = |at: &usize| is(*at + 1, "integer") && name_at(*at) == name_at(primary + 2);
        (0..primary).find(is_key).filter(|_| is_only)?
    } else {
        let is_required = primary > 1 && is(primary - 1, "null") && is(primary - 2, "not");
        primary.checked_sub(if is_required { 4 } else { 2 })?
    };
    if !is(column + 1, "integer") || !behind(column)?.trim().is_empty() || behind(column + 1)?.contains('(') {
        return None;
    }
    let sequence = format!("{}_{}", plain(&table).ok()?, name_at(column));
    let mut assigned = dialect.assigned_key.to_owned();
    if assigned.is_empty() {
        assigned = format!(" DEFAULT nextval('{}') PRIMARY KEY", plain(&sequence).ok()?);
    }
    let mut last = primary + 1 + usize::from(is(primary + 2, "autoincrement"));
    if is_constraint {
        assigned = assigned.replace(" PRIMARY KEY", "");
        last = column + 1;
    }
    let is_kept = |it: &&TextPiece<'_>| !it.text().eq_ignore_ascii_case("autoincrement");
    let after: String = pieces[names[last] + 1..].iter().filter(is_kept).map(|it| it.text()).collect();
    let (before, domain) = (text(&pieces[..names[column + 1]]), (dialect.physical)(ColumnType::Ident));
    let create = format!("{before}{domain}{assigned}{after}");
    let sequence = dialect.assigned_key.is_empty().then(|| format!("CREATE SEQUENCE IF NOT EXISTS {sequence}"));
    Some(sequence.into_iter().chain([create]).collect())
}

/// Declaration of a table for a loader; it lives as long as the process, as those of workloads do.
pub(super) fn declared<'n>(name: &str, columns: impl Iterator<Item = (&'n str, ColumnType)>) -> &'static Table {
    let column = |(name, column_type): (&str, ColumnType)| Column {
        name: name.to_owned().leak(),
        column_type,
        nullable: true,
        check: None,
    };
    Box::leak(Box::new(Table {
        name: name.to_owned().leak(),
        file: "",
        doc: "",
        section: Section::Dimension,
        group: Group::Fixed,
        cardinality: Cardinality::Empty,
        columns: columns.map(column).collect::<Vec<_>>().leak(),
        key: &[],
        foreign_keys: &[],
        indexes: &[],
    }))
}

/// Adds a table's unique constraints to its lines, and its indexes to the statements behind its rows.
fn indexes(
    stored: &StoredDatabase,
    table: &str,
    lines: &mut Vec<String>,
    behind: &mut Vec<(String, String)>,
) -> Result<()> {
    let mut found = Vec::new();
    let listed = format!(
        "SELECT l.name, l.\"unique\", l.origin, l.partial, (SELECT group_concat(name, ', ') FROM pragma_index_info(l.name)), \
         (SELECT count(*) FROM pragma_index_info(l.name) WHERE name IS NULL) \
         FROM pragma_index_list('{table}') l WHERE l.origin <> 'pk' ORDER BY l.seq DESC"
    );
    stored.rows(&listed, &mut |row| {
        let is = |at: usize| row[at] != Value::Int(0);
        found.push((row[0].to_string(), is(1), row[2] == Value::Text("u"), is(3) || is(5), row[4].to_string()));
        Ok(())
    })?;
    for (name, is_unique, is_constraint, is_special, columns) in found {
        if is_constraint {
            lines.push(format!("UNIQUE ({columns})"));
        } else if !is_special && plain(&name).is_ok() {
            let unique = if is_unique { "UNIQUE " } else { "" };
            behind.push((format!("index {name}"), format!("CREATE {unique}INDEX {name} ON {table} ({columns})")));
        } else {
            behind.push((format!("index {name}"), String::new()));
        }
    }
    Ok(())
}

/// Type of a column by its values, else by its declaration.
fn domain(stored: &StoredDatabase, table: &str, column: &StoredColumn) -> Result<ColumnType> {
    let name = &column.name;
    let (mut kinds, mut width) = (Vec::new(), 0);
    let listed = format!(
        "SELECT typeof({name}), max(length({name})) FROM {table} WHERE {name} IS NOT NULL GROUP BY 1 ORDER BY 1"
    );
    stored.rows(&listed, &mut |row| {
        kinds.push(row[0].to_string());
        if let Value::Int(length) = row[1] {
            width = width.max(usize::try_from(length).unwrap_or(0));
        }
        Ok(())
    })?;
    let has = |words: &[&str]| words.iter().any(|word| column.declared.contains(word));
    let width = width.next_power_of_two().max(LEAST_WIDTH);
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    Ok(match *kinds {
        [] | ["integer"] if has(&["INT", "BOOL"]) => ColumnType::Ident,
        [] if has(&["CHAR", "CLOB", "TEXT", "DATE", "TIME"]) => ColumnType::Text(width),
        [] if has(&["BLOB"]) => ColumnType::Lob(width),
        [] if column.declared.is_empty() => ColumnType::Text(width),
        ["integer"] if column.declared.is_empty() || has(&["DATE", "TIME"]) => ColumnType::Ident,
        [] | ["integer" | "real"] | ["integer", "real"] => ColumnType::Real,
        ["text"] => ColumnType::Text(width),
        ["blob"] => ColumnType::Lob(width),
        _ => return Err(EngineError::refused(format!("{table}.{name} holds values of types {}", kinds.join(" and ")))),
    })
}

/// Physical type; texts are compared by their bytes, in any language.
fn physical(domain: ColumnType, dialect: &Dialect) -> String {
    match (domain, dialect.fill("{utf8mb4}")) {
        (ColumnType::Text(width), words) if !words.is_empty() => {
            // Without padding, so that trailing spaces count; MariaDB and MySQL have names of their own for it.
            format!("VARCHAR({width}) {words} COLLATE /*M!100202 utf8mb4_nopad_bin*/ /*!80017 utf8mb4_0900_bin*/")
        }
        _ => (dialect.physical)(domain),
    }
}

/// A name that every engine takes without quotes.
fn plain(name: &str) -> Result<&str> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit());
    if is_plain { Ok(name) } else { Err(EngineError::refused(format!("the name \"{name}\" needs quotes"))) }
}

/// Whether a default is a number or a text.
fn is_literal(default: &str) -> bool {
    default.parse::<f64>().is_ok() || (default.starts_with('\'') && !default.trim_matches('\'').contains('\''))
}

/// First number of a query; 0 without one.
pub(crate) fn number(stored: &StoredDatabase, query: &str) -> Result<i64> {
    let mut found = 0;
    stored.rows(query, &mut |row| {
        found = if let Some(Value::Int(number)) = row.first() { *number } else { 0 };
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PostgreSQL once had a primary key there that nothing assigned, so that rows without it were refused.
    #[test]
    fn a_key_that_sqlite_assigns_is_one_that_the_engine_assigns() {
        const SEQUENCES: Dialect = Dialect { assigned_key: "", ..Dialect::STANDARD };
        let with = |sql, dialect: &Dialect| with_assigned_key(sql, dialect);
        let standard = |sql| with(sql, &Dialect::STANDARD).map(|parts| parts.join("; "));
        assert_eq!(
            standard("CREATE TABLE IF NOT EXISTS t (\"id\" integer PRIMARY\n KEY AUTOINCREMENT, a TEXT)").as_deref(),
            Some("CREATE TABLE IF NOT EXISTS t (\"id\" BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, a TEXT)")
        );
        // So Django, and SQLAlchemy.
        assert_eq!(
            standard("CREATE TABLE t(\"id\" integer NOT NULL PRIMARY KEY AUTOINCREMENT, a)").as_deref(),
            Some("CREATE TABLE t(\"id\" BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, a)")
        );
        let constraint = "CREATE TABLE t(id INTEGER NOT NULL, a TEXT, PRIMARY KEY (\"id\"))";
        assert_eq!(
            standard(constraint).as_deref(),
            Some("CREATE TABLE t(id BIGINT GENERATED BY DEFAULT AS IDENTITY NOT NULL, a TEXT, PRIMARY KEY (\"id\"))")
        );
        assert_eq!(
            with(constraint, &SEQUENCES).expect("it has a key")[1],
            "CREATE TABLE t(id BIGINT DEFAULT nextval('t_id') NOT NULL, a TEXT, PRIMARY KEY (\"id\"))"
        );
        assert_eq!(
            with("CREATE TABLE t(id INTEGER PRIMARY KEY, a)", &SEQUENCES).expect("it has a key"),
            ["CREATE SEQUENCE IF NOT EXISTS t_id", "CREATE TABLE t(id BIGINT DEFAULT nextval('t_id') PRIMARY KEY, a)"]
        );
        for other in [
            "CREATE TABLE t(id INT PRIMARY KEY)",
            "CREATE TABLE t(a INTEGER, b INTEGER, PRIMARY KEY (a, b))",
            "CREATE TABLE t(a INTEGER(8), PRIMARY KEY (a))",
            "CREATE TABLE t(a INTEGER DEFAULT 1, b TEXT PRIMARY KEY)",
            "CREATE TABLE t(a TEXT DEFAULT 'id INTEGER PRIMARY KEY')",
            "INSERT INTO t VALUES (1)",
        ] {
            assert_eq!(standard(other), None, "{other}");
        }
        assert_eq!(with("CREATE TABLE t(id INTEGER PRIMARY KEY)", &bourse_schema::SQLITE), None);
    }
}
