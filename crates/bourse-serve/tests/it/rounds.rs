//! Rounds that several drivers share, and drivers that vanish.

use crate::world::{Database, assert_sound, call, inputs, options, part, serve, terms, wait_for};
use bourse_driver::{RealClock, RoundPlan, SECOND};
use bourse_egen::txn::{CustomerRequest, TradeOrder};
use bourse_engine::{Engine, ErrorKind, NullEngine, Session, Wrapper};
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::sut::{Connector, RunError, Share, Sut, Terms};
use bourse_record::{CheckStatus, Outcome, SplitMix};
use bourse_serve::{Address, ServeError, ServerOptions};
use bourse_testkit::{HitStatements, Misbehaving};
use bourse_tpce::check::reconciliation::{ORDERS, RESULTS, committed};
use bourse_tpce::transactions::{Request, Transaction, TxnError};
use bourse_tpce::users::{RunOptions, RunResult, run_on};
use bourse_tpce::workload::Tpce;
use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Drives a whole round: customers, market, maintenance.
fn drive(address: &Address, number: u32, of: u32) -> (RunResult, Result<bourse_serve::client::RoundEnd, ServeError>) {
    let remote = call(address);
    let plan = RoundPlan { warm_up_ns: SECOND / 2, measure_ns: 2 * SECOND, ..RoundPlan::default() };
    let share = Share::new(number, of).expect("a driver");
    let options = RunOptions { users: 1, share, plan, seed: 5, ..RunOptions::new(part()) };
    let ran = run_on(&remote.sut(), inputs(), &options, &RealClock::start(), &NEVER, &mut |_| {}).expect("runs");
    let end = remote.close(&ran.acknowledged);
    (ran, end)
}

/// Trade-Order drawn by the emulator.
fn order(seed: u64) -> TradeOrder {
    let database = bourse_egen::driver::Database::of(1_000, 500, 1);
    let config = bourse_egen::driver::CustomerConfig::of(database);
    let mut emulator =
        bourse_egen::driver::CustomerEmulator::new(inputs(), &config, seed, seed + 1).expect("a valid database");
    loop {
        if let CustomerRequest::TradeOrder(order) = emulator.next()
            && !order.roll_it_back
        {
            return order;
        }
    }
}

fn perform(connector: &mut Connector<Tpce>, request: &Request) -> Result<(), TxnError> {
    let clock = RealClock::start();
    let random = Cell::new(SplitMix::new(1));
    let mut connection = NullEngine.connect().expect("the null engine has sessions");
    let backoff = bourse_driver::Backoff::new(&clock, bourse_driver::RetryPolicy::default(), &random);
    let mut cx = bourse_driver::OperationCx { connection: &mut connection, backoff };
    connector.perform(&mut cx, request, &|_| {}).map(|_| ())
}

#[test]
fn two_drivers_share_a_round_and_its_checks() {
    let database = Database::new("two.db");
    let served = serve(&database.engine, options(), |address| {
        let drivers = std::thread::scope(|scope| {
            let other = scope.spawn(|| drive(address, 2, 2));
            [drive(address, 1, 2), other.join().expect("drives")]
        });
        let checks = |at: usize| drivers[at].1.as_ref().expect("is told the checks").checks.clone();
        assert_sound(&checks(0));
        assert_eq!(checks(0), checks(1), "the server checks once, for both");
        let named: Vec<_> = checks(0).iter().take(2).map(|check| check.name.clone()).collect();
        assert_eq!(named.len(), 2);
        assert!(named.iter().all(|name| name.starts_with("answers to driver ")), "{named:?}");
        for (ran, _) in &drivers {
            assert_eq!(ran.fault, None);
            assert!(ran.acknowledged.sure(ORDERS) > 5 && ran.acknowledged.sure(RESULTS) > 0, "{:?}", ran.acknowledged);
            let operation = &ran.round.operations[Transaction::TradeStatus as usize];
            let server = operation.server.as_ref().expect("a server was asked");
            assert_eq!(server.network.summary.count, operation.response.summary.count);
            assert!(server.server.summary.mean_ns >= server.engine.summary.mean_ns);
            let failed = ran.round.operations.iter().flat_map(|it| &it.outcomes);
            assert!(failed.filter(|it| it.outcome == Outcome::Failed).count() == 0);
        }
        let maintained = |at: usize| drivers[at].0.round.operations[Transaction::DataMaintenance as usize].valid();
        assert_eq!((maintained(0), maintained(1)), (1, 0), "maintenance comes once, however many drivers there are");
    });
    assert!(!served.ended.in_a_round);
}

