//! Market-Watch (Clause 3.3.4): change of the value of a set of securities since a day. Read-only.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::rows::{self, rows};
use super::{FrameError, Status, Transaction, TxnError};
use bourse_egen::txn::MarketWatch;
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{AccountId, CustomerId, FinAgg};

/// Output of Market-Watch.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MarketWatchOutput {
    /// -411 if neither account nor customer nor industry was given.
    pub status: Status,
    /// The change of the securities' value in percent; 0 if there are none.
    pub pct_change: f64,
    /// Value of the securities on the day and now.
    pub worth: Worth,
}

rows! {
    /// Capitalisation of a set of securities: shares out times price, summed.
    pub struct Worth {
        /// Value at the day's closing prices; `None` without securities.
        pub old_cap: Option<FinAgg>,
        /// Value at the last prices.
        pub new_cap: Option<FinAgg>,
    }
}

/// Runs Market-Watch.
///
/// # Errors
/// The engine's.
pub fn market_watch(db: &mut dyn Session, input: &MarketWatch) -> Result<MarketWatchOutput, TxnError> {
    let harness = |db: &mut dyn Session, status: &mut Status| -> Result<_, InFrame> {
        let nothing = input.acct_id == AccountId(0) && input.c_id == CustomerId(0) && input.industry_name.is_empty();
        status.raise_if(nothing, -411);
        if nothing {
            return Ok(Worth { old_cap: None, new_cap: None });
        }
        frame1(db, input).frame(1)
    };
    let (mut worth, status) = in_transaction(db, Transaction::MarketWatch, harness)?;
    if planted!(WatchStalePrice) {
        worth.new_cap = worth.old_cap;
    }
    let pct_change = if planted!(WatchAnswers42) { 42.0 } else { change(&worth) };
    Ok(MarketWatchOutput { status, pct_change, worth })
}

/// Change in percent: a binary number, from exact sums.
fn change(worth: &Worth) -> f64 {
    match (worth.old_cap, worth.new_cap) {
        (Some(old), Some(new)) if old.units() != 0 => 100.0 * (new.units() as f64 / old.units() as f64 - 1.0),
        _ => 0.0,
    }
}

static WATCH_LIST: Sql = Sql::new(
    "SELECT sum(s_num_out * dm_close), sum(s_num_out * lt_price)
       FROM watch_list
            CROSS JOIN watch_item
            CROSS JOIN security
            CROSS JOIN last_trade
            CROSS JOIN daily_market
      WHERE wl_c_id = ?1
        AND wi_wl_id = wl_id
        AND s_symb = wi_s_symb
        AND lt_s_symb = wi_s_symb
        AND dm_s_symb = wi_s_symb
        AND dm_date = ?2",
);
static INDUSTRY: Sql = Sql::new(
    "SELECT sum(s_num_out * dm_close), sum(s_num_out * lt_price)
       FROM industry
            CROSS JOIN company
            CROSS JOIN security
            CROSS JOIN last_trade
            CROSS JOIN daily_market
      WHERE in_name = ?1
        AND co_in_id = in_id
        AND co_id BETWEEN ?3 AND ?4
        AND s_co_id = co_id
        AND lt_s_symb = s_symb
        AND dm_s_symb = s_symb
        AND dm_date = ?2",
);
static ACCOUNT: Sql = Sql::new(
    "SELECT sum(s_num_out * dm_close), sum(s_num_out * lt_price)
       FROM holding_summary
            CROSS JOIN security
            CROSS JOIN last_trade
            CROSS JOIN daily_market
      WHERE hs_ca_id = ?1
        AND s_symb = hs_s_symb
        AND lt_s_symb = hs_s_symb
        AND dm_s_symb = hs_s_symb
        AND dm_date = ?2",
);

/// Frame 1: sums over the securities of a watch list, an industry or an account (Clause 3.3.4.3).
fn frame1(db: &mut dyn Session, input: &MarketWatch) -> Result<Worth, FrameError> {
    let day = input.start_day.into();
    let worth = if input.c_id != CustomerId(0) {
        rows::one(db, &WATCH_LIST, &[input.c_id.into(), day])?
    } else if !input.industry_name.is_empty() {
        let (first, last) = (input.starting_co_id.into(), input.ending_co_id.into());
        rows::one(db, &INDUSTRY, &[(&input.industry_name).into(), day, first, last])?
    } else {
        rows::one(db, &ACCOUNT, &[input.acct_id.into(), day])?
    };
    commit(db)?;
    Ok(worth)
}

pub(super) static STATEMENTS: &[&Sql] = &[&WATCH_LIST, &INDUSTRY, &ACCOUNT];
