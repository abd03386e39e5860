//! Round trips of the transactions on one session.

use crate::transactions::{Context, Request, Retry, TradeIds, Transaction, perform};
use bourse_egen::Inputs;
use bourse_egen::driver::{CustomerConfig, CustomerEmulator, Database, MarketConfig, MarketExchange};
use bourse_egen::txn::TradeRequest;
use bourse_engine::{Engine, Session};
use bourse_schema::{Date, Timestamp};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

/// Number of transactions and their total round trips, by kind.
pub type RoundTrips = BTreeMap<Transaction, (u64, u64)>;

/// Performs `requests` customers' requests on the tests' database, which is loaded, and the transactions that follow from them
/// at the market. The first half prepares statements and is not counted.
pub fn round_trips(engine: &dyn Engine, requests: u32) -> RoundTrips {
    let inputs = Inputs::builtin();
    let database = Database::of(1_000, 500, 1);
    let mut session = engine.session().unwrap();
    let mut customers = CustomerEmulator::new(&inputs, &CustomerConfig::of(database), 1, 2).unwrap();
    let start = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
    let mut market = MarketExchange::new(&inputs, &MarketConfig::after(&database), 4, 5, start);
    let ids = TradeIds::starting_at(database.first_free_trade());
    let (sent, mut counted) = (RefCell::new(Vec::new()), RoundTrips::new());
    for n in 0..requests {
        let now = Timestamp::from_millis(start.millis() + i64::from(n) * 50);
        let mut asked: VecDeque<Request> = VecDeque::from([customers.next().into()]);
        while let Some(request) = asked.pop_front() {
            let trips = perform_one(&mut *session, &ids, now, &sent, &request);
            if n >= requests / 2 {
                let (transactions, all) = counted.entry(request.transaction()).or_default();
                (*transactions, *all) = (*transactions + 1, *all + trips);
            }
            for order in sent.take() {
                market.submit(now, &order, &mut |answer| asked.push_back(answer.into())).unwrap();
            }
            market.generate(now, &mut |answer| asked.push_back(answer.into()));
        }
    }
    counted
}

/// Performs a transaction and returns its round trips.
fn perform_one(
    session: &mut dyn Session,
    trade_ids: &TradeIds,
    now: Timestamp,
    sent: &RefCell<Vec<TradeRequest>>,
    request: &Request,
) -> u64 {
    let context = Context {
        now: &|| now,
        trade_ids,
        market: &|order: &TradeRequest| sent.borrow_mut().push(*order),
        retry: Retry { attempts: 1, back_off: &|_| true },
    };
    let before = session.round_trips().unwrap();
    perform(session, &context, request).unwrap_or_else(|error| panic!("{error}"));
    session.round_trips().unwrap() - before
}

/// Checks that each transaction with frames of several statements has fewer round trips with routines, and none has
/// more.
pub fn assert_fewer(plain: &RoundTrips, routines: &RoundTrips) {
    let mean = |counted: &RoundTrips, kind: Transaction| {
        counted.get(&kind).map(|(transactions, all)| *all as f64 / *transactions as f64)
    };
    let mut compared = 0;
    for kind in Transaction::ALL {
        let (Some(before), Some(after)) = (mean(plain, kind), mean(routines, kind)) else { continue };
        compared += 1;
        match kind {
            Transaction::BrokerVolume | Transaction::MarketWatch => {
                assert!(after <= before, "{kind}: {before} {after}")
            }
            _ => assert!(after < before, "{kind}: {before} {after}"),
        }
    }
    assert!(compared >= 9, "{plain:?} {routines:?}");
}
