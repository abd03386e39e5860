//! A run of TPC-E: Trade-Cleanup, then customers, market and maintenance on threads, then reconciliation.
//!
//! | file | contents |
//! |---|---|
//! | [`options`] | options of a run |
//! | `run` | the run: Trade-Cleanup, round, facts |
//! | `specs` | the transactions as operations: limits, mix, their expected shares of a round |
//! | `people` | customers, the market's users, maintenance |
//! | `exchange` | the market exchange on its thread, its input and output queues |
//! | `due` | the Trade-Results that the market owes, by due time |
//! | `history` | values that the transactions found and left, by their outputs |
//! | `outcome` | the outcome of a status, and the failures that a short database explains |
//! | `achieved` | input parameters that were achieved |
//! | `simulated` | with the feature `planted-bug`: a run on one thread in simulated time |
//! | [`verify()`] | checks and reconciliation of the database, for the run file |

mod achieved;
mod due;
mod exchange;
mod history;
pub mod options;
mod outcome;
mod people;
mod reconciled;
mod run;
#[cfg(feature = "planted-bug")]
pub mod simulated;
mod specs;
pub mod verify;

pub use bourse_oltp::history::HistoryOptions;
pub use bourse_oltp::sut::{RunError, RunResult};
pub use options::{ABILITIES, OptionsError, RunOptions};
pub use run::{NOTICE, OUTCOMES, PENDING, conditions, isolation, needs, run, run_on, workload};
pub use specs::response_limits;
pub(crate) use verify::reconciled;
pub use verify::{reconcile, verify};
