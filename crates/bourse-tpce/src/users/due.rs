//! Trade-Results that a market of some age owes: the time of each is known when its order is placed.
//!
//! Two of five orders are limit orders, half of which wait for their price, up to 900 s, the period of the price curve. So a
//! market that has just opened has fewer Trade-Results than orders, and [the mix](super::specs) of a round is compared with
//! what this market owed in it, not with the mix of a market in which as many limit orders come due as are placed.

use bourse_driver::{Nanos, SECOND};

/// Mean time until an order is executed: the emulated delay of the trading floor, in nanoseconds.
const FLOOR_NS: Nanos = SECOND;

/// Length of a bin, in nanoseconds.
const BIN_NS: Nanos = SECOND / 10;

/// Trade-Results by due time, counted from the begin of a round.
#[derive(Debug, Clone, Default)]
pub(super) struct DueResults {
    bins: Vec<u32>,
}

impl DueResults {
    /// Counts an order placed `placed_ns` after the begin, and sent to be executed `after_s` seconds later.
    pub(super) fn add(&mut self, placed_ns: Nanos, after_s: i64) {
        let due = placed_ns + after_s.unsigned_abs() * SECOND + FLOOR_NS;
        let bin = (due / BIN_NS) as usize;
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] = self.bins[bin].saturating_add(1);
    }

    /// Number of Trade-Results due between two moments; bins that are cut count by their part.
    pub(super) fn between(&self, from_s: f64, to_s: f64) -> f64 {
        let bin_s = BIN_NS as f64 / SECOND as f64;
        let part = |at: usize| {
            let (begin, end) = (at as f64 * bin_s, (at + 1) as f64 * bin_s);
            ((end.min(to_s) - begin.max(from_s)) / bin_s).clamp(0.0, 1.0)
        };
        let first = (from_s / bin_s).max(0.0) as usize;
        self.bins.iter().enumerate().skip(first).map(|(at, count)| part(at) * f64::from(*count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::stream::START;
    use bourse_egen::driver::{CustomerConfig, CustomerEmulator, Database, MarketConfig, MarketExchange};
    use bourse_egen::txn::{CustomerRequest, MarketRequest, TradeAction, TradeRequest, TradeType};
    use bourse_egen::{Inputs, Money};
    use bourse_schema::{Timestamp, TradeId};
    use std::collections::{HashMap, VecDeque};

    #[test]
    fn results_are_counted_where_they_are_due() {
        let mut due = DueResults::default();
        due.add(0, 0);
        due.add(SECOND / 2, 0);
        due.add(0, 900);
        assert_eq!(due.between(0.0, 1.0), 0.0);
        assert_eq!(due.between(0.9, 1.6), 2.0);
        assert!((due.between(1.05, 1.6) - 1.5).abs() < 1e-9, "half a bin is half of what is in it");
        assert_eq!(due.between(1.7, 2_000.0), 1.0);
    }

    /// Simulates a market with orders as customers place them, all executed immediately: returns the results due by this
    /// count and the results that came, second by second.
    fn market(seconds: u64, orders_a_second: u64, loses_triggers: u64) -> (DueResults, Vec<u32>) {
        let inputs = Inputs::builtin();
        let database = Database::of(1_000, 500, 1);
        let mut customers = CustomerEmulator::new(&inputs, &CustomerConfig::of(database), 1, 2).unwrap();
        let mut market = MarketExchange::new(&inputs, &MarketConfig::after(&database), 3, 4, START);
        let (mut due, mut came) = (DueResults::default(), vec![0; seconds as usize]);
        // Limit orders by security, as Trade-Request has them for the feed to find.
        let mut waiting: HashMap<_, Vec<(TradeType, TradeRequest)>> = HashMap::new();
        let mut triggers = 0;
        let mut said = VecDeque::new();
        for number in 0..seconds * orders_a_second {
            let ms = number * 1_000 / orders_a_second;
            let now = Timestamp::from_millis(START.millis() + ms as i64);
            let order = loop {
                if let CustomerRequest::TradeOrder(order) = customers.next()
                    && !order.symbol.is_empty()
                {
                    break order;
                }
            };
            let is_market = order.trade_type.is_market();
            let request = TradeRequest {
                trade_id: TradeId(number as i64),
                trade_type: order.trade_type,
                trade_qty: order.trade_qty,
                symbol: order.symbol,
                price_quote: Money::from_dollars(order.requested_price).into(),
                action: if is_market { TradeAction::ProcessOrder } else { TradeAction::SetLimitTrigger },
            };
            if let Some(after_s) = market.executed_after_s(now, &request).unwrap() {
                due.add(ms * 1_000_000, after_s);
            }
            if !is_market {
                waiting.entry(order.symbol).or_default().push((order.trade_type, request));
            }
            market.submit(now, &request, &mut |it| said.push_back(it)).unwrap();
            while let Some(it) = said.pop_front() {
                let feed = match it {
                    MarketRequest::TradeResult(_) => {
                        came[(ms / 1_000) as usize] += 1;
                        continue;
                    }
                    MarketRequest::MarketFeed(feed) => feed,
                };
                for entry in feed.entries {
                    let Some(orders) = waiting.get_mut(&entry.symbol) else { continue };
                    let reached = |kind: TradeType, limit| match kind {
                        TradeType::LimitBuy | TradeType::StopLoss => limit >= entry.price_quote,
                        _ => limit <= entry.price_quote,
                    };
                    let (now_reached, still) =
                        orders.drain(..).partition(|(kind, order)| reached(*kind, order.price_quote));
                    *orders = still;
                    let _: &Vec<(TradeType, TradeRequest)> = &now_reached;
                    for (_, order) in now_reached {
                        triggers += 1;
                        if loses_triggers > 0 && triggers % loses_triggers == 0 {
                            continue;
                        }
                        let execute = TradeRequest { action: TradeAction::ProcessOrder, ..order };
                        assert_eq!(
                            market.executed_after_s(now, &execute),
                            Ok(None),
                            "it was counted when it was placed"
                        );
                        market.submit(now, &execute, &mut |it| said.push_back(it)).unwrap();
                    }
                }
            }
        }
        (due, came)
    }

    #[test]
    fn a_young_market_owes_fewer_results_and_gives_what_it_owes() {
        let (due, came) = market(1_500, 20, 0);
        let sum = |from: usize, to: usize| came[from..to].iter().sum::<u32>() as f64;
        let share = |from: usize, to: usize| due.between(from as f64, to as f64) / (20.0 * (to - from) as f64);
        // The size of the ramp, as the documents declare it.
        let young = share(5, 45);
        assert!((0.78..0.86).contains(&young), "{young}");
        let old = share(1_000, 1_500);
        assert!((0.985..1.015).contains(&old), "{old}");
        // The due results came, within three standard deviations and the order of some seconds at either end.
        for (from, to) in [(5, 45), (45, 300), (300, 900), (900, 1_500)] {
            let (due, came) = (due.between(from as f64, to as f64), sum(from, to));
            assert!((due - came).abs() <= 3.0 * due.sqrt() + 40.0, "{from}..{to}: {due} due, {came} came");
        }
    }

    #[test]
    fn lost_triggers_are_missed() {
        let (due, came) = market(1_500, 20, 2);
        let (due, came) = (due.between(900.0, 1_500.0), came[900..].iter().sum::<u32>() as f64);
        assert!(due - came > 6.0 * due.sqrt(), "{due} due, {came} came");
    }
}
