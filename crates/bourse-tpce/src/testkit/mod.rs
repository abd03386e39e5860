//! TPC-E-derived tests of an engine, for the engines' own test suites.
//!
//! - [`run_and_check`] loads a small database, performs the emulators' transactions in simulated time and checks all of
//!   it.
//! - [`LoadedData`] has engines begin on copies of data that were loaded once.
//! - [`transactions_are_alike`] compares the same transactions with SQLite's and the model's.
//! - [`stays_consistent_through_faults`] does so in real time, over connections that fail.
//! - [`round_trips`] counts round trips by transaction, and [`assert_fewer`] compares.
//! - [`statements`] are all that the transactions run, for tests of their plans.
#![expect(clippy::unwrap_used, reason = "a module for tests: what an engine may not do ends the test with its error")]

mod alike;
mod faults;
mod loaded;
mod round_trips;
mod run;

pub use alike::{transactions_are_alike, transactions_are_alike_on_loaded};
pub use faults::{FaultEvents, stays_consistent_through_faults};
pub use loaded::{DataCopy, LoadedData};
pub use round_trips::{RoundTrips, assert_fewer, round_trips};
pub use run::{RunSize, run_and_check, run_loaded_and_check};

use crate::load::{LoadOptions, load};
use crate::transactions::Transaction;
use crate::transactions::kind;
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, Sql};
use std::ops::ControlFlow;

/// The database of the tests: 1,000 customers with one day of trades.
fn part() -> Part {
    Part::whole(1_000, 1).unwrap()
}

/// Loads the tests' database.
pub fn load_small(engine: &dyn Engine, inputs: &Inputs) -> Part {
    let part = part();
    let report = load(engine, inputs, part, &LoadOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(report.rows.len(), 33);
    part
}

/// Statements of all transactions.
pub fn statements() -> Vec<&'static Sql> {
    let own = Transaction::ALL.iter().flat_map(|kind| kind.statements().iter().copied());
    let statements: Vec<&Sql> = own.chain(kind::shared_statements()).collect();
    assert!(statements.len() > 80, "{}", statements.len());
    statements
}

/// Statements that routines of a server run in addition to those.
pub fn routine_statements() -> Vec<&'static Sql> {
    let statements: Vec<&Sql> = kind::routine_statements().collect();
    assert!(statements.len() > 7, "{}", statements.len());
    statements
}
