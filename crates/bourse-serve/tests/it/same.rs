//! Equality of outputs: the same transactions in process and through a server.

use crate::world::{Database, assert_sound, call, inputs, options, part, serve_by, terms};
use bourse_driver::{Backoff, OperationCx, RetryPolicy, SimulatedClock};
use bourse_egen::driver;
use bourse_egen::txn::TradeRequest;
use bourse_engine::Engine;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::sut::{Connector, InProcess, Sut};
use bourse_record::SplitMix;
use bourse_serve::ServerOptions;
use bourse_tpce::check::reconciliation::{RESULTS, committed};
use bourse_tpce::transactions::{Output, Request, Status};
use bourse_tpce::verify::Stream;
use bourse_tpce::workload::Tpce;
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicBool;

/// Performs a request; returns its output, and the orders it sent.
fn perform(
    connector: &mut Connector<Tpce>,
    engine: &dyn Engine,
    clock: &SimulatedClock,
    request: &Request,
) -> (Output, bool, Vec<TradeRequest>) {
    let random = Cell::new(SplitMix::new(1));
    let mut connection = engine.connect().expect("a session");
    let backoff = Backoff::new(clock, RetryPolicy::default(), &random);
    let sent = RefCell::new(Vec::new());
    let mut cx = OperationCx { connection: &mut connection, backoff };
    let send = |order: &TradeRequest| sent.borrow_mut().push(*order);
    let answer = connector.perform(&mut cx, request, &send).expect("nothing is in the way").answer;
    (answer.output, answer.excused, sent.into_inner())
}

#[test]
fn outputs_and_orders_are_the_same_in_process_and_through_a_server() {
    // This driver requests no sizes, and on a busy machine it takes longer than a silent driver may.
    let patient = ServerOptions { silence: std::time::Duration::from_secs(3_600), ..options() };
    assert_same(["same-here.db", "same-there.db"], patient, 3_000, 50);
}

#[cfg(target_os = "linux")]
#[test]
fn outputs_and_orders_are_the_same_through_a_socket_of_this_machine() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let options = crate::world::local_options(&folder.path().join("s"));
    assert_same(["same-local-here.db", "same-local-there.db"], options, 500, 5);
}

/// Performs `steps` transactions both ways; more than `results` of them are Trade-Results that succeed.
fn assert_same(names: [&'static str; 2], options: ServerOptions, steps: u32, results: u64) {
    let [here, there] = names.map(Database::new);
    let database = driver::Database::of(part().total_customers(), part().scale_factor(), part().days());
    let mut stream = Stream::new(inputs(), database, 11, 20).expect("a valid database");
    let first = stream.next_step();
    let clock = SimulatedClock::at(first.now);
    let mut now = first.now;
    let never = AtomicBool::new(false);
    let served = serve_by(&clock, &there.engine, options, |address| {
        let remote = call(address);
        let in_process = InProcess::<Tpce>::new(&here.engine);
        let mine = in_process.open(&terms(1, 1), &clock, &never).expect("opens");
        let theirs = remote.sut::<Tpce>().open(&terms(1, 1), &clock, &never).expect("opens");
        assert_eq!(mine, theirs);
        let (mut mine, mut theirs) =
            (in_process.connector().expect("a session"), remote.sut::<Tpce>().connector().expect("a connection"));
        let mut told = Ledger::default();
        for number in 0..steps {
            let step = stream.next_step();
            clock.advance((step.now.millis() - now.millis()) as u64 * 1_000_000);
            now = step.now;
            let one = perform(&mut mine, &here.engine, &clock, &step.request);
            let other = perform(&mut theirs, &remote, &clock, &step.request);
            assert_eq!(one, other, "transaction {number}: {:?}", step.request);
            if one.0.status() == Status::SUCCESS {
                committed(&mut told, &step.request);
            }
            stream.send(&one.2).expect("orders name securities");
        }
        assert!(told.sure(RESULTS) > results, "{told:?}");
        assert_eq!(remote.sut::<Tpce>().pending().unwrap(), in_process.pending().unwrap());
        let end = remote.close(&told).expect("closes");
        assert_sound(&end.checks);
        assert_eq!(end.checks[0].name, "answers to driver 1/1");
    });
    assert!(!served.ended.in_a_round);
    assert!(served.events.iter().all(|event| !event.starts_with("refused ")), "{:?}", served.events);
}
