use crate::ColumnType;
use crate::catalog::{
    Catalog, DUCKDB_CATALOG, FIREBIRD_CATALOG, H2_CATALOG, INFORMATION_SCHEMA, POSTGRES_CATALOG, SQLITE_SCHEMA,
    TURSO_SCHEMA,
};

/// What differs between SQL engines, as data: physical types, how a key is declared, and the words in the holes of a statement.
#[derive(Debug)]
pub struct Dialect {
    /// Name for documents and messages.
    pub name: &'static str,
    /// Physical type of a domain.
    pub physical: fn(ColumnType) -> String,
    /// Added behind `CREATE TABLE (…)` where the primary key is anything but one integer column.
    pub clustered: &'static str,
    /// How a whole-number key is declared that the engine is to assign; empty where it assigns none.
    pub assigned_key: &'static str,
    /// Whether large objects are stored behind all other columns, so that reading those walks no overflow pages.
    pub lobs_last: bool,
    /// Whether booleans need a check that they are 0 or 1.
    pub check_booleans: bool,
    /// Whether foreign keys are declared where constraints are.
    pub foreign_keys: bool,
    /// How many columns of an index help to find rows: further ones are left out.
    pub index_columns: usize,
    /// Whether a table can be dropped `IF EXISTS`.
    pub drop_if_exists: bool,
    /// How parameter number 1, 2, … is written.
    pub parameter: fn(usize) -> String,
    /// What stands before and behind the number of rows of `LIMIT …`.
    pub limit: [&'static str; 2],
    /// Words for the named holes `{…}` of a statement, where they are not the SQL standard's.
    ///
    /// `one` and `rate_one` are the stored numbers of 1.00 and of a tax rate of 1; `CAST(x {per_day} AS {date_type})` is the
    /// day of a timestamp; `{after_two_days} x {two_days}` is two days later, and `five_seconds` likewise; `from_one_row`
    /// stands where a query needs no table; `constraints`, `row_count` and `_d` are names of columns;
    /// `{start_of}x{two_letters}` are the first two letters of a text.
    pub holes: &'static [(&'static str, &'static str)],
    /// How the engine tells what it has.
    pub catalog: Catalog,
}

impl Dialect {
    /// A statement's text with its holes filled, and its limits in the dialect's words.
    pub fn fill(&self, text: &str) -> String {
        let text = if self.limit == LIMIT { text.to_owned() } else { with_limit(text, self.limit) };
        self.holes
            .iter()
            .chain(STANDARD_HOLES)
            .fold(text, |text, (hole, word)| text.replace(&format!("{{{hole}}}"), word))
    }

    /// Whether a statement may have a hole of that name.
    pub fn has_hole(&self, name: &str) -> bool {
        self.holes.iter().chain(STANDARD_HOLES).any(|(hole, _)| *hole == name)
    }
}

/// The words of the SQL standard in all the holes there are.
const STANDARD_HOLES: &[(&str, &str)] = &[
    ("for_update", "FOR UPDATE"),
    ("utf8mb4", ""),
    ("one", "1"),
    ("rate_one", "1"),
    ("per_day", ""),
    ("date_type", "DATE"),
    ("after_two_days", ""),
    ("two_days", "+ INTERVAL '2' DAY"),
    ("after_five_seconds", ""),
    ("five_seconds", "+ INTERVAL '5' SECOND"),
    ("from_one_row", ""),
    ("constraints", "constraints"),
    ("row_count", "row_count"),
    ("_d", "_d"),
    ("start_of", "substr("),
    ("two_letters", ", 1, 2)"),
];

/// The words of most engines.
const LIMIT: [&str; 2] = ["LIMIT", ""];

/// A text whose `LIMIT n` have other words around the number. Rows that are left out before, `OFFSET m`, stand in front of them, as
/// the standard has it.
fn with_limit(text: &str, [before, behind]: [&str; 2]) -> String {
    let mut parts = text.split("LIMIT ");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number = part.find(|end: char| end.is_whitespace() || end == ')').unwrap_or(part.len());
        let (number, mut rest) = part.split_at(number);
        if let Some(offset) = rest.strip_prefix(" OFFSET ") {
            let end = offset.find(|end: char| end.is_whitespace() || end == ')').unwrap_or(offset.len());
            filled.push_str(&format!("OFFSET {} ROWS ", &offset[..end]));
            rest = &offset[end..];
        }
        filled.push_str(&format!("{before} {number} {behind}{rest}"));
    }
    filled
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
    assigned_key: " PRIMARY KEY AUTOINCREMENT",
    lobs_last: true,
    check_booleans: true,
    foreign_keys: true,
    index_columns: usize::MAX,
    drop_if_exists: true,
    parameter: |number| format!("?{number}"),
    limit: LIMIT,
    holes: &[
        ("for_update", ""),
        ("one", "100"),
        ("rate_one", "100000"),
        ("per_day", "/ 86400000"),
        ("date_type", "INTEGER"),
        ("two_days", "+ 2"),
        ("five_seconds", "+ 5000"),
    ],
    catalog: SQLITE_SCHEMA,
};

