//! Row counts that tables must have (Clause 2.6.1).

use super::{Checked, number};
use bourse_egen::Part;
use bourse_engine::{EngineError, RowExt as _, Session};
use bourse_schema::{Cardinality, Group, Table};
use std::ops::RangeInclusive;

/// Largest deviation from the expected number, in percent, of a count that depends on the random sequence.
const TOLERANCE: u64 = 5;

/// Range of the row count of a freshly loaded table.
pub fn loaded_rows(table: &Table, part: Part) -> RangeInclusive<u64> {
    let load_units = part.load_units() as u64;
    let trades = part.trades_per_load_unit() as u64 * load_units;
    let about = |rows: u64| rows - rows * TOLERANCE / 100..=rows + rows * TOLERANCE / 100;
    let exactly = |rows: u64| rows..=rows;
    match table.cardinality {
        // Tables of fixed size and the exchanges' addresses belong to the part with the first customer.
        Cardinality::Fixed(rows) => exactly(if part.is_first() { rows } else { 0 }),
        Cardinality::PerLoadUnit(rows, once) => exactly(rows * load_units + if part.is_first() { once } else { 0 }),
        Cardinality::AboutPerLoadUnit(rows) => about(rows * load_units),
        Cardinality::Trades => exactly(trades),
        Cardinality::AboutPerTrade(hundredths) => about(trades * hundredths / 100),
        Cardinality::FromTrades => 1..=trades * 4,
        Cardinality::Empty => exactly(0),
    }
}

/// Progress of a load in units that are known before: rows of tables whose size is known, and each initial trade for the
/// rows that follow from it, whose number depends on the random sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    total: f64,
    /// Weight of a trade: about its number of rows.
    of_trade: f64,
}

impl Work {
    /// The work of loading a part.
    pub(crate) fn of(part: Part) -> Self {
        let tables = || bourse_schema::tables::all().iter();
        let of_trade = tables().filter_map(per_trade).sum();
        let trades = part.trades_per_load_unit() as f64 * part.load_units() as f64;
        let others = tables().filter(|table| per_trade(table).is_none()).map(|table| {
            let rows = loaded_rows(table, part);
            (rows.start() + rows.end()) as f64 / 2.0
        });
        Self { total: others.sum::<f64>() + trades * of_trade, of_trade }
    }

    /// Part of the work that these rows of a table are, from 0 to 1.
    pub(crate) fn share(&self, table: &Table, rows: u64) -> f64 {
        let units = match per_trade(&table) {
            None => 1.0,
            Some(_) if table.cardinality == Cardinality::Trades && table.name == "trade" => self.of_trade,
            Some(_) => 0.0,
        };
        rows as f64 * units / self.total
    }
}

/// Approximate rows of a table for each initial trade; `None` for a table whose rows do not follow from trades.
fn per_trade(table: &&Table) -> Option<f64> {
    match table.cardinality {
        Cardinality::Trades | Cardinality::FromTrades => Some(1.0),
        Cardinality::AboutPerTrade(hundredths) => Some(hundredths as f64 / 100.0),
        _ => None,
    }
}

/// Compares a table's row count with the required range. Growing tables may have more rows than were loaded; tables that
/// trades empty again, fewer.
pub(super) fn check(db: &mut dyn Session, table: &Table, part: Part) -> Result<Checked, EngineError> {
    let sql = format!("SELECT count(*) FROM {}", table.name);
    let mut found: i64 = 0;
    db.query_text(&sql, &[], &mut |row| {
        found = row.get(0)?;
        Ok(())
    })?;
    let loaded = loaded_rows(table, part);
    let wanted = match (table.group, table.cardinality) {
        (Group::Growing, Cardinality::FromTrades | Cardinality::Empty) => 0..=i128::MAX,
        (Group::Growing, _) => i128::from(*loaded.start())..=i128::MAX,
        _ => i128::from(*loaded.start())..=i128::from(*loaded.end()),
    };
    let name = format!("rows of {}", table.name);
    let words = match (table.group, wanted.end() == &i128::MAX) {
        (_, true) => "growing table: at least what was loaded and cannot shrink".to_owned(),
        (Group::Fixed, _) => "fixed size".to_owned(),
        _ => format!("scales with {} customers", part.customers()),
    };
    Ok(Checked { sql, ..number(&name, "Clause 2.6.1", &words, wanted, i128::from(found)) })
}
