//! A run of TPC-E: customers, the market and maintenance on threads, Trade-Cleanup before, the books after.
//!
//! | file | what |
//! |---|---|
//! | [`options`] | how a run is to be |
//! | `run` | the whole of it: cleanup, round, facts |
//! | `specs` | the transactions as operations: limits, mix, tolerance |
//! | `people` | customers, the market's users, maintenance |
//! | `exchange` | the market exchange on its thread, the queues around it |
//! | `outcome` | what a status is to the run, and what a short database excuses |
//! | `achieved` | input parameters as they were drawn |
//! | `simulated` | with the feature `planted-bug`: a run on one thread in simulated time |
//! | [`verify()`] | checks of the database and the books, for the run file |

mod achieved;
mod exchange;
pub mod options;
mod outcome;
mod people;
mod reconcile;
mod run;
#[cfg(feature = "planted-bug")]
pub mod simulated;
mod specs;
pub mod verify;

pub use options::{ABILITIES, Load, OptionsError, RunOptions};
pub use run::{NOTICE, OUTCOMES, Ran, RunError, conditions, needs, run, run_on, workload};
pub use verify::{before_run, verify, verify_books};
