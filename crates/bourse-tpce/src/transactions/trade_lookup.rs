//! Trade-Lookup (Clause 3.3.6): past trades by number, by account, by security, or with all their changes of holdings.
//! Read-only.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::routines::lookups;
use super::rows::{self, FromRow, rows};
use super::trades::{
    self, Detail, HasDetails, TRADES_IN_SECURITY, TRADES_OF_ACCOUNT, TradeById, TradeInSecurity, TradeOfAccount,
};
use super::{FrameError, Status, Transaction, TxnError};
use bourse_egen::txn::TradeLookup;
use bourse_engine::{Routine, Session, Sql, Value};
use bourse_oltp::planted;
use bourse_schema::{AccountId, Quantity, Timestamp, TradeId};

/// Output of Trade-Lookup.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TradeLookupOutput {
    /// Frame 1: -611 if a trade is missing. Frames 2 and 3: +621 and +631 if there is none in the window, -621 and -631
    /// for too many. Frame 4: +641 if there is no trade, -641 for several, -642 for a number of changes other than 1 to 20.
    pub status: Status,
    /// Output of the frame that ran.
    pub found: FoundTrades,
}

/// Output of one of the frames.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum FoundTrades {
    /// Frame 1: the requested trades, in that order.
    ById(Vec<Detail<TradeById>>),
    /// Frame 2: the account's trades from the start of the window.
    OfAccount(Vec<Detail<TradeOfAccount>>),
    /// Frame 3: the security's trades from the start of the window.
    InSecurity(Vec<Detail<TradeInSecurity>>),
    /// Frame 4.
    Holdings {
        /// The account's first trade from the start; at most one.
        trades: Vec<TradeId>,
        /// Every change of every lot which that trade made or touched.
        changes: Vec<LotChange>,
    },
}

rows! {
    /// A change of a lot.
    pub struct LotChange {
        /// The trade that made the lot.
        pub holding_history_id: TradeId,
        /// The trade that changed it.
        pub holding_history_trade_id: TradeId,
        /// Shares before.
        pub quantity_before: Quantity,
        /// Shares after.
        pub quantity_after: Quantity,
    }
}

/// Runs Trade-Lookup.
///
/// # Errors
/// The engine's.
///
/// # Panics
/// For a frame number other than 1 to 4.
pub fn trade_lookup(db: &mut dyn Session, input: &TradeLookup) -> Result<TradeLookupOutput, TxnError> {
    let most = usize::try_from(input.max_trades).unwrap_or(0);
    let window = |of| trades::window(of, input.start_trade_dts, input.end_trade_dts, input.max_trades);
    let harness = |db: &mut dyn Session, status: &mut Status| -> Result<_, InFrame> {
        Ok(match input.frame_to_execute {
            1 => {
                let found = frame1(db, input).frame(1)?;
                status.raise_if(found.len() != most, -611);
                FoundTrades::ById(found)
            }
            2 => {
                let window = window(input.acct_id.into());
                let found = in_window(db, &window, &lookups::OF_ACCOUNT, &TRADES_OF_ACCOUNT).frame(2)?;
                status.raise_if(found.len() > most, -621);
                status.raise_if(found.is_empty(), 621);
                FoundTrades::OfAccount(found)
            }
            3 => {
                let window = window((&input.symbol).into());
                let found = in_window(db, &window, &lookups::IN_SECURITY, &TRADES_IN_SECURITY).frame(3)?;
                status.raise_if(found.len() > most, -631);
                status.raise_if(found.is_empty(), 631);
                FoundTrades::InSecurity(found)
            }
            4 => {
                let (trades, changes) = frame4(db, input).frame(4)?;
                match trades.len() {
                    0 => status.raise(641),
                    1 => status.raise_if(!(1..=20).contains(&changes.len()), -642),
                    _ => status.raise(-641),
                }
                FoundTrades::Holdings { trades, changes }
            }
            other => unreachable!("Trade-Lookup has frames 1 to 4, not {other}"),
        })
    };
    let (found, status) = in_transaction(db, Transaction::TradeLookup, harness)?;
    Ok(TradeLookupOutput { status, found })
}

/// Frame 1: trades by number (Clause 3.3.6.3).
fn frame1(db: &mut dyn Session, input: &TradeLookup) -> Result<Vec<Detail<TradeById>>, FrameError> {
    let ids = trades::listed(&input.trade_id, input.max_trades);
    if db.has_routines() {
        let found = lookups::by_id(db, ids)?;
        commit(db)?;
        return Ok(found);
    }
    let mut found = trades::by_id(db, ids)?;
    trades::details(db, &mut found)?;
    if planted!(LookupWrongRow)
        && let [first, .., last] = found.as_mut_slice()
    {
        *last = first.clone();
    }
    commit(db)?;
    Ok(found)
}

/// Frames 2 and 3: trades of an account or in a security, in a window of time (Clauses 3.3.6.4 and 3.3.6.5).
fn in_window<T: FromRow + HasDetails>(
    db: &mut dyn Session,
    window: &[Value<'_>],
    routine: &'static Routine,
    sql: &'static Sql,
) -> Result<Vec<Detail<T>>, FrameError> {
    let found = if db.has_routines() {
        lookups::detailed(db, routine, window)?
    } else {
        let mut found = rows::all(db, sql, window)?;
        trades::details(db, &mut found)?;
        found
    };
    commit(db)?;
    Ok(found)
}

pub(super) static FIRST_TRADE: Sql = Sql::new(
    "SELECT t_id
       FROM trade
      WHERE t_ca_id = ?1 AND t_dts >= ?2
      ORDER BY t_dts, t_id
      LIMIT 1",
);
pub(super) static CHANGES: Sql = Sql::new(
    "SELECT lot.hh_h_t_id, lot.hh_t_id, lot.hh_before_qty, lot.hh_after_qty
       FROM holding_history AS touched CROSS JOIN holding_history AS lot
      WHERE touched.hh_t_id = ?1 AND lot.hh_h_t_id = touched.hh_h_t_id
      ORDER BY touched.hh_h_t_id, lot.hh_t_id
      LIMIT 20",
);

/// Frame 4: the changes of lots by the account's first trade, and by others to these lots (Clause 3.3.6.6).
fn frame4(db: &mut dyn Session, input: &TradeLookup) -> Result<(Vec<TradeId>, Vec<LotChange>), FrameError> {
    let account: AccountId = input.acct_id;
    let start: Timestamp = input.start_trade_dts.unwrap_or_default();
    if db.has_routines() {
        let found = lookups::holdings(db, account, start)?;
        commit(db)?;
        return Ok(found);
    }
    let found: Vec<(TradeId,)> = rows::all(db, &FIRST_TRADE, &[account.into(), start.into()])?;
    let trades: Vec<TradeId> = found.into_iter().map(|(id,)| id).collect();
    let changes = match trades.first() {
        Some(&trade) => rows::all(db, &CHANGES, &[trade.into()])?,
        None => Vec::new(),
    };
    commit(db)?;
    Ok((trades, changes))
}

pub(super) static STATEMENTS: &[&Sql] = &[&FIRST_TRADE, &CHANGES];
