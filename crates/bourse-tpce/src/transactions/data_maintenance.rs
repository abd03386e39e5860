//! Data-Maintenance (Clause 3.3.11): once a minute a small correction in one of twelve tables that no other transaction
//! changes. Each correction can be repeated without end. A correction of a missing row changes nothing and is a success,
//! like every status.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::{Context, FrameError, Status, Transaction, TxnError, rows};
use bourse_egen::txn::DataMaintenance;
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{
    AccountId, AddressId, CompanyId, CustomerId, Date, ExchangeId, NewsId, Symbol, TaxId, Text, Timestamp, WatchListId,
};

/// Output of Data-Maintenance.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DataMaintenanceOutput {
    /// Always success.
    pub status: Status,
    /// Rows changed.
    pub changed: u64,
}

/// Runs Data-Maintenance.
///
/// # Errors
/// The engine's.
///
/// # Panics
/// For a table that is not one of the twelve.
pub fn data_maintenance(
    db: &mut dyn Session,
    context: &Context<'_>,
    input: &DataMaintenance,
) -> Result<DataMaintenanceOutput, TxnError> {
    let harness = |db: &mut dyn Session, _: &mut Status| -> Result<_, InFrame> { frame1(db, context, input).frame(1) };
    let (changed, status) = in_transaction(db, Transaction::DataMaintenance, harness)?;
    Ok(DataMaintenanceOutput { status, changed })
}

/// Frame 1: the table's correction (Clause 3.3.11.3).
fn frame1(db: &mut dyn Session, context: &Context<'_>, input: &DataMaintenance) -> Result<u64, FrameError> {
    if planted!(MaintenanceIdle) {
        commit(db)?;
        return Ok(1);
    }
    let changed = match input.table_name {
        "ACCOUNT_PERMISSION" => account_permission(db, input.acct_id),
        "ADDRESS" => address(db, input.c_id, input.co_id),
        "COMPANY" => company(db, input.co_id),
        "CUSTOMER" => customer(db, input.c_id),
        "CUSTOMER_TAXRATE" => customer_taxrate(db, input.c_id),
        "DAILY_MARKET" => daily_market(db, &input.symbol, input.day_of_month, input.vol_incr),
        "EXCHANGE" => exchange(db, (context.now)()),
        "FINANCIAL" => financial(db, input.co_id),
        "NEWS_ITEM" => news_item(db, input.co_id),
        "SECURITY" => security(db, &input.symbol),
        "TAXRATE" => taxrate(db, &input.tx_id),
        "WATCH_ITEM" => watch_item(db, input.c_id),
        other => unreachable!("Data-Maintenance knows no table {other:?}"),
    }?;
    commit(db)?;
    Ok(changed)
}

static HIGHEST_ACL: Sql = Sql::new("SELECT max(ap_acl) FROM account_permission WHERE ap_ca_id = ?1");
static SET_ACL: Sql = Sql::new("UPDATE account_permission SET ap_acl = ?3 WHERE ap_ca_id = ?1 AND ap_acl = ?2");

/// Switches the permissions of those who may do most on the account between everything and no more than trading.
fn account_permission(db: &mut dyn Session, account: AccountId) -> Result<u64, FrameError> {
    let (highest,): (Option<Text<4>>,) = rows::one(db, &HIGHEST_ACL, &[account.into()])?;
    let Some(highest) = highest else { return Ok(0) };
    let next = if highest == "1111" { "0011" } else { "1111" };
    rows::change(db, &SET_ACL, &[account.into(), (&highest).into(), next.into()])
}

static ADDRESS_OF_CUSTOMER: Sql = Sql::new(
    "SELECT ad_id, ad_line2
       FROM customer CROSS JOIN address
      WHERE c_id = ?1 AND ad_id = c_ad_id",
);
static ADDRESS_OF_COMPANY: Sql = Sql::new(
    "SELECT ad_id, ad_line2
       FROM company CROSS JOIN address
      WHERE co_id = ?1 AND ad_id = co_ad_id",
);
static SET_LINE2: Sql = Sql::new("UPDATE address SET ad_line2 = ?2 WHERE ad_id = ?1");