#[test]
fn a_driver_that_vanishes_takes_nothing_with_it() {
    let database = Database::new("vanish.db");
    let served = serve(&database.engine, options(), |address| {
        let stays = std::thread::scope(|scope| {
            let stays = scope.spawn(|| drive(address, 1, 2));
            let goes = call(address);
            let same = Terms { warm_up_ns: SECOND / 2, measure_ns: 2 * SECOND, ..terms(2, 2) };
            goes.sut::<Tpce>().open(&same, &RealClock::start(), &NEVER).expect("opens");
            let mut connector = goes.sut::<Tpce>().connector().expect("a connection");
            for seed in 0..3 {
                perform(&mut connector, &order(seed).into()).expect("is committed");
            }
            // Neither closed nor left: the connections just end.
            drop(connector);
            drop(goes);
            stays.join().expect("drives")
        });
        let (ran, end) = stays;
        let end = end.expect("is told the checks");
        assert_eq!((ran.fault, end.vanished), (None, vec![2]));
        assert_sound(&end.checks);
        let orders = end.checks.iter().find(|check| check.name == "orders").expect("the books are checked");
        assert_eq!(orders.evidence, format!("wanted {0}, found {0}", ran.acknowledged.sure(ORDERS) + 3));
        // The next round begins as if nothing had been.
        let (ran, end) = drive(address, 1, 1);
        assert_eq!(ran.fault, None);
        assert_sound(&end.expect("is told the checks").checks);
    });
    let vanished = served.events.iter().filter(|event| event.contains("lost driver 2/2"));
    assert_eq!(vanished.count(), 1, "{:?}", served.events);
}

#[test]
fn a_driver_that_falls_silent_is_given_up_with_its_users() {
    let database = Database::new("silent.db");
    let options = ServerOptions { silence: Duration::from_secs(1), ..options() };
    let served = serve(&database.engine, options, |address| {
        let silent = call(address);
        // Its users may be as busy as they like: a driver that does not look at its round is not well.
        let busy = std::time::Instant::now();
        silent.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        let mut connector = silent.sut::<Tpce>().connector().expect("a connection");
        let mut done = 0;
        let lost = loop {
            match perform(&mut connector, &order(1).into()) {
                Ok(()) => done += 1,
                Err(error) if error.kind() == ErrorKind::ConnectionLost => break error,
                // The request came between the end of the round and that of the connection.
                Err(error) => assert!(error.to_string().contains("no round is open"), "{error}"),
            }
            assert!(busy.elapsed() < Duration::from_secs(30), "{done} orders, and it is still there");
        };
        assert!(done > 0 && busy.elapsed() >= Duration::from_secs(1), "{done} orders, then {lost}");
        assert!(silent.footprint().is_err());
        // One that asks now and then is well, however long its round takes.
        let asks = call(address);
        asks.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(400));
            asks.footprint().expect("is there");
        }
        assert_sound(&asks.close(&Ledger::default()).expect("closes").checks);
    });
    let vanished: Vec<_> = served.events.iter().filter(|event| event.contains("lost driver")).collect();
    assert!(vanished.len() == 1 && vanished[0].ends_with("nothing was received for 1 s"), "{:?}", served.events);
}

#[test]
fn rounds_of_a_run_begin_alike_and_other_runs_do_not_mix_with_them() {
    let database = Database::new("alike.db");
    serve(&open_again(&database), options(), |address| {
        let run = call(address);
        run.begin_alike();
        let round = |orders: u64| {
            let opened = run.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
            let mut connector = run.sut::<Tpce>().connector().expect("a connection");
            let mut told = Ledger::default();
            for request in (0..orders).map(|seed| Request::from(order(seed))) {
                perform(&mut connector, &request).expect("is committed");
                committed(&mut told, &request);
            }
            let end = run.close(&told).expect("closes");
            assert_sound(&end.checks);
            (opened.before, run.prepared())
        };
        let (first, kept) = round(3);
        assert!(kept.starts_with("snapshot for further rounds taken in "), "{kept}");
        let (second, put_back) = round(2);
        assert!(
            put_back.starts_with("restored in ") && put_back.contains("the state before the first round"),
            "{put_back}"
        );
        assert_eq!(first, second, "what the first round added is gone");
        assert_eq!(round(0).0, first);

        // A run of one round uses the database as it is; one of several takes a snapshot, and the first is notified.
        let plain = call(address);
        plain.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        assert_eq!(plain.prepared(), "");
        plain.close(&Ledger::default()).expect("closes");
        let other = call(address);
        other.begin_alike();
        other.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        other.close(&Ledger::default()).expect("closes");
        match run.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER) {
            Err(RunError::Refused(why)) => assert!(why.contains("another run has taken one"), "{why}"),
            other => panic!("{:?}", other.map(|_| "opened")),
        }
        // Drivers of one round must want the same of it.
        let refused = std::thread::scope(|scope| {
            let impatient = AtomicBool::new(false);
            let waits =
                scope.spawn(|| call(address).sut::<Tpce>().open(&terms(1, 2), &RealClock::start(), &NEVER).map(|_| ()));
            std::thread::sleep(Duration::from_millis(500));
            let keeps = call(address);
            keeps.begin_alike();
            let refused = keeps.sut::<Tpce>().open(&terms(2, 2), &RealClock::start(), &impatient).map(|_| ());
            call(address).sut::<Tpce>().open(&terms(2, 2), &RealClock::start(), &NEVER).expect("the round begins");
            waits.join().expect("opens").expect("opens");
            refused
        });
        let Err(RunError::Refused(why)) = refused else { panic!("{refused:?}") };
        assert_eq!(
            why,
            "driver 2/2 wants another round: database: as it is, with a snapshot here, as it is in the round"
        );
    });
    // An engine that cannot take a snapshot reports it, and the run continues.
    serve(&WithoutCopies(open_again(&database)), options(), |address| {
        let run = call(address);
        run.begin_alike();
        for said in ["further rounds begin with the database as this one leaves it: ", ""] {
            run.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
            assert!(
                run.prepared().starts_with(said) && run.prepared().is_empty() == said.is_empty(),
                "{}",
                run.prepared()
            );
            run.close(&Ledger::default()).expect("closes");
        }
    });
}

