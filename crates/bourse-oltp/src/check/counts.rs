//! Number of rows of the tables.

use super::{CheckResult, number};
use crate::workload::{Size, Workload};
use bourse_engine::{Result, RowExt as _, Session};
use bourse_schema::Table;

/// Compares a table's rows with what the workload demands of a database of that size.
pub(super) fn check(db: &mut dyn Session, workload: &dyn Workload, table: &Table, size: &Size) -> Result<CheckResult> {
    let sql = format!("SELECT count(*) FROM {}", table.name);
    let mut found: i64 = 0;
    db.query_text(&sql, &[], &mut |row| {
        found = row.get(0)?;
        Ok(())
    })?;
    let rows = workload.rows(table, size);
    let name = format!("rows of {}", table.name);
    Ok(CheckResult { sql, ..number(&name, workload.source_of_rows(), &rows.words, rows.later, i128::from(found)) })
}
