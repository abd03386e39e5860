//! Trade-Update's three frames.

use super::super::rows;
use super::super::trade_update::{NAMED_TRADES, SET_CASH_NAME, SET_CASH_TYPE, SET_EXEC_NAME};
use super::super::trades::{
    Detail, HISTORIES, HasDetails, MOST_TRADES, PAYMENTS, TRADES_BY_ID, TRADES_OF_ACCOUNT, TradeById, in_order,
};
use super::super::{FrameError, rows::FromRow};
use super::lookups::{
    HISTORIES_IN_SECURITY, HISTORIES_OF_ACCOUNT, ID_PARAMS, IDS, PAYMENTS_IN_SECURITY, PAYMENTS_OF_ACCOUNT, WINDOW,
    with_details,
};
use super::{keep, made};
use bourse_engine::RoutineStep::{ChangeOne, Each, Into, Rows, Text as Words, Values};
use bourse_engine::{Routine, Session, Sql, Value};
use bourse_schema::{AccountId, ColumnType, Field as _, Symbol, Text, Timestamp, TradeId};

/// The names of executors in the order of the list, up to its length.
static LISTED_EXEC_NAMES: Sql = Sql::new(
    "SELECT 1 AS place, t_id, t_exec_name FROM trade WHERE t_id = ?1
     UNION ALL SELECT 2, t_id, t_exec_name FROM trade WHERE t_id = ?2
     UNION ALL SELECT 3, t_id, t_exec_name FROM trade WHERE t_id = ?3
     UNION ALL SELECT 4, t_id, t_exec_name FROM trade WHERE t_id = ?4
     UNION ALL SELECT 5, t_id, t_exec_name FROM trade WHERE t_id = ?5
     UNION ALL SELECT 6, t_id, t_exec_name FROM trade WHERE t_id = ?6
     UNION ALL SELECT 7, t_id, t_exec_name FROM trade WHERE t_id = ?7
     UNION ALL SELECT 8, t_id, t_exec_name FROM trade WHERE t_id = ?8
     UNION ALL SELECT 9, t_id, t_exec_name FROM trade WHERE t_id = ?9
     UNION ALL SELECT 10, t_id, t_exec_name FROM trade WHERE t_id = ?10
     UNION ALL SELECT 11, t_id, t_exec_name FROM trade WHERE t_id = ?11
     UNION ALL SELECT 12, t_id, t_exec_name FROM trade WHERE t_id = ?12
     UNION ALL SELECT 13, t_id, t_exec_name FROM trade WHERE t_id = ?13
     UNION ALL SELECT 14, t_id, t_exec_name FROM trade WHERE t_id = ?14
     UNION ALL SELECT 15, t_id, t_exec_name FROM trade WHERE t_id = ?15
     UNION ALL SELECT 16, t_id, t_exec_name FROM trade WHERE t_id = ?16
     UNION ALL SELECT 17, t_id, t_exec_name FROM trade WHERE t_id = ?17
     UNION ALL SELECT 18, t_id, t_exec_name FROM trade WHERE t_id = ?18
     UNION ALL SELECT 19, t_id, t_exec_name FROM trade WHERE t_id = ?19
     UNION ALL SELECT 20, t_id, t_exec_name FROM trade WHERE t_id = ?20
      ORDER BY place
      LIMIT ?21",
);

/// The parameters of a list of trades, and the most that are changed.
const EXECUTORS_PARAMS: [(&str, ColumnType); MOST_TRADES + 1] = {
    let mut params = [("p_updates", i32::TYPE); MOST_TRADES + 1];
    let mut at = 0;
    while at < MOST_TRADES {
        params[at] = ID_PARAMS[at];
        at += 1;
    }
    params
};

/// Their expressions.
const LISTED: [&str; MOST_TRADES + 1] = {
    let mut listed = ["p_updates"; MOST_TRADES + 1];
    let mut at = 0;
    while at < MOST_TRADES {
        listed[at] = IDS[at];
        at += 1;
    }
    listed
};

pub(super) static EXECUTORS: Routine = Routine::new(
    "bourse_trade_update_1",
    &EXECUTORS_PARAMS,
    &[("v_made", i32::TYPE), ("v_name", Text::<49>::TYPE), ("v_at", i32::TYPE)],
    &[
        Words("{set} v_made = 0;"),
        Each(
            "item",
            &LISTED_EXEC_NAMES,
            &LISTED,
            &[
                Words(
                    "{set} v_name = item.t_exec_name;
                     {set} v_at = POSITION(' X ' IN v_name);
                     IF v_at > 0 THEN
                        {set} v_name = CONCAT(SUBSTRING(v_name, 1, v_at), SUBSTRING(v_name, v_at + 3));
                     ELSE
                        {set} v_at = POSITION(' ' IN v_name);
                        IF v_at > 0 THEN
                            {set} v_name = CONCAT(SUBSTRING(v_name, 1, v_at), 'X ', SUBSTRING(v_name, v_at + 1));
                        END IF;
                     END IF;",
                ),
                ChangeOne(&SET_EXEC_NAME, &["item.t_id", "v_name"]),
                Words("{set} v_made = v_made + 1;"),
            ],
        ),
        Rows(0, &TRADES_BY_ID, &IDS),
        Rows(1, &PAYMENTS, &IDS),
        Rows(2, &HISTORIES, &IDS),
        Values(3, &["v_made"]),
    ],
);