/// Turso, which has SQLite's SQL; tables clustered by their key are an experiment of its own, and not with MVCC.
pub static TURSO: Dialect = Dialect { name: "turso", clustered: "", catalog: TURSO_SCHEMA, ..SQLITE };

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
    assigned_key: " PRIMARY KEY AUTO_INCREMENT",
    lobs_last: true,
    check_booleans: true,
    foreign_keys: true,
    index_columns: usize::MAX,
    drop_if_exists: true,
    parameter: |_| "?".to_owned(),
    limit: LIMIT,
    holes: &[
        ("utf8mb4", "CHARACTER SET utf8mb4"),
        ("two_days", "+ INTERVAL 2 DAY"),
        ("five_seconds", "+ INTERVAL 5 SECOND"),
    ],
    catalog: INFORMATION_SCHEMA,
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
    assigned_key: " PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY",
    lobs_last: true,
    check_booleans: false,
    foreign_keys: true,
    index_columns: usize::MAX,
    drop_if_exists: true,
    parameter: |number| format!("${number}"),
    limit: LIMIT,
    holes: &[("two_days", "+ 2"), ("five_seconds", "+ INTERVAL '5 seconds'")],
    catalog: POSTGRES_CATALOG,
};

/// DuckDB. A row that another one refers to could not be changed in an indexed column, as a trade's status is, so that no
/// foreign keys are declared. Rows are looked up by indexes of one column alone.
pub static DUCKDB: Dialect = Dialect {
    name: "duckdb",
    physical: |domain| match domain {
        ColumnType::Ident | ColumnType::Count => "BIGINT".to_owned(),
        ColumnType::Integer => "INTEGER".to_owned(),
        ColumnType::Small => "SMALLINT".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
        ColumnType::Bool => "BOOLEAN".to_owned(),
        ColumnType::Date => "DATE".to_owned(),
        ColumnType::Timestamp => "TIMESTAMP".to_owned(),
        ColumnType::Text(_) => "VARCHAR".to_owned(),
        ColumnType::Lob(_) => "BLOB".to_owned(),
    },
    clustered: "",
    assigned_key: "",
    lobs_last: false,
    check_booleans: false,
    foreign_keys: false,
    index_columns: 1,
    drop_if_exists: true,
    parameter: |number| format!("${number}"),
    limit: LIMIT,
    holes: &[("for_update", ""), ("two_days", "+ 2"), ("five_seconds", "+ INTERVAL '5 seconds'")],
    catalog: DUCKDB_CATALOG,
};

/// Types of the engines that follow the SQL standard closely.
fn standard(domain: ColumnType) -> String {
    match domain {
        ColumnType::Ident | ColumnType::Count => "BIGINT".to_owned(),
        ColumnType::Integer => "INTEGER".to_owned(),
        ColumnType::Small => "SMALLINT".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("DECIMAL({precision},{scale})"),
        ColumnType::Bool => "BOOLEAN".to_owned(),
        ColumnType::Date => "DATE".to_owned(),
        ColumnType::Timestamp => "TIMESTAMP(3)".to_owned(),
        ColumnType::Text(width) => format!("VARCHAR({width})"),
        // Kept in the row: a large object of its own would be a second look-up.
        ColumnType::Lob(width) => format!("VARBINARY({width})"),
    }
}

/// A table of one row, for engines that select from nothing else.
const ONE_ROW: &str = "FROM (VALUES(0)) AS one_row (n)";

/// H2.
pub static H2: Dialect = Dialect {
    name: "h2",
    physical: standard,
    clustered: "",
    assigned_key: " GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    lobs_last: true,
    check_booleans: false,
    foreign_keys: true,
    index_columns: usize::MAX,
    drop_if_exists: true,
    parameter: |_| "?".to_owned(),
    limit: LIMIT,
    holes: &[],
    catalog: H2_CATALOG,
};

/// HSQLDB.
pub static HSQLDB: Dialect = Dialect {
    name: "hsqldb",
    assigned_key: " GENERATED BY DEFAULT AS IDENTITY (START WITH 1) PRIMARY KEY",
    holes: &[("for_update", ""), ("from_one_row", ONE_ROW)],
    catalog: Catalog::Unknown,
    ..H2
};

