//! DAILY_MARKET: five years of closing prices (Clause 2.2.7.3; EGen `CDailyMarketTable`).

use bourse_schema::{Date, Field as _, Price, tables};

use super::TABLE_SEED;
use crate::dates::MARKET_BASE;
use crate::ids::SECURITIES_PER_LOAD_UNIT;
use crate::round::rounded;
use crate::{Inputs, Rng};

/// Trading days of five years of 261.
pub(crate) const DAYS: usize = 1_305;
/// Closing prices from 20 to 30 dollars by the cent.
const CLOSES: u64 = 1_001;
/// Minimum and maximum shares of a day.
const VOLUMES: (i64, i64) = (1_000, 10_000);

/// The days and the possible prices, computed once.
#[derive(Debug, Clone)]
pub(crate) struct DailyPrices {
    days: Vec<Date>,
    closes: Vec<[Price; 3]>,
    /// `YYYY-MM-DD|` of each day.
    day_texts: Vec<[u8; 11]>,
    /// `|close|high|low|` of each closing price.
    close_texts: Vec<[u8; 19]>,
}

impl DailyPrices {
    pub(crate) fn new() -> Self {
        let monday = MARKET_BASE.days();
        let days: Vec<Date> = (0..).map(|n| Date::from_days(monday + n / 5 * 7 + n % 5)).take(DAYS).collect();
        let closes: Vec<[Price; 3]> = (0..CLOSES)
            .map(|k| {
                let close = 20.0 + k as f64 * 0.01;
                // High and low stay doubles until they are printed: rounded as exact decimals they would differ.
                [close, close * 1.05, close * 0.92].map(|dollars| Price::from_units(rounded(dollars, 2)))
            })
            .collect();
        let day_texts = days.iter().map(|day| {
            let mut text = Vec::new();
            day.write_flat(&mut text);
            text.push(b'|');
            text.try_into().expect("a date has ten characters")
        });
        let close_texts = closes.iter().map(|prices| {
            let mut text = vec![b'|'];
            for price in prices {
                price.write_flat(&mut text);
                text.push(b'|');
            }
            text.try_into().expect("every price has two digits before the point")
        });
        Self { day_texts: day_texts.collect(), close_texts: close_texts.collect(), days, closes }
    }
}

/// Random sequence of a security's prices.
///
/// The reference reserves two numbers for each security of a load unit though a security takes 2,610, so that load
/// units repeat each other's prices almost entirely, 685 rows apart.
fn sequence(security: i64) -> Rng {
    let first = security / SECURITIES_PER_LOAD_UNIT * SECURITIES_PER_LOAD_UNIT;
    Rng::at(TABLE_SEED, first as u64 * 2 + (security - first) as u64 * 2 * DAYS as u64)
}

/// The prices of one security, by index.
pub(crate) fn daily_market<'a>(
    inputs: &Inputs,
    security: i64,
    prices: &'a DailyPrices,
) -> impl Iterator<Item = tables::DailyMarket> + use<'a> {
    let symbol = inputs.symbol(security);
    let mut rng = sequence(security);
    (0..DAYS).map(move |day| {
        let [close, high, low] = prices.closes[rng.below(CLOSES) as usize];
        tables::DailyMarket {
            dm_date: prices.days[day],
            dm_s_symb: symbol,
            dm_close: close,
            dm_high: high,
            dm_low: low,
            dm_vol: rng.range(VOLUMES.0, VOLUMES.1),
        }
    })
}

/// Appends the prices of one security as lines of the flat file.
pub(crate) fn lines_of_daily_market(inputs: &Inputs, security: i64, prices: &DailyPrices, out: &mut Vec<u8>) {
    let symbol = inputs.symbol(security);
    let mut rng = sequence(security);
    for day in &prices.day_texts {
        let close = &prices.close_texts[rng.below(CLOSES) as usize];
        let volume = rng.range(VOLUMES.0, VOLUMES.1);
        out.extend_from_slice(day);
        out.extend_from_slice(symbol.as_bytes());
        out.extend_from_slice(close);
        volume.write_flat(out);
        out.push(b'\n');
    }
}
