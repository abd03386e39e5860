//! Reads common to Trade-Lookup and Trade-Update: trades by number, in a window of time, and their payments.
//!
//! The reference asks for settlement, cash and history of each of twenty trades on its own. Here one statement asks for
//! all twenty: the same rows from the same keys, for a quarter of the calls.

use super::FrameError;
use super::rows::{self, FromRow, rows};
use arrayvec::ArrayVec;
use bourse_engine::{Params, Result, Row, RowExt as _, Session, Sql, Value};
use bourse_schema::{AccountId, Amount, Date, Price, Quantity, StatusId, Text, Timestamp, TradeId, TradeTypeId};
use std::fmt::Write as _;

/// The most trades that either transaction deals with (`TradeLookupMaxRows` and its like).
pub const MOST_TRADES: usize = 20;

/// Largest number of history rows returned for a trade: pending, submitted, completed.
const MOST_HISTORY: usize = 3;

rows! {
    /// A trade requested by number (frame 1).
    pub struct TradeById {
        /// `T_ID`.
        pub trade_id: TradeId,
        /// `T_BID_PRICE`.
        pub bid_price: Price,
        /// `T_EXEC_NAME`.
        pub exec_name: Text<49>,
        /// `T_IS_CASH`.
        pub is_cash: bool,
        /// `TT_IS_MRKT`.
        pub is_market: bool,
        /// `T_TRADE_PRICE`; `None` before the trade is completed.
        pub trade_price: Option<Price>,
    }

    /// A trade of an account (frame 2).
    pub struct TradeOfAccount {
        /// `T_ID`.
        pub trade_id: TradeId,
        /// `T_BID_PRICE`.
        pub bid_price: Price,
        /// `T_EXEC_NAME`.
        pub exec_name: Text<49>,
        /// `T_IS_CASH`.
        pub is_cash: bool,
        /// `T_TRADE_PRICE`; `None` before the trade is completed.
        pub trade_price: Option<Price>,
    }

    /// A trade in a security (frame 3).
    pub struct TradeInSecurity {
        /// `T_ID`.
        pub trade_id: TradeId,
        /// `T_CA_ID`.
        pub acct_id: AccountId,
        /// `T_EXEC_NAME`.
        pub exec_name: Text<49>,
        /// `T_IS_CASH`.
        pub is_cash: bool,
        /// `T_TRADE_PRICE`; `None` before the trade is completed.
        pub price: Option<Price>,
        /// `T_QTY`.
        pub quantity: Quantity,
        /// `T_DTS`.
        pub trade_dts: Timestamp,
        /// `T_TT_ID`.
        pub trade_type: TradeTypeId,
    }

    /// Settlement of a trade.
    pub struct TradeSettlement {
        /// `SE_AMT`.
        pub amount: Amount,
        /// `SE_CASH_DUE_DATE`.
        pub cash_due_date: Date,
        /// `SE_CASH_TYPE`.
        pub cash_type: Text<40>,
    }

    /// The money a cash trade moved.
    pub struct Cash {
        /// `CT_AMT`.
        pub amount: Amount,
        /// `CT_DTS`.
        pub dts: Timestamp,
        /// `CT_NAME`.
        pub name: Text<100>,
    }

    /// Moment at which a trade reached a status.
    pub struct StatusReached {
        /// `TH_DTS`.
        pub dts: Timestamp,
        /// `TH_ST_ID`.
        pub status: StatusId,
    }
}

/// A trade and its outcome.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Detail<T> {
    /// The trade.
    pub trade: T,
    /// Its settlement; `None` before it is completed.
    pub settlement: Option<TradeSettlement>,
    /// Its money, if it is a cash trade.
    pub cash: Option<Cash>,
    /// Its statuses, the first first; at most three.
    pub history: ArrayVec<StatusReached, MOST_HISTORY>,
}

/// Reads the trade alone; its outcome is [looked up](details) for all trades together.
impl<T: FromRow> FromRow for Detail<T> {
    #[inline]
    fn read_from(&mut self, first: usize, row: &dyn Row) -> Result<()> {
        self.trade.read_from(first, row)
    }
}

/// A trade that details can be looked up for.
pub(super) trait HasDetails {
    fn id(&self) -> TradeId;
    fn is_cash(&self) -> bool;
}

macro_rules! has_details {
    ($($type:ty),+) => {$(
        impl HasDetails for $type {
            fn id(&self) -> TradeId {
                self.trade_id
            }
            fn is_cash(&self) -> bool {
                self.is_cash
            }
        }
    )+};
}
pub(super) use has_details;
has_details!(TradeById, TradeOfAccount, TradeInSecurity);

