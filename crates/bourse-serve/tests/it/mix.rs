//! A workload of a mix through a server, and by several drivers: the same server and client as TPC-E's.

use crate::world::{call_with, options, path, remove, serve_workload};
use bourse_driver::{RealClock, RoundPlan, SECOND};
use bourse_engine::Engine;
use bourse_engine_sqlite::{SqliteEngine, open};
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::load::{Constraints, Fingerprint, LoadOptions, load};
use bourse_oltp::mix::{RunOptions, run};
use bourse_oltp::sut::{RunResult, Share, SharedWorkload, Sut as _};
use bourse_record::{Check, CheckStatus, Outcome};
use bourse_serve::client::RoundEnd;
use bourse_serve::{Address, CoordinatedDriver, Remote, ServerOptions};
use bourse_tatp::population::number;
use bourse_tatp::requests::Request;
use bourse_tatp::transactions::Output;
use bourse_tatp::{Tatp, size_of};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Loads a database of 1,000 subscribers into a file.
fn loaded(name: &str) -> (String, SqliteEngine, Fingerprint) {
    remove(name);
    let target = format!("sqlite:{}?sync=off", path(name).display());
    let engine = open(&target).expect("a valid target");
    let options = LoadOptions { constraints: Constraints::Full, threads: 1 };
    let report = load(&engine, &Tatp, &Tatp, &size_of(1_000), &options, &mut |_| ControlFlow::Continue(()));
    (target, engine, report.expect("loads").fingerprint)
}

/// A round that a driver has run, and the function that ends it with the driver's counts.
type DrivenRound = (RunResult, Box<dyn FnOnce(&Ledger) -> RoundEnd>);

fn run_options(number: u32, of: u32) -> RunOptions {
    RunOptions {
        size: size_of(1_000),
        users: 2,
        open_loop: None,
        terminals: false,
        plan: RoundPlan { warm_up_ns: SECOND / 4, measure_ns: SECOND, ..RoundPlan::default() },
        seed: 5,
        share: Share::new(number, of).expect("a driver"),
    }
}

/// Runs a round of two drivers, each of which reports its counts after the callback has changed them.
fn round(
    drive: impl Fn(u32) -> DrivenRound + Sync,
    tell: impl Fn(u32, Ledger) -> Ledger + Sync,
) -> Vec<(RunResult, RoundEnd)> {
    let (drive, tell) = (&drive, &tell);
    std::thread::scope(|scope| {
        let drivers: Vec<_> = [1, 2]
            .map(|number| {
                scope.spawn(move || {
                    let (ran, close) = drive(number);
                    let end = close(&tell(number, ran.acknowledged.clone()));
                    (ran, end)
                })
            })
            .into();
        drivers.into_iter().map(|driver| driver.join().expect("drives")).collect()
    })
}

fn through_a_server(address: &Address, number: u32) -> DrivenRound {
    let remote = Remote::call(&Tatp, address.clone(), None, "1.2.3", |_| {}).expect("is let in");
    let ran = run(&remote.sut::<Tatp>(), &run_options(number, 2), &RealClock::start(), &NEVER, &mut |_| {});
    (ran.expect("runs"), Box::new(move |counts| remote.close(counts).expect("closes")))
}

fn coordinated(target: &str, address: &Address, number: u32) -> DrivenRound {
    let engine: Arc<dyn Engine> = Arc::new(open(target).expect("a valid target"));
    let driver = CoordinatedDriver::join(&Tatp, engine, address.clone(), None, "1.2.3", |_| {}).expect("is let in");
    let ran = run(&driver.sut::<Tatp>(), &run_options(number, 2), &RealClock::start(), driver.cut(), &mut |_| {});
    (ran.expect("runs"), Box::new(move |counts| driver.remote().close(counts).expect("closes")))
}

fn failed(checks: &[Check]) -> Vec<&str> {
    checks.iter().filter(|check| check.status == CheckStatus::Failed).map(|check| check.name.as_str()).collect()
}

fn assert_whole(drivers: &[(RunResult, RoundEnd)]) {
    let [(one, end), (other, others_end)] = drivers else { panic!("two drivers") };
    assert_eq!(end, others_end, "checked once, for both");
    assert_eq!((failed(&end.checks), end.vanished.len()), (vec![], 0));
    assert!(end.checks.iter().any(|check| check.name == "call forwardings"), "{:#?}", end.checks);
    for ran in [one, other] {
        assert_eq!(ran.fault, None);
        let ended: u64 = ran.round.operations.iter().map(bourse_record::Operation::ended).sum();
        let outcomes = ran.round.operations.iter().flat_map(|it| &it.outcomes);
        assert_eq!(outcomes.filter(|it| it.outcome == Outcome::Failed).count(), 0);
        assert!(ended > 50, "{ended}");
    }
}

