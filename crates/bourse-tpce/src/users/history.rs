//! Values that the transactions found and left by their outputs, for the history of a round.
//!
//! | value | found by | left by |
//! |---|---|---|
//! | cash of an account | Customer-Position, Trade-Result | Trade-Result |
//! | shares of a security that an account holds, 0 without a holding summary | Trade-Result | Trade-Result |
//! | state of a trade, its newest history row | Trade-Status, Customer-Position, Market-Feed | Trade-Order, Market-Feed, Trade-Result |
//!
//! No output has a security's volume or a broker's number of trades after a change: they are reconciled as sums.

use crate::transactions::{Output, Request, Status};
use bourse_driver::Nanos;
use bourse_egen::txn::{TradeAction, TradeRequest};
use bourse_engine::Access;
use bourse_isolation::TransactionOutcome::{self, Committed, RolledBack, Unknown};
use bourse_oltp::history::{HistoryItem, UserHistory, ValueChange};
use bourse_schema::{AccountId, Balance, Symbol, TradeId};

/// Row with a value that transactions of a round change; in the order in which a transaction reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// Shares of a security that an account holds.
    Holding(AccountId, Symbol),
    /// Cash of an account, in cents.
    Cash(AccountId),
    /// State of a trade: a position in [`STATES`].
    Trade(TradeId),
}

/// States of a trade in their order, by the names of its statuses.
const STATES: [&str; 4] = ["absent", "Pending", "Submitted", "Completed"];
const ABSENT: i64 = 0;
const PENDING: i64 = 1;
const SUBMITTED: i64 = 2;
const COMPLETED: i64 = 3;

impl HistoryItem for Item {
    fn text(self, value: i64) -> String {
        match self {
            Self::Cash(account) => format!("ca_bal of account {account} is {}", Balance::from_units(value)),
            Self::Holding(account, symbol) => format!("hs_qty of account {account} in {symbol} is {value}"),
            Self::Trade(trade) => {
                let state = usize::try_from(value).ok().and_then(|state| STATES.get(state)).unwrap_or(&"unknown");
                format!("trade {trade} is {state}")
            }
        }
    }
}

/// Trades of a Trade-Status that are recorded: the others hardly change any more, and would take most of the memory.
const NEWEST_TRADES: usize = 10;

const fn found(item: Item, value: i64) -> ValueChange<Item> {
    ValueChange { item, found: Some(value), left: None }
}

/// Request that was performed.
pub(super) struct Performed<'p> {
    pub(super) request: &'p Request,
    /// Output; `None` of one that failed.
    pub(super) output: Option<&'p Output>,
    pub(super) in_doubt: bool,
    /// Begin and end.
    pub(super) times: [Nanos; 2],
    /// Orders that were sent, each with the time of its commit.
    pub(super) orders: &'p [(TradeRequest, Nanos)],
}

impl Performed<'_> {
    /// Records its transactions, with the states of trades from `first_trade` on.
    pub(super) fn record(&self, history: &mut UserHistory<'_, Item>, first_trade: TradeId) {
        let operation = self.request.transaction() as usize;
        for (order, sent_ns) in self.orders {
            // A Market-Feed has a transaction for each of its entries, which may trigger several orders.
            let (before, after) = match (self.request, order.action) {
                (Request::MarketFeed(_), _) => (PENDING, SUBMITTED),
                (_, TradeAction::SetLimitTrigger) => (ABSENT, PENDING),
                (_, TradeAction::ProcessOrder) => (ABSENT, SUBMITTED),
            };
            let change = ValueChange { item: Item::Trade(order.trade_id), found: Some(before), left: Some(after) };
            history.ended(operation, [self.times[0], *sent_ns], Committed, vec![change]);
        }
        let writes = self.request.transaction().access() == Access::Write;
        let outcome = match self.output.map(Output::status) {
            Some(status) if !status.is_error() && status != Status::ROLLED_BACK => Committed,
            // What is read has been committed before it is found to be too little.
            Some(_) if !writes => Committed,
            None if self.in_doubt && writes => Unknown,
            _ => RolledBack,
        };
        history.ended(operation, self.times, outcome, changes(self.request, self.output, outcome, first_trade));
    }
}

/// Values that a transaction found and left, those of orders that it sent excepted.
fn changes(
    request: &Request,
    output: Option<&Output>,
    outcome: TransactionOutcome,
    first_trade: TradeId,
) -> Vec<ValueChange<Item>> {
    let state = |trade: TradeId, status: &str| {
        let state = (trade >= first_trade).then(|| STATES.iter().position(|it| *it == status))??;
        Some((trade, state as i64))
    };
    let mut changes = Vec::new();
    if let Request::TradeResult(input) = request {
        changes.push(ValueChange { item: Item::Trade(input.trade_id), found: None, left: Some(COMPLETED) });
    }
    match output {
        Some(Output::TradeResult(output)) if outcome == Committed => {
            let Some(trade) = &output.trade else { return changes };
            let (before, moved) = (i64::from(trade.hs_qty), i64::from(trade.trade_qty));
            let after = if trade.type_is_sell { before - moved } else { before + moved };
            let item = Item::Holding(trade.acct_id, trade.symbol);
            changes.push(ValueChange { item, found: Some(before), left: Some(after) });
            // The balance is read after the amount was added to it.
            let (balance, amount) = (output.acct_bal.units(), output.se_amount.units());
            let (before, after) = if trade.is_cash { (balance - amount, Some(balance)) } else { (balance, None) };
            changes.push(ValueChange { item: Item::Cash(trade.acct_id), found: Some(before), left: after });
        }
        Some(Output::TradeOrder(output)) if outcome == RolledBack => {
            let submitted = output.estimate.as_ref().is_some_and(|it| it.type_is_market);
            let (found, left) = (Some(ABSENT), Some(if submitted { SUBMITTED } else { PENDING }));
            changes.extend(output.trade_id.map(|trade| ValueChange { item: Item::Trade(trade), found, left }));
        }
        Some(Output::CustomerPosition(output)) => {
            changes.extend(output.accounts.iter().map(|it| found(Item::Cash(it.acct_id), it.cash_bal.units())));
            let mut states: Vec<_> =
                output.history.iter().filter_map(|it| state(it.trade_id, it.trade_status.as_str())).collect();
            states.sort_unstable();
            // The last of each trade's rows.
            let newest = states.chunk_by(|one, other| one.0 == other.0).filter_map(<[_]>::last);
            changes.extend(newest.map(|(trade, state)| found(Item::Trade(*trade), *state)));
        }
        Some(Output::TradeStatus(output)) => {
            let states =
                output.trades.iter().take(NEWEST_TRADES).filter_map(|it| state(it.trade_id, it.status_name.as_str()));
            changes.extend(states.map(|(trade, state)| found(Item::Trade(trade), state)));
        }
        _ => {}
    }
    changes
}