pub(super) static TRADES_BY_ID: Sql = Sql::new(
    "SELECT t_id, t_bid_price, t_exec_name, t_is_cash, tt_is_mrkt, t_trade_price
       FROM trade CROSS JOIN trade_type
      WHERE t_id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
        AND tt_id = t_tt_id",
);

/// The trades of these numbers, in the order of the numbers; missing trades are left out.
pub(super) fn by_id(db: &mut dyn Session, ids: &[TradeId]) -> Result<Vec<Detail<TradeById>>, FrameError> {
    let params = rows::list::<MOST_TRADES, _>(ids.iter().copied());
    Ok(in_order(rows::all(db, &TRADES_BY_ID, &params)?, ids))
}

/// Trades in the order of their numbers in a list.
pub(super) fn in_order(mut found: Vec<Detail<TradeById>>, ids: &[TradeId]) -> Vec<Detail<TradeById>> {
    if found.len() == ids.len() {
        // Rows are wide: each is moved once at most.
        for (at, id) in ids.iter().enumerate() {
            if let Some(ahead) = found[at..].iter().position(|row| row.trade.trade_id == *id) {
                found.swap(at, at + ahead);
            }
        }
        return found;
    }
    // A number may be requested twice, and a trade may be missing.
    ids.iter().filter_map(|id| found.iter().find(|row| row.trade.trade_id == *id)).cloned().collect()
}

pub(super) static TRADES_OF_ACCOUNT: Sql = Sql::new(
    "SELECT t_id, t_bid_price, t_exec_name, t_is_cash, t_trade_price
       FROM trade
      WHERE t_ca_id = ?1 AND t_dts BETWEEN ?2 AND ?3
      ORDER BY t_dts, t_id
      LIMIT ?4",
);

pub(super) static TRADES_IN_SECURITY: Sql = Sql::new(
    "SELECT t_id, t_ca_id, t_exec_name, t_is_cash, t_trade_price, t_qty, t_dts, t_tt_id
       FROM trade
      WHERE t_s_symb = ?1 AND t_dts BETWEEN ?2 AND ?3
      ORDER BY t_dts, t_id
      LIMIT ?4",
);

pub(super) static PAYMENTS: Sql = Sql::new(
    "SELECT se_t_id, se_amt, se_cash_due_date, se_cash_type, ct_amt, ct_dts, ct_name
       FROM settlement LEFT JOIN cash_transaction ON ct_t_id = se_t_id
      WHERE se_t_id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
);
pub(super) static HISTORIES: Sql = Sql::new(
    "SELECT th_t_id, th_dts, th_st_id
       FROM trade_history
      WHERE th_t_id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
);

/// Adds settlement, cash and history of each trade, as they are now.
pub(super) fn details<T: HasDetails>(db: &mut dyn Session, trades: &mut [Detail<T>]) -> Result<(), FrameError> {
    if trades.is_empty() {
        return Ok(());
    }
    // A separate loop, since trades are wide and each row belongs to one that must be searched for; or to two, if its number
    // was requested twice.
    let ids: ArrayVec<TradeId, MOST_TRADES> = trades.iter().map(|detail| detail.trade.id()).take(MOST_TRADES).collect();
    let params = rows::list::<MOST_TRADES, _>(ids.iter().copied());
    db.query(&PAYMENTS, Params::of(&params), &mut |row| note_payment(trades, &ids, row))?;
    db.query(&HISTORIES, Params::of(&params), &mut |row| note_history(trades, &ids, row))?;
    Ok(())
}

/// Adds a payment to the trades of its number.
pub(super) fn note_payment<T: HasDetails>(trades: &mut [Detail<T>], ids: &[TradeId], row: &dyn Row) -> Result<()> {
    let mut id = TradeId::default();
    row.read_into(0, &mut id)?;
    for at in which(ids, id) {
        let detail = &mut trades[at];
        detail.settlement.get_or_insert_default().read_from(1, row)?;
        // The last column may be NULL for a cash transaction too; one without a name is left out.
        if detail.trade.is_cash() && row.value(6) != Value::Null {
            detail.cash.get_or_insert_default().read_from(4, row)?;
        }
    }
    Ok(())
}

/// Adds a status to the trades of its number.
pub(super) fn note_history<T: HasDetails>(trades: &mut [Detail<T>], ids: &[TradeId], row: &dyn Row) -> Result<()> {
    let mut id = TradeId::default();
    row.read_into(0, &mut id)?;
    let mut reached = StatusReached::default();
    reached.read_from(1, row)?;
    for at in which(ids, id) {
        note(&mut trades[at].history, reached.clone());
    }
    Ok(())
}

