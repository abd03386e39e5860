//! The schema as an engine's catalog tells it, and as it is declared: two lists that can be compared.

use crate::ddl::indexed;
use crate::{ColumnType, Dialect, Table, create_index, create_table, load_order};

/// How an engine of a dialect tells what tables, indexes and constraints it has. Each query gives rows of kind, table, name
/// and definition, and leaves out the tables that begin with `bourse_`.
#[derive(Debug)]
pub enum Catalog {
    /// It keeps the statements that made tables and indexes.
    Statements(&'static str),
    /// It lists columns, indexes, foreign keys and the number of checks of each table.
    Parts(&'static str),
    /// No query is known.
    Unknown,
}

/// A thing of a schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// `table`, `index`, `column`, `foreign key` or `checks`; of what is not declared the engine's word.
    pub kind: String,
    /// Name of its table.
    pub table: String,
    /// Its name; of foreign keys, which have none of ours, their columns.
    pub name: String,
    /// What makes it what it is: a statement, a type, columns.
    pub definition: String,
}

/// What a database of that dialect must have; `constraints` are foreign keys and checks. None where the catalog is unknown.
pub fn declared(dialect: &Dialect, constraints: bool) -> Option<Vec<Object>> {
    let of = |table: &'static Table| match dialect.catalog {
        Catalog::Statements(_) => Some(statements(table, dialect, constraints)),
        Catalog::Parts(_) => Some(parts(table, dialect, constraints)),
        Catalog::Unknown => None,
    };
    let objects: Option<Vec<Vec<Object>>> = load_order().into_iter().map(of).collect();
    objects.map(|objects| objects.concat())
}

fn statements(table: &Table, dialect: &Dialect, constraints: bool) -> Vec<Object> {
    let object = |kind: &str, name: &str, definition| Object {
        kind: kind.to_owned(),
        table: table.name.to_owned(),
        name: name.to_owned(),
        definition,
    };
    let indexes = table.indexes.iter().map(|index| object("index", index.name, create_index(table, index, dialect)));
    std::iter::once(object("table", table.name, create_table(table, dialect, constraints))).chain(indexes).collect()
}

fn parts(table: &Table, dialect: &Dialect, constraints: bool) -> Vec<Object> {
    let object = |kind: &str, name: &str, definition: String| Object {
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
        if checks > 0 {
            objects.push(object("checks", "checks", checks.to_string()));
        }
    }
    objects
}

/// `sqlite_master`; what it makes by itself for a key has no statement.
pub(crate) const SQLITE_SCHEMA: Catalog = Catalog::Statements(
    "SELECT type, tbl_name, name, sql
       FROM sqlite_master
      WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' AND substr(tbl_name, 1, 7) <> 'bourse_'",
);

/// The same, where tables of the engine's own begin with two underscores.
pub(crate) const TURSO_SCHEMA: Catalog = Catalog::Statements(
    "SELECT type, tbl_name, name, sql
       FROM sqlite_master
      WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' AND substr(tbl_name, 1, 7) <> 'bourse_'
            AND substr(tbl_name, 1, 2) <> '__'",
);

/// The standard's information schema, with MySQL's statistics.
pub(crate) const INFORMATION_SCHEMA: Catalog = Catalog::Parts(
    "SELECT 'column', table_name, column_name,
            concat(data_type, CASE is_nullable WHEN 'YES' THEN ' NULL' ELSE ' NOT NULL' END)
       FROM information_schema.columns
      WHERE table_schema = database() AND left(table_name, 7) <> 'bourse_'
     UNION ALL
     SELECT 'index', table_name, index_name,
            concat(CASE non_unique WHEN 0 THEN 'unique ' ELSE '' END,
                   group_concat(column_name ORDER BY seq_in_index SEPARATOR ', '))
       FROM information_schema.statistics
      WHERE table_schema = database() AND left(table_name, 7) <> 'bourse_'
      GROUP BY table_name, index_name, non_unique
     UNION ALL
     SELECT 'foreign key', table_name, group_concat(column_name ORDER BY ordinal_position SEPARATOR ', '),
            referenced_table_name
       FROM information_schema.key_column_usage
      WHERE table_schema = database() AND left(table_name, 7) <> 'bourse_' AND referenced_table_name IS NOT NULL
      GROUP BY table_name, constraint_name, referenced_table_name
     UNION ALL
     SELECT 'checks', table_name, 'checks', concat(count(*), '')
       FROM information_schema.table_constraints
      WHERE table_schema = database() AND left(table_name, 7) <> 'bourse_' AND constraint_type = 'CHECK'
      GROUP BY table_name",
);

