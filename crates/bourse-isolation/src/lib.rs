//! Histories of transactions, and the isolation anomalies that each holds.

mod history;

pub use history::{Action, History, Operation, Transaction, TransactionOutcome};