/// Moves the customer or the company between two apartments.
fn address(db: &mut dyn Session, customer: CustomerId, company: CompanyId) -> Result<u64, FrameError> {
    let found: Option<(AddressId, Option<Text<80>>)> = if customer == CustomerId(0) {
        rows::first(db, &ADDRESS_OF_COMPANY, &[company.into()])?
    } else {
        rows::first(db, &ADDRESS_OF_CUSTOMER, &[customer.into()])?
    };
    let Some((id, line2)) = found else { return Ok(0) };
    let next = if line2.is_some_and(|line2| line2 == "Apt. 10C") { "Apt. 22" } else { "Apt. 10C" };
    rows::change(db, &SET_LINE2, &[id.into(), next.into()])
}

static RATING: Sql = Sql::new("SELECT co_sp_rate FROM company WHERE co_id = ?1");
static SET_RATING: Sql = Sql::new("UPDATE company SET co_sp_rate = ?2 WHERE co_id = ?1");

/// Changes the company's rating.
fn company(db: &mut dyn Session, company: CompanyId) -> Result<u64, FrameError> {
    let found: Option<(Text<4>,)> = rows::first(db, &RATING, &[company.into()])?;
    let Some((rating,)) = found else { return Ok(0) };
    let next = if rating == "ABA" { "AAA" } else { "ABA" };
    rows::change(db, &SET_RATING, &[company.into(), next.into()])
}

static EMAIL: Sql = Sql::new("SELECT c_email_2 FROM customer WHERE c_id = ?1");
static SET_EMAIL: Sql = Sql::new("UPDATE customer SET c_email_2 = ?2 WHERE c_id = ?1");

/// Moves the customer's second address to another provider.
fn customer(db: &mut dyn Session, customer: CustomerId) -> Result<u64, FrameError> {
    let found: Option<(Text<50>,)> = rows::first(db, &EMAIL, &[customer.into()])?;
    let Some((email,)) = found else { return Ok(0) };
    let (name, domain) = email.as_str().split_once('@').unwrap_or((email.as_str(), ""));
    let next = if domain == "mindspring.com" { "earthlink.com" } else { "mindspring.com" };
    rows::change(db, &SET_EMAIL, &[customer.into(), format!("{name}@{next}").as_str().into()])
}

static TAXES: Sql = Sql::new("SELECT cx_tx_id FROM customer_taxrate WHERE cx_c_id = ?1 ORDER BY cx_tx_id");
static SET_TAX: Sql = Sql::new("UPDATE customer_taxrate SET cx_tx_id = ?3 WHERE cx_c_id = ?1 AND cx_tx_id = ?2");

/// Rotates the customer's country tax: five rates in the US, four in Canada. No division's id begins like these.
fn customer_taxrate(db: &mut dyn Session, customer: CustomerId) -> Result<u64, FrameError> {
    let taxes: Vec<(TaxId,)> = rows::all(db, &TAXES, &[customer.into()])?;
    let mut changed = 0;
    for (tax,) in &taxes {
        let next = match tax.as_str() {
            "US1" => "US2",
            "US2" => "US3",
            "US3" => "US4",
            "US4" => "US5",
            "US5" => "US1",
            "CN1" => "CN2",
            "CN2" => "CN3",
            "CN3" => "CN4",
            "CN4" => "CN1",
            _ => continue,
        };
        changed += rows::change(db, &SET_TAX, &[customer.into(), tax.into(), next.into()])?;
    }
    Ok(changed)
}

static DAYS: Sql = Sql::new("SELECT dm_date FROM daily_market WHERE dm_s_symb = ?1 ORDER BY dm_date");
static ADD_VOLUME: Sql = Sql::new("UPDATE daily_market SET dm_vol = dm_vol + ?3 WHERE dm_s_symb = ?1 AND dm_date = ?2");