/// Engine that cannot take snapshots of its database.
struct WithoutCopies(bourse_engine_sqlite::SqliteEngine);

impl Wrapper for WithoutCopies {
    fn inner(&self) -> &dyn Engine {
        &self.0
    }

    fn wrap(&self, session: Box<dyn Session>) -> Box<dyn Session> {
        session
    }

    fn keeps_copies(&self) -> bool {
        false
    }
}

#[test]
fn what_a_server_uses_is_told_as_its_engine_counts_it() {
    let database = Database::new("uses.db");
    serve(&open_again(&database), options(), |address| {
        let remote = call(address);
        let before = remote.io_counts().expect("is there").expect("a database in a file is counted");
        remote.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        let mut connector = remote.sut::<Tpce>().connector().expect("a connection");
        perform(&mut connector, &order(1).into()).expect("is committed");
        let since = remote.io_counts().expect("is there").expect("is counted").since(before);
        assert!(since.total().written_bytes > 4_096 && since.total().sync_ns.is_some(), "{since:?}");
        remote.close(&Ledger::default()).expect("closes");
    });
    serve(&NullEngine, options(), |address| assert_eq!(call(address).io_counts().expect("is there"), None));
}

#[test]
fn a_driver_that_vanishes_within_a_transaction_leaves_no_half_of_it() {
    let database = Database::new("within.db");
    // The last statement of a Trade-Order stalls, so that its driver is long gone when it commits or not.
    let engine = Misbehaving::stalling(open_again(&database), HitStatements::At(40), Duration::from_millis(700));
    let served = serve(&engine, options(), |address| {
        let (stays, goes) = (call(address), call(address));
        std::thread::scope(|scope| {
            let first = scope.spawn(|| stays.sut::<Tpce>().open(&terms(1, 2), &RealClock::start(), &NEVER).map(|_| ()));
            goes.sut::<Tpce>().open(&terms(2, 2), &RealClock::start(), &NEVER).expect("opens");
            first.join().expect("opens").expect("opens");
        });
        let sent = std::thread::scope(|scope| {
            let connector = goes.sut::<Tpce>().connector().expect("a connection");
            let performing = scope.spawn(move || {
                let mut connector = connector;
                (0..6).map(|seed| perform(&mut connector, &order(seed).into())).collect::<Vec<_>>()
            });
            std::thread::sleep(Duration::from_millis(300));
            goes.leave();
            performing.join().expect("ends")
        });
        let lost = sent.iter().filter_map(|sent| sent.as_ref().err()).map(TxnError::kind);
        assert!(lost.clone().count() >= 1, "nothing was cut off: {sent:?}");
        assert!(lost.clone().all(|kind| kind == ErrorKind::ConnectionLost || kind == ErrorKind::Other), "{sent:?}");
        let end = stays.close(&Ledger::default()).expect("is told the checks");
        assert_eq!(end.vanished, [2]);
        assert_sound(&end.checks);
    });
    assert!(!served.ended.in_a_round);
}

fn open_again(database: &Database) -> bourse_engine_sqlite::SqliteEngine {
    let target = database.engine.description().expect("describes itself").target;
    bourse_engine_sqlite::open(&target).expect("the same target")
}

