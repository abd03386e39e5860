//! MySQL's and MariaDB's SQL, as data.

use bourse_schema::{Catalog, ColumnType, Dialect};

/// Queries of the standard's information schema, with MySQL's statistics, and those for checks.
macro_rules! catalog {
    ($checks:literal) => {
        concat!(
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
              GROUP BY table_name, constraint_name, referenced_table_name",
            $checks
        )
    };
}

/// MySQL and MariaDB: InnoDB always clusters tables by the primary key.
pub static DIALECT: Dialect = MYSQL;

const MYSQL: Dialect = Dialect {
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
    catalog: Catalog::Parts(catalog!(
        " UNION ALL
         SELECT 'checks', table_name, 'checks', concat(count(*), '')
           FROM information_schema.table_constraints
          WHERE table_schema = database() AND left(table_name, 7) <> 'bourse_' AND constraint_type = 'CHECK'
          GROUP BY table_name"
    )),
    visible_keys: Some(
        "SELECT count(*)
           FROM information_schema.table_constraints
          WHERE table_schema = database() AND left(table_name, 7) <> 'bourse_' AND constraint_type = 'PRIMARY KEY'",
    ),
    ..Dialect::STANDARD
};

/// Dialect of MySQL: foreign keys are always declared, since each session sets whether they are enforced.
pub(crate) fn of_mysql(_: bool, _: bool) -> &'static Dialect {
    &DIALECT
}

/// Dialect of products where foreign keys are declared only if they are enforced: Vitess, which passes declarations to MySQL, and MyRocks,
/// which has none.
pub(crate) fn of_optional_keys(foreign_keys: bool, _: bool) -> &'static Dialect {
    static KEYLESS: Dialect = keyless(MYSQL);
    if foreign_keys { &DIALECT } else { &KEYLESS }
}

/// Dialect of TiDB, which lists its checks in a table of its own, and ignores them unless a variable is on.
pub(crate) fn of_tidb(foreign_keys: bool, checks: bool) -> &'static Dialect {
    static CHECKED: Dialect = TIDB;
    static KEYLESS: Dialect = keyless(TIDB);
    static UNCHECKED: Dialect = unchecked(MYSQL);
    static NEITHER: Dialect = keyless(unchecked(MYSQL));
    match (foreign_keys, checks) {
        (true, true) => &CHECKED,
        (false, true) => &KEYLESS,
        (true, false) => &UNCHECKED,
        (false, false) => &NEITHER,
    }
}

const TIDB: Dialect = Dialect {
    catalog: Catalog::Parts(catalog!(
        " UNION ALL
         SELECT 'checks', table_name, 'checks', concat(count(*), '')
           FROM information_schema.tidb_check_constraints
          WHERE constraint_schema = database() AND left(table_name, 7) <> 'bourse_'
          GROUP BY table_name"
    )),
    ..MYSQL
};

const fn unchecked(dialect: Dialect) -> Dialect {
    Dialect { checks: false, catalog: Catalog::Parts(catalog!("")), ..dialect }
}

const fn keyless(dialect: Dialect) -> Dialect {
    Dialect { foreign_keys: false, ..dialect }
}
