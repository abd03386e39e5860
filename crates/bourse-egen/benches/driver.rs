//! Time of drawing one request: `cargo bench -p bourse-egen --bench driver`.

use bourse_egen::driver::{
    CustomerConfig, CustomerEmulator, Database, MaintenanceEmulator, MarketConfig, MarketExchange, Mix, Seeds,
};
use bourse_egen::txn::{TradeAction, TradeRequest, TradeType};
use bourse_egen::{Inputs, builtin};
use bourse_schema::{Date, Price, Symbol, Timestamp, TradeId};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 7;

/// Minimum nanoseconds per call over several rounds, which excludes the machine's other work.
#[expect(clippy::print_stdout, reason = "a bench prints")]
fn bench(name: &str, calls: usize, mut call: impl FnMut()) {
    let round = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        start.elapsed().as_nanos() as f64 / calls as f64
    };
    let best = (0..ROUNDS).map(|_| round(&mut call)).fold(f64::INFINITY, f64::min);
    println!("{name:<32} {best:>9.0} ns");
}

fn main() {
    let read = |name: &'static str| builtin::file(name).map(String::into_bytes);
    let inputs = Inputs::parse(read).expect("our own files are sound");
    for database in [Database::of(1_000, 500, 10), Database::default()] {
        customers(&inputs, database);
    }
    market(&inputs);
    let mut maintenance = MaintenanceEmulator::new(&inputs, Database::default(), 1).expect("a valid database");
    bench("data-maintenance", 100_000, || {
        black_box(maintenance.next());
    });
}

fn customers(inputs: &Inputs, database: Database) {
    let number = database.active_customers;
    let only = |mix: Mix| {
        let mut config = CustomerConfig::of(database);
        config.tunables.mix = mix;
        CustomerEmulator::new(inputs, &config, 1, 2).expect("a valid configuration")
    };
    for (name, mix) in [
        ("the mix", Mix::default()),
        ("broker-volume", Mix { broker_volume: 1, ..Mix::NONE }),
        ("customer-position", Mix { customer_position: 1, ..Mix::NONE }),
        ("market-watch", Mix { market_watch: 1, ..Mix::NONE }),
        ("security-detail", Mix { security_detail: 1, ..Mix::NONE }),
        ("trade-lookup", Mix { trade_lookup: 1, ..Mix::NONE }),
        ("trade-order", Mix { trade_order: 1, ..Mix::NONE }),
        ("trade-status", Mix { trade_status: 1, ..Mix::NONE }),
        ("trade-update", Mix { trade_update: 1, ..Mix::NONE }),
    ] {
        let mut customers = only(mix);
        bench(&format!("{number} customers, {name}"), 50_000, || {
            black_box(customers.next());
        });
    }
}

fn market(inputs: &Inputs) {
    let opening = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
    let config = MarketConfig::after(&Database::default());
    let Seeds { first, second } = Seeds::MARKET;
    let mut market = MarketExchange::new(inputs, &config, first, second, opening);
    let symbols: Vec<Symbol> = (0..3_425).map(|security| inputs.symbol(security)).collect();
    let mut number = 0;
    bench("market, order to result and feed", 100_000, || {
        number += 1;
        // A thousand orders a second, so that a thousand wait.
        let now = Timestamp::from_millis(opening.millis() + number);
        let limit = number % 5 >= 3;
        let order = TradeRequest {
            action: if limit { TradeAction::SetLimitTrigger } else { TradeAction::ProcessOrder },
            trade_id: TradeId(number),
            trade_type: if limit { TradeType::LimitSell } else { TradeType::MarketBuy },
            symbol: symbols[number as usize % symbols.len()],
            trade_qty: 100,
            price_quote: Price::from_units(2_500),
        };
        let next = market.submit(now, &order, &mut |request| drop(black_box(request))).expect("a known symbol");
        black_box(next);
    });
}
