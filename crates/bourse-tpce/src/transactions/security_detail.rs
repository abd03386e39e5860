//! Security-Detail (Clause 3.3.5): details of a security and its company. Read-only.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::routines::reads;
use super::rows::{self, rows};
use super::{FrameError, Status, Transaction, TxnError};
use bourse_egen::txn::SecurityDetail;
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{Amount, CompanyId, Count, Date, FinAgg, Price, StatusId, Text, Timestamp, Yield, ZipCodeId};

/// Output of Security-Detail.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SecurityDetailOutput {
    /// -511 for a number of days other than 5 to 20, -512 for a number of quarters other than 20, -513 for a number of
    /// news other than 2.
    pub status: Status,
    /// The security with its company and exchange; `None` if there is no such security.
    pub profile: Option<Profile>,
    /// Competitors of the company; three at most.
    pub competitors: Vec<Competitor>,
    /// The company's quarters, oldest first.
    pub financials: Vec<Quarter>,
    /// The security's days from the start day on.
    pub days: Vec<TradingDay>,
    /// The security's last price and volume.
    pub last: Option<LastPrice>,
    /// News about the company; two at most.
    pub news: Vec<News>,
}

rows! {
    /// A security with its company and exchange.
    pub struct Profile {
        /// `S_NAME`.
        pub s_name: Text<70>,
        /// `CO_ID`.
        pub co_id: CompanyId,
        /// `CO_NAME`.
        pub co_name: Text<60>,
        /// `CO_SP_RATE`.
        pub sp_rate: Text<4>,
        /// `CO_CEO`.
        pub ceo_name: Text<46>,
        /// `CO_DESC`.
        pub co_desc: Text<150>,
        /// `CO_OPEN_DATE`.
        pub open_date: Date,
        /// `CO_ST_ID`.
        pub co_st_id: StatusId,
        /// The company's `AD_LINE1`.
        pub co_ad_line1: Text<80>,
        /// The company's `AD_LINE2`.
        pub co_ad_line2: Text<80>,
        /// The company's `AD_ZC_CODE`.
        pub co_ad_zip: ZipCodeId,
        /// The company's `ZC_TOWN`.
        pub co_ad_town: Text<80>,
        /// The company's `ZC_DIV`.
        pub co_ad_div: Text<80>,
        /// The company's `AD_CTRY`.
        pub co_ad_ctry: Text<80>,
        /// `S_NUM_OUT`.
        pub num_out: Count,
        /// `S_START_DATE`.
        pub start_date: Date,
        /// `S_EXCH_DATE`.
        pub exch_date: Date,
        /// `S_PE`.
        pub pe_ratio: Amount,
        /// `S_52WK_HIGH`.
        pub s52_wk_high: Price,
        /// `S_52WK_HIGH_DATE`.
        pub s52_wk_high_date: Date,
        /// `S_52WK_LOW`.
        pub s52_wk_low: Price,
        /// `S_52WK_LOW_DATE`.
        pub s52_wk_low_date: Date,
        /// `S_DIVIDEND`.
        pub divid: Amount,
        /// `S_YIELD`.
        pub yield_percent: Yield,
        /// The exchange's `AD_LINE1`.
        pub ex_ad_line1: Text<80>,
        /// The exchange's `AD_LINE2`.
        pub ex_ad_line2: Text<80>,
        /// The exchange's `AD_ZC_CODE`.
        pub ex_ad_zip: ZipCodeId,
        /// The exchange's `ZC_TOWN`.
        pub ex_ad_town: Text<80>,
        /// The exchange's `ZC_DIV`.
        pub ex_ad_div: Text<80>,
        /// The exchange's `AD_CTRY`.
        pub ex_ad_ctry: Text<80>,
        /// `EX_CLOSE`.
        pub ex_close: u16,
        /// `EX_DESC`.
        pub ex_desc: Text<150>,
        /// `EX_NAME`.
        pub ex_name: Text<100>,
        /// `EX_NUM_SYMB`.
        pub ex_num_symb: i32,
        /// `EX_OPEN`.
        pub ex_open: u16,
    }

    /// A competitor.
    pub struct Competitor {
        /// Name of the competitor.
        pub cp_co_name: Text<60>,
        /// Industry of the competition.
        pub cp_in_name: Text<50>,
    }

    /// A quarter's figures.
    pub struct Quarter {
        /// `FI_YEAR`.
        pub year: u16,
        /// `FI_QTR`.
        pub qtr: u8,
        /// `FI_QTR_START_DATE`.
        pub start_date: Date,
        /// `FI_REVENUE`.
        pub rev: FinAgg,
        /// `FI_NET_EARN`.
        pub net_earn: FinAgg,
        /// `FI_BASIC_EPS`.
        pub basic_eps: Amount,
        /// `FI_DILUT_EPS`.
        pub dilut_eps: Amount,
        /// `FI_MARGIN`.
        pub margin: Amount,
        /// `FI_INVENTORY`.
        pub invent: FinAgg,
        /// `FI_ASSETS`.
        pub assets: FinAgg,
        /// `FI_LIABILITY`.
        pub liab: FinAgg,
        /// `FI_OUT_BASIC`.
        pub out_basic: Count,
        /// `FI_OUT_DILUT`.
        pub out_dilut: Count,
    }

    /// A day of trading.
    pub struct TradingDay {
        /// `DM_DATE`.
        pub date: Date,
        /// `DM_CLOSE`.
        pub close: Price,
        /// `DM_HIGH`.
        pub high: Price,
        /// `DM_LOW`.
        pub low: Price,
        /// `DM_VOL`.
        pub vol: Count,
    }

    /// The last trade.
    pub struct LastPrice {
        /// `LT_PRICE`.
        pub last_price: Price,
        /// `LT_OPEN_PRICE`.
        pub last_open: Price,
        /// `LT_VOL`.
        pub last_vol: Count,
    }

    /// A news item: with its body, or with headline and summary; the part that was not requested is empty.
    pub struct News {
        /// `NI_HEADLINE`.
        pub headline: Text<80>,
        /// `NI_SUMMARY`.
        pub summary: Text<255>,
        /// `NI_ITEM`.
        pub item: Vec<u8>,
        /// `NI_DTS`.
        pub dts: Timestamp,
        /// `NI_SOURCE`.
        pub src: Text<30>,
        /// `NI_AUTHOR`.
        pub auth: Text<30>,
    }
}

