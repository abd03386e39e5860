//! The price curve against `driver/price.jsonl`.

use bourse_egen::price::{Direction, PriceCurve, travel};
use bourse_egen::{Money, Rng, TradeType};

use crate::golden::{float, int, list, records, state, text};

#[test]
fn prices() {
    let Some(records) = records("prices", "driver/price.jsonl") else { return };
    for record in &records {
        let cents = |field: &str| Money::from_cents(int(&record[field]));
        let curve = || PriceCurve::after(int(&record["trading_time_so_far"]));
        let security = || int(&record["security_index"]);
        match text(&record["fn"]) {
            "price_cents" => {
                assert_eq!(curve().phase(security()), float(&record["initial_time"]), "{record}");
                for (time, price) in list(&record["time_s"]).iter().zip(list(&record["cents"])) {
                    assert_eq!(curve().price(security(), float(time)).cents(), int(price), "{time} of {record}");
                }
            }
            "submission_completion" => {
                let kind = TradeType::from_id(text(&record["trade_type"])).expect("a known type");
                let mut rng = Rng::new(state(&record["seed_before"]));
                let pending = float(&record["pending_time_s"]);
                assert_eq!(curve().price(security(), pending), cents("price_cents_at_pending"), "{record}");
                let submitted = curve().submission(security(), pending, cents("limit_cents"), kind, &mut rng);
                assert_eq!(submitted, float(&record["submission_time_s"]), "{record}");
                let (completed, price) = curve().completion(security(), submitted, &mut rng);
                assert_eq!(completed, float(&record["completion_time_s"]), "{record}");
                assert_eq!(price, cents("completion_cents"), "{record}");
                assert_eq!(rng.state(), state(&record["seed_after"]), "{record}");
            }
            "travel_time" => {
                let direction = if int(&record["direction"]) == 1 { Direction::Up } else { Direction::Down };
                let seconds = travel(cents("start_cents"), cents("end_cents"), direction);
                assert_eq!(seconds, float(&record["seconds"]), "{record}");
            }
            other => panic!("an unknown record: {other}"),
        }
    }
}
