//! TPC-E on a private server: loaded, run by the emulators in simulated time, checked, and compared with other engines.

use crate::{flavoured, server};
use bourse_engine::Session;
use bourse_engine_mysql::{Flavour, Launch, MysqlEngine};
use bourse_tpce::testkit::{
    DataCopy, LoadedData, RunSize, routine_statements, run_and_check, run_loaded_and_check, statements,
    transactions_are_alike, transactions_are_alike_on_loaded,
};

const RUN: RunSize = RunSize { transactions: 1_800, results: 50, sessions: 1 };

/// Tables that a statement may scan: a few rows each, or needed completely.
const SMALL: &[&str] =
    &["exchange", "trade_request", "trade_type", "status_type", "zip_code", "sector", "industry", "broker"];

/// Statement of Trade-Cleanup, run once before a run: MariaDB 10.11 has no other plan for an UPDATE by a subquery than
/// to scan the table.
const CANCEL_PENDING: &str = "WHERE t_id IN (SELECT tr_t_id FROM trade_request)";

/// A private MariaDB with the tests' database.
pub(crate) fn loaded(test: &str, query: &str) -> Option<(DataCopy, MysqlEngine)> {
    static LOADED: LoadedData = LoadedData::new();
    server(test, query)?;
    Some(LOADED.begin(&|data| {
        let engine = server(test, query).unwrap();
        engine.set_launch(Launch { data: Some(data.to_owned()), ..Launch::default() });
        engine
    }))
}

#[test]
fn the_workload_runs_on_mariadb_and_keeps_the_books() {
    if let Some((_copy, engine)) = loaded("tpce::the_workload_runs_on_mariadb_and_keeps_the_books", "lock_timeout=5s") {
        run_loaded_and_check(&engine, RUN, assert_plans);
    }
}

#[test]
fn the_workload_runs_on_mysql_and_keeps_the_books() {
    let name = "tpce::the_workload_runs_on_mysql_and_keeps_the_books";
    if let Some(engine) = flavoured(name, Flavour::Mysql, "lock_timeout=5s") {
        run_and_check(&engine, RUN, assert_plans);
    }
}

#[test]
fn some_hundred_transactions_on_mariadb_are_alike() {
    if let Some((_copy, engine)) = loaded("tpce::some_hundred_transactions_on_mariadb_are_alike", "lock_timeout=5s") {
        transactions_are_alike_on_loaded(&engine, 400);
    }
}

#[test]
fn some_hundred_transactions_on_mysql_are_alike() {
    let name = "tpce::some_hundred_transactions_on_mysql_are_alike";
    if let Some(engine) = flavoured(name, Flavour::Mysql, "lock_timeout=5s") {
        transactions_are_alike(&engine, 400);
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
fn the_workload_runs_by_routines_and_keeps_the_books() {
    let name = "tpce::the_workload_runs_by_routines_and_keeps_the_books";
    if let Some((_copy, engine)) = loaded(name, "lock_timeout=5s&procedures=on") {
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

/// Checks that every table of more than a few rows is accessed by a key.
fn assert_plans(session: &mut dyn Session) {
    let mut walks = Vec::new();
    for sql in statements().into_iter().chain(routine_statements()) {
        for step in session.plan(sql.text()).unwrap() {
            let field = |name: &str| step.split(' ').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
            // What is inserted is shown as a walk through the table.
            let is_insert = field("select_type") == Some("INSERT");
            let is_whole =
                matches!(field("type"), Some("ALL" | "index")) && !is_insert && !sql.text().contains(CANCEL_PENDING);
            let table = field("table").unwrap_or_default();
            if is_whole && !SMALL.contains(&table) && !table.starts_with('<') {
                walks.push(format!("{step}\n  {}", sql.text()));
            }
        }
    }
    assert!(walks.is_empty(), "{}", walks.join("\n"));
}
