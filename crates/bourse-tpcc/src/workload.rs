//! The workload as a value of the harness.

use crate::conditions::{CONDITIONS, DELIVERIES, GROWTHS, ORDERS, PAYMENTS};
use crate::draw::{CUSTOMERS, Scale};
use crate::population::generate;
use crate::reference;
use crate::requests::{Emulator, NAMES, Request, SHARES};
use crate::tables;
use crate::transactions::{Output, STATEMENTS, demands, perform};
use bourse_driver::Nanos;
use bourse_engine::{Access, Isolation, Result, Session, Sql};
use bourse_oltp::acid::AcidTests;
use bourse_oltp::check::Check;
use bourse_oltp::check::ledger::Growths;
use bourse_oltp::load::LoadError;
use bourse_oltp::mix::{Change, JudgedTransaction, Transactions};
use bourse_oltp::verify::ReferenceTables;
use bourse_oltp::{Generator, LastingRows, RowRule, RunTrace, Size, SizeColumn, Workload};
use bourse_record::Outcome;
use bourse_schema::{Batch, Cardinality, Table};

/// The workload derived from TPC-C.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tpcc;

/// Source of the checks that follow from the tables and their population.
const POPULATION: &str = "TPC-C, clauses 1.3 and 4.3";
/// Most percent by which the number of order lines may be off its expectation: eight standard deviations of the smallest database.
const TOLERANCE: u64 = 16;

/// The size of a database with so many warehouses, and so many customers in each district.
pub fn size_of(warehouses: i64, customers: i64) -> Size {
    Size(vec![warehouses, customers])
}

/// The two numbers of a size that was checked.
pub(crate) fn scale(size: &Size) -> Scale {
    let number = |at: usize| size.0.get(at).copied().unwrap_or_default().max(1);
    Scale { warehouses: number(0), customers: number(1) }
}

impl Workload for Tpcc {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn tables(&self) -> &'static [&'static Table] {
        tables::all()
    }

    fn size_columns(&self) -> &'static [SizeColumn] {
        &[
            SizeColumn { column: "warehouses", name: "warehouses" },
            SizeColumn { column: "district_customers", name: "customers of a district" },
        ]
    }

    fn size_text(&self, size: &Size) -> String {
        let Scale { warehouses, customers } = scale(size);
        let plural = if warehouses == 1 { "" } else { "s" };
        let customers =
            if customers == CUSTOMERS { String::new() } else { format!(", {customers} customers in a district") };
        format!("{warehouses} warehouse{plural}{customers}")
    }

    fn check_size(&self, size: &Size) -> Result<(), String> {
        match size.0.as_slice() {
            [warehouses, customers] if (1..=9_999).contains(warehouses) => match customers {
                30..=CUSTOMERS if customers % 30 == 0 => Ok(()),
                _ => Err(format!(
                    "invalid number of customers in a district '{customers}': expected a multiple of 30 up to 3,000"
                )),
            },
            [warehouses, _] => Err(format!("invalid number of warehouses '{warehouses}': expected 1 to 9,999")),
            numbers => Err(format!("{} numbers of a size: expected 2", numbers.len())),
        }
    }

    fn rows(&self, table: &Table, size: &Size) -> RowRule {
        let of = scale(size);
        let [warehouses, customers] = [of.warehouses, of.customers].map(i64::unsigned_abs);
        // Rows that a warehouse has as published, if its districts have as many customers.
        let part = |rows: u64| rows * customers / CUSTOMERS.unsigned_abs();
        let loaded = match table.cardinality {
            Cardinality::Fixed(rows) => part(rows)..=part(rows),
            Cardinality::AboutPerLoadUnit(rows) => {
                let about = part(rows) * warehouses;
                about * (100 - TOLERANCE) / 100..=about * (100 + TOLERANCE) / 100
            }
            Cardinality::PerLoadUnit(rows, _) => {
                let rows = if rows > 10 { part(rows) } else { rows } * warehouses;
                rows..=rows
            }
            _ => 0..=0,
        };
        let least = i128::from(*loaded.start());
        let (later, words) = match table.name {
            "new_order" => (0..=i128::MAX, "new orders come and are delivered".to_owned()),
            "orders" | "order_line" | "history" => (least..=i128::MAX, "grows with each transaction".to_owned()),
            _ => (least..=least, format!("scales with {}", self.size_text(size))),
        };
        RowRule { loaded, later, words }
    }

    fn lasting(&self, table: &Table) -> LastingRows {
        let rows = |changed| LastingRows::Rows { changed };
        match table.name {
            "warehouse" => rows(&["w_ytd"]),
            "district" => rows(&["d_ytd", "d_next_o_id"]),
            "customer" => rows(&["c_balance", "c_ytd_payment", "c_payment_cnt", "c_delivery_cnt", "c_data"]),
            "stock" => rows(&["s_quantity", "s_ytd", "s_order_cnt", "s_remote_cnt"]),
            "orders" => LastingRows::InitialRows { number: "o_id", changed: &["o_carrier_id"] },
            "order_line" => LastingRows::InitialRows { number: "ol_o_id", changed: &["ol_delivery_d"] },
            "history" | "new_order" => LastingRows::Nothing,
            _ => rows(&[]),
        }
    }

    fn first_new(&self, size: &Size) -> i64 {
        scale(size).customers + 1
    }

    fn trace(&self, size: &Size) -> RunTrace {
        let Scale { warehouses, customers } = scale(size);
        let initial = (warehouses * crate::draw::DISTRICTS * (customers + 1)).unsigned_abs();
        RunTrace { sql: "SELECT sum(d_next_o_id) FROM district", initial, gained: "orders entered" }
    }

    fn conditions(&self) -> &'static [Check] {
        CONDITIONS
    }

    fn growths(&self) -> &'static Growths {
        &GROWTHS
    }

    fn holes(&self, size: &Size) -> Vec<(&'static str, String)> {
        vec![("delivered", scale(size).delivered().to_string())]
    }

    fn source_of_rows(&self) -> &'static str {
        POPULATION
    }
}

