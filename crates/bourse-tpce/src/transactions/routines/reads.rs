//! Customer-Position's frame 1, Security-Detail, Trade-Status.

use super::super::customer_position::{CUSTOMER, CUSTOMER_OF_TAX_ID, CustomerPositionOutput, POSITIONS};
use super::super::security_detail::{
    COMPETITORS, DAYS, FINANCIALS, LAST, NEWS_BODIES, NEWS_HEADLINES, PROFILE, SecurityDetailOutput,
};
use super::super::trade_status::{AccountNames, LATEST_TRADES, NAMES, StatusRow};
use super::super::{FrameError, Status};
use super::{add, call, keep, made, no_such_set};
use bourse_egen::txn::{CustomerPosition, SecurityDetail};
use bourse_engine::RoutineStep::{Into, Rows, Text as Words, Values};
use bourse_engine::{Routine, Session, Sql};
use bourse_schema::{AccountId, CompanyId, CustomerId, Date, Field as _, Symbol, Text};

pub(super) static CUSTOMER_POSITION: Routine = Routine::new(
    "bourse_customer_position_1",
    &[("p_cust", CustomerId::TYPE), ("p_tax_id", Text::<20>::TYPE)],
    &[("v_cust", CustomerId::TYPE)],
    &[
        Words("IF p_cust = 0 THEN"),
        Into(&CUSTOMER_OF_TAX_ID, &["p_tax_id"], &["v_cust"]),
        Words("{set} v_cust = COALESCE(v_cust, 0); ELSE {set} v_cust = p_cust; END IF;"),
        Values(0, &["v_cust"]),
        Rows(1, &CUSTOMER, &["v_cust"]),
        Rows(2, &POSITIONS, &["v_cust"]),
    ],
);

/// Customer-Position's frame 1.
pub(in super::super) fn customer_position(
    db: &mut dyn Session,
    input: &CustomerPosition,
) -> Result<Box<CustomerPositionOutput>, FrameError> {
    let (mut cust_id, mut customer, mut accounts) = (None::<(CustomerId,)>, None, Vec::with_capacity(10));
    let params = [input.cust_id.into(), (&input.tax_id).into()];
    call(db, &CUSTOMER_POSITION, &params, &mut |set, row| match set {
        0 => keep(&mut cust_id, row),
        1 => keep(&mut customer, row),
        2 => add(&mut accounts, row),
        other => no_such_set(other),
    })?;
    let (cust_id,) = made(cust_id, &CUSTOMER_POSITION)?;
    Ok(Box::new(CustomerPositionOutput { status: Status::SUCCESS, cust_id, customer, accounts, history: Vec::new() }))
}

static COMPANY: Sql = Sql::new("SELECT s_co_id FROM security WHERE s_symb = ?1");

pub(super) static SECURITY_DETAIL: Routine = Routine::new(
    "bourse_security_detail_1",
    &[("p_symb", Symbol::TYPE), ("p_bodies", bool::TYPE), ("p_most", i32::TYPE), ("p_start", Date::TYPE)],
    &[("v_co", CompanyId::TYPE)],
    &[
        Rows(0, &PROFILE, &["p_symb"]),
        Into(&COMPANY, &["p_symb"], &["v_co"]),
        Rows(1, &COMPETITORS, &["v_co"]),
        Rows(2, &FINANCIALS, &["v_co"]),
        Rows(3, &DAYS, &["p_symb", "p_start", "p_most"]),
        Rows(4, &LAST, &["p_symb"]),
        Words("IF p_bodies THEN"),
        Rows(5, &NEWS_BODIES, &["v_co"]),
        Words("ELSE"),
        Rows(5, &NEWS_HEADLINES, &["v_co"]),
        Words("END IF;"),
    ],
);

/// Security-Detail's frame 1.
pub(in super::super) fn security_detail(
    db: &mut dyn Session,
    input: &SecurityDetail,
) -> Result<Box<SecurityDetailOutput>, FrameError> {
    let mut found = Box::new(SecurityDetailOutput {
        status: Status::SUCCESS,
        profile: None,
        competitors: Vec::with_capacity(3),
        financials: Vec::with_capacity(20),
        days: Vec::with_capacity(20),
        last: None,
        news: Vec::with_capacity(2),
    });
    let params =
        [(&input.symbol).into(), input.access_lob_flag.into(), input.max_rows_to_return.into(), input.start_day.into()];
    call(db, &SECURITY_DETAIL, &params, &mut |set, row| match set {
        0 => keep(&mut found.profile, row),
        1 => add(&mut found.competitors, row),
        2 => add(&mut found.financials, row),
        3 => add(&mut found.days, row),
        4 => keep(&mut found.last, row),
        5 => add(&mut found.news, row),
        other => no_such_set(other),
    })?;
    Ok(found)
}

pub(super) static TRADE_STATUS: Routine = Routine::new(
    "bourse_trade_status_1",
    &[("p_acct", AccountId::TYPE)],
    &[],
    &[Rows(0, &LATEST_TRADES, &["p_acct"]), Rows(1, &NAMES, &["p_acct"])],
);

/// Trade-Status's frame 1.
pub(in super::super) fn trade_status(
    db: &mut dyn Session,
    account: AccountId,
) -> Result<(Vec<StatusRow>, Option<AccountNames>), FrameError> {
    let (mut trades, mut names) = (Vec::with_capacity(50), None);
    call(db, &TRADE_STATUS, &[account.into()], &mut |set, row| match set {
        0 => add(&mut trades, row),
        1 => keep(&mut names, row),
        other => no_such_set(other),
    })?;
    Ok((trades, names))
}

pub(super) static STATEMENTS: &[&Sql] = &[&COMPANY];
