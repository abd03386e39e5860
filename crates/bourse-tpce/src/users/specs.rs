//! The twelve transactions as the driver's operations: response limits (Clause 6.5), mix (Clause 6.2) and its tolerance.

use crate::transactions::Transaction;
use bourse_driver::{MixShare, OperationSpec, SECOND};
use bourse_record::{Operation, STATUS_CODES};

/// The default of [`RunOptions::market_room`](super::RunOptions::market_room).
///
/// Enough that the market's users never run dry, few enough that Trade-Results stay far below their limit of 2 s even
/// where each commit is synced: of a thousand transactions the market's make 300 commits (a Market-Feed has twenty), so
/// that its queue is where a closed loop piles up. With 64 and commits of some 10 ms Trade-Results waited 0.6 to 0.8 s.
pub(super) const MARKET_ROOM: usize = 16;

/// How many percent of all transactions a kind should be, and within how many seconds 90 % of it must be answered.
const fn rules(transaction: Transaction) -> Option<(f64, u64)> {
    use Transaction as T;
    Some(match transaction {
        T::BrokerVolume => (4.9, 3),
        T::CustomerPosition => (13.0, 3),
        T::MarketFeed => (1.0, 2),
        T::MarketWatch => (18.0, 3),
        T::SecurityDetail => (14.0, 3),
        T::TradeLookup => (8.0, 3),
        T::TradeOrder => (10.1, 2),
        T::TradeResult => (10.0, 2),
        T::TradeStatus => (19.0, 1),
        T::TradeUpdate => (2.0, 3),
        T::DataMaintenance | T::TradeCleanup => return None,
    })
}

/// The operations, in the order of [`Transaction::ALL`]. Tolerances are [set](tolerate) once a run's length is known.
pub(super) fn specs() -> Vec<OperationSpec> {
    let spec = |transaction: Transaction| {
        let rules = rules(transaction);
        OperationSpec {
            name: transaction.name(),
            limit_ns: rules.map(|(_, seconds)| seconds * SECOND),
            mix: rules.map(|(target_percent, _)| MixShare { target_percent, tolerance_points: 0.05 }),
            codes: STATUS_CODES,
        }
    };
    Transaction::ALL.map(spec).into()
}

/// Sets how far each share may be off, in percentage points, after a warm-up and in an interval of so many seconds.
///
/// Three parts. 0.05 points for cards still in hand, which is all that a long run needs. Three standard deviations of so
/// many transactions drawn at random, which bounds what decks leave. And what the ramp explains: orders are executed a
/// second after they are placed, on average; and two of five are limit orders, of which half are in the money at once
/// while the others wait for their price up to 900 s, the period of the price curve. Until then Trade-Results, and with
/// them Market-Feeds, fall short of the orders, which raises all other shares.
pub(super) fn tolerate(operations: &mut [Operation], warm_up_s: f64, measured_s: f64) {
    const PERIOD_S: f64 = 900.0;
    let waiting_for_price = 0.2 * (1.0 - (warm_up_s / PERIOD_S).min(1.0));
    // The mean over the interval of exp(-t), the part of a steady stream of orders not yet executed t seconds from its start.
    let end_s = warm_up_s + measured_s.max(0.001);
    let on_the_floor = ((-warm_up_s).exp() - (-end_s).exp()) / (end_s - warm_up_s);
    let market_share = (1.0 - waiting_for_price) * (1.0 - on_the_floor);
    let total = 89.0 + 11.0 * market_share;
    let in_mix = |operation: &&Operation| operation.mix_target_percent.is_some();
    let samples: u64 = operations.iter().filter(in_mix).map(|operation| operation.response.summary.count).sum();
    for operation in operations {
        let Some(target) = operation.mix_target_percent else { continue };
        let market = [Transaction::TradeResult, Transaction::MarketFeed].iter().any(|it| it.name() == operation.name);
        let ramp_share = target * if market { market_share } else { 1.0 } * 100.0 / total;
        let share = target / 100.0;
        let deviation = 100.0 * (share * (1.0 - share) / samples.max(1) as f64).sqrt();
        operation.mix_tolerance_points = Some(0.05 + 3.0 * deviation + (ramp_share - target).abs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_whole_and_stands_in_the_order_of_the_transactions() {
        let specs = specs();
        let sum: f64 = specs.iter().filter_map(|spec| spec.mix).map(|mix| mix.target_percent).sum();
        assert!((sum - 100.0).abs() < 1e-9, "{sum}");
        for (spec, transaction) in specs.iter().zip(Transaction::ALL) {
            assert_eq!(spec.name, Transaction::ALL[transaction as usize].name());
        }
    }

    #[test]
    fn a_long_warm_up_leaves_no_room_for_the_ramp() {
        let tolerances = |warm_up_s: f64| {
            let recorder = bourse_record::Recorder::new(specs().into(), |_| true);
            let mut figures = recorder.figures();
            figures.iter_mut().for_each(|operation| operation.response.summary.count = 1_000_000);
            tolerate(&mut figures, warm_up_s, 30.0);
            figures.iter().map(|operation| operation.mix_tolerance_points).collect::<Vec<_>>()
        };
        let result = Transaction::TradeResult as usize;
        let (short, long) = (tolerances(5.0), tolerances(900.0));
        assert!((1.8..2.0).contains(&short[result].unwrap()), "{short:?}");
        assert!(long[result].unwrap() < 0.1, "{long:?}");
        assert_eq!(long[Transaction::DataMaintenance as usize], None);
    }
}
