//! Changes of an account's position in a security by a trade: the heart of Trade-Result's frame 2 (Clause 3.3.8.4), and of
//! the estimate in Trade-Order's frame 3 (Clause 3.3.7.5).
//!
//! A position is long (positive) or short (negative), never both. A sale closes long lots and opens a short one with the
//! rest; a purchase closes short lots and opens a long one. With signed quantities the two are one rule.

use super::FrameError;
use super::rates::{plus, value};
use super::rows::{self, rows};
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{AccountId, Balance, Price, Quantity, Symbol, Timestamp, TradeId};

/// A trade that is to change a position.
pub(super) struct PositionChange<'a> {
    pub(super) trade_id: TradeId,
    pub(super) acct_id: AccountId,
    pub(super) symbol: &'a Symbol,
    pub(super) dts: Timestamp,
    pub(super) price: Price,
    /// Shares bought, or sold if negative.
    pub(super) qty: Quantity,
    /// Shares held before, owed if negative.
    pub(super) held: Quantity,
    /// Whether the newest lots are closed first.
    pub(super) is_lifo: bool,
}

/// Cost and proceeds of the closed lots.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClosedAmounts {
    pub(super) buy_value: Balance,
    pub(super) sell_value: Balance,
}

rows! {
    /// Shares bought, or owed if negative, by one trade.
    pub(super) struct PositionLot {
        /// The trade.
        pub(super) trade_id: TradeId,
        /// Quantity left.
        pub(super) qty: Quantity,
        /// Price per share, paid or received.
        pub(super) price: Price,
    }
}

pub(super) static LOTS_NEWEST_FIRST: Sql = Sql::new(
    "SELECT h_t_id, h_qty, h_price
       FROM holding
      WHERE h_ca_id = ?1 AND h_s_symb = ?2
      ORDER BY h_dts DESC, h_t_id DESC",
);
pub(super) static LOTS_OLDEST_FIRST: Sql = Sql::new(
    "SELECT h_t_id, h_qty, h_price
       FROM holding
      WHERE h_ca_id = ?1 AND h_s_symb = ?2
      ORDER BY h_dts, h_t_id",
);

/// A position's lots in the order in which they are closed: read whole, since they may be changed while being walked.
pub(super) fn lots(
    db: &mut dyn Session,
    account: AccountId,
    symbol: &Symbol,
    is_lifo: bool,
) -> Result<Vec<PositionLot>, FrameError> {
    let sql = if is_lifo != planted!(LotsInWrongOrder) { &LOTS_NEWEST_FIRST } else { &LOTS_OLDEST_FIRST };
    let sql = planted!([TiesOfLots, LotsByPrice]: crate::planted::lots(is_lifo); sql);
    rows::all(db, sql, &[account.into(), symbol.into()])
}

impl PositionChange<'_> {
    /// Changes summary, lots and their history.
    ///
    /// The summary is inserted before and deleted after its lots, which refer to it.
    pub(super) fn apply(&self, db: &mut dyn Session) -> Result<ClosedAmounts, FrameError> {
        if self.held == 0 {
            self.insert_summary(db)?;
        } else if self.held + self.qty != 0 || planted!(EmptySummaryKept) {
            self.update_summary(db)?;
        }
        let mut closed = ClosedAmounts::default();
        // Shares still to be traded, with the sign of the trade.
        let mut open = self.qty;
        if self.held.signum() == -self.qty.signum() {
            for lot in lots(db, self.acct_id, self.symbol, self.is_lifo)? {
                if open == 0 {
                    break;
                }
                let before = lot.qty;
                let after = if before.abs() > open.abs() { before + open } else { 0 };
                self.note_change(db, lot.trade_id, before, after)?;
                if after == 0 {
                    delete_lot(db, lot.trade_id)?;
                } else {
                    resize_lot(db, lot.trade_id, after)?;
                }
                closed.add(before - after, lot.price, self.price);
                open += before - after;
            }
        }
        if open != 0 && !(open < 0 && planted!(ShortNotOpened)) {
            self.note_change(db, self.trade_id, 0, open)?;
            self.insert_lot(db, open)?;
        } else if self.held + self.qty == 0 && !planted!(EmptySummaryKept) {
            self.delete_summary(db)?;
        }
        Ok(closed)
    }
}

