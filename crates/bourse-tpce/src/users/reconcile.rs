//! Reconciliation of what users were answered with what the driver counted. The database is compared with the answers later.

use crate::check::books::Acknowledged;
use crate::transactions::Transaction;
use bourse_driver::{Ledger, Outcome};
use bourse_record::{Check, CheckStatus};

/// Checks that as many Trade-Orders and Trade-Results were acknowledged as the driver counted.
pub(super) fn acknowledged(told: &Acknowledged, ledger: &Ledger) -> Check {
    let of = |transaction: Transaction| ledger.entry(transaction as usize);
    let (order, result) = (of(Transaction::TradeOrder), of(Transaction::TradeResult));
    let pairs = [
        ("Trade-Orders committed", told.orders, order.ended(Outcome::Completed)),
        ("Trade-Orders in doubt", told.orders_in_doubt, order.in_doubt),
        ("Trade-Results committed", told.results, result.ended(Outcome::Completed)),
        ("Trade-Results in doubt", told.results_in_doubt, result.in_doubt),
    ];
    let status =
        if pairs.iter().all(|(_, told, counted)| told == counted) { CheckStatus::Passed } else { CheckStatus::Failed };
    let evidence = pairs.map(|(what, told, counted)| format!("{what}: {told} acknowledged, {counted} counted"));
    Check {
        name: "acknowledgements".to_owned(),
        words:
            "users were acknowledged as many Trade-Orders and Trade-Results as the driver counted in the whole round"
                .to_owned(),
        source: Check::RECONCILIATION.to_owned(),
        status,
        evidence: evidence.join("; "),
        took_s: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_driver::Sample;

    #[test]
    fn an_order_that_nobody_counted_is_found() {
        let mut ledger = Ledger::new(Transaction::ALL.len());
        let operation = Transaction::TradeOrder as usize;
        for outcome in [Outcome::Completed, Outcome::Completed, Outcome::RolledBack] {
            let (due_ns, start_ns, end_ns, back_off_ns) = (0, 1, 2, 0);
            let sample = Sample {
                due_ns,
                start_ns,
                end_ns,
                back_off_ns,
                retries: 0,
                count: 1,
                operation,
                outcome,
                code: 0,
                server: None,
            };
            ledger.enter(&sample, false);
        }
        let told = Acknowledged { orders: 2, ..Acknowledged::default() };
        assert_eq!(acknowledged(&told, &ledger).status, CheckStatus::Passed);
        for wrong in [Acknowledged { orders: 3, ..told }, Acknowledged { results: 1, ..told }] {
            assert_eq!(acknowledged(&wrong, &ledger).status, CheckStatus::Failed);
        }
    }
}
