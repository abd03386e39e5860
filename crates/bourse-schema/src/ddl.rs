//! SQL text derived from a declared table.

use crate::{Column, ColumnType, Dialect, ForeignKey, Index, Table};

/// Columns in the order in which the dialect stores them.
fn stored<'t>(table: &'t Table, dialect: &Dialect) -> Vec<&'t Column> {
    let is_lob = |column: &&Column| matches!(column.column_type, ColumnType::Lob(_));
    let mut columns: Vec<&Column> = table.columns.iter().collect();
    if dialect.lobs_last {
        columns.sort_by_key(is_lob);
    }
    columns
}

/// `CREATE TABLE` with its primary key and, if `constraints`, its foreign keys and checks.
///
/// ```
/// use bourse_schema::{SQLITE, TableRow as _, create_table, tables::TradeType};
/// assert_eq!(
///     create_table(TradeType::table(), &SQLITE, false),
///     "CREATE TABLE trade_type (\n  tt_id TEXT NOT NULL,\n  tt_name TEXT NOT NULL,\n  tt_is_sell INTEGER NOT NULL,\n  \
///      tt_is_mrkt INTEGER NOT NULL,\n  PRIMARY KEY (tt_id)\n) WITHOUT ROWID"
/// );
/// ```
pub fn create_table(table: &Table, dialect: &Dialect, constraints: bool) -> String {
    let integer_key = table.key.len() == 1
        && table.column(table.key[0]).is_some_and(|column| column.column_type == ColumnType::Ident);
    let mut lines = Vec::new();
    for column in stored(table, dialect) {
        let mut line = format!("{} {}", column.name, (dialect.physical)(column.column_type));
        if integer_key && column.name == table.key[0] {
            line.push_str(" PRIMARY KEY");
        }
        if !column.nullable {
            line.push_str(" NOT NULL");
        }
        lines.push(line);
    }
    if !integer_key {
        lines.push(format!("PRIMARY KEY ({})", table.key.join(", ")));
    }
    if constraints {
        // A column's own constraint may name that column alone (MySQL insists on it); the table's may name any.
        for column in table.columns.iter().filter(|_| dialect.checks) {
            if let Some(check) = column.check {
                lines.push(format!("CHECK ({check})"));
            }
            if dialect.check_booleans && column.column_type == ColumnType::Bool {
                lines.push(format!("CHECK ({} IN (0, 1))", column.name));
            }
        }
        for key in table.foreign_keys.iter().filter(|_| dialect.foreign_keys) {
            let parent = (key.parent)();
            lines.push(format!(
                "FOREIGN KEY ({}) REFERENCES {} ({})",
                key.columns.join(", "),
                parent.name,
                parent.key.join(", ")
            ));
        }
    }
    let tail = if integer_key { "" } else { dialect.clustered };
    format!("CREATE TABLE {} (\n  {}\n){tail}", table.name, lines.join(",\n  "))
}

/// Splits a `CREATE TABLE`, in which each foreign key is on a separate line, into one without foreign keys and the
/// statements that add them.
pub fn without_foreign_keys(sql: &str) -> (String, Vec<String>) {
    let Some(table) = sql.strip_prefix("CREATE TABLE ").and_then(|rest| rest.split_once(" (\n")).map(|(name, _)| name)
    else {
        return (sql.to_owned(), Vec::new());
    };
    let is_key = |line: &&str| line.trim_start().starts_with("FOREIGN KEY (");
    let keys = sql.lines().filter(is_key).map(|line| {
        let key = line.trim().trim_end_matches(',');
        format!("ALTER TABLE {table} ADD {key}")
    });
    let keys: Vec<String> = keys.collect();
    if keys.is_empty() {
        return (sql.to_owned(), keys);
    }
    let rest: Vec<&str> = sql.lines().filter(|line| !is_key(line)).collect();
    let text = rest.join("\n");
    // The last line before the closing parenthesis has no comma.
    let text = match text.rsplit_once(",\n)") {
        Some((body, tail)) => format!("{body}\n){tail}"),
        None => text,
    };
    (text, keys)
}

