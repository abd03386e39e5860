//! Turso's SQL, as data.

use bourse_schema::{Catalog, Dialect, SQLITE};

/// Turso's dialect: SQLite's. Clustered tables are an experiment of Turso's, and do not work with MVCC.
pub(crate) static DIALECT: Dialect = Dialect {
    name: "turso",
    clustered: "",
    catalog: CATALOG,
    objects: Some(
        "SELECT type, name FROM sqlite_master
          WHERE type <> 'index' AND substr(name, 1, 7) <> 'sqlite_' AND substr(name, 1, 17) <> '__turso_internal_'
          UNION ALL
         SELECT 'definition', type || ' ' || name || ': ' || sql FROM sqlite_master
          WHERE type <> 'index' AND substr(name, 1, 7) <> 'sqlite_' AND substr(name, 1, 17) <> '__turso_internal_'
                AND sql IS NOT NULL",
    ),
    ..SQLITE
};

/// SQLite's queries of the catalog, without the engine's own tables, whose names no other can have.
const CATALOG: Catalog = Catalog::Statements(
    "SELECT type, tbl_name, name, sql
       FROM sqlite_master
      WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' AND substr(tbl_name, 1, 7) <> 'bourse_'
            AND substr(tbl_name, 1, 17) <> '__turso_internal_'",
);
