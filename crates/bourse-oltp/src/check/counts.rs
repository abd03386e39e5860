//! Number of rows of the tables.

use super::{CheckResult, number};
use crate::workload::{Size, Workload};
use bourse_engine::{Result, Session, SessionExt as _};
use bourse_schema::Table;

/// Compares a table's rows with what the workload demands of a database of that size.
pub(super) fn check(db: &mut dyn Session, workload: &dyn Workload, table: &Table, size: &Size) -> Result<CheckResult> {
    let sql = format!("SELECT count(*) FROM {}", table.name);
    let found: i64 = db.text_value(&sql)?.unwrap_or(0);
    let rows = workload.rows(table, size);
    let name = format!("rows of {}", table.name);
    Ok(CheckResult { sql, ..number(&name, workload.source_of_rows(), &rows.words, rows.later, i128::from(found)) })
}
