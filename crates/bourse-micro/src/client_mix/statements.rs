//! Statements of `client-mix`, equal for each of the four tables.

use crate::usual::executed;
use bourse_engine::{Connection, EachRow, Result, Sql, StatementForm, Value};
use std::sync::LazyLock;

/// The statements of one table.
#[derive(Debug)]
pub(super) struct TableStatements {
    /// Statements that create the table and its index.
    pub(super) create: [Sql; 2],
    /// Insertion; its values are [`InsertValues::all`].
    pub(super) insert: Sql,
    /// Update of all rows; its values are [`UPDATED`].
    pub(super) update_all: Sql,
    pub(super) select_all: Sql,
    pub(super) delete_all: Sql,
    /// Update of one row; its values are [`InsertValues::update`].
    pub(super) update_one: Sql,
    /// Search by id, as the next statement; its value is [`InsertValues::id`].
    pub(super) select_one: Sql,
    pub(super) delete_one: Sql,
    /// Number of rows.
    pub(super) count: Sql,
    /// Number of updated rows.
    pub(super) count_updated: Sql,
}

/// Number of tables.
pub(super) const TABLE_COUNT: usize = 4;

/// Statements of `table1` to `table4`.
pub(super) static TABLES: LazyLock<[TableStatements; TABLE_COUNT]> =
    LazyLock::new(|| ["table1", "table2", "table3", "table4"].map(TableStatements::of));

impl TableStatements {
    fn of(table: &str) -> Self {
        // Four tables that live as long as the process, so their texts may too.
        let sql = |text: String| Sql::new(Box::leak(text.into_boxed_str()));
        let five = |prefix: &str, rest: &str| {
            let columns: Vec<_> = (1..=5).map(|number| format!("{prefix}_{number}{rest}")).collect();
            columns.join(", ")
        };
        let declared = [five("int", " INT NOT NULL"), five("dou", " DOUBLE PRECISION NOT NULL")].join(", ");
        let texts = five("str", " VARCHAR(255) NOT NULL");
        let columns = [five("int", ""), five("dou", ""), five("str", "")].join(", ");
        let parameters = (1..=17).map(|number| format!("?{number}")).collect::<Vec<_>>().join(", ");
        let set = (1..=5).map(|number| format!("str_{number} = ?{number}")).collect::<Vec<_>>().join(", ");
        // Through a derived table: MySQL refuses to change a table that a subquery reads directly.
        let every_id = format!("id IN (SELECT id FROM (SELECT id FROM {table}) AS ids)");
        Self {
            create: [
                sql(format!(
                    "CREATE TABLE {table} ({declared}, {texts}, id BIGINT NOT NULL, {{_d}} INT NOT NULL) {{utf8mb4}}"
                )),
                sql(format!("CREATE INDEX {table}_by_id ON {table} (id)")),
            ],
            insert: sql(format!("INSERT INTO {table} ({columns}, id, {{_d}}) VALUES ({parameters})")),
            update_all: sql(format!("UPDATE {table} SET {set} WHERE {every_id}")),
            select_all: sql(format!("SELECT id FROM {table}")),
            delete_all: sql(format!("DELETE FROM {table} WHERE {every_id}")),
            update_one: sql(format!("UPDATE {table} SET {set} WHERE id = ?6")),
            select_one: sql(format!("SELECT id FROM {table} WHERE id = ?1")),
            delete_one: sql(format!("DELETE FROM {table} WHERE id = ?1")),
            count: sql(format!("SELECT count(*) FROM {table}")),
            count_updated: sql(format!("SELECT count(*) FROM {table} WHERE str_1 = 'update' AND str_5 = 'update'")),
        }
    }
}

/// Texts of an updated row.
pub(super) const UPDATED: [Value<'static>; 5] = [Value::Text("update"); 5];

/// Values of a row, all derived from its id.
#[derive(Debug, Clone, Copy)]
pub(super) struct InsertValues {
    id: i64,
}

impl InsertValues {
    /// Values of the row with that id.
    pub(super) const fn of(id: i64) -> Self {
        Self { id }
    }

    /// Number of the row: its id.
    pub(super) const fn number(self) -> i64 {
        self.id
    }

    /// Values of all columns, in the order of the statement.
    pub(super) fn all(self) -> [Value<'static>; 17] {
        let (number, double, text) = (Value::Int(self.id), Value::Real(self.id as f64 * 1.1), Value::Text("insert"));
        let mut values = [number; 17];
        values[5..10].fill(double);
        values[10..15].fill(text);
        values
    }

    /// Parameters of an update by id.
    pub(super) fn update(self) -> [Value<'static>; 6] {
        let [text, ..] = UPDATED;
        [text, text, text, text, text, Value::Int(self.id)]
    }

    /// Parameters of a search by id.
    pub(super) const fn id(self) -> [Value<'static>; 1] {
        [Value::Int(self.id)]
    }
}

/// Runs a statement, prepared or parsed; passes rows to `each` and returns the number of changed rows.
pub(super) fn run(
    connection: &mut Connection,
    statements: StatementForm,
    sql: &'static Sql,
    values: &[Value<'_>],
    each: &mut EachRow<'_>,
) -> Result<u64> {
    executed(connection.sql()?, sql, statements, sql.text().starts_with("SELECT"), values, each)
}
