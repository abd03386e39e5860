//! Draws the pending orders: pure, the same for the same seed.

use super::{AGE_S, PendingOrder};
use bourse_egen::driver::{
    ConfigError, CustomerConfig, CustomerEmulator, Database, MarketConfig, MarketExchange, Mix, Tunables,
};
use bourse_egen::txn::CustomerRequest;
use bourse_egen::{Inputs, ids};
use bourse_schema::{Symbol, Text, Timestamp};
use std::collections::HashMap;

const AGE_MS: i64 = AGE_S * 1_000;

/// Limit orders that are pending in a market to which customers have sent this many Trade-Orders a second for [`AGE_S`],
/// evenly spaced, rolled-back ones included; the oldest first.
///
/// # Errors
/// Those of [`CustomerEmulator::new`].
pub fn pending_orders(
    inputs: &Inputs,
    database: Database,
    tunables: &Tunables,
    orders_per_second: f64,
    seeds: [u64; 3],
) -> Result<Vec<PendingOrder>, ConfigError> {
    let orders = (orders_per_second * AGE_S as f64).round() as i64;
    let level = tunables.mix.trade_order;
    if orders <= 0 || level == 0 {
        return Ok(Vec::new());
    }
    // Only Trade-Orders are drawn; the same share of them is rolled back as in the whole mix.
    let tunables = Tunables { mix: Mix { trade_order: level, ..Mix::NONE }, ..*tunables };
    let [mix_seed, input_seed, holdings_seed] = seeds;
    let config = CustomerConfig { tunables, holdings_seed, ..CustomerConfig::of(database) };
    let mut customers = CustomerEmulator::new(inputs, &config, mix_seed, input_seed)?;
    // The market only provides prices: any opening time will do, since they depend on the time since it opened.
    let opened = Timestamp::from_millis(0);
    let market = MarketExchange::new(inputs, &MarketConfig::after(&database), 0, 0, opened);
    let by_name = symbols_by_name(inputs, &database);
    let mut pending = Vec::new();
    for number in 0..orders {
        let CustomerRequest::TradeOrder(input) = customers.next() else { continue };
        if input.roll_it_back || input.trade_type.is_market() {
            continue;
        }
        let after_ms = AGE_MS * (2 * number + 1) / (2 * orders);
        let symbol = match input.symbol.is_empty() {
            true => by_name[&(input.co_name, input.issue)],
            false => input.symbol,
        };
        let age_ms = AGE_MS - after_ms;
        let mut order = PendingOrder { input, symbol, age_ms, due_ms: 0 };
        let placed = Timestamp::from_millis(after_ms);
        let wait_s = market.executed_after_s(placed, &order.request()).ok().flatten().unwrap_or(0);
        order.due_ms = wait_s * 1_000 - age_ms;
        if order.due_ms > 0 {
            pending.push(order);
        }
    }
    Ok(pending)
}

/// The symbols of the active customers' securities, by company and issue.
fn symbols_by_name(inputs: &Inputs, database: &Database) -> HashMap<(Text<60>, Text<6>), Symbol> {
    let securities = database.configured_customers / ids::LOAD_UNIT * ids::SECURITIES_PER_LOAD_UNIT;
    let named = |security: i64| {
        let company = inputs.company_name(ids::company_index(inputs.issuer(security)));
        ((company, inputs.security(security).issue), inputs.symbol(security))
    };
    (0..securities).map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_egen::price::{PriceCurve, in_the_money};
    use bourse_egen::txn::TradeType;

    const DATABASE: Database = Database::of(1_000, 500, 1);

    fn drawn(orders_per_second: f64) -> Vec<PendingOrder> {
        let inputs = Inputs::builtin();
        pending_orders(&inputs, DATABASE, &Tunables::default(), orders_per_second, [1, 2, 3]).unwrap()
    }

    #[test]
    fn as_many_orders_are_pending_as_wait_on_average() {
        // Little's law, against the mean wait of limit orders: limits and moments are uniform, two of five are limit orders,
        // one of 101 is rolled back.
        let curve = PriceCurve::after(0);
        let mut wait_s = 0.0;
        let mut tried = 0;
        for at in 0..900 {
            for cents in (2_000..=3_000).step_by(10) {
                let (time, limit) = (f64::from(at), bourse_egen::Money::from_cents(cents));
                for (kind, weight) in
                    [(TradeType::LimitBuy, 0.5), (TradeType::LimitSell, 0.25), (TradeType::StopLoss, 0.25)]
                {
                    let price = curve.price(0, time);
                    if !in_the_money(kind, price, limit) {
                        wait_s += weight * bourse_egen::price::travel(price, limit, curve.direction(0, time));
                    }
                }
                tried += 1;
            }
        }
        let orders_per_second = 40.0;
        let expected = orders_per_second * 0.4 * (100.0 / 101.0) * wait_s / f64::from(tried);
        let found = drawn(orders_per_second).len() as f64;
        // Five standard deviations, were they drawn independently.
        assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{found} pending, {expected} expected");
        assert!(drawn(0.0).is_empty());
    }

    #[test]
    fn they_wait_at_most_a_period_and_come_due_in_the_future() {
        let pending = drawn(10.0);
        assert!(pending.is_sorted_by_key(|order| -order.age_ms));
        for order in &pending {
            assert!((1..=AGE_MS).contains(&order.due_ms), "{order:?}");
            assert!((1..AGE_MS).contains(&order.age_ms), "{order:?}");
            assert!(order.due_ms + order.age_ms <= AGE_MS, "{order:?}");
            assert!(!order.input.roll_it_back && !order.input.trade_type.is_market() && !order.symbol.is_empty());
        }
        assert!(pending.iter().any(|order| order.input.symbol.is_empty()), "some name company and issue");
        assert!(pending.iter().any(|order| !order.input.executor_is_account_owner), "some are ordered by others");
    }
}
