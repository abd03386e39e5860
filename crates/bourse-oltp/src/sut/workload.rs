//! Declarations of a workload that runs on any system under test, with any number of drivers.

use super::{RunError, RunResult, Share};
use crate::workload::{Size, Workload};
use bourse_driver::{Backoff, Clock, OperationError};
use bourse_engine::{Engine, EngineError, Result, Session};
use bourse_record::Check;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A workload whose transactions a server can perform for drivers elsewhere, and whose rounds several drivers can share.
///
/// All methods are called on a type, so that the timed path has no indirect call. What drivers and servers send one another are
/// serde values.
pub trait SharedWorkload: Workload + Default + 'static {
    /// Input of a transaction.
    type Request: Serialize + DeserializeOwned + Debug + Send;
    /// Result of a transaction that was performed, with everything that its driver needs.
    type Answer: Serialize + DeserializeOwned + Debug + Send;
    /// Error of a transaction.
    type Error: OperationError + Serialize + DeserializeOwned + Debug + Send;
    /// Work of the driver that follows from a committed transaction, such as an order for an emulated market.
    type FollowUp: Serialize + DeserializeOwned + Debug + Clone + Send;
    /// State that a round's transactions share outside the database.
    type State: Send + Sync;
    /// Totals of a database, by which its growth in a round is reconciled. Two reads are equal if no transaction was committed
    /// in between.
    type Totals: Serialize + DeserializeOwned + Debug + Clone + PartialEq + Send + Sync;
    /// Result of the workload's own work before a round.
    type Opening: Serialize + DeserializeOwned + Debug + Clone + PartialEq + Send + Sync;
    /// Counts of transactions and of what they write: those acknowledged to a driver, and those performed for it by a server.
    type Counts: Serialize + DeserializeOwned + Debug + Clone + PartialEq + Default + Send + Sync;

    /// Condition that a driver's counts and the server's meet, as a sentence; see [`agreement`](Self::agreement).
    const AGREEMENT: &'static str;

    /// Does the workload's own work before a round, and reads the totals after it.
    ///
    /// # Errors
    /// [`RunError`].
    fn open(engine: &dyn Engine, size: &Size, clock: &dyn Clock) -> Result<(Self::State, RoundBegin<Self>), RunError>;

    /// State of a driver that sends its own statements, in a round that another process has opened.
    ///
    /// # Errors
    /// [`RunError`].
    fn join(engine: &dyn Engine, size: &Size, share: Share, begun: &RoundBegin<Self>) -> Result<Self::State, RunError>;

    /// Reads the totals of a database.
    ///
    /// # Errors
    /// The engine's.
    fn totals(session: &mut dyn Session) -> Result<Self::Totals>;

    /// Performs a transaction on a session, again after conflicts; what follows from it goes to `send` once it is committed.
    ///
    /// # Errors
    /// The failure; a conflict only after the last attempt.
    fn perform(
        state: &Self::State,
        session: &mut dyn Session,
        backoff: &Backoff<'_>,
        request: &Self::Request,
        send: &dyn Fn(&Self::FollowUp),
    ) -> Result<Self::Answer, Self::Error>;

    /// Error of a request that was not performed because of an engine's or the network's error.
    fn error(request: &Self::Request, cause: EngineError) -> Self::Error;

    /// Checks that an answer is of the kind that was requested.
    ///
    /// # Errors
    /// The difference, as a sentence.
    fn check_answer(request: &Self::Request, answer: &Self::Answer) -> Result<(), String> {
        let _ = (request, answer);
        Ok(())
    }

    /// Counts a request that was answered.
    fn count(counts: &mut Self::Counts, request: &Self::Request, answer: &Self::Answer);

    /// Counts a request that failed; `in_doubt` if it is unknown whether it was committed.
    fn count_failed(counts: &mut Self::Counts, request: &Self::Request, in_doubt: bool);

    /// Adds the counts of others.
    fn add(counts: &mut Self::Counts, others: &Self::Counts);

    /// Adds only what is in doubt of others' counts.
    fn add_doubts(counts: &mut Self::Counts, others: &Self::Counts);

    /// Limits counts that another process reports to values that a round can have, so that sums of those of all drivers
    /// cannot overflow.
    fn limited(reported: Self::Counts) -> Self::Counts;

    /// Whether the counts that a driver reports agree with those of the server for it, and the numbers as a sentence.
    fn agreement(reported: &Self::Counts, performed: &Self::Counts) -> (bool, String);

    /// Number of the transactions that were counted, as words: "12 transactions answered".
    fn in_words(counts: &Self::Counts) -> String;

    /// Checks a database after a round, and reconciles its growth with the counts, if they are given with the totals of before.
    /// `progress` is called with each check.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    fn check(
        engine: &dyn Engine,
        size: &Size,
        run: Option<(&Self::Totals, &Self::Counts)>,
        clock: &dyn Clock,
        progress: &mut dyn FnMut(&Check),
    ) -> Result<Vec<Check>>;

    /// Checks a database once for several drivers that sent their own statements, and reconciles its growth with the counts of
    /// all together.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    fn check_drivers(
        engine: &dyn Engine,
        size: &Size,
        begun: &RoundBegin<Self>,
        drivers: &[DriverCounts<Self::Counts>],
        clock: &dyn Clock,
    ) -> Result<Vec<Check>>;

    /// Work that waits in a database; `None` if the workload has none.
    ///
    /// # Errors
    /// The engine's.
    fn pending(engine: &dyn Engine) -> Result<Option<u64>> {
        let _ = engine;
        Ok(None)
    }
}

/// A round that has begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BegunRound<T, O> {
    /// Totals of the database when it began.
    pub before: T,
    /// Result of the workload's own work before it.
    pub opening: O,
}

/// [`BegunRound`] of a workload.
pub type RoundBegin<W> = BegunRound<<W as SharedWorkload>::Totals, <W as SharedWorkload>::Opening>;

/// [`RunResult`] of a workload.
pub type RunOf<W> = RunResult<<W as SharedWorkload>::Totals, <W as SharedWorkload>::Counts>;

/// Report of one of several drivers on a round in which it sent its own statements.
#[derive(Debug, Clone, PartialEq)]
pub struct DriverCounts<C> {
    /// The driver's place among the round's drivers.
    pub share: Share,
    /// Counts acknowledged to its users; none of a driver that was lost.
    pub acknowledged: Option<C>,
}
