//! TPC-E on Firebird: loaded, run by the emulators in simulated time, checked, and compared with other engines.

use crate::{at, folder, is_there};
use bourse_tpce::testkit::{RunSize, run_and_check, transactions_are_alike};

#[test]
fn the_workload_runs_and_reconciles() {
    if is_there("tpce::the_workload_runs_and_reconciles") {
        let folder = folder();
        run_and_check(
            &at(&folder.path().join("x"), ""),
            RunSize { transactions: 720, results: 20, sessions: 1 },
            |_| {},
        );
    }
}

#[test]
fn some_hundred_transactions_are_alike() {
    if is_there("tpce::some_hundred_transactions_are_alike") {
        let folder = folder();
        transactions_are_alike(&at(&folder.path().join("x"), "serializable=tables"), 400);
    }
}
