//! Rows of the 33 tables and the inputs of all transactions, bit for bit those of EGen 1.14.0 when given its input data.
//!
//! Pure: no engine, no clock, no thread, no global.

pub mod dates;
pub mod driver;
mod money;
mod rng;
pub mod txn;

pub use money::Money;
pub use rng::Rng;
