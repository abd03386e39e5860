//! Rows that a database of few days is known to lack.

use crate::transactions::trade_lookup::FoundTrades;
use crate::transactions::{Output, Request, Status};
use bourse_egen::Part;
use bourse_engine::{Result, RowExt as _, Session};
use bourse_schema::{AccountId, TradeId};
use std::collections::BTreeSet;

/// Days of initial trades from which on every check of the reference's harness must pass (Clause 6.4, EGen's compliance
/// check).
const FULL_DAYS: i64 = 300;

/// Rows that a database of fewer than 300 initial days is known to lack.
///
/// A check that fails is excused only if this knowledge, gathered before the run by another way than the transaction
/// itself goes, explains it: else a wrong transaction would hide behind a small database.
#[derive(Debug)]
pub struct ShortDatabase {
    /// Trades by account when the run began; they are never removed.
    trades: Vec<u32>,
    first_account: AccountId,
    first_free_trade: TradeId,
}

impl ShortDatabase {
    /// Surveys the rows that a database lacks; `None` if it is full-sized.
    ///
    /// # Errors
    /// The engine's.
    pub fn survey(db: &mut dyn Session, part: Part, first_free_trade: TradeId) -> Result<Option<Self>> {
        if part.days() >= FULL_DAYS {
            return Ok(None);
        }
        let first_account = AccountId((part.first_customer() + bourse_egen::ids::SHIFT - 1) * 10 + 1);
        let mut trades = vec![0; part.customers() as usize * 10];
        db.query_text("SELECT t_ca_id, count(*) FROM trade GROUP BY t_ca_id", &[], &mut |row| {
            let account: AccountId = row.get(0)?;
            if let Some(count) = usize::try_from(account.0 - first_account.0).ok().and_then(|at| trades.get_mut(at)) {
                *count = row.get(1)?;
            }
            Ok(())
        })?;
        Ok(Some(Self { trades, first_account, first_free_trade }))
    }

    /// Number of trades of an account when the run began.
    fn trades_of(&self, account: AccountId) -> usize {
        let at = usize::try_from(account.0 - self.first_account.0).ok();
        at.and_then(|at| self.trades.get(at)).map_or(0, |count| *count as usize)
    }

    /// Whether the database's size explains a check of the harness that failed.
    pub fn explains(&self, request: &Request, output: &Output) -> bool {
        match (request, output) {
            // Trade-Status wants fifty trades of the account: it may find fewer if it had fewer, but not fewer than it had.
            (Request::TradeStatus(input), Output::TradeStatus(output)) => {
                let known = self.trades_of(input.acct_id);
                output.status == Status::of(-911)
                    && known < 50
                    && output.trades.len() >= known
                    && output.names.is_some()
            }
            // Customer-Position wants ten rows of history of the account's ten latest trades.
            (Request::CustomerPosition(input), Output::CustomerPosition(output)) => {
                let account = usize::try_from(input.acct_id_idx).ok().and_then(|at| output.accounts.get(at));
                let Some(account) = account else { return false };
                let known = self.trades_of(account.acct_id);
                let shown = output.history.iter().map(|row| row.trade_id).collect::<BTreeSet<_>>().len();
                output.status == Status::of(-221) && known < 10 && shown >= known
            }
            // Trade-Lookup frame 4 wants changes of holdings by the account's first trade after a moment: with no loaded
            // trade after it that is one of the run itself, which need not be completed.
            (_, Output::TradeLookup(output)) => match &output.found {
                FoundTrades::Holdings { trades, changes } => {
                    let of_the_run = trades.first().is_some_and(|trade| *trade >= self.first_free_trade);
                    output.status == Status::of(-642) && changes.is_empty() && of_the_run
                }
                _ => false,
            },
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transactions::trade_lookup::TradeLookupOutput;
    use crate::transactions::trade_status::TradeStatusOutput;
    use bourse_egen::txn::{TradeLookup, TradeStatus};
    use bourse_schema::Symbol;

    const SHORT: ShortDatabase =
        ShortDatabase { trades: Vec::new(), first_account: AccountId(43_000_000_001), first_free_trade: TradeId(100) };

    #[test]
    fn fewer_rows_than_the_account_has_trades_are_not_explained() {
        let request = Request::from(TradeStatus { acct_id: AccountId(43_000_000_002) });
        let output = Output::TradeStatus(TradeStatusOutput { status: Status::of(-911), trades: vec![], names: None });
        let short = ShortDatabase { trades: vec![0, 3], ..SHORT };
        assert!(!short.explains(&request, &output), "none found, though the account had three");
    }

    #[test]
    fn a_first_trade_of_the_run_itself_need_not_have_changed_holdings() {
        let lookup = TradeLookup {
            frame_to_execute: 4,
            trade_id: vec![],
            acct_id: AccountId(1),
            max_acct_id: AccountId(0),
            max_trades: 0,
            start_trade_dts: None,
            end_trade_dts: None,
            symbol: Symbol::EMPTY,
        };
        let explained = |trade| {
            let found = FoundTrades::Holdings { trades: vec![TradeId(trade)], changes: vec![] };
            let output = Output::TradeLookup(TradeLookupOutput { status: Status::of(-642), found });
            SHORT.explains(&lookup.clone().into(), &output)
        };
        assert!(explained(100));
        assert!(!explained(99), "a loaded trade is complete");
    }
}
