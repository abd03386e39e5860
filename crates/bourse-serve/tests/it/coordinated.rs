//! Drivers that send their statements to the engine themselves, coordinated by one of them.

use crate::world::{Database, assert_sound, call_with, inputs, options, part, serve, terms, wait_for};
use bourse_driver::{Clock as _, RealClock, RoundPlan, SECOND};
use bourse_engine::Engine;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::sut::{RunError, Share, Sut, Terms};
use bourse_record::{Check, CheckStatus, Outcome};
use bourse_serve::client::RoundEnd;
use bourse_serve::{Address, CoordinatedDriver, ServeError, ServerOptions, Token};
use bourse_tpce::check::reconciliation::ORDERS;
use bourse_tpce::transactions::Transaction;
use bourse_tpce::users::{RunOptions, RunResult, run_on};
use bourse_tpce::workload::Tpce;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);

fn coordinates() -> ServerOptions {
    ServerOptions { coordinates: true, ..options() }
}

fn join_with(engine: Arc<dyn Engine>, address: &Address, token: Option<&str>) -> Result<CoordinatedDriver, ServeError> {
    let token = token.map(|text| Token::new(text, "a test").expect("a token"));
    CoordinatedDriver::join(&Tpce, engine, address.clone(), token, "1.2.3", |_| {})
}

/// Joins a driver to that database with an engine of its own.
fn join(database: &Database, address: &Address) -> CoordinatedDriver {
    join_with(Arc::new(database.again()), address, None).expect("is let in")
}

fn drive(driver: &CoordinatedDriver, number: u32, of: u32) -> RunResult {
    let plan = RoundPlan { warm_up_ns: SECOND / 2, measure_ns: SECOND, ..RoundPlan::default() };
    let share = Share::new(number, of).expect("a driver");
    let options = RunOptions { users: 1, share, plan, seed: 5, ..RunOptions::new(part()) };
    let clock = RealClock::start();
    run_on(&driver.sut(), inputs(), &options, &clock, driver.cut(), &mut |_| {}).expect("runs")
}

/// Runs a round of `of` drivers, each of which reports its ledger after the callback has changed it.
fn round(
    database: &Database,
    address: &Address,
    of: u32,
    tell: impl Fn(u32, Ledger) -> Ledger + Sync,
) -> Vec<(RunResult, RoundEnd)> {
    let tell = &tell;
    std::thread::scope(|scope| {
        let driver = |number| {
            move || {
                let driver = join(database, address);
                let ran = drive(&driver, number, of);
                let end = driver.remote().close(&tell(number, ran.acknowledged.clone())).expect("is told the checks");
                (ran, end)
            }
        };
        let drivers: Vec<_> = (1..=of).map(|number| scope.spawn(driver(number))).collect();
        drivers.into_iter().map(|driver| driver.join().expect("drives")).collect()
    })
}

fn named<'c>(checks: &'c [Check], name: &str) -> &'c Check {
    checks.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("{name} is checked"))
}

