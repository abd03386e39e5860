//! SECURITY (Clause 2.2.7.11; EGen `CSecurityTable`).

use bourse_schema::{Amount, Date, Price, Yield, tables};

use super::TABLE_SEED;
use super::company::DAY_BEFORE_MARKET;
use crate::ids::SECURITIES_PER_LOAD_UNIT;
use crate::round::decimal;
use crate::{Inputs, Part, Rng};

/// First day of the initial trades: 52-week highs and lows are before it.
const CURRENT: Date = Date::from_ymd(2005, 1, 3);

/// The securities of a part.
pub fn securities(inputs: &Inputs, part: Part) -> impl Iterator<Item = tables::Security> + '_ {
    let mut rng = Rng::new(TABLE_SEED);
    part.securities().map(move |index| {
        if index % SECURITIES_PER_LOAD_UNIT == 0 {
            rng = Rng::at(TABLE_SEED, index as u64 * 11);
        }
        let drawn = DrawnSecurity::next(&mut rng);
        let record = inputs.security(index);
        tables::Security {
            s_symb: inputs.symbol(index),
            s_issue: record.issue,
            s_st_id: record.status,
            s_name: inputs.security_name(index),
            s_ex_id: inputs.exchanges[usize::from(record.exchange)].id,
            s_co_id: inputs.issuer(index),
            s_num_out: drawn.shares,
            s_start_date: drawn.start,
            s_exch_date: drawn.listed,
            s_pe: drawn.price_to_earnings,
            s_52wk_high: drawn.high.0,
            s_52wk_high_date: drawn.high.1,
            s_52wk_low: drawn.low.0,
            s_52wk_low_date: drawn.low.1,
            s_dividend: drawn.dividend,
            s_yield: drawn.dividend_yield,
        }
    })
}

/// Random properties of a security.
struct DrawnSecurity {
    shares: i64,
    start: Date,
    listed: Date,
    price_to_earnings: Amount,
    high: (Price, Date),
    low: (Price, Date),
    dividend: Amount,
    dividend_yield: Yield,
}

impl DrawnSecurity {
    fn next(rng: &mut Rng) -> Self {
        let shares = rng.range(4_000_000, 9_500_000_000);
        let start = day(rng, Date::from_ymd(1900, 1, 1), DAY_BEFORE_MARKET);
        let listed = day(rng, start, DAY_BEFORE_MARKET);
        let price_to_earnings = decimal(rng.stepped(1.0, 120.0, 0.01));
        // Both pass through single precision, and the high's error makes the low's range one cent narrower for about
        // half of all securities.
        let high = f64::from(rng.stepped(25.0, 30.0, 0.01) as f32);
        let year_ago = Date::from_days(CURRENT.days() - 364);
        let high_day = day(rng, year_ago, CURRENT);
        let low = f64::from(rng.stepped(20.0, high, 0.01) as f32);
        let low_day = day(rng, year_ago, CURRENT);
        let (dividend, dividend_yield) = if rng.percent(60) {
            let dividend_yield = rng.stepped(0.01, 120.0, 0.01);
            (rng.stepped(dividend_yield * 0.20, dividend_yield * 0.30, 0.01), dividend_yield)
        } else {
            (0.0, 0.0)
        };
        Self {
            shares,
            start,
            listed,
            price_to_earnings,
            high: (decimal(high), high_day),
            low: (decimal(low), low_day),
            dividend: decimal(dividend),
            dividend_yield: decimal(dividend_yield),
        }
    }
}

fn day(rng: &mut Rng, first: Date, last: Date) -> Date {
    Date::from_days(rng.range(i64::from(first.days()), i64::from(last.days())) as i32)
}
