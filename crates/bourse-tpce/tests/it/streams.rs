//! The emulators' streams on a loaded database, one after the other and in simulated time: all transactions work together,
//! and the reconciliation with the acknowledged commits holds.

use crate::loaded::{Copy, inputs, part};
use bourse_egen::driver::{
    CustomerConfig, CustomerEmulator, Database, MaintenanceEmulator, MarketConfig, MarketExchange,
};
use bourse_egen::txn::{MarketRequest, TradeRequest};
use bourse_engine::{Engine as _, Session};
use bourse_oltp::check::contents;
use bourse_oltp::check::ledger::{Ledger, Totals};
use bourse_schema::{Date, Timestamp};
use bourse_tpce::check::reconciliation::{GROWTHS, LIMITS, ORDERS, PRICES, RESULTS, SHARES, VOLUME, committed};
use bourse_tpce::check::{Depth, check, first_trade};
use bourse_tpce::load::{ExistingDatabase, identify, part_of};
use bourse_tpce::transactions::{Context, Request, Retry, Status, TradeIds, Transaction, perform};
use bourse_tpce::workload::{Tpce, size_of};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

/// Status codes that a database of one day explains: few trades of an account, a window without trades.
const SHORT_DATABASE: [i32; 4] = [-221, -911, 621, 1_021];

struct Run<'a> {
    session: Box<dyn Session>,
    now: Cell<i64>,
    trade_ids: TradeIds,
    sent: RefCell<Vec<TradeRequest>>,
    market: MarketExchange<'a>,
    outcomes: BTreeMap<(Transaction, Status), u64>,
    told: Ledger,
}

impl Run<'_> {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now.get())
    }

    fn perform(&mut self, request: &Request) {
        let context = Context {
            now: &|| Timestamp::from_millis(self.now.get()),
            trade_ids: &self.trade_ids,
            market: &|order: &TradeRequest| self.sent.borrow_mut().push(*order),
            retry: Retry { attempts: 1, back_off: &|_| true },
        };
        let done = perform(&mut *self.session, &context, request).unwrap_or_else(|error| panic!("{error}"));
        let status = done.output.status();
        if status == Status::SUCCESS {
            committed(&mut self.told, request);
        }
        *self.outcomes.entry((request.transaction(), status)).or_default() += 1;
    }

    /// Sends orders to the market and performs its requests, until there are none.
    fn serve_market(&mut self) {
        let mut answers: VecDeque<MarketRequest> = VecDeque::new();
        loop {
            let now = self.now();
            for order in self.sent.take() {
                self.market.submit(now, &order, &mut |answer| answers.push_back(answer)).expect("known symbols");
            }
            self.market.generate(now, &mut |answer| answers.push_back(answer));
            let Some(answer) = answers.pop_front() else { return };
            self.perform(&answer.into());
        }
    }

    fn count(&self, transaction: Transaction) -> u64 {
        self.outcomes.iter().filter(|((kind, _), _)| *kind == transaction).map(|(_, count)| count).sum()
    }
}

#[test]
fn thousands_of_transactions_keep_the_books() {
    let copy = Copy::new("streams.db");
    let mut session = copy.engine.session().expect("connects");
    let ExistingDatabase::Matches(found) = identify(&copy.engine).expect("identifies") else { panic!("not ours") };
    let database = Database::of(1_000, 500, 1);
    let mut customers =
        CustomerEmulator::new(inputs(), &CustomerConfig::of(database), 1, 2).expect("a valid configuration");
    let mut maintenance = MaintenanceEmulator::new(inputs(), database, 3).expect("a valid database");
    let start = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
    let market = MarketExchange::new(inputs(), &MarketConfig::after(&database), 4, 5, start);
    let trade_ids = TradeIds::following(&mut *session, first_trade(part_of(&found.fingerprint))).expect("asks");
    let before = GROWTHS.before(&mut *session).expect("takes");
    let mut run = Run {
        session,
        now: Cell::new(start.millis()),
        trade_ids,
        sent: RefCell::default(),
        market,
        outcomes: BTreeMap::new(),
        told: Ledger::default(),
    };
    for n in 0..4_000 {
        run.now.set(run.now.get() + 50);
        run.perform(&customers.next().into());
        run.serve_market();
        if n % 150 == 0 {
            run.perform(&maintenance.next().into());
        }
    }

    let errors: Vec<_> = run
        .outcomes
        .iter()
        .filter(|((_, status), _)| *status != Status::SUCCESS && *status != Status::ROLLED_BACK)
        .filter(|((_, status), _)| !SHORT_DATABASE.contains(&status.code()))
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    for transaction in Transaction::ALL {
        let least = if transaction == Transaction::TradeCleanup { 0 } else { 20 };
        assert!(run.count(transaction) >= least, "{transaction}: {:?}", run.outcomes);
    }
    assert!(run.told.sure(RESULTS) > 200, "{:?}", run.told);
    assert!(run.outcomes.contains_key(&(Transaction::TradeOrder, Status::ROLLED_BACK)));

    assert_sound(&mut run, &before);
    let cleanup = maintenance.trade_cleanup();
    assert_eq!(cleanup.start_trade_id, first_trade(part_of(&found.fingerprint)));
    run.perform(&cleanup.into());
    assert_sound(&mut run, &before);
    let ExistingDatabase::Matches(found) = identify(&copy.engine).expect("identifies") else { panic!("not ours") };
    assert_eq!(found.gained, run.told.sure(ORDERS));
}

fn assert_sound(run: &mut Run<'_>, before: &Totals) {
    let mut results = check(&mut *run.session, part(), &mut |_| {}).expect("checks");
    results.extend(GROWTHS.compare(&mut *run.session, before, &run.told).expect("compares"));
    let failed: Vec<_> = results.iter().filter(|checked| !checked.passed()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_lasting(run);

    // One acknowledgement, share or cent too many or too few is noticed.
    for (at, change, names) in [
        (RESULTS, -1, &["results", "settlements"][..]),
        (RESULTS, 1, &["results", "settlements"]),
        (SHARES, 1, &["shares ordered"]),
        (LIMITS, 1, &["limit prices, cents"]),
        (PRICES, -1, &["trade prices, cents"]),
        (VOLUME, 1, &["volume"]),
    ] {
        let mut told = run.told.clone();
        told.add(at, change);
        let books = GROWTHS.compare(&mut *run.session, before, &told).expect("compares");
        let failed: Vec<_> = books.iter().filter(|checked| !checked.passed()).map(|checked| &checked.name).collect();
        assert_eq!(failed, names);
    }
    let mut doubtful = run.told.clone();
    doubtful.add(RESULTS, -1);
    doubtful.doubt(RESULTS, 1);
    let books = GROWTHS.compare(&mut *run.session, before, &doubtful).expect("compares");
    assert!(books.iter().all(bourse_tpce::check::CheckResult::passed));
}

/// Checks that the twelve transactions left the lasting rows as generated.
fn assert_lasting(run: &mut Run<'_>) {
    let mut compared = 0;
    contents::check(&mut *run.session, &Tpce, &size_of(part()), Depth::Full, &mut |checked| {
        assert!(checked.passed() && checked.not_run.is_none(), "{checked:#?}");
        compared += 1;
        Ok(())
    })
    .expect("compares");
    assert_eq!(compared, 30);
}
