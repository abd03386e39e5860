//! Turso's SQL, as data.

use bourse_schema::{Catalog, Dialect, SQLITE};

/// Turso, which has SQLite's SQL; tables clustered by their key are an experiment of its own, and not with MVCC.
pub(crate) static DIALECT: Dialect = Dialect { name: "turso", clustered: "", catalog: CATALOG, ..SQLITE };

/// SQLite's, where tables of the engine's own begin with two underscores.
const CATALOG: Catalog = Catalog::Statements(
    "SELECT type, tbl_name, name, sql
       FROM sqlite_master
      WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' AND substr(tbl_name, 1, 7) <> 'bourse_'
            AND substr(tbl_name, 1, 2) <> '__'",
);
