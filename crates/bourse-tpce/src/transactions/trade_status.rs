//! Trade-Status (Clause 3.3.9): an account's fifty latest trades. Read-only, and the most frequent of all.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::routines::reads;
use super::rows::{self, rows};
use super::{FrameError, Status, Transaction, TxnError};
use bourse_egen::txn::TradeStatus;
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{Amount, Quantity, Symbol, Text, Timestamp, TradeId};

/// Output of Trade-Status.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TradeStatusOutput {
    /// -911 if the account has fewer than 50 trades.
    pub status: Status,
    /// The trades, newest first.
    pub trades: Vec<StatusRow>,
    /// Names of the account's owner and broker; `None` if there is no such account.
    pub names: Option<AccountNames>,
}

rows! {
    /// A trade with the name of its status.
    pub struct StatusRow {
        /// The trade.
        pub trade_id: TradeId,
        /// Date and time of its status.
        pub trade_dts: Timestamp,
        /// Name of its status.
        pub status_name: Text<10>,
        /// Name of its type.
        pub type_name: Text<12>,
        /// Symbol of its security.
        pub symbol: Symbol,
        /// Number of shares.
        pub trade_qty: Quantity,
        /// Name of the person who ordered it.
        pub exec_name: Text<49>,
        /// The broker's charge.
        pub charge: Amount,
        /// The security's name.
        pub s_name: Text<70>,
        /// The exchange's name.
        pub ex_name: Text<100>,
    }

    /// The people of an account.
    pub struct AccountNames {
        /// The customer's last name.
        pub cust_l_name: Text<25>,
        /// The customer's first name.
        pub cust_f_name: Text<20>,
        /// The broker's name.
        pub broker_name: Text<49>,
    }
}

/// Number of trades shown.
const SHOWN_TRADES: usize = 50;

/// Runs Trade-Status.
///
/// # Errors
/// The engine's.
pub fn trade_status(db: &mut dyn Session, input: &TradeStatus) -> Result<TradeStatusOutput, TxnError> {
    let harness = |db: &mut dyn Session, status: &mut Status| -> Result<_, InFrame> {
        let (trades, names) = frame1(db, input).frame(1)?;
        status.raise_if(trades.len() != SHOWN_TRADES, -911);
        Ok((trades, names))
    };
    let ((trades, names), status) = in_transaction(db, Transaction::TradeStatus, harness)?;
    Ok(TradeStatusOutput { status, trades, names })
}

// Each join adds columns of exactly one row by its key, so the limit ends the walk through the account's index after
// fifty trades; a subquery of fifty would give the same and cost a copy.
pub(super) static LATEST_TRADES: Sql = Sql::new(
    "SELECT t_id, t_dts, st_name, tt_name, t_s_symb, t_qty, t_exec_name, t_chrg, s_name, ex_name
       FROM trade
            CROSS JOIN status_type
            CROSS JOIN trade_type
            CROSS JOIN security
            CROSS JOIN exchange
      WHERE t_ca_id = ?1
        AND st_id = t_st_id
        AND tt_id = t_tt_id
        AND s_symb = t_s_symb
        AND ex_id = s_ex_id
      ORDER BY t_dts DESC, t_id DESC
      LIMIT 50",
);
pub(super) static NAMES: Sql = Sql::new(
    "SELECT c_l_name, c_f_name, b_name
       FROM customer_account
            CROSS JOIN customer
            CROSS JOIN broker
      WHERE ca_id = ?1 AND c_id = ca_c_id AND b_id = ca_b_id",
);

/// Frame 1: the trades, and the names of customer and broker (Clause 3.3.9.3).
fn frame1(db: &mut dyn Session, input: &TradeStatus) -> Result<(Vec<StatusRow>, Option<AccountNames>), FrameError> {
    if db.has_routines() {
        let found = reads::trade_status(db, input.acct_id)?;
        commit(db)?;
        return Ok(found);
    }
    let mut trades: Vec<StatusRow> = rows::about(SHOWN_TRADES, db, &LATEST_TRADES, &[input.acct_id.into()])?;
    if planted!(StatusReversed) {
        trades.reverse();
    }
    let names = rows::first(db, &NAMES, &[input.acct_id.into()])?;
    commit(db)?;
    Ok((trades, names))
}

pub(super) static STATEMENTS: &[&Sql] = &[&LATEST_TRADES, &NAMES];
