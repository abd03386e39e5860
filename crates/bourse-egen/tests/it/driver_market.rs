//! Two scripts of orders and timer calls, replayed and compared with the reference's answers.

use bourse_egen::Money;
use bourse_egen::driver::{MarketConfig, MarketExchange};
use bourse_egen::txn::{MarketFeed, MarketRequest, TradeAction, TradeRequest, TradeResult, TradeType};
use bourse_schema::{Price, Symbol, Timestamp, TradeId};
use serde_json::{Value, json};

use crate::driver::{number, timestamp};
use crate::golden::{float, int, list, records, state, text};
use crate::inputs::official;

fn cents(dollars: &Value) -> Price {
    Money::from_dollars(float(dollars)).into()
}

fn order(record: &Value) -> TradeRequest {
    TradeRequest {
        action: match text(&record["action"]) {
            "process_order" => TradeAction::ProcessOrder,
            "set_limit_order_trigger" => TradeAction::SetLimitTrigger,
            other => panic!("unknown action {other}"),
        },
        trade_id: TradeId(int(&record["trade_id"])),
        trade_type: TradeType::from_id(text(&record["trade_type_id"])).expect("a trade type"),
        symbol: Symbol::new(text(&record["symbol"])).expect("a symbol"),
        trade_qty: int(&record["trade_qty"]) as i32,
        price_quote: cents(&record["price_quote"]),
    }
}

/// Answer in the form of the golden files.
fn recorded(t_ms: i64, answer: &MarketRequest) -> Value {
    let dollars = |price: Price| number(Money::from(price).dollars());
    match answer {
        MarketRequest::TradeResult(TradeResult { trade_id, trade_price }) => json!({
            "ev": "trade_result", "t_ms": t_ms, "trade_id": trade_id.0, "trade_price": dollars(*trade_price),
        }),
        MarketRequest::MarketFeed(MarketFeed { entries, unique_symbols }) => {
            let entries = entries.iter().map(|entry| {
                json!({
                    "price_quote": dollars(entry.price_quote),
                    "trade_qty": entry.trade_qty,
                    "symbol": entry.symbol.as_str(),
                })
            });
            json!({
                "ev": "market_feed",
                "t_ms": t_ms,
                "unique_symbols": unique_symbols,
                "status_submitted": bourse_egen::TradeStatusId::Submitted.id().as_str(),
                "type_limit_buy": TradeType::LimitBuy.id(),
                "type_limit_sell": TradeType::LimitSell.id(),
                "type_stop_loss": TradeType::StopLoss.id(),
                "entries": entries.collect::<Vec<_>>(),
            })
        }
    }
}

fn check(script: &str, expected: usize) {
    let test = format!("market {script}");
    let Some(records) = records(&test, &format!("driver/mee-{script}.jsonl")) else { return };
    let Some(inputs) = official(&test) else { return };
    let [construct, base, script @ .., end] = &records[..] else { panic!("a script has a beginning and an end") };
    let opened = timestamp(text(&base["local_time"]));
    let at = |t_ms: i64| Timestamp::from_millis(opened.millis() + t_ms);

    let config = MarketConfig {
        customers: int(&construct["configured_customers"]),
        trading_s_so_far: int(&construct["trading_time_so_far"]),
    };
    let seeds = [state(&construct["ticker_tape_seed"]), state(&construct["trading_floor_seed"])];
    let constructed = timestamp(text(&construct["local_time"]));
    assert_eq!(constructed, at(int(&construct["t_ms"])));
    let mut market = MarketExchange::new(&inputs, &config, seeds[0], seeds[1], constructed);
    market.set_base_time(opened);

    let (mut answers, mut inputs_seen) = (Vec::new(), 0);
    let mut expected_answers = script.iter();
    while let Some(record) = expected_answers.next() {
        let t_ms = int(&record["t_ms"]);
        let mut sink = |answer: MarketRequest| answers.push(recorded(t_ms, &answer));
        let next = match text(&record["ev"]) {
            "submit" => market.submit(at(t_ms), &order(record), &mut sink).expect("a known symbol"),
            "generate" => market.generate(at(t_ms), &mut sink),
            "disable_ticker_tape" | "enable_ticker_tape" => {
                market.set_ticker_tape(record["ev"] == "enable_ticker_tape");
                continue;
            }
            other => panic!("unknown event {other}"),
        };
        inputs_seen += 1;
        answers.push(json!({ "ev": "ret", "next_ms": next.map_or(-1, |next| next.as_millis() as i64) }));
        for answer in answers.drain(..) {
            assert_eq!(Some(&answer), expected_answers.next(), "at {t_ms} ms");
        }
    }
    assert_eq!(inputs_seen, expected);
    assert_eq!(market.ticker_tape_rng_state(), state(&end["ticker_tape_seed"]));
    assert_eq!(market.trading_floor_rng_state(), state(&end["trading_floor_seed"]));
    let results = script.iter().filter(|record| record["ev"] == "trade_result").count();
    let orders = script.iter().filter(|record| record["action"] == "process_order").count();
    assert_eq!(market.outstanding_orders(), orders - results);
    assert!(script.iter().any(|record| record["ev"] == "market_feed" && list(&record["entries"]).len() == 20));
}

#[test]
fn market_served_when_due() {
    check("c5000-exact", 3_404);
}

#[test]
fn market_served_late() {
    check("c5000-late", 1_930);
}
