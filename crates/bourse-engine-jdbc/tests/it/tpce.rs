//! TPC-E on databases of the Java virtual machine: loaded, run by the emulators in simulated time, and checked.

use crate::in_memory;
use bourse_tpce_testkit::{Run, run_and_check};

fn the_workload_runs_and_reconciles(scheme: &str) {
    if let Some(engine) = in_memory(scheme, "tpce::the_workload_runs_and_reconciles", "") {
        run_and_check(&engine, Run { requests: 600, results: 20, sessions: 1 }, |_| {});
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
