//! A run over connections that fail, and the reconciliation after it.

use crate::check::reconciliation::RESULTS;
use crate::testkit::part;
use crate::transactions::Transaction;
use crate::users::{RunOptions, run, verify};
use bourse_driver::{RealClock, RoundPlan, SECOND};
use bourse_egen::Inputs;
use bourse_engine::Engine;
use bourse_record::{CheckStatus, Outcome};
use std::sync::atomic::{AtomicBool, Ordering};

/// Events of a run.
#[derive(Debug, Clone, Copy)]
pub struct FaultEvents {
    /// Transactions that were retried.
    pub retried: u64,
    /// Transactions that may or may not have been committed.
    pub in_doubt: u64,
    /// Transactions that lost their node.
    pub lost: u64,
}

/// Longest run, for a machine on which faults are rare because little is done.
const LONGEST_NS: u64 = 120 * SECOND;

/// Runs customers and market on the tests' database through `engine`, which reaches that of `owner` over several addresses and
/// fails on the way, until `is_enough`, and checks everything through `owner`: no transaction fails but those in doubt, and the
/// ledger agrees with the acknowledged changes.
pub fn stays_consistent_through_faults(
    engine: &dyn Engine,
    owner: &dyn Engine,
    is_enough: &dyn Fn() -> bool,
) -> FaultEvents {
    let (inputs, part) = (Inputs::builtin(), part());
    let plan = RoundPlan { warm_up_ns: 0, measure_ns: LONGEST_NS, ..RoundPlan::default() };
    let options = RunOptions { users: 4, market_users: 2, plan, ..RunOptions::new(part) };
    let clock = RealClock::start();
    let stop = AtomicBool::new(false);
    let ran =
        run(engine, &inputs, &options, &clock, &stop, &mut |_| stop.store(is_enough(), Ordering::Relaxed)).unwrap();
    assert!(ran.fault.is_none(), "{:?}", ran.fault);
    let operations = &ran.round.operations;
    let failed: u64 = operations
        .iter()
        .flat_map(|it| &it.outcomes)
        .filter(|it| it.outcome == Outcome::Failed)
        .map(|it| it.count)
        .sum();
    let in_doubt = Transaction::ALL.iter().map(|kind| ran.counted.ledger.entry(*kind as usize).in_doubt).sum();
    assert!(failed <= in_doubt, "{failed} failed, {in_doubt} in doubt: {operations:?}");
    assert!(ran.acknowledged.sure(RESULTS) > 20, "{:?}", ran.acknowledged);
    let lost = ran.round.conflicts.iter().find(|kind| kind.name == "node lost").map_or(0, |kind| kind.count);
    let retried = operations.iter().map(|it| it.retries).sum();
    let mut checks = ran.round.checks.clone();
    checks.extend(verify(owner, part, Some(&ran), &clock, &mut |_| {}).unwrap());
    let bad: Vec<_> = checks.iter().filter(|check| check.status == CheckStatus::Failed).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    FaultEvents { retried, in_doubt, lost }
}
