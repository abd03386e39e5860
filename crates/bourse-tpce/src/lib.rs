//! TPC-E on any SQL engine: 12 transactions by frame, customers and market as users, checks.
//!
//! [`transactions`] are written over [`bourse_engine::Session`], so whatever runs SQL can run them; nothing here knows an
//! engine, sleeps or looks at a clock: the moment, the trade numbers and the way to the market are the caller's.

pub mod aged;
pub mod check;
pub mod load;
pub mod planted;
pub mod sut;
pub mod transactions;
pub mod users;
pub mod verify;
