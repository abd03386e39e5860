//! TATP on any SQL engine: the Telecom Application Transaction Processing benchmark, a mobile operator's register of
//! subscribers.
//!
//! Four tables, seven short transactions in the published mix 35/10/35/2/14/2/2, and subscribers drawn non-uniformly. Many
//! transactions find no row by design: these misses have status codes of their own and are no failures. Everything else is the
//! harness's ([`bourse_oltp`]).
//!
//! | file | content |
//! |---|---|
//! | [`tables`] | the four tables |
//! | [`population`] | their rows |
//! | [`requests`] | inputs of transactions |
//! | [`transactions`] | the seven transactions |
//! | [`mod@reference`] | the transactions on plain collections |
//! | `workload` | sizes, conditions and growth for the harness |
//!
//! ```
//! use bourse_oltp::mix::Transactions;
//! use bourse_tatp::{Tatp, size_of};
//! let inputs: Vec<_> = Tatp::emulator(&size_of(1_000), 1, 0).take(1_000).collect();
//! let updates = inputs.iter().filter(|input| Tatp::NAMES[Tatp::kind(input)] == "Update-Location").count();
//! assert!((100..180).contains(&updates), "14 % of the mix: {updates}");
//! ```

#[cfg(feature = "planted-bug")]
pub mod planted;
pub mod population;
pub mod reference;
pub mod requests;
pub mod tables;
pub mod transactions;
mod workload;

pub use workload::{Tatp, size_of};
