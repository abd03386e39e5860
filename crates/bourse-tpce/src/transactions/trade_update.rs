//! Trade-Update (Clause 3.3.10): a Trade-Lookup that corrects each trade it finds: the executor's name, the settlement's
//! cash type, or the cash transaction's name. Each correction undoes itself the second time.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::routines::updates;
use super::rows::{self, FromRow, rows};
use super::trades::{self, Detail, HasDetails, MOST_TRADES, TRADES_OF_ACCOUNT, TradeById, TradeOfAccount, has_details};
use super::{FrameError, Status, Transaction, TxnError};
use bourse_egen::txn::TradeUpdate;
use bourse_engine::{Routine, Session, Sql, Value};
use bourse_oltp::planted;
use bourse_schema::{AccountId, Price, Quantity, Text, Timestamp, TradeId, TradeTypeId};

/// Output of Trade-Update.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TradeUpdateOutput {
    /// Frame 1: -1011 if a trade is missing, -1012 if not all were changed. Frame 2: -1021 for too many, -1022 if not all
    /// were changed, +1021 if none was. Frame 3: -1031 for too many, -1032 if more were changed than found, +1031 if none
    /// was.
    pub status: Status,
    /// Number of changed trades.
    pub num_updated: usize,
    /// The trades as they are after the change.
    pub found: UpdatedTrades,
}

/// Output of one of the frames.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum UpdatedTrades {
    /// Frame 1: the requested trades, in that order.
    ById(Vec<Detail<TradeById>>),
    /// Frame 2: the account's trades from the start of the window.
    OfAccount(Vec<Detail<TradeOfAccount>>),
    /// Frame 3: the security's trades from the start of the window.
    InSecurity(Vec<Detail<NamedTrade>>),
}

rows! {
    /// A trade in a security, with the names of type and security (frame 3).
    pub struct NamedTrade {
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
        /// `S_NAME`.
        pub s_name: Text<70>,
        /// `T_DTS`.
        pub trade_dts: Timestamp,
        /// `T_TT_ID`.
        pub trade_type: TradeTypeId,
        /// `TT_NAME`.
        pub type_name: Text<12>,
    }
}
has_details!(NamedTrade);

/// Runs Trade-Update.
///
/// # Errors
/// The engine's.
///
/// # Panics
/// For a frame number other than 1 to 3.
pub fn trade_update(db: &mut dyn Session, input: &TradeUpdate) -> Result<TradeUpdateOutput, TxnError> {
    let most = usize::try_from(input.max_trades).unwrap_or(0);
    let most_updates = usize::try_from(input.max_updates).unwrap_or(0);
    let window = |of| {
        let window = trades::window(of, input.start_trade_dts, input.end_trade_dts, input.max_trades);
        (window, input.max_updates)
    };
    let harness = |db: &mut dyn Session, status: &mut Status| -> Result<_, InFrame> {
        Ok(match input.frame_to_execute {
            1 => {
                let (found, updated) = frame1(db, input).frame(1)?;
                status.raise_if(found.len() != most, -1011);
                status.raise_if(updated != most_updates, -1012);
                (updated, UpdatedTrades::ById(found))
            }
            2 => {
                let toggled = |trade: &TradeOfAccount, text: &str| Some(toggled_cash_type(text, trade.is_cash));
                let statements = [&TRADES_OF_ACCOUNT, &CASH_TYPES, &SET_CASH_TYPE];
                let window = window(input.acct_id.into());
                let (found, updated) = in_window(db, window, &updates::CASH_TYPES, statements, toggled).frame(2)?;
                status.raise_if(found.len() > most, -1021);
                status.raise_if(updated != found.len(), -1022);
                status.raise_if(updated == 0, 1021);
                (updated, UpdatedTrades::OfAccount(found))
            }
            3 => {
                let toggled = |trade: &NamedTrade, text: &str| trade.is_cash.then(|| toggled_cash_name(text, trade));
                let statements = [&NAMED_TRADES, &CASH_NAMES, &SET_CASH_NAME];
                let window = window((&input.symbol).into());
                let (found, updated) = in_window(db, window, &updates::CASH_NAMES, statements, toggled).frame(3)?;
                status.raise_if(found.len() > most, -1031);
                status.raise_if(updated > found.len(), -1032);
                status.raise_if(updated == 0, 1031);
                (updated, UpdatedTrades::InSecurity(found))
            }
            other => unreachable!("Trade-Update has frames 1 to 3, not {other}"),
        })
    };
    let ((num_updated, found), status) = in_transaction(db, Transaction::TradeUpdate, harness)?;
    Ok(TradeUpdateOutput { status, num_updated, found })
}

static EXEC_NAMES: Sql = Sql::new(
    "SELECT t_id, t_exec_name
       FROM trade
      WHERE t_id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
);
pub(super) static SET_EXEC_NAME: Sql = Sql::new("UPDATE trade SET t_exec_name = ?2 WHERE t_id = ?1");

