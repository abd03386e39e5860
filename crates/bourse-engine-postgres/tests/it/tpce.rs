//! TPC-E on a private server: loaded, run by the emulators in simulated time, checked, and compared with other engines.

use crate::server;
use bourse_engine::Session;
use bourse_engine_postgres::{Launch, PostgresEngine};
use bourse_tpce::testkit::{
    DataCopy, LoadedData, RunSize, routine_statements, run_loaded_and_check, statements,
    transactions_are_alike_on_loaded,
};

/// Tables that a statement may scan, since it needs all rows.
const WHOLE: &[&str] = &["exchange", "trade_request"];

/// A private server with the tests' database.
pub(crate) fn loaded(test: &str, query: &str) -> Option<(DataCopy, PostgresEngine)> {
    static LOADED: LoadedData = LoadedData::new();
    server(test, query)?;
    Some(LOADED.begin(&|data| {
        let engine = server(test, query).unwrap();
        engine.set_launch(Launch { data: Some(data.to_owned()), ..Launch::default() });
        engine
    }))
}

#[test]
fn the_workload_runs_and_keeps_the_books() {
    if let Some((_copy, engine)) = loaded("tpce::the_workload_runs_and_keeps_the_books", "lock_timeout=5s") {
        run_loaded_and_check(&engine, RunSize { transactions: 1_800, results: 50, sessions: 1 }, assert_plans);
    }
}

#[test]
fn some_hundred_transactions_are_alike() {
    if let Some((_copy, engine)) = loaded("tpce::some_hundred_transactions_are_alike", "lock_timeout=5s") {
        transactions_are_alike_on_loaded(&engine, 400);
    }
}

#[test]
fn transactions_in_a_pipeline_are_alike() {
    let name = "tpce::transactions_in_a_pipeline_are_alike";
    if let Some((_copy, engine)) = loaded(name, "lock_timeout=5s&pipeline=on") {
        transactions_are_alike_on_loaded(&engine, 400);
    }
}

#[test]
fn transactions_by_routines_are_alike() {
    let name = "tpce::transactions_by_routines_are_alike";
    if let Some((_copy, engine)) = loaded(name, "lock_timeout=5s&procedures=on") {
        transactions_are_alike_on_loaded(&engine, 400);
    }
}

#[test]
fn the_workload_runs_by_routines_in_a_pipeline_and_keeps_the_books() {
    let name = "tpce::the_workload_runs_by_routines_in_a_pipeline_and_keeps_the_books";
    if let Some((_copy, engine)) = loaded(name, "lock_timeout=5s&procedures=on&pipeline=on") {
        run_loaded_and_check(&engine, RunSize { transactions: 720, results: 20, sessions: 2 }, assert_plans);
    }
}

#[test]
fn routines_save_round_trips() {
    let name = "tpce::routines_save_round_trips";
    let round_trips = ["off", "on"].map(|procedures| {
        let (_copy, engine) = loaded(name, &format!("lock_timeout=5s&procedures={procedures}"))?;
        Some(bourse_tpce::testkit::round_trips(&engine, 300))
    });
    if let [Some(plain), Some(routines)] = round_trips {
        bourse_tpce::testkit::assert_fewer(&plain, &routines);
    }
}

/// Checks that every table is accessed by a key: with scans disabled, the server scans only if no other plan exists.
fn assert_plans(session: &mut dyn Session) {
    session.execute_text("SET enable_seqscan = off", &[]).unwrap();
    let mut walks = Vec::new();
    for sql in statements().into_iter().chain(routine_statements()) {
        for step in session.plan(&sql.render(session.dialect())).unwrap() {
            let walked = step.split_once("Seq Scan on ").map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
            if walked.is_some_and(|table| !WHOLE.contains(&table)) {
                walks.push(format!("{step}\n  {}", sql.text()));
            }
        }
    }
    assert!(walks.is_empty(), "{}", walks.join("\n"));
    session.execute_text("RESET enable_seqscan", &[]).unwrap();
}
