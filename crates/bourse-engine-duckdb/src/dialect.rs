//! DuckDB's SQL, as data.

use bourse_schema::{Catalog, ColumnType, Dialect};

/// DuckDB's dialect. No foreign keys are declared: DuckDB cannot change an indexed column, such as a trade's status, of a row
/// that another one references. Its lookups use indexes of one column only.
pub(crate) static DIALECT: Dialect = Dialect {
    name: "duckdb",
    physical: |domain| match domain {
        ColumnType::Timestamp => "TIMESTAMP".to_owned(),
        ColumnType::Text(_) => "VARCHAR".to_owned(),
        ColumnType::Lob(_) => "BLOB".to_owned(),
        other => (Dialect::STANDARD.physical)(other),
    },
    assigned_key: "",
    lobs_last: false,
    foreign_keys: false,
    index_columns: 1,
    parameter: |number| format!("${number}"),
    holes: &[("for_update", ""), ("two_days", "+ 2"), ("five_seconds", "+ INTERVAL '5 seconds'")],
    catalog: CATALOG,
    objects: Some(OBJECTS),
    ..Dialect::STANDARD
};

/// Queries of DuckDB's functions for the contents of the current catalog.
const CATALOG: Catalog = Catalog::Parts(
    "SELECT 'column', table_name, column_name,
            lower(regexp_extract(data_type, '^[A-Za-z]+')) || CASE WHEN is_nullable THEN ' NULL' ELSE ' NOT NULL' END
       FROM duckdb_columns()
      WHERE NOT internal AND database_name = current_database() AND left(table_name, 7) <> 'bourse_'
     UNION ALL
     SELECT 'index', table_name, 'PRIMARY', 'unique ' || array_to_string(constraint_column_names, ', ')
       FROM duckdb_constraints()
      WHERE constraint_type = 'PRIMARY KEY' AND database_name = current_database() AND left(table_name, 7) <> 'bourse_'
     UNION ALL
     SELECT 'index', table_name, index_name,
            CASE WHEN is_unique THEN 'unique ' ELSE '' END || trim(expressions, '[]')
       FROM duckdb_indexes()
      WHERE database_name = current_database() AND left(table_name, 7) <> 'bourse_'
     UNION ALL
     SELECT 'foreign key', table_name, array_to_string(constraint_column_names, ', '), referenced_table
       FROM duckdb_constraints()
      WHERE constraint_type = 'FOREIGN KEY' AND database_name = current_database() AND left(table_name, 7) <> 'bourse_'
     UNION ALL
     SELECT 'checks', table_name, 'checks', CAST(count(*) AS VARCHAR)
       FROM duckdb_constraints()
      WHERE constraint_type = 'CHECK' AND database_name = current_database() AND left(table_name, 7) <> 'bourse_'
      GROUP BY table_name",
);

/// All that a database holds: with their schemas' names, but of the one that is used.
const OBJECTS: &str = "
    SELECT kind, CASE schema_name WHEN current_schema() THEN '' ELSE schema_name || '.' END || name
      FROM (SELECT 'table' AS kind, database_name, schema_name, table_name AS name FROM duckdb_tables() WHERE NOT internal
             UNION ALL
            SELECT 'column', database_name, schema_name, table_name || '.' || column_name
              FROM duckdb_columns() WHERE NOT internal
             UNION ALL
            SELECT 'view', database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
             UNION ALL
            SELECT 'sequence', database_name, schema_name, sequence_name FROM duckdb_sequences()
             UNION ALL
            SELECT DISTINCT 'function', database_name, schema_name, function_name
              FROM duckdb_functions() WHERE NOT internal
             UNION ALL
            SELECT 'type', database_name, schema_name, type_name FROM duckdb_types() WHERE NOT internal) AS objects
     WHERE database_name = current_database()";
