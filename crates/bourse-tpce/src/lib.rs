//! TPC-E on any SQL engine: 12 transactions by frame, customers and market as users, checks.
//!
//! [`transactions`] are written over [`bourse_engine::Session`], so every SQL engine can run them; nothing here knows an
//! engine, sleeps or reads a clock: the time, the trade numbers and the connection to the market are the caller's.

pub mod aged;
pub mod check;
pub mod load;
pub mod model;
#[cfg(feature = "planted-bug")]
pub mod planted;
pub mod sut;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod transactions;
pub mod users;
pub mod verify;
pub mod workload;
