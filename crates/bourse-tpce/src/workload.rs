//! TPC-E as a value of the harness: tables, sizes, rows and what lasts of them.

use crate::check::conditions::CONDITIONS;
use crate::check::holes;
use crate::check::reconciliation::GROWTHS;
use bourse_egen::driver::Database;
use bourse_egen::files::BatchOptions;
use bourse_egen::{Inputs, Part};
use bourse_engine::{Loader, Result};
use bourse_oltp::check::Check;
use bourse_oltp::check::ledger::Growths;
use bourse_oltp::load::{Fingerprint, LoadError, LoadPhase};
use bourse_oltp::planted;
use bourse_oltp::{Generator, LastingRows, RowRule, RunTrace, Size, SizeColumn, Workload};
use bourse_schema::{Batch, Cardinality, Group, Table, TableRow as _, TradeId, tables};
use std::ops::RangeInclusive;

/// TPC-E as the harness takes it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tpce;

/// The generator of TPC-E's rows.
#[derive(Debug, Clone, Copy)]
pub struct Egen<'i>(pub &'i Inputs);

/// Version of the generator, raised whenever it makes other rows from the same inputs.
const GENERATOR_VERSION: i64 = 1;

/// The size of a database with the rows of a part.
pub fn size_of(part: Part) -> Size {
    Size(vec![part.first_customer(), part.customers(), part.total_customers(), part.scale_factor(), part.days()])
}

/// Part of a database of that size.
///
/// # Errors
/// A sentence, if no database can have that size.
pub fn part(size: &Size) -> Result<Part, String> {
    let &[first, customers, total, scale_factor, days] = size.0.as_slice() else {
        return Err(format!("{} numbers of a size: expected 5", size.0.len()));
    };
    Part::new(first, customers, total, scale_factor, days).map_err(|error| error.to_string())
}

pub(crate) fn known_part(size: &Size) -> Part {
    part(size).expect("a size is checked when it is read, and otherwise that of a part")
}

/// The part whose rows a database was loaded with.
///
/// # Panics
/// With a fingerprint of another workload.
pub fn part_of(fingerprint: &Fingerprint) -> Part {
    known_part(&fingerprint.size)
}

/// The first number of a new trade of a database.
pub const fn first_trade(part: Part) -> TradeId {
    Database::of(part.total_customers(), part.scale_factor(), part.days()).first_free_trade()
}

impl Workload for Tpce {
    fn name(&self) -> &'static str {
        "tpce"
    }

    fn tables(&self) -> &'static [&'static Table] {
        tables::all()
    }

    fn size_columns(&self) -> &'static [SizeColumn] {
        const COLUMNS: &[SizeColumn] = &[
            SizeColumn { column: "first_customer", name: "first customer" },
            SizeColumn { column: "customers", name: "customers" },
            SizeColumn { column: "total_customers", name: "customers in all" },
            SizeColumn { column: "scale_factor", name: "scale factor" },
            SizeColumn { column: "days", name: "initial trade days" },
        ];
        COLUMNS
    }

    fn size_text(&self, size: &Size) -> String {
        let part = known_part(size);
        format!("{} customers, {} {}", part.customers(), part.days(), if part.days() == 1 { "day" } else { "days" })
    }

    fn check_size(&self, size: &Size) -> Result<(), String> {
        part(size).map(drop)
    }

    /// Growing tables may have more than were loaded; those that trades empty again, fewer.
    fn rows(&self, table: &Table, size: &Size) -> RowRule {
        let part = known_part(size);
        let loaded = loaded_rows(table, part);
        let later = match (table.group, table.cardinality) {
            (Group::Growing, Cardinality::FromTrades | Cardinality::Empty) => 0..=i128::MAX,
            (Group::Growing, _) => i128::from(*loaded.start())..=i128::MAX,
            _ => i128::from(*loaded.start())..=i128::from(*loaded.end()),
        };
        let words = match (table.group, later.end() == &i128::MAX) {
            (_, true) => "growing table: at least what was loaded and cannot shrink".to_owned(),
            (Group::Fixed, _) => "fixed size".to_owned(),
            _ => format!("scales with {} customers", part.customers()),
        };
        RowRule { loaded, later, words }
    }

    /// Data-Maintenance (Clause 3.3.11) and Trade-Update (Clause 3.3.10) change single columns; Trade-Result and Market-Feed the
    /// balances, totals and prices. A new trade's cash transaction has what it added to its account's balance (Clause 3.3.8.8).
    fn lasting(&self, table: &Table) -> LastingRows {
        let rows = |changed| LastingRows::Rows { changed };
        let initial = |number, changed| LastingRows::InitialRows { number, changed };
        match table.name {
            "account_permission" => rows(&["ap_acl"]),
            "address" => rows(&["ad_line2"]),
            "broker" => rows(&["b_num_trades", "b_comm_total"]),
            "company" => rows(&["co_sp_rate"]),
            "customer" => rows(&["c_email_2"]),
            "customer_account" => LastingRows::Undone {
                column: "ca_bal",
                loaded: "ca_bal - coalesce(moved, 0)",
                of: "customer_account
                     LEFT JOIN (SELECT t_ca_id, sum(ct_amt) AS moved
                                  FROM cash_transaction INNER JOIN trade ON t_id = ct_t_id
                                 WHERE ct_t_id >= {first_new}
                                 GROUP BY t_ca_id) AS cash_moved ON t_ca_id = ca_id",
            },
            "customer_taxrate" => rows(&["cx_tx_id"]),
            "daily_market" => rows(&["dm_vol"]),
            "exchange" => rows(&["ex_desc"]),
            "financial" => rows(&["fi_qtr_start_date"]),
            "last_trade" => rows(&["lt_dts", "lt_price", "lt_vol"]),
            "news_item" => rows(&["ni_dts"]),
            "security" => rows(&["s_exch_date"]),
            "taxrate" => rows(&["tx_name"]),
            "watch_item" => rows(&["wi_s_symb"]),
            "trade" => initial("t_id", &["t_exec_name"]),
            "trade_history" => initial("th_t_id", &[]),
            "settlement" => initial("se_t_id", &["se_cash_type"]),
            "cash_transaction" => initial("ct_t_id", &["ct_name"]),
            "holding_history" => initial("hh_t_id", &[]),
            "holding" | "holding_summary" | "trade_request" => LastingRows::Nothing,
            _ => rows(&[]),
        }
    }

    fn first_new(&self, size: &Size) -> i64 {
        first_trade(known_part(size)).0
    }

    fn trace(&self, size: &Size) -> RunTrace {
        RunTrace { sql: "SELECT count(*) FROM trade", initial: trades(known_part(size)), gained: "trades added" }
    }

    fn conditions(&self) -> &'static [Check] {
        CONDITIONS
    }

    fn growths(&self) -> &'static Growths {
        &GROWTHS
    }

    fn holes(&self, size: &Size) -> Vec<(&'static str, String)> {
        holes(first_trade(known_part(size)))
    }

    fn source_of_rows(&self) -> &'static str {
        "Clause 2.6.1"
    }

    fn source_of_schema(&self) -> &'static str {
        "Clause 2.2"
    }

    /// A trade has the work of all rows that follow from it, whose number depends on the random sequence.
    fn work_of_row(&self, table: &Table) -> f64 {
        match per_trade(table) {
            None => 1.0,
            Some(_) if table.name == tables::Trade::NAME => tables::all().iter().filter_map(|it| per_trade(it)).sum(),
            Some(_) => 0.0,
        }
    }

    fn before_phase(&self, phase: LoadPhase, loader: &mut dyn Loader) -> Result<()> {
        match phase {
            LoadPhase::Counts => planted!(LoaderLosesRowEarly: loader.run(crate::planted::LOSE_WATCH_ITEM)?; ()),
            LoadPhase::Finish => {
                planted!(LoaderLosesRowLate: loader.run(crate::planted::LOSE_WATCH_ITEM)?; ());
                planted!(LoaderAltersPrices: loader.run(crate::planted::ALTER_PRICES)?; ());
            }
            _ => {}
        }
        let _ = loader;
        Ok(())
    }
}

