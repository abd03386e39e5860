//! TPC-E on loaded libraries: loaded, run by the emulators in simulated time, checked, and compared with other engines.

use crate::encrypted::{sqlcipher, with_key};
use crate::{file, systems};
use bourse_tpce::testkit::{RunSize, run_and_check, transactions_are_alike};

pub(crate) const RUN: RunSize = RunSize { transactions: 720, results: 20, sessions: 1 };

#[test]
fn the_workload_runs_and_reconciles() {
    let Some(library) = systems("tpce::the_workload_runs_and_reconciles") else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = RunSize { sessions: 2, ..RUN };
    run_and_check(&file(folder.path(), &library, "journal=wal&sync=off"), run, |_| {});
}

#[test]
fn some_hundred_transactions_are_alike() {
    let Some(library) = systems("tpce::some_hundred_transactions_are_alike") else { return };
    let folder = tempfile::tempdir().unwrap();
    transactions_are_alike(&file(folder.path(), &library, "journal=delete&sync=off"), 400);
}

#[test]
fn the_workload_runs_on_an_encrypted_database() {
    let Some(library) = sqlcipher("tpce::the_workload_runs_on_an_encrypted_database") else { return };
    let folder = tempfile::tempdir().unwrap();
    run_and_check(&with_key(folder.path(), &library, "swordfish", "sync=off"), RUN, |_| {});
}
