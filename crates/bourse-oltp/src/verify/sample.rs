//! The samples at the end of a run's checks: transactions of all kinds compared with a reference that is no database, then two
//! sessions at once, both on the workload's smallest database.

use super::lockstep::{self, Extent, Progress, Script, Verdict, VerifyError};
use super::{Contention, Subject};
use crate::workload::{Generator, Size, Workload};
use bourse_engine::{Engine, Result, Session};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// Transactions of a sample.
pub const TRANSACTIONS: u64 = 2_000;

/// A workload whose transactions are sampled.
pub trait Sampled: Sync {
    /// The sequence of transactions.
    type Script: Script;
    /// The reference: its rows are the generator's, and its transactions are written without SQL.
    type Reference: Subject<<Self::Script as Script>::Request> + Send + 'static;

    /// Sources of the rules, for the check of each sample.
    const SOURCES: [&'static str; 2];
    /// Whether all rows are compared too, before the first transaction and after the last.
    const WHOLE_TABLES: bool;

    /// The workload as data.
    fn workload(&self) -> &dyn Workload;

    /// The generator of its rows.
    fn generator(&self) -> &dyn Generator;

    /// Size of a sample's database: the smallest there is.
    fn size(&self) -> Size;

    /// Creates the reference with the initial rows.
    fn reference(&self) -> Self::Reference;

    /// Creates the subject that performs the transactions on a session.
    fn subject(&self, name: &str, session: Box<dyn Session>) -> Box<dyn Subject<<Self::Script as Script>::Request>>;

    /// The sequence of transactions from its begin.
    ///
    /// # Errors
    /// [`VerifyError::Script`] if there is none for such a database.
    fn script(&self) -> Result<Self::Script, VerifyError>;

    /// Sets two sessions to the same work on a database that no other session uses, after the transactions of a sample. Once
    /// `interrupted` says so, they begin no further transaction.
    ///
    /// # Errors
    /// The engine's, before or after the work; what goes wrong in it is in the result.
    fn contend(&self, engine: &dyn Engine, interrupted: &AtomicBool) -> Result<Contention>;
}

/// Compares so many transactions on a session with the reference's.
///
/// # Errors
/// [`VerifyError`].
pub fn compare<S: Sampled>(
    sampled: &S,
    (name, session): (&str, Box<dyn Session>),
    reference: S::Reference,
    (transactions, whole_tables): (u64, bool),
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Verdict<<S::Script as Script>::Request>, VerifyError> {
    let mut subjects = [sampled.subject(name, session), Box::new(reference)];
    let extent = Extent { transactions, digest_every: 0, whole_tables };
    lockstep::verify(&mut subjects, &mut sampled.script()?, sampled.workload().tables(), &extent, progress)
}
