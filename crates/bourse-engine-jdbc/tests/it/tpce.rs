//! TPC-E on databases of the Java virtual machine: loaded, run by the emulators in simulated time, checked, and
//! compared with other engines.

use crate::in_memory;
use bourse_tpce::testkit::{RunSize, run_and_check, transactions_are_alike};

fn the_workload_runs_and_reconciles(scheme: &str) {
    if let Some(engine) = in_memory(scheme, "tpce::the_workload_runs_and_reconciles", "") {
        run_and_check(&engine, RunSize { transactions: 720, results: 20, sessions: 1 }, |_| {});
    }
}

fn some_hundred_transactions_are_alike(scheme: &str) {
    if let Some(engine) = in_memory(scheme, "tpce::transactions_are_alike", "") {
        transactions_are_alike(&engine, 400);
    }
}

#[test]
fn on_h2() {
    the_workload_runs_and_reconciles("jdbc+h2");
}

#[test]
fn on_hsqldb() {
    the_workload_runs_and_reconciles("jdbc+hsqldb");
}

#[test]
fn on_derby() {
    the_workload_runs_and_reconciles("jdbc+derby");
}

#[test]
fn transactions_are_alike_on_h2() {
    some_hundred_transactions_are_alike("jdbc+h2");
}

#[test]
fn transactions_are_alike_on_hsqldb() {
    some_hundred_transactions_are_alike("jdbc+hsqldb");
}

#[test]
fn transactions_are_alike_on_derby() {
    some_hundred_transactions_are_alike("jdbc+derby");
}
