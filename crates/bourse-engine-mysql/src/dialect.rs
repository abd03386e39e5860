//! MySQL's and MariaDB's SQL, as data.

use bourse_schema::{Catalog, ColumnType, Dialect};

/// MySQL and MariaDB: InnoDB clusters by the primary key by itself.
pub static DIALECT: Dialect = Dialect {
    name: "mysql",
    physical: |domain| match domain {
        ColumnType::Integer => "INT".to_owned(),
        ColumnType::Bool => "TINYINT(1)".to_owned(),
        ColumnType::Timestamp => "DATETIME(3)".to_owned(),
        ColumnType::Text(width) => format!("VARCHAR({width}) CHARACTER SET latin1 COLLATE latin1_bin"),
        ColumnType::Lob(_) => "MEDIUMBLOB".to_owned(),
        other => (Dialect::STANDARD.physical)(other),
    },
    assigned_key: " PRIMARY KEY AUTO_INCREMENT",
    check_booleans: true,
    holes: &[
        ("utf8mb4", "CHARACTER SET utf8mb4"),
        ("two_days", "+ INTERVAL 2 DAY"),
        ("five_seconds", "+ INTERVAL 5 SECOND"),
    ],
    catalog: CATALOG,
    ..Dialect::STANDARD
};

/// The standard's information schema, with MySQL's statistics.
const CATALOG: Catalog = Catalog::Parts(
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
