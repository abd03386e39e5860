//! Rules of the market: exchanges, prices of a trade, trade and status types.
//!
//! Ids, order and quantity bands are the specification's, and the transactions depend on them; charges, rates and
//! descriptions are Bourse's.

use std::fmt::Write;

use super::lines;

/// Ids of the exchanges in the order of the file, which is that of their addresses 1 to 4.
pub(super) const EXCHANGES: [&str; 4] = ["NYSE", "NASDAQ", "AMEX", "PCX"];

/// Ids of the trade types, with their names, whether they sell, and whether they are market orders.
const TRADE_TYPES: [(&str, &str, bool, bool); 5] = [
    ("TMB", "Market-Buy", false, true),
    ("TMS", "Market-Sell", true, true),
    ("TSL", "Stop-Loss", true, false),
    ("TLS", "Limit-Sell", true, false),
    ("TLB", "Limit-Buy", false, false),
];

const TIERS: [u32; 3] = [1, 2, 3];

/// First and last quantity of each commission band.
const QUANTITIES: [(u32, u32); 4] = [(1, 200), (201, 500), (501, 2_000), (2_001, 999_999)];

/// `Exchange`: id, name, opening and closing time as hhmm, description, address id.
///
/// Descriptions are short: Data-Maintenance appends ` LAST UPDATED` and a time to them.
pub(super) fn exchanges() -> String {
    let about = [
        ("New York Stock Exchange", "Auction floor with a specialist for each listed share"),
        ("Nasdaq Stock Market", "Dealers who quote against each other on screens"),
        ("American Stock Exchange", "Smaller companies, options and funds on one floor"),
        ("Pacific Exchange", "Regional market of the west coast, wholly electronic"),
    ];
    let mut text = String::new();
    for (address, (id, (name, description))) in (1..).zip(EXCHANGES.iter().zip(about)) {
        writeln!(text, "{id}\t{name}\t0930\t1600\t{description}\t{address}").expect("a string takes any text");
    }
    text
}

/// `Charge`: trade type, customer tier, charge in dollars. Good customers pay less, orders that wait pay more.
pub(super) fn charges() -> String {
    let mut text = String::new();
    for (id, _, _, is_market) in TRADE_TYPES {
        for tier in TIERS {
            let waiting = if is_market { 0 } else { 125 };
            let stop = if id == "TSL" { 40 } else { 0 };
            let cents = 595 - 110 * tier + waiting + stop;
            writeln!(text, "{id}\t{tier}\t{}.{:02}", cents / 100, cents % 100).expect("a string takes any text");
        }
    }
    text
}

/// `CommissionRate`: tier, trade type, exchange, first and last quantity, rate in percent of the trade's value (0.12 to 0.48).
pub(super) fn commission_rates() -> String {
    let mut text = String::with_capacity(6_500);
    for tier in TIERS {
        for (id, _, _, is_market) in TRADE_TYPES {
            for (exchange, surcharge) in EXCHANGES.iter().zip([2, 0, 3, 5]) {
                for ((from, to), discount) in QUANTITIES.iter().zip([0, 5, 11, 19]) {
                    let hundredths = 42 - 4 * (tier - 1) + surcharge + u32::from(!is_market) - discount;
                    writeln!(text, "{tier}\t{id}\t{exchange}\t{from}\t{to}\t0.{hundredths:02}")
                        .expect("a string takes any text");
                }
            }
        }
    }
    text
}

/// `TradeType`: id, name, whether it sells, whether it is a market order.
pub(super) fn trade_types() -> String {
    let mut text = String::new();
    for (id, name, is_sell, is_market) in TRADE_TYPES {
        writeln!(text, "{id}\t{name}\t{}\t{}", u8::from(is_sell), u8::from(is_market))
            .expect("a string takes any text");
    }
    text
}

/// `StatusType`: id, name.
pub(super) fn status_types() -> String {
    lines(&["CMPT\tCompleted", "ACTV\tActive", "SBMT\tSubmitted", "PNDG\tPending", "CNCL\tCanceled"])
}
