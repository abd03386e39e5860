use crate::ColumnType;

/// What differs between SQL engines, as data: physical types, how a key is declared, and the words in the holes of a statement.
#[derive(Debug)]
pub struct Dialect {
    /// Name for documents and messages.
    pub name: &'static str,
    /// Physical type of a domain.
    pub physical: fn(ColumnType) -> String,
    /// Added behind `CREATE TABLE (…)` where the primary key is anything but one integer column.
    pub clustered: &'static str,
    /// Whether large objects are stored behind all other columns, so that reading those walks no overflow pages.
    pub lobs_last: bool,
    /// Whether booleans need a check that they are 0 or 1.
    pub check_booleans: bool,
    /// How parameter number 1, 2, … is written.
    pub parameter: fn(usize) -> String,
    /// Words for the named holes `{…}` of a statement.
    pub holes: &'static [(&'static str, &'static str)],
}

/// SQLite: exact integers throughout (cents, days, milliseconds), tables clustered by their key.
pub static SQLITE: Dialect = Dialect {
    name: "sqlite",
    physical: |domain| {
        match domain {
            ColumnType::Text(_) => "TEXT",
            ColumnType::Lob(_) => "BLOB",
            _ => "INTEGER",
        }
        .to_owned()
    },
    clustered: " WITHOUT ROWID",
    lobs_last: true,
    check_booleans: true,
    parameter: |number| format!("?{number}"),
    holes: &[("for_update", "")],
};

/// MySQL and MariaDB: InnoDB clusters by the primary key by itself.
pub static MYSQL: Dialect = Dialect {
    name: "mysql",
    physical: |domain| match domain {
        ColumnType::Ident | ColumnType::Count => "BIGINT".to_owned(),
        ColumnType::Integer => "INT".to_owned(),
        ColumnType::Small => "SMALLINT".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
        ColumnType::Bool => "TINYINT(1)".to_owned(),
        ColumnType::Date => "DATE".to_owned(),
        ColumnType::Timestamp => "DATETIME(3)".to_owned(),
        ColumnType::Text(width) => format!("VARCHAR({width}) CHARACTER SET latin1 COLLATE latin1_bin"),
        ColumnType::Lob(_) => "MEDIUMBLOB".to_owned(),
    },
    clustered: "",
    lobs_last: true,
    check_booleans: true,
    parameter: |_| "?".to_owned(),
    holes: &[("for_update", "FOR UPDATE")],
};

/// PostgreSQL.
pub static POSTGRES: Dialect = Dialect {
    name: "postgres",
    physical: |domain| match domain {
        ColumnType::Ident | ColumnType::Count => "BIGINT".to_owned(),
        ColumnType::Integer => "INTEGER".to_owned(),
        ColumnType::Small => "SMALLINT".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("NUMERIC({precision},{scale})"),
        ColumnType::Bool => "BOOLEAN".to_owned(),
        ColumnType::Date => "DATE".to_owned(),
        ColumnType::Timestamp => "TIMESTAMP(3)".to_owned(),
        ColumnType::Text(width) => format!("VARCHAR({width}) COLLATE \"C\""),
        ColumnType::Lob(_) => "BYTEA".to_owned(),
    },
    clustered: "",
    lobs_last: true,
    check_booleans: false,
    parameter: |number| format!("${number}"),
    holes: &[("for_update", "FOR UPDATE")],
};

/// DuckDB.
pub static DUCKDB: Dialect = Dialect {
    name: "duckdb",
    physical: |domain| match domain {
        ColumnType::Ident | ColumnType::Count => "BIGINT".to_owned(),
        ColumnType::Integer => "INTEGER".to_owned(),
        ColumnType::Small => "SMALLINT".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
        ColumnType::Bool => "BOOLEAN".to_owned(),
        ColumnType::Date => "DATE".to_owned(),
        ColumnType::Timestamp => "TIMESTAMP_MS".to_owned(),
        ColumnType::Text(_) => "VARCHAR".to_owned(),
        ColumnType::Lob(_) => "BLOB".to_owned(),
    },
    clustered: "",
    lobs_last: false,
    check_booleans: false,
    parameter: |number| format!("${number}"),
    holes: &[("for_update", "")],
};