/// PostgreSQL's own catalog, of the schema that tables are looked up in first.
pub(crate) const POSTGRES_CATALOG: Catalog = Catalog::Parts(
    "SELECT 'column', t.relname::text, a.attname::text,
            replace(replace(format_type(a.atttypid, NULL), 'character varying', 'varchar'),
                    'timestamp without time zone', 'timestamp')
            || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE ' NULL' END
       FROM pg_class t INNER JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace AND left(t.relname, 7) <> 'bourse_'
     UNION ALL
     SELECT 'index', t.relname::text, CASE WHEN i.indisprimary THEN 'PRIMARY' ELSE x.relname::text END,
            CASE WHEN i.indisunique THEN 'unique ' ELSE '' END
            || (SELECT string_agg(a.attname::text, ', ' ORDER BY key.at)
                  FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS key (number, at)
                 INNER JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = key.number)
       FROM pg_class t INNER JOIN pg_index i ON i.indrelid = t.oid INNER JOIN pg_class x ON x.oid = i.indexrelid
      WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind = 'r' AND left(t.relname, 7) <> 'bourse_'
     UNION ALL
     SELECT 'foreign key', t.relname::text,
            (SELECT string_agg(a.attname::text, ', ' ORDER BY key.at)
               FROM unnest(c.conkey) WITH ORDINALITY AS key (number, at)
              INNER JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = key.number),
            p.relname::text
       FROM pg_class t INNER JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype = 'f'
      INNER JOIN pg_class p ON p.oid = c.confrelid
      WHERE t.relnamespace = current_schema()::regnamespace AND left(t.relname, 7) <> 'bourse_'
     UNION ALL
     SELECT 'checks', t.relname::text, 'checks', count(*)::text
       FROM pg_class t INNER JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype = 'c'
      WHERE t.relnamespace = current_schema()::regnamespace AND left(t.relname, 7) <> 'bourse_'
      GROUP BY t.relname",
);