impl ClosedAmounts {
    /// Adds shares of a lot that were closed: positive if they had been bought before, negative if they had been sold.
    pub(super) fn add(&mut self, shares: Quantity, lot_price: Price, price: Price) {
        let (then, now) = (value(shares.abs(), lot_price), value(shares.abs(), price));
        let (bought, sold) = if shares > 0 { (then, now) } else { (now, then) };
        self.buy_value = plus(self.buy_value, bought);
        self.sell_value = plus(self.sell_value, sold);
    }
}

pub(super) static INSERT_SUMMARY: Sql =
    Sql::new("INSERT INTO holding_summary (hs_ca_id, hs_s_symb, hs_qty) VALUES (?1, ?2, ?3)");
pub(super) static UPDATE_SUMMARY: Sql =
    Sql::new("UPDATE holding_summary SET hs_qty = ?3 WHERE hs_ca_id = ?1 AND hs_s_symb = ?2");
pub(super) static DELETE_SUMMARY: Sql = Sql::new("DELETE FROM holding_summary WHERE hs_ca_id = ?1 AND hs_s_symb = ?2");
pub(super) static INSERT_LOT: Sql =
    Sql::new("INSERT INTO holding (h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
pub(super) static RESIZE_LOT: Sql = Sql::new("UPDATE holding SET h_qty = ?2 WHERE h_t_id = ?1");
pub(super) static DELETE_LOT: Sql = Sql::new("DELETE FROM holding WHERE h_t_id = ?1");
pub(super) static NOTE_CHANGE: Sql =
    Sql::new("INSERT INTO holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty) VALUES (?1, ?2, ?3, ?4)");

impl PositionChange<'_> {
    fn insert_summary(&self, db: &mut dyn Session) -> Result<(), FrameError> {
        let inserted =
            rows::change_one(db, &INSERT_SUMMARY, &[self.acct_id.into(), self.symbol.into(), self.qty.into()]);
        inserted.map_err(FrameError::since_read)
    }

    fn update_summary(&self, db: &mut dyn Session) -> Result<(), FrameError> {
        let sum = (self.held + self.qty).into();
        rows::change_one(db, &UPDATE_SUMMARY, &[self.acct_id.into(), self.symbol.into(), sum])
    }

    fn delete_summary(&self, db: &mut dyn Session) -> Result<(), FrameError> {
        rows::change_one(db, &DELETE_SUMMARY, &[self.acct_id.into(), self.symbol.into()])
    }

    fn insert_lot(&self, db: &mut dyn Session, qty: Quantity) -> Result<(), FrameError> {
        let (account, symbol) = (self.acct_id.into(), self.symbol.into());
        let (dts, price) = (self.dts.into(), self.price.into());
        rows::change_one(db, &INSERT_LOT, &[self.trade_id.into(), account, symbol, dts, price, qty.into()])
    }

    fn note_change(
        &self,
        db: &mut dyn Session,
        lot: TradeId,
        before: Quantity,
        after: Quantity,
    ) -> Result<(), FrameError> {
        if after == 0 && planted!(HistoryOfClosedLots) {
            return Ok(());
        }
        rows::change_one(db, &NOTE_CHANGE, &[lot.into(), self.trade_id.into(), before.into(), after.into()])
    }
}

fn resize_lot(db: &mut dyn Session, lot: TradeId, qty: Quantity) -> Result<(), FrameError> {
    rows::change_one(db, &RESIZE_LOT, &[lot.into(), qty.into()])
}

fn delete_lot(db: &mut dyn Session, lot: TradeId) -> Result<(), FrameError> {
    rows::change_one(db, &DELETE_LOT, &[lot.into()])
}

pub(super) static STATEMENTS: &[&Sql] = &[
    &INSERT_SUMMARY, &UPDATE_SUMMARY, &DELETE_SUMMARY, &LOTS_NEWEST_FIRST, &LOTS_OLDEST_FIRST, &INSERT_LOT,
    &RESIZE_LOT, &DELETE_LOT, &NOTE_CHANGE,
];