/// Positions of a number among the requested ones, once for each request of it. All are compared without a branch, since the
/// position is unpredictable.
fn which(ids: &[TradeId], id: TradeId) -> impl Iterator<Item = usize> {
    const { assert!(MOST_TRADES <= 32, "each has a bit") }
    let mut equal = ids.iter().enumerate().fold(0_u32, |equal, (at, other)| equal | (u32::from(*other == id) << at));
    std::iter::from_fn(move || {
        let at = (equal != 0).then(|| equal.trailing_zeros() as usize);
        equal &= equal.wrapping_sub(1);
        at
    })
}

/// Name of a cash transaction: `Market-Buy 200 shares of Common Stock of Example Corp.` (Clause 3.3.8.8); `shares` is the
/// word for them, which Trade-Update changes.
pub(super) fn cash_name(type_name: &Text<12>, quantity: Quantity, shares: &str, security: &Text<70>) -> Text<100> {
    let mut name = Text::cut(type_name.as_str());
    write!(name, " {quantity} ").expect("a text cuts what does not fit, and takes everything");
    for piece in [shares, " of ", security.as_str()] {
        name.push(piece);
    }
    name
}

/// Inserts a status in its place by time; beyond the capacity the latest are dropped.
fn note(history: &mut ArrayVec<StatusReached, MOST_HISTORY>, reached: StatusReached) {
    let after = |other: &StatusReached| (other.dts, other.status) > (reached.dts, reached.status);
    let at = history.iter().position(after).unwrap_or(history.len());
    if at < MOST_HISTORY {
        history.truncate(MOST_HISTORY - 1);
        history.insert(at, reached);
    }
}

/// An input's list of trades, cut at the length that either transaction uses.
pub(super) fn listed(ids: &[TradeId], most: i32) -> &[TradeId] {
    &ids[..ids.len().min(MOST_TRADES).min(usize::try_from(most).unwrap_or(0))]
}

/// Parameters for the first trades of an account or in a security in a window of time, both ends included; a missing end is the
/// end of time.
///
/// The largest account id of the input is ignored: it is for drivers that use fewer customers than were loaded.
pub(super) fn window<'v>(of: Value<'v>, start: Option<Timestamp>, end: Option<Timestamp>, most: i32) -> [Value<'v>; 4] {
    let end = end.unwrap_or(Timestamp::from_millis(i64::MAX));
    [of, start.unwrap_or_default().into(), end.into(), most.into()]
}

pub(super) static STATEMENTS: &[&Sql] =
    &[&TRADES_BY_ID, &TRADES_OF_ACCOUNT, &TRADES_IN_SECURITY, &PAYMENTS, &HISTORIES];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_wherever_it_was_asked_for() {
        let ids = [7, 3, 7, 9].map(TradeId);
        assert!(which(&ids, TradeId(7)).eq([0, 2]));
        assert!(which(&ids, TradeId(9)).eq([3]));
        assert_eq!(which(&ids, TradeId(1)).next(), None);
        let most: Vec<TradeId> = (0..MOST_TRADES as i64).map(TradeId).collect();
        assert!(which(&most, most[MOST_TRADES - 1]).eq([MOST_TRADES - 1]));
    }

    #[test]
    fn a_cash_transaction_is_called_as_the_specification_says() {
        let of = |security| cash_name(&Text::cut("Limit-Sell"), 800, "shares", &Text::cut(security));
        assert_eq!(of("COMMON of Example Co.").as_str(), "Limit-Sell 800 shares of COMMON of Example Co.");
        // The longest that there can be fills its column.
        let longest = cash_name(&Text::cut("Market-Short"), 999_999, "Shares", &Text::cut(&"x".repeat(70)));
        assert_eq!(longest.as_str(), format!("Market-Short 999999 Shares of {}", "x".repeat(70)));
    }

    #[test]
    fn the_first_statuses_stay_in_the_order_of_time() {
        let at = |ms, status| StatusReached { dts: Timestamp::from_millis(ms), status: StatusId::cut(status) };
        let mut history = ArrayVec::new();
        for reached in [at(3, "CMPT"), at(1, "PNDG"), at(4, "CNCL"), at(2, "SBMT"), at(2, "ACTV"), at(5, "CMPT")] {
            note(&mut history, reached);
        }
        assert_eq!(history[..], [at(1, "PNDG"), at(2, "ACTV"), at(2, "SBMT")]);
    }
}
