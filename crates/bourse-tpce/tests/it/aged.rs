//! An aged market: its pending orders are those that Trade-Order would have left, and a run on it is valid.

use crate::loaded::{Copy, inputs};
use crate::runs::{assert_sound, count, options};
use bourse_driver::{RealClock, SECOND};
use bourse_egen::driver::{Database, Tunables};
use bourse_egen::txn::TradeRequest;
use bourse_engine::Engine as _;
use bourse_record::Round;
use bourse_schema::{Date, TableRow as _, Timestamp, TradeId, tables};
use bourse_tpce::aged::{PendingOrder, pending_orders, place};
use bourse_tpce::check::reconciliation::ORDERS;
use bourse_tpce::transactions::{Request, Status, TradeIds, Transaction};
use bourse_tpce::users::{RunError, RunOptions, conditions, run};
use bourse_tpce::verify::{Cell, SqlSubject, Subject, sql_subject, value};
use std::sync::atomic::AtomicBool;

const DATABASE: Database = Database::of(1_000, 500, 1);
const NOW: Timestamp = Timestamp::at(Date::from_ymd(2026, 1, 5), 10 * 3_600_000);

fn rows(subject: &mut SqlSubject, table: &'static bourse_schema::Table) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    subject.each_row(table, &mut |row| rows.push(row.to_vec())).unwrap();
    rows.sort_by_cached_key(|row| format!("{row:?}"));
    rows
}

#[test]
fn orders_written_in_bulk_are_those_of_real_trade_orders_row_by_row() {
    let (bulk, real) = (Copy::new("aged-bulk.db"), Copy::new("aged-real.db"));
    let orders = pending_orders(inputs(), DATABASE, &Tunables::default(), 40.0, [1, 2, 3]).unwrap();
    // More than one database transaction; both sides, all types, executors of all kinds, by symbol and by name.
    assert!(orders.len() > 2_000, "{} orders", orders.len());
    let first = DATABASE.first_free_trade();
    let before = count(&bulk.engine, "SELECT count(*) FROM trade");

    let mut session = bulk.engine.session().unwrap();
    let trade_ids = TradeIds::following(&mut *session, first).unwrap();
    place(&mut *session, &trade_ids, &orders, NOW, &|| false).unwrap();
    assert_eq!(trade_ids.next(), TradeId(first.0 + orders.len() as i64));

    let mut placed = sql_subject("in bulk", session, first);
    let mut ordered = sql_subject("one by one", real.engine.session().unwrap(), first);
    for (number, PendingOrder { input, age_ms, .. }) in orders.iter().enumerate() {
        let moment = Timestamp::from_millis(NOW.millis() - age_ms);
        let performed = ordered.perform(&Request::from(input.clone()), moment);
        assert_eq!(performed.outcome.unwrap().status, Status::SUCCESS.code(), "{input:?}");
        // The market gets the same order.
        let trade_id = TradeId(first.0 + number as i64);
        assert_eq!(performed.sent, [value(&TradeRequest { trade_id, ..orders[number].request() })]);
    }

    let mut changed = Vec::new();
    for table in tables::all() {
        let (ours, theirs) = (placed.digest(table).unwrap(), ordered.digest(table).unwrap());
        assert_eq!(ours, theirs, "{}", table.name);
        if [tables::Trade::NAME, tables::TradeRequest::NAME, tables::TradeHistory::NAME].contains(&table.name) {
            let (ours, theirs) = (rows(&mut placed, table), rows(&mut ordered, table));
            assert_eq!(ours.len(), theirs.len());
            for (ours, theirs) in ours.iter().zip(&theirs) {
                assert_eq!(ours, theirs, "{}", table.name);
            }
            changed.push(ours.len());
        }
    }
    let trades = before as usize + orders.len();
    assert!(changed.len() == 3 && changed.contains(&trades) && changed.contains(&orders.len()), "{changed:?}");
}

#[test]
fn an_order_that_is_wrong_by_a_column_is_noticed() {
    let (one, other) = (Copy::new("aged-one.db"), Copy::new("aged-other.db"));
    let orders = pending_orders(inputs(), DATABASE, &Tunables::default(), 1.0, [1, 2, 3]).unwrap();
    let mut digests = Vec::new();
    for (copy, lifo) in [(&one, false), (&other, true)] {
        let mut orders = orders.clone();
        orders[0].input.is_lifo = lifo;
        let mut session = copy.engine.session().unwrap();
        let first = DATABASE.first_free_trade();
        place(&mut *session, &TradeIds::starting_at(first), &orders, NOW, &|| false).unwrap();
        let trade = tables::all().iter().find(|table| table.name == tables::Trade::NAME).unwrap();
        digests.push(sql_subject("placed", session, first).digest(trade).unwrap());
    }
    assert_ne!(digests[0], digests[1]);
}

