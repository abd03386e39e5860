//! Proof that several databases do the same under TPC-E: the harness compares them in lockstep, over the transactions of this
//! module.
//!
//! Customers ask at a steady pace, the market answers when its emulator says so, maintenance comes once a simulated minute, and
//! Trade-Cleanup begins and ends it all.
//!
//! | module | content |
//! |---|---|
//! | [`stream`] | the transactions, one after the other |
//! | `rare` | transactions that no customer asks for |
//! | [`subject`] | the transactions on a session |
//! | [`contention`] | two sessions on the same rows |
//! | [`sampled`] | the transactions as samples at the end of a run |

pub mod contention;
mod rare;
pub mod sampled;
pub mod stream;
pub mod subject;

use crate::transactions::Request;
use bourse_egen::Inputs;
use bourse_egen::driver::Database;
use bourse_oltp::verify::lockstep;
use bourse_schema::tables;
use std::ops::ControlFlow;

pub use bourse_oltp::verify::{
    Cell, DifferenceKind, Extent, OutputValue, Performance, Progress, RowKey, Script, Statement, Subject, TableDigest,
    VerifyError, value,
};
pub use contention::contend;
pub use sampled::TpceSample;
pub use stream::Stream;
pub use subject::{SqlSubject, sql_subject};

/// A system that performs the transactions and shows its rows.
pub type TpceSubject = dyn bourse_oltp::verify::Subject<Request>;
/// A transaction of the sequence.
pub type Step = lockstep::Step<Request>;
/// Result of a comparison.
pub type Verdict = lockstep::Verdict<Request>;
/// The first difference between two systems.
pub type Difference = bourse_oltp::verify::Difference<Request>;

/// Options of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The database that every subject begins with.
    pub database: Database,
    /// The seed of the emulators.
    pub seed: u64,
    /// Transactions, the Trade-Cleanups at the beginning and the end among them.
    pub transactions: u64,
    /// Customers' requests in a simulated second: how much happens while prices move.
    pub requests_per_second: u32,
    /// After how many transactions all tables are compared besides before the first and after the last; 0 for never.
    pub digest_every: u64,
}

impl Plan {
    /// A hundred thousand transactions, about an hour of a small brokerage house.
    pub const fn of(database: Database) -> Self {
        Self { database, seed: 1, transactions: 100_000, requests_per_second: 20, digest_every: 0 }
    }

    /// The sequence of transactions, with those that no customer asks for.
    ///
    /// # Errors
    /// [`VerifyError::Script`] if the emulators cannot work with such a database.
    pub fn stream<'i>(&self, inputs: &'i Inputs) -> Result<Stream<'i>, VerifyError> {
        let stream = Stream::new(inputs, self.database, self.seed, self.requests_per_second);
        stream.map(Stream::with_rare_requests).map_err(|error| VerifyError::Script(error.to_string()))
    }

    /// The extent of the comparison.
    pub const fn extent(&self) -> Extent {
        Extent { transactions: self.transactions, digest_every: self.digest_every, whole_tables: true }
    }
}

/// Runs the plan on all subjects until the first difference between the first subject and another.
///
/// Calls `progress` after each transaction, which can end the run.
///
/// # Errors
/// [`VerifyError`].
pub fn verify(
    subjects: &mut [Box<TpceSubject>],
    inputs: &Inputs,
    plan: &Plan,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Verdict, VerifyError> {
    lockstep::verify(subjects, &mut plan.stream(inputs)?, tables::all(), &plan.extent(), progress)
}
