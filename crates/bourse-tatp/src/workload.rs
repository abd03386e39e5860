//! TATP as a value of the harness.

use crate::population::{CHUNK, generate};
use crate::reference;
use crate::requests::{Emulator, NAMES, Request, SHARES};
use crate::tables::{self, SubscriberId};
use crate::transactions::{Output, STATEMENTS, perform};
use bourse_engine::{Access, Isolation, Result, Session, Sql};
use bourse_oltp::check::Check;
use bourse_oltp::check::ledger::{Growth, GrowthAmount, Growths, Query, TotalUnit};
use bourse_oltp::load::LoadError;
use bourse_oltp::mix::{Change, JudgedTransaction, Transactions};
use bourse_oltp::verify::ReferenceTables;
use bourse_oltp::{Generator, LastingRows, RowRule, RunTrace, Size, SizeColumn, Workload};
use bourse_record::Outcome;
use bourse_schema::{Batch, Cardinality, Table};

/// TATP.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tatp;

/// Source of the checks that follow from the tables and their population.
const POPULATION: &str = "TATP, tables and population";
/// Most percent by which a number of rows that depends on random numbers may be off its expectation: eight standard deviations of
/// the smallest database.
const TOLERANCE: u64 = 12;

/// The size of a database with so many subscribers.
pub fn size_of(subscribers: u64) -> Size {
    Size(vec![i64::try_from(subscribers).unwrap_or(i64::MAX)])
}

fn subscribers(size: &Size) -> i64 {
    size.0.first().copied().unwrap_or_default()
}

impl Workload for Tatp {
    fn name(&self) -> &'static str {
        "tatp"
    }

    fn tables(&self) -> &'static [&'static Table] {
        tables::all()
    }

    fn size_columns(&self) -> &'static [SizeColumn] {
        &[SizeColumn { column: "subscribers", name: "subscribers" }]
    }

    fn check_size(&self, size: &Size) -> Result<(), String> {
        match size.0.as_slice() {
            [count] if *count >= CHUNK && count % CHUNK == 0 && *count < 1_000_000_000 => Ok(()),
            [count] => Err(format!(
                "invalid number of subscribers '{count}': expected a multiple of 1,000 from 1,000 to 999,999,000"
            )),
            numbers => Err(format!("{} numbers of a size: expected 1", numbers.len())),
        }
    }

    fn rows(&self, table: &Table, size: &Size) -> RowRule {
        let units = (subscribers(size) / CHUNK).unsigned_abs();
        let loaded = match table.cardinality {
            Cardinality::AboutPerLoadUnit(rows) => {
                rows * units * (100 - TOLERANCE) / 100..=rows * units * (100 + TOLERANCE) / 100
            }
            _ => units * CHUNK.unsigned_abs()..=units * CHUNK.unsigned_abs(),
        };
        let at_most = |rows: u64| i128::from(rows);
        match self.lasting(table) {
            // Three of each service at most.
            LastingRows::Nothing => {
                let later = 0..=at_most(units * CHUNK.unsigned_abs() * 12);
                RowRule { loaded, later, words: "at most three for each of four services of a subscriber".to_owned() }
            }
            _ => {
                let later = at_most(*loaded.start())..=at_most(*loaded.end());
                RowRule { loaded, later, words: format!("scales with {} subscribers", subscribers(size)) }
            }
        }
    }

    fn lasting(&self, table: &Table) -> LastingRows {
        match table.name {
            "subscriber" => LastingRows::Rows { changed: &["bit_1", "vlr_location"] },
            "special_facility" => LastingRows::Rows { changed: &["data_a"] },
            "call_forwarding" => LastingRows::Nothing,
            _ => LastingRows::Rows { changed: &[] },
        }
    }

    /// Changed locations: every run changes some, and a row of `call_forwarding` that one adds the next may remove.
    fn trace(&self, _: &Size) -> RunTrace {
        RunTrace {
            sql: "SELECT count(*) FROM subscriber WHERE msc_location + vlr_location <> 4294967296",
            initial: 0,
            gained: "subscribers' locations changed",
        }
    }

    fn conditions(&self) -> &'static [Check] {
        CONDITIONS
    }

    fn growths(&self) -> &'static Growths {
        &GROWTHS
    }

    fn source_of_rows(&self) -> &'static str {
        POPULATION
    }
}

impl Generator for Tatp {
    fn version(&self) -> i64 {
        2
    }

    fn generate(
        &self,
        size: &Size,
        _: usize,
        each: &mut dyn FnMut(&dyn Batch) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        generate(subscribers(size), each)
    }
}

/// Status codes of designed misses.
const MISSED: i32 = 1;
const EXISTS: i32 = 2;

impl Transactions for Tatp {
    type Input = Request;
    type Output = Output;
    type Emulator = Emulator;

