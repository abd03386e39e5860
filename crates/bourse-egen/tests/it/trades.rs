//! The simulation of the initial trades, trade by trade, against `driver/tradegen-*.jsonl`.

use bourse_egen::trades::Simulation;
use bourse_egen::{Part, ids};
use serde_json::Value;

use crate::golden::{float, int, records, state, text};
use crate::inputs::official;

#[test]
fn first_load_unit() {
    check("driver/tradegen-c1000-t1000-f500-w1.jsonl", Part::new(1, 1_000, 1_000, 500, 1).expect("a part"));
}

#[test]
fn second_load_unit() {
    check("driver/tradegen-b1001-c1000-t5000-f500-w2.jsonl", Part::new(1_001, 1_000, 5_000, 500, 2).expect("a part"));
}

fn check(file: &str, part: Part) {
    let Some(records) = records(file, file) else { return };
    let Some(inputs) = official(file) else { return };
    let mut simulation = Simulation::new(&inputs, part, 0);
    let mut most_waiting = 0;
    let mut last = 0.0;
    for record in &records {
        let states = |names: [&str; 3]| names.map(|name| state(&record[name]));
        match text(&record["kind"]) {
            "start" => {
                assert_eq!(simulation.mean_gap(), float(&record["mean_time_between_trades"]));
                assert_eq!(simulation.total(), int(&record["total_trades_per_load_unit"]));
                assert_eq!(simulation.orders_per_day(), int(&record["trades_per_workday_incl_aborted"]));
                assert_eq!(simulation.last_id().0, int(&record["trade_id_before_first"]));
                assert_eq!(simulation.states(), states(["tradegen_seed", "holdings_seed", "price_seed"]));
            }
            "completed" => {
                completed(&mut simulation, record);
                let after = states(["tradegen_seed_after", "holdings_seed_after", "price_seed_after"]);
                assert_eq!(simulation.states(), after, "{record}");
                most_waiting = most_waiting.max(simulation.waiting());
            }
            "end_of_load_unit" => {
                while let Some(trade) = simulation.next() {
                    assert!(trade.completed > last, "{trade:?} completed at the time of another");
                    last = trade.completed;
                    most_waiting = most_waiting.max(simulation.waiting());
                }
                assert_eq!(simulation.initiated(), int(&record["initiated"]));
                assert_eq!(most_waiting as i64, int(&record["max_queue"]));
                assert_eq!(last, float(&record["last_completion_s"]));
                assert_eq!(simulation.states(), states(["tradegen_seed", "holdings_seed", "price_seed"]));
            }
            other => panic!("an unknown record: {other}"),
        }
    }
}

fn completed(simulation: &mut Simulation<'_>, record: &Value) {
    let trade = simulation.next().expect("as many trades as the golden has");
    let numbers = [
        (trade.id.0, "t_id"),
        (trade.customer.0, "c_id"),
        (i64::from(trade.tier), "tier"),
        (trade.account.0, "ca_id"),
        (ids::owner(trade.account).0, "c_id"),
        (trade.security, "security_index"),
        (i64::from(trade.basket_place), "basket_index"),
        (i64::from(trade.quantity), "qty"),
        (trade.bid.cents(), "bid_cents"),
        (trade.price.cents(), "price_cents"),
        (trade.holdings.bought.cents(), "buy_value_cents"),
        (trade.holdings.sold.cents(), "sell_value_cents"),
        (trade.charge.cents(), "charge_cents"),
        (trade.commission.cents(), "commission_cents"),
        (trade.tax.cents(), "tax_cents"),
        (trade.settlement.cents(), "settlement_cents"),
        (trade.tax_status as i64, "tax_status"),
        (trade.broker.0, "broker_id"),
        (trade.holdings.changes().len() as i64, "holding_history_rows"),
        (simulation.waiting() as i64, "queue_after"),
        (simulation.initiated(), "initiated_so_far"),
    ];
    for (got, field) in numbers {
        assert_eq!(got, int(&record[field]), "{field} of {record}");
    }
    let times = [
        (trade.pending.unwrap_or(-1.0), "pending_s"),
        (trade.submitted, "submitted_s"),
        (trade.completed, "completed_s"),
    ];
    for (got, field) in times {
        assert_eq!(got, float(&record[field]), "{field} of {record}");
    }
    assert_eq!(trade.kind.id(), text(&record["type"]), "{record}");
    assert_eq!(
        (Some(trade.lifo), Some(trade.is_cash)),
        (record["lifo"].as_bool(), record["is_cash"].as_bool()),
        "{record}"
    );
}