#[test]
fn three_drivers_share_a_database_and_its_checks() {
    let database = Database::new("coordinated.db");
    let served = serve(&database.engine, coordinates(), |address| {
        let drivers = round(&database, address, 3, |_, told| told);
        let checks = &drivers[0].1.checks;
        assert_sound(checks);
        let mut sum = Ledger::default();
        for (number, (ran, end)) in (1..).zip(&drivers) {
            assert_eq!((ran.fault.clone(), &end.checks), (None, checks), "checked once, for all");
            assert!(ran.acknowledged.sure(ORDERS) > 5, "{:?}", ran.acknowledged);
            let own = named(checks, &format!("orders of driver {number}/3"));
            assert_eq!(own.evidence, format!("wanted {0}, found {0}", ran.acknowledged.sure(ORDERS)));
            let failed = ran.round.operations.iter().flat_map(|it| &it.outcomes);
            assert_eq!(failed.filter(|it| it.outcome == Outcome::Failed).count(), 0, "no number is given twice");
            let operation = &ran.round.operations[Transaction::TradeStatus as usize];
            assert!(operation.server.is_none(), "no server stands between");
            sum.merge(&ran.acknowledged);
        }
        assert_eq!(named(checks, "orders").evidence, format!("wanted {0}, found {0}", sum.sure(ORDERS)));
        let count = |transaction: Transaction| -> Vec<u64> {
            drivers.iter().map(|(ran, _)| ran.round.operations[transaction as usize].valid()).collect()
        };
        assert_eq!(count(Transaction::DataMaintenance), [1, 0, 0], "once, however many drivers there are");
        assert_eq!(count(Transaction::TradeCleanup), [1, 0, 0]);
        // The next round continues behind the trade numbers of this one.
        assert_sound(&round(&database, address, 2, |_, told| told)[1].1.checks);
    });
    let ended = served.events.iter().find(|event| event.contains(" ended: ")).expect("a round ended");
    assert!(!ended.contains(" 0 Trade-Results"), "{ended}");
}

/// Planted fault: a driver's ledger is left out of the sum.
#[test]
fn a_ledger_that_is_left_out_is_found() {
    let database = Database::new("left-out.db");
    serve(&database.engine, coordinates(), |address| {
        let left_out = |number, told| if number == 2 { Ledger::default() } else { told };
        let drivers = round(&database, address, 3, left_out);
        let failed: Vec<_> = drivers[0]
            .1
            .checks
            .iter()
            .filter(|it| it.status == CheckStatus::Failed)
            .map(|it| it.name.as_str())
            .collect();
        assert!(failed.contains(&"orders of driver 2/3") && failed.contains(&"orders"), "{failed:?}");
        assert!(failed.contains(&"results") && failed.contains(&"settlements"), "{failed:?}");
        assert!(!failed.contains(&"orders of driver 1/3"), "{failed:?}");
    });
}

#[test]
fn what_a_lost_driver_has_committed_is_allowed_for_and_no_more() {
    let database = Database::new("lost.db");
    let served = serve(&database.engine, coordinates(), |address| {
        for too_many in [0, 1] {
            let [stays, orders] = std::thread::scope(|scope| {
                let goes = scope.spawn(|| {
                    let driver = join(&database, address);
                    // It commits what it does, and never says so.
                    let ran = drive(&driver, 2, 2);
                    (ran.acknowledged.sure(ORDERS), None)
                });
                let driver = join(&database, address);
                let ran = drive(&driver, 1, 2);
                let gone = goes.join().expect("drives");
                let orders = ran.acknowledged.sure(ORDERS);
                let mut told = ran.acknowledged;
                told.add(ORDERS, too_many);
                [(orders, Some(driver.remote().close(&told).expect("is told the checks"))), gone]
            });
            let end = stays.1.expect("it stayed");
            assert_eq!(end.vanished, [2]);
            assert!(orders.0 > 0);
            if too_many == 0 {
                assert_sound(&end.checks);
                let sum = stays.0 + orders.0;
                assert_eq!(named(&end.checks, "orders").evidence, format!("wanted {sum}, found {sum}"));
            } else {
                assert_eq!(
                    named(&end.checks, "orders").status,
                    CheckStatus::Failed,
                    "the lost one explains no order of another"
                );
            }
        }
    });
    let lost = served.events.iter().filter(|event| event.contains("lost driver 2/2"));
    assert_eq!(lost.count(), 2, "{:?}", served.events);
}

