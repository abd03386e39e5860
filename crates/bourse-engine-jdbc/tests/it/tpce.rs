//! TPC-E on databases of the Java virtual machine: loaded, run by the emulators in simulated time, and checked.

use crate::in_memory;
use bourse_tpce_testkit::{Run, run_and_check};

#[test]
fn the_workload_runs_and_reconciles() {
    if let Some(engine) = in_memory("jdbc+hsqldb", "tpce::the_workload_runs_and_reconciles", "") {
        run_and_check(&engine, Run { requests: 600, results: 20, sessions: 1 }, |_| {});
    }
}
