//! The isolation that recorded histories show, kept by an engine. Those that break it on purpose are in the test `planted` of `bourse-acid`.

use crate::support::counted;
use bourse_driver::RealClock;
use bourse_engine::Engine;
use bourse_engine_sqlite::SqliteEngine;
use bourse_isolation::{Action, FINAL_SESSION, History, Transaction};
use bourse_micro::{find, run_round};
use bourse_record::{Check, CheckStatus, HistoryFigures};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::sync::atomic::AtomicBool;

/// Engine in a folder that is removed with it.
fn sqlite(folder: &tempfile::TempDir) -> SqliteEngine {
    let place = folder.path().join("x.db");
    bourse_engine_sqlite::open(&format!("sqlite:{}?journal=wal&sync=off", place.display())).unwrap()
}

/// Transactions of each of four users.
const EACH: u64 = 5_000;

/// Figures of four times `each` transactions, and the checks that failed.
fn examined(engine: &dyn Engine, options: &[(&str, &str)], each: u64) -> (HistoryFigures, Vec<Check>) {
    let case = find("history").unwrap().plan(options.iter().copied()).unwrap();
    let never = AtomicBool::new(false);
    let timing = counted(each);
    let result = run_round(&case, engine, &timing, 7, &RealClock::start(), &never, &mut |_| {}).unwrap();
    assert!(result.fault.is_none(), "{:?}", result.fault);
    let failed = result.round.checks.into_iter().filter(|check| check.status == CheckStatus::Failed).collect();
    (result.round.history.unwrap(), failed)
}

#[test]
fn an_engine_that_keeps_its_promise_is_not_accused() {
    let folder = tempfile::tempdir().unwrap();
    let (figures, failed) = examined(&sqlite(&folder), &[], EACH);
    assert!(failed.is_empty() && !figures.is_broken, "{failed:?}");
    assert!(figures.committed > 19_000 && figures.rolled_back > 300, "{figures:?}");
    assert!(figures.overlapping > 1_000, "{} pairs overlapped", figures.overlapping);
}

/// Records a history of a kind, of which `files` are stored.
fn is_kept_and_stored(kind: &str, files: usize) {
    let folder = tempfile::tempdir().unwrap();
    let stored = folder.path().join(kind);
    let stored = stored.to_str().unwrap();
    let (figures, failed) = examined(&sqlite(&folder), &[("kind", kind), ("history", stored)], EACH / 4);
    assert!(failed.is_empty() && figures.overlapping > 100, "{kind}: {failed:?}, {figures:?}");
    assert_eq!(std::fs::read_dir(stored).unwrap().count(), files, "{kind}");
}

#[test]
fn a_history_of_appends_is_kept_and_stored() {
    is_kept_and_stored("append", 2);
}

#[test]
fn a_history_of_registers_is_kept_and_stored() {
    is_kept_and_stored("register", 2);
}

#[test]
fn a_history_of_ranges_is_kept_and_stored() {
    is_kept_and_stored("range", 1);
}

#[test]
fn a_history_of_a_bank_is_kept_and_stored() {
    is_kept_and_stored("bank", 1);
}

#[test]
fn a_history_of_counts_is_kept_and_stored() {
    is_kept_and_stored("count", 1);
}

/// Keys of the operations that use one row.
fn keys(transaction: &Transaction) -> impl Iterator<Item = u64> {
    transaction.operations.iter().filter_map(|operation| match operation.action {
        Action::Read { key, .. } | Action::Write { key, .. } => Some(key),
        _ => None,
    })
}

/// Pairs of transactions that overlapped on one of the many rows of a history, whose users work on few hot ones mostly.
fn pairs_on_cold_rows() -> usize {
    let folder = tempfile::tempdir().unwrap();
    let stored = folder.path().join("stored");
    examined(&sqlite(&folder), &[("kind", "register"), ("history", stored.to_str().unwrap())], EACH);
    let file = std::fs::read_dir(&stored).unwrap().map(|file| file.unwrap().path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|it| it == "json")).unwrap();
    let mut history = History::read(BufReader::new(File::open(file).unwrap())).unwrap();
    history.transactions.retain(|it| it.session != FINAL_SESSION);
    history.transactions.sort_by_key(|it| it.begin_ns);
    let (mut hot, mut others) = (0, BTreeMap::<u64, u32>::new());
    for transaction in &history.transactions {
        match keys(transaction).next().map(|key| (key - 1) / 6) {
            Some(0) => hot += 1,
            Some(group) => *others.entry(group).or_default() += 1,
            None => {}
        }
    }
    let cold: u32 = others.values().sum();
    assert!(hot > 2 * cold && others.len() == 99 && others.values().all(|count| *count > 10), "{hot}, {others:?}");
    let mut met = 0;
    for (at, one) in history.transactions.iter().enumerate() {
        let open = history.transactions[at + 1..].iter().take_while(|other| other.begin_ns < one.end_ns);
        met += open.filter(|other| keys(one).any(|key| key > 6 && keys(other).any(|it| it == key))).count();
    }
    met
}

#[test]
fn a_history_has_few_hot_rows_and_many_others_at_the_same_time() {
    // On a busy machine users may work one after the other for most of a history.
    let met: Vec<usize> = (0..10).map(|_| pairs_on_cold_rows()).take_while(|met| *met <= 20).collect();
    assert!(met.len() < 10, "{met:?} pairs of transactions overlapped on one of the many rows");
}
