//! A run of TPC-E: Trade-Cleanup, then customers, market and maintenance on threads, then reconciliation.
//!
//! | file | what |
//! |---|---|
//! | [`options`] | options of a run |
//! | `run` | the run: Trade-Cleanup, round, facts |
//! | `specs` | the transactions as operations: limits, mix, what a round should have of each |
//! | `people` | customers, the market's users, maintenance |
//! | `exchange` | the market exchange on its thread, the queues before and behind it |
//! | `due` | the Trade-Results that the market owes, by moment |
//! | `outcome` | the outcome that a status is, and what a short database excuses |
//! | `achieved` | input parameters as they were drawn |
//! | [`together()`] | the rounds of several processes as one |
//! | `simulated` | with the feature `planted-bug`: a run on one thread in simulated time |
//! | [`verify()`] | checks and reconciliation of the database, for the run file |

mod achieved;
mod due;
mod exchange;
pub mod options;
mod outcome;
mod people;
mod reconciled;
mod run;
#[cfg(feature = "planted-bug")]
pub mod simulated;
mod specs;
pub mod together;
pub mod verify;

pub use options::{ABILITIES, Load, OptionsError, RunOptions};
pub use run::{NOTICE, OUTCOMES, Ran, RunError, conditions, isolation, needs, run, run_on, workload};
pub use specs::response_limits;
pub use together::together;
pub use verify::{before_run, reconcile, verify, verify_and_reconcile, verify_drivers};
