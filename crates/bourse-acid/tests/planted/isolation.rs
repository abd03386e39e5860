//! Engines that break their isolation on purpose, examined by the workload of `bourse isolation`.

use crate::detectors::{Found, Length, short};
use bourse_driver::RealClock;
use bourse_engine::{Access, Engine};
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_micro::{TimedOperations, Timing, find, run_round};
use bourse_oltp::planted::{BrokenPart, Bug};
use bourse_record::{CheckStatus, HistoryFigures};
use bourse_testkit::{HitStatements, Misbehaving};
use std::sync::atomic::AtomicBool;

/// Bugs of engines; each is one of the engine that the workload gets.
pub(crate) static BUGS: &[Bug] = &[
    promise("StaleSnapshot", "queries of a transaction that only reads return rows of an earlier one (1 of 20)"),
    promise("ReadLockDropped", "a transaction begins with its first change: its reads before lock nothing (1 of 100)"),
    promise("UpdateLost", "a change is reported as made, and is not (1 of 10,000)"),
    promise("RollbackCommits", "a roll-back commits: others read what was undone (1 of 20)"),
    promise("FracturedRead", "each query of a transaction that only reads sees another moment (1 of 20)"),
];

const fn promise(name: &'static str, words: &'static str) -> Bug {
    Bug::new(name, BrokenPart::Promise, words)
}

/// The engine with a bug; without one if it has no such name.
fn with_bug(name: &str, engine: SqliteEngine) -> Box<dyn Engine> {
    let every = HitStatements::Every;
    match name {
        "StaleSnapshot" => Box::new(Misbehaving::stale(engine, every(20))),
        "ReadLockDropped" => Box::new(Misbehaving::late(engine, every(100), Access::Write)),
        "UpdateLost" => Box::new(Misbehaving::dropping(engine, every(10_000))),
        "RollbackCommits" => Box::new(Misbehaving::keeping(engine, every(20))),
        "FracturedRead" => Box::new(Misbehaving::late(engine, every(20), Access::Read)),
        _ => Box::new(engine),
    }
}

/// Transactions of each of the four users with one seed. Six rounds of three seconds, the default of `bourse isolation`, have
/// more of them.
const EACH: u64 = 5_000;

/// Finding of the workload for a bug: caught with every seed, or shown with some of them.
pub(crate) fn found(name: &str, length: Length) -> Found {
    let seeds = 1..=length.seeds;
    let caught: Vec<String> = seeds.clone().filter_map(|seed| examined(name, seed)).collect();
    match (caught.first(), caught.len() as u64) {
        (None, _) => Found::Silent,
        (Some(first), 1) if length.seeds == 1 => Found::Caught(first.clone()),
        (Some(first), all) if all == length.seeds => Found::Caught(format!("{first}, {all} of {all} seeds")),
        (Some(first), some) => Found::Shown(format!("{first}, {some} of {} seeds", length.seeds)),
    }
}

/// First check that fails, if one does; the anomalies are printed.
fn examined(name: &str, seed: u64) -> Option<String> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let target = format!("sqlite:{}?journal=wal&sync=off", folder.path().join("x.db").display());
    let engine = with_bug(name, open(&target).expect("a valid target"));
    let case = find("history").expect("a workload").plan([]).expect("without options");
    let timing = Timing {
        warm_up_ns: 0,
        measure_ns: None,
        count: Some(EACH),
        timed: TimedOperations::Batched,
        open_loop: None,
        statements: false,
    };
    let (clock, never) = (RealClock::start(), AtomicBool::new(false));
    let ran = run_round(&case, &*engine, &timing, seed, &clock, &never, &mut |_| {}).expect("it begins");
    assert!(ran.fault.is_none(), "{name}: {:?}", ran.fault);
    let failed = ran.round.checks.iter().find(|check| check.status == CheckStatus::Failed)?;
    let excluded = |it: &HistoryFigures| {
        let names = it.anomalies.iter().filter(|it| it.is_excluded).map(|it| it.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let anomalies = ran.round.history.as_ref().map(excluded).unwrap_or_default();
    Some(short(&failed.name, &format!("{name}, seed {seed}: {anomalies}")))
}
