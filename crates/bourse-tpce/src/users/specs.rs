//! The twelve transactions as the driver's operations: response limits (Clause 6.5), mix (Clause 6.2) and its tolerance.

use crate::transactions::Transaction;
use bourse_driver::{MixShare, OperationSpec, SECOND};
use bourse_record::{Operation, ResponseLimit, STATUS_CODES};

/// The default of [`RunOptions::market_room`](super::RunOptions::market_room).
///
/// Enough that the market's users never run dry, few enough that Trade-Results stay far below their limit of 2 s even
/// where each commit is synced: of a thousand transactions the market's make 300 commits (a Market-Feed has twenty), so
/// that its queue is where a closed loop piles up. With 64 and commits of some 10 ms Trade-Results waited 0.6 to 0.8 s.
pub(super) const MARKET_ROOM: usize = 16;

/// Share of a kind in all transactions, in percent, and seconds within which 90 % of it must be answered.
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

/// The operations, in the order of [`Transaction::ALL`]. Their [expected](expect) shares of a round are known once it has
/// ended.
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

/// The limits of response times (Clause 6.5): 90 % of each transaction of the mix.
pub fn response_limits() -> Vec<ResponseLimit> {
    let limit = |spec: OperationSpec| {
        Some(ResponseLimit { operation: Some(spec.name.to_owned()), quantile: 0.9, limit_ns: spec.limit_ns? })
    };
    specs().into_iter().filter_map(limit).collect()
}

/// Sets the expected share of each transaction in a round in which the market owed `due_results` Trade-Results, and its
/// tolerance in percentage points.
///
/// Ten Trade-Results make a Market-Feed, and customers' transactions share the rest as the specification has it. The
/// tolerance is 0.05 points for cards still in hand, plus three standard deviations of the same number of transactions drawn
/// at random, which bounds the deviation of decks.
pub(super) fn expect(operations: &mut [Operation], due_results: f64) {
    const FEEDS_A_RESULT: f64 = 0.1;
    let is_market = |name: &str| [Transaction::TradeResult, Transaction::MarketFeed].iter().any(|it| it.name() == name);
    let in_mix = |operation: &&Operation| operation.mix_target_percent.is_some();
    let samples: u64 = operations.iter().filter(in_mix).map(Operation::ended).sum();
    let customers: u64 = operations.iter().filter(in_mix).filter(|it| !is_market(&it.name)).map(Operation::ended).sum();
    let customers_target: f64 =
        operations.iter().filter(|it| !is_market(&it.name)).filter_map(|it| it.mix_target_percent).sum();
    let all = customers as f64 + due_results * (1.0 + FEEDS_A_RESULT);
    for operation in operations {
        let Some(target) = operation.mix_target_percent else { continue };
        let share = match &*operation.name {
            _ if all <= 0.0 => target / 100.0,
            name if name == Transaction::TradeResult.name() => due_results / all,
            name if name == Transaction::MarketFeed.name() => FEEDS_A_RESULT * due_results / all,
            _ => target / customers_target * customers as f64 / all,
        };
        let deviation = 100.0 * (share * (1.0 - share) / samples.max(1) as f64).sqrt();
        operation.mix_expected_percent = Some(100.0 * share);
        operation.mix_tolerance_points = Some(0.05 + 3.0 * deviation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_record::{Outcome, OutcomeCount};

    #[test]
    fn the_mix_is_whole_and_stands_in_the_order_of_the_transactions() {
        let specs = specs();
        let sum: f64 = specs.iter().filter_map(|spec| spec.mix).map(|mix| mix.target_percent).sum();
        assert!((sum - 100.0).abs() < 1e-9, "{sum}");
        for (spec, transaction) in specs.iter().zip(Transaction::ALL) {
            assert_eq!(spec.name, Transaction::ALL[transaction as usize].name());
        }
    }

    /// Figures of a round with so many customers' transactions, Trade-Results and Market-Feeds, the market owing `due`.
    fn expected(customers: u64, results: u64, due: f64) -> Vec<Operation> {
        let recorder = bourse_record::Recorder::new(specs().into(), |_| true);
        let mut figures = recorder.figures();
        for operation in &mut figures {
            let Some(target) = operation.mix_target_percent else { continue };
            let count = match &*operation.name {
                "Trade-Result" => results,
                "Market-Feed" => results / 10,
                _ => (customers as f64 * target / 89.0) as u64,
            };
            let outcome = Outcome::Completed;
            operation.outcomes = vec![OutcomeCount { outcome, code: 0, count, meaning: None, example: None }];
        }
        expect(&mut figures, due);
        figures
    }

    /// Whether the mix of these figures is within its tolerance.
    fn keeps(figures: &[Operation]) -> bool {
        let in_mix = || figures.iter().filter(|it| it.mix_target_percent.is_some());
        let samples: u64 = in_mix().map(Operation::ended).sum();
        in_mix().all(|it| {
            let share = 100.0 * it.ended() as f64 / samples as f64;
            (share - it.mix_expected_percent.unwrap()).abs() <= it.mix_tolerance_points.unwrap()
        })
    }

    #[test]
    fn the_mix_is_held_against_what_the_market_owed() {
        // A steady market: the specification's shares.
        let steady = expected(89_000, 10_000, 10_000.0);
        for operation in steady.iter().filter(|it| it.mix_target_percent.is_some()) {
            let (share, target) = (operation.mix_expected_percent.unwrap(), operation.mix_target_percent.unwrap());
            assert!((share - target).abs() < 1e-9, "{}: {share}", operation.name);
        }
        assert!(keeps(&steady));
        // A young market owes 17 % less, and may give no more than that.
        let young = expected(89_000, 8_300, 8_300.0);
        assert!((8.4..8.5).contains(&young[Transaction::TradeResult as usize].mix_expected_percent.unwrap()));
        assert!(keeps(&young));
        assert!(!keeps(&expected(89_000, 10_000, 8_300.0)));
        // Two hours at 8.3 %, of a market that owes 10 %: too few, however many were drawn.
        assert!(!keeps(&expected(8_900_000, 815_000, 1_000_000.0)));
        assert_eq!(young[Transaction::DataMaintenance as usize].mix_expected_percent, None);
        // A round without transactions has no infinite shares.
        assert!(expected(0, 0, 0.0).iter().all(|it| it.mix_expected_percent.is_none_or(f64::is_finite)));
    }
}
