//! The effect of `causal=off`: a Trade-Result at a node that has not applied the order yet.

use crate::long_cluster;
use bourse_egen::Inputs;
use bourse_egen::driver::{CustomerConfig, CustomerEmulator, Database};
use bourse_egen::txn::{TradeRequest, TradeResult};
use bourse_engine::{RowExt as _, Session};
use bourse_engine_mysql::cluster::ClusterProduct;
use bourse_schema::{Date, Timestamp};
use bourse_tpce::testkit::load_small;
use bourse_tpce::transactions::trade_result::{TradeResultOutput, trade_result};
use bourse_tpce::transactions::{Context, Request, Retry, TradeIds, Transaction, perform};
use std::cell::RefCell;
use std::time::Duration;

/// Status of a Trade-Result that finds no trade.
const NO_TRADE: i32 = -811;

fn number(session: &mut dyn Session, sql: &str) -> i64 {
    let mut found = None;
    session.query_text(sql, &[], &mut |row| row.get(0).map(|number| found = Some(number))).unwrap();
    found.unwrap()
}

/// Places an order in that session; returns the request sent to the market.
fn order(session: &mut dyn Session, inputs: &Inputs, ids: &TradeIds, now: Timestamp) -> TradeRequest {
    let database = Database::of(1_000, 500, 1);
    let mut customers = CustomerEmulator::new(inputs, &CustomerConfig::of(database), 1, 2).unwrap();
    let sent = RefCell::new(Vec::new());
    let context = Context {
        now: &|| now,
        trade_ids: ids,
        market: &|order: &TradeRequest| sent.borrow_mut().push(*order),
        retry: Retry { attempts: 1, back_off: &|_| true },
    };
    loop {
        let request: Request = customers.next().into();
        if request.transaction() == Transaction::TradeOrder {
            perform(session, &context, &request).unwrap();
        }
        if let Some(order) = sent.borrow_mut().pop() {
            return order;
        }
    }
}

/// Runs the order's Trade-Result.
fn result(session: &mut dyn Session, ids: &TradeIds, now: Timestamp, order: &TradeRequest) -> TradeResultOutput {
    let context = Context {
        now: &|| now,
        trade_ids: ids,
        market: &|_: &TradeRequest| {},
        retry: Retry { attempts: 1, back_off: &|_| true },
    };
    let input = TradeResult { trade_id: order.trade_id, trade_price: order.price_quote };
    trade_result(session, &context, &input).unwrap()
}

/// Causal reads: node 2 delays the changes of others, as it may by itself for a moment; an order is placed at node 1, and its
/// Trade-Result runs at node 2.
#[test]
fn a_trade_result_finds_its_order_where_reads_are_causal() {
    let test = "causal::a_trade_result_finds_its_order_where_reads_are_causal";
    for causal in ["off", "on"] {
        let Some(engine) =
            long_cluster(test, ClusterProduct::Galera, &format!("nodes=2&lock_timeout=60s&causal={causal}"))
        else {
            return;
        };
        let inputs = Inputs::builtin();
        load_small(&engine, &inputs);
        let ids = TradeIds::starting_at(Database::of(1_000, 500, 1).first_free_trade());
        let now = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
        let [mut first, mut second, mut guard] = [0, 1, 1].map(|node| engine.session_at(node).unwrap());
        // All that was loaded is there; from then on the guard itself waits for nothing.
        guard.execute_text("SET SESSION wsrep_sync_wait = 7", &[]).unwrap();
        assert!(number(&mut *guard, "SELECT count(*) FROM trade") > 0);
        guard.execute_text("SET SESSION wsrep_sync_wait = 0", &[]).unwrap();
        let id = number(&mut *second, "SELECT connection_id()");
        guard.execute_text("FLUSH TABLES WITH READ LOCK", &[]).unwrap();
        let order = order(&mut *first, &inputs, &ids, now);
        if causal == "off" {
            let missed = result(&mut *second, &ids, now, &order);
            assert_eq!(missed.status.code(), NO_TRADE, "{missed:?}");
            guard.execute_text("UNLOCK TABLES", &[]).unwrap();
            continue;
        }
        let found = std::thread::scope(|scope| {
            let reader = scope.spawn(|| result(&mut *second, &ids, now, &order));
            let waits =
                format!("SELECT count(*) FROM information_schema.processlist WHERE id = {id} AND time_ms > 200");
            while !reader.is_finished() && number(&mut *guard, &format!("{waits} AND command = 'Query'")) == 0 {
                std::thread::sleep(Duration::from_millis(10));
            }
            assert!(!reader.is_finished(), "it did not wait for the order");
            guard.execute_text("UNLOCK TABLES", &[]).unwrap();
            reader.join().unwrap()
        });
        assert_eq!(found.status.code(), 0, "{found:?}");
        assert!(found.trade.is_some());
    }
}