/// Runs Security-Detail.
///
/// # Errors
/// The engine's.
pub fn security_detail(db: &mut dyn Session, input: &SecurityDetail) -> Result<Box<SecurityDetailOutput>, TxnError> {
    let harness = |db: &mut dyn Session, status: &mut Status| -> Result<_, InFrame> {
        let output = frame1(db, input).frame(1)?;
        status.raise_if(!(5..=20).contains(&output.days.len()), -511);
        status.raise_if(output.financials.len() != 20, -512);
        status.raise_if(output.news.len() != 2, -513);
        Ok(output)
    };
    let (mut output, status) = in_transaction(db, Transaction::SecurityDetail, harness)?;
    output.status = status;
    Ok(output)
}

pub(super) static PROFILE: Sql = Sql::new(
    "SELECT s_name, co_id, co_name, co_sp_rate, co_ceo, co_desc, co_open_date, co_st_id,
            ca.ad_line1, ca.ad_line2, ca.ad_zc_code, cz.zc_town, cz.zc_div, ca.ad_ctry,
            s_num_out, s_start_date, s_exch_date, s_pe, s_52wk_high, s_52wk_high_date, s_52wk_low, s_52wk_low_date,
            s_dividend, s_yield,
            ea.ad_line1, ea.ad_line2, ea.ad_zc_code, ez.zc_town, ez.zc_div, ea.ad_ctry,
            ex_close, ex_desc, ex_name, ex_num_symb, ex_open
       FROM security
            CROSS JOIN company
            CROSS JOIN address AS ca
            CROSS JOIN zip_code AS cz
            CROSS JOIN exchange
            CROSS JOIN address AS ea
            CROSS JOIN zip_code AS ez
      WHERE s_symb = ?1
        AND co_id = s_co_id
        AND ca.ad_id = co_ad_id
        AND cz.zc_code = ca.ad_zc_code
        AND ex_id = s_ex_id
        AND ea.ad_id = ex_ad_id
        AND ez.zc_code = ea.ad_zc_code",
);
pub(super) static COMPETITORS: Sql = Sql::new(
    "SELECT co_name, in_name
       FROM company_competitor
            CROSS JOIN company
            CROSS JOIN industry
      WHERE cp_co_id = ?1 AND co_id = cp_comp_co_id AND in_id = cp_in_id
      ORDER BY cp_comp_co_id, cp_in_id
      LIMIT 3",
);
pub(super) static FINANCIALS: Sql = Sql::new(
    "SELECT fi_year, fi_qtr, fi_qtr_start_date, fi_revenue, fi_net_earn, fi_basic_eps, fi_dilut_eps, fi_margin,
            fi_inventory, fi_assets, fi_liability, fi_out_basic, fi_out_dilut
       FROM financial
      WHERE fi_co_id = ?1
      ORDER BY fi_year, fi_qtr
      LIMIT 20",
);
pub(super) static DAYS: Sql = Sql::new(
    "SELECT dm_date, dm_close, dm_high, dm_low, dm_vol
       FROM daily_market
      WHERE dm_s_symb = ?1 AND dm_date >= ?2
      ORDER BY dm_date
      LIMIT ?3",
);
pub(super) static LAST: Sql = Sql::new("SELECT lt_price, lt_open_price, lt_vol FROM last_trade WHERE lt_s_symb = ?1");
pub(super) static NEWS_BODIES: Sql = Sql::new(
    "SELECT '', '', ni_item, ni_dts, ni_source, ni_author
       FROM news_xref CROSS JOIN news_item
      WHERE nx_co_id = ?1 AND ni_id = nx_ni_id
      ORDER BY nx_ni_id
      LIMIT 2",
);
pub(super) static NEWS_HEADLINES: Sql = Sql::new(
    "SELECT ni_headline, ni_summary, '', ni_dts, ni_source, ni_author
       FROM news_xref CROSS JOIN news_item
      WHERE nx_co_id = ?1 AND ni_id = nx_ni_id
      ORDER BY nx_ni_id
      LIMIT 2",
);

