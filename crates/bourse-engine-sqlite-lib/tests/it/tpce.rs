//! TPC-E on loaded libraries: loaded, run by the emulators in simulated time, checked, and compared with other engines.

use crate::encrypted::{sqlcipher, with_key};
use crate::{file, systems};
use bourse_engine_sqlite_lib::SqliteEngine;
use bourse_tpce::testkit::{
    DataCopy, LoadedData, RunSize, run_and_check, run_loaded_and_check, transactions_are_alike_on_loaded,
};
use std::path::Path;

pub(crate) const RUN: RunSize = RunSize { transactions: 720, results: 20, sessions: 1 };

/// A database with the tests' rows.
fn loaded(library: &Path, query: &str) -> (DataCopy, SqliteEngine) {
    static LOADED: LoadedData = LoadedData::new();
    crate::loaded(&LOADED, &|folder| file(folder, library, query))
}

#[test]
fn the_workload_runs_and_reconciles() {
    let Some(library) = systems("tpce::the_workload_runs_and_reconciles") else { return };
    let (_copy, engine) = loaded(&library, "journal=wal&sync=off");
    run_loaded_and_check(&engine, RunSize { sessions: 2, ..RUN }, |_| {});
}

#[test]
fn some_hundred_transactions_are_alike() {
    let Some(library) = systems("tpce::some_hundred_transactions_are_alike") else { return };
    let (_copy, engine) = loaded(&library, "journal=delete&sync=off");
    transactions_are_alike_on_loaded(&engine, 400);
}

#[test]
fn the_workload_runs_on_an_encrypted_database() {
    let Some(library) = sqlcipher("tpce::the_workload_runs_on_an_encrypted_database") else { return };
    let folder = tempfile::tempdir().unwrap();
    run_and_check(&with_key(folder.path(), &library, "swordfish", "sync=off"), RUN, |_| {});
}
