//! Declarations of a workload that runs on any system under test, with any number of drivers.

use super::{RunError, Share};
use crate::check::ledger::{Ledger, Totals};
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
    /// Result of the workload's own work before a round.
    type Opening: Serialize + DeserializeOwned + Debug + Clone + PartialEq + Send + Sync;

    /// Condition that the ledgers of a driver and of the server meet, as a sentence; see [`Ledger::agreement`].
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
    fn count(ledger: &mut Ledger, request: &Self::Request, answer: &Self::Answer);

    /// Counts a request that failed; `in_doubt` if it is unknown whether it was committed.
    fn count_failed(ledger: &mut Ledger, request: &Self::Request, in_doubt: bool);

    /// Number of the transactions that were counted, as words: "12 transactions answered".
    fn in_words(ledger: &Ledger) -> String;

    /// Checks a database after a round, and reconciles its growth with a ledger, if one is given with the totals of before.
    /// `progress` is called with each check.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    fn check(
        engine: &dyn Engine,
        size: &Size,
        run: Option<(&Totals, &Ledger)>,
        clock: &dyn Clock,
        progress: &mut dyn FnMut(&Check),
    ) -> Result<Vec<Check>>;

    /// Checks a database once for several drivers that sent their own statements, and reconciles its growth with the ledgers of
    /// all together.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    fn check_drivers(
        engine: &dyn Engine,
        size: &Size,
        begun: &RoundBegin<Self>,
        drivers: &[DriverLedger],
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
pub struct BegunRound<O> {
    /// Totals of the database when it began.
    pub before: Totals,
    /// Result of the workload's own work before it.
    pub opening: O,
}

/// [`BegunRound`] of a workload.
pub type RoundBegin<W> = BegunRound<<W as SharedWorkload>::Opening>;

/// Report of one of several drivers on a round in which it sent its own statements.
#[derive(Debug, Clone, PartialEq)]
pub struct DriverLedger {
    /// The driver's place among the round's drivers.
    pub share: Share,
    /// Amounts acknowledged to its users; none of a driver that was lost.
    pub acknowledged: Option<Ledger>,
}
