//! TPC-E on databases of the Java virtual machine: loaded, run by the emulators in simulated time, and checked.

use crate::in_memory;
use bourse_egen::driver::{
    CustomerConfig, CustomerEmulator, Database, MaintenanceEmulator, MarketConfig, MarketExchange,
};
use bourse_egen::txn::{MarketRequest, TradeRequest};
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine as _, Session};
use bourse_engine_jdbc::JdbcEngine;
use bourse_schema::{Date, Timestamp};
use bourse_tpce::check::check;
use bourse_tpce::check::reconciliation::{Acknowledged, Snapshot};
use bourse_tpce::load::{Constraints, Existing, LoadOptions, identify, load};
use bourse_tpce::transactions::{Context, Output, Request, Retry, Status, TradeIds, Transaction, perform};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

/// What a database of one day explains: few trades of an account, a window without trades.
const SHORT_DATABASE: [i32; 4] = [-221, -911, 621, 1_021];

#[test]
fn the_workload_runs_and_reconciles() {
    if let Some(engine) = in_memory("jdbc+hsqldb", "tpce::the_workload_runs_and_reconciles", "") {
        run_and_check(&engine, true);
    }
}

fn run_and_check(engine: &JdbcEngine, has_no_catalog: bool) {
    let inputs = Inputs::builtin();
    let part = Part::whole(1_000, 1).unwrap();
    let report = load(engine, &inputs, part, &LoadOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(report.rows.len(), 33);
    let mut session = engine.session().unwrap();

    let Existing::Matches(found) = identify(engine).unwrap() else { panic!("not ours") };
    let database = Database::of(1_000, 500, 1);
    let mut customers = CustomerEmulator::new(&inputs, &CustomerConfig::of(database), 1, 2).unwrap();
    let mut maintenance = MaintenanceEmulator::new(&inputs, database, 3).unwrap();
    let start = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
    let mut market = MarketExchange::new(&inputs, &MarketConfig::after(&database), 4, 5, start);
    let trade_ids = TradeIds::following(&mut *session, found.first_free_trade()).unwrap();
    let before = Snapshot::take(&mut *session).unwrap();
    let now = Cell::new(start.millis());
    let sent: RefCell<Vec<TradeRequest>> = RefCell::default();
    let mut outcomes: BTreeMap<(Transaction, Status), u64> = BTreeMap::new();
    let mut told = Acknowledged::default();
    let mut run = |session: &mut dyn Session, request: &Request| {
        let context = Context {
            now: &|| Timestamp::from_millis(now.get()),
            trade_ids: &trade_ids,
            market: &|order: &TradeRequest| sent.borrow_mut().push(*order),
            retry: Retry { attempts: 1, back_off: &|_| {} },
        };
        let done = perform(session, &context, request).unwrap_or_else(|error| panic!("{error}"));
        let status = done.output.status();
        match done.output {
            Output::TradeOrder(_) if status == Status::SUCCESS => told.orders += 1,
            Output::TradeResult(_) if status == Status::SUCCESS => told.results += 1,
            _ => {}
        }
        *outcomes.entry((request.transaction(), status)).or_default() += 1;
    };
    for n in 0..600 {
        now.set(now.get() + 50);
        run(&mut *session, &customers.next().into());
        let mut answers: VecDeque<MarketRequest> = VecDeque::new();
        loop {
            let moment = Timestamp::from_millis(now.get());
            for order in sent.take() {
                market.submit(moment, &order, &mut |answer| answers.push_back(answer)).unwrap();
            }
            market.generate(moment, &mut |answer| answers.push_back(answer));
            let Some(answer) = answers.pop_front() else { break };
            run(&mut *session, &answer.into());
        }
        if n % 100 == 0 {
            run(&mut *session, &maintenance.next().into());
        }
    }
    run(&mut *session, &maintenance.trade_cleanup().into());

    let unexplained: Vec<_> = outcomes
        .keys()
        .filter(|(_, status)| *status != Status::SUCCESS && *status != Status::ROLLED_BACK)
        .filter(|(_, status)| !SHORT_DATABASE.contains(&status.code()))
        .collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
    for transaction in Transaction::ALL {
        assert!(outcomes.keys().any(|(kind, _)| *kind == transaction), "{transaction}: {outcomes:?}");
    }
    assert!(told.results > 20, "{told:?}");
    let mut results = check(&mut *session, part, &mut |_| {}).unwrap();
    results.extend(before.compare(&mut *session, &told).unwrap());
    results.push(bourse_tpce::check::schema::check(&mut *session, Constraints::Full).unwrap());
    let not_run = results.iter().filter(|checked| checked.not_run.is_some()).count();
    // The schema is compared where the catalog is read.
    assert_eq!(not_run, usize::from(has_no_catalog), "{results:?}");
    let failed: Vec<_> = results.iter().filter(|checked| !checked.passed()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}
