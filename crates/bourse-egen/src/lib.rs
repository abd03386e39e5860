//! Rows of the 33 tables and the inputs of all transactions, bit for bit those of EGen 1.14.0 when given its input data.
//!
//! Pure: no engine, no clock, no thread, no global, no file.

pub mod builtin;
pub mod dates;
pub mod driver;
mod generator;
pub mod ids;
pub mod inputs;
pub mod keys;
mod line;
mod money;
mod part;
pub mod price;
mod rng;
mod round;
mod sink;
pub mod tables;
mod trade_type;
pub mod trades;
pub mod txn;

pub use generator::{Generator, Unit};
pub use inputs::{InputError, Inputs};
pub use money::Money;
pub use part::{MOST_CUSTOMERS, Part, PartError};
pub use rng::Rng;
pub use sink::{RowSink, Stopped};
pub use trade_type::{Status, TradeType};

pub(crate) use ids::{COMPANIES, COMPETITORS, SECURITIES};
