//! The schema as an engine's catalog reports it, and as declared: two lists that can be compared.

use crate::ddl::indexed;
use crate::{ColumnType, Dialect, Table, create_index, create_table, load_order};

/// Queries for the tables, indexes and constraints in a dialect's catalog. Each query returns rows of kind, table, name
/// and definition, and omits tables that begin with `bourse_`.
#[derive(Debug)]
pub enum Catalog {
    /// The catalog contains the statements that made tables and indexes.
    Statements(&'static str),
    /// The catalog lists columns, indexes, foreign keys and the number of checks of each table.
    Parts(&'static str),
    /// No query is known.
    Unknown,
}

/// An object of a schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaObject {
    /// `table`, `index`, `column`, `foreign key` or `checks`; for undeclared objects the engine's word.
    pub kind: String,
    /// Name of its table.
    pub table: String,
    /// Name of the object; for foreign keys, which have no declared name, their columns.
    pub name: String,
    /// Definition: a statement, a type, or columns.
    pub definition: String,
}

/// Lists the objects that a database of these tables must have in a dialect; `constraints` are foreign keys and checks. `None` if
/// the catalog is unknown.
///
/// ```
/// use bourse_schema::{Dialect, SQLITE, declared, tables};
/// let objects = declared(tables::all(), &SQLITE, true).unwrap();
/// assert_eq!(objects.iter().filter(|object| object.kind == "table").count(), 33);
/// assert_eq!(declared(tables::all(), &Dialect::STANDARD, true), None);
/// ```
pub fn declared(tables: &[&'static Table], dialect: &Dialect, constraints: bool) -> Option<Vec<SchemaObject>> {
    let of = |table: &'static Table| match dialect.catalog {
        Catalog::Statements(_) => Some(statements(table, dialect, constraints)),
        Catalog::Parts(_) => Some(parts(table, dialect, constraints)),
        Catalog::Unknown => None,
    };
    let objects: Option<Vec<Vec<SchemaObject>>> = load_order(tables).into_iter().map(of).collect();
    objects.map(|objects| objects.concat())
}

fn statements(table: &Table, dialect: &Dialect, constraints: bool) -> Vec<SchemaObject> {
    let object = |kind: &str, name: &str, definition| SchemaObject {
        kind: kind.to_owned(),
        table: table.name.to_owned(),
        name: name.to_owned(),
        definition,
    };
    let indexes = table.indexes.iter().map(|index| object("index", index.name, create_index(table, index, dialect)));
    std::iter::once(object("table", table.name, create_table(table, dialect, constraints))).chain(indexes).collect()
}

fn parts(table: &Table, dialect: &Dialect, constraints: bool) -> Vec<SchemaObject> {
    let object = |kind: &str, name: &str, definition: String| SchemaObject {
        kind: kind.to_owned(),
        table: table.name.to_owned(),
        name: name.to_owned(),
        definition,
    };
    let mut objects = Vec::new();
    for column in table.columns {
        let physical = (dialect.physical)(column.column_type).to_lowercase();
        let data_type = physical.split(['(', ' ']).next().unwrap_or_default();
        let null = if column.nullable { "NULL" } else { "NOT NULL" };
        objects.push(object("column", column.name, format!("{data_type} {null}")));
    }
    objects.push(object("index", "PRIMARY", format!("unique {}", table.key.join(", "))));
    for index in table.indexes {
        objects.push(object("index", index.name, indexed(index, dialect).join(", ")));
    }
    if constraints {
        for key in table.foreign_keys.iter().filter(|_| dialect.foreign_keys) {
            objects.push(object("foreign key", &key.columns.join(", "), (key.parent)().name.to_owned()));
        }
        let checked = |column: &&crate::Column| column.check.is_some();
        let is_bool = |column: &&crate::Column| column.column_type == ColumnType::Bool;
        let booleans = if dialect.check_booleans { table.columns.iter().filter(is_bool).count() } else { 0 };
        let checks = table.columns.iter().filter(checked).count() + booleans;
        if checks > 0 && dialect.checks {
            objects.push(object("checks", "checks", checks.to_string()));
        }
    }
    objects
}

/// Catalog of SQLite: `sqlite_master`, without the indexes that it makes for a key by itself, which have no statement.
pub(crate) const SQLITE_SCHEMA: Catalog = Catalog::Statements(
    "SELECT type, tbl_name, name, sql
       FROM sqlite_master
      WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' AND substr(tbl_name, 1, 7) <> 'bourse_'",
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SQLITE, tables};

    #[test]
    fn all_that_is_declared_is_listed() {
        let of = |dialect, kind: &str, constraints| {
            let objects = declared(tables::all(), dialect, constraints).expect("its catalog is known");
            objects.into_iter().filter(|object| object.kind == kind).count()
        };
        let parts = Dialect { catalog: Catalog::Parts(""), ..Dialect::STANDARD };
        let without_keys = Dialect { catalog: Catalog::Parts(""), foreign_keys: false, ..Dialect::STANDARD };
        assert_eq!((of(&SQLITE, "table", true), of(&parts, "column", true)), (33, 191));
        assert_eq!(of(&SQLITE, "index", true) + 33, of(&parts, "index", true));
        assert_eq!((of(&parts, "foreign key", true), of(&parts, "foreign key", false)), (49, 0));
        assert_eq!((of(&without_keys, "column", true), of(&without_keys, "foreign key", true)), (191, 0));
    }
}
