//! Trade-Lookup, and reading trades with their payments and histories by one call.

use super::super::FrameError;
use super::super::rows::{self, FromRow};
use super::super::trade_lookup::{CHANGES, FIRST_TRADE, LotChange};
use super::super::trades::{
    Detail, HISTORIES, HasDetails, MOST_TRADES, PAYMENTS, TRADES_BY_ID, TRADES_IN_SECURITY, TRADES_OF_ACCOUNT,
    TradeById, in_order, note_history, note_payment,
};
use super::{add, call, keep, made, no_such_set};
use arrayvec::ArrayVec;
use bourse_engine::RoutineStep::{Into, Rows, Values};
use bourse_engine::{EachFound, Routine, Session, Sql, Value};
use bourse_schema::{AccountId, Field as _, Symbol, Timestamp, TradeId};

/// The expressions of a list of trades.
pub(super) const IDS: [&str; MOST_TRADES] = [
    "p_1", "p_2", "p_3", "p_4", "p_5", "p_6", "p_7", "p_8", "p_9", "p_10", "p_11", "p_12", "p_13", "p_14", "p_15",
    "p_16", "p_17", "p_18", "p_19", "p_20",
];

/// The parameters of a list of trades.
pub(super) const ID_PARAMS: [(&str, bourse_schema::ColumnType); MOST_TRADES] = {
    let mut params = [("", TradeId::TYPE); MOST_TRADES];
    let mut at = 0;
    while at < MOST_TRADES {
        params[at] = (IDS[at], TradeId::TYPE);
        at += 1;
    }
    params
};

pub(super) static PAYMENTS_OF_ACCOUNT: Sql = Sql::new(
    "SELECT se_t_id, se_amt, se_cash_due_date, se_cash_type, ct_amt, ct_dts, ct_name
       FROM (SELECT t_id FROM trade WHERE t_ca_id = ?1 AND t_dts BETWEEN ?2 AND ?3 ORDER BY t_dts, t_id LIMIT ?4) AS listed
            CROSS JOIN settlement
            LEFT JOIN cash_transaction ON ct_t_id = se_t_id
      WHERE se_t_id = t_id",
);
pub(super) static HISTORIES_OF_ACCOUNT: Sql = Sql::new(
    "SELECT th_t_id, th_dts, th_st_id
       FROM (SELECT t_id FROM trade WHERE t_ca_id = ?1 AND t_dts BETWEEN ?2 AND ?3 ORDER BY t_dts, t_id LIMIT ?4) AS listed
            CROSS JOIN trade_history
      WHERE th_t_id = t_id",
);
pub(super) static PAYMENTS_IN_SECURITY: Sql = Sql::new(
    "SELECT se_t_id, se_amt, se_cash_due_date, se_cash_type, ct_amt, ct_dts, ct_name
       FROM (SELECT t_id FROM trade WHERE t_s_symb = ?1 AND t_dts BETWEEN ?2 AND ?3 ORDER BY t_dts, t_id LIMIT ?4) AS listed
            CROSS JOIN settlement
            LEFT JOIN cash_transaction ON ct_t_id = se_t_id
      WHERE se_t_id = t_id",
);
pub(super) static HISTORIES_IN_SECURITY: Sql = Sql::new(
    "SELECT th_t_id, th_dts, th_st_id
       FROM (SELECT t_id FROM trade WHERE t_s_symb = ?1 AND t_dts BETWEEN ?2 AND ?3 ORDER BY t_dts, t_id LIMIT ?4) AS listed
            CROSS JOIN trade_history
      WHERE th_t_id = t_id",
);

/// A window of an account's or a security's trades.
pub(super) const WINDOW: &[&str] = &["p_of", "p_start", "p_end", "p_most"];

pub(super) static BY_ID: Routine = Routine::new(
    "bourse_trade_lookup_1",
    &ID_PARAMS,
    &[],
    &[Rows(0, &TRADES_BY_ID, &IDS), Rows(1, &PAYMENTS, &IDS), Rows(2, &HISTORIES, &IDS)],
);

