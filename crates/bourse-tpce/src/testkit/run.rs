//! The workload on one thread in simulated time: loaded, run by the emulators, checked and reconciled.

use crate::check::reconciliation::{GROWTHS, RESULTS, committed};
use crate::check::{check, first_trade};
use crate::load::{Constraints, ExistingDatabase, identify, part_of};
use crate::testkit::{load_small, part};
use crate::transactions::{Context, Retry, Status, TradeIds, Transaction, perform};
use crate::verify::{Step, Stream};
use crate::workload::Tpce;
use bourse_egen::Inputs;
use bourse_egen::driver::Database;
use bourse_egen::txn::TradeRequest;
use bourse_engine::{Engine, Session};
use bourse_oltp::check::ledger::Ledger;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Status codes that a database of one day explains: few trades of an account, a window without trades.
const SHORT_DATABASE: [i32; 4] = [-221, -911, 621, 1_021];

/// Customers' requests in a simulated second: so few that even a short run has maintenance.
const PER_SECOND: u32 = 2;

/// Size of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunSize {
    /// Transactions of customers, market and maintenance.
    pub transactions: usize,
    /// Minimum number of resulting Trade-Results, exclusive.
    pub results: u64,
    /// Number of sessions, which are used in turn.
    pub sessions: usize,
}

/// Loads a small database, performs the workload on it, and checks and reconciles the result. `plans` examines the
/// loaded database before the run.
pub fn run_and_check(engine: &dyn Engine, run: RunSize, plans: impl FnOnce(&mut dyn Session)) {
    load_small(engine, &Inputs::builtin());
    run_loaded_and_check(engine, run, plans);
}

/// [`run_and_check`] on the tests' database, which is loaded.
pub fn run_loaded_and_check(engine: &dyn Engine, run: RunSize, plans: impl FnOnce(&mut dyn Session)) {
    let (inputs, part) = (Inputs::builtin(), part());
    let mut sessions: Vec<_> = (0..run.sessions).map(|_| engine.session().unwrap()).collect();
    plans(&mut *sessions[0]);

    let ExistingDatabase::Matches(found) = identify(engine).unwrap() else { panic!("not ours") };
    let mut stream = Stream::new(&inputs, Database::of(1_000, 500, 1), 1, PER_SECOND).unwrap();
    let trade_ids = TradeIds::following(&mut *sessions[0], first_trade(part_of(&found.fingerprint))).unwrap();
    let before = GROWTHS.before(&mut *sessions[0]).unwrap();
    let mut outcomes: BTreeMap<(Transaction, Status), u64> = BTreeMap::new();
    let mut acknowledged = Ledger::default();
    for turn in 0..=run.transactions {
        let Step { now, request, .. } = if turn < run.transactions { stream.next_step() } else { stream.cleanup() };
        let sent: RefCell<Vec<TradeRequest>> = RefCell::default();
        let context = Context {
            now: &|| now,
            trade_ids: &trade_ids,
            market: &|order: &TradeRequest| sent.borrow_mut().push(*order),
            retry: Retry { attempts: 1, back_off: &|_| true },
        };
        let session = &mut *sessions[turn % run.sessions];
        let done = perform(session, &context, &request).unwrap_or_else(|error| panic!("{error}"));
        stream.send(&sent.take()).unwrap();
        let status = done.output.status();
        if status == Status::SUCCESS {
            committed(&mut acknowledged, &request);
        }
        *outcomes.entry((request.transaction(), status)).or_default() += 1;
    }

    let unexplained: Vec<_> = outcomes
        .keys()
        .filter(|(_, status)| *status != Status::SUCCESS && *status != Status::ROLLED_BACK)
        .filter(|(_, status)| !SHORT_DATABASE.contains(&status.code()))
        .collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
    for transaction in Transaction::ALL {
        assert!(outcomes.keys().any(|(kind, _)| *kind == transaction), "{transaction}: {outcomes:?}");
    }
    assert!(acknowledged.sure(RESULTS) > run.results, "{acknowledged:?}");
    let session = &mut *sessions[0];
    let mut results = check(session, part, &mut |_| {}).unwrap();
    results.extend(GROWTHS.compare(session, &before, &acknowledged).unwrap());
    assert!(results.iter().all(|checked| checked.not_run.is_none()));
    let compared = bourse_oltp::check::schema::check(session, &Tpce, Constraints::Full).unwrap();
    let has_catalog = !matches!(session.dialect().catalog, bourse_schema::Catalog::Unknown);
    assert_eq!(compared.not_run.is_none(), has_catalog, "the schema is compared where the catalog can be read");
    results.extend(Some(compared).filter(|_| has_catalog));
    // Not every engine has a check of its own.
    results.push(crate::check::integrity(engine).unwrap());
    let failed: Vec<_> = results.iter().filter(|checked| !checked.passed()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}
