//! Properties that hold for every seed and every database, not only for the recorded ones of the reference.

use std::collections::HashMap;
use std::sync::LazyLock;

use bourse_egen::driver::{
    CustomerConfig, CustomerEmulator, Database, MaintenanceEmulator, MarketConfig, MarketExchange, Mix, Partition,
};
use bourse_egen::txn::{CustomerRequest, MarketRequest, TradeAction, TradeRequest, TradeType};
use bourse_egen::{Inputs, builtin, dates, ids, keys};
use bourse_schema::{CustomerId, Date, Price, Timestamp, TradeId};
use proptest::prelude::*;

/// The built-in input data, read once.
fn inputs() -> &'static Inputs {
    static INPUTS: LazyLock<Inputs> = LazyLock::new(|| {
        Inputs::parse(|name| builtin::file(name).map(String::into_bytes)).expect("our own files are sound")
    });
    &INPUTS
}

/// Whole databases with their trade days.
fn databases() -> impl Strategy<Value = Database> {
    (1..30_i64, 0..30_i64, 1..400_i64).prop_map(|(active, more, days)| Database {
        configured_customers: (active + more) * 1_000,
        active_customers: active * 1_000,
        scale_factor: 500,
        initial_trade_days: days,
    })
}

/// Customer of a request that identifies one by customer or account id.
fn named(request: &CustomerRequest) -> Option<CustomerId> {
    let given = |customer: CustomerId| (customer.0 != 0).then_some(customer);
    let account = match request {
        CustomerRequest::CustomerPosition(input) => return given(input.cust_id),
        CustomerRequest::MarketWatch(input) if input.c_id.0 != 0 => return Some(input.c_id),
        CustomerRequest::MarketWatch(input) => input.acct_id,
        CustomerRequest::TradeLookup(input) => input.acct_id,
        CustomerRequest::TradeOrder(input) => input.acct_id,
        CustomerRequest::TradeStatus(input) => input.acct_id,
        CustomerRequest::TradeUpdate(input) => input.acct_id,
        CustomerRequest::BrokerVolume(_) | CustomerRequest::SecurityDetail(_) => return None,
    };
    if account.0 == 0 {
        return None;
    }
    let owner = ids::owner(account);
    assert!(account.0 < ids::first_account(owner).0 + keys::accounts_of(owner), "{account} does not exist");
    Some(owner)
}

fn ordinal(customer: CustomerId) -> i64 {
    customer.0 - ids::SHIFT
}

fn draw(inputs: &Inputs, config: &CustomerConfig, seeds: (u64, u64), count: usize) -> Vec<CustomerRequest> {
    let mut customers = CustomerEmulator::new(inputs, config, seeds.0, seeds.1).expect("a valid configuration");
    (0..count).map(|_| customers.next()).collect()
}

#[test]
fn the_same_seeds_draw_the_same_requests_about_what_exists() {
    let inputs = inputs();
    proptest!(ProptestConfig::with_cases(60), |(database in databases(), seeds: (u64, u64))| {
        let config = CustomerConfig::of(database);
        let requests = draw(inputs, &config, seeds, 300);
        prop_assert_eq!(&requests, &draw(inputs, &config, seeds, 300));
        prop_assert_ne!(&requests, &draw(inputs, &config, (seeds.0, seeds.1 ^ 1), 300));
        let last_trade = database.initial_trade_days * 28_800 * database.active_customers / 500 * 101 / 100;
        for request in &requests {
            let customer = named(request);
            prop_assert!(customer.is_none_or(|id| (1..=database.active_customers).contains(&ordinal(id))));
            let (trades, frame_3) = match request {
                CustomerRequest::TradeLookup(input) => (&input.trade_id[..], input.frame_to_execute == 3),
                CustomerRequest::TradeUpdate(input) => (&input.trade_id[..], input.frame_to_execute == 3),
                _ => (&[][..], false),
            };
            for (at, &TradeId(trade)) in trades.iter().enumerate() {
                let number = trade - ids::TRADE_SHIFT;
                prop_assert!((1..=last_trade + 1).contains(&number));
                prop_assert_ne!(number % 101, 51, "an aborted trade");
                prop_assert!(!trades[..at].contains(&TradeId(trade)));
            }
            let (CustomerRequest::TradeLookup(bourse_egen::txn::TradeLookup { start_trade_dts, end_trade_dts, .. })
            | CustomerRequest::TradeUpdate(bourse_egen::txn::TradeUpdate { start_trade_dts, end_trade_dts, .. })) =
                request
            else {
                continue;
            };
            // Frame 3's back-off is less than a day; the others' are longer than a short database.
            if frame_3 || database.initial_trade_days > 4 {
                prop_assert!(start_trade_dts.is_none_or(|start| start > dates::BASE));
                prop_assert!(end_trade_dts.is_none_or(|end| Some(end) > *start_trade_dts));
            }
        }
    });
}

