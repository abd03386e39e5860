//! Customer-Position (Clause 3.3.2): a customer's details, the value of his accounts, and the latest history of one of them.
//! Read-only.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::routines::reads;
use super::rows::{self, rows};
use super::{FrameError, Status, Transaction, TxnError};
use bourse_egen::txn::CustomerPosition;
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{
    AccountId, AddressId, Balance, CustomerId, Date, Quantity, StatusId, Symbol, Text, Timestamp, TradeId,
};

/// Output of Customer-Position.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CustomerPositionOutput {
    /// -211 for a number of accounts other than 1 to 10, -221 for a number of history rows other than 10 to 30.
    pub status: Status,
    /// Frame 1: the customer's id, as given or found.
    pub cust_id: CustomerId,
    /// Frame 1: the customer, if there is one of that id.
    pub customer: Option<CustomerDetails>,
    /// Frame 1: his accounts, those with the least assets first.
    pub accounts: Vec<AccountPosition>,
    /// Frame 2: the account's latest history, newest first; empty if it was not requested.
    pub history: Vec<HistoryRow>,
}

rows! {
    /// A customer, without his id and tax id.
    pub struct CustomerDetails {
        /// `C_ST_ID`.
        pub st_id: StatusId,
        /// `C_L_NAME`.
        pub l_name: Text<25>,
        /// `C_F_NAME`.
        pub f_name: Text<20>,
        /// `C_M_NAME`.
        pub m_name: Text<1>,
        /// `C_GNDR`.
        pub gender: Text<1>,
        /// `C_TIER`.
        pub tier: u8,
        /// `C_DOB`.
        pub dob: Date,
        /// `C_AD_ID`.
        pub ad_id: AddressId,
        /// `C_CTRY_1`.
        pub ctry_1: Text<3>,
        /// `C_AREA_1`.
        pub area_1: Text<3>,
        /// `C_LOCAL_1`.
        pub local_1: Text<10>,
        /// `C_EXT_1`.
        pub ext_1: Text<5>,
        /// `C_CTRY_2`.
        pub ctry_2: Text<3>,
        /// `C_AREA_2`.
        pub area_2: Text<3>,
        /// `C_LOCAL_2`.
        pub local_2: Text<10>,
        /// `C_EXT_2`.
        pub ext_2: Text<5>,
        /// `C_CTRY_3`.
        pub ctry_3: Text<3>,
        /// `C_AREA_3`.
        pub area_3: Text<3>,
        /// `C_LOCAL_3`.
        pub local_3: Text<10>,
        /// `C_EXT_3`.
        pub ext_3: Text<5>,
        /// `C_EMAIL_1`.
        pub email_1: Text<50>,
        /// `C_EMAIL_2`.
        pub email_2: Text<50>,
    }

    /// Cash and value of an account.
    pub struct AccountPosition {
        /// The account.
        pub acct_id: AccountId,
        /// Cash balance.
        pub cash_bal: Balance,
        /// Its holdings at their last price; negative if more is owed than held.
        pub asset_total: Balance,
    }

    /// A trade that reached a status.
    pub struct HistoryRow {
        /// The trade.
        pub trade_id: TradeId,
        /// Symbol of its security.
        pub symbol: Symbol,
        /// Number of shares.
        pub qty: Quantity,
        /// Name of the status.
        pub trade_status: Text<10>,
        /// Date and time of the status.
        pub hist_dts: Timestamp,
    }
}

/// Runs Customer-Position.
///
/// # Errors
/// The engine's.
pub fn customer_position(
    db: &mut dyn Session,
    input: &CustomerPosition,
) -> Result<Box<CustomerPositionOutput>, TxnError> {
    let harness = |db: &mut dyn Session, status: &mut Status| -> Result<_, InFrame> {
        let mut output = frame1(db, input).frame(1)?;
        status.raise_if(!(1..=10).contains(&output.accounts.len()), -211);
        if !status.is_error() {
            if input.get_history {
                // The index counts in frame 1's order. One too large finds no account, and so no history.
                let account = usize::try_from(input.acct_id_idx).ok().and_then(|index| output.accounts.get(index));
                output.history = frame2(db, account.map_or(AccountId(0), |account| account.acct_id)).frame(2)?;
                status.raise_if(!(10..=30).contains(&output.history.len()), -221);
            } else {
                frame3(db).frame(3)?;
            }
        }
        Ok(output)
    };
    let (mut output, status) = in_transaction(db, Transaction::CustomerPosition, harness)?;
    output.status = status;
    Ok(output)
}

