//! The workload on one thread in simulated time: loaded, run by the emulators, checked and reconciled.

use crate::check::reconciliation::{AcknowledgedCommits, TotalsSnapshot};
use crate::check::{check, first_trade};
use crate::load::{Constraints, ExistingDatabase, identify, part_of};
use crate::testkit::{load_small, part};
use crate::transactions::{Context, Request, Retry, Status, TradeIds, Transaction, perform};
use crate::workload::Tpce;
use bourse_egen::Inputs;
use bourse_egen::driver::{
    CustomerConfig, CustomerEmulator, Database, MaintenanceEmulator, MarketConfig, MarketExchange,
};
use bourse_egen::txn::{MarketRequest, TradeRequest};
use bourse_engine::{Engine, Session};
use bourse_schema::{Date, Timestamp};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

/// Status codes that a database of one day explains: few trades of an account, a window without trades.
const SHORT_DATABASE: [i32; 4] = [-221, -911, 621, 1_021];

/// Size of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunSize {
    /// Customers' requests; those of market and maintenance come in addition.
    pub requests: u32,
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
    let database = Database::of(1_000, 500, 1);
    let mut customers = CustomerEmulator::new(&inputs, &CustomerConfig::of(database), 1, 2).unwrap();
    let mut maintenance = MaintenanceEmulator::new(&inputs, database, 3).unwrap();
    let start = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
    let mut market = MarketExchange::new(&inputs, &MarketConfig::after(&database), 4, 5, start);
    let trade_ids = TradeIds::following(&mut *sessions[0], first_trade(part_of(&found.fingerprint))).unwrap();
    let before = TotalsSnapshot::take(&mut *sessions[0]).unwrap();
    let now = Cell::new(start.millis());
    let sent: RefCell<Vec<TradeRequest>> = RefCell::default();
    let mut outcomes: BTreeMap<(Transaction, Status), u64> = BTreeMap::new();
    let mut acknowledged = AcknowledgedCommits::default();
    let mut turn = 0;
    let mut perform_next = |request: &Request| {
        let context = Context {
            now: &|| Timestamp::from_millis(now.get()),
            trade_ids: &trade_ids,
            market: &|order: &TradeRequest| sent.borrow_mut().push(*order),
            retry: Retry { attempts: 1, back_off: &|_| true },
        };
        turn += 1;
        let session = &mut *sessions[turn % run.sessions];
        let done = perform(session, &context, request).unwrap_or_else(|error| panic!("{error}"));
        let status = done.output.status();
        if status == Status::SUCCESS {
            acknowledged.committed(request);
        }
        *outcomes.entry((request.transaction(), status)).or_default() += 1;
    };
    for n in 0..run.requests {
        now.set(now.get() + 50);
        perform_next(&customers.next().into());
        let mut answers: VecDeque<MarketRequest> = VecDeque::new();
        loop {
            let moment = Timestamp::from_millis(now.get());
            for order in sent.take() {
                market.submit(moment, &order, &mut |answer| answers.push_back(answer)).unwrap();
            }
            market.generate(moment, &mut |answer| answers.push_back(answer));
            let Some(answer) = answers.pop_front() else { break };
            perform_next(&answer.into());
        }
        if n % 100 == 0 {
            perform_next(&maintenance.next().into());
        }
    }
    perform_next(&maintenance.trade_cleanup().into());

    let unexplained: Vec<_> = outcomes
        .keys()
        .filter(|(_, status)| *status != Status::SUCCESS && *status != Status::ROLLED_BACK)
        .filter(|(_, status)| !SHORT_DATABASE.contains(&status.code()))
        .collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
    for transaction in Transaction::ALL {
        assert!(outcomes.keys().any(|(kind, _)| *kind == transaction), "{transaction}: {outcomes:?}");
    }
    assert!(acknowledged.results > run.results, "{acknowledged:?}");
    let session = &mut *sessions[0];
    let mut results = check(session, part, &mut |_| {}).unwrap();
    results.extend(before.compare(session, &acknowledged).unwrap());
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