#[test]
fn a_partition_is_asked_about_as_often_as_it_says() {
    let inputs = inputs();
    let database = Database::of(5_000, 500, 10);
    let share = |partition: Option<Partition>| {
        let config = CustomerConfig { partition, ..CustomerConfig::of(database) };
        let requests = draw(inputs, &config, (1, 2), 20_000);
        let customers: Vec<i64> = requests.iter().filter_map(named).map(ordinal).collect();
        assert!(customers.len() > 8_000);
        customers.iter().filter(|id| (2_001..=3_000).contains(*id)).count() as f64 / customers.len() as f64
    };
    let partition = |percent| Some(Partition { first: 2_001, count: 1_000, percent });
    assert_eq!(share(partition(100)), 1.0);
    for (partition, expected) in [(partition(50), 0.6), (partition(0), 0.2), (None, 0.2)] {
        // Six standard deviations of the share among 8,000.
        assert!((share(partition) - expected).abs() < 0.034, "{partition:?}: {}", share(partition));
    }
    let whole = Some(Partition { first: 1, count: 5_000, percent: 50 });
    let config = CustomerConfig::of(database);
    let all = CustomerConfig { partition: whole, ..config.clone() };
    assert_eq!(draw(inputs, &all, (1, 2), 1_000), draw(inputs, &config, (1, 2), 1_000));
}

#[test]
fn a_holdings_seed_gives_an_emulator_accounts_of_its_own() {
    let inputs = inputs();
    let mut config = CustomerConfig::of(Database::of(1_000, 500, 10));
    config.tunables.mix = Mix { trade_order: 1, ..Mix::NONE };
    // Which of the owner's accounts: the first draw of each order.
    let accounts = |config: &CustomerConfig, seed| -> Vec<i64> {
        let orders = draw(inputs, config, (seed, seed), 200).into_iter();
        let account = |order| match order {
            CustomerRequest::TradeOrder(order) => {
                let owner = ids::owner(order.acct_id);
                (order.acct_id.0 - ids::first_account(owner).0) * 10 / keys::accounts_of(owner)
            }
            other => panic!("only orders are dealt, not {other:?}"),
        };
        orders.map(account).collect()
    };
    let own = CustomerConfig { holdings_seed: 5, ..config.clone() };
    assert_eq!(accounts(&config, 1), accounts(&config.clone(), 1));
    assert_ne!(accounts(&config, 1), accounts(&own, 1));
}

#[test]
fn four_days_do_not_divide_by_zero() {
    let inputs = inputs();
    let config = CustomerConfig::of(Database::of(1_000, 500, 4));
    let mut seen = 0;
    for request in draw(inputs, &config, (3, 4), 5_000) {
        let start = match request {
            CustomerRequest::TradeLookup(input) if input.frame_to_execute == 2 => input.start_trade_dts,
            CustomerRequest::TradeUpdate(input) if input.frame_to_execute == 2 => input.start_trade_dts,
            _ => continue,
        };
        assert_eq!(start.map(|start| start.to_string()).as_deref(), Some("2005-01-03 09:00:00.001"));
        seen += 1;
    }
    assert!(seen > 100, "{seen} requests of frame 2");
}

#[test]
fn maintenance_takes_turns_among_what_exists() {
    let inputs = inputs();
    proptest!(ProptestConfig::with_cases(60), |(database in databases(), seed: u64)| {
        let mut maintenance = MaintenanceEmulator::new(inputs, database, seed).expect("a valid database");
        let companies = database.active_customers / 2;
        for turn in 0..240 {
            let input = maintenance.next();
            prop_assert_eq!(input.table_name, bourse_egen::driver::maintenance::TABLES[turn % 12]);
            prop_assert!(input.c_id.0 == 0 || (1..=database.active_customers).contains(&ordinal(input.c_id)));
            prop_assert!(input.co_id.0 == 0 || (1..=companies).contains(&(input.co_id.0 - ids::SHIFT)));
            if input.table_name == "DAILY_MARKET" {
                prop_assert!((1..=31).contains(&input.day_of_month));
                prop_assert!(input.vol_incr != 0 && input.vol_incr.abs() <= 3);
            }
        }
        let first_of_a_run = database.initial_trade_days * 28_800 * (database.configured_customers / 500) * 101 / 100;
        prop_assert_eq!(maintenance.trade_cleanup().start_trade_id.0, first_of_a_run + 1 + ids::TRADE_SHIFT);
    });
}

/// An order some milliseconds after the one before.
fn orders() -> impl Strategy<Value = Vec<(i64, TradeRequest)>> {
    let order = (0..400_i64, any::<bool>(), 0..5_usize, 0..685_i64, 1_900..3_100_i64);
    prop::collection::vec(order, 1..400).prop_map(|orders| {
        let order = |(number, (gap_ms, process, kind, security, cents)): (i64, (i64, bool, usize, i64, i64))| {
            let request = TradeRequest {
                action: if process { TradeAction::ProcessOrder } else { TradeAction::SetLimitTrigger },
                trade_id: TradeId(number),
                trade_type: TradeType::ALL[kind],
                // The security's index, until its symbol is known.
                symbol: bourse_schema::Text::cut(&security.to_string()),
                trade_qty: 100,
                price_quote: Price::from_units(cents),
            };
            (gap_ms, request)
        };
        (1..).zip(orders).map(order).collect()
    })
}