impl Generator for Egen<'_> {
    fn version(&self) -> i64 {
        GENERATOR_VERSION
    }

    fn inputs(&self) -> String {
        format!("{:032x}", self.0.fingerprint())
    }

    fn generate(
        &self,
        size: &Size,
        threads: usize,
        each: &mut dyn FnMut(&dyn Batch) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let options = BatchOptions { tables: None, threads };
        bourse_egen::files::batches(self.0, known_part(size), &options, |batch| each(&*batch))
    }
}

/// Most percent by which a number that depends on the random sequence may be off its expectation.
const TOLERANCE: u64 = 5;

/// Initial trades.
fn trades(part: Part) -> u64 {
    part.trades_per_load_unit() as u64 * part.load_units() as u64
}

/// The least and the most rows of a table when a part has just been loaded (Clause 2.6.1).
fn loaded_rows(table: &Table, part: Part) -> RangeInclusive<u64> {
    let load_units = part.load_units() as u64;
    let trades = trades(part);
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

/// Approximate rows of a table for each initial trade; `None` for a table whose rows do not follow from trades.
fn per_trade(table: &Table) -> Option<f64> {
    match table.cardinality {
        Cardinality::Trades | Cardinality::FromTrades => Some(1.0),
        Cardinality::AboutPerTrade(hundredths) => Some(hundredths as f64 / 100.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_change_are_columns() {
        let mut lasting = 0;
        for table in tables::all() {
            let of = Tpce.lasting(table);
            if let LastingRows::Rows { changed } | LastingRows::InitialRows { changed, .. } = of {
                for name in changed {
                    assert!(table.column(name).is_some(), "{}.{name}", table.name);
                }
            }
            lasting += usize::from(of.query(table, 1).is_some());
        }
        assert_eq!(lasting, 30);
    }

    /// Work is summed up by expected rows, and each trade stands for what follows from it.
    #[test]
    fn the_work_of_a_load_is_that_of_its_rows() {
        let part = Part::whole(2_000, 1).unwrap();
        let trade = tables::Trade::table();
        let of_trades = trades(part) as f64 * Tpce.work_of_row(trade);
        let others = tables::all().iter().filter(|table| per_trade(table).is_none());
        let others: f64 = others
            .map(|table| {
                let rows = loaded_rows(table, part);
                (rows.start() + rows.end()) as f64 / 2.0
            })
            .sum();
        assert!((Tpce.work(&size_of(part)) - of_trades - others).abs() < 1.0);
    }
}
