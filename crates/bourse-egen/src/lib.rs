//! Rows of the 33 tables and the inputs of all transactions, bit for bit those of EGen 1.14.0 when given its input data.
//!
//! Pure: no engine, no clock, no thread, no global, no file, except in [`files`], which makes rows on several threads.
//!
//! ```
//! use bourse_egen::{Inputs, Part, tables};
//! use bourse_schema::TableRow as _;
//!
//! let inputs = Inputs::builtin();
//! let part = Part::whole(1_000, 10)?; // customers, days of initial trades
//! let mut file = Vec::new();
//! for row in tables::last_trades(&inputs, part).take(3) {
//!     row.write_flat(&mut file);
//! }
//! assert_eq!(
//!     String::from_utf8(file)?,
//!     "\
//! LEH|2005-01-17 09:00:00.000|25.64|25.64|0
//! LEHPA|2005-01-17 09:00:00.000|22.00|22.00|0
//! CDC|2005-01-17 09:00:00.000|29.64|29.64|0
//! "
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod builtin;
pub mod dates;
pub mod driver;
pub mod files;
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

pub use generator::{PartGenerator, RowUnit};
pub use inputs::{InputError, Inputs};
pub use money::Money;
pub use part::{MOST_CUSTOMERS, Part, PartError};
pub use rng::Rng;
pub use sink::{RowSink, SinkStopped};
pub use trade_type::{TradeStatusId, TradeType};

pub(crate) use ids::{COMPANIES, COMPETITORS, SECURITIES};
