//! TPC-E on Turso: loaded, run by the emulators in simulated time, checked, and compared with other engines.

use bourse_engine_turso::open;
use bourse_tpce::testkit::{RunSize, run_and_check, transactions_are_alike};

#[test]
fn the_workload_runs_and_reconciles() {
    for journal in ["wal", "mvcc"] {
        let engine = open(&format!("turso::memory:?journal={journal}")).unwrap();
        run_and_check(&engine, RunSize { transactions: 720, results: 20, sessions: 1 }, |_| {});
    }
}

#[test]
fn some_hundred_transactions_are_alike() {
    for journal in ["wal", "mvcc"] {
        transactions_are_alike(&open(&format!("turso::memory:?journal={journal}")).unwrap(), 400);
    }
}
