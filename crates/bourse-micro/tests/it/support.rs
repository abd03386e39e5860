//! Helpers that run a round and examine the database it left.

use bourse_driver::{MS, RealClock};
use bourse_engine::{Engine, RowExt as _};
use bourse_micro::{RoundResult, TimedOperations, Timing, find, run_round};
use bourse_record::{CheckStatus, Operation, Outcome};
use std::sync::atomic::AtomicBool;

pub(crate) const TIMING: Timing = Timing {
    warm_up_ns: 5 * MS,
    measure_ns: Some(300 * MS),
    count: None,
    timed: TimedOperations::Batched,
    open_loop: None,
    statements: false,
};
pub(crate) const WHOLE: Timing = Timing {
    warm_up_ns: 0,
    measure_ns: None,
    count: None,
    timed: TimedOperations::Batched,
    open_loop: None,
    statements: false,
};

pub(crate) fn counted(count: u64) -> Timing {
    Timing {
        warm_up_ns: 0,
        measure_ns: None,
        count: Some(count),
        timed: TimedOperations::Batched,
        open_loop: None,
        statements: false,
    }
}

pub(crate) fn sqlite() -> impl Engine {
    bourse_engine_sqlite::open("sqlite::memory:").unwrap()
}

pub(crate) fn run(engine: &dyn Engine, name: &str, options: &[(&str, &str)], timing: Timing) -> RoundResult {
    let case = find(name).unwrap().plan(options.iter().copied()).unwrap();
    assert_eq!(case.lacking(&engine.capabilities()), [""; 0]);
    let never = AtomicBool::new(false);
    let round = || run_round(&case, engine, &timing, 7, &RealClock::start(), &never, &mut |_| {}).unwrap();
    // On a busy machine two threads may work one after the other, which tests nothing of their isolation.
    let is_tested =
        |result: &RoundResult| result.round.checks.iter().all(|check| check.status != CheckStatus::NotApplicable);
    let result = std::iter::repeat_with(round).take(10).find(is_tested).expect("one round of ten tests what it checks");
    assert!(result.fault.is_none() && !result.interrupted, "{:?}", result.fault);
    for check in &result.round.checks {
        assert_eq!(check.status, CheckStatus::Passed, "{name}: {}: {}", check.condition, check.evidence);
    }
    for operation in &result.round.operations {
        let bad = operation.outcomes.iter().find(|outcome| outcome.outcome != Outcome::Completed);
        assert!(bad.is_none(), "{name}: {bad:?}");
    }
    result
}

pub(crate) fn operation<'r>(result: &'r RoundResult, name: &str) -> &'r Operation {
    result.round.operations.iter().find(|operation| operation.name == name).unwrap()
}

pub(crate) fn fact<'r>(result: &'r RoundResult, name: &str) -> &'r str {
    &result.round.facts.iter().find(|fact| fact.name == name).unwrap_or_else(|| panic!("no fact {name}")).value
}

pub(crate) fn number(engine: &dyn Engine, sql: &str) -> i64 {
    let mut found = -1;
    let each = &mut |row: &dyn bourse_engine::Row| {
        found = row.get(0)?;
        Ok(())
    };
    engine.session().unwrap().query_text(sql, &[], each).unwrap();
    found
}

/// Number of checks of the database.
pub(crate) fn of_database(result: &RoundResult) -> usize {
    result.round.checks.iter().filter(|check| check.is_of_database()).count()
}