/// `CREATE INDEX`.
pub fn create_index(table: &Table, index: &Index, dialect: &Dialect) -> String {
    format!("CREATE INDEX {} ON {} ({})", index.name, table.name, indexed(index, dialect).join(", "))
}

/// Columns that an index has in a dialect.
pub(crate) fn indexed<'i>(index: &'i Index, dialect: &Dialect) -> &'i [&'static str] {
    &index.columns[..index.columns.len().min(dialect.index_columns)]
}

/// `DROP TABLE IF EXISTS`.
pub fn drop_table(table: &Table) -> String {
    format!("DROP TABLE IF EXISTS {}", table.name)
}

/// `INSERT` of one row, its parameters in column order.
///
/// ```
/// use bourse_schema::{SQLITE, TableRow as _, insert, tables::Sector};
/// assert_eq!(insert(Sector::table(), &SQLITE), "INSERT INTO sector (sc_id, sc_name) VALUES (?1, ?2)");
/// ```
pub fn insert(table: &Table, dialect: &Dialect) -> String {
    let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    let parameters: Vec<_> = (1..=names.len()).map(dialect.parameter).collect();
    format!("INSERT INTO {} ({}) VALUES ({})", table.name, names.join(", "), parameters.join(", "))
}

/// Query for the rows whose parent is missing: none in a consistent database.
///
/// ```
/// use bourse_schema::{TableRow as _, orphans, tables::Industry};
/// let table = Industry::table();
/// assert_eq!(
///     orphans(table, &table.foreign_keys[0]),
///     "SELECT in_sc_id FROM industry AS child \
///      WHERE NOT EXISTS (SELECT 1 FROM sector AS parent WHERE parent.sc_id = child.in_sc_id)"
/// );
/// ```
pub fn orphans(table: &Table, key: &ForeignKey) -> String {
    let parent = (key.parent)();
    let on: Vec<_> = key
        .columns
        .iter()
        .zip(parent.key)
        .map(|(child, parent_column)| format!("parent.{parent_column} = child.{child}"))
        .collect();
    format!(
        "SELECT {} FROM {} AS child WHERE NOT EXISTS (SELECT 1 FROM {} AS parent WHERE {})",
        key.columns.join(", "),
        table.name,
        parent.name,
        on.join(" AND ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SQLITE, find};

    #[test]
    fn a_check_of_two_columns_is_the_tables() {
        let table = find("commission_rate").expect("it is a table");
        for dialect in [&SQLITE, &Dialect::STANDARD] {
            let text = create_table(table, dialect, true);
            let lines: Vec<&str> = text.lines().map(|line| line.trim().trim_end_matches(',')).collect();
            assert!(lines.contains(&"CHECK (cr_to_qty > cr_from_qty)"), "{text}");
            assert!(lines.iter().all(|line| !line.contains("CHECK") || line.starts_with("CHECK")), "{text}");
            assert!(!create_table(table, dialect, false).contains("CHECK"));
        }
        let account = create_table(find("customer_account").expect("it is a table"), &SQLITE, true);
        assert!(account.contains("CHECK (ca_tax_st IN (0, 1, 2))"), "{account}");
    }

    #[test]
    fn foreign_keys_come_after_the_rows() {
        let table = find("charge").expect("it is a table");
        let sql = create_table(table, &Dialect::STANDARD, true);
        let (made, keys) = without_foreign_keys(&sql);
        assert_eq!(keys, ["ALTER TABLE charge ADD FOREIGN KEY (ch_tt_id) REFERENCES trade_type (tt_id)"]);
        assert!(!made.contains("FOREIGN KEY") && !made.contains(",\n)"), "{made}");
        assert_eq!(made.matches("CHECK").count(), sql.matches("CHECK").count());
        for sql in ["CREATE TABLE t (a INT)", "CREATE INDEX i ON t (a)", "CREATE TABLE t (\n  a INT\n)"] {
            assert_eq!(without_foreign_keys(sql), (sql.to_owned(), Vec::new()));
        }
    }
}