/// Changes the volume of one day of each month. The days are selected here, since engines do not agree on the function for a
/// date's day.
fn daily_market(db: &mut dyn Session, symbol: &Symbol, day_of_month: i32, increment: i32) -> Result<u64, FrameError> {
    let days: Vec<(Date,)> = rows::all(db, &DAYS, &[symbol.into()])?;
    let mut changed = 0;
    for (date,) in days {
        if i64::from(date.ymd().2) == i64::from(day_of_month) {
            changed += rows::change(db, &ADD_VOLUME, &[symbol.into(), date.into(), increment.into()])?;
        }
    }
    Ok(changed)
}

static DESCRIPTIONS: Sql = Sql::new("SELECT ex_id, ex_desc FROM exchange ORDER BY ex_id");
static SET_DESCRIPTION: Sql = Sql::new("UPDATE exchange SET ex_desc = ?2 WHERE ex_id = ?1");

/// Writes the time of the change into the exchanges' descriptions.
fn exchange(db: &mut dyn Session, now: Timestamp) -> Result<u64, FrameError> {
    let exchanges: Vec<(ExchangeId, Text<150>)> = rows::all(db, &DESCRIPTIONS, &[])?;
    let mut changed = 0;
    for (id, description) in &exchanges {
        changed +=
            rows::change(db, &SET_DESCRIPTION, &[id.into(), stamped(description.as_str(), now).as_str().into()])?;
    }
    Ok(changed)
}

const LAST_UPDATED: &str = " LAST UPDATED ";

/// The description with the time at its end, to the second: so the text has the same length each time.
fn stamped(description: &str, now: Timestamp) -> String {
    let text = description.split(LAST_UPDATED).next().unwrap_or(description);
    let moment = now.to_string();
    format!("{text}{LAST_UPDATED}{}", &moment[..19])
}

static QUARTERS: Sql = Sql::new(
    "SELECT fi_year, fi_qtr, fi_qtr_start_date
       FROM financial
      WHERE fi_co_id = ?1
      ORDER BY fi_year, fi_qtr",
);
static SET_QUARTER_START: Sql = Sql::new(
    "UPDATE financial SET fi_qtr_start_date = ?4
      WHERE fi_co_id = ?1 AND fi_year = ?2 AND fi_qtr = ?3",
);

/// Moves the begin of the company's quarters to a day later, or the next time back to the first.
fn financial(db: &mut dyn Session, company: CompanyId) -> Result<u64, FrameError> {
    let quarters: Vec<(u16, u8, Date)> = rows::all(db, &QUARTERS, &[company.into()])?;
    let step = if quarters.iter().any(|(_, _, start)| start.ymd().2 == 1) { 1 } else { -1 };
    let mut changed = 0;
    for (year, quarter, start) in quarters {
        let start = Date::from_days(start.days() + step);
        let params = [company.into(), year.into(), quarter.into(), start.into()];
        changed += rows::change(db, &SET_QUARTER_START, &params)?;
    }
    Ok(changed)
}

static NEWS: Sql = Sql::new(
    "SELECT ni_id, ni_dts
       FROM news_xref CROSS JOIN news_item
      WHERE nx_co_id = ?1 AND ni_id = nx_ni_id
      ORDER BY nx_ni_id",
);
static SET_NEWS_DTS: Sql = Sql::new("UPDATE news_item SET ni_dts = ?2 WHERE ni_id = ?1");

/// Makes the company's news a day younger.
fn news_item(db: &mut dyn Session, company: CompanyId) -> Result<u64, FrameError> {
    let news: Vec<(NewsId, Timestamp)> = rows::all(db, &NEWS, &[company.into()])?;
    let mut changed = 0;
    for (id, dts) in news {
        let dts = Timestamp::at(Date::from_days(dts.date().days() + 1), dts.ms_of_day());
        changed += rows::change(db, &SET_NEWS_DTS, &[id.into(), dts.into()])?;
    }
    Ok(changed)
}

static LISTED: Sql = Sql::new("SELECT s_exch_date FROM security WHERE s_symb = ?1");
static SET_LISTED: Sql = Sql::new("UPDATE security SET s_exch_date = ?2 WHERE s_symb = ?1");