#[test]
fn drivers_that_do_not_fit_together_are_refused() {
    let database = Database::new("unfit.db");
    let options = ServerOptions { gather: Duration::from_secs(1), ..coordinates() };
    serve(&database.engine, options, |address| {
        let refusal = |terms: &Terms| {
            let refused = join(&database, address).sut::<Tpce>().open(terms, &RealClock::start(), &NEVER);
            let Err(RunError::Refused(why)) = refused else { panic!("{refused:?}") };
            why
        };
        assert_eq!(refusal(&terms(2, 3)), "after 1 s 1 of 3 drivers have come", "nobody else ever comes");
        // The first driver joins again and again: a driver that finds it gone waits in its place, and tries once more.
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let clock = RealClock::start();
                while !done.load(Ordering::Relaxed) && clock.now() < 100 * SECOND {
                    refusal(&terms(1, 3));
                }
            });
            let longer = Terms { measure_ns: 2 * SECOND, ..terms(2, 3) };
            for (driver, expected) in [
                (terms(1, 3), "is here already"),
                (longer, "measurement interval: 2 s here, 1 s in the round"),
                (terms(2, 4), "drivers: 4 here, 3 in the round"),
            ] {
                wait_for(expected, || refusal(&driver).contains(expected));
            }
            done.store(true, Ordering::Relaxed);
        });
        // A client that needs a server is refused, and no user of a driver sends a transaction through this one.
        let error = call_with(address, None).expect_err("there is no server");
        assert!(error.to_string().contains("join it with --coordinate and --part"), "{error}");
    });
    let other = Database::new("other.db");
    serve(&database.engine, crate::world::options(), |address| {
        let error = join_with(Arc::new(other.again()), address, None).expect_err("it is a server");
        assert!(error.to_string().contains("without --coordinate"), "{error}");
    });
}

#[test]
fn another_database_and_another_token_are_refused() {
    let (database, other) = (Database::new("one.db"), Database::new("another.db"));
    // Earlier runs made them differ.
    let mut session = database.engine.session().expect("a session");
    session
        .execute_text(
            "UPDATE broker SET b_num_trades = b_num_trades + 1 WHERE b_id = (SELECT min(b_id) FROM broker)",
            &[],
        )
        .expect("changes");
    drop(session);
    let options =
        ServerOptions { token: Some(Token::new("a secret of ours", "a test").expect("a token")), ..coordinates() };
    serve(&database.engine, options, |address| {
        assert!(matches!(join_with(Arc::new(other.again()), address, None), Err(ServeError::Unauthenticated(_))));
        let driver = join_with(Arc::new(other.again()), address, Some("a secret of ours")).expect("is let in");
        let refused = driver.sut::<Tpce>().open(&terms(1, 1), &RealClock::start(), &NEVER);
        let Err(RunError::Refused(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("is not driver 1's database"), "{why}");
    });
}

#[test]
fn clocks_are_read_and_a_driver_that_loses_driver_1_stops() {
    let database = Database::new("clocks.db");
    let clock = RealClock::start();
    let (is_over, mut lost) = (AtomicBool::new(false), None);
    let mut driver = None;
    serve(&database.engine, coordinates(), |address| {
        let joined = join(&database, address);
        let offset = joined.read_clocks(&clock).expect("is told the time");
        // Both are of this machine; the server's clock was started a moment later: less than the reading's own error, perhaps.
        assert!(offset.calendar_ms.abs() <= 2 + offset.error_ns as i64 / 1_000_000, "{offset:?}");
        assert!(offset.clock_ns <= offset.error_ns as i64 && offset.clock_ns > -10 * SECOND as i64, "{offset:?}");
        assert!(offset.error_ns < SECOND, "{offset:?}");
        joined.sut::<Tpce>().open(&terms(1, 1), &clock, &NEVER).expect("opens");
        assert!(!joined.cut().load(Ordering::Relaxed));
        driver = Some(joined);
    });
    let driver = driver.expect("it has joined");
    let begun = clock.now();
    if let Some(words) = driver.send_signs_of_life(&clock, &NEVER, &is_over) {
        lost = Some(words);
    }
    assert!(clock.now() - begun < 20 * SECOND);
    assert!(driver.cut().load(Ordering::Relaxed), "its users stop");
    assert!(lost.expect("it is told").contains("closed"), "the connection ended");
}