/// Frame 1: trades by number; the executor's name gets or loses an ` X ` (Clause 3.3.10.3).
fn frame1(db: &mut dyn Session, input: &TradeUpdate) -> Result<(Vec<Detail<TradeById>>, usize), FrameError> {
    let ids = trades::listed(&input.trade_id, input.max_trades);
    if db.has_routines() {
        let done = updates::executors(db, ids, input.max_updates)?;
        commit(db)?;
        return Ok(done);
    }
    let names: Vec<(TradeId, Text<49>)> =
        rows::all(db, &EXEC_NAMES, &rows::list::<MOST_TRADES, _>(ids.iter().copied()))?;
    let mut updates = Updates::up_to(input.max_updates);
    // Unsorted, in the order of the list: it is part of the input that two of these can meet in opposite directions.
    for id in ids {
        if let Some((_, name)) = names.iter().find(|(named, _)| named == id) {
            updates.make(db, &SET_EXEC_NAME, *id, &toggled_executor(name.as_str()))?;
        }
    }
    let mut found = trades::by_id(db, ids)?;
    trades::details(db, &mut found)?;
    commit(db)?;
    Ok((found, updates.made))
}

fn toggled_executor(name: &str) -> String {
    if name.contains(" X ") { name.replacen(" X ", " ", 1) } else { name.replacen(' ', " X ", 1) }
}

static CASH_TYPES: Sql = Sql::new(
    "SELECT se_t_id, se_cash_type
       FROM settlement
      WHERE se_t_id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
);
pub(super) static SET_CASH_TYPE: Sql = Sql::new("UPDATE settlement SET se_cash_type = ?2 WHERE se_t_id = ?1");

fn toggled_cash_type(cash_type: &str, is_cash: bool) -> Text<40> {
    Text::cut(match (is_cash, cash_type) {
        (true, "Cash Account") => "Cash",
        (true, _) => "Cash Account",
        (false, "Margin Account") => "Margin",
        (false, _) => "Margin Account",
    })
}

pub(super) static NAMED_TRADES: Sql = Sql::new(
    "SELECT t_id, t_ca_id, t_exec_name, t_is_cash, t_trade_price, t_qty, s_name, t_dts, t_tt_id, tt_name
       FROM trade
            CROSS JOIN trade_type
            CROSS JOIN security
      WHERE t_s_symb = ?1
        AND t_dts BETWEEN ?2 AND ?3
        AND tt_id = t_tt_id
        AND s_symb = t_s_symb
      ORDER BY t_dts, t_id
      LIMIT ?4",
);
static CASH_NAMES: Sql = Sql::new(
    "SELECT ct_t_id, ct_name
       FROM cash_transaction
      WHERE ct_t_id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
);
pub(super) static SET_CASH_NAME: Sql = Sql::new("UPDATE cash_transaction SET ct_name = ?2 WHERE ct_t_id = ?1");

/// Frames 2 and 3: trades of an account or in a security, in a window of time. `statements` are for the trades, for a text of
/// each, and to change it to what `toggled` makes of it: the settlement's cash type gets or loses its second word (Clause
/// 3.3.10.4), the cash transaction's `shares` become `Shares` or the other way (Clause 3.3.10.5).
fn in_window<T: FromRow + HasDetails, const N: usize>(
    db: &mut dyn Session,
    (window, most_updates): ([Value<'_>; 4], i32),
    routine: &'static Routine,
    [trades, texts, change]: [&'static Sql; 3],
    toggled: impl Fn(&T, &str) -> Option<Text<N>>,
) -> Result<(Vec<Detail<T>>, usize), FrameError> {
    if db.has_routines() {
        let [of, start, end, most] = window;
        let done = updates::updated(db, routine, &[of, start, end, most, most_updates.into()])?;
        commit(db)?;
        return Ok(done);
    }
    let mut found: Vec<Detail<T>> = rows::all(db, trades, &window)?;
    let mut updates = Updates::up_to(most_updates);
    if !found.is_empty() {
        let ids = rows::list::<MOST_TRADES, _>(found.iter().map(|detail| detail.trade.id()));
        let texts: Vec<(TradeId, Text<N>)> = rows::all(db, texts, &ids)?;
        for Detail { trade, .. } in &found {
            let text = texts.iter().find(|(of, _)| *of == trade.id());
            if let Some(text) = text.and_then(|(_, text)| toggled(trade, text.as_str())) {
                updates.make(db, change, trade.id(), text.as_str())?;
            }
        }
    }
    trades::details(db, &mut found)?;
    commit(db)?;
    Ok((found, updates.made))
}

fn toggled_cash_name(name: &str, trade: &NamedTrade) -> Text<100> {
    let shares = if name.contains(" shares of ") { "Shares" } else { "shares" };
    trades::cash_name(&trade.type_name, trade.quantity, shares, &trade.s_name)
}

/// Changes made so far, up to the input's limit.
struct Updates {
    made: usize,
    most: usize,
}

impl Updates {
    fn up_to(most: i32) -> Self {
        Self { made: 0, most: usize::try_from(most).unwrap_or(0) }
    }

    fn make(&mut self, db: &mut dyn Session, sql: &'static Sql, trade: TradeId, text: &str) -> Result<(), FrameError> {
        if self.made < self.most {
            let trade = if planted!(UpdateWrongRow) { TradeId(200_000_000_000_001) } else { trade };
            rows::change_one(db, sql, &[trade.into(), text.into()])?;
            self.made += 1;
        }
        Ok(())
    }
}

pub(super) static STATEMENTS: &[&Sql] =
    &[&EXEC_NAMES, &SET_EXEC_NAME, &CASH_TYPES, &SET_CASH_TYPE, &NAMED_TRADES, &CASH_NAMES, &SET_CASH_NAME];