pub(super) static CUSTOMER_OF_TAX_ID: Sql = Sql::new("SELECT c_id FROM customer WHERE c_tax_id = ?1");
pub(super) static CUSTOMER: Sql = Sql::new(
    "SELECT c_st_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob, c_ad_id, c_ctry_1, c_area_1, c_local_1,
            c_ext_1, c_ctry_2, c_area_2, c_local_2, c_ext_2, c_ctry_3, c_area_3, c_local_3, c_ext_3, c_email_1, c_email_2
       FROM customer
      WHERE c_id = ?1",
);
// The sum is a subquery, so that accounts without holdings stay: the index that frame 2 gets counts them.
pub(super) static POSITIONS: Sql = Sql::new(
    "SELECT ca_id, ca_bal,
            coalesce((SELECT sum(hs_qty * lt_price)
                        FROM holding_summary CROSS JOIN last_trade
                       WHERE hs_ca_id = ca_id AND lt_s_symb = hs_s_symb), 0) AS assets
       FROM customer_account
      WHERE ca_c_id = ?1
      ORDER BY assets, ca_id
      LIMIT 10",
);

/// Frame 1: the customer and his accounts (Clause 3.3.2.3).
fn frame1(db: &mut dyn Session, input: &CustomerPosition) -> Result<Box<CustomerPositionOutput>, FrameError> {
    if db.has_routines() {
        return reads::customer_position(db, input);
    }
    let cust_id = if input.cust_id == CustomerId(0) {
        let found: Option<(CustomerId,)> = rows::first(db, &CUSTOMER_OF_TAX_ID, &[(&input.tax_id).into()])?;
        found.map_or(CustomerId(0), |(id,)| id)
    } else {
        input.cust_id
    };
    let customer = rows::first(db, &CUSTOMER, &[cust_id.into()])?;
    let mut accounts: Vec<AccountPosition> = rows::all(db, &POSITIONS, &[cust_id.into()])?;
    if planted!(PositionShort) {
        accounts.pop();
    }
    // Boxed from the beginning: it is wide, and handed on several times.
    Ok(Box::new(CustomerPositionOutput { status: Status::SUCCESS, cust_id, customer, accounts, history: Vec::new() }))
}

static LATEST_HISTORY: Sql = Sql::new(
    "SELECT t_id, t_s_symb, t_qty, st_name, th_dts
       FROM (SELECT t_id, t_s_symb, t_qty
               FROM trade
              WHERE t_ca_id = ?1
              ORDER BY t_dts DESC, t_id DESC
              LIMIT 10) AS latest
            CROSS JOIN trade_history
            CROSS JOIN status_type
      WHERE th_t_id = t_id AND st_id = th_st_id
      ORDER BY th_dts DESC, t_id DESC, st_name DESC
      LIMIT 30",
);

/// Frame 2: the history of the account's ten latest trades (Clause 3.3.2.4).
fn frame2(db: &mut dyn Session, account: AccountId) -> Result<Vec<HistoryRow>, FrameError> {
    let history = rows::all(db, &LATEST_HISTORY, &[account.into()])?;
    commit(db)?;
    Ok(history)
}

/// Frame 3: ends the transaction without the history (Clause 3.3.2.5).
fn frame3(db: &mut dyn Session) -> Result<(), FrameError> {
    commit(db)
}

pub(super) static STATEMENTS: &[&Sql] = &[&CUSTOMER_OF_TAX_ID, &CUSTOMER, &POSITIONS, &LATEST_HISTORY];
