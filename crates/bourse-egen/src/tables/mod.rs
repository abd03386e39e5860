//! Rows of the tables that do not follow from trades, one file a table or a small group.
//!
//! Each function makes the rows of a part of the database in the order of the reference's file. Most tables have a
//! running random sequence, entered anew at every load unit, which is why load units can be made in any order.

mod account;
mod address;
mod company;
mod customer;
mod daily_market;
mod financial;
mod fixed;
mod last_trade;
mod news;
mod security;
mod watch;

pub use account::{AccountRows, accounts};
pub use address::addresses;
pub use company::{companies, competitors};
pub use customer::{customer_taxrates, customers};
pub(crate) use daily_market::{DailyPrices, daily_market, lines_of_daily_market};
pub use financial::financials;
pub use fixed::{exchanges, taxrates, zip_codes};
pub use last_trade::last_trades;
pub(crate) use news::{NEWS_PER_COMPANY, NewsGenerator, Words};
pub use security::securities;
pub use watch::{WatchRows, watch_lists};

/// Start of every table's running sequence (EGen `RNGSeedTableDefault`).
pub(crate) const TABLE_SEED: u64 = 37_039_940;