/// Moves the security's listing to a day later.
fn security(db: &mut dyn Session, symbol: &Symbol) -> Result<u64, FrameError> {
    let found: Option<(Date,)> = rows::first(db, &LISTED, &[symbol.into()])?;
    let Some((listed,)) = found else { return Ok(0) };
    let next = Date::from_days(listed.days() + 1);
    rows::change(db, &SET_LISTED, &[symbol.into(), next.into()])
}

static TAX_NAME: Sql = Sql::new("SELECT tx_name FROM taxrate WHERE tx_id = ?1");
static SET_TAX_NAME: Sql = Sql::new("UPDATE taxrate SET tx_name = ?2 WHERE tx_id = ?1");

/// Changes the case of one letter in the tax's name.
fn taxrate(db: &mut dyn Session, tax: &TaxId) -> Result<u64, FrameError> {
    let found: Option<(Text<50>,)> = rows::first(db, &TAX_NAME, &[tax.into()])?;
    let Some((name,)) = found else { return Ok(0) };
    let (from, to) = if name.as_str().contains(" Tax ") { (" Tax ", " tax ") } else { (" tax ", " Tax ") };
    let next = name.as_str().replace(from, to);
    rows::change(db, &SET_TAX_NAME, &[tax.into(), next.as_str().into()])
}

static ITEMS: Sql = Sql::new(
    "SELECT wi_wl_id, wi_s_symb
       FROM watch_list CROSS JOIN watch_item
      WHERE wl_c_id = ?1 AND wi_wl_id = wl_id
      ORDER BY wl_id, wi_s_symb",
);
static NEXT_UNWATCHED: Sql = Sql::new(
    "SELECT s_symb
       FROM security
      WHERE s_symb > ?2
        AND NOT EXISTS (SELECT 1 FROM watch_item WHERE wi_wl_id = ?1 AND wi_s_symb = s_symb)
      ORDER BY s_symb
      LIMIT 1",
);
static SET_ITEM: Sql = Sql::new("UPDATE watch_item SET wi_s_symb = ?3 WHERE wi_wl_id = ?1 AND wi_s_symb = ?2");

/// Replaces the middle item of the customer's watch list by the next security that is not on it. A list that has all later
/// ones is not changed.
fn watch_item(db: &mut dyn Session, customer: CustomerId) -> Result<u64, FrameError> {
    let items: Vec<(WatchListId, Symbol)> = rows::all(db, &ITEMS, &[customer.into()])?;
    let Some((list, old)) = items.get(items.len().div_ceil(2).saturating_sub(1)) else { return Ok(0) };
    let next: Option<(Symbol,)> = rows::first(db, &NEXT_UNWATCHED, &[(*list).into(), old.into()])?;
    match next {
        Some((next,)) => rows::change(db, &SET_ITEM, &[(*list).into(), old.into(), (&next).into()]),
        None => Ok(0),
    }
}

pub(super) static STATEMENTS: &[&Sql] = &[
    &HIGHEST_ACL, &SET_ACL, &ADDRESS_OF_CUSTOMER, &ADDRESS_OF_COMPANY, &SET_LINE2, &RATING, &SET_RATING, &EMAIL,
    &SET_EMAIL, &TAXES, &SET_TAX, &DAYS, &ADD_VOLUME, &DESCRIPTIONS, &SET_DESCRIPTION, &QUARTERS, &SET_QUARTER_START,
    &NEWS, &SET_NEWS_DTS, &LISTED, &SET_LISTED, &TAX_NAME, &SET_TAX_NAME, &ITEMS, &NEXT_UNWATCHED, &SET_ITEM,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamped_description_keeps_its_length() {
        let at = |ms| Timestamp::at(Date::from_ymd(2026, 3, 4), ms);
        let first = stamped("New York Stock Exchange", at(3_723_004));
        assert_eq!(first, "New York Stock Exchange LAST UPDATED 2026-03-04 01:02:03");
        assert_eq!(stamped(&first, at(7_446_000)), "New York Stock Exchange LAST UPDATED 2026-03-04 02:04:06");
    }
}
