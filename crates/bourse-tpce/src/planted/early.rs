//! Lost updates: values that a transaction reads before it begins, and writes when it ends.

use crate::transactions::{FrameError, Transaction, TxnError};
use bourse_engine::{EngineError, Params, RowExt as _, Session, Sql, Value};
use bourse_schema::{AccountId, Amount, Balance, BrokerId, Quantity, Symbol, TradeId};
use std::cell::Cell;

static BEFORE_RESULT: Sql = Sql::new(
    "SELECT ca_bal, b_num_trades, b_comm_total, coalesce(hs_qty, 0)
       FROM trade
            INNER JOIN customer_account ON ca_id = t_ca_id
            INNER JOIN broker ON b_id = ca_b_id
            LEFT JOIN holding_summary ON hs_ca_id = t_ca_id AND hs_s_symb = t_s_symb
      WHERE t_id = ?1",
);
static BEFORE_FEED: Sql = Sql::new("SELECT lt_vol FROM last_trade WHERE lt_s_symb = ?1");
static SET_BALANCE: Sql = Sql::new("UPDATE customer_account SET ca_bal = ?2 WHERE ca_id = ?1");
static SET_TRADES: Sql = Sql::new("UPDATE broker SET b_num_trades = ?2 WHERE b_id = ?1");
static SET_COMMISSIONS: Sql = Sql::new("UPDATE broker SET b_comm_total = ?2 WHERE b_id = ?1");
static SET_VOLUME: Sql = Sql::new("UPDATE last_trade SET lt_vol = ?2 WHERE lt_s_symb = ?1");

/// Values read before a Trade-Result began.
#[derive(Clone, Copy, Default)]
struct EarlyValues {
    balance: Balance,
    trades: i64,
    commissions: Balance,
    held: Quantity,
}

thread_local! {
    static RESULT: Cell<EarlyValues> = Cell::default();
    static VOLUME: Cell<i64> = const { Cell::new(0) };
}

fn error(transaction: Transaction) -> impl Fn(EngineError) -> TxnError {
    move |cause| TxnError { transaction, frame: None, attempts: 1, cause: cause.into() }
}

/// Reads what a Trade-Result will write, before it begins.
pub(crate) fn before_result(db: &mut dyn Session, trade: TradeId) -> Result<(), TxnError> {
    let mut found = EarlyValues::default();
    let read = db.query(&BEFORE_RESULT, Params::of(&[trade.into()]), &mut |row| {
        found = EarlyValues { balance: row.get(0)?, trades: row.get(1)?, commissions: row.get(2)?, held: row.get(3)? };
        Ok(())
    });
    RESULT.set(found);
    read.map_err(error(Transaction::TradeResult))
}

/// Shares that were held before the Trade-Result began.
pub(crate) fn held() -> Quantity {
    RESULT.get().held
}

/// Writes the broker's number of trades anew.
pub(crate) fn count_trade(db: &mut dyn Session, broker: BrokerId) -> Result<(), FrameError> {
    write(db, &SET_TRADES, broker.into(), Value::Int(RESULT.get().trades + 1))
}

/// Writes the broker's commissions anew.
pub(crate) fn pay_broker(db: &mut dyn Session, broker: BrokerId, commission: Amount) -> Result<(), FrameError> {
    let sum = Balance::from_units(RESULT.get().commissions.units() + commission.units());
    write(db, &SET_COMMISSIONS, broker.into(), sum.into())
}

/// Writes the account's balance anew.
pub(crate) fn move_cash(db: &mut dyn Session, account: AccountId, moves: Amount) -> Result<(), FrameError> {
    let sum = Balance::from_units(RESULT.get().balance.units() + moves.units());
    write(db, &SET_BALANCE, account.into(), sum.into())
}

/// Writes the account's balance rounded to a number of 24 bits.
pub(crate) fn round_balance(db: &mut dyn Session, account: AccountId, balance: Balance) -> Result<(), FrameError> {
    let rounded = Balance::from_units(balance.units() as f32 as i64);
    write(db, &SET_BALANCE, account.into(), rounded.into())
}

/// Reads what an entry of a Market-Feed will write, before it begins.
pub(crate) fn before_feed(db: &mut dyn Session, symbol: &Symbol) -> Result<(), TxnError> {
    let mut volume = 0;
    let read = db.query(&BEFORE_FEED, Params::of(&[symbol.into()]), &mut |row| {
        volume = row.get(0)?;
        Ok(())
    });
    VOLUME.set(volume);
    read.map_err(error(Transaction::MarketFeed))
}

/// Writes the security's volume anew.
pub(crate) fn note_volume(db: &mut dyn Session, symbol: &Symbol, shares: Quantity) -> Result<(), FrameError> {
    write(db, &SET_VOLUME, symbol.into(), Value::Int(VOLUME.get() + i64::from(shares)))
}

fn write(db: &mut dyn Session, sql: &'static Sql, key: Value<'_>, value: Value<'_>) -> Result<(), FrameError> {
    db.execute(sql, Params::of(&[key, value]))?;
    Ok(())
}
