//! A workload derived from TPC-C on any SQL engine: orders, payments and deliveries of a wholesale supplier.
//!
//! Nine tables and five transactions in the published mix, one in a hundred new orders rolled back by design, with the twelve
//! consistency conditions. Everything else is the harness's ([`bourse_oltp`]). Results are not comparable with published TPC
//! Benchmark C results.
//!
//! | file | content |
//! |---|---|
//! | [`tables`] | the nine tables |
//! | [`draw`] | random values: the non-uniform distribution, last names, texts |
//! | [`population`] | rows of a database |
//! | [`requests`] | inputs of transactions |
//! | [`transactions`] | the five transactions |
//! | [`mod@reference`] | the transactions on plain collections |
//! | `acid` | tests of atomicity, isolation and durability |
//! | `conditions` | the twelve conditions, and the growth that runs cause |
//! | `workload` | sizes and rules for the harness |
//!
//! ```
//! use bourse_oltp::mix::Transactions;
//! use bourse_tpcc::{Tpcc, size_of};
//! let inputs: Vec<_> = Tpcc::emulator(&size_of(1, 3_000), 1, 0).take(1_000).collect();
//! let orders = inputs.iter().filter(|input| Tpcc::NAMES[Tpcc::kind(input)] == "New-Order").count();
//! assert!((380..520).contains(&orders), "45 % of the mix: {orders}");
//! ```

mod acid;
mod conditions;
pub mod draw;
#[cfg(feature = "planted-bug")]
pub mod planted;
pub mod population;
pub mod reference;
pub mod requests;
pub mod tables;
pub mod transactions;
mod workload;

pub use workload::{Tpcc, size_of};
