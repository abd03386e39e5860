//! Figures by statement.

use crate::support::{TIMING, operation, run, sqlite};
use bourse_driver::MS;
use bourse_micro::{TimedOperations, Timing};

#[test]
fn each_statement_of_an_operation_has_its_calls_rows_plan_and_work() {
    let timing = Timing { timed: TimedOperations::Single, statements: true, ..TIMING };
    let result = run(&sqlite(), "point-read", &[("rows", "1000")], timing);
    let [read] = result.round.statements.as_slice() else { panic!("{:?}", result.round.statements) };
    assert_eq!(read.operation, "read");
    assert!(read.statement.starts_with("SELECT"), "{}", read.statement);
    // One may be under way at the end of the interval.
    let ended = operation(&result, "read").ended();
    assert!((ended..=ended + 1).contains(&read.calls()), "{} calls, {ended} operations", read.calls());
    assert_eq!((read.rows, read.failed), (read.calls(), 0));
    assert!(read.plan.iter().any(|step| step.starts_with("SEARCH")), "{:?}", read.plan);
    let work = read.work.expect("SQLite counts");
    assert_eq!((work.scanned_rows, work.sorts), (0, 0));
    assert!(work.instructions > read.calls());
}

#[test]
fn a_search_without_an_index_is_a_full_scan_of_so_many_rows() {
    let timing = Timing { measure_ns: Some(100 * MS), timed: TimedOperations::Single, statements: true, ..TIMING };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.sql");
    std::fs::write(
        &file,
        "--! setup
         CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
              INSERT INTO orders SELECT i, i % 100 FROM n;
         --! operation by_user
         SELECT id FROM orders WHERE user_id = 17;
        ",
    )
    .unwrap();
    let result = run(&sqlite(), "sql", &[("file", file.to_str().unwrap())], timing);
    let [search] = result.round.statements.as_slice() else { panic!("{:?}", result.round.statements) };
    let work = search.work.expect("SQLite counts");
    assert_eq!(work.scanned_rows, 399 * search.calls());
    assert_eq!(search.rows, 4 * search.calls());
}

#[test]
fn nothing_is_timed_unasked() {
    assert!(run(&sqlite(), "point-read", &[("rows", "100")], TIMING).round.statements.is_empty());
}
