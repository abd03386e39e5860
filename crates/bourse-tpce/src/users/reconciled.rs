//! Reconciliation of the commits acknowledged to users with the driver's counts. The database is compared with them later.

use crate::check::reconciliation::{ORDERS, RESULTS};
use crate::transactions::Transaction;
use bourse_driver::{OperationLedger, Outcome};
use bourse_egen::driver::{CustomerTransaction, Mix};
use bourse_oltp::check::ledger::Ledger;
use bourse_record::Check;

/// Checks that as many Trade-Orders and Trade-Results were acknowledged as the driver counted.
pub(super) fn acknowledgements(acknowledged: &Ledger, ledger: &OperationLedger) -> Check {
    let of = |transaction: Transaction| ledger.entry(transaction as usize);
    let (order, result) = (of(Transaction::TradeOrder), of(Transaction::TradeResult));
    let in_doubt = |at| acknowledged.amount(at).end().abs_diff(*acknowledged.amount(at).start()) as u64;
    let pairs = [
        ("Trade-Orders committed", acknowledged.sure(ORDERS), order.ended(Outcome::Completed)),
        ("Trade-Orders in doubt", in_doubt(ORDERS), order.in_doubt),
        ("Trade-Results committed", acknowledged.sure(RESULTS), result.ended(Outcome::Completed)),
        ("Trade-Results in doubt", in_doubt(RESULTS), result.in_doubt),
    ];
    let holds = pairs.iter().all(|(_, acknowledged, counted)| acknowledged == counted);
    let evidence =
        pairs.map(|(what, acknowledged, counted)| format!("{what}: {acknowledged} acknowledged, {counted} counted"));
    let words =
        "users were acknowledged as many Trade-Orders and Trade-Results as the driver counted in the whole round";
    Check::new("acknowledgements", words, Check::RECONCILIATION, holds, evidence.join("; "))
}

/// Natural logarithm of ten thousand million: the odds against a false alarm, for each transaction.
const CERTAINTY: f64 = 23.0;

/// Largest plausible distance of a count with this variance from its mean, by Bernstein's inequality. It holds for few draws
/// too, and for a shuffled deck, whose shares vary less than draws at random.
fn tolerance(variance: f64) -> f64 {
    CERTAINTY / 3.0 + (CERTAINTY * CERTAINTY / 9.0 + 2.0 * variance * CERTAINTY).sqrt()
}

/// Checks that customers performed each of their transactions as often as their deck deals it.
pub(super) fn mix_of_requests(ledger: &OperationLedger, mix: &Mix) -> Check {
    let levels = mix.levels().map(|(dealt, level)| (performed(dealt), f64::from(level)));
    let cards: f64 = levels.iter().map(|(_, level)| level).sum();
    let counts = levels.map(|(transaction, _)| ledger.entry(transaction as usize).whole_round.iter().sum::<u64>());
    let all = counts.iter().sum::<u64>() as f64;
    let is_dealt = |((_, level), count): (&(Transaction, f64), &u64)| {
        let share = level / cards;
        (*count as f64 - all * share).abs() <= tolerance(all * share * (1.0 - share))
    };
    let holds = levels.iter().zip(&counts).all(is_dealt);
    let evidence = levels
        .iter()
        .zip(counts)
        .map(|((transaction, level), count)| format!("{transaction}: {count}, {:.0} expected", all * level / cards));
    let words = "customers have asked for each transaction as often as the mix has it, over the whole round";
    Check::new("mix of requests", words, Check::RECONCILIATION, holds, evidence.collect::<Vec<_>>().join("; "))
}

const fn performed(dealt: CustomerTransaction) -> Transaction {
    use CustomerTransaction as T;
    match dealt {
        T::TradeStatus => Transaction::TradeStatus,
        T::MarketWatch => Transaction::MarketWatch,
        T::SecurityDetail => Transaction::SecurityDetail,
        T::CustomerPosition => Transaction::CustomerPosition,
        T::TradeOrder => Transaction::TradeOrder,
        T::TradeLookup => Transaction::TradeLookup,
        T::TradeUpdate => Transaction::TradeUpdate,
        T::BrokerVolume => Transaction::BrokerVolume,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_driver::Sample;
    use bourse_record::CheckStatus;

    #[test]
    fn an_order_that_nobody_counted_is_found() {
        let mut ledger = OperationLedger::new(Transaction::ALL.len());
        let operation = Transaction::TradeOrder as usize;
        for outcome in [Outcome::Completed, Outcome::Completed, Outcome::RolledBack] {
            ledger.enter(&Sample::new(operation, outcome, 2), false);
        }
        let mut acknowledged = Ledger::default();
        acknowledged.add(ORDERS, 2);
        assert_eq!(acknowledgements(&acknowledged, &ledger).status, CheckStatus::Passed);
        for at in [ORDERS, RESULTS] {
            let mut wrong = acknowledged.clone();
            wrong.add(at, 1);
            assert_eq!(acknowledgements(&wrong, &ledger).status, CheckStatus::Failed);
        }
    }

    #[test]
    fn a_transaction_that_is_never_asked_for_is_found() {
        let mix = Mix::default();
        let ledger = |without: Option<Transaction>| {
            let mut ledger = OperationLedger::new(Transaction::ALL.len());
            for (dealt, level) in mix.levels() {
                let transaction = performed(dealt);
                let count = if without == Some(transaction) { 0 } else { level };
                let sample = Sample::new(transaction as usize, Outcome::Completed, 1);
                ledger.enter(&Sample { count, ..sample }, true);
            }
            ledger
        };
        assert_eq!(mix_of_requests(&ledger(None), &mix).status, CheckStatus::Passed);
        let missing = mix_of_requests(&ledger(Some(Transaction::MarketWatch)), &mix);
        assert_eq!(missing.status, CheckStatus::Failed);
        assert!(missing.evidence.contains("Market-Watch: 0, 144 expected"), "{}", missing.evidence);
        assert_eq!(
            mix_of_requests(&OperationLedger::new(Transaction::ALL.len()), &mix).status,
            CheckStatus::Passed,
            "nothing was asked"
        );
    }
}
