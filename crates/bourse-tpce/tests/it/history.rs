//! Recorded histories of runs: kept by SQLite, and broken by engines that break their promise on purpose.

use crate::loaded::{Copy, engine, inputs, path};
use crate::runs::options;
use bourse_driver::{RealClock, SECOND};
use bourse_egen::driver::{Mix, Tunables};
use bourse_engine::Engine;
use bourse_engine_sqlite::SqliteEngine;
use bourse_record::{Check, CheckStatus, HistoryFigures};
use bourse_testkit::{HitStatements, Misbehaving};
use bourse_tpce::users::{HistoryOptions, OptionsError, RunOptions, run};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Figures and check of the history of some 5,000 transactions: orders, of which every fifth is rolled back, their results,
/// and what customers read of them.
fn examined(engine: &dyn Engine, folder: Option<PathBuf>) -> (HistoryFigures, Check) {
    let mix = Mix { customer_position: 100, trade_order: 101, trade_status: 100, ..Mix::NONE };
    let mut tunables = Tunables { mix, ..Tunables::default() };
    tunables.trade_order.roll_back = 20;
    let history = Some(HistoryOptions { folder });
    let options = RunOptions { users: 4, market_users: 2, tunables, history, ..options(0, 60 * SECOND) };
    let (enough, mut seen) = (AtomicBool::new(false), 0.0);
    let ran = run(engine, inputs(), &options, &RealClock::start(), &enough, &mut |now| {
        seen += now.throughput.iter().sum::<f64>();
        enough.store(seen > 5_000.0, Ordering::Relaxed);
    });
    let round = ran.unwrap().round;
    assert!(round.facts.iter().any(|fact| fact.name == "history"));
    let check = round.checks.into_iter().find(|check| check.name == "isolation");
    (round.history.unwrap(), check.unwrap())
}

#[test]
fn an_engine_that_keeps_its_promise_is_not_accused_and_its_history_is_stored() {
    let (copy, folder) = (Copy::new("history.db"), path("history"));
    let _ = std::fs::remove_dir_all(&folder);
    let (figures, check) = examined(&copy.engine, Some(folder.clone()));
    assert!(check.status != CheckStatus::Failed && !figures.is_broken, "{check:?} {figures:#?}");
    assert!(figures.committed > 2_000 && figures.rolled_back > 50, "{figures:?}");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["tpce-sqlite-7.edn", "tpce-sqlite-7.json"]);
}

#[test]
fn every_planted_bug_is_found() {
    type Spoil = fn(SqliteEngine) -> Box<dyn Engine>;
    let bugs: [(&str, Spoil, &[&str]); 4] = [
        (
            "a balance that is not changed",
            |it| Box::new(Misbehaving::dropping(it, HitStatements::Every(20)).only("UPDATE customer_account")),
            &["garbage-read"],
        ),
        ("a lost commit", |it| Box::new(Misbehaving::losing(it, HitStatements::Every(10))), &["lost-update"]),
        ("a dirty read after a rollback", |it| Box::new(Misbehaving::keeping(it, HitStatements::Every(2))), &["G1a"]),
        ("a fractured read", |it| Box::new(Misbehaving::stale(it, HitStatements::Every(2))), &["G-single-item"]),
    ];
    for (name, spoil, anomalies) in bugs {
        // Some bugs show only in transactions that overlap, of which a busy machine may make few.
        let found = (0..5).find_map(|_| {
            let _copy = Copy::new("planted.db");
            let (figures, check) = examined(&*spoil(engine("planted.db")), None);
            let of = |anomaly: &&str| figures.anomalies.iter().find(|it| it.is_excluded && it.name.contains(anomaly));
            let found: Option<Vec<_>> = anomalies.iter().map(of).map(Option::<&_>::cloned).collect();
            let found = found?;
            assert_eq!(check.status, CheckStatus::Failed, "{name}: {figures:?}");
            Some(found)
        });
        for anomaly in found.unwrap_or_else(|| panic!("{name}: not found in five rounds")) {
            let tells = |word| anomaly.story.iter().any(|line: &String| line.contains(word));
            assert!(["Trade-", "account", "trade "].into_iter().any(tells), "{anomaly:#?}");
        }
    }
}

#[test]
fn a_part_of_the_users_records_no_history() {
    let options = RunOptions { processes: 2, history: Some(HistoryOptions::default()), ..options(0, SECOND) };
    assert!(matches!(options.check(), Err(OptionsError::HistoryInParts)), "{:?}", options.check());
}