    const NAMES: &'static [&'static str] = &NAMES;
    const SHARES: &'static [f64] = &SHARES;
    const CODES: &'static [(i32, &'static str)] =
        &[(MISSED, "no such row, as designed"), (EXISTS, "the row to insert exists, as designed")];
    const NOTICE: &'static str =
        "TATP as published by its authors, unaudited. Misses are part of the workload and counted as such.";

    const SOURCE: &'static str = "TATP, transactions";
    const USUAL: [u64; 2] = [100_000, 10_000];

    fn smallest() -> Size {
        Size(vec![CHUNK])
    }

    fn expected(tables: &mut ReferenceTables, input: &Request) -> (i32, Output) {
        reference::perform(tables, input).unwrap_or((MISSED, Output::Missed))
    }

    fn emulator(size: &Size, seed: u64, _: usize) -> Emulator {
        Emulator::new(subscribers(size).unsigned_abs(), seed)
    }

    /// A new forwarding in its last hour, and in the hour after.
    fn rare(after: &Request) -> Vec<Request> {
        let Request::InsertCallForwarding { sub_nbr, sf_type, start_time, end_time, .. } = after else { return vec![] };
        let (s_id, &sf_type, &start_time) = (reference::id_of(sub_nbr).map(SubscriberId), sf_type, start_time);
        let at = |end_time| Some(Request::GetNewDestination { s_id: s_id?, sf_type, start_time, end_time });
        [end_time - 1, *end_time].into_iter().filter_map(at).collect()
    }

    fn kind(input: &Request) -> usize {
        input.kind()
    }

    fn demands(kind: usize) -> (Isolation, Access) {
        (Isolation::ReadCommitted, if kind < 3 { Access::Read } else { Access::Write })
    }

    fn statements() -> &'static [&'static Sql] {
        STATEMENTS
    }

    fn perform(session: &mut dyn Session, input: &Request) -> Result<Output> {
        perform(session, input)
    }

    fn judge(input: &Request, output: &Output) -> JudgedTransaction {
        let change = if *output == Output::Changed { Self::doubtful(input) } else { None };
        let (outcome, code) = match output {
            Output::Missed if input.kind() < 3 => (Outcome::Warned, MISSED),
            Output::Missed => (Outcome::RolledBack, MISSED),
            Output::Exists => (Outcome::RolledBack, EXISTS),
            _ => (Outcome::Completed, 0),
        };
        JudgedTransaction { outcome, code, change }
    }

    fn doubtful(input: &Request) -> Option<Change> {
        match input {
            Request::InsertCallForwarding { .. } => Some((FORWARDINGS, 1)),
            Request::DeleteCallForwarding { .. } => Some((FORWARDINGS, -1)),
            _ => None,
        }
    }
}

/// Place of the call forwardings among the ledger's amounts.
const FORWARDINGS: usize = 1;

static GROWTHS: Growths = Growths {
    amounts: &["transactions", "forwardings"],
    before_and_after: &[Query {
        sql: "SELECT count(*) FROM call_forwarding",
        totals: &[("forwardings", TotalUnit::Whole)],
    }],
    after: &[],
    growths: &[Growth {
        name: "call forwardings",
        words: "call_forwarding has grown by the rows that were inserted, less those that were deleted",
        total: "forwardings",
        by: GrowthAmount::Acknowledged(FORWARDINGS),
    }],
};

/// Conditions of every database at any time.
const CONDITIONS: &[Check] = &bourse_oltp::conditions![
    "numbers of subscribers", POPULATION,
        "no two subscribers have the same number",
        "SELECT sub_nbr, count(*) FROM subscriber GROUP BY sub_nbr HAVING count(*) > 1";
    "access data of subscribers", POPULATION,
        "each subscriber has one to four rows of access data",
        "SELECT s.s_id, count(a.s_id)
           FROM subscriber s LEFT JOIN access_info a ON a.s_id = s.s_id
          GROUP BY s.s_id
         HAVING count(a.s_id) < 1 OR count(a.s_id) > 4";
    "services of subscribers", POPULATION,
        "each subscriber has one to four services",
        "SELECT s.s_id, count(f.s_id)
           FROM subscriber s LEFT JOIN special_facility f ON f.s_id = s.s_id
          GROUP BY s.s_id
         HAVING count(f.s_id) < 1 OR count(f.s_id) > 4";
    "hours of forwarding", POPULATION,
        "calls are forwarded from hour 0, 8 or 16 on, until an hour of the day",
        "SELECT s_id, sf_type, start_time, end_time
           FROM call_forwarding
          WHERE start_time NOT IN (0, 8, 16) OR end_time < 1 OR end_time > 24";
    "settings", POPULATION,
        "changed settings and data are in their range",
        "SELECT s.s_id, s.bit_1, s.vlr_location
           FROM subscriber s
          WHERE s.bit_1 NOT IN (0, 1) OR s.vlr_location < 1 OR s.vlr_location > 4294967295";
];
