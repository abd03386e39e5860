//! Outcome of a transaction by its status: completed, warned, rolled back, explained by a short database, or failed.

use crate::sut::Answer;
use crate::transactions::{Request, Status};
use bourse_driver::{OperationResult, Outcome};
use bourse_oltp::planted;

/// Outcome of an answered transaction.
pub(super) fn judge(request: &Request, answer: &Answer) -> OperationResult {
    let status = answer.output.status();
    let operation = request.transaction() as usize;
    let outcome = match status {
        _ if planted!(FailureCompleted) => Outcome::Completed,
        Status::SUCCESS => Outcome::Completed,
        Status::ROLLED_BACK => Outcome::RolledBack,
        warning if warning.is_warning() => Outcome::Warned,
        _ if answer.excused => Outcome::TooFewRows,
        error => {
            let meaning = error.meaning().unwrap_or("a status that no check sets");
            return OperationResult::failed(
                operation,
                error.code(),
                format!("status {error} ({meaning}) of {request:?}"),
            );
        }
    };
    OperationResult::ended(operation, outcome, status.code())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transactions::Output;
    use crate::transactions::trade_status::TradeStatusOutput;
    use bourse_egen::txn::TradeStatus;
    use bourse_schema::AccountId;

    #[test]
    fn a_check_that_failed_is_a_failure_unless_it_is_excused() {
        let request = Request::from(TradeStatus { acct_id: AccountId(43_000_000_002) });
        let judged = |status, excused| {
            let output = TradeStatusOutput { status: Status::of(status), trades: vec![], names: None };
            judge(&request, &Answer { output: Output::TradeStatus(output), excused })
        };
        let failed = judged(-911, false);
        assert_eq!((failed.outcome, failed.code), (Outcome::Failed, -911));
        assert!(failed.example.unwrap().starts_with("status -911 (not 50 trades of the account were found) of "));
        assert_eq!(judged(-911, true).outcome, Outcome::TooFewRows);
        assert_eq!(judged(641, false).outcome, Outcome::Warned);
        assert_eq!(judged(0, false).outcome, Outcome::Completed);
        assert_eq!(judged(1, false).outcome, Outcome::RolledBack);
    }
}
