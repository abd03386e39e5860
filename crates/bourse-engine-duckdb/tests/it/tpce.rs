//! TPC-E on DuckDB: loaded, run by the emulators in simulated time, checked, and compared with other engines.

use crate::in_memory;
use bourse_tpce::testkit::{RunSize, run_and_check, transactions_are_alike};

#[test]
fn the_workload_runs_and_reconciles() {
    if let Some(engine) = in_memory("tpce::the_workload_runs_and_reconciles", "") {
        run_and_check(&engine, RunSize { transactions: 720, results: 20, sessions: 1 }, |_| {});
    }
}

#[test]
fn some_hundred_transactions_are_alike() {
    if let Some(engine) = in_memory("tpce::some_hundred_transactions_are_alike", "") {
        transactions_are_alike(&engine, 400);
    }
}