/// DuckDB's functions about the catalog that is used.
pub(crate) const DUCKDB_CATALOG: Catalog = Catalog::Parts(
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

/// H2's information schema: names in lower case, types by the names that they were declared with, and no index that H2 made
/// for a constraint.
pub(crate) const H2_CATALOG: Catalog = Catalog::Parts(
    "SELECT 'column', lower(table_name), lower(column_name),
            CASE data_type WHEN 'CHARACTER VARYING' THEN 'varchar' WHEN 'BINARY VARYING' THEN 'varbinary'
                           WHEN 'NUMERIC' THEN 'decimal' ELSE lower(data_type) END
            || CASE is_nullable WHEN 'YES' THEN ' NULL' ELSE ' NOT NULL' END
       FROM information_schema.columns
      WHERE table_schema = current_schema AND left(lower(table_name), 7) <> 'bourse_'
     UNION ALL
     SELECT 'index', lower(c.table_name), 'PRIMARY',
            'unique ' || listagg(lower(k.column_name), ', ') WITHIN GROUP (ORDER BY k.ordinal_position)
       FROM information_schema.table_constraints AS c
      INNER JOIN information_schema.key_column_usage AS k
              ON k.constraint_schema = c.constraint_schema AND k.constraint_name = c.constraint_name
      WHERE c.constraint_type = 'PRIMARY KEY' AND c.table_schema = current_schema
        AND left(lower(c.table_name), 7) <> 'bourse_'
      GROUP BY c.table_name
     UNION ALL
     SELECT 'index', lower(i.table_name), lower(i.index_name),
            CASE i.index_type_name WHEN 'UNIQUE INDEX' THEN 'unique ' ELSE '' END
            || listagg(lower(c.column_name), ', ') WITHIN GROUP (ORDER BY c.ordinal_position)
       FROM information_schema.indexes AS i
      INNER JOIN information_schema.index_columns AS c
              ON c.index_schema = i.index_schema AND c.index_name = i.index_name
      WHERE NOT i.is_generated AND i.table_schema = current_schema AND left(lower(i.table_name), 7) <> 'bourse_'
      GROUP BY i.table_name, i.index_name, i.index_type_name
     UNION ALL
     SELECT 'foreign key', lower(c.table_name),
            listagg(lower(k.column_name), ', ') WITHIN GROUP (ORDER BY k.ordinal_position), lower(p.table_name)
       FROM information_schema.referential_constraints AS r
      INNER JOIN information_schema.table_constraints AS c
              ON c.constraint_schema = r.constraint_schema AND c.constraint_name = r.constraint_name
      INNER JOIN information_schema.key_column_usage AS k
              ON k.constraint_schema = r.constraint_schema AND k.constraint_name = r.constraint_name
      INNER JOIN information_schema.table_constraints AS p
              ON p.constraint_schema = r.unique_constraint_schema AND p.constraint_name = r.unique_constraint_name
      WHERE c.table_schema = current_schema AND left(lower(c.table_name), 7) <> 'bourse_'
      GROUP BY c.table_name, c.constraint_name, p.table_name
     UNION ALL
     SELECT 'checks', lower(table_name), 'checks', CAST(count(*) AS VARCHAR)
       FROM information_schema.table_constraints
      WHERE constraint_type = 'CHECK' AND table_schema = current_schema AND left(lower(table_name), 7) <> 'bourse_'
      GROUP BY table_name",
);

/// Firebird's own tables: names in lower case, and no index that Firebird made for a foreign key.
pub(crate) const FIREBIRD_CATALOG: Catalog = Catalog::Parts(
    "SELECT CAST('column' AS VARCHAR(20)), lower(trim(c.rdb$relation_name)), lower(trim(c.rdb$field_name)),
            CAST(CASE f.rdb$field_type WHEN 7 THEN CASE f.rdb$field_sub_type WHEN 1 THEN 'numeric' ELSE 'smallint' END
                                       WHEN 8 THEN CASE f.rdb$field_sub_type WHEN 1 THEN 'numeric' ELSE 'integer' END
                                       WHEN 16 THEN CASE f.rdb$field_sub_type WHEN 1 THEN 'numeric' ELSE 'bigint' END
                                       WHEN 12 THEN 'date' WHEN 23 THEN 'boolean' WHEN 35 THEN 'timestamp'
                                       WHEN 37 THEN 'varchar' WHEN 261 THEN 'blob'
                                       ELSE 'type ' || f.rdb$field_type END
                 || CASE c.rdb$null_flag WHEN 1 THEN ' NOT NULL' ELSE ' NULL' END AS VARCHAR(600))
       FROM rdb$relation_fields AS c
      INNER JOIN rdb$relations AS t ON t.rdb$relation_name = c.rdb$relation_name
      INNER JOIN rdb$fields AS f ON f.rdb$field_name = c.rdb$field_source
      WHERE coalesce(t.rdb$system_flag, 0) = 0 AND left(c.rdb$relation_name, 7) <> 'BOURSE_'
     UNION ALL
     SELECT 'index', lower(trim(i.rdb$relation_name)),
            CASE WHEN c.rdb$constraint_type IS NULL THEN lower(trim(i.rdb$index_name)) ELSE 'PRIMARY' END,
            CASE i.rdb$unique_flag WHEN 1 THEN 'unique ' ELSE '' END
            || (SELECT CAST(list(lower(trim(s.rdb$field_name)), ', ') AS VARCHAR(500))
                  FROM (SELECT rdb$field_name, rdb$index_name FROM rdb$index_segments
                         ORDER BY rdb$index_name, rdb$field_position) AS s
                 WHERE s.rdb$index_name = i.rdb$index_name)
       FROM rdb$indices AS i LEFT JOIN rdb$relation_constraints AS c ON c.rdb$index_name = i.rdb$index_name
      WHERE coalesce(i.rdb$system_flag, 0) = 0 AND left(i.rdb$relation_name, 7) <> 'BOURSE_'
        AND (c.rdb$constraint_type IS NULL OR c.rdb$constraint_type = 'PRIMARY KEY')
     UNION ALL
     SELECT 'foreign key', lower(trim(i.rdb$relation_name)),
            (SELECT CAST(list(lower(trim(s.rdb$field_name)), ', ') AS VARCHAR(500))
               FROM (SELECT rdb$field_name, rdb$index_name FROM rdb$index_segments
                      ORDER BY rdb$index_name, rdb$field_position) AS s
              WHERE s.rdb$index_name = i.rdb$index_name),
            lower(trim(p.rdb$relation_name))
       FROM rdb$relation_constraints AS c
      INNER JOIN rdb$indices AS i ON i.rdb$index_name = c.rdb$index_name
      INNER JOIN rdb$indices AS p ON p.rdb$index_name = i.rdb$foreign_key
      WHERE c.rdb$constraint_type = 'FOREIGN KEY' AND left(i.rdb$relation_name, 7) <> 'BOURSE_'
     UNION ALL
     SELECT 'checks', lower(trim(rdb$relation_name)), 'checks', CAST(count(*) AS VARCHAR(20))
       FROM rdb$relation_constraints
      WHERE rdb$constraint_type = 'CHECK' AND left(rdb$relation_name, 7) <> 'BOURSE_'
      GROUP BY rdb$relation_name",
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DUCKDB, MYSQL, SQLITE};

    #[test]
    fn all_that_is_declared_is_listed() {
        let of = |dialect, kind: &str, constraints| {
            let objects = declared(dialect, constraints).expect("its catalog is known");
            objects.into_iter().filter(|object| object.kind == kind).count()
        };
        assert_eq!((of(&SQLITE, "table", true), of(&MYSQL, "column", true)), (33, 191));
        assert_eq!(of(&SQLITE, "index", true) + 33, of(&MYSQL, "index", true));
        assert_eq!((of(&MYSQL, "foreign key", true), of(&MYSQL, "foreign key", false)), (49, 0));
        assert_eq!((of(&DUCKDB, "column", true), of(&DUCKDB, "foreign key", true)), (191, 0));
    }
}
