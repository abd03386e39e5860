//! Histories of transactions, the isolation anomalies that each holds, and the levels that it refutes.
//!
//! A workload records what its transactions read and wrote as a [`History`]; [`check`] infers which transactions must have come
//! before which, and looks for cycles, as Adya's thesis and Elle do. Nothing here touches a clock, a thread, an engine or a file.
//!
//! | module | contents |
//! |---|---|
//! | `history` | the transactions of a run, their operations with times and results |
//! | `anomaly` | levels, anomalies, and the table of which refutes which |
//! | `check` | versions and their order, the graph of dependencies, cycles, the smallest example of each anomaly |
//! | `story` | an example in plain words |
//! | `file` | histories as lines of JSON |
//! | `elle` | histories as Jepsen's EDN, for Elle |

mod anomaly;
mod check;
mod elle;
mod file;
mod history;
mod story;

pub use anomaly::{ANOMALIES, AnomalyFacts, AnomalyKind, Level};
pub use check::{Anomaly, Arrow, Place, Reason, Report, check};
pub use elle::{ElleError, ElleModel};
pub use file::HistoryError;
pub use history::{Action, FINAL_SESSION, History, Operation, Transaction, TransactionOutcome};
