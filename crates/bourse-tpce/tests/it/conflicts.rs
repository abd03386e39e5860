//! Two sessions in conflict: the later one gets a conflict error, and tries again.

use crate::loaded::path;
use crate::world::{UNTAXED, World, buy};
use bourse_egen::txn::{MarketFeed, TickerEntry, TradeOrder, TradeRequest, TradeType};
use bourse_engine::{Access, Engine as _, ErrorKind, Isolation};
use bourse_schema::{Price, Text, Timestamp, TradeId};
use bourse_tpce::transactions::{Context, Output, Retry, TradeIds, perform};
use std::cell::{Cell, RefCell};

/// The small world as a file, so that sessions lock each other out; conflicts are reported immediately.
fn on_disk(name: &str) -> World {
    let mut world = World::at(&format!("sqlite:{}?journal=wal&busy_timeout=0ms", path(name).display()));
    world.order(TradeOrder { trade_type: TradeType::LimitBuy, requested_price: 24.0, ..buy(UNTAXED) });
    world
}

struct Run {
    result: Result<(Output, u32), (ErrorKind, u32)>,
    pauses: Vec<u32>,
    sent: usize,
}

/// Runs a request while another session holds the writer lock until the given pause.
fn run_against_writer(name: &str, request: impl Into<bourse_tpce::transactions::Request>, released_at: u32) -> Run {
    let World { engine, mut session, .. } = on_disk(name);
    let other = RefCell::new(engine.session().expect("connects"));
    other.borrow_mut().begin(Isolation::Serializable, Access::Write).expect("is first");
    let (pauses, sent, ids) =
        (RefCell::new(Vec::new()), Cell::new(0), TradeIds::starting_at(TradeId(300_000_000_000_000)));
    let back_off = |attempt: u32| {
        pauses.borrow_mut().push(attempt);
        if attempt == released_at {
            other.borrow_mut().rollback().expect("gives way");
        }
        true
    };
    let send = |_: &TradeRequest| sent.set(sent.get() + 1);
    let context = Context {
        now: &|| Timestamp::from_millis(1_767_600_000_000),
        trade_ids: &ids,
        market: &send,
        retry: Retry { attempts: 4, back_off: &back_off },
    };
    let result = perform(&mut *session, &context, &request.into())
        .map(|done| (done.output, done.retries))
        .map_err(|error| (error.kind(), error.attempts));
    Run { result, pauses: pauses.take(), sent: sent.get() }
}

#[test]
fn an_order_waits_for_the_writer_before_it() {
    let run = run_against_writer("waits.db", buy(UNTAXED), 3);
    let (output, retries) = run.result.expect("succeeds in the end");
    assert_eq!((output.status().code(), retries), (0, 2));
    assert_eq!((run.pauses, run.sent), (vec![2, 3], 1));
}

#[test]
fn patience_ends() {
    let run = run_against_writer("patience.db", buy(UNTAXED), 99);
    assert_eq!(run.result.expect_err("gives up"), (ErrorKind::Conflict, 4));
    assert_eq!((run.pauses, run.sent), (vec![2, 3, 4], 0));
}

#[test]
fn an_entry_that_is_tried_again_sends_its_orders_once() {
    let entry = TickerEntry { symbol: Text::cut("ACME"), price_quote: Price::from_units(2_300), trade_qty: 1 };
    let feed = MarketFeed { entries: vec![entry, entry], unique_symbols: 1 };
    let run = run_against_writer("entries.db", feed, 2);
    let (output, retries) = run.result.expect("succeeds in the end");
    let Output::MarketFeed(output) = output else { unreachable!() };
    assert_eq!((output.num_updated, output.send_len, retries, run.sent), (2, 1, 1, 1));
}

#[test]
fn readers_are_not_in_the_way() {
    let request = bourse_egen::txn::TradeStatus { acct_id: UNTAXED };
    let run = run_against_writer("readers.db", request, 99);
    let (output, retries) = run.result.expect("reads beside the writer");
    let Output::TradeStatus(output) = output else { unreachable!() };
    assert_eq!((output.trades.len(), retries), (1, 0));
}