/// Trade-Lookup's frame 1.
pub(in super::super) fn by_id(db: &mut dyn Session, ids: &[TradeId]) -> Result<Vec<Detail<TradeById>>, FrameError> {
    let found = detailed(db, &BY_ID, &rows::list::<MOST_TRADES, _>(ids.iter().copied()))?;
    Ok(in_order(found, ids))
}

pub(in super::super) static OF_ACCOUNT: Routine = Routine::new(
    "bourse_trade_lookup_2",
    &[("p_of", AccountId::TYPE), ("p_start", Timestamp::TYPE), ("p_end", Timestamp::TYPE), ("p_most", i32::TYPE)],
    &[],
    &[
        Rows(0, &TRADES_OF_ACCOUNT, WINDOW),
        Rows(1, &PAYMENTS_OF_ACCOUNT, WINDOW),
        Rows(2, &HISTORIES_OF_ACCOUNT, WINDOW),
    ],
);

pub(in super::super) static IN_SECURITY: Routine = Routine::new(
    "bourse_trade_lookup_3",
    &[("p_of", Symbol::TYPE), ("p_start", Timestamp::TYPE), ("p_end", Timestamp::TYPE), ("p_most", i32::TYPE)],
    &[],
    &[
        Rows(0, &TRADES_IN_SECURITY, WINDOW),
        Rows(1, &PAYMENTS_IN_SECURITY, WINDOW),
        Rows(2, &HISTORIES_IN_SECURITY, WINDOW),
    ],
);

/// Trades, their payments and their histories as the three sets of a routine.
pub(in super::super) fn detailed<T: FromRow + HasDetails>(
    db: &mut dyn Session,
    routine: &'static Routine,
    params: &[Value<'_>],
) -> Result<Vec<Detail<T>>, FrameError> {
    with_details(db, routine, params, &mut |set, _| no_such_set(set))
}

/// Trades, their payments and their histories as the first three sets of a routine; rows of further sets go to `more`.
pub(super) fn with_details<T: FromRow + HasDetails>(
    db: &mut dyn Session,
    routine: &'static Routine,
    params: &[Value<'_>],
    more: &mut EachFound<'_>,
) -> Result<Vec<Detail<T>>, FrameError> {
    let mut found: Vec<Detail<T>> = Vec::with_capacity(MOST_TRADES);
    let mut ids: ArrayVec<TradeId, MOST_TRADES> = ArrayVec::new();
    call(db, routine, params, &mut |set, row| match set {
        0 => {
            add(&mut found, row)?;
            let added = found.last().map(|detail| detail.trade.id());
            ids.extend(added.into_iter().take(ids.remaining_capacity()));
            Ok(())
        }
        1 => note_payment(&mut found, &ids, row),
        2 => note_history(&mut found, &ids, row),
        other => more(other, row),
    })?;
    Ok(found)
}

pub(super) static HOLDINGS: Routine = Routine::new(
    "bourse_trade_lookup_4",
    &[("p_acct", AccountId::TYPE), ("p_start", Timestamp::TYPE)],
    &[("v_trade", TradeId::TYPE)],
    &[
        Into(&FIRST_TRADE, &["p_acct", "p_start"], &["v_trade"]),
        Values(0, &["v_trade"]),
        Rows(1, &CHANGES, &["v_trade"]),
    ],
);

/// Trade-Lookup's frame 4: the account's first trade, and the changes of lots.
pub(in super::super) fn holdings(
    db: &mut dyn Session,
    account: AccountId,
    start: Timestamp,
) -> Result<(Vec<TradeId>, Vec<LotChange>), FrameError> {
    let (mut trade, mut changes) = (None::<(Option<TradeId>,)>, Vec::with_capacity(20));
    call(db, &HOLDINGS, &[account.into(), start.into()], &mut |set, row| match set {
        0 => keep(&mut trade, row),
        1 => add(&mut changes, row),
        other => no_such_set(other),
    })?;
    Ok((made(trade, &HOLDINGS)?.0.into_iter().collect(), changes))
}

pub(super) static STATEMENTS: &[&Sql] =
    &[&PAYMENTS_OF_ACCOUNT, &HISTORIES_OF_ACCOUNT, &PAYMENTS_IN_SECURITY, &HISTORIES_IN_SECURITY];