#[test]
fn two_drivers_share_a_round_through_a_server_and_its_checks() {
    let (_, engine, fingerprint) = loaded("tatp-served.db");
    let served = serve_workload::<Tatp>(&RealClock::start(), &engine, &fingerprint, options(), |address| {
        let drivers = round(|number| through_a_server(address, number), |_, told| told);
        assert_whole(&drivers);
        let names: Vec<_> = drivers[0].1.checks.iter().take(2).map(|check| check.name.as_str()).collect();
        assert!(names.iter().all(|name| name.starts_with("answers to driver ")), "{names:?}");
        let [(ran, _), _] = drivers.as_slice() else { panic!("two drivers") };
        let server = ran.round.operations[0].server.as_ref().expect("a server was asked");
        assert!(server.server.summary.mean_ns >= server.engine.summary.mean_ns);
        // A driver that leaves out what it was told is found, in its answers and in the sum.
        let drivers = round(
            |number| through_a_server(address, number),
            |number, told| if number == 2 { Ledger::default() } else { told },
        );
        assert!(failed(&drivers[0].1.checks).contains(&"answers to driver 2/2"), "{:?}", drivers[0].1.checks);
    });
    assert!(served.events.iter().any(|event| event.contains("transactions answered")), "{:?}", served.events);
}

#[test]
fn coordinated_drivers_are_reconciled_together() {
    let (target, engine, fingerprint) = loaded("tatp-coordinated.db");
    let options = ServerOptions { coordinates: true, ..options() };
    serve_workload::<Tatp>(&RealClock::start(), &engine, &fingerprint, options, |address| {
        let drivers = round(|number| coordinated(&target, address, number), |_, told| told);
        assert_whole(&drivers);
        let (ran, _) = &drivers[0];
        assert!(ran.round.operations.iter().all(|it| it.server.is_none()), "no server stands between");
        // One driver counts a row that it has not inserted.
        let (sub_nbr, numberx) = (number(7), number(8));
        let insert = Request::InsertCallForwarding { sub_nbr, sf_type: 1, start_time: 0, end_time: 8, numberx };
        let more = |number: u32, mut told: Ledger| {
            if number == 2 {
                Tatp::count(&mut told, &insert, &Output::Changed);
            }
            told
        };
        let drivers = round(|number| coordinated(&target, address, number), more);
        assert_eq!(failed(&drivers[0].1.checks), ["call forwardings"]);
    });
}

/// Rows do not show which driver wrote them, so what a lost one has committed is unknown.
#[test]
fn with_a_lost_driver_growth_is_not_judged_and_the_conditions_are() {
    let (target, engine, fingerprint) = loaded("tatp-lost.db");
    let options = ServerOptions { coordinates: true, ..options() };
    serve_workload::<Tatp>(&RealClock::start(), &engine, &fingerprint, options, |address| {
        let end = std::thread::scope(|scope| {
            let goes = scope.spawn(|| drop(coordinated(&target, address, 2)));
            let (ran, close) = coordinated(&target, address, 1);
            goes.join().expect("drives");
            close(&ran.acknowledged)
        });
        assert_eq!(end.vanished, [2]);
        let growth = end.checks.iter().find(|check| check.name == "call forwardings").expect("is listed");
        assert_eq!(growth.status, CheckStatus::NotApplicable);
        assert!(growth.evidence.contains("driver 2/2 was lost"), "{}", growth.evidence);
        assert!(
            end.checks.iter().filter(|check| check.status == CheckStatus::Passed).count() > 10,
            "{:#?}",
            end.checks
        );
    });
}

#[test]
fn counts_that_no_round_can_have_fail_the_checks_and_nothing_else() {
    let (_, engine, fingerprint) = loaded("tatp-counts.db");
    serve_workload::<Tatp>(&RealClock::start(), &engine, &fingerprint, options(), |address| {
        let remote = Remote::call(&Tatp, address.clone(), None, "1.2.3", |_| {}).expect("is let in");
        let open = |remote: &Remote| {
            let terms = run_options(1, 1).terms();
            remote.sut::<Tatp>().open(&terms, &RealClock::start(), &NEVER).expect("opens");
        };
        open(&remote);
        // The field of a ledger, with more amounts than the workload has.
        let amount = (i128::MAX, [0_i128, i128::MAX]);
        let checks = remote.close(&vec![amount; 200]).expect("closes").checks;
        assert_eq!(checks[0].name, "answers to driver 1/1");
        assert_eq!(failed(&checks), ["answers to driver 1/1", "call forwardings"]);
        open(&remote);
        assert_eq!(failed(&remote.close(&Ledger::default()).expect("closes").checks), [""; 0]);
        // Bytes that are no counts end the connection, and the driver is lost.
        open(&remote);
        assert!(remote.close(&"no counts").is_err());
    });
}

#[test]
fn a_driver_of_another_workload_is_refused() {
    let (_, engine, fingerprint) = loaded("tatp-other.db");
    serve_workload::<Tatp>(&RealClock::start(), &engine, &fingerprint, options(), |address| {
        let refused = call_with(address, None).expect_err("this is no server of TPC-E").to_string();
        assert!(refused.ends_with(" serves tatp, and this driver runs tpce"), "{refused}");
    });
}