#[test]
fn placing_stops_between_two_database_transactions() {
    let copy = Copy::new("aged-stopped.db");
    let orders = pending_orders(inputs(), DATABASE, &Tunables::default(), 40.0, [1, 2, 3]).unwrap();
    let first = DATABASE.first_free_trade();
    let asked = std::cell::Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) > 0;
    place(&mut *copy.engine.session().unwrap(), &TradeIds::starting_at(first), &orders, NOW, &stop).unwrap();
    let placed = count(&copy.engine, "SELECT count(*) FROM trade_request");
    assert!(placed > 0 && placed < orders.len() as u64, "{placed} of {}", orders.len());
}

/// Share of Trade-Results that the market owed in the interval, and the achieved share, in percent of the mix.
fn results(round: &Round) -> [f64; 2] {
    let in_mix = round.operations.iter().filter(|it| it.mix_target_percent.is_some());
    let all: u64 = in_mix.map(bourse_record::Operation::ended).sum();
    let results = &round.operations[Transaction::TradeResult as usize];
    [results.mix_expected_percent.unwrap(), 100.0 * results.ended() as f64 / all as f64]
}

#[test]
fn an_aged_market_owes_the_mix_from_the_beginning_and_keeps_the_books() {
    let copy = Copy::new("aged-run.db");
    let engine = &copy.engine;
    let rate = 40.0;
    let new = RunOptions { open_loop: Some(RunOptions::at_rate(rate, true)), ..options(3 * SECOND, 6 * SECOND) };
    let aged = RunOptions { aged_at: Some(rate), ..new.clone() };
    let measure = |options: &RunOptions| {
        let never = AtomicBool::new(false);
        run(engine, inputs(), options, &RealClock::start(), &never, &mut |_| {}).unwrap()
    };
    let ran = measure(&aged);
    assert_sound(engine, &ran);
    assert!(
        ran.round.market_age_s.is_some_and(|age_s| (902.9..904.0).contains(&age_s)),
        "{:?}",
        ran.round.market_age_s
    );
    let capabilities = engine.capabilities();
    assert_eq!(conditions(&aged, &capabilities).market_aged_at, Some(rate));
    let fact = |name: &str| ran.round.facts.iter().find(|fact| fact.name == name).unwrap().value.clone();
    let number = |name: &str| -> u64 { fact(name).parse().unwrap() };
    let placed = ran.acknowledged.sure(ORDERS) - number("Trade-Orders committed in the whole round");
    assert!(placed > 1_000, "{placed}");
    let words = format!("aged at 40 TR/s: {placed} pending limit orders placed before the warm-up");
    assert!(fact("market").starts_with(&words), "{}", fact("market"));
    let pending = number("limit orders pending at the end");
    let triggered = number("limit orders triggered");
    assert_eq!(pending, placed + number("limit orders placed") - triggered);
    assert_eq!(count(engine, "SELECT count(*) FROM trade_request"), pending);

    let young = measure(&new);
    assert_sound(engine, &young);
    // Pending orders are canceled, like those of any earlier run.
    assert_eq!(count(engine, "SELECT count(*) FROM trade WHERE t_st_id = 'CNCL'"), pending);
    let ([owed, came], [owed_young, _]) = (results(&ran.round), results(&young.round));
    // 240 results in 6 s: three standard deviations are two points; the young market lacks nearly as much.
    assert!((8.6..11.9).contains(&owed), "{owed} % owed");
    assert!(owed > owed_young + 0.5, "{owed} % and {owed_young} %");
    // More than a report allows: orders on their way at either end are many of so few.
    assert!((owed - came).abs() < 2.5, "{owed} % owed, {came} % came");
}

#[test]
fn rates_that_no_market_is_aged_at_are_refused() {
    let copy = Copy::new("aged-refused.db");
    for rate in [0.0, 20_001.0, f64::NAN] {
        let options = RunOptions { aged_at: Some(rate), ..options(0, SECOND) };
        let ran = run(&copy.engine, inputs(), &options, &RealClock::start(), &AtomicBool::new(false), &mut |_| {});
        assert!(matches!(ran, Err(RunError::Options(why)) if why.contains("for an aged market")), "{rate}");
    }
}