#[test]
fn a_failure_of_the_engine_is_the_drivers_to_count_and_rolled_back() {
    let database = Database::new("failing.db");
    let engine = Misbehaving::failing(open_again(&database), HitStatements::Every(97), ErrorKind::Other);
    serve(&engine, options(), |address| {
        let remote = call(address);
        if remote.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).is_err() {
            panic!("opening takes fewer statements than that");
        }
        let mut connector = remote.sut::<Tpce>().connector().expect("a connection");
        let mut told = Ledger::default();
        let mut of_order = |seed| {
            let request = Request::from(order(seed));
            perform(&mut connector, &request).inspect(|_| committed(&mut told, &request))
        };
        let results: Vec<_> = (0..40).map(&mut of_order).collect();
        let failed: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert!((2..30).contains(&failed.len()), "{} failed", failed.len());
        let words = failed[0].to_string();
        assert!(words.starts_with("Trade-Order ") && words.contains("failed on purpose (ON_PURPOSE)"), "{words}");
        // Checks run on the same engine, and some of their statements fail: this is reported, and ends the round.
        match remote.close(&told) {
            Ok(end) => assert!(end.checks.iter().all(|check| check.status == CheckStatus::Passed)),
            Err(error) => assert!(error.to_string().contains("could not be checked"), "{error}"),
        }
    });
    let mut session = database.engine.session().expect("a session");
    let mut wrong = Vec::new();
    let checked = bourse_tpce::check::check(&mut *session, part(), &mut |_| {}).expect("checks");
    wrong.extend(checked.into_iter().filter(|check| !check.passed()));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn drivers_that_do_not_belong_together_are_told_why() {
    let database = Database::new("apart.db");
    let options = ServerOptions { gather: Duration::from_secs(2), ..options() };
    let served = serve(&database.engine, options, |address| {
        let open = |terms: Terms| {
            let refused = call(address).sut::<Tpce>().open(&terms, &RealClock::start(), &NEVER);
            match refused.expect_err("is refused") {
                RunError::Refused(why) => why,
                other => panic!("{other:?}"),
            }
        };
        std::thread::scope(|scope| {
            let alone = scope.spawn(|| open(terms(1, 3)));
            std::thread::sleep(Duration::from_millis(500));
            assert_eq!(open(terms(1, 3)), "driver 1/3 is here already: each driver of a round has a number of its own");
            let longer = open(Terms { measure_ns: 2 * SECOND, ..terms(2, 3) });
            assert_eq!(longer, "driver 2/3 wants another round: measurement interval: 2 s here, 1 s in the round");
            assert!(open(terms(1, 2)).contains("drivers: 2 here, 3 in the round"));
            assert_eq!(alone.join().expect("is refused"), "after 2 s 1 of 3 drivers have come");
        });
        // A driver that gives up while it waits frees its place immediately.
        let impatient = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| call(address).sut::<Tpce>().open(&terms(1, 2), &RealClock::start(), &impatient));
            std::thread::sleep(Duration::from_millis(500));
            impatient.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(matches!(waits.join().expect("gives up"), Err(RunError::Interrupted)));
        });
        std::thread::sleep(Duration::from_secs(1));
        // Nothing is left of the round that did not begin.
        let remote = call(address);
        remote.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        assert!(open(terms(1, 1)).contains("comes too late"));
        assert_sound(&remote.close(&Ledger::default()).expect("closes").checks);
        assert!(remote.close(&Ledger::default()).unwrap_err().to_string().contains("not in a round"));
    });
    assert!(!served.ended.in_a_round);
}

#[test]
fn a_book_that_does_not_agree_is_found() {
    let database = Database::new("books.db");
    serve(&database.engine, options(), |address| {
        let remote = call(address);
        remote.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        let mut connector = remote.sut::<Tpce>().connector().expect("a connection");
        perform(&mut connector, &order(1).into()).expect("is committed");
        // The driver was notified of one order, and reports none.
        let end = remote.close(&Ledger::default()).expect("closes");
        let failed: Vec<_> =
            end.checks.iter().filter(|it| it.status == CheckStatus::Failed).map(|it| it.name.as_str()).collect();
        assert_eq!(failed, ["answers to driver 1/1", "orders", "shares ordered", "limit prices, cents"]);
    });
}

#[test]
fn a_server_that_ends_finishes_what_is_in_hand_and_says_that_drivers_were_there() {
    let database = Database::new("ends.db");
    let mut kept = None;
    let served = serve(&database.engine, options(), |address| {
        let remote = call(address);
        remote.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER).expect("opens");
        let mut connector = remote.sut::<Tpce>().connector().expect("a connection");
        perform(&mut connector, &order(1).into()).expect("is committed");
        kept = Some((remote, connector));
    });
    assert!(served.ended.in_a_round);
    let (remote, mut connector) = kept.expect("was there");
    let error = perform(&mut connector, &order(2).into()).expect_err("nobody is there");
    assert_eq!(error.kind(), ErrorKind::ConnectionLost);
    wait_for("the server to be gone", || remote.footprint().is_err());
}