/// Derby, which has the standard's words for a limit, keeps a timestamp's nanoseconds, and bytes of more than 32,672 as large objects alone.
pub static DERBY: Dialect = Dialect {
    name: "derby",
    physical: |domain| match domain {
        ColumnType::Timestamp => "TIMESTAMP".to_owned(),
        ColumnType::Lob(width) => format!("BLOB({width})"),
        other => standard(other),
    },
    drop_if_exists: false,
    limit: ["FETCH FIRST", "ROWS ONLY"],
    holes: &[
        ("for_update", ""),
        ("after_two_days", "CAST({fn TIMESTAMPADD(SQL_TSI_DAY, 2, "),
        ("two_days", ")} AS DATE)"),
        ("after_five_seconds", "{fn TIMESTAMPADD(SQL_TSI_SECOND, 5, "),
        ("five_seconds", ")}"),
        ("from_one_row", ONE_ROW),
        ("constraints", "\"CONSTRAINTS\""),
    ],
    catalog: Catalog::Unknown,
    ..H2
};

/// MonetDB.
pub static MONETDB: Dialect = Dialect {
    name: "monetdb",
    physical: |domain| match domain {
        ColumnType::Lob(width) => format!("BLOB({width})"),
        other => standard(other),
    },
    assigned_key: " AUTO_INCREMENT PRIMARY KEY",
    catalog: Catalog::Unknown,
    ..H2
};

/// Firebird. Its decimals are integers of the smallest unit with the place of their point; texts of the workload are of one byte a
/// character, so that nothing is converted. Bytes that are few are kept in the row. Its large objects have no length that is declared.
pub static FIREBIRD: Dialect = Dialect {
    name: "firebird",
    physical: |domain| match domain {
        ColumnType::Ident | ColumnType::Count => "BIGINT".to_owned(),
        ColumnType::Integer => "INTEGER".to_owned(),
        ColumnType::Small => "SMALLINT".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("NUMERIC({precision},{scale})"),
        ColumnType::Bool => "BOOLEAN".to_owned(),
        ColumnType::Date => "DATE".to_owned(),
        ColumnType::Timestamp => "TIMESTAMP".to_owned(),
        ColumnType::Text(width) => format!("VARCHAR({width}) CHARACTER SET ISO8859_1"),
        ColumnType::Lob(width) if width <= 4_096 => format!("VARCHAR({width}) CHARACTER SET OCTETS"),
        ColumnType::Lob(_) => "BLOB".to_owned(),
    },
    clustered: "",
    assigned_key: " GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    lobs_last: false,
    check_booleans: false,
    foreign_keys: true,
    index_columns: usize::MAX,
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
    catalog: FIREBIRD_CATALOG,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_the_words_of_its_engine() {
        for (text, expected) in [
            ("SELECT a FROM t ORDER BY a LIMIT ?2", "SELECT a FROM t ORDER BY a FETCH FIRST ?2 ROWS ONLY"),
            (
                "(SELECT 1 LIMIT 10) AS b\n LIMIT 3 ",
                "(SELECT 1 FETCH FIRST 10 ROWS ONLY) AS b\n FETCH FIRST 3 ROWS ONLY ",
            ),
            ("(SELECT 1 LIMIT 1 OFFSET 7)", "(SELECT 1 OFFSET 7 ROWS FETCH FIRST 1 ROWS ONLY)"),
            ("SELECT {one}", "SELECT 1"),
        ] {
            assert_eq!(DERBY.fill(text), expected);
        }
        assert_eq!(H2.fill("LIMIT ?1"), "LIMIT ?1");
    }

    #[test]
    fn a_hole_has_the_standards_word_where_a_dialect_has_none_of_its_own() {
        let text = "{from_one_row}|{two_days}|{for_update}";
        assert_eq!(H2.fill(text), "|+ INTERVAL '2' DAY|FOR UPDATE");
        assert_eq!(HSQLDB.fill(text), format!("{ONE_ROW}|+ INTERVAL '2' DAY|"));
        assert_eq!(SQLITE.fill(text), "|+ 2|");
        assert!(SQLITE.has_hole("constraints") && !SQLITE.has_hole("colour"));
    }

    /// A hole that the standard has no word for would be left open by the other dialects.
    #[test]
    fn the_standard_fills_every_hole() {
        for dialect in [&SQLITE, &TURSO, &MYSQL, &POSTGRES, &DUCKDB, &H2, &HSQLDB, &DERBY, &MONETDB, &FIREBIRD] {
            for (hole, _) in dialect.holes {
                assert!(STANDARD_HOLES.iter().any(|(known, _)| known == hole), "{}: {hole}", dialect.name);
            }
        }
    }
}