/// Frame 1: the trades, and the number of changed ones.
pub(in super::super) fn executors(
    db: &mut dyn Session,
    ids: &[TradeId],
    most_updates: i32,
) -> Result<(Vec<Detail<TradeById>>, usize), FrameError> {
    let mut params = [Value::Null; MOST_TRADES + 1];
    params[..MOST_TRADES].copy_from_slice(&rows::list::<MOST_TRADES, _>(ids.iter().copied()));
    params[MOST_TRADES] = most_updates.max(0).into();
    let (found, made) = updated(db, &EXECUTORS, &params)?;
    Ok((in_order(found, ids), made))
}

static CASH_TYPE: Sql = Sql::new("SELECT se_cash_type FROM settlement WHERE se_t_id = ?1");

pub(in super::super) static CASH_TYPES: Routine = Routine::new(
    "bourse_trade_update_2",
    &[
        ("p_of", AccountId::TYPE),
        ("p_start", Timestamp::TYPE),
        ("p_end", Timestamp::TYPE),
        ("p_most", i32::TYPE),
        ("p_updates", i32::TYPE),
    ],
    &[("v_made", i32::TYPE), ("v_type", Text::<40>::TYPE)],
    &[
        Rows(0, &TRADES_OF_ACCOUNT, WINDOW),
        Words("{set} v_made = 0;"),
        Each(
            "item",
            &TRADES_OF_ACCOUNT,
            WINDOW,
            &[
                Words("IF v_made < p_updates THEN"),
                Into(&CASH_TYPE, &["item.t_id"], &["v_type"]),
                Words(
                    "IF v_type IS NOT NULL THEN
                        IF item.t_is_cash THEN
                            IF v_type = 'Cash Account' THEN {set} v_type = 'Cash'; ELSE {set} v_type = 'Cash Account'; END IF;
                        ELSE
                            IF v_type = 'Margin Account' THEN {set} v_type = 'Margin'; ELSE {set} v_type = 'Margin Account'; END IF;
                        END IF;",
                ),
                ChangeOne(&SET_CASH_TYPE, &["item.t_id", "v_type"]),
                Words("{set} v_made = v_made + 1; END IF; END IF;"),
            ],
        ),
        Rows(1, &PAYMENTS_OF_ACCOUNT, WINDOW),
        Rows(2, &HISTORIES_OF_ACCOUNT, WINDOW),
        Values(3, &["v_made"]),
    ],
);

static CASH_NAME: Sql = Sql::new("SELECT ct_name FROM cash_transaction WHERE ct_t_id = ?1");

pub(in super::super) static CASH_NAMES: Routine = Routine::new(
    "bourse_trade_update_3",
    &[
        ("p_of", Symbol::TYPE),
        ("p_start", Timestamp::TYPE),
        ("p_end", Timestamp::TYPE),
        ("p_most", i32::TYPE),
        ("p_updates", i32::TYPE),
    ],
    &[("v_made", i32::TYPE), ("v_name", Text::<100>::TYPE), ("v_shares", Text::<20>::TYPE)],
    &[
        Rows(0, &NAMED_TRADES, WINDOW),
        Words("{set} v_made = 0;"),
        Each(
            "item",
            &NAMED_TRADES,
            WINDOW,
            &[
                Words("IF item.t_is_cash AND v_made < p_updates THEN"),
                Into(&CASH_NAME, &["item.t_id"], &["v_name"]),
                Words(
                    "IF v_name IS NOT NULL THEN
                        IF POSITION(' shares of ' IN v_name) > 0 THEN {set} v_shares = ' Shares of '; ELSE {set} v_shares = ' shares of '; END IF;
                        {set} v_name = SUBSTRING(CONCAT(item.tt_name, ' ', item.t_qty, v_shares, item.s_name), 1, 100);",
                ),
                ChangeOne(&SET_CASH_NAME, &["item.t_id", "v_name"]),
                Words("{set} v_made = v_made + 1; END IF; END IF;"),
            ],
        ),
        Rows(1, &PAYMENTS_IN_SECURITY, WINDOW),
        Rows(2, &HISTORIES_IN_SECURITY, WINDOW),
        Values(3, &["v_made"]),
    ],
);

/// Trades with their details, and the number of changes as the set after these.
pub(in super::super) fn updated<T: FromRow + HasDetails>(
    db: &mut dyn Session,
    routine: &'static Routine,
    params: &[Value<'_>],
) -> Result<(Vec<Detail<T>>, usize), FrameError> {
    let mut changes: Option<(u64,)> = None;
    let found = with_details(db, routine, params, &mut |_, row| keep(&mut changes, row))?;
    Ok((found, made(changes, routine)?.0 as usize))
}

pub(super) static STATEMENTS: &[&Sql] = &[&LISTED_EXEC_NAMES, &CASH_TYPE, &CASH_NAME];
