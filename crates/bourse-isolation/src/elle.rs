//! Histories in the form that Elle reads, for a second opinion.

use crate::{Action, History, TransactionOutcome};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use thiserror::Error;

/// Kinds of histories that Elle knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElleModel {
    /// Lists: `elle.list-append`.
    ListAppend,
    /// Registers: `elle.rw-register`.
    RwRegister,
}

/// Error of an export for Elle.
#[derive(Debug, Error)]
pub enum ElleError {
    /// Elle has no form for an operation.
    #[error("transaction {transaction} has {operation}, which Elle does not know")]
    Operation {
        /// Position of the transaction, from 0.
        transaction: usize,
        /// Kind of the operation.
        operation: &'static str,
    },
    /// The history has lists and registers, which Elle checks apart.
    #[error("transaction {transaction} is of registers and others are of lists, which Elle checks apart")]
    Mixed {
        /// Position of the transaction, from 0.
        transaction: usize,
    },
    /// The sink cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl History {
    /// Writes the history in Jepsen's EDN, an operation a line: an invocation for each transaction, and its completion.
    ///
    /// Version 0 of a register and an absent row are both `nil`, Elle's state at the start. A session whose transaction had an
    /// unknown outcome continues as another process, as Jepsen requires.
    ///
    /// # Errors
    /// [`ElleError`] names the first operation that Elle does not know: a deletion, the read of a range, an increment.
    pub fn write_edn(&self, mut to: impl Write) -> Result<ElleModel, ElleError> {
        let model = self.elle_model()?;
        let mut events = Vec::new();
        for (number, transaction) in self.transactions.iter().enumerate() {
            // At equal times an invocation comes first: what is concurrent stays so.
            events.push((transaction.begin_ns, false, number));
            events.push((transaction.end_ns, true, number));
        }
        events.sort_unstable();
        let sessions = self.transactions.iter().map(|transaction| transaction.session).max().map_or(0, |most| most + 1);
        let (mut processes, mut next) = (BTreeMap::new(), sessions);
        for (index, (time, is_end, number)) in events.into_iter().enumerate() {
            let transaction = &self.transactions[number];
            let kind = match transaction.outcome {
                _ if !is_end => "invoke",
                TransactionOutcome::Committed => "ok",
                TransactionOutcome::RolledBack => "fail",
                TransactionOutcome::Unknown => "info",
            };
            let process = *processes.entry(transaction.session).or_insert(transaction.session);
            let mut value = String::new();
            for operation in &transaction.operations {
                let gap = if value.is_empty() { "" } else { " " };
                _ = write!(value, "{gap}{}", edn(&operation.action, kind == "ok"));
            }
            writeln!(
                to,
                "{{:type :{kind}, :f :txn, :value [{value}], :process {process}, :time {time}, :index {index}}}"
            )?;
            if kind == "info" {
                processes.insert(transaction.session, next);
                next += 1;
            }
        }
        Ok(model)
    }

    /// Kind of the history. One without operations is of lists.
    fn elle_model(&self) -> Result<ElleModel, ElleError> {
        let mut model = None;
        for (transaction, operations) in self.transactions.iter().map(|transaction| &transaction.operations).enumerate()
        {
            for operation in operations {
                let refuse = |operation| Err(ElleError::Operation { transaction, operation });
                let of = match operation.action {
                    Action::Read { .. } | Action::Write { .. } => ElleModel::RwRegister,
                    Action::Append { .. } | Action::ReadList { .. } => ElleModel::ListAppend,
                    Action::Delete { .. } => return refuse("a deletion"),
                    Action::ReadRange { .. } => return refuse("the read of a range"),
                    Action::Count { .. } => return refuse("an increment"),
                };
                if *model.get_or_insert(of) != of {
                    return Err(ElleError::Mixed { transaction });
                }
            }
        }
        Ok(model.unwrap_or(ElleModel::ListAppend))
    }
}

/// An operation as Elle's micro-operation; the result of a read only if it is known.
fn edn(action: &Action, is_known: bool) -> String {
    match action {
        Action::Write { key, version } => format!("[:w {key} {version}]"),
        Action::Append { key, element } => format!("[:append {key} {element}]"),
        Action::Read { key, version: Some(version) } if is_known && *version != 0 => format!("[:r {key} {version}]"),
        Action::ReadList { key, elements } if is_known => {
            let elements: Vec<String> = elements.iter().map(u64::to_string).collect();
            format!("[:r {key} [{}]]", elements.join(" "))
        }
        Action::Read { key, .. } | Action::ReadList { key, .. } => format!("[:r {key} nil]"),
        Action::Delete { .. } | Action::ReadRange { .. } | Action::Count { .. } => String::new(),
    }
}
