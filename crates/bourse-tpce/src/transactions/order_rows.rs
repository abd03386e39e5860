//! The rows of a new order: those that frame 4 of Trade-Order writes, and those of [many orders](crate::aged) in bulk.

use super::FrameError;
use super::routines::orders;
use super::rows::change_one;
use bourse_engine::{Session, Sql, Value};
use bourse_oltp::planted;
use bourse_schema::{
    AccountId, Amount, BrokerId, Price, Quantity, StatusId, Symbol, Text, Timestamp, TradeId, TradeTypeId,
};

pub(crate) static INSERT_TRADE: Sql = Sql::new(
    "INSERT INTO trade (t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty, t_bid_price, t_ca_id, t_exec_name,
                        t_trade_price, t_chrg, t_comm, t_tax, t_lifo)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, NULL, ?11, ?12, 0, ?13)",
);
pub(crate) static INSERT_REQUEST: Sql = Sql::new(
    "INSERT INTO trade_request (tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price, tr_b_id)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
);
pub(crate) static INSERT_HISTORY: Sql =
    Sql::new("INSERT INTO trade_history (th_t_id, th_dts, th_st_id) VALUES (?1, ?2, ?3)");

/// Values of a new order's rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderRows {
    pub(crate) trade_id: TradeId,
    pub(crate) now: Timestamp,
    pub(crate) status: StatusId,
    pub(crate) trade_type: TradeTypeId,
    pub(crate) is_cash: bool,
    pub(crate) symbol: Symbol,
    pub(crate) qty: Quantity,
    pub(crate) price: Price,
    pub(crate) account: AccountId,
    pub(crate) exec_name: Text<49>,
    pub(crate) charge: Amount,
    pub(crate) commission: Amount,
    pub(crate) is_lifo: bool,
    pub(crate) broker: BrokerId,
}

impl OrderRows {
    /// Parameters of [`INSERT_TRADE`].
    pub(crate) fn trade(&self) -> [Value<'_>; 13] {
        [
            self.trade_id.into(),
            self.now.into(),
            (&self.status).into(),
            (&self.trade_type).into(),
            self.is_cash.into(),
            (&self.symbol).into(),
            self.qty.into(),
            self.price.into(),
            self.account.into(),
            (&self.exec_name).into(),
            self.charge.into(),
            self.commission.into(),
            self.is_lifo.into(),
        ]
    }

    /// Parameters of [`INSERT_REQUEST`].
    pub(crate) fn request(&self) -> [Value<'_>; 6] {
        [
            self.trade_id.into(),
            (&self.trade_type).into(),
            (&self.symbol).into(),
            self.qty.into(),
            self.price.into(),
            self.broker.into(),
        ]
    }

    /// Parameters of [`INSERT_HISTORY`].
    pub(crate) fn history(&self) -> [Value<'_>; 3] {
        [self.trade_id.into(), self.now.into(), (&self.status).into()]
    }

    /// Writes the rows of one order; a limit order waits in TRADE_REQUEST.
    pub(super) fn insert(&self, db: &mut dyn Session, is_limit: bool) -> Result<(), FrameError> {
        if db.has_routines() {
            return orders::new_order(db, &self.trade(), self.broker, is_limit);
        }
        change_one(db, &INSERT_TRADE, &self.trade())?;
        if is_limit {
            change_one(db, &INSERT_REQUEST, &self.request())?;
        }
        if planted!(OrderWithoutHistory) {
            return Ok(());
        }
        change_one(db, &INSERT_HISTORY, &self.history())
    }
}
