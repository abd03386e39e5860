//! The system under test as its driver sees it: the work before and after a round, and for each user a connector that performs
//! transactions.
//!
//! There are three: [`InProcess`], where driver and database share a process; one of several drivers on the same database, on
//! any machines or as processes of one; and an application server across a network. The driver, its users and the reports are
//! the same for all. A workload that implements [`SharedWorkload`] runs on each.
//!
//! | file | contents |
//! |---|---|
//! | `connector` | one user's way to the system |
//! | `error` | errors of a run that cannot begin |
//! | `in_process` | the system in the driver's own process |
//! | `share` | a driver's place among the drivers of a round |
//! | `workload` | what a workload declares to run on any system, with any number of drivers |

mod connector;
mod error;
mod in_process;
mod share;
mod workload;

pub use connector::{Answered, Connector, Performer};
pub use error::RunError;
pub use in_process::InProcess;
pub use share::Share;
pub use workload::{BegunRound, DriverLedger, RoundBegin, SharedWorkload};

use crate::check::ledger::{Ledger, Totals};
use crate::workload::Size;
use bourse_driver::{Clock, Fault, Nanos, RetryPolicy, RoundCounts};
use bourse_engine::{Engine, Result};
use bourse_record::Round;
use std::sync::atomic::AtomicBool;

/// A system under test, for the transactions of a workload.
pub trait Sut<W: SharedWorkload>: Sync {
    /// The database: its description, its size once a second, the driver's sessions.
    fn engine(&self) -> &dyn Engine;

    /// Begins a round, before any transaction of it. May wait for other drivers of the same round; `interrupt` ends the wait.
    ///
    /// # Errors
    /// [`RunError`].
    fn open(&self, terms: &Terms, clock: &dyn Clock, interrupt: &AtomicBool) -> Result<RoundBegin<W>, RunError>;

    /// Changes the state of the round that was opened last, while no user has a connector. Returns false if the state is in
    /// another process, or shared with one.
    fn change_state(&self, change: &mut dyn FnMut(&mut W::State)) -> bool {
        let _ = change;
        false
    }

    /// A user's connector, for the round that was opened last.
    ///
    /// # Errors
    /// The engine's, or the network's.
    fn connector(&self) -> Result<Connector<W>>;

    /// Sessions that other processes have on the same database during the round.
    fn sessions_elsewhere(&self) -> usize {
        0
    }

    /// Waits until the round begins, once all of this driver's users are ready, and returns the time of its begin.
    ///
    /// # Errors
    /// [`RunError`].
    fn begin(&self, clock: &dyn Clock) -> Result<Nanos, RunError> {
        Ok(clock.now())
    }

    /// Work that waits in the database now; `None` if the workload has none.
    ///
    /// # Errors
    /// The engine's, or the network's.
    fn pending(&self) -> Result<Option<u64>> {
        W::pending(self.engine())
    }
}

/// Parameters of a round that the system under test needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Size of the database.
    pub size: Size,
    /// This driver's place among the round's drivers.
    pub share: Share,
    /// Warm-up before the measurement interval.
    pub warm_up_ns: Nanos,
    /// The measurement interval.
    pub measure_ns: Nanos,
    /// Retries after conflicts.
    pub retry: RetryPolicy,
    /// Sessions of this driver.
    pub sessions: u32,
}

/// Result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// The figures, without checks of the database.
    pub round: Round,
    /// Totals of the database before the round.
    pub before: Totals,
    /// Amounts acknowledged to the run's users, over the whole round.
    pub acknowledged: Ledger,
    /// Counts of the round outside the figures.
    pub counted: RoundCounts,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The fault that ended the round, if one did.
    pub fault: Option<Fault>,
}
