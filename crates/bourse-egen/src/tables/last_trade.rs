//! LAST_TRADE: a row for each security, with the price at which the market opens (Clause 2.2.7.7; EGen
//! `CLastTradeTable`).

use bourse_schema::tables;

use crate::dates::WORK_DAY_SECONDS;
use crate::price::PriceCurve;
use crate::{Inputs, Part};

/// Last prices of a part's securities. No random number is drawn: the price is the emulated market's at time zero,
/// which is the market's first quote.
pub fn last_trades(inputs: &Inputs, part: Part) -> impl Iterator<Item = tables::LastTrade> + '_ {
    let market = PriceCurve::after(part.days() * WORK_DAY_SECONDS);
    part.securities().map(move |security| {
        let price = market.price(security, 0.0).into();
        tables::LastTrade {
            lt_s_symb: inputs.symbol(security),
            lt_dts: part.opening(),
            lt_price: price,
            lt_open_price: price,
            // Nothing is sold yet on the new day.
            lt_vol: 0,
        }
    })
}
