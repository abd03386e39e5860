//! Users who draw transactions by their shares, for workloads whose transactions do not follow from one another.
//!
//! A workload implements [`Transactions`]; the users of a round ([`run`]) on any system under test, the sequence of a comparison
//! ([`Sequence`]), the samples at the end of a run ([`Sampled`](crate::verify::Sampled)) and the ledger of a run follow from it.
//!
//! | file | content |
//! |---|---|
//! | `users` | users of a round |
//! | `sample` | the reference, and two sessions at once |
//! | `shared` | ledger of a run; performing for drivers elsewhere, and rounds of several drivers |
//! | `sequence` | the same transactions one after the other, for comparing systems |

mod sample;
mod sequence;
mod shared;
mod users;

use crate::acid::AcidTests;
use crate::verify::ReferenceTables;
use crate::workload::{Generator, Size, Workload};
use bourse_driver::{Nanos, OperationSpec};
use bourse_engine::{Access, Capabilities, Isolation, Result, Session, Sql};
use bourse_record::Outcome;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

pub use sample::Reference;
pub use sequence::{OnSession, Sequence, retrying};
pub use shared::TRANSACTIONS;
pub use users::{RunOptions, run};

/// Change of an amount that the ledger counts: its place, which is above that of [`TRANSACTIONS`], and by how much.
pub type Change = (usize, i64);

/// Result of a transaction, judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedTransaction {
    /// Outcome for the figures.
    pub outcome: Outcome,
    /// The workload's status code; 0 for success.
    pub code: i32,
    /// Change that it made, if the ledger counts it.
    pub change: Option<Change>,
}

/// Transactions of a workload that users draw by their shares.
///
/// All methods are called on a type, so that the timed path has no indirect call.
pub trait Transactions: Workload + Generator + Default + 'static {
    /// Input of a transaction.
    type Input: Serialize + DeserializeOwned + Clone + PartialEq + fmt::Debug + Send + Sync;
    /// Output of a transaction.
    type Output: Serialize + DeserializeOwned + fmt::Debug + Send;
    /// Source of one user's inputs, without end.
    type Emulator: Iterator<Item = Self::Input> + Send;

    /// Names of the transactions, in the order of reports.
    const NAMES: &'static [&'static str];
    /// Shares of the transactions in percent, in the same order.
    const SHARES: &'static [f64];
    /// Status codes with their meaning.
    const CODES: &'static [(i32, &'static str)];
    /// Notice for every report of the workload.
    const NOTICE: &'static str;

    /// Place of the transaction that a terminal only queues, and that another session performs.
    const DEFERRED: Option<usize> = None;

    /// Place of the transaction whose completions per minute are shown next to the headline, if one's are.
    const PER_MINUTE: Option<usize> = None;

    /// Source of the rules that transactions follow, for the checks of their samples.
    const SOURCE: &'static str;

    /// Numbers of databases whose size is not given, of a run and of a comparison of systems.
    const USUAL: [u64; 2];

    /// Size of a database by the number that the command line has: the first of its numbers.
    fn sized(number: i64) -> Size {
        Size(vec![number])
    }

    /// Size of the smallest database.
    fn smallest() -> Size;

    /// Creates the source of a user's inputs on a database of that size: the same for the same seed. Users of a round are numbered
    /// from 0.
    fn emulator(size: &Size, seed: u64, user: usize) -> Self::Emulator;

    /// Pauses of a person at a terminal around a transaction: for keying in its input, and for thinking after its output, by a
    /// number drawn from 0 to below 1. `None` if users are not at terminals.
    fn pauses(kind: usize, drawn: f64) -> Option<[Nanos; 2]> {
        let _ = (kind, drawn);
        None
    }

    /// Inputs for after an input that no user draws, or hardly ever: comparisons perform them too, since some mistakes show in
    /// these alone.
    fn rare(after: &Self::Input) -> Vec<Self::Input> {
        let _ = after;
        Vec::new()
    }

    /// Place of an input's transaction in [`NAMES`](Self::NAMES).
    fn kind(input: &Self::Input) -> usize;

    /// Isolation that a transaction demands, and whether it writes.
    fn demands(kind: usize) -> (Isolation, Access);

    /// All statements, for looking at their plans.
    fn statements() -> &'static [&'static Sql];

    /// Performs a transaction once: begins it, and commits or rolls back.
    ///
    /// # Errors
    /// The engine's. The caller rolls back, and tries again after a conflict.
    fn perform(session: &mut dyn Session, input: &Self::Input) -> Result<Self::Output>;

    /// Performs a transaction on plain collections, and returns its status code and output: written from the rules, and of the
    /// transactions on a session sharing the type of the output alone.
    fn expected(tables: &mut ReferenceTables, input: &Self::Input) -> (i32, Self::Output);

    /// Judges an output.
    fn judge(input: &Self::Input, output: &Self::Output) -> JudgedTransaction;

    /// Change that a transaction made if it was committed, which is unknown.
    fn doubtful(input: &Self::Input) -> Option<Change>;

    /// Tests of atomicity, isolation and durability; `None` if the workload has none.
    fn acid() -> Option<AcidTests<Self::Input>> {
        None
    }

    /// The operations as the driver has them.
    fn operations() -> Vec<OperationSpec> {
        let spec = |(name, share): (&&'static str, &f64)| OperationSpec {
            mix: Some(bourse_driver::MixShare { target_percent: *share, tolerance_points: 0.05 }),
            codes: Self::CODES,
            ..OperationSpec::new(name)
        };
        Self::NAMES.iter().zip(Self::SHARES).map(spec).collect()
    }
}

/// Place in a list of shares at a number from 0 to below 100: each is drawn as often as its share says.
///
/// ```
/// use bourse_oltp::mix::place;
/// assert_eq!([0.0, 34.9, 35.0, 99.9].map(|at| place(&[35.0, 65.0], at)), [0, 0, 1, 1]);
/// ```
pub fn place(shares: &[f64], at: f64) -> usize {
    let mut end = 0.0;
    let found = shares.iter().position(|share| {
        end += share;
        at < end
    });
    found.unwrap_or(shares.len().saturating_sub(1))
}

/// Reasons why an engine with these capabilities cannot run transactions of a mix; empty if it can.
pub fn needs(capabilities: &Capabilities) -> Vec<String> {
    let mut lacking = Vec::new();
    if capabilities.sql.is_none() {
        lacking.push("transactions need SQL".to_owned());
    }
    if capabilities.sql.is_some_and(|sql| sql.isolation.is_empty()) {
        lacking.push("transactions must not see uncommitted changes of others".to_owned());
    }
    lacking
}