/// Frame 1: everything (Clause 3.3.5.3).
fn frame1(db: &mut dyn Session, input: &SecurityDetail) -> Result<Box<SecurityDetailOutput>, FrameError> {
    if db.has_routines() {
        let output = reads::security_detail(db, input)?;
        commit(db)?;
        return Ok(output);
    }
    let symbol = (&input.symbol).into();
    let profile: Option<Profile> = rows::first(db, &PROFILE, &[symbol])?;
    let company = profile.as_ref().map_or(CompanyId(0), |profile| profile.co_id).into();
    let competitors = rows::all(db, &COMPETITORS, &[company])?;
    let financials = rows::all(db, &FINANCIALS, &[company])?;
    let most = input.max_rows_to_return.into();
    let mut days: Vec<TradingDay> = rows::all(db, &DAYS, &[symbol, input.start_day.into(), most])?;
    if planted!(SecurityDaysReversed) {
        days.reverse();
    }
    let last = rows::first(db, &LAST, &[symbol])?;
    let news = if input.access_lob_flag { &NEWS_BODIES } else { &NEWS_HEADLINES };
    let news = rows::all(db, news, &[company])?;
    commit(db)?;
    // Boxed from the beginning: it is wide, and handed on several times.
    Ok(Box::new(SecurityDetailOutput { status: Status::SUCCESS, profile, competitors, financials, days, last, news }))
}

pub(super) static STATEMENTS: &[&Sql] =
    &[&PROFILE, &COMPETITORS, &FINANCIALS, &DAYS, &LAST, &NEWS_BODIES, &NEWS_HEADLINES];