impl Generator for Tpcc {
    fn version(&self) -> i64 {
        1
    }

    fn generate(
        &self,
        size: &Size,
        threads: usize,
        each: &mut dyn FnMut(&dyn Batch) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        generate(scale(size), threads, each)
    }
}

/// Status codes of what is designed.
const NO_SUCH_ITEM: i32 = 1;
const SKIPPED: i32 = 2;

impl Transactions for Tpcc {
    type Input = Request;
    type Output = Output;
    type Emulator = Emulator;

    const NAMES: &'static [&'static str] = &NAMES;
    const SHARES: &'static [f64] = &SHARES;
    const CODES: &'static [(i32, &'static str)] =
        &[(NO_SUCH_ITEM, "an item does not exist, as designed"), (SKIPPED, "a district had no new order, as designed")];
    const NOTICE: &'static str = "TPC-C-derived workload, unaudited; results are not comparable with published TPC Benchmark C \
        results. TPC Benchmark and TPC-C are trademarks of the Transaction Processing Performance Council.";
    const DEFERRED: Option<usize> = Some(3);
    const PER_MINUTE: Option<usize> = Some(0);

    const SOURCE: &'static str = "TPC-C, clause 2";
    const USUAL: [u64; 2] = [1, 1];

    fn sized(number: i64) -> Size {
        size_of(number, CUSTOMERS)
    }

    /// Two warehouses, so that each supplies the other's orders, with a hundredth of the rows.
    fn smallest() -> Size {
        size_of(2, 30)
    }

    fn emulator(size: &Size, seed: u64, user: usize) -> Emulator {
        Emulator::new(scale(size), seed, user)
    }

    /// The published times: a constant one for keying, and one for thinking that is distributed exponentially, at most ten times
    /// its mean.
    fn pauses(kind: usize, drawn: f64) -> Option<[Nanos; 2]> {
        let (keying_s, thinking_s) =
            [(18.0, 12.0), (3.0, 12.0), (2.0, 10.0), (2.0, 5.0), (2.0, 5.0)].get(kind).copied()?;
        let seconds: [f64; 2] = [keying_s, thinking_s * (-(1.0 - drawn).ln()).min(10.0)];
        Some(seconds.map(|seconds| (seconds * 1e9) as Nanos))
    }

    fn kind(input: &Request) -> usize {
        input.kind()
    }

    fn demands(kind: usize) -> (Isolation, Access) {
        demands(kind)
    }

    fn statements() -> &'static [&'static Sql] {
        STATEMENTS
    }

    fn perform(session: &mut dyn Session, input: &Request) -> Result<Output> {
        perform(session, input)
    }

    fn expected(tables: &mut ReferenceTables, input: &Request) -> (i32, Output) {
        let output = reference::perform(tables, input).expect("the reference has each row that a database has");
        (Self::judge(input, &output).code, output)
    }

    fn judge(input: &Request, output: &Output) -> JudgedTransaction {
        let (outcome, code, change) = match output {
            Output::NoSuchItem { .. } => (Outcome::RolledBack, NO_SUCH_ITEM, None),
            Output::Delivered(districts) => {
                let delivered = districts.iter().flatten().count() as i64;
                let change = Some((DELIVERIES, delivered));
                if delivered == districts.len() as i64 {
                    (Outcome::Completed, 0, change)
                } else {
                    (Outcome::Warned, SKIPPED, change)
                }
            }
            _ => (Outcome::Completed, 0, Self::doubtful(input)),
        };
        JudgedTransaction { outcome, code, change }
    }

    fn doubtful(input: &Request) -> Option<Change> {
        match input {
            Request::NewOrder { .. } => Some((ORDERS, 1)),
            Request::Payment { amount, .. } => Some((PAYMENTS, amount.units())),
            Request::Delivery { .. } => Some((DELIVERIES, crate::draw::DISTRICTS)),
            _ => None,
        }
    }

    fn acid() -> Option<AcidTests<Request>> {
        Some(crate::acid::TESTS)
    }
}