#[test]
fn the_market_never_loses_an_order() {
    let inputs = inputs();
    let opening = Timestamp::at(Date::from_ymd(2026, 1, 5), 23 * 3_600_000 + 59 * 60_000);
    let at = |t_ms: i64| Timestamp::from_millis(opening.millis() + t_ms);
    let config = MarketConfig { customers: 1_000, trading_s_so_far: 28_800 };
    proptest!(ProptestConfig::with_cases(100), |(script in orders(), seeds: (u64, u64))| {
        let mut market = MarketExchange::new(inputs, &config, seeds.0, seeds.1, at(-1_750));
        market.set_base_time(at(0));
        let mut submitted = HashMap::new();
        let (mut results, mut feeds) = (0, 0);
        let mut answer = |t_ms: i64, request: MarketRequest, submitted: &mut HashMap<TradeId, i64>| match request {
            MarketRequest::TradeResult(result) => {
                let since = submitted.remove(&result.trade_id).expect("an order has one result, and was submitted");
                assert!(t_ms - since <= 5_000, "{} waited {} ms", result.trade_id, t_ms - since);
                assert!((1_900..=3_100).contains(&result.trade_price.units()));
                results += 1;
            }
            MarketRequest::MarketFeed(feed) => {
                assert_eq!(feed.entries.len(), 20);
                let mut symbols: Vec<_> = feed.entries.iter().map(|entry| entry.symbol).collect();
                symbols.sort_unstable();
                symbols.dedup();
                assert_eq!(symbols.len(), feed.unique_symbols as usize);
                feeds += 1;
            }
        };
        // Nothing due: ask again a millisecond later.
        let due = |t_ms: i64, next: Option<std::time::Duration>| next.map(|next| t_ms + (next.as_millis() as i64).max(1));
        let (mut t_ms, mut next, mut expected) = (0, None, 0);
        for (gap_ms, mut order) in script {
            let arrival = t_ms + gap_ms;
            while let Some(now) = next.filter(|&now| now <= arrival) {
                next = due(now, market.generate(at(now), &mut |request| answer(now, request, &mut submitted)));
            }
            t_ms = arrival;
            order.symbol = inputs.symbol(order.symbol.as_str().parse().expect("the security's index"));
            if order.action == TradeAction::ProcessOrder {
                submitted.insert(order.trade_id, t_ms);
                expected += 1;
            }
            let returned = market.submit(at(t_ms), &order, &mut |request| answer(t_ms, request, &mut submitted));
            next = due(t_ms, returned.expect("a known symbol"));
            prop_assert_eq!(market.outstanding_orders(), submitted.len());
            prop_assert_eq!(next.is_none(), submitted.is_empty());
        }
        while let Some(now) = next {
            next = due(now, market.generate(at(now), &mut |request| answer(now, request, &mut submitted)));
        }
        prop_assert_eq!(market.outstanding_orders(), 0);
        prop_assert_eq!((results, feeds), (expected, expected / 10));
        prop_assert!(submitted.is_empty());
    });
}

#[test]
fn a_disabled_tape_shows_nothing_and_results_go_on() {
    let inputs = inputs();
    let opening = Timestamp::at(Date::from_ymd(2026, 1, 5), 9 * 3_600_000);
    let config = MarketConfig::after(&Database::of(1_000, 500, 1));
    let mut market = MarketExchange::new(inputs, &config, 1, 2, opening);
    market.set_ticker_tape(false);
    let order = |symbol, number| TradeRequest {
        action: TradeAction::ProcessOrder,
        trade_id: TradeId(number),
        trade_type: TradeType::MarketBuy,
        symbol,
        trade_qty: 100,
        price_quote: Price::from_units(2_500),
    };
    let mut answers = Vec::new();
    for number in 0..50 {
        market.submit(opening, &order(inputs.symbol(number), number), &mut |it| answers.push(it)).expect("known");
    }
    let later = Timestamp::from_millis(opening.millis() + 5_000);
    assert_eq!(market.generate(later, &mut |it| answers.push(it)), None);
    assert_eq!(answers.len(), 50);
    assert!(answers.iter().all(|answer| matches!(answer, MarketRequest::TradeResult(_))));
    assert_eq!(market.ticker_tape_rng_state(), 1);

    let nothing = bourse_schema::Symbol::cut("?");
    let error = market.submit(later, &order(nothing, 50), &mut |_| ()).expect_err("no such security");
    assert_eq!(error.to_string(), "no security has the symbol \"?\"");
    assert_eq!(market.outstanding_orders(), 0);
}
