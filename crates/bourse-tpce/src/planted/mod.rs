//! Bugs that can be planted in TPC-E (`bourse_oltp::planted`), and what they do. Only in builds with the feature `planted-bug`.

mod bugs;
pub(crate) mod early;

pub use bugs::BUGS;
pub(crate) use bugs::{ALTER_PRICES, LOSE_WATCH_ITEM, lots, permission, stop_loss_as_limit, wrong_way};
