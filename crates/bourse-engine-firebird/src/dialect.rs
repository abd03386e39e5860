//! Firebird's SQL, as data.

use bourse_schema::{Catalog, ColumnType, Dialect};

/// Firebird's dialect. Its decimals are integers with a fixed scale; texts of the workload have a single-byte character set, so
/// that nothing is converted. Small large objects are stored in the row. Firebird's large objects have no declared length.
pub(crate) static DIALECT: Dialect = Dialect {
    name: "firebird",
    physical: |domain| match domain {
        ColumnType::Decimal { precision, scale } => format!("NUMERIC({precision},{scale})"),
        ColumnType::Timestamp => "TIMESTAMP".to_owned(),
        ColumnType::Text(width) => format!("VARCHAR({width}) CHARACTER SET ISO8859_1"),
        ColumnType::Lob(width) if width <= 4_096 => format!("VARCHAR({width}) CHARACTER SET OCTETS"),
        ColumnType::Lob(_) => "BLOB".to_owned(),
        other => (Dialect::STANDARD.physical)(other),
    },
    lobs_last: false,
    drop_if_exists: false,
    parameter: |number| format!("?{number}"),
    limit: ["FETCH FIRST", "ROWS ONLY"],
    holes: &[
        ("for_update", "FOR UPDATE WITH LOCK"),
        ("two_days", "+ 2"),
        ("after_five_seconds", "DATEADD(5 SECOND TO "),
        ("five_seconds", ")"),
        ("from_one_row", "FROM rdb$database"),
        ("row_count", "\"ROW_COUNT\""),
        ("_d", "\"_d\""),
        ("start_of", "left("),
        ("two_letters", ", 2)"),
    ],
    catalog: CATALOG,
    objects: Some(OBJECTS),
    ..Dialect::STANDARD
};

/// Queries of Firebird's system tables: names in lower case, without the indexes that Firebird made for foreign keys.
const CATALOG: Catalog = Catalog::Parts(
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

/// All that a database holds, without what Firebird makes for columns and constraints.
const OBJECTS: &str = "
    SELECT CAST(CASE WHEN rdb$view_blr IS NULL THEN 'table' ELSE 'view' END AS VARCHAR(20)),
           trim(rdb$relation_name)
      FROM rdb$relations WHERE coalesce(rdb$system_flag, 0) = 0
     UNION ALL
    SELECT 'column', trim(rdb$relation_name) || '.' || trim(rdb$field_name)
      FROM rdb$relation_fields WHERE coalesce(rdb$system_flag, 0) = 0
     UNION ALL
    SELECT 'trigger', trim(rdb$trigger_name) FROM rdb$triggers WHERE coalesce(rdb$system_flag, 0) = 0
     UNION ALL
    SELECT 'procedure', trim(rdb$procedure_name) FROM rdb$procedures WHERE coalesce(rdb$system_flag, 0) = 0
     UNION ALL
    SELECT 'function', trim(rdb$function_name) FROM rdb$functions WHERE coalesce(rdb$system_flag, 0) = 0
     UNION ALL
    SELECT 'sequence', trim(rdb$generator_name) FROM rdb$generators WHERE coalesce(rdb$system_flag, 0) = 0
     UNION ALL
    SELECT 'domain', trim(rdb$field_name)
      FROM rdb$fields WHERE coalesce(rdb$system_flag, 0) = 0 AND left(rdb$field_name, 4) <> 'RDB$'";
